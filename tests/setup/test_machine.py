"""What a machine lacks is installed where that is allowed, else one sentence says what to run, and nothing is made."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.setup.machines import Machine

HEADERS, VENV = "the headers of Python 3.11 (Python.h)", "the module ensurepip of Python 3.11"
PACKAGES = "python3.11-dev python3.11-venv"


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def sentence(done):
    """The one line of an error."""
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def test_a_machine_with_all_that_is_needed_is_left_alone(machine):
    done = machine.check()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def without_python(machine):
    machine.lose("python3")


def without_parts(machine):
    machine.have_python(headers=False, venv=False)


def without_headers(machine):
    machine.have_python(headers=False)


def without_venv(machine):
    machine.have_python(venv=False)


def without_compiler(machine):
    machine.lose("c++")


def without_anything(machine):
    machine.lose("python3")
    machine.lose("c++")


PYTHON = "Python 3.11 or later with its headers and venv"
LACKING = [
    (without_python, PYTHON, "python3 python3-dev python3-venv", "python3 python3-devel", "brew install python"),
    (without_parts, f"{HEADERS}, {VENV}", PACKAGES, "python3-devel python3-libs", "brew install python"),
    (without_headers, HEADERS, "python3.11-dev", "python3-devel", "brew install python"),
    (without_venv, VENV, "python3.11-venv", "python3-libs", "brew install python"),
    (without_compiler, "a C++ compiler", "g++", "gcc-c++", "xcode-select --install"),
    (
        without_anything, f"{PYTHON}, a C++ compiler", "python3 python3-dev python3-venv g++",
        "python3 python3-devel gcc-c++", "brew install python && xcode-select --install",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("lose", "what", "debian", "fedora", "macos"), LACKING)
def test_what_is_missing_is_said_with_the_command_of_the_system(machine, lose, what, debian, fedora, macos):
    lose(machine)
    on_debian = f"apt-get update && apt-get install --yes {debian}"
    on_fedora = f"dnf install --assumeyes {fedora}"
    anywhere = f"`{on_debian}` (Debian, Ubuntu), `{on_fedora}` (Fedora) or `{macos}` (macOS)"
    assert sentence(machine.check()) == f"missing: {what}. Run as root {anywhere}, then this command again."
    machine.have("apt-get")
    assert sentence(machine.check()) == f"missing: {what}. Run as root `{on_debian}`, then this command again."
    machine.lose("apt-get")
    machine.have("dnf")
    machine.have("sudo")
    assert sentence(machine.check()) == f"missing: {what}. Run `sudo {on_fedora}`, then this command again."
    machine.lose("dnf")
    machine.have("uname", "echo Darwin")
    assert sentence(machine.check()) == f"missing: {what}. Run `{macos}`, then this command again."


def test_sudo_is_in_front_of_both_commands(machine):
    without_venv(machine)
    machine.have("apt-get")
    machine.have("sudo")
    assert "`sudo apt-get update && sudo apt-get install --yes python3.11-venv`" in sentence(machine.check())


@pytest.mark.parametrize("command", ["demo", "test", "lint", "docs"])
def test_nothing_is_made_before_the_machine_has_all(machine, command):
    without_parts(machine)
    before = sorted(machine.tree.rglob("*"))
    done = machine.run("make", command)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: missing: {HEADERS}, {VENV}. Run ")
    assert sorted(machine.tree.rglob("*")) == before


@pytest.mark.parametrize(("lose", "what", "debian", "_fedora", "_macos"), LACKING)
def test_root_installs_what_is_missing_once(machine, lose, what, debian, _fedora, _macos):
    lose(machine)
    machine.become_root()
    log, archive = machine.tree / "log", machine.tree / "archive"
    archive.mkdir()
    whole = Machine(archive)
    there = f"{whole.programs}/python3 {whole.programs}/c++"
    machine.have("apt-get", f'echo "$@" >>{log}; if [ $1 = install ]; then mv {there} {machine.programs}; fi')
    done = machine.check()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Installing {debian} (missing: {what}).\n"
    update, install = log.read_text().splitlines()
    assert update.startswith("update ")
    assert install.startswith("install --yes ")
    assert install.endswith(f" {debian}")
    assert machine.check().stdout == ""
    assert len(log.read_text().splitlines()) == 2


def test_an_install_that_fails_says_what_to_do(machine):
    without_venv(machine)
    machine.become_root()
    machine.have("apt-get", 'echo "E: no network" >&2; exit 100')
    done = machine.check()
    assert done.returncode == 1
    reason, line = done.stderr.splitlines()
    assert reason == "E: no network"
    assert line == (
        "error: apt-get could not install python3.11-venv, for the reason above: see to it that "
        "`apt-get update && apt-get install --yes python3.11-venv` works, then run this command again."
    )


def test_an_install_that_does_not_help_is_not_repeated(machine):
    without_venv(machine)
    machine.become_root()
    machine.have("apt-get")
    done = machine.check()
    assert done.returncode == 1
    assert done.stdout.count("Installing") == 1
    assert done.stderr.startswith(f"error: missing: {VENV}. Run `apt-get update")


def test_a_python_that_is_too_old(machine):
    machine.have_python(version="3.9")
    old = "Python 3.11 or later is needed, python3 is 3.9: "
    advice = (
        "install a later one beside it, with its headers and venv, and add its name to this command, PYTHON=python3.12."
    )
    assert sentence(machine.check()) == old + advice
    machine.have_python("python3.12", version="3.12")
    assert sentence(machine.check()) == old + "add PYTHON=python3.12 to this command."
    assert machine.check(PYTHON="python3.12").returncode == 0


def test_a_python_that_is_not_there_or_does_not_run(machine):
    missing = machine.check(PYTHON="python3.14")
    assert sentence(missing) == "there is no Python named python3.14: name one of 3.11 or later, PYTHON=python3.12."
    machine.have("python3", "exit 127")
    assert sentence(machine.check()) == "python3 does not run: name a Python of 3.11 or later, PYTHON=python3.12."


@pytest.mark.parametrize("parts", [{"headers": False}, {"venv": False}])
def test_packages_do_not_help_a_python_that_is_not_the_systems(machine, parts):
    machine.have_python(prefix="/opt/python", **parts)
    machine.have("apt-get", "exit 1")
    machine.become_root()
    assert sentence(machine.check()) == (
        "the Python in /opt/python lacks its headers (Python.h) or the module ensurepip: "
        "install it with both, or add another to this command, PYTHON=/usr/bin/python3."
    )


def test_the_package_fits_the_version_that_is_named(machine):
    machine.have_python("python3.12", version="3.12", headers=False)
    machine.have("apt-get")
    assert "install --yes python3.12-dev`" in sentence(machine.check(PYTHON="python3.12"))


def test_a_compiler_without_c_plus_plus_20(machine):
    machine.have("c++", "cat >/dev/null; exit 1")
    assert sentence(machine.check()) == (
        "the compiler c++ does not compile C++20, which the core is written in: install a later one (GCC 11, Clang 18 "
        "or later) and add it to this command, CXX=g++-12."
    )
    machine.have("g++-12", "cat >/dev/null")
    assert machine.check(CXX="g++-12").returncode == 0
    assert sentence(machine.check(CXX="g++-13")) == (
        "there is no C++ compiler named g++-13: add another to this command, CXX=g++."
    )


@pytest.mark.parametrize("name", ["g++", "clang++"])
def test_the_compiler_may_have_any_of_its_names(machine, name):
    machine.lose("c++")
    machine.have(name, "cat >/dev/null")
    assert machine.check().returncode == 0


def test_a_compiler_of_this_machine_compiles_what_the_core_needs(machine):
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    here = {"PATH": f"{machine.programs}:{os.environ['PATH']}"}
    assert machine.check(CXX=compiler, **here).returncode == 0
    machine.have("old", f'shift; exec {compiler} -std=c++17 "$@"')
    assert "the compiler old does not compile C++20" in sentence(machine.check(CXX="old", **here))


def test_a_disk_that_is_full(machine):
    machine.have("df", "echo; echo /dev/disk 9000000 1 102400 1% /")
    assert sentence(machine.check()) == (
        f"{machine.tree} has 100 MB of free space, and the set-up needs 1000 MB: free some, or move the folder."
    )
    assert machine.check("folder", "100").returncode == 0
    assert "needs 101 MB" in sentence(machine.check("folder", "101"))


@pytest.mark.parametrize("place", [".", ".venv", "build", "dist"])
def test_a_folder_of_somebody_else(place):
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(0o755)
        machine = Machine(Path(folder))
        machine.tree.chmod(0o777)
        where = Path(os.path.normpath(machine.tree / place))
        where.mkdir(exist_ok=True)
        where.chmod(0o555)
        done = machine.check(person=nobody)
        where.chmod(0o755)
        owner = where.owner()
    assert sentence(done) == (
        f"{where} cannot be written (it belongs to {owner}, you are ann): "
        f"run make as {owner}, or on a copy in a folder of your own."
    )


def test_a_path_with_a_colon_is_refused_and_one_with_spaces_is_not(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    machine = Machine(tmp_path / "a", "10:30")
    assert sentence(machine.check()) == (
        f"the folder {machine.tree} has a colon in its path, which a Python environment cannot have: rename or move it."
    )
    assert Machine(tmp_path / "b", "my forecasts").check().returncode == 0


@pytest.mark.parametrize(
    ("what", "name", "package", "tests"),
    [
        ("browser", "Chromium", "chromium", "reports in a browser"),
        ("postgres", "PostgreSQL", "postgresql", "the workbench on it"),
    ],
)
def test_what_some_tests_use_is_installed_or_said_to_be_missing(machine, what, name, package, tests):
    log = machine.tree / "log"
    shadow = "case $* in */usr/lib/postgresql*) exit 2 ;; esac"  # a server of the machine that runs this test
    machine.have("ls", shadow)
    machine.have("apt-get", f'echo "$@" >>{log}')
    done = machine.check(what)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"No {name}: the tests of {tests} are skipped. Install the package {package}.\n"
    assert not log.exists()
    machine.become_root()
    assert machine.check(what).stdout == ""
    assert log.read_text().splitlines()[-1].endswith(f" {package}")
    log.unlink()
    machine.have({"browser": "google-chrome", "postgres": "postgres"}[what])
    assert machine.check(what).stdout == ""
    assert not log.exists()


def test_a_root_of_debian_needs_root_and_debootstrap(machine):
    only_root = "`make fresh` makes a root of Debian and mounts things there: run it as root."
    assert sentence(machine.check("fresh")) == only_root
    machine.become_root()
    install = "`make fresh` makes a root of Debian with debootstrap: install that package first."
    assert sentence(machine.check("fresh")) == install
    machine.have("apt-get")
    assert machine.check("fresh").returncode == 0
    machine.have("apt-get", "exit 1")
    machine.have("debootstrap")
    assert machine.check("fresh").returncode == 0
