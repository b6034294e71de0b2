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
    """Read each conditional whose event is certain, or impossible, given its condition as one of a constant event.

    "E given H" is 1 in every coherent set of forecasts if no possible world has H without E, whatever P(H) is: it is
    a forecast of the certain event, which pulls nothing. A called-off loss would make H less likely for it. Likewise
    for 0; where no world has H, nothing is settled.

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
    holds, fails = (_possible(panel, sides[given]) for sides in (written.event, written.rest))
    units, always = given[holds != fails], holds[holds != fails]
    if not len(units):
        return panel
    event, condition, rest = written.event.copy(), written.condition.copy(), written.rest.copy()
    event[units], rest[units] = np.where(always, CERTAIN, NEVER), np.where(always, NEVER, CERTAIN)
    condition[units] = CERTAIN
    return replace(panel, written=replace(written, event=event, condition=condition, rest=rest))


def _possible(panel: Panel, sides: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which sides hold in some world that obeys laws and declarations; worlds that show one may show others."""
    found: NDArray[np.bool_] = sides != NEVER
    choices, laws = panel.events.choices(), panel.laws.side
    if not choices and not len(laws):
        return found
    starts, variables = panel.events.supports(np.concatenate([sides, laws]) // 2)
    count = len(panel.events.variables)
    ends = np.cumsum([starts[-1], *(len(choice.atoms) for choice in choices)])[1:]
    atoms = [choice.atoms for choice in choices]
    label = _core.connected_rows(
        np.concatenate([starts, ends]).astype(np.int64), np.concatenate([variables, *atoms]).astype(np.int32), count
    )
    tied = np.isin(label[: len(sides)], label[len(sides) :])
    home, law_home, choice_home = np.split(label, [len(sides), len(sides) + len(laws)])
    functions = (*panel.events.supports(sides // 2), *panel.events.tables(sides // 2))
    open_ = found & tied
    for i in range(len(sides)):
        if not open_[i]:
            continue
        own = [choice for choice, h in zip(choices, choice_home.tolist(), strict=True) if h == home[i]]
        world = find_world(panel.events, np.append(laws[law_home == home[i]], sides[i]), own)
        if world is None:
            found[i] = open_[i] = False
            continue
        truth = _core.evaluate_worlds(count, *functions, world[None].astype(np.uint8))[0].astype(np.bool_)
        open_ &= ~((home == home[i]) & (truth != (sides % 2 == 1)))
    return found
