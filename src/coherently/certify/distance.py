"""How far bets are from coherent prices: the nearest ones, cluster by cluster."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.bets import clusters_of, truth_of
from coherently.certify.market import best_stakes, every_world
from coherently.errors import MethodError
from coherently.problem import BRIER, NO_TERMS, Intervals, Problem
from coherently.solve import AlternatingProjections
from coherently.solve.composite import CompositeNearest
from coherently.solve.nearest import Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.bets import Bets, Cluster
    from coherently.problem import Merged
    from coherently.solve import Progress

TOLERANCE = 1e-9
"""The Euclidean distance from coherent prices up to which bets count as coherent: a matter of rounding."""
ABSENT = 1e-6
"""The probability up to which a condition counts as impossible."""
NOISE = 1e-13
"""Changes of a price that are rounding errors."""
MOMENT = 0.1
"""Seconds after which prices that are coherent but for rounding errors are not looked at any more."""
LARGE = 20_000
"""Distinct events of a cluster past which only pairs of variables are made coherent, which bounds the distance."""
ACCURACY = 1e-6
"""The relative gap of squared distances that is aimed at where the best world is not found each time."""


ROUNDS = 100
"""How often bets join those that must move, before another way is taken."""
FLOAT_MARGIN = 1e-14
"""What a sum of stakes by prices or truths may be wrong by, as a share of the stakes: thousands of them in float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The coherent prices nearest to those of a cluster's bets, a quote being all prices from its bid to its ask.

    `value` has a price a bet, `target` the price or the point of the quote that is nearest to it, and `chance` the
    probability that the bet is not called off; `worlds` and `weight` are the mixture that values come from. `square`
    is the squared distance of values from targets, squares counting by their chance, and `least` a proved lower bound
    on it. Without quotes, stakes of the prices less `value` win `sure` less `shortfall` in every world, which is
    infinite where nothing was proved, and least in the world `lowest` as far as is known. `proof` says on what these
    bounds rest, or why there is none.
    """

    cluster: Cluster
    target: NDArray[np.float64]
    value: NDArray[np.float64]
    chance: NDArray[np.float64]
    sure: float
    weight: NDArray[np.float64]
    worlds: NDArray[np.uint8]
    square: float
    least: float
    shortfall: float
    lowest: NDArray[np.uint8]
    proof: str

    @property
    def distance(self) -> float:
        """The Euclidean distance from the prices."""
        return math.sqrt(self.square)

    @property
    def is_mixture(self) -> bool:
        """Whether the prices are those of a mixture of worlds, and not of a relaxation that bounds the distance."""
        return len(self.weight) > 0

    @property
    def coherent(self) -> bool | None:
        """Whether the prices are coherent, to the tolerance; None where that was not decided in time."""
        if self.distance <= TOLERANCE:
            return True
        return False if self.least > 0.0 else None


def nearest_of(bets: Bets, deadline: float, progress: Progress | None = None) -> list[Answer]:
    """The nearest coherent prices, cluster by cluster."""
    answers = []
    clusters = clusters_of(bets)
    for cluster in clusters:
        answers.append(nearest(bets, cluster, deadline))
        if progress is not None:
            progress(len(answers) / len(clusters))
    return answers


def nearest(bets: Bets, cluster: Cluster, deadline: float) -> Answer:
    """The nearest coherent prices to those of the cluster's bets, each of weight 1."""
    quoted = bool(bets.quoted[cluster.bets].any())
    try:
        if quoted and (found := _nearest_quotes(bets, cluster, deadline)):
            return found
        if len(cluster.part) > LARGE:
            return _unknown(bets, cluster, "too many events") if quoted else _locally_nearest(bets, cluster)
        if quoted or cluster.conditional.any():
            return _nearest_given(bets, cluster, deadline)
        return _nearest_points(cluster, bets.price[cluster.bets], deadline)
    except MethodError as error:
        return _unknown(bets, cluster, str(error))


def _nearest_points(cluster: Cluster, price: NDArray[np.float64], deadline: float) -> Answer:
    """The nearest coherent prices where each bet has one price and stands for sure."""
    found = Nearest(cluster.part, 0, TOLERANCE**2)
    soon = min(deadline, time.monotonic() + MOMENT)
    found.improve(ACCURACY, soon, lambda: None)
    if time.monotonic() >= soon and found.objective > NOISE**2:
        found.improve(ACCURACY, deadline, lambda: None)
    core = found.core
    weight, worlds = core.worlds()
    value = cluster.on_bets(np.clip(core.x(), 0.0, 1.0))
    square = float(np.sum((price - value) ** 2))
    finished = found.proof.startswith("dynamic") and time.monotonic() < deadline
    least = square if finished else _least(found.bound, square - found.objective)
    chance = np.ones(len(price))
    return Answer(
        *(cluster, price, value, chance, square, weight / weight.sum(), worlds, square, least),
        *(core.shortfall(), core.lowest(), found.proof),
    )


def _nearest_quotes(bets: Bets, cluster: Cluster, deadline: float) -> Answer | None:
    """The nearest coherent prices to quotes where the worlds are few; None where they are not, or that is not settled.

    A linear program over all worlds finds coherent prices within all quotes, or the stakes of a book. Of the bets that
    are staked so far, the nearest coherent prices to the bids that are sold and the asks that are bought are found;
    quotes are moved there, and it is asked again. What is not moved is then within its quote, so that the staked bets
    alone are as far from coherence as all of them.
    """
    every = every_world(bets, cluster)
    if every is None:
        return None
    bid, ask = bets.bid[cluster.bets], bets.ask[cluster.bets]
    sign, low, high, least = np.zeros(len(bid)), bid, ask, 0.0
    for _ in range(ROUNDS):
        found = best_stakes(bets, cluster, low, high, every, deadline)
        if not len(found.share):
            return None
        answer = _mixed(bets, cluster, found.share, found.worlds)
        if answer.coherent or answer.square - least <= ACCURACY * answer.square:
            return _proved(bets, answer, every, least) if answer.chance.min() > ABSENT else None
        new = (found.stakes != 0) & (sign == 0)
        if not new.any() or cluster.conditional.any():
            return None
        sign[new] = np.sign(found.stakes[new])
        moves, least = _moves(bets, cluster, sign, every, deadline)
        sign, low, high = np.sign(moves), bid - np.maximum(moves, 0.0), ask - np.minimum(moves, 0.0)
    return None


def _moves(
    bets: Bets, cluster: Cluster, sign: NDArray[np.float64], every: NDArray[np.uint8], deadline: float
) -> tuple[NDArray[np.float64], float]:
    """How far bids (of a positive sign) and asks (negative) must move, and what that proves of the distance.

    With stakes of the moves m, d the distances of any coherent prices from the quotes and w what the stakes win in the
    worst world, w <= m d <= |m| |d|: no squared distance is less than w^2 / |m|^2.
    """
    target = np.where(sign > 0, bets.bid[cluster.bets], bets.ask[cluster.bets])
    moves, chosen = np.zeros(len(sign)), sign != 0
    while chosen.any():
        near = _nearest_points(_at(cluster.only(chosen), target[chosen]), target[chosen], deadline)
        moves[chosen] = target[chosen] - near.value
        wrong = chosen & (sign * moves < NOISE)
        moves[wrong] = 0.0
        chosen &= ~wrong
        if not wrong.any():
            break
    worst = _worst(bets, cluster, moves, target, every)
    return moves, max(0.0, worst) ** 2 / float(moves @ moves) if moves.any() else 0.0


def _worst(
    bets: Bets, cluster: Cluster, stakes: NDArray[np.float64], price: NDArray[np.float64], every: NDArray[np.uint8]
) -> float:
    """What stakes at prices win in the worst of all worlds, rounded down."""
    won, _ = truth_of(bets, cluster, every)
    return float((stakes @ price - won @ stakes).min()) - FLOAT_MARGIN * float(np.abs(stakes).sum())


def _proved(bets: Bets, answer: Answer, every: NDArray[np.uint8], least: float) -> Answer:
    """The answer with what was looked up in every world, where there is anything to prove."""
    if answer.coherent:
        return answer
    sure = _worst(bets, answer.cluster, answer.target - answer.value, answer.target, every)
    proof = f"enumeration of {len(every):,} worlds"
    return replace(answer, sure=answer.square, least=least, shortfall=max(0.0, answer.square - sure), proof=proof)


def _at(cluster: Cluster, price: NDArray[np.float64]) -> Cluster:
    """The cluster with its bets at one price each."""
    turned = np.where(cluster.complemented, 1.0 - price, price)
    weight = np.bincount(cluster.coordinate, minlength=len(cluster.part)).astype(np.float64)
    mean = np.bincount(cluster.coordinate, turned, len(cluster.part)) / weight
    return replace(cluster, part=replace(cluster.part, weight=weight, mean=mean, terms=NO_TERMS))


def _mixed(bets: Bets, cluster: Cluster, weight: NDArray[np.float64], worlds: NDArray[np.uint8]) -> Answer:
    """The prices of a mixture of worlds, of which nothing is proved but what they are."""
    weight, worlds = weight[weight > 0] / weight.sum(), worlds[weight > 0]
    won, stands = truth_of(bets, cluster, worlds)
    chance = np.clip(weight @ stands, 0.0, 1.0)
    value = np.divide(weight @ won, chance, out=bets.price[cluster.bets].copy(), where=chance > 0)
    target = np.clip(value, bets.bid[cluster.bets], bets.ask[cluster.bets])
    square = float(np.sum(chance * (target - value) ** 2))
    return Answer(
        *(cluster, target, value, chance, 0.0, weight, worlds, square, 0.0, math.inf, worlds[0]),
        f"a mixture of {len(weight):,} worlds",
    )


def _unknown(bets: Bets, cluster: Cluster, why: str) -> Answer:
    """No answer, and why: the distance is no more than prices can be from any."""
    own, none = cluster.bets, np.zeros((0, cluster.part.n_variables), np.uint8)
    square = float(np.sum(np.maximum(bets.bid[own], 1.0 - bets.ask[own]) ** 2))
    return Answer(
        *(cluster, bets.price[own], bets.price[own], np.ones(len(own)), 0.0, np.zeros(0), none, square, 0.0, math.inf),
        *(np.zeros(cluster.part.n_variables, np.uint8), f"nothing: {why}"),
    )


def _nearest_given(bets: Bets, cluster: Cluster, deadline: float) -> Answer:
    """The nearest coherent prices where some bets may be called off, whose squares count by the chance that they stand.

    With stakes s = p - x the profit in a world is, by the slopes of the distance at its least, at least the sum of s^2
    over the bets that stand for sure and of half of it, times its chance, over the others.
    """
    found = CompositeNearest(_one_by_one(bets, cluster), BRIER, 0, TOLERANCE**2, linearised=False)
    found.improve(ACCURACY, deadline, lambda: None)
    answer = _mixed(bets, cluster, *found.mixture())
    squares = answer.chance * (answer.target - answer.value) ** 2
    return replace(
        answer,
        sure=float(np.sum(np.where(cluster.conditional, 0.5, 1.0) * squares)),
        least=_least(found.bound, 0.0),
        shortfall=0.5 * (found.objective - found.bound),
        proof=found.proof,
    )


def _one_by_one(bets: Bets, cluster: Cluster) -> Merged:
    """The cluster's part with each bet for itself, as an interval from bid to ask: nothing is merged."""
    part, own, turned = cluster.part, cluster.bets, cluster.complemented
    bid, ask = bets.bid[own], bets.ask[own]
    intervals = Intervals(
        cluster.coordinate.astype(np.int32),
        cluster.conditional,
        np.where(turned, 1.0 - ask, bid),
        np.where(turned, 1.0 - bid, ask),
        np.ones(len(own)),
    )
    given = replace(part.terms.conditionals, weight=np.zeros(len(part.terms.conditionals)))
    terms = replace(part.terms, conditionals=given, intervals=intervals)
    return replace(part, weight=np.zeros(len(part)), terms=terms)


def _locally_nearest(bets: Bets, cluster: Cluster) -> Answer:
    """The nearest prices of which those of events over two variables are coherent: no farther than coherent ones."""
    part, price = cluster.part, bets.price[cluster.bets]
    count = len(price)
    turned = np.where(cluster.complemented, 1.0 - price, price)
    scatter = float(np.sum((turned - part.mean[cluster.coordinate]) ** 2))
    units = np.arange(count, dtype=np.int32)
    coordinate, plain = cluster.coordinate.astype(np.int32), np.zeros(count, np.bool_)
    problem = Problem(units, np.ones(count), price, coordinate, cluster.complemented, plain, part, scatter, BRIER)
    found = AlternatingProjections(groups="pairs", correction="dykstra").solve(problem)
    square = float(np.sum((price - found.value) ** 2))
    shortfall = 0.5 * max(0.0, square - (found.guaranteed_improvement or 0.0))
    none = np.zeros((0, part.n_variables), np.uint8)
    return Answer(
        *(cluster, price, found.value, np.ones(count), square, np.zeros(0), none, square),
        *(_least(found.lower_bound or 0.0, scatter), shortfall),
        *(np.zeros(part.n_variables, np.uint8), "relaxation to pairs of variables: the distance is at least this"),
    )


def _least(bound: float, scatter: float) -> float:
    return max(0.0, bound + max(0.0, scatter) - TOLERANCE**2)
