"""Whether events can all be true together: a world that shows it, a proof that there is none, or a minimal conflict."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events.choices import Choice
    from coherently.events.event_table import Events


def find_world(
    events: Events,
    sides: NDArray[np.int32],
    choices: Sequence[Choice] | None = None,
    known: NDArray[np.int8] | None = None,
) -> NDArray[np.bool_] | None:
    """Give the truths of all variables in a world where all sides are true, or None if there is no such world.

    The world obeys `choices` (by default all of them) and agrees with the variables that are `known` (1 or 0; -1 is
    unknown).

    >>> from coherently.events import Events
    >>> events = Events()
    >>> _ = events.declare(["variable winner: Ann, Bob, ..."])
    >>> side = events.add(["winner = Ann", "p ^ winner = Ann", "p"]).event
    >>> find_world(events, side[:2]).tolist()
    [True, False]
    >>> find_world(events, side)
    """
    sides = np.ascontiguousarray(sides, np.int32)
    chosen = events.choices() if choices is None else choices
    count = events.n_variables
    atoms = [choice.atoms for choice in chosen]
    found = _core.satisfy(
        _core.Functions(count, *events.supports(sides // 2), *events.tables(sides // 2)),
        ((sides & 1) == 0).astype(np.uint8),
        np.cumsum([0, *map(len, atoms)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *atoms]),
        np.array([choice.ordered for choice in chosen], np.uint8),
        np.array([choice.complete for choice in chosen], np.uint8),
        np.full(count, -1, np.int8) if known is None else known,
    )
    return None if found is None else found.astype(np.bool_)


def find_conflict(events: Events, sides: NDArray[np.int32]) -> tuple[int, ...] | None:
    """Find a minimal conflict: sides, by index, that are true together in no world, while any fewer of them are in one.

    Returns None if all sides are true together in some world.

    >>> from coherently.events import Events
    >>> events = Events()
    >>> find_conflict(events, events.add(["p -> q", "r", "p", "q -> ~p"]).event)
    (0, 2, 3)
    """
    if find_world(events, sides) is not None:
        return None
    choices = events.choices()

    def possible(kept: Sequence[int]) -> bool:
        return find_world(events, sides[list(kept)], choices) is not None

    members = next(part for part in _components(events, sides, choices) if not possible(part))
    # Long stretches are left out first, then shorter and shorter ones.
    stretch = len(members)
    while stretch > 1:
        stretch = (stretch + 1) // 2
        at = 0
        while at < len(members):
            fewer = members[:at] + members[at + stretch :]
            if possible(fewer):
                at += stretch
            else:
                members = fewer
    return tuple(members)


def _components(events: Events, sides: NDArray[np.int32], choices: Sequence[Choice]) -> list[list[int]]:
    """Group the sides, by index, that share variables, directly or through others."""
    starts, variables = events.supports(sides // 2)
    rows = [variables[begin:end] for begin, end in pairwise(starts.tolist())]
    rows += [choice.atoms for choice in choices]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    label = _core.connected_rows(ends, np.concatenate([np.empty(0, np.int32), *rows]), events.n_variables)
    parts: dict[int, list[int]] = {}
    for row, number in enumerate(label[: len(sides)].tolist()):
        parts.setdefault(number, []).append(row)
    return list(parts.values())
