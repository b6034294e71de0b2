"""Time and memory."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best_of(work: Callable[[], object], repeats: int = 5) -> float:
    """The least time of several runs, in seconds: what the machine can do undisturbed."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def peak_memory() -> float:
    """The most memory this process has had, in MB. `ru_maxrss` would count that of the process that started it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return math.nan
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


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
