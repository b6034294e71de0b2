"""Time and memory."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
"""What libraries ask for their number of threads when they are loaded."""
ENOUGH = 0.5
"""Seconds of runs after which none is added."""
MOST_RUNS = 30
T = TypeVar("T")
U = TypeVar("U")


def best_of(work: Callable[[], object], repeats: int = 5) -> float:
    """The least time of several runs, in seconds: what the machine can do undisturbed."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """What the work gives, and its seconds of the processor and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    given = work()
    return given, time.process_time() - processor, time.perf_counter() - clock


def fastest(work: Callable[[], T]) -> tuple[T, float, float]:
    """The same of the run with the least clock time; short work is run several times."""
    best = timed(work)
    spent = best[2]
    for _ in range(MOST_RUNS - 1):
        if spent >= ENOUGH:
            break
        another = timed(work)
        spent += another[2]
        best = min(best, another, key=lambda run: run[2])
    return best


def in_a_row(work: Callable[[], T], other: Callable[[], U]) -> tuple[tuple[T, float, float], tuple[U, float, float]]:
    """The runs of two works with the least processor time each, of equally many: first all of one, then the other's."""
    return _least([timed(work) for _ in range(MOST_RUNS)]), _least([timed(other) for _ in range(MOST_RUNS)])


def in_turn(work: Callable[[], T], other: Callable[[], U]) -> tuple[tuple[T, float, float], tuple[U, float, float]]:
    """The same of runs in turn: a slow phase of the machine hits both, and neither has the caches to itself."""
    pairs = [(timed(work), timed(other)) for _ in range(MOST_RUNS)]
    return _least([ours for ours, _ in pairs]), _least([theirs for _, theirs in pairs])


def _least(runs: list[tuple[T, float, float]]) -> tuple[T, float, float]:
    return min(runs, key=lambda run: run[1])


def has_one_thread() -> bool:
    """Whether the libraries of this process were told to use one thread."""
    return all(os.environ.get(name) == "1" for name in THREADS)


def with_one_thread(module: str, *arguments: str) -> None:
    """Run a module as a process of its own, in which libraries use one thread."""
    subprocess.run(
        [sys.executable, "-m", module, *arguments],
        check=True,
        cwd=Path(__file__).parents[1],
        env=os.environ | dict.fromkeys(THREADS, "1"),
    )


def peak_memory() -> float:
    """The most memory this process has had, in MB. `ru_maxrss` would count that of the process that started it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return math.nan
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took: seconds of the processor and of the clock, and the peak of its memory in MB."""

    processor: float
    clock: float
    memory: float


def process(*arguments: str) -> Cost:
    """Run Python as a process of its own, in which libraries use one thread.

    Modules are compiled once, as an installation does it, also where the environment forbids to keep that.
    """
    settings = os.environ | dict.fromkeys((*THREADS, "POLARS_MAX_THREADS"), "1")
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        env=settings,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode:
        raise RuntimeError(f"{arguments} ended with {child.returncode}: {said.decode()}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begun, used.ru_maxrss / 1024)


def program(*arguments: str) -> tuple[float, float]:
    """Run `coherently` as a process of its own: seconds, and the peak of its memory in MB."""
    code = (
        "import sys\n"
        "from coherently.cli import main\n"
        "try: main()\n"
        "finally:\n"
        "    from bench.measure import peak_memory\n"
        "    print(peak_memory(), file=sys.stderr)\n"
    )
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return time.perf_counter() - begun, float(done.stderr.split()[-1])
