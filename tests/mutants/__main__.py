"""Apply deliberate faults one by one in a scratch copy and see whether tests notice them: `make mutants`.

`python -m tests.mutants` takes all faults of faults.toml, `python -m tests.mutants 'books-*' pins-kept` some of them.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.faults import ROOT, Fault, read_faults

IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "_build", "__pycache__", ".hypothesis", ".*_cache", "*.egg-info", "_core.*.so"
)
PATIENCE = 60.0
"""Seconds that the tests of a fault may take beyond what the unchanged code needs for the tests of all faults."""
ALONE = """\
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
"""
"""An editable install of the package would come before the scratch copy."""
KILLED, SURVIVED, INVALID = "killed", "SURVIVED", "INVALID"
PASSED, FAILED, BROKEN = 0, 1, 2
"""What pytest returns where tests passed, failed, or could not be imported; the rest are wrong arguments."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault: the word for it, how that came about, and the seconds it took."""

    fault: Fault
    word: str
    how: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.word:8}  {self.seconds:5.1f} s  {self.fault.name}: {self.how}"


class Scratch:
    """A copy of the tree with a build of its core, outside of the repository."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.root, self.build, site = folder / "tree", folder / "build", folder / "site"
        shutil.copytree(ROOT, self.root, ignore=IGNORED)
        site.mkdir()
        (site / "sitecustomize.py").write_text(ALONE)
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(site), str(self.root / "src")]),
            "PYTHONDONTWRITEBYTECODE": "1",  # a file that changes twice in a second would keep its old bytecode
        }
        self.patience = PATIENCE

    def configure(self) -> None:
        """Prepare the build, whose module goes where the package looks for it."""
        if shutil.which("cmake") is None:
            sys.exit("There is no cmake; `make mutants` installs it.")
        folder = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        self._call(
            "cmake", "-S", str(self.root), "-B", str(self.build), *ninja, "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={folder}",
            f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={self.root / 'src' / 'coherently'}",
        )  # fmt: skip

    def compile(self) -> None:
        """Build what has changed."""
        self._call("cmake", "--build", str(self.build))

    def _call(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-2000:])

    def test(self, tests: list[str]) -> tuple[int, str]:
        """Run tests until one fails: what pytest returned, and its last line of use."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [*command, *tests], cwd=self.root, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise
        lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return process.returncode, (lines or output.splitlines() or [""])[-1]

    def origin(self) -> str:
        """Where tests find the package."""
        command = [sys.executable, "-c", "import coherently._core; print(coherently._core.__file__)"]
        return subprocess.check_output(command, cwd=self.root, env=self.environment, text=True).strip()

    def judge(self, fault: Fault) -> Verdict:
        """Apply a fault, run its tests, take it back."""
        begun = time.monotonic()
        path = self.root / fault.file
        before = path.read_text("utf-8")
        path.write_text(fault.apply(before), "utf-8")
        try:
            word, how = self._judge(fault)
        finally:
            path.write_text(before, "utf-8")
        return Verdict(fault, word, how, time.monotonic() - begun)

    def _judge(self, fault: Fault) -> tuple[str, str]:
        try:
            self.compile()
        except RuntimeError as error:
            return INVALID, f"the faulty code does not compile: {error}"
        try:
            code, line = self.test(list(fault.tests))
        except subprocess.TimeoutExpired:
            return KILLED, f"the tests did not end within {self.patience:.0f} s"
        if code == PASSED:
            return SURVIVED, f"all of {', '.join(fault.tests)} passed; {fault.breaks}"
        if code < 0:
            return KILLED, f"crash by signal {-code}"
        return (KILLED, line) if code in (FAILED, BROKEN) else (INVALID, f"pytest says: {line}")


def choose(patterns: list[str]) -> list[Fault]:
    """The faults whose names fit any of some patterns, or all; an error for those that cannot be applied."""
    faults = [f for f in read_faults() if not patterns or any(fnmatch(f.name, pattern) for pattern in patterns)]
    stale = [f"{fault.name}: {complaint}" for fault in faults if (complaint := fault.complaint())]
    if stale:
        sys.exit("These entries of tests/mutants/faults.toml are stale:\n" + "\n".join(stale))
    if not faults:
        sys.exit(f"No fault has a name like {', '.join(patterns)}.")
    return sorted(faults, key=lambda fault: fault.file)  # so that a file is compiled once for each of its faults


def prepare(scratch: Scratch) -> None:
    """Build the copy."""
    scratch.configure()
    scratch.compile()
    if not Path(scratch.origin()).is_relative_to(scratch.root):
        sys.exit(f"Tests would not use the scratch copy but {scratch.origin()}.")


def check_unchanged(scratch: Scratch, faults: list[Fault]) -> float:
    """See that all tests pass on the unchanged code: the seconds that tests of a fault may take."""
    begun = time.monotonic()
    scratch.patience = 3600.0
    code, line = scratch.test(sorted({test for fault in faults for test in fault.tests}))
    if code != PASSED:
        sys.exit(f"The tests must pass on the unchanged code: {line}")
    print(f"the tests pass on the unchanged code in {time.monotonic() - begun:.0f} s", flush=True)
    return PATIENCE + time.monotonic() - begun


def judge_all(folder: Path, faults: list[Fault]) -> list[Verdict]:
    """Judge the faults, those of one file in one go, in as many copies as there are processors."""
    begun, free, verdicts = time.monotonic(), SimpleQueue[Scratch](), list[Verdict]()
    scratches = [Scratch(folder / str(i)) for i in range(os.cpu_count() or 1)]

    def judge(group: list[Fault]) -> list[Verdict]:
        scratch = free.get()
        try:
            return [scratch.judge(fault) for fault in group]
        finally:
            free.put(scratch)

    with ThreadPoolExecutor(len(scratches)) as pool:
        list(pool.map(prepare, scratches))
        print(f"built {len(scratches)} scratch copies in {time.monotonic() - begun:.0f} s", flush=True)
        patience = check_unchanged(scratches[0], faults)
        for scratch in scratches:
            scratch.patience = patience
            free.put(scratch)
        work = [pool.submit(judge, list(group)) for _, group in groupby(faults, key=lambda fault: fault.file)]
        for done in as_completed(work):
            for verdict in done.result():
                verdicts.append(verdict)
                print(f"{len(verdicts):3}/{len(faults)}  {verdict}", flush=True)
    return verdicts


def main() -> None:
    begun = time.monotonic()
    faults = choose(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        verdicts = judge_all(Path(folder), faults)
    killed = sum(verdict.word == KILLED for verdict in verdicts)
    left = [verdict for verdict in verdicts if verdict.word != KILLED]
    print(f"\n{killed} of {len(faults)} faults killed in {(time.monotonic() - begun) / 60:.1f} min")
    for verdict in left:
        print(verdict)
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
