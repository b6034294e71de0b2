# Everything runs in .venv, which these targets make: a Python of 3.11 or later, a C++ compiler and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find cpp src -type f -not -name '*.pyc')
CORES := $(shell getconf _NPROCESSORS_ONLN)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint docs browser postgres bench campaign sanitize mutants experiments evaluate clean

demo: $(VENV)/installed
	$(BIN)/coherently demo

test: lint browser postgres docs
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

# The tests open reports in a real Chromium: Debian's, where root may install it; elsewhere they use one that is there.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update --quiet --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet --no-install-recommends chromium; \
	else echo "No Chromium: the tests of reports in a browser are skipped. Install the package chromium."; fi

# The tests of the workbench start a PostgreSQL server of their own: Debian's, where root may install it.
postgres:
	@if command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update --quiet --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet --no-install-recommends postgresql; \
	else echo "No PostgreSQL: the tests of the workbench on it are skipped. Install the package postgresql."; fi

bench: $(VENV)/developed
	$(BIN)/pip install --quiet --constraint constraints.txt "$$(echo dist/*.whl)[bench]"
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
	$(BIN)/pip install --quiet --constraint constraints.txt nanobind cmake ninja
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m tests.mutants $(FAULTS)

experiments: $(VENV)/developed
	$(BIN)/python -m experiments

evaluate: $(VENV)/developed
	$(BIN)/python -m experiments.evaluation

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Coherently needs Python 3.11 or later; run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

# The wheel is built once for each change of the sources and installed as a user would install it.
dist/built: $(BIN)/python $(CORE)
	rm -rf dist && mkdir dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	touch $@

$(VENV)/installed: dist/built constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --force-reinstall --no-deps dist/*.whl
	$(BIN)/pip install --quiet --constraint constraints.txt dist/*.whl
	touch $@

$(VENV)/developed: $(VENV)/installed
	$(BIN)/pip install --quiet --constraint constraints.txt "$$(echo dist/*.whl)[dev]"
	touch $@
