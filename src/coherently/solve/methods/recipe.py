"""A recipe: pool the forecasts of each event, recalibrate the pool by a line in log-odds, then make it coherent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    ANY,
    NUMBER,
    TEXT,
    Described,
    ObjectOf,
    OneOf,
    OrNull,
    OtherFields,
    Record,
    RecordField,
    plain,
)
from coherently.errors import MethodError, did_you_mean
from coherently.problem import LOSSES, find_loss, pose_again
from coherently.solve.facts import Promise, Status
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.pools import Pool, answer_of_pool
from coherently.solve.solution import Averages, Method, Solution

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from coherently.arrays import Vector
    from coherently.problem import Problem
    from coherently.solve.budget import Budget

POOLS = ("linear", "trimmed", "median", "log")
"""The pools that a recipe may begin with."""
CLIP = 0.01
"""The probability to which log-odds are clipped: a judge who is certain must not outvote many who are not."""


RECIPE = Record(
    "recipe",
    2,
    "How to pool, recalibrate and make coherent (`co.Recipe`, `coherently tune -o`); what is left out is the default.",
    (
        RecordField("pool", OneOf(lambda: POOLS), "the pool of the forecasts of each event", optional=True),
        RecordField("exponent", NUMBER, "the factor by which log-odds are multiplied, above 0", optional=True),
        RecordField("shift", NUMBER, "what is added to log-odds", optional=True),
        RecordField("loss", OneOf(lambda: LOSSES), "the distance by which numbers are made coherent", optional=True),
        RecordField("clip", NUMBER, "the probability to which log-odds are clipped, from 0 to 0.5", optional=True),
        RecordField(
            "then",
            OrNull(
                ObjectOf(
                    "a method",
                    (RecordField("method", TEXT, "its word, as for `co.aggregate`"),),
                    OtherFields(tuple, ANY, "an option of the method"),
                )
            ),
            "the method that makes the numbers coherent, with its options; null if they stay as they are",
            optional=True,
        ),
    ),
    MethodError,
)
UNNAMED = 1
"""Version 1 has `"recipe": 1` in place of format and version."""


@dataclass(frozen=True, slots=True)
class Recipe(Described):
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

    record: ClassVar[Record] = RECIPE
    method_of: ClassVar[Callable[[dict[str, Any]], Method]]
    """The method of a word and its options; the registry, which knows all words, puts it here."""

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

    def _plain(self) -> dict[str, Any]:
        then = None if self.then is None else {"method": self.then.name, **asdict(self.then)}  # type: ignore[call-overload]
        words = {"pool": self.pool, "loss": self.loss}
        line = {name: float(getattr(self, name)) for name in ("exponent", "shift", "clip")}
        return {**words, **line, "then": plain(then)}

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Recipe:
        """Read what `to_json` wrote, or the recipe in what `coherently tune --json` printed: a text, or a file."""
        return cls.from_dict(RECIPE.values_in(source))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Recipe:
        """Make the recipe that `as_dict` gave, of any version; an error names the field that does not fit."""
        if isinstance(values, dict) and isinstance(values.get("recipe"), dict):
            values = values["recipe"]  # everything that was learned
        if isinstance(values, dict) and values.get("recipe") == UNNAMED:
            values = RECIPE.headed({name: value for name, value in values.items() if name != "recipe"})
        return cls._from_plain(RECIPE.checked(values))

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Recipe:
        then = {"then": values["then"] and cls.method_of(values["then"])} if "then" in values else {}
        return cls(**{**values, **then})
