"""Conditionals that logic, laws and declarations settle: forecasts of what is certain, or impossible, given itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.events import CERTAIN, NEVER, find_world

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel


def settled(panel: Panel) -> Panel:
    """Turn each conditional whose event is certain, or impossible, given its condition into one of a constant event.

    "E given H" is 1 in every coherent set of forecasts if no possible world has H without E, whatever P(H) is: it is
    a forecast of the certain event, which changes nothing else. A called-off loss would make H less likely. The same
    holds for 0; if no world has H, nothing is settled.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "p given p & q", 0.7), ("Ann", "r given p", 0.7)], laws=["p -> ~r"])
    >>> found = settled(panel).written
    >>> found.event.tolist(), found.condition.tolist()
    ([1, 0], [1, 1])
    """
    written = panel.written
    given = np.flatnonzero(written.condition != CERTAIN)
    if not len(given):
        return panel
    holds, fails = np.split(possible(panel, np.concatenate([written.event[given], written.rest[given]])), 2)
    units, always = given[holds != fails], holds[holds != fails]
    if not len(units):
        return panel
    event, condition, rest = written.event.copy(), written.condition.copy(), written.rest.copy()
    event[units], rest[units] = np.where(always, CERTAIN, NEVER), np.where(always, NEVER, CERTAIN)
    condition[units] = CERTAIN
    return replace(panel, written=replace(written, event=event, condition=condition, rest=rest))


def possible(panel: Panel, sides: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which sides hold in some world that obeys laws and declarations.

    Sides that are not connected hold at once if each of them can, so that one world shows many.
    """
    found: NDArray[np.bool_] = sides != NEVER
    home = _homes(panel, sides)
    left = found & (home >= 0)
    while left.any():
        rows = np.flatnonzero(left)
        chosen = rows[np.unique(home[rows], return_index=True)[1]]
        groups = [chosen]
        while groups:
            group = groups.pop()
            world = find_world(panel.events, np.concatenate([panel.laws.side, sides[group]]))
            if world is not None:
                left &= ~panel.events.evaluate(sides, world[None])[0]
            elif len(group) == 1:
                found[group] = False
            else:
                groups += np.array_split(group, 2)
        left[chosen] = False
    return found


def _homes(panel: Panel, sides: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the sets of sides that laws, declarations or the sides themselves connect; -1 if only logic matters."""
    laws, choices = panel.laws.side, panel.events.choices()
    starts, variables = panel.events.supports(np.concatenate([sides, laws]) // 2)
    ends = starts[-1] + np.cumsum([len(choice.atoms) for choice in choices], dtype=np.int64)
    members = np.concatenate([variables, *(choice.atoms for choice in choices)]).astype(np.int32)
    label = _core.connected_rows(np.concatenate([starts, ends]), members, panel.events.n_variables)
    home, tied = label[: len(sides)].astype(np.int64), label[len(sides) :]
    return np.where(np.isin(home, tied), home, -1)
