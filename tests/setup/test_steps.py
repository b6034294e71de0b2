"""A step that fails or is stopped leaves nothing that counts as done: the next run ends as a first run does."""

import os

import pytest

from setup.step import explain
from tests.setup.machines import Machine, write_program

# A stand-in for pip. It does what pip does to a package that is there already: nothing. So a package of which only the
# first half was installed stays half, unless the folder is made again.
PIP = """\
echo "$*" >>{log}
case "$*" in
  *--wheel-dir*) folder=build/dist; package=coherently.whl ;;
  *"[dev]"*) folder=.venv; package=developer ;;
  *--no-deps*) folder=.venv; package=coherently ;;
  *) folder=.venv; package=numpy ;;
esac
mkdir -p $folder
[ -e $folder/$package ] && exit 0
echo half >$folder/$package
{fault}
echo whole >$folder/$package
"""
ENVIRONMENT = """\
mkdir -p .venv/bin
ln -s "{python}" .venv/bin/python
{fault}
ln -s "{pip}" .venv/bin/pip
ln -s /bin/echo .venv/bin/coherently
"""
FAULTS = {
    "fails": "exit 1",
    "is killed": "kill -9 $PPID; exit 1",  # the step's own program is gone: nothing can tidy up
    "is interrupted": "kill -INT $PPID; exit 130",
}


class Trial(Machine):
    """A machine whose Python makes stand-ins for environments, and fails where it is told to."""

    def __init__(self, folder, tree="tree"):
        super().__init__(folder, tree)
        self.log = folder / "log"
        self.mend()

    def mend(self):
        self.fail(step="", fault="")

    def fail(self, step, fault):
        """From now on let a step fail in a way."""
        self.log.unlink(missing_ok=True)
        pip, python = self.programs / "a pip", self.programs / "python3"
        cases = {
            "wheel": "*--wheel-dir*",
            "package": "*--force-reinstall*",
            "needs": "*constraints.txt dist*",
            "dev": "*dev]*",
        }
        guarded = f'case "$*" in {cases[step]}) {fault} ;; esac' if step in cases else ""
        write_program(pip, PIP.format(log=self.log, fault=guarded))
        self.have_python()
        _, _, rest = python.read_text().partition("\n")
        write_program(
            self.programs / "environment",
            ENVIRONMENT.format(python=python, pip=pip, fault=fault if step == "venv" else ""),
        )
        write_program(python, f'case "$*" in "-m venv .venv") exec environment ;; esac\n{rest}')

    def make(self, goal):
        return self.run("make", goal)

    def state(self):
        """What has been installed and built, and whether all of it is whole."""
        folders = (self.tree / ".venv", self.tree / "dist")
        files = [path for folder in folders for path in folder.glob("*") if path.name not in ("bin", "made")]
        return {path.relative_to(self.tree).as_posix(): path.read_text() for path in files}


@pytest.fixture
def trial(tmp_path):
    return Trial(tmp_path, "my tree")


WHOLE = {
    ".venv/coherently": "whole\n",
    ".venv/numpy": "whole\n",
    ".venv/installed": "",
    "dist/coherently.whl": "whole\n",
    "dist/built": "",
}
DEVELOPED = WHOLE | {".venv/developer": "whole\n", ".venv/developed": ""}
GOALS = {".venv/installed": WHOLE, ".venv/developed": DEVELOPED}


@pytest.mark.parametrize("goal", GOALS)
def test_a_run_makes_everything_and_the_next_one_nothing(trial, goal):
    done = trial.make(goal)
    assert done.returncode == 0, done.stderr
    assert trial.state() == GOALS[goal]
    trial.log.unlink()
    assert trial.make("demo").stdout.splitlines()[-1] == "demo"
    assert not trial.log.exists()


@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("step", ["venv", "wheel", "package", "needs", "dev"])
def test_nothing_half_made_counts_as_done(trial, step, how):
    trial.fail(step, FAULTS[how])
    assert trial.make(".venv/developed").returncode != 0
    assert "whole\n" not in (trial.state().get(".venv/developer"), trial.state().get(".venv/developed"))
    trial.mend()
    done = trial.make(".venv/developed")
    assert done.returncode == 0, done.stderr
    assert trial.state() == DEVELOPED


def test_a_failed_build_of_changed_sources_leaves_the_old_wheel_and_is_repeated(trial):
    trial.make(".venv/installed")
    os.utime(trial.tree / "pyproject.toml", (2e9, 2e9))
    trial.fail("wheel", "exit 1")
    assert trial.make(".venv/installed").returncode != 0
    assert trial.state() == WHOLE
    assert trial.run("make", "--question", "dist/built").returncode == 1


def test_an_environment_that_was_moved_is_made_again(trial):
    trial.make(".venv/installed")
    assert trial.run("make", "--question", ".venv/made").returncode == 0
    moved = trial.tree.with_name("moved")
    trial.tree.rename(moved)
    trial.tree = moved
    assert trial.run("make", "--question", ".venv/made").returncode == 1
    assert trial.make(".venv/installed").returncode == 0
    assert (moved / ".venv/made").read_text() == f"{moved.resolve()}\n"


def test_a_failure_says_what_went_wrong_in_one_sentence(trial):
    trial.fail("wheel", "echo 'OSError: [Errno 28] No space left on device'; exit 1")
    assert trial.make("demo").stderr.splitlines()[0] == (
        "error: there is no space left (No space left on device): free some, here or in the folder for temporary files "
        "(TMPDIR names another), then run the same command again."
    )
    trial.make("clean")
    trial.fail("venv", "echo something odd; exit 1")
    reason, sentence, _ = trial.make("demo").stderr.splitlines()
    assert reason == "something odd"
    assert sentence == (
        "error: python3 -m venv failed, for the reason above: mend that, then run the same command again."
    )


LOST = (
    "WARNING: Retrying ... after connection broken by 'NewConnectionError(...: Temporary failure in name resolution)'"
)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (
            f"{LOST}\nERROR: No matching distribution found for numpy",
            "could not reach its package index (NewConnectionError)",
        ),
        (
            "HTTPSConnectionPool: Max retries exceeded (Caused by ProxyError)\nMax retries exceeded",
            "index (ProxyError)",
        ),
        ("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "does not trust the certificate"),
        ("OSError: [Errno 122] Disk quota exceeded", "there is no space left (Disk quota exceeded)"),
        ("PermissionError: [Errno 13] Permission denied: '.venv/bin'", "could not be written (Permission denied)"),
    ],
)
def test_known_reasons_have_a_sentence(output, words):
    sentence = explain(output)
    assert words in sentence
    assert sentence.endswith(", then run the same command again.")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "output",
    ["", "ERROR: No matching distribution found for numpy==9", f"{LOST}\nerror: expected ';' before '}}' token"],
)
def test_other_reasons_are_not_taken_for_a_lost_connection(output):
    assert explain(output) is None
