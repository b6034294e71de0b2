"""A recipe: pool the forecasts of each event, recalibrate the pool by a line in log-odds, then make it coherent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    ANY,
    NUMBER,
    TEXT,
    Described,
    ListOf,
    MapOf,
    ObjectOf,
    OneWord,
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
from coherently.solve.methods.judge_factors import (
    LINE_CLIP,
    NEAREST,
    consensus_factors,
    listed_factors,
    log_odds,
    reliability,
    reweighted,
    sigmoid,
    signal_factors,
)
from coherently.solve.methods.judge_noise import noise_share
from coherently.solve.methods.pools import CLIP, Pool, answer_of_pool
from coherently.solve.methods.recipe_words import recipe_steps
from coherently.solve.solution import Averages, Method, Solution

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from coherently.arrays import Vector
    from coherently.problem import Problem
    from coherently.solve.budget import Budget

BLEND = "blend"
"""The pool that is the mean log-odds of the parts of a recipe."""
MIXED = "mixed"
"""The pool that is linear, and bold as far as judges are noisy."""
POOLS = (MIXED, "linear", "trimmed", "median", "log", BLEND)
"""The pools that a recipe may begin with."""
BOLD = 1.2
"""The factor of the log-odds of the bold part of the mixed pool, if judges are many: their pools are timid."""
LINE = (
    RecordField("pool", OneWord(lambda: POOLS), "the pool of the forecasts of each event", optional=True),
    RecordField("exponent", NUMBER, "the factor by which log-odds are multiplied, above 0", optional=True),
    RecordField("shift", NUMBER, "what is added to log-odds", optional=True),
    RecordField("clip", NUMBER, "the probability to which log-odds are clipped, from 0 to 0.5", optional=True),
    RecordField(
        "consensus",
        NUMBER,
        "the power of weights by agreement, 0 for equal ones: each judge counts (median of d / d) ^ consensus, with d "
        "the mean squared distance in log-odds from the medians of events (ten forecasts of mean distance are added)",
        optional=True,
        since=3,
    ),
    RecordField(
        "signal",
        NUMBER,
        "the power of weights by signal, 0 for equal ones: each judge counts (s / v) ^ signal, if the judge's log-odds "
        "are s times the mean log-odds of the others plus an error of variance v (ten mean forecasts are added)",
        optional=True,
        since=4,
    ),
    RecordField(
        "log_share",
        OrNull(NUMBER),
        "with the pool mixed: the share, from 0 to 1, of the bold pool (the log pool with log-odds times 1.2 and times "
        "how reliable their means are) in the mean of it and of the linear pool; null to take the share of noise in "
        "what judges disagree about: the squared distance of judges from their own nearest coherent forecasts, divided "
        "by that from the mean of all and by the part of noise that contradictions show, at most 1",
        optional=True,
        since=4,
    ),
    RecordField(
        "judges",
        MapOf(NUMBER),
        "how much each judge counts in the pool, by name, above 0; who is not named counts as the mean of these",
        optional=True,
        since=3,
    ),
)
"""The fields of a pool with its line, of a recipe and of its parts."""
RECIPE = Record(
    "recipe",
    5,
    "How to pool, recalibrate and make coherent (`co.Recipe`, `coherently tune -o`). Probabilities become log-odds, "
    "log(p / (1 - p)); pooled log-odds times exponent plus shift lead back to a probability, p and ~p apart; then the "
    "numbers are made coherent. What is left out is the default.",
    (
        *LINE,
        RecordField("loss", OneWord(lambda: LOSSES), "the distance by which numbers are made coherent", optional=True),
        RecordField(
            "parts",
            ListOf(ObjectOf("a part", (RecordField("share", NUMBER, "its share of the mean, above 0"), *LINE))),
            "with the pool blend: pools with their lines, whose log-odds are averaged by shares",
            optional=True,
            since=3,
        ),
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
        RecordField(
            "steps", ListOf(TEXT), "what to do, in words: one line per step", optional=True, derived=True, since=4
        ),
    ),
    error=MethodError,
)
UNNAMED = 1
"""Version 1 has `"recipe": 1` in place of format and version."""
EARLIER: dict[int, dict[str, Any]] = {
    1: {"pool": "trimmed", "clip": 0.01},
    2: {"pool": "trimmed", "clip": 0.01},
    3: {"pool": "log"},
}
"""What was the default of earlier versions, for what these leave out; none had weights by signal."""
CONSENSUS = {3: 0.5}
"""The power of weights by agreement in log pools of versions that leave it out."""


@dataclass(frozen=True, slots=True)
class Recipe(Described):
    r"""Pools each event as written, recalibrates the pool, then makes it coherent.

    `pool` names the pool $q$ of the forecasts of an event (p and ~p apart): `linear`, `trimmed`, `median`, `log`, as in
    `co.Pool`, or `mixed`: the mean of the linear pool and of a bold one, whose share is `log_share`. The bold one is
    the log pool, its log-odds times 1.2 r, where r is how reliable the means of so many judges are. If `log_share` is
    None, it is the share of noise in what judges disagree about, as far as their contradictions with themselves tell:
    noise makes a mean timid, other views do not. For log-odds $l(q) = \ln q/(1-q)$, forecasts are clipped to
    [`clip`, 1 - `clip`], pools at most to [0.01, 0.99]. With a the `exponent` and b the `shift`, the recalibrated
    number is

    $$l^{-1}(a\, l(q) + b).$$

    An exponent above 1 makes a timid pool bolder (Satopää and others 2014); a negative shift corrects judges who say
    yes too readily to whatever is asked: p and ~p both fall. `judges`, a mapping from names, says how much each judge
    counts in the pool (who is not named counts as the mean of these); `consensus` c multiplies that by
    $(\mathrm{median}(d) / d)^c$, where d is the judge's mean squared distance in log-odds from the medians of events,
    and `signal` by a power of how much of what judges have in common the judge's forecasts carry, $s / v$, if the
    log-odds are s times the mean of the others' plus an error of variance v. If nothing is said, `consensus` is 0, and
    `signal` 1 for the mixed pool and 0 for others.
    The pool `blend` is the mean log-odds of `parts`, pairs of a share and a recipe without a coherent step. The method
    `then` makes the numbers coherent, by the `loss` ("brier", "log" or "spherical"), with the weights of the forecasts;
    with `then=None` they stay as they are.

    Without outcomes to learn from, the default is a robust choice: see docs/explanation/choosing-a-method.md for the
    measurements. `co.tune` learns a recipe from resolved events.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.7), ("Bob", "p", 0.8), ("Cid", "p", 0.9), ("Ann", "~p", 0.3), ("Bob", "~p", 0.3)]
    >>> panel = co.Panel.from_records(rows)
    >>> round(co.aggregate(panel, co.Recipe("linear")).probability("p"), 3)
    0.76
    >>> round(co.aggregate(panel, co.Recipe("linear", 1.5, judges={"Ann": 1, "Bob": 2, "Cid": 1})).probability("p"), 3)
    0.846
    """

    record: ClassVar[Record] = RECIPE
    _method_of: ClassVar[Callable[[dict[str, Any]], Method]]

    pool: str = MIXED
    exponent: float = 1.0
    shift: float = 0.0
    loss: str = "brier"
    then: Method | None = field(default_factory=Exact)
    clip: float = CLIP
    consensus: float = 0.0
    judges: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    parts: tuple[tuple[float, Recipe], ...] = ()
    signal: float | None = None
    log_share: float | None = None

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
        if self.signal is None:
            object.__setattr__(self, "signal", 1.0 if self.pool == MIXED else 0.0)
        for option in ("consensus", "signal"):
            if not 0 <= getattr(self, option) < math.inf:
                raise MethodError(f"{option} is {getattr(self, option)}; it must be a number of 0 or more")
        if self.log_share is not None and not (self.pool == MIXED and 0 <= self.log_share <= 1):
            raise MethodError(
                f"log_share is {self.log_share}, and the pool {self.pool}; only the pool {MIXED} has one, from 0 to 1"
            )
        listed = self.judges.items() if isinstance(self.judges, Mapping) else self.judges
        judges = tuple((str(name), float(weight)) for name, weight in listed)
        object.__setattr__(self, "judges", judges)
        for name, weight in judges:
            if not 0 < weight < math.inf:
                raise MethodError(f"the judge {name!r} counts {weight:g} times; a recipe needs a number above 0")
        self._check_parts()
        if self.then is not None and (isinstance(self.then, type) or not isinstance(self.then, Method)):
            raise MethodError(f"then is {self.then!r}; it must be a method object, such as co.Exact(), or None")

    def _check_parts(self) -> None:
        object.__setattr__(self, "parts", tuple((float(share), part) for share, part in self.parts))
        if bool(self.parts) != (self.pool == BLEND):
            raise MethodError(f"the pool is {self.pool}, with {len(self.parts)} parts; only a blend has parts")
        for share, part in self.parts:
            if not 0 < share < math.inf:
                raise MethodError(f"the share of a part is {share:g}; it must be a number above 0")
            if not isinstance(part, Recipe) or part.then is not None or part.parts:
                raise MethodError(f"a part is {part!r}; it must be a recipe with then=None and without parts")

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
        return (
            self.exponent == 1
            and self.shift == 0
            and not self.log_share  # without one, judges who agree have no noise
            and all(part.is_plain for _, part in self.parts)
        )

    @property
    def sentence(self) -> str:
        """The recipe in words."""
        after = "" if self.then is None else f", then {self.then.name} by the {self.loss} loss"
        return f"{self._before}{after}"

    @property
    def steps(self) -> tuple[str, ...]:
        """What to do, in words: enough to repeat it without this package.

        >>> print(*Recipe("linear", 1.5, -0.25).steps, sep=chr(10))
        For each event as written, p and ~p apart, take the weighted mean of the forecasts.
        Multiply log-odds, log(p / (1 - p)) of p between 0.01 and 0.99, by 1.5 and add -0.25.
        Make the numbers coherent by exact: the nearest coherent ones by the brier loss, each weighted as its forecasts.
        """
        return recipe_steps(self)

    @property
    def _before(self) -> str:
        """What happens before the coherent step, in words."""
        if self.parts:
            total = sum(share for share, _ in self.parts)
            told = [f"{share / total:.0%} {part._before}" for share, part in self.parts]
            return f"blend of {'; '.join(told)}{self._line}"
        weights = ", judges by what they are worth" if self.judges else ""
        agreeing = ", judges by agreement" if self.consensus else ""
        sharing = ", judges by the signal they share" if self.signal else ""
        return f"{self._pool_words}{weights}{agreeing}{sharing}{self._line}"

    @property
    def _pool_words(self) -> str:
        if self.pool != MIXED:
            return f"{self.pool} pool"
        return (
            "linear pool, bolder where judges are noisy"
            if self.log_share is None
            else f"{self.log_share:.0%} bold pool"
        )

    @property
    def _line(self) -> str:
        times = "" if self.exponent == 1 else f" times {self.exponent:.4g}"
        plus = "" if self.shift == 0 else f" {'minus' if self.shift < 0 else 'plus'} {abs(self.shift):.4g}"
        return f", log-odds{times}{plus}" if times or plus else ""

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Answer the problem; the method that follows answers the one whose forecasts are the recalibrated numbers."""
        value, note = self.numbers(problem), self._pool.note(problem)
        if self.then is None:
            return Averages(value, Status.AVERAGED, note=note)
        if not problem.loss.is_quadratic and problem.loss.name != self.loss:
            raise MethodError(
                f"the loss is {problem.loss.name}, and that of the recipe {self.loss}; a recipe has its own loss: "
                f"co.Recipe(loss={problem.loss.name!r})"
            )
        again = pose_again(replace(problem, loss=find_loss(self.loss)), value)
        return answer_of_pool(problem, self.then.solve(again, budget), self.sentence, note)

    @property
    def _pool(self) -> Pool:
        """The pool, of a blend one that clips as its parts do."""
        if self.parts:
            return min((part._pool for _, part in self.parts), key=lambda pool: -(pool.clip or 0.0))
        if self.pool == MIXED:
            return Pool("log", clip=self.clip)
        return Pool(self.pool, clip=self.clip if self.pool == "log" else None)

    def numbers(self, problem: Problem) -> Vector:
        """What is made coherent: the recalibrated pool of each unit."""
        return self.recalibrated(self.pooled(problem))

    def pooled(self, problem: Problem) -> Vector:
        """The pool of each unit."""
        if self.parts:
            return self.blended([part.numbers(problem) for _, part in self.parts])
        share = self.log_share
        if self.pool == MIXED and share is None:
            share = noise_share(problem, self.then if isinstance(self.then, Exact) else Exact())
        for factor in self._factors:
            problem = reweighted(problem, factor(problem))
        return self._mixture(problem, share or 0.0) if self.pool == MIXED else self._pool.average(problem)

    def blended(self, numbers: Sequence[Vector]) -> Vector:
        """The pool of a blend, from the numbers of its parts."""
        total = sum(share for share, _ in self.parts)
        odds = [share / total * log_odds(each, NEAREST) for (share, _), each in zip(self.parts, numbers, strict=True)]
        return sigmoid(np.sum(odds, axis=0))

    def factors(self, problem: Problem) -> Vector:
        """How much each judge of the problem counts in the pool, 1 for a mean judge; in a blend the mean by shares."""
        if self.parts:
            total = sum(share for share, _ in self.parts)
            each = [share / total * part.factors(problem) for share, part in self.parts]
            return np.asarray(np.sum(each, axis=0))
        factor = np.ones(len(problem.forecasts.judges))
        for more in self._factors:
            factor = factor * more(reweighted(problem, factor))
        return np.asarray(factor / factor.mean())

    @property
    def _factors(self) -> list[Callable[[Problem], Vector]]:
        """What judges' weights are multiplied by, each found with the weights before it."""
        found: list[Callable[[Problem], Vector]] = []
        if self.judges:
            found.append(lambda problem: listed_factors(problem, dict(self.judges)))
        if self.consensus:
            found.append(lambda problem: consensus_factors(problem, self.consensus, self.clip))
        if power := self.signal:
            found.append(lambda problem: signal_factors(problem, self.clip) ** power)
        return found

    def _mixture(self, problem: Problem, share: float) -> Vector:
        """The mean of the linear pool and of the bold one, by its share."""
        if not share:
            return problem.mean
        factor = BOLD * reliability(problem, self.clip)
        bold = sigmoid(factor * log_odds(self._pool.average(problem), LINE_CLIP))
        mixed: Vector = (1.0 - share) * problem.mean + share * bold
        return mixed

    def recalibrated(self, pooled: Vector) -> Vector:
        """The numbers on the line in log-odds; a pool that is certain counts as almost certain."""
        if self.exponent == 1 and self.shift == 0:
            return pooled
        return sigmoid(self.exponent * log_odds(pooled, min(self.clip, LINE_CLIP)) + self.shift)

    def _plain(self) -> dict[str, Any]:
        then = None if self.then is None else {"method": self.then.name, **asdict(self.then)}  # type: ignore[call-overload]
        parts = [{"share": share, **part._line_values()} for share, part in self.parts]
        return {
            **self._line_values(),
            "loss": self.loss,
            "parts": parts,
            "then": plain(then),
            "steps": list(self.steps),
        }

    def _line_values(self) -> dict[str, Any]:
        numbers = {name: float(getattr(self, name)) for name in ("exponent", "shift", "clip", "consensus", "signal")}
        return {"pool": self.pool, **numbers, "log_share": self.log_share, "judges": dict(self.judges)}

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
            values = RECIPE.headed(_without(values, "recipe")) | {"version": UNNAMED}
        checked = RECIPE.checked(values)
        return cls._from_plain(_as_meant(checked, values["version"]))

    @classmethod
    def read_methods_by(cls, method_of: Callable[[dict[str, Any]], Method]) -> None:
        """Say how the method of a word and its options is made: the registry knows all words, recipes included."""
        cls._method_of = method_of

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Recipe:
        then = {"then": values["then"] and cls._method_of(values["then"])} if "then" in values else {}
        parts = [(part["share"], cls(**_without(part, "share"), then=None)) for part in values.get("parts", ())]
        return cls(**{**_without(values, "steps"), **then, "parts": tuple(parts)})


def _as_meant(values: dict[str, Any], version: int) -> dict[str, Any]:
    """The values with what an earlier version meant by what they leave out."""
    if version not in EARLIER:
        return values
    meant = EARLIER[version] | values
    consensus = CONSENSUS.get(version, 0.0) if meant["pool"] == "log" else 0.0
    parts = [_as_meant(part, version) for part in meant.get("parts", ())]
    return {"signal": 0.0, "consensus": consensus} | meant | {"parts": parts}


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}
