"""What the probabilities of some events imply for another event or conditional: its least and greatest probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem import ABSENT
from coherently.solve.implied.fixed_rows import rows_of
from coherently.solve.implied.share_programs import ConditionalProgram, EventProgram, Form
from coherently.solve.worlds.held import Pricing

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Loss, Merged
    from coherently.solve.budget import Budget
    from coherently.solve.implied.fixed_rows import Claims
    from coherently.solve.implied.share_programs import ShareProgram

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
    condition: float = 0.15
    """The part of the time for either end of a condition's probability."""
    rare: float = 1e-2
    """The oracle's tolerance counts in a quotient by 1 / P(H), so it shrinks with P(H), down to this part."""


TUNING = ImpliedTuning()


class ConditionState(StrEnum):
    """What is proved of the condition of a conditional, over all distributions that agree with an answer."""

    POSSIBLE = "possible"
    """None of them makes it impossible; an event, whose condition is certain, is of this kind."""
    VANISHING = "vanishing"
    """Some of them make it impossible, or may: that none does was not proved."""
    IMPOSSIBLE = "impossible"
    """All of them do."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """Proved bounds on a probability, and whether some distributions reach them, to within the tolerance.

    `late` says that time ran out before that. Those of a conditional are over the distributions that make its condition
    possible.
    """

    low: float
    high: float
    certified: bool
    late: bool = False
    condition: ConditionState = ConditionState.POSSIBLE

    def turned(self, turned: bool) -> Extremes:
        """Those of the complement, if `turned`."""
        return replace(self, low=1.0 - self.high, high=1.0 - self.low) if turned else self


@dataclass(frozen=True, slots=True, eq=False)
class KnownAnswer:
    """A mixture of worlds that a result has, and the loss that it makes least; the weights add up to 1."""

    worlds: Mask
    weight: Vector
    loss: Loss

    def over(self, used: Indices) -> KnownAnswer:
        """The same for only some variables."""
        return replace(self, worlds=self.worlds[:, used])


def extremes(part: Merged, answer: KnownAnswer, budget: Budget, *, heed_absent: bool = False) -> Extremes:
    """Bound the last coordinate of `part`, given the probabilities of the others in an answer (`rows_of`).

    With rows R of the coordinates' probabilities that must lie between l and u, the least P(E) is a linear program with
    one column per world; it starts with the worlds of the mixture, and the oracle finds the best new column.
    For any prices y

        P(E) >= sum of y l over y > 0 and y u over y < 0 + min over worlds s of (E(s) - <y, R s>),

    so a lower bound from the oracle on the second term gives a bound at any state of the program.

    The x that is nearest to q under the loss lies on the face of the coherent set where <f, s> is least for the force
    f = N (phi'(x) - phi'(q)), as does every world of a mixture that gives x. So a multiple of f, the pull, is taken
    from the prices: this changes nothing for worlds on the face, and keeps the oracle from those off it.
    """
    search = bound_search(part, answer, 1, budget, heed_absent=heed_absent)
    if search is None:
        return replace(_nearby(part, answer, 1, budget), late=budget.is_over())
    found = search.between(search.event(-1, turned=False), budget)
    if found.certified:
        return found
    return _narrowed(found, _nearby(part, answer, 1, budget))


def conditional_extremes(
    part: Merged, turned: tuple[bool, bool], answer: KnownAnswer, budget: Budget, *, heed_absent: bool = False
) -> Extremes:
    """Bound P(A) / P(H), where the last two coordinates of `part` are H and A, or their complements where `turned`.

    A implies H. Distributions that make H impossible, of a probability below ABSENT, say nothing about the quotient and
    are left out. So the ends of P(H) come first: the greatest shows whether H is possible at all, and gives worlds to
    start with; the least shows whether it may be impossible, and how much a gap of the proof counts in the quotient.
    """
    search = bound_search(part, answer, 2, budget, heed_absent=heed_absent)
    if search is None:
        return replace(_nearby(part, answer, 2, budget, turned=turned), late=budget.is_over())
    program = search.event(-2, turned=turned[0])
    most, reached = (-end for end in search.least(program, -1.0, budget.share(TUNING.condition)))
    if most <= ABSENT:
        return Extremes(0.0, 1.0, certified=True, condition=ConditionState.IMPOSSIBLE)
    least, _ = search.least(program, 1.0, budget.share(TUNING.condition))
    state = ConditionState.POSSIBLE if least > ABSENT else ConditionState.VANISHING
    found = Extremes(0.0, 1.0, certified=False, late=budget.is_over())
    if reached > ABSENT:
        found = search.between(search.conditional(turned, max(least, ABSENT)), budget)
    if not found.certified:
        found = _narrowed(found, _nearby(part, answer, 2, budget, turned=turned))
    return replace(found, condition=state)


@dataclass(frozen=True, slots=True, eq=False)
class PricedBound:
    """A bound from below, the least value reached, and the prices of an answer's rows that prove the bound."""

    bound: float
    value: float
    prices: Vector


@dataclass(frozen=True, slots=True, eq=False)
class PricedEnds:
    """What proves the ends of a probability: `low` that of the event, `high` that of its negative, `condition` of P(H).

    `rows` are what the prices are for.
    """

    rows: Claims
    low: PricedBound
    high: PricedBound
    condition: PricedBound | None


def priced_ends(
    part: Merged, answer: KnownAnswer, turned: tuple[bool, bool], *, conditional: bool, budget: Budget
) -> PricedEnds | None:
    """The proof of `extremes`, or of `conditional_extremes`, for others to check; None if there is none.

    With a = P(A), h = P(H) and the prices y of the least quotient m, a - m h >= b, where rounding may leave b below 0.
    Since h >= f by other prices z, a - (m - d) h >= b + d f by the prices y + d z.
    """
    search = bound_search(part, answer, 1 + conditional, budget)
    if search is None:
        return None
    if not conditional:
        program: ShareProgram = search.event(-1, turned=turned[1])
        return PricedEnds(
            search.rows, search.priced(program, 1.0, budget.share(0.5)), search.priced(program, -1.0, budget), None
        )
    condition = search.priced(search.event(-2, turned=turned[0]), 1.0, budget.share(0.3))
    if condition.bound <= ABSENT:
        return None
    program = search.conditional(turned, condition.bound)
    low = search.priced(program, 1.0, budget.share(0.5))
    return PricedEnds(search.rows, low, search.priced(program, -1.0, budget), condition)


def bound_search(
    part: Merged, answer: KnownAnswer, asked: int, budget: Budget, *, heed_absent: bool = False
) -> BoundSearch | None:
    """A search over the worlds of a part; None if there is no way to price worlds, or no time."""
    try:
        pricing = Pricing(part, asked)
    except MethodError:  # no world was found to start with
        return None
    if not pricing.works or budget.is_over():
        return None
    return BoundSearch(pricing, answer, heed_absent=heed_absent)


def _nearby(
    part: Merged, answer: KnownAnswer, asked: int, budget: Budget, turned: tuple[bool, bool] | None = None
) -> Extremes:
    """Bounds from the events about the variables of the asked ones only: weaker, but quick."""
    used = np.unique(part.functions.variables[part.functions.starts[-1 - asked] :]).astype(np.int64)
    others = np.append(0, np.cumsum(~np.isin(part.functions.variables, used)))
    kept = np.diff(others[part.functions.starts]) == 0
    if kept.all() or len(used) > TUNING.few:
        state = ConditionState.POSSIBLE if turned is None else ConditionState.VANISHING
        return Extremes(0.0, 1.0, certified=False, condition=state)
    near, known, time = part.keep(kept).renumber(used), answer.over(used), budget.at_least(TUNING.nearby)
    found = extremes(near, known, time) if turned is None else conditional_extremes(near, turned, known, time)
    # That every distribution makes a condition impossible is as true with more claims.
    return replace(found, certified=found.condition is ConditionState.IMPOSSIBLE)


def _narrowed(found: Extremes, near: Extremes) -> Extremes:
    """What two proofs give together."""
    low, high = _tidy(max(found.low, near.low), min(found.high, near.high))
    return replace(found, low=low, high=high)


def _tidy(low: float, high: float) -> tuple[float, float]:
    low, high = min(max(0.0, low), 1.0), min(max(0.0, high), 1.0)
    return (low, high) if low <= high else (0.5 * (low + high),) * 2


class BoundSearch:
    """The known worlds, the claims on their mixtures, and the oracle that prices other worlds."""

    def __init__(self, pricing: Pricing, answer: KnownAnswer, *, heed_absent: bool) -> None:
        self.part, self.pricing = pricing.part, pricing
        part, loss = self.part, answer.loss
        truth = part.functions.hold(answer.worlds)
        x = np.clip(answer.weight @ truth, 0.0, 1.0)
        self.rows = rows_of(part, x, heed_absent=heed_absent)
        self.truth = list(truth)
        self.known = {world.tobytes() for world in answer.worlds}
        self.force = np.zeros(len(self.rows.low))
        if not len(part.terms):
            heavy = part.weight > 0
            force = part.weight[heavy] * (loss.gradient(x[heavy]) - loss.gradient(part.mean[heavy]))
            self.force = force / (np.abs(force).max(initial=0.0) or 1.0)

    def event(self, coordinate: int, *, turned: bool) -> EventProgram:
        """The program for the probability of a coordinate, or of its complement."""
        return EventProgram(self.rows, Form.of(len(self.part), coordinate, turned), np.array(self.truth))

    def conditional(self, turned: tuple[bool, bool], floor: float) -> ConditionalProgram:
        """The program for the last coordinate given the one before it, whose probability is at least `floor`."""
        condition, joint = (Form.of(len(self.part), place, turn) for place, turn in zip((-2, -1), turned, strict=True))
        return ConditionalProgram(
            claims=self.rows, aim=joint, condition=condition, truth=np.array(self.truth), floor=floor
        )

    def between(self, program: ShareProgram, budget: Budget) -> Extremes:
        """Both ends of what a program is about."""
        low, low_reached = self.least(program, 1.0, budget.share(0.5))
        high, high_reached = self.least(program, -1.0, budget)
        certified = max(low_reached - low, high_reached - high) <= ENOUGH
        return Extremes(*_tidy(low, -high), certified=certified, late=not certified and budget.is_over())

    def least(self, program: ShareProgram, sign: float, budget: Budget) -> tuple[float, float]:
        """A lower bound on the sign times what the program is about, and the least value reached."""
        found = self.priced(program, sign, budget)
        return found.bound, found.value

    def priced(self, program: ShareProgram, sign: float, budget: Budget) -> PricedBound:
        """The same, with the prices that prove it."""
        bound, value, best = -np.inf, np.inf, np.zeros(len(self.rows.low))
        program.set_sign(sign)
        pulls = TUNING.pulls if np.any(self.force) else TUNING.pulls[-1:]
        stages = [(pull, tolerance) for pull in pulls for tolerance in TUNING.tolerances]
        while stages and (optimum := program.solve(budget)) is not None:
            value = optimum.value
            pull, tolerance = stages[0]
            prices = optimum.prices - pull * self.force
            costs = optimum.reduced.coefficients - self.rows.matrix.T @ prices
            priced = self.pricing.least(costs, budget, tolerance * max(optimum.floor, TUNING.rare))
            least = self.rows.least(prices) + priced.bound + optimum.reduced.constant
            if optimum.bound(least) > bound:
                bound, best = optimum.bound(least), prices
            if value - bound <= (TUNING.close if self.pricing.is_quick else ENOUGH) or budget.is_over():
                break
            if value - bound <= ENOUGH and len(stages) > 1:
                stages = stages[-1:]  # a pull by a force that is rounding itself leaves a gap
            elif sum(self._take(world, program) for world in priced.worlds) == 0:
                stages.pop(0)
        return PricedBound(value if value - bound <= TUNING.close else bound, value, best)

    def _take(self, world: Mask, program: ShareProgram) -> bool:
        """Add a world's column; false if it is there already."""
        if world.tobytes() in self.known:
            return False
        self.known.add(world.tobytes())
        self.truth.append(self.part.functions.hold(world[None])[0])
        program.add(self.truth[-1])
        return True
