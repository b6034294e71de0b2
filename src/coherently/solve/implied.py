"""What the probabilities of some events imply for another: its least and its greatest possible probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError
from coherently.problem import ABSENT, Sides
from coherently.solve.worlds.held import Pricing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Loss, Merged
    from coherently.solve.budget import Budget

ENOUGH = 1e-7
"""A bound is certified if some mixture of worlds comes this close to it."""


@dataclass(frozen=True, slots=True)
class ImpliedTuning:
    """How worlds are priced, what counts as rounding, and when the search falls back to fewer events."""

    close: float = 1e-9
    """Differences below this are rounding errors."""
    pulls: tuple[float, ...] = (100.0, 10.0, 1.0, 0.0)
    """Penalties, tried in turn, on worlds that cannot be part of the answer."""
    tolerances: tuple[float, ...] = (1e-2, 1e-4, 0.5 * ENOUGH)
    """Tolerances of the oracle, each used as long as it finds new worlds."""
    few: int = 10
    """If the whole component takes too long, fall back to the events about the asked event's variables only, if these
    are at most this many."""
    nearby: float = 0.1
    """Minimum number of seconds for that fallback; it takes far less."""
    shortest: float = 0.1
    """Minimum number of seconds that a linear program gets."""
    feasible: float = 1e-10
    """Feasibility tolerance of the program."""
    met: float = 1e-6
    """An interval missed by at most this counts as met: the loss, 1e-12 of its weight, is rounding."""


TUNING = ImpliedTuning()


@dataclass(frozen=True, slots=True)
class Extremes:
    """Proved bounds on a probability, and whether some distributions reach them, to within the tolerance.

    `late` says that time ran out before that.
    """

    low: float
    high: float
    certified: bool
    late: bool = False

    def turned(self, turned: bool) -> Extremes:
        """Those of the complement, if `turned`."""
        return replace(self, low=1.0 - self.high, high=1.0 - self.low) if turned else self


def extremes(
    part: Merged, worlds: Mask, weight: Vector, loss: Loss, budget: Budget, *, heed_absent: bool = False
) -> Extremes:
    """Bound the last coordinate of `part`, given the probabilities of the others in a mixture of worlds (`rows_of`).

    With rows R of the coordinates' probabilities that must lie between l and u, the least P(E) is a linear program with
    one column per world; it starts with the worlds of the mixture, and the oracle finds the best new column.
    For any prices y

        P(E) >= sum of y l over y > 0 and y u over y < 0 + min over worlds s of (E(s) - <y, R s>),

    so a lower bound from the oracle on the second term gives a bound at any state of the program.

    The x that is nearest to q under the loss lies on the face of the coherent set where <f, s> is least for the force
    f = N (phi'(x) - phi'(q)), as does every world of a mixture that gives x. So a multiple of f, the pull, is taken
    from the prices: this changes nothing for worlds on the face, and keeps the oracle from those off it.
    """
    try:
        pricing = Pricing(part)
    except MethodError:  # no world was found to start with
        pricing = None
    if pricing is None or not pricing.works or budget.is_over():
        return replace(_nearby(part, worlds, weight, loss, budget), late=budget.is_over())
    run = _BoundSearch(pricing, worlds, weight, loss, heed_absent=heed_absent)
    low, low_reached = run.least(1.0, budget.share(0.5))
    high, high_reached = run.least(-1.0, budget)
    if max(low_reached - low, high_reached - high) <= ENOUGH:
        return Extremes(*_tidy(low, -high), certified=True)
    late = budget.is_over()
    near = _nearby(part, worlds, weight, loss, budget)
    return Extremes(*_tidy(max(low, near.low), min(-high, near.high)), certified=False, late=late)


def _nearby(part: Merged, worlds: Mask, weight: Vector, loss: Loss, budget: Budget) -> Extremes:
    """Bounds from the events about the variables of the last one only: weaker, but quick."""
    used = np.unique(part.functions.of(len(part) - 1)).astype(np.int64)
    others = np.append(0, np.cumsum(~np.isin(part.functions.variables, used)))
    kept = np.diff(others[part.functions.starts]) == 0
    if kept.all() or len(used) > TUNING.few:
        return Extremes(0.0, 1.0, certified=False)
    own = part.keep(kept).renumber(used)
    return replace(extremes(own, worlds[:, used], weight, loss, budget.at_least(TUNING.nearby)), certified=False)


def _tidy(low: float, high: float) -> tuple[float, float]:
    low, high = min(max(0.0, low), 1.0), min(max(0.0, high), 1.0)
    return (low, high) if low <= high else (0.5 * (low + high),) * 2


class _BoundSearch:
    """The program, with the columns so far, and the oracle that prices others."""

    def __init__(self, pricing: Pricing, worlds: Mask, weight: Vector, loss: Loss, *, heed_absent: bool) -> None:
        self.part, self.pricing = pricing.part, pricing
        part = self.part
        truth = part.functions.hold(worlds)
        x = np.clip(weight @ truth, 0.0, 1.0)
        self.rows = rows_of(part, x, heed_absent=heed_absent)
        self.program = _Program(self.rows, truth)
        self.known = {world.tobytes() for world in worlds}
        self.force = np.zeros(len(self.rows.low))
        if not len(part.terms):
            heavy = part.weight > 0
            force = part.weight[heavy] * (loss.gradient(x[heavy]) - loss.gradient(part.mean[heavy]))
            self.force = force / (np.abs(force).max(initial=0.0) or 1.0)

    def least(self, sign: float, budget: Budget) -> tuple[float, float]:
        """A lower bound on the sign times the probability of the last coordinate, and the least value reached."""
        bound, value = -np.inf, np.inf
        self.program.set_sign(sign)
        pulls = TUNING.pulls if np.any(self.force) else TUNING.pulls[-1:]
        stages = [(pull, tolerance) for pull in pulls for tolerance in TUNING.tolerances]
        while stages and (solved := self.program.solve(budget)) is not None:
            value, duals = solved
            pull, tolerance = stages[0]
            prices = duals[:-1] - pull * self.force
            costs = -(self.rows.matrix.T @ prices)
            costs[-1] += sign
            found = self.pricing.least(costs, budget, tolerance)
            bound = max(bound, self.rows.least(prices) + found.bound)
            if value - bound <= ENOUGH or budget.is_over():
                break
            if sum(map(self._take, found.worlds)) == 0:
                stages.pop(0)
        return (value if value - bound <= TUNING.close else bound), value

    def _take(self, world: Mask) -> bool:
        """Add a world's column; false if it is there already."""
        if world.tobytes() in self.known:
            return False
        self.known.add(world.tobytes())
        self.program.add(self.part.functions.hold(world[None])[0])
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Sums of the coordinates' truths, less a constant, that a mixture must have between `low` and `high`."""

    matrix: Any
    low: Vector
    high: Vector

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
    matrix, constant = _ratio(joint.take(row, number), condition.take(row, number), factor, len(part))
    least = np.concatenate([np.where(whole, low, 0.0), np.full(len(row) - len(low), -np.inf)])
    most = np.concatenate([np.where(whole, high, np.where(single, 0.0, np.inf)), np.zeros(len(row) - len(low))])
    # The mixture itself may miss a row by rounding, and must stay possible.
    sums = matrix @ x
    return Claims(matrix, np.minimum(least - constant, sums), np.maximum(most - constant, sums))


def _claims(part: Merged, weight: Vector, value: Vector, *, conditional: bool) -> tuple[Indices, Vector, Vector]:
    """The events and conditionals that forecasts fix or limit, with lower and upper ends."""
    intervals = part.terms.intervals
    mine = (intervals.conditional == conditional) & (intervals.weight > 0)
    about, low, high = intervals.about[mine], np.zeros(len(weight)), np.ones(len(weight))
    np.maximum.at(low, about, intervals.low[mine])
    np.minimum.at(high, about, intervals.high[mine])
    fixed = (weight > 0) | (value < low - TUNING.met) | (value > high + TUNING.met)
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


class _Program:
    """Mixtures whose rows lie within their limits; the last row is the sum of the weights."""

    def __init__(self, rows: Claims, truth: Mask) -> None:
        import highspy

        self._rows = rows
        self._solver: Any = highspy.Highs()
        self._solver.silent()
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(option, TUNING.feasible)
        self._solver.setOptionValue("threads", 1)
        self._solver.setOptionValue("presolve", "off")
        self._endless, self._optimal = highspy.kHighsInf, highspy.HighsModelStatus.kOptimal
        none = np.empty(0)
        for low, high in (*zip(rows.low.tolist(), rows.high.tolist(), strict=True), (1.0, 1.0)):
            self._solver.addRow(low, high, 0, none.astype(np.int32), none)
        self._holds: list[bool] = []
        self._sign = 1.0
        for row in truth:
            self.add(row)

    def add(self, truth: Mask) -> None:
        """Add a world, by the truth of the coordinates."""
        values = np.append(self._rows.matrix @ truth.astype(np.float64), 1.0)
        rows = np.flatnonzero(values).astype(np.int32)
        self._holds.append(bool(truth[-1]))
        cost = self._sign * float(truth[-1])
        self._solver.addCol(cost, 0.0, self._endless, len(rows), rows, values[rows])

    def set_sign(self, sign: float) -> None:
        """Minimise the probability of the last coordinate, or its negative."""
        self._sign = sign
        for column, true in enumerate(self._holds):
            self._solver.changeColCost(column, sign * true)

    def solve(self, budget: Budget) -> tuple[float, Vector] | None:
        """The least value, and the prices of the rows; None if the budget is over or rounding makes the solver fail."""
        left = max(TUNING.shortest, budget.left())
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            return None
        prices, info = np.array(self._solver.getSolution().row_dual), self._solver.getInfo()
        # A mixture that misses no row costs at most the price of this one's violations more.
        missed = float(info.max_primal_infeasibility) * float(np.abs(prices).sum())
        return float(info.objective_function_value) + missed, prices
