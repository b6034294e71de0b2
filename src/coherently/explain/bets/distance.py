"""How far bets are from coherent prices: the nearest ones, cluster by cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError, counted
from coherently.explain.bets.bets import clusters_of
from coherently.explain.bets.quotes import prices_in, settle, worst
from coherently.explain.bets.trading_terms import at_quotes
from coherently.problem import BRIER, Problem
from coherently.solve import Proof
from coherently.solve.component.component_table import solve_alone
from coherently.solve.component.nearest import TUNING, Nearest
from coherently.solve.component.objective import objective_of
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Indices, Truth, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.solve.budget import Budget

TOLERANCE = 1e-9
"""Bets count as coherent up to this Euclidean distance from coherent prices: it is rounding."""
ABSENT = 1e-6
"""A condition counts as impossible up to this probability."""
NOISE = 1e-13
"""Changes of a price below this are rounding errors."""
SEARCHING = 0.5
"""The part of the time for search only, if the best world is not found by dynamic programming."""
QUICK = (0, 1e-3)
"""Effort of the first search of a hasty run, and the improvement at which it ends."""
LARGE = 20_000
"""If a cluster has more distinct events, only pairs of variables are made coherent, which bounds the distance."""
ACCURACY = 1e-6
"""Target of the relative gap of squared distances if the best world is not found each time."""
COARSE = 1.9e-3
"""The same if many clusters wait: half of it is the relative gap of the distance itself."""
PROVED = 1e-3
"""A distance counts as known up to this gap between its bounds, relative to it."""


@dataclass(frozen=True, slots=True, eq=False)
class NearestPrices(Value):
    """The coherent prices nearest to those of a cluster's bets; a quote means all prices from its bid to its ask.

    `value` has one price per bet, `target` the price or the point of the quote that is nearest to it, and `chance` the
    probability that the bet is not called off; `worlds` and `weight` are the mixture that values come from. `square`
    is the squared distance of values from targets, squares weighted by their chance, and `least` a proved lower bound
    on it. Without quotes, stakes of the prices minus `value` win at least `sure` - `shortfall` in every world, and
    least in the world `lowest`, as far as is known; `shortfall` is infinite if nothing was proved. `proof` says on what
    these bounds rest, or why there is none. If the search was `cut`, more time would bring the bounds closer together.
    """

    cluster: Cluster
    target: Vector
    value: Vector
    chance: Vector
    sure: float
    weight: Vector
    worlds: Truth
    square: float
    least: float
    shortfall: float
    lowest: Truth
    proof: str
    cut: bool = False

    @property
    def distance(self) -> float:
        """The Euclidean distance from the prices."""
        return math.sqrt(self.square)

    @property
    def is_mixture(self) -> bool:
        """Whether the prices are those of a mixture of worlds, and not of a relaxation that bounds the distance."""
        return len(self.weight) > 0

    @property
    def is_known(self) -> bool:
        """Whether the nearest coherent prices were found and proved to be nearest, not only bounds on the distance."""
        return self.is_mixture and are_close(math.sqrt(self.least), self.distance)

    @property
    def coherent(self) -> bool | None:
        """Whether the prices are coherent, to the tolerance; None where that was not decided in time."""
        if self.distance <= TOLERANCE:
            return True
        return False if self.least > 0.0 else None


def are_close(low: float, high: float) -> bool:
    """Whether bounds are so close together that the distance between them counts as known."""
    return high - low <= PROVED * high + TOLERANCE


def largest_square(bets: Bets, own: Indices) -> float:
    """The squared distance than which none is larger, whatever the coherent prices: these lie between 0 and 1."""
    bid, ask = bets.sides_of(own)
    return float(np.sum(np.maximum(bid, 1.0 - ask) ** 2))


class PointApproach:
    """The search for the nearest prices of bets that have one price each and are never called off."""

    def __init__(self, cluster: Cluster, price: Vector) -> None:
        self.cluster, self.price = cluster, price
        self.found = Nearest(cluster.part, 0, TOLERANCE**2, NOISE**2)

    def improve(self, budget: Budget, accuracy: float) -> NearestPrices:
        """The nearest prices found within the budget, or once the gap is at most the accuracy."""
        found, hasty = self.found, accuracy > ACCURACY
        if not found.is_eliminable:
            # The bounds that come before the search for worlds there ignore the clock.
            soon, effort = budget.share(SEARCHING), QUICK if hasty else TUNING.thorough[0]
            while (seconds := soon.slice()) > 0 and not found.core.search(seconds, *effort):
                pass
            if hasty:
                # The scatter of merged prices adds to the squared distance, to which the accuracy is relative.
                accuracy *= 1.0 + _scatter(self.cluster, self.price) / found.scale
        if found.objective > found.noise and not budget.is_over():
            found.improve(replace(budget, tolerance=accuracy, floor=TOLERANCE**2), hasty=hasty)
        return _nearest_points(self.cluster, self.price, found)

    @property
    def is_open(self) -> bool:
        """Whether more time may bring bounds on the distance closer together."""
        return not self.found.eliminated

    @property
    def is_late(self) -> bool:
        """Whether the last attempt, or a part of it, ended with its time."""
        return self.found.timed_out


class Approach:
    """The search for the coherent prices nearest to those of a cluster's bets, which can be continued."""

    def __init__(self, bets: Bets, cluster: Cluster) -> None:
        self.bets, self.cluster = bets, cluster
        self._points: PointApproach | None = None
        self._best: NearestPrices | None = None

    @property
    def has_points(self) -> bool:
        """Whether the bets have one price each, are never called off and are few enough: `PointApproach` suffices."""
        cluster = self.cluster
        quoted = self.bets.has_quotes(cluster.bets)
        return not quoted and not cluster.conditional.any() and len(cluster.part) <= LARGE

    def improve(self, budget: Budget, accuracy: float = ACCURACY) -> NearestPrices:
        """The nearest prices found so far: within the budget, or once the gap is at most the accuracy."""
        found = self._improved(budget, accuracy)
        late = budget.is_over() or (self._points is not None and self._points.is_late)
        known = found if self._best is None else _better(self._best, found)
        self._best = replace(known, cut=late and not known.is_known)
        return self._best

    def _improved(self, budget: Budget, accuracy: float) -> NearestPrices:
        """The nearest prices of one more attempt."""
        bets, cluster = self.bets, self.cluster
        if budget.is_over() and self._points is None:
            return _unknown(bets, cluster, Proof.TOO_LATE)
        quoted = bets.has_quotes(cluster.bets)
        try:
            if quoted and (found := _nearest_quotes(bets, cluster, budget)):
                return found
            if len(cluster.part) > LARGE:
                return _unknown(bets, cluster, Proof.TOO_LARGE) if quoted else _locally_nearest(bets, cluster)
            if quoted or cluster.conditional.any():
                return _nearest_given(bets, cluster, budget, None if self._best is None else self._best.worlds)
            self._points = self._points or PointApproach(cluster, bets.price[cluster.bets])
            return self._points.improve(budget, accuracy)
        except MethodError as error:
            return _unknown(bets, cluster, f"{Proof.NOTHING}: {error}")

    @property
    def is_open(self) -> bool:
        """Whether more time may bring bounds on the distance closer together."""
        return self._points is not None and self._points.is_open


def _better(one: NearestPrices, other: NearestPrices) -> NearestPrices:
    """The one of two answers with the smaller gap; a proved bound of either holds for both."""
    best = min(other, one, key=lambda answer: answer.square - answer.least)
    return replace(best, least=min(best.square, max(one.least, other.least)))


def nearest_of(bets: Bets, budget: Budget) -> list[NearestPrices]:
    """The coherent prices nearest to those of the bets, each of weight 1, cluster by cluster."""
    return [Approach(bets, cluster).improve(budget) for cluster in clusters_of(bets)]


def _nearest_points(cluster: Cluster, price: Vector, found: Nearest) -> NearestPrices:
    """The nearest coherent prices if each bet has one price and is never called off."""
    core = found.core
    weight, worlds = core.worlds()
    value = cluster.on_bets(np.clip(core.x(), 0.0, 1.0))
    square = float(np.sum((price - value) ** 2))
    least = square if found.eliminated else lower_bound(found.bound, square - found.objective)
    chance = np.ones(len(price))
    return NearestPrices(
        cluster=cluster,
        target=price,
        value=value,
        chance=chance,
        sure=square,
        weight=weight / weight.sum(),
        worlds=worlds,
        square=square,
        least=least,
        shortfall=core.shortfall(),
        lowest=core.lowest(),
        proof=found.proof,
    )


def _nearest_quotes(bets: Bets, cluster: Cluster, budget: Budget) -> NearestPrices | None:
    """The coherent prices nearest to quotes, if linear programs find them and every bet has a chance to stand."""
    found = settle(bets, cluster, budget)
    if found is None:
        return None
    answer = replace(_mixed(bets, cluster, found.share, found.worlds), least=found.least)
    if answer.chance.min() <= ABSENT:
        return None
    if not answer.least:
        return answer
    sure, proof = worst(cluster, answer.target - answer.value, answer.target, budget)
    return replace(answer, sure=answer.square, shortfall=max(0.0, answer.square - sure), proof=proof)


def _mixed(bets: Bets, cluster: Cluster, weight: Vector, worlds: Truth) -> NearestPrices:
    """The prices of a mixture of worlds, without any proof of nearness."""
    weight, worlds = weight[weight > 0] / weight.sum(), worlds[weight > 0]
    found = prices_in(bets, cluster, weight, worlds)
    return NearestPrices(
        cluster=cluster,
        target=found.target,
        value=found.value,
        chance=found.chance,
        sure=0.0,
        weight=weight,
        worlds=worlds,
        square=found.square,
        least=0.0,
        shortfall=math.inf,
        lowest=worlds[0],
        proof=f"a mixture of {counted(len(weight), 'world')}",
    )


def _unknown(bets: Bets, cluster: Cluster, proof: str) -> NearestPrices:
    """No answer, and why; the distance is the largest that prices can have."""
    own, none = cluster.bets, np.zeros((0, cluster.part.n_variables), np.uint8)
    square = largest_square(bets, own)
    return NearestPrices(
        cluster=cluster,
        target=bets.price[own],
        value=bets.price[own],
        chance=np.ones(len(own)),
        sure=0.0,
        weight=np.zeros(0),
        worlds=none,
        square=square,
        least=0.0,
        shortfall=math.inf,
        lowest=np.zeros(cluster.part.n_variables, np.uint8),
        proof=proof,
    )


def _nearest_given(bets: Bets, cluster: Cluster, budget: Budget, start: Truth | None) -> NearestPrices:
    """The nearest coherent prices if some bets may be called off; squares are weighted by the chance that they stand.

    `start` are worlds to begin with, if any are known.

    With stakes s = p - x the profit in a world is, by the slopes of the distance at its minimum, at least the sum of
    s^2 over the bets that are never called off plus half the sum of s^2 times its chance over the others.

    Merging forecasts of one price leaves their scatter out of the sum of squares: a constant for bets that are never
    called off. Quotes, and repeated conditional bets, are not merged.
    """
    given, merged = cluster.coordinate[cluster.conditional], not bets.has_quotes(cluster.bets)
    merged &= len(np.unique(given)) == len(given)
    part = cluster.part if merged else at_quotes(bets, cluster)
    scatter = _scatter(cluster, bets.price[cluster.bets]) if merged else 0.0
    spent = replace(budget, tolerance=ACCURACY, floor=TOLERANCE**2)
    found = solve_alone(part, objective_of(part, BRIER), spent, start if start is not None and len(start) else None)
    answer = _mixed(bets, cluster, found.share, found.worlds)
    squares = answer.chance * (answer.target - answer.value) ** 2
    return replace(
        answer,
        sure=float(np.sum(np.where(cluster.conditional, 0.5, 1.0) * squares)),
        least=lower_bound(found.bound, scatter),
        shortfall=0.5 * found.gap,
        proof=found.proof,
    )


def _locally_nearest(bets: Bets, cluster: Cluster) -> NearestPrices:
    """The nearest prices that are coherent for pairs of variables: no farther than coherent ones."""
    part, price = cluster.part, bets.price[cluster.bets]
    count = len(price)
    scatter = _scatter(cluster, price)
    problem = Problem.of(
        part, BRIER, cluster.coordinate, cluster.complemented, probability=price, weight=np.ones(count)
    )
    from coherently.solve import AlternatingProjections

    found = AlternatingProjections(groups="pairs", correction="dykstra").solve(problem)
    square = float(np.sum((price - found.value) ** 2))
    shortfall = 0.5 * max(0.0, square - (found.guaranteed_improvement or 0.0))
    none = np.zeros((0, part.n_variables), np.uint8)
    return NearestPrices(
        cluster=cluster,
        target=price,
        value=found.value,
        chance=np.ones(count),
        sure=square,
        weight=np.zeros(0),
        worlds=none,
        square=square,
        least=lower_bound(found.lower_bound or 0.0, scatter),
        shortfall=shortfall,
        lowest=np.zeros(part.n_variables, np.uint8),
        proof=Proof.ONLY_PAIRS,
    )


def _scatter(cluster: Cluster, price: Vector) -> float:
    """The squared distance, for bets that are never called off, of prices from the means that they were merged to."""
    plain = ~cluster.conditional
    turned = np.where(cluster.complemented, 1.0 - price, price)[plain]
    return float(np.sum((turned - cluster.part.mean[cluster.coordinate[plain]]) ** 2))


def lower_bound(bound: float, scatter: float) -> float:
    """A bound on the squared distance of bets from one on that of the means that they were merged to."""
    return max(0.0, bound + max(0.0, scatter) - TOLERANCE**2)
