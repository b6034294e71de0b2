"""The best stakes of 1 in total at bid and ask, and the mixture of worlds that shows that no others win more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError
from coherently.explain.bets.bets import truth_of
from coherently.explain.bets.trading_terms import at_quotes
from coherently.problem import BRIER, Limits, States, TooManyStatesError, broken_symmetry
from coherently.solve.component.newton.feasible import make_engine
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.objective import objective_of
from coherently.solve.worlds.examples import example_worlds
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.solve.budget import Budget

MARGIN = 1e-9
"""Sure profits up to this, for stakes of 1 in total, are rounding and count as none."""
FEW, WORLDS_A_BET = 256, 2
"""All worlds are listed if they are at most this many, or this many per bet; of more, most do not matter."""
SEARCHES = 8
"""Maximum number of doublings of the length of a search for worlds."""
LATE = "the time was over"
"""Why a search ended early."""
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, slots=True, eq=False)
class Stakes:
    """Stakes, and their profit in the worst of the `worlds` considered: all worlds, or those that matter.

    In the mean over `worlds` with these shares no unit of any bet, sold or bought, wins more than `most`: so no stakes
    of 1 in total win more for sure. `reason` says why the search ended early, if it did.
    """

    stakes: Vector
    profit: float
    most: float
    share: Vector
    worlds: Truth
    reason: str = ""


class Market:
    """The bets of a cluster, to be traded at one set of prices after another.

    If the worlds are few, all of them are known from the start. Otherwise worlds are found when they matter; the first
    are `worlds` or, if there are none, those of a mixture that is near the middle of the quotes. `truth` says which
    bets are won, and which stand, in the worlds that are known.
    """

    def __init__(self, bets: Bets, cluster: Cluster, worlds: Truth | None = None) -> None:
        self.bets, self.cluster = bets, cluster
        every = every_world(bets, cluster)
        self.complete = every is not None
        some = np.zeros((0, cluster.part.n_variables), np.uint8) if worlds is None else worlds
        self.worlds = some if every is None else every
        self.truth = truth_of(bets, cluster, self.worlds)

    def best(self, sell: Vector, buy: Vector, budget: Budget) -> Stakes:
        """Stakes of the greatest profit in the worst world.

        A unit of a bet is sold at the price `sell` and bought at `buy`; at 0 or less nothing is sold, and at 1 or more
        nothing bought, since that wins nothing. A linear program over the known worlds finds the best stakes in them,
        and the oracle finds the worst world for these, until no world is new.
        """
        try:
            if not len(self.worlds):
                self._learn(self._first(budget))
            last: Stakes | None = None
            while True:
                program = _StakesProgram(self, sell, buy)
                found = program.solve(budget)
                if found.reason and last is not None:
                    return replace(last, reason=found.reason)
                if self.complete or found.reason or found.most <= MARGIN:
                    return found
                last = found
                payouts, _ = self.cluster.payouts(found.stakes, program.income(found.stakes))
                self._learn(self.oracle.least(-payouts, budget, 0.1 * found.profit).world[None, :])
                there = _StakesProgram(self, sell, buy).profits(found.stakes)[-1]
                if found.profit - there <= max(MARGIN, MARGIN * found.profit):
                    return found
        except MethodError as error:
            nothing = np.zeros(len(sell))
            return Stakes(
                stakes=nothing,
                profit=0.0,
                most=np.inf,
                share=np.zeros(0),
                worlds=self.worlds,
                reason=f"the worst world is not known: {error}",
            )

    @cached_property
    def oracle(self) -> Oracle:
        """The oracle that finds the worst world for stakes."""
        return Oracle(self.cluster.part)

    def _first(self, budget: Budget) -> Truth:
        """The worlds of the mixture that is nearest to the middle of the quotes, and some that show every event."""
        part = at_quotes(self.bets, self.cluster)
        engine = make_engine(part, self.oracle, pin_rows(Limits(), len(part)), 0)
        engine.set(*objective_of(part, BRIER).first_model())
        ready = False
        while not ready and (left := budget.slice()) > 0:
            ready = engine.eliminate(left, 0.0) if self.oracle.is_exact else engine.search(left, 0.0, SEARCHES)
        return np.vstack([engine.worlds()[1], example_worlds(part, self.oracle, budget).worlds])

    def _learn(self, worlds: Truth) -> None:
        won, stands = truth_of(self.bets, self.cluster, worlds)
        self.worlds = np.vstack([self.worlds, worlds])
        self.truth = np.vstack([self.truth[0], won]), np.vstack([self.truth[1], stands])


def every_world(bets: Bets, cluster: Cluster) -> Truth | None:
    """One world of the cluster for each possible outcome of its bets; None if these are too many to list.

    For interchangeable variables, as those of a count, only the number of true ones matters.
    """
    part = cluster.part
    try:
        worlds = States(broken_symmetry(part) or part.space, part.n_variables).of(np.arange(part.n_variables))
    except TooManyStatesError:
        return None
    if len(worlds) > max(FEW, WORLDS_A_BET * len(cluster.bets)):
        return None
    truth = np.concatenate(truth_of(bets, cluster, worlds), axis=1)
    _, first = np.unique(np.packbits(truth, axis=1), axis=0, return_index=True)
    return np.ascontiguousarray(worlds[np.sort(first)])


class _StakesProgram:
    """The mixture of worlds in which the best unit wins least: the least t such that no bet wins more on average.

    With v_i the probability that bet i is won and h_i that it stands, h sell - v <= t and v - h buy <= t. The prices of
    these rows are the best stakes, sold and bought, which add up to 1 where t > 0.
    """

    def __init__(self, market: Market, sell: Vector, buy: Vector) -> None:
        self.given, self.worlds, self.sell, self.buy = market.cluster.conditional, market.worlds, sell, buy
        self.sold, self.bought = sell > 0, buy < 1
        self.won, self.stands = market.truth

    def income(self, stakes: Vector) -> Vector:
        """The income from stakes unless they are called off; negative if they are bought."""
        found: Vector = np.where(stakes > 0, self.sell, self.buy) * stakes
        return found

    def profits(self, stakes: Vector) -> Vector:
        """What stakes win in each world."""
        found: Vector = self.stands @ self.income(stakes) - self.won @ stakes
        return found

    def solve(self, budget: Budget) -> Stakes:
        """The best stakes in these worlds, and the mixture that proves it."""
        nothing = np.zeros(len(self.sell))
        left = budget.left()
        if left <= 0:
            return Stakes(stakes=nothing, profit=0.0, most=np.inf, share=np.zeros(0), worlds=self.worlds, reason=LATE)
        import highspy

        solver = self._model(left)
        solver.run()
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            said = solver.modelStatusToString(status)
            reason = LATE if budget.is_over() else f"the linear program was not solved: {said}"
            return Stakes(stakes=nothing, profit=0.0, most=np.inf, share=np.zeros(0), worlds=self.worlds, reason=reason)
        found = solver.getSolution()
        limits = int(self.sold.sum()) + int(self.bought.sum())
        price = np.maximum(0.0, -np.asarray(found.row_dual)[:limits])
        stakes, sold = nothing, int(self.sold.sum())
        stakes[self.sold] += price[:sold]
        stakes[self.bought] -= price[sold:]
        stakes = np.where(np.abs(stakes) < 1e-12, 0.0, stakes)
        share = np.maximum(0.0, np.asarray(found.col_value)[: len(self.worlds)])
        share /= share.sum()
        return Stakes(
            stakes=stakes,
            profit=float(self.profits(stakes).min()),
            most=self._most(share),
            share=share,
            worlds=self.worlds,
        )

    def _most(self, share: Vector) -> float:
        """The mean profit of the best unit of a bet, rounded up: sums are off by one unit of rounding per world."""
        v, h = share @ self.won, share @ self.stands
        gains = np.maximum(h * self.sell - v, v - h * self.buy)
        return float(gains.max(initial=0.0)) + 2.0 * len(share) * float(np.finfo(np.float64).eps)

    def _model(self, seconds: float) -> Any:
        """The program for HiGHS: the shares of worlds, the probabilities of events and t, none below 0.

        An event is given by its worlds or, if that is shorter, by those in which it differs from the previous event: in
        a ladder each event has one world more. Inequalities come first, then one equation per event, and the sum of
        all shares.
        """
        given = self.given
        truth = np.concatenate([self.won, self.stands[:, given]], axis=1).astype(np.int8)
        events, place = np.unique(truth, axis=1, return_inverse=True)
        worlds, count = events.shape
        step = np.diff(events, axis=1, prepend=np.zeros((worlds, 1), np.int8))
        stepped = np.count_nonzero(step, axis=0) < np.count_nonzero(events, axis=0)
        entries: list[tuple[Any, Any, Any]] = []
        right: list[Vector] = []
        level = worlds + count
        standing = np.cumsum(given) - 1 + len(given)
        for price, kept, sign in ((self.sell, self.sold, -1.0), (self.buy, self.bought, 1.0)):
            own = np.flatnonzero(kept)
            row = sum(map(len, right)) + np.arange(len(own))
            entries += [(row, worlds + place[own], np.full(len(own), sign)), (row, level, -1.0)]
            called = np.flatnonzero(given[own])
            entries.append((row[called], worlds + place[standing[own[called]]], -sign * price[own[called]]))
            right.append(sign * np.where(given[own], 0.0, price[own]))
        limits, every = sum(map(len, right)), np.arange(count)
        world, event = np.nonzero(told := np.where(stepped, step, events))
        entries += [
            (limits + event, world, -told[world, event].astype(np.float64)),
            (limits + every, worlds + every, 1.0),
            (limits + every[stepped], worlds + every[stepped] - 1, -1.0),
            (np.full(worlds, limits + count), np.arange(worlds), 1.0),
        ]
        upper = np.concatenate([*right, np.zeros(count), [1.0]])
        lower = np.where(np.arange(len(upper)) < limits, -np.inf, upper)
        return _least_of_last(entries, lower, upper, level + 1, seconds=seconds)


def _least_of_last(
    entries: list[tuple[Any, Any, Any]],
    lower: Vector,
    upper: Vector,
    columns: int,
    *,
    seconds: float,
) -> Any:
    """A program whose last column is made least, from the rows, columns and values of its entries."""
    import highspy

    wide = [np.broadcast_arrays(*entry) for entry in entries]
    row, column, value = (np.concatenate([entry[k] for entry in wide]) for k in range(3))
    # A bet that is won wherever it stands has both its entries in one place, where they add up.
    place, which = np.unique(column * len(upper) + row, return_inverse=True)
    value = np.bincount(which.ravel(), value, len(place))
    program: Any = highspy.HighsLp()
    program.num_col_, program.num_row_ = columns, len(upper)
    program.col_cost_ = np.append(np.zeros(columns - 1), 1.0)
    program.col_lower_, program.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = lower, upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.concatenate(
        [[0], np.cumsum(np.bincount(place // len(upper), minlength=columns))]
    ).astype(np.int32)
    program.a_matrix_.index_ = (place % len(upper)).astype(np.int32)
    program.a_matrix_.value_ = value
    solver: Any = highspy.Highs()
    solver.silent()
    for option, setting in {**_PRECISE, "time_limit": seconds, "threads": 1}.items():
        solver.setOptionValue(option, setting)
    solver.passModel(program)
    return solver
