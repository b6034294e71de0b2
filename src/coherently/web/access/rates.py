"""How often: buckets of requests that fill again with time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from coherently.web.refusals import RefusedError

KNOWN = 20_000
"""Maximum number of callers whose buckets are remembered; the one not seen for longest is forgotten."""


class Buckets:
    """One bucket per key, which holds up to `burst` requests and gets `rate` new ones per second.

    >>> buckets = Buckets(rate=1.0, burst=2)
    >>> [buckets.wait("Ann", now=0.0), buckets.wait("Ann", now=0.0), buckets.wait("Ann", now=0.5)]
    [0.0, 0.0, 0.5]
    """

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str, now: float | None = None, *, take: bool = True) -> float:
        """Take one from the bucket, or only look; 0, or the seconds until there would be one in it."""
        now = time.monotonic() if now is None else now
        with self._lock:
            level, seen = self._levels.pop(key, (float(self.burst), now))
            level = min(self.burst, level + (now - seen) * self.rate)
            short = 1.0 - level
            self._levels[key] = (level if short > 0 or not take else level - 1.0, now)
            if len(self._levels) > KNOWN:
                self._levels.popitem(last=False)
        return short / self.rate if short > 0 else 0.0


def too_fast(wait: float, rate: float, burst: int) -> RefusedError:
    """What a caller is told who asks too often."""
    seconds = max(1, int(wait + 1))
    return RefusedError(
        429,
        "too-fast",
        "Too many requests came in a short time.",
        allowed=f"{burst:,} at once and then {rate:g} per second",
        remedy=f"Wait {seconds} s and ask again.",
        headers={"Retry-After": str(seconds)},
    )
