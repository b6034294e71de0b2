"""Work in batches of about a second, the costly first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 1.0
"""Seconds that a batch of several items should take."""
SHORTEST = 0.02
"""The same at the end of the work: less is not worth a message."""
TAIL = 24
"""A batch is at most this fraction of the work that is left, so that the last batches are short and end together."""


def batches_of(cost: Sequence[float]) -> list[list[int]]:
    """The numbers of the items in batches; `cost` has the estimated seconds of each item.

    The costly items come first. Batches do not depend on the number of workers, so they are the same in every run.

    >>> batches_of([0.1, 3.0, 0.2, 0.1])
    [[1], [2], [0], [3]]
    >>> [len(batch) for batch in batches_of([0.01] * 10)]
    [2, 2, 2, 2, 2]
    """
    order = sorted(range(len(cost)), key=lambda i: -cost[i])
    left = sum(cost)
    batches: list[list[int]] = []
    room = 0.0
    for i in order:
        if room < cost[i] or not batches:
            batches.append([])
            room = min(LONGEST, max(SHORTEST, left / TAIL))
        batches[-1].append(i)
        room -= cost[i]
        left -= cost[i]
    return batches
