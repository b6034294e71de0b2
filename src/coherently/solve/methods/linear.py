"""Linear averaging, the baseline that everybody knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.errors import MethodError
from coherently.solve.facts import Status
from coherently.solve.solution import Averages

if TYPE_CHECKING:
    from coherently.problem import Problem
    from coherently.solve.budget import Budget
    from coherently.solve.solution import Solution


@dataclass(frozen=True, slots=True)
class LinearAverage:
    """The weighted mean of the forecasts of each event as written, p and ~p apart.

    Averages of incoherent or partial forecasts are in general incoherent (Predd, Kulkarni, Poor and
    Osherson 2006, section 3.3).

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4)])
    >>> round(co.aggregate(panel, method=co.LinearAverage()).probability("p"), 6)
    0.3
    """

    @property
    def name(self) -> str:
        """The name of the method."""
        return "linear"

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:  # noqa: ARG002
        """Answer with the means that the problem already holds."""
        if not problem.loss.is_quadratic:
            raise MethodError(
                f"linear averaging goes with the loss brier; for {problem.loss.name} choose another method"
            )
        return Averages(problem.mean, Status.AVERAGED)
