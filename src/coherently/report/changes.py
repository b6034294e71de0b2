"""Which changes of forecasts are worth ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.result import Result

ABSENT = 1e-6
"""A condition counts as impossible up to this probability: forecasts given such a condition are arbitrary."""


def ranked_changes(result: Result) -> NDArray[np.float64]:
    """How far each event is from the panel's mean; 0 for conditionals on a condition that counts as impossible."""
    change = np.abs(np.nan_to_num(np.asarray(result.columns()["adjustment"], np.float64)))
    change[without_condition(result)] = 0.0
    return change


def without_condition(result: Result) -> NDArray[np.bool_]:
    """Which events are conditional on something that counts as impossible in the result's worlds."""
    condition, events = result.panel.written.condition, result.panel.events
    given = np.flatnonzero(condition != CERTAIN)
    absent = np.zeros(len(condition), np.bool_)
    mixture, size = result.worlds, len(events.variables)
    if mixture is None or not len(given):
        return absent
    starts, variables = events.supports(condition[given] // 2)
    first = variables[starts[:-1]]
    for part in mixture.parts:
        own = mixture.origin[part.variables]
        mine = given[np.isin(first, own)]
        if not len(mine):
            continue
        rows = np.zeros((len(part.weight), size), np.bool_)
        rows[:, own] = part.truth
        absent[mine] = part.weight @ events.evaluate(condition[mine], rows) <= ABSENT
    return absent
