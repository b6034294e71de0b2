"""Linear programs over the shares of known worlds, which grow by columns: one world each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.problem import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coherently.arrays import Indices, Mask, Vector
    from coherently.solve.budget import Budget
    from coherently.solve.implied.fixed_rows import Claims

SHORTEST = 0.1
"""Minimum number of seconds that a linear program gets."""
FEASIBLE = 1e-10
"""Feasibility tolerance of a program."""
SAME = 1e-12
"""The ends of a row that are this close are one number."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A linear function of the coordinates' truths or probabilities: `coefficients` times these, plus a constant."""

    coefficients: Vector
    constant: float = 0.0

    @staticmethod
    def of(width: int, coordinate: int, turned: bool) -> Form:
        """The probability of one of `width` coordinates, or of its complement."""
        coefficients = np.zeros(width)
        coefficients[coordinate] = -1.0 if turned else 1.0
        return Form(coefficients, float(turned))

    def at(self, x: Vector | Mask) -> float:
        """The value for one number per coordinate."""
        return float(self.coefficients @ x) + self.constant

    def plus(self, factor: float, other: Form) -> Form:
        """The sum of this and a multiple of another."""
        return Form(self.coefficients + factor * other.coefficients, self.constant + factor * other.constant)

    def times(self, factor: float) -> Form:
        """A multiple."""
        return Form(factor * self.coefficients, factor * self.constant)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Optimum:
    """The least value that a program reaches with its worlds, the prices of its claims, and what they leave to prove.

    `reduced` is what the program makes least, less the price `level` of the condition. If it is b or more at all
    mixtures, the value is at least level + b / P(H); `floor` is a lower bound on P(H), 1 where there is no condition.
    """

    value: float
    prices: Vector
    reduced: Form
    level: float = 0.0
    floor: float = 1.0

    def bound(self, least: float) -> float:
        """A lower bound on the program's value over all mixtures, if `reduced` is at least `least` at each."""
        return self.level + min(least, least / self.floor)


class ShareProgram(ABC):
    """A program for HiGHS whose columns are worlds, by the truths of the coordinates."""

    def __init__(self, claims: Claims, aim: Form) -> None:
        import highspy

        self._claims, self._aim, self._sign = claims, aim, 1.0
        self._solver: Any = highspy.Highs()
        self._solver.silent()
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._solver.setOptionValue(option, FEASIBLE)
        self._solver.setOptionValue("threads", 1)
        self._solver.setOptionValue("presolve", "off")
        self._endless, self._optimal = highspy.kHighsInf, highspy.HighsModelStatus.kOptimal
        self._worth: list[float] = []

    @abstractmethod
    def _column(self, truth: Mask) -> Vector:
        """The entries of a world in the rows."""

    @abstractmethod
    def _optimum(self, value: float, duals: Vector) -> Optimum:
        """What the duals of the rows are as prices."""

    def _add_rows(self, low: Iterable[float], high: Iterable[float]) -> None:
        none = np.empty(0)
        for ends in zip(low, high, strict=True):
            self._solver.addRow(*ends, 0, none.astype(np.int32), none)

    def add(self, truth: Mask) -> None:
        """Add a world, by the truth of the coordinates."""
        values = self._column(truth)
        rows = np.flatnonzero(values).astype(np.int32)
        self._worth.append(self._aim.at(truth))
        self._solver.addCol(self._sign * self._worth[-1], 0.0, self._endless, len(rows), rows, values[rows])

    def set_sign(self, sign: float) -> None:
        """Minimise the aim, or its negative."""
        self._sign = sign
        first = self._solver.getNumCol() - len(self._worth)
        for column, worth in enumerate(self._worth, first):
            self._solver.changeColCost(column, sign * worth)

    def aim_at(self, aim: Form, truth: Iterable[Mask]) -> None:
        """Be about another sum of coordinates from now on; `truth` has the worlds that were added, in their order."""
        self._aim, self._worth = aim, [aim.at(row) for row in truth]

    def shares(self) -> Vector:
        """The shares of the worlds in the mixture that was found last, in the order in which they were added."""
        values = np.array(self._solver.getSolution().col_value)
        return values[len(values) - len(self._worth) :]

    def solve(self, budget: Budget) -> Optimum | None:
        """The least value, and the prices; None if the budget is over or rounding makes the solver fail."""
        left = max(SHORTEST, budget.left())
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            return None
        duals, info = np.array(self._solver.getSolution().row_dual), self._solver.getInfo()
        # A mixture that misses no row costs at most the price of this one's violations more.
        missed = float(info.max_primal_infeasibility) * float(np.abs(duals).sum())
        return self._optimum(float(info.objective_function_value) + missed, duals)


class EventProgram(ShareProgram):
    """The least probability of an event: mixtures whose claims lie within their limits, and, last, add up to 1."""

    def __init__(self, claims: Claims, aim: Form, truth: Mask) -> None:
        super().__init__(claims, aim)
        self._add_rows([*claims.low.tolist(), 1.0], [*claims.high.tolist(), 1.0])
        for row in truth:
            self.add(row)

    def _column(self, truth: Mask) -> Vector:
        return np.append(self._claims.matrix @ truth.astype(np.float64), 1.0)

    def _optimum(self, value: float, duals: Vector) -> Optimum:
        return Optimum(value=value, prices=duals[:-1], reduced=self._aim.times(self._sign))


class ConditionalProgram(ShareProgram):
    """The least P(A) / P(H) over mixtures that give H at least the probability ABSENT; A implies H.

    A quotient of linear functions is least where a linear program is (Charnes and Cooper 1962): with the shares w of
    worlds as v = w / P(H), and t = 1 / P(H), it is

        min P_v(A)   subject to   P_v(H) = 1,   sum v = t,   low t <= R v <= high t,   v >= 0,   t <= 1 / ABSENT.

    Every point of it is a mixture w = v / t, so its least value is reached. The proof is that of an event: for any
    level m and prices y, the least that y makes of the claims' ends plus the least of A(s) - m H(s) - <y, R s> over all
    worlds s is a number b with P(A) >= m P(H) + b for every mixture. So the quotient is at least m + b / P(H), which is
    at least m + b for b > 0, and m + b / floor for b < 0 where P(H) is nowhere below `floor` (`Optimum.bound`).
    """

    def __init__(self, claims: Claims, aim: Form, condition: Form, truth: Mask, floor: float) -> None:
        super().__init__(claims, aim)
        self._condition, self._floor = condition, floor
        single = claims.high - claims.low <= SAME
        self._above = np.flatnonzero(np.isfinite(claims.low))
        self._below = np.flatnonzero(np.isfinite(claims.high) & ~single)
        upper = np.where(single[self._above], 0.0, self._endless)
        count = len(self._below)
        # Rows: what is at least its low end (or is it), what is at most its high end, the sum, and P(H).
        self._add_rows(
            [*np.zeros(len(upper)), *np.full(count, -self._endless), 0.0, 1.0], [*upper, *np.zeros(count), 0.0, 1.0]
        )
        inverse = -np.concatenate([claims.low[self._above], claims.high[self._below], [1.0]])
        rows = np.flatnonzero(inverse).astype(np.int32)
        self._solver.addCol(0.0, 0.0, 1.0 / ABSENT, len(rows), rows, inverse[rows])
        for row in truth:
            self.add(row)

    def _rows(self) -> Indices:
        """The claim of each row, but for the last two."""
        return np.concatenate([self._above, self._below])

    def _column(self, truth: Mask) -> Vector:
        sums = self._claims.matrix @ truth.astype(np.float64)
        return np.concatenate([sums[self._rows()], [1.0, self._condition.at(truth)]])

    def _optimum(self, value: float, duals: Vector) -> Optimum:
        prices = np.bincount(self._rows(), duals[:-2], len(self._claims.low)).astype(np.float64)
        level = float(duals[-1])
        return Optimum(
            value=value,
            prices=prices,
            reduced=self._aim.times(self._sign).plus(-level, self._condition),
            level=level,
            floor=self._floor,
        )
