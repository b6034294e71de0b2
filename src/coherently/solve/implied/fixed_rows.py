"""What a result fixes of its coordinates' probabilities, as rows of linear programs over mixtures of worlds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.problem import ABSENT, Sides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Merged

MET = 1e-6
"""An interval missed by at most this counts as met: the loss, 1e-12 of its weight, is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Sums of the coordinates' truths, less a constant, that a mixture must have between `low` and `high`.

    Each is P(E & H) - e P(H) for the events `joint` and `condition`.
    """

    matrix: Any
    low: Vector
    high: Vector
    joint: Sides = field(default_factory=Sides)
    condition: Sides = field(default_factory=Sides)

    def least(self, prices: Vector) -> float:
        """The least that the sums can be worth."""
        ends = np.where(prices > 0, self.low, np.where(prices < 0, self.high, 0.0))
        return float(np.sum(prices * ends))


def rows_of(part: Merged, x: Vector, *, heed_absent: bool = False) -> Claims:
    """What a result with the probabilities x for a part's coordinates fixes.

    - A forecast of positive weight has the probability of the result.
    - An interval of positive weight that is met, to within `met`, may be met at any other point: that loses no more.
      One that is missed is fixed like a number, since the loss outside of it is strictly convex.
    - A forecast given an event that the answer makes impossible (of a probability of at most ABSENT) fixes nothing; if
      `heed_absent`, it stands as stated in case the event is possible after all.
    - Limits hold.

    Each is low P(H) <= P(E & H) <= high P(H), in one row where H is certain or the ends are the same, else in two.
    """
    given, limits = part.terms.conditionals, part.terms.limits
    events, *of_events = _claims(part, part.weight, x, conditional=False)
    present = given.condition.probability(x) > ABSENT
    value = np.where(present, given.value(x), given.stated)
    some, *of_some = _claims(part, given.weight, value, conditional=True)
    heeded = heed_absent | present[some]
    number = np.arange(len(part))
    told, of_some = given.take(some[heeded], number), [ends[heeded] for ends in of_some]
    low, high = (np.concatenate(ends) for ends in zip(of_events, of_some, (limits.low, limits.high), strict=True))
    plain = Sides(events.astype(np.int32), np.zeros(len(events), np.bool_))
    certain = Sides(np.full(len(events), -1, np.int32), plain.turned)
    joint = _joined([plain, told.joint, limits.joint])
    condition = _joined([certain, told.condition, limits.condition])
    whole = condition.coordinate < 0
    single = whole | (low == high)
    row = np.concatenate([np.arange(len(low)), np.flatnonzero(~single)])
    factor = np.concatenate([np.where(whole, 0.0, low), high[~single]])
    joint, condition = joint.take(row, number), condition.take(row, number)
    matrix, constant = _ratio(joint, condition, factor, len(part))
    least = np.concatenate([np.where(whole, low, 0.0), np.full(len(row) - len(low), -np.inf)])
    most = np.concatenate([np.where(whole, high, np.where(single, 0.0, np.inf)), np.zeros(len(row) - len(low))])
    # The mixture itself may miss a row by rounding, and must stay possible.
    sums = matrix @ x
    low, high = np.minimum(least - constant, sums), np.maximum(most - constant, sums)
    return Claims(matrix, low, high, joint=joint, condition=condition)


def _claims(part: Merged, weight: Vector, value: Vector, *, conditional: bool) -> tuple[Indices, Vector, Vector]:
    """The events and conditionals that forecasts fix or limit, with lower and upper ends."""
    intervals = part.terms.intervals
    mine = (intervals.conditional == conditional) & (intervals.weight > 0)
    about, low, high = intervals.about[mine], np.zeros(len(weight)), np.ones(len(weight))
    np.maximum.at(low, about, intervals.low[mine])
    np.minimum.at(high, about, intervals.high[mine])
    fixed = (weight > 0) | (value < low - MET) | (value > high + MET)
    told = fixed.copy()
    told[about] = True
    index = np.flatnonzero(told)
    return index, np.where(fixed, value, low)[index], np.where(fixed, value, high)[index]


def _joined(sides: Sequence[Sides]) -> Sides:
    return Sides(np.concatenate([one.coordinate for one in sides]), np.concatenate([one.turned for one in sides]))


def _ratio(joint: Sides, condition: Sides, factor: Vector, width: int) -> tuple[Any, Vector]:
    """P(E & H) - factor P(H) as sums over coordinates, with their constants."""
    from scipy import sparse

    count = len(factor)
    matrix, constant = sparse.csr_array((count, width)), np.zeros(count)
    for sides, times in ((joint, np.ones(count)), (condition, -factor)):
        told = sides.coordinate >= 0
        sign = np.where(sides.turned, -times, times)
        entries = (sign[told], (np.arange(count)[told], sides.coordinate[told]))
        matrix = matrix + sparse.coo_array(entries, shape=(count, width)).tocsr()
        constant += np.where(sides.turned | ~told, times, 0.0)
    return matrix, constant


def absent(part: Merged, worlds: Mask, weight: Vector) -> bool:
    """Whether a forecast of positive weight is given an event that a mixture makes impossible."""
    given, intervals = part.terms.conditionals, part.terms.intervals
    x = np.clip(weight @ part.functions.hold(worlds), 0.0, 1.0)
    told = given.weight > 0
    told[intervals.about[intervals.conditional & (intervals.weight > 0)]] = True
    return bool((told & (given.condition.probability(x) <= ABSENT)).any())
