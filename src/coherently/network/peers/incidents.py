"""What a node refuses or misses, logged so that a flood of it does not fill a disk."""

from __future__ import annotations

import logging
from collections import Counter

LOGGER = logging.getLogger("coherently.network")


class Incidents:
    """Counts what went wrong by where and why; each is logged the first time, and whenever its count has doubled."""

    __slots__ = ("_name", "counts")

    def __init__(self, name: str) -> None:
        self._name = name
        self.counts: Counter[tuple[str, str]] = Counter()

    def note(self, where: str, why: str) -> None:
        """Something was refused or did not work."""
        self.counts[where, why] += 1
        count = self.counts[where, why]
        if count & (count - 1) == 0:
            often = f" ({count:,} times)" if count > 1 else ""
            LOGGER.warning("%s: %s: %s%s", self._name, where, why, often)
        if len(self.counts) > 1_000:
            self.counts.clear()
