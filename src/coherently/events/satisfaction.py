"""Whether events can all be true at once: a world that shows it, a proof that there is none, a smallest conflict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events.choices import Choice
    from coherently.events.table import Events


def find_world(
    events: Events, sides: NDArray[np.int32], choices: Sequence[Choice] | None = None
) -> NDArray[np.bool_] | None:
    """Give the truths of all variables in a world where the sides are all true, or None: then there is none.

    Worlds obey the choices, all of them unless some are given.

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
    starts, variables = events.supports(sides // 2)
    word_starts, words = events.tables(sides // 2)
    count = len(events.variables)
    atoms = [choice.atoms for choice in chosen]
    found = _core.satisfy(
        count,
        starts,
        variables,
        word_starts,
        words,
        ((sides & 1) == 0).astype(np.uint8),
        np.cumsum([0, *map(len, atoms)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *atoms]),
        np.array([choice.ordered for choice in chosen], np.uint8),
        np.array([choice.complete for choice in chosen], np.uint8),
        np.full(count, -1, np.int8),
    )
    return None if found is None else found.astype(np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """Sides (by their index) and declared variables (by name) that cannot hold together; any but one of them can."""

    sides: tuple[int, ...]
    declared: tuple[str, ...]


def find_conflict(events: Events, sides: NDArray[np.int32]) -> Conflict | None:
    """Find a minimal set of sides and declared variables without a common world, or None if all have one."""
    if find_world(events, sides) is not None:
        return None
    choices = events.choices()
    members = [*range(len(sides)), *(~c for c in range(len(choices)))]

    def possible(kept: Sequence[int]) -> bool:
        index = [member for member in kept if member >= 0]
        return find_world(events, sides[index], [choices[~member] for member in kept if member < 0]) is not None

    members = next(part for part in _components(events, sides, choices) if not possible(part))
    # Whole stretches are left out first, ever shorter ones after.
    stretch = len(members)
    while stretch > 1:
        stretch = (stretch + 1) // 2
        at = 0
        while at < len(members) and len(members) > 1:
            fewer = members[:at] + members[at + stretch :]
            if fewer and not possible(fewer):
                members = fewer
            else:
                at += stretch
    return Conflict(
        tuple(sorted(member for member in members if member >= 0)),
        tuple(choices[~member].name for member in members if member < 0),
    )


def _components(events: Events, sides: NDArray[np.int32], choices: Sequence[Choice]) -> list[list[int]]:
    """Sides, by index, and choices, by complemented index, that hang together by their variables."""
    starts, variables = events.supports(sides // 2)
    rows = [variables[begin:end] for begin, end in pairwise(starts.tolist())]
    rows += [choice.atoms for choice in choices]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    label = _core.connected_rows(ends, np.concatenate([np.empty(0, np.int32), *rows]), len(events.variables))
    parts: dict[int, list[int]] = {}
    for row, number in enumerate(label.tolist()):
        parts.setdefault(number, []).append(row if row < len(sides) else ~(row - len(sides)))
    return list(parts.values())
