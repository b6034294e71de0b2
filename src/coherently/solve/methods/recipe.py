"""A recipe: pool the forecasts of each event, recalibrate the pool by a line in log-odds, then make it coherent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError, did_you_mean
from coherently.problem import LOSSES, find_loss, pose_again
from coherently.solve.facts import Promise, Status
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.pools import Pool, answer_of_pool
from coherently.solve.solution import Averages, Method, Solution
from coherently.values import Told

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Problem
    from coherently.solve.budget import Budget

POOLS = ("linear", "trimmed", "median", "log")
"""The pools that a recipe may begin with."""
CLIP = 0.01
"""The probability to which log-odds are clipped: a judge who is certain must not outvote many who are not."""


@dataclass(frozen=True, slots=True)
class Recipe(Told):
    r"""Pools each event as written, recalibrates the pool, then makes it coherent.

    The pool $q$ of the forecasts of an event (p and ~p apart) is `linear`, `trimmed`, `median` or `log`, as in
    `co.Pool`; for log-odds $l(q) = \ln q/(1-q)$, probabilities are clipped to [`clip`, 1 - `clip`]. With a the
    `exponent` and b the `shift`, the recalibrated number is

    $$l^{-1}(a\, l(q) + b).$$

    An exponent above 1 makes a timid pool bolder (Satopää and others 2014); a negative shift corrects judges who say
    yes too readily to whatever is asked: p and ~p both fall. The method `then` makes the numbers coherent, by the
    `loss` ("brier", "log" or "spherical"), with the weights of the forecasts; with `then=None` they stay as they are.

    Without outcomes to learn from, the default is a robust choice: see docs/explanation/choosing-a-method.md for the
    measurements. `co.tune` learns a recipe from resolved events.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.7), ("Bob", "p", 0.8), ("Cid", "p", 0.9), ("Ann", "~p", 0.3), ("Bob", "~p", 0.3)]
    >>> panel = co.Panel.from_records(rows)
    >>> round(co.aggregate(panel, co.Recipe()).probability("p"), 3)
    0.76
    >>> round(co.aggregate(panel, co.Recipe(exponent=1.5)).probability("p"), 3)
    0.846
    """

    pool: str = "trimmed"
    exponent: float = 1.0
    shift: float = 0.0
    loss: str = "brier"
    then: Method | None = field(default_factory=Exact)
    clip: float = CLIP

    def __post_init__(self) -> None:
        if self.pool not in POOLS:
            raise MethodError(
                f"unknown pool {self.pool!r} of a recipe; the pools are {', '.join(POOLS)}",
                code="unknown-pool",
                remedy=did_you_mean(self.pool, POOLS).strip() or None,
            )
        if self.loss not in LOSSES:
            raise MethodError(
                f"unknown loss {self.loss!r} of a recipe; the losses are {', '.join(LOSSES)}",
                code="unknown-loss",
                remedy=did_you_mean(self.loss, LOSSES).strip() or None,
            )
        if not 0 < self.exponent < math.inf:
            raise MethodError(f"exponent is {self.exponent}; it must be above 0")
        if not math.isfinite(self.shift):
            raise MethodError(f"shift is {self.shift}; it must be a finite number")
        if not 0 < self.clip < 0.5:
            raise MethodError(f"clip is {self.clip}; it must be above 0 and below 0.5")
        if self.then is not None and (isinstance(self.then, type) or not isinstance(self.then, Method)):
            raise MethodError(f"then is {self.then!r}; it must be a method object, such as co.Exact(), or None")

    @property
    def name(self) -> str:
        """The name of the method, and of the one that follows."""
        return "recipe" if self.then is None else f"recipe, then {self.then.name}"

    @property
    def exceptions(self) -> frozenset[Promise]:
        """The promises that the recipe does not keep: recalibration moves coherent forecasts, too."""
        moved = frozenset() if self.is_plain else frozenset({Promise.KEEPS_COHERENT})
        return moved | getattr(self.then, "exceptions", frozenset())

    @property
    def is_plain(self) -> bool:
        """Whether nothing is recalibrated."""
        return self.exponent == 1 and self.shift == 0

    @property
    def sentence(self) -> str:
        """The recipe in words."""
        times = "" if self.exponent == 1 else f" times {self.exponent:g}"
        plus = "" if self.shift == 0 else f" {'minus' if self.shift < 0 else 'plus'} {abs(self.shift):g}"
        line = "" if self.is_plain else f", log-odds{times}{plus}"
        after = "" if self.then is None else f", then {self.then.name} by the {self.loss} loss"
        return f"{self.pool} pool{line}{after}"

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Answer the problem; the method that follows answers the one whose forecasts are the recalibrated numbers."""
        pool = Pool(self.pool, clip=self.clip if self.pool == "log" else None)
        value = self.recalibrated(pool.average(problem))
        if self.then is None:
            return Averages(value, Status.AVERAGED, note=pool.note(problem))
        if not problem.loss.is_quadratic and problem.loss.name != self.loss:
            raise MethodError(
                f"the loss is {problem.loss.name}, and that of the recipe {self.loss}; a recipe has its own loss: "
                f"co.Recipe(loss={problem.loss.name!r})"
            )
        again = pose_again(replace(problem, loss=find_loss(self.loss)), value)
        return answer_of_pool(problem, self.then.solve(again, budget), self.sentence, pool.note(problem))

    def recalibrated(self, pooled: Vector) -> Vector:
        """The numbers on the line in log-odds; a pool that is certain counts as almost certain."""
        if self.is_plain:
            return pooled
        clipped = np.clip(pooled, self.clip, 1.0 - self.clip)
        odds = self.exponent * np.log(clipped / (1.0 - clipped)) + self.shift
        found: Vector = 0.5 * (1.0 + np.tanh(0.5 * odds))
        return found

    def as_dict(self) -> dict[str, Any]:
        """The recipe in plain values; `from_dict` makes it again."""
        then = None if self.then is None else {"method": self.then.name, **asdict(self.then)}  # type: ignore[call-overload]
        own = {name: getattr(self, name) for name in ("pool", "exponent", "shift", "loss", "clip")}
        return {"recipe": 1, **own, "then": then}
