"""Time and memory."""

from __future__ import annotations

import subprocess
import sys
import time
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


def program(*arguments: str) -> tuple[float, float]:
    """Run `coherently` as a process of its own: seconds, and the peak of its memory in MB."""
    code = (
        "import resource, sys\n"
        "from coherently.cli import main\n"
        "try: main()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - begun, int(done.stderr.split()[-1]) / 1024
