# Everything runs in .venv, which these targets make. setup/machine.sh sees to what the machine must have for that.
export PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find cpp src -type f -not -name '*.pyc' -not -path 'cpp/browser/*')
CORES := $(shell getconf _NPROCESSORS_ONLN)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint docs browser postgres bench campaign sanitize mutants experiments evaluate evidence leaderboard release oldest fresh container clean again

demo: $(VENV)/installed
	$(BIN)/coherently demo

# The linters and the site take one core each, so they are made beside each other.
test: $(VENV)/developed browser postgres
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint docs
	$(BIN)/pytest --numprocesses auto --pyargs coherently tests README.md CONTRIBUTING.md docs

lint: $(VENV)/developed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	find cpp -name '*.?pp' | xargs $(BIN)/clang-format --dry-run --Werror
	find cpp/src -name '*.cpp' | xargs -P $(CORES) -n 4 $(BIN)/clang-tidy --quiet 2>/dev/null  # findings are on stdout

docs: $(VENV)/developed
	$(BIN)/sphinx-build --quiet --fail-on-warning --builder html docs docs/_build
	$(BIN)/python -m setup.browser_page docs/_build/browser.html

browser postgres:
	@sh setup/machine.sh $@

bench: $(VENV)/developed
	$(STEP) $(VENV) $(BIN)/pip install --quiet --constraint constraints.txt "$$(echo dist/*.whl)[bench]"
	$(BIN)/python -m bench

campaign: sanitize
	$(BIN)/python -m tests.campaign

# The tests of the core, with a build of it that stops at errors of memory, undefined behaviour and indices out of range.
sanitize: $(VENV)/developed
	$(BIN)/pip install --quiet --no-deps --upgrade --target build/sanitized --config-settings build-dir=build/sanitize \
	  --config-settings cmake.define.COHERENTLY_SANITIZE=ON --config-settings cmake.build-type=RelWithDebInfo \
	  --config-settings install.strip=false .
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  PYTHONPATH=build/sanitized $(BIN)/python -m pytest --numprocesses auto tests/kernels tests/events tests/test_core.py

# Faults are put into a scratch copy, whose core is built with what a wheel is built with.
mutants: $(VENV)/developed
	$(STEP) $(VENV) $(BIN)/pip install --quiet --constraint constraints.txt nanobind cmake ninja
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tests.mutants $(FAULTS)

experiments: $(VENV)/developed
	$(BIN)/python -m experiments

evaluate: $(VENV)/developed
	$(BIN)/python -m experiments.evaluation

evidence: $(VENV)/developed
	$(BIN)/python -m experiments.evidence

leaderboard: $(VENV)/developed
	$(BIN)/python -m experiments.leaderboard $(FOLDERS) $(METHODS)

# The source archive and a repaired wheel for each of PYTHONS, and the tests of the repository against each.
release: browser postgres
	"$(PYTHON)" -m setup.release $(PYTHONS)

# The tests with the oldest dependencies that pyproject.toml allows: old packages warn of newer ones beside them. The
# page that needs no installation is left out: it is made with a compiler, and takes nothing from these packages.
OLD := build/oldest
oldest: dist/built browser postgres
	rm -rf $(OLD) && "$(PYTHON)" -m venv $(OLD)
	$(BIN)/python -m setup.oldest >$(OLD)/constraints.txt
	$(OLD)/bin/pip install --quiet --constraint $(OLD)/constraints.txt "$$(echo dist/*.whl)[tests]"
	$(OLD)/bin/pytest --numprocesses auto -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
	  --ignore tests/browser --pyargs coherently tests

# Both commands on a plain Debian, in a root of its own, whose mounts nobody else sees: as root and as an ordinary user.
fresh:
	@sh setup/machine.sh fresh
	unshare --mount "$(PYTHON)" -m setup.fresh $(COMMANDS)

# The steps of deploy/Containerfile in roots of a plain Debian, where there is no container engine.
container:
	@sh setup/machine.sh fresh
	unshare --mount "$(PYTHON)" -m setup.container

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A step leaves `unfinished` in the folder that it changes unless it ends well; such a folder is made again from nothing.
STEP := $(BIN)/python setup/step.py

# An environment counts only where it was made, since it cannot be moved.
ifneq ($(shell cat $(VENV)/made 2>/dev/null)$(wildcard $(VENV)/unfinished),$(CURDIR))
$(VENV)/made: again
endif

$(VENV)/made:
	@sh setup/machine.sh build
	rm -rf $(VENV)
	"$(PYTHON)" setup/step.py $(VENV) "$(PYTHON)" -m venv $(VENV)
	pwd -P >$@

# The wheel is built once for each change of the sources and installed as a user would install it.
dist/built: $(VENV)/made $(CORE)
	@sh setup/machine.sh build
	if [ -e build/unfinished ]; then rm -rf build; else rm -rf build/dist; fi
	$(STEP) build $(BIN)/pip wheel --quiet --no-deps --wheel-dir build/dist .
	touch build/dist/built
	rm -rf dist && mv build/dist dist

$(VENV)/installed: dist/built constraints.txt
	$(STEP) $(VENV) $(BIN)/pip install --quiet --constraint constraints.txt --force-reinstall --no-deps dist/*.whl
	$(STEP) $(VENV) $(BIN)/pip install --quiet --constraint constraints.txt dist/*.whl
	touch $@

$(VENV)/developed: $(VENV)/installed
	@sh setup/machine.sh folder 2500
	$(STEP) $(VENV) $(BIN)/pip install --quiet --constraint constraints.txt "$$(echo dist/*.whl)[dev]"
	touch $@
