"""Opinion pools: each event as written is averaged on its own, by one of several rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coherently.errors import MethodError, did_you_mean
from coherently.problem import Log, pose_again
from coherently.problem.losses import merged_mean
from coherently.problem.partitions import partitions
from coherently.problem.pool_kinds import OPTIONS
from coherently.solve.facts import Promise, Status
from coherently.solve.measure import distance, probabilities
from coherently.solve.methods.averages import (
    middle_mean,
    neyman_roughgarden,
    normalised,
    power,
    shin,
    weighted_median,
)
from coherently.solve.solution import Averages, Local, Method, Solution
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.problem import Problem
    from coherently.solve.budget import Budget

TRIM, EXPONENT, SHRINK, PRIOR, CLIP = 0.2, math.sqrt(3.0), 1.0, 0.5, 0.02
"""Defaults: the share cut off each end, the exponent (the limit of Neyman and Roughgarden's factor), the number of
forecasts that the prior counts for, the prior, and the probability to which log-odds clip: a judge who is certain must
not outvote many who are not."""

LIMITS = {
    "trim": (0.0, 0.5),
    "exponent": (0.0, math.inf),
    "shrink": (0.0, math.inf),
    "prior": (0.0, 1.0),
    "clip": (0.0, 0.5),
}
"""Between what each option lies; only `trim` may be the first of the two, and none the second."""
EXCEPTIONS = {
    "extremised": frozenset({Promise.KEEPS_COHERENT}),
    **dict.fromkeys(("neyman-roughgarden", "shrunk"), frozenset({Promise.KEEPS_COHERENT, Promise.ADDS_WEIGHTS})),
}
"""The kinds that move away from the prior or towards it, two of them by the number of forecasts."""
PARTITIONED = ("normalised", "power", "shin")
"""The kinds that make the means of each partition sum to 1."""


@dataclass(frozen=True, slots=True)
class Pool(Viewed):
    r"""Averages each event as written on its own, p and ~p apart, by weight.

    With weights that sum to 1 and log-odds $l(p) = \ln p/(1-p)$, `kind` is one of these:

    - linear: the mean $m = \sum w p$;
    - log: $l^{-1}(\sum w\, l(p))$, the normalised geometric mean (Genest and Zidek 1986), but never nearer to 1/2 than
      the linear mean, to which only the clip could draw it;
    - median: a probability with half of the weight on either side;
    - trimmed: the mean of what is left after the share `trim` (0.2) of the weight is cut off each end (Jose and Winkler
      2008);
    - extremised: $l^{-1}(l(\pi) + a \sum w (l(p) - l(\pi)))$ with `exponent` a (the root of 3) and `prior` $\pi$ (0.5;
      Satopää and others 2014);
    - shrunk: the same with $a = n / (n + c)$ for n forecasts: the mean log-odds of these and of c more at the prior, c
      being `shrink` (1). It is the posterior mean if the log-odds of forecasts vary normally around those of the event,
      and these around the prior's with a variance 1/c times as large (Bordley 1982 for the pool with a prior, Efron and
      Morris 1975 for the factor);
    - neyman-roughgarden: $\pi + d (m - \pi)$, cut to [0, 1], with $d = n (\sqrt{3n^2 - 3n + 1} - 2) / (n^2 - n - 1)$
      for n forecasts (Neyman and Roughgarden 2022);
    - normalised: linear, then divided by the sum over each partition (`coherently.problem.partitions`);
    - power: linear, then raised to the power k with which each partition sums to 1, $\sum m^k = 1$ (Vovk and Zhdanov
      2009);
    - shin: linear, then without the margin that a bookmaker adds out of fear of insiders (Shin 1993); a partition
      that sums to 1 or less has none, and is normalised.

    For log-odds, probabilities are clipped to [`clip`, 1 - `clip`] (0.02). Pools are in general incoherent, so a pool
    can be followed by a method, `then`, for which the pooled numbers are the forecasts.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.75), ("Bob", "p", 0.60), ("Cid", "p", 0.95)])
    >>> for kind in ("linear", "log", "median", "neyman-roughgarden"):
    ...     print(kind, round(co.aggregate(panel, co.Pool(kind)).probability("p"), 6))
    linear 0.766667
    log 0.815001
    median 0.75
    neyman-roughgarden 0.877424
    """

    kind: str
    trim: float | None = None
    exponent: float | None = None
    shrink: float | None = None
    prior: float | None = None
    clip: float | None = None
    then: Method | None = None

    def __post_init__(self) -> None:
        if self.kind not in OPTIONS:
            raise MethodError(
                f"unknown kind of pool {self.kind!r}; the kinds are {', '.join(OPTIONS)}",
                code="unknown-pool",
                remedy=did_you_mean(self.kind, OPTIONS).strip() or None,
            )
        for option, (low, high) in LIMITS.items():
            value = getattr(self, option)
            if value is None:
                continue
            if option not in OPTIONS[self.kind]:
                having = [kind for kind, options in OPTIONS.items() if option in options]
                raise MethodError(
                    f"the pool {self.kind} has no {option}; {' and '.join(having)} can have it", code="unknown-option"
                )
            if not (low <= value < high and (value > 0 or option == "trim")):
                least = "at least 0" if option == "trim" else "above 0"
                most = "" if high == math.inf else f" and below {high:g}"
                raise MethodError(f"{option} is {value}; it must be {least}{most}")
        if self.then is not None and (isinstance(self.then, type) or not isinstance(self.then, Method)):
            raise MethodError(f"then is {self.then!r}; it must be a method object, such as co.Exact()")

    @property
    def name(self) -> str:
        """The name of the kind, and of the method that follows."""
        return self.kind if self.then is None else f"{self.kind}, then {self.then.name}"

    @property
    def from_means(self) -> bool:
        """Whether means and weights are all that it needs."""
        return self.kind == "linear" and self.then is None

    @property
    def exceptions(self) -> frozenset[Promise]:
        """The promises that the kind or the method that follows does not keep."""
        return EXCEPTIONS.get(self.kind, frozenset()) | getattr(self.then, "exceptions", frozenset())

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Average; a method that follows answers the problem whose forecasts are the averages."""
        if self.then is None:
            if not problem.loss.is_quadratic:
                raise MethodError(
                    f"{self.kind} averaging goes with the loss brier; for {problem.loss.name} choose another method"
                )
            return Averages(self.average(problem), Status.AVERAGED, note=self.note(problem))
        value = self.average(problem)
        found = self.then.solve(pose_again(problem, value), budget)
        return answer_of_pool(problem, found, f"{self.kind} pool", self.note(problem))

    def average(self, problem: Problem) -> Vector:
        """The averages of the units."""
        return AVERAGES[self.kind](self, problem)

    def note(self, problem: Problem) -> str | None:
        """A note on forecasts that were clipped for their log-odds, and on intervals."""
        said = []
        if "clip" in OPTIONS[self.kind]:
            clip, given = self.clip or CLIP, problem.forecasts
            near = (np.abs(given.probability - 0.5) > 0.5 - clip) & (given.weight > 0)
            if near.any():
                said.append(f"Forecasts nearer than {clip:g} to 0 or 1, clipped for their log-odds: {near.sum():,}.")
        if len(problem.merged.terms.intervals):
            said.append(f"Intervals, of which pools use only the number: {len(problem.merged.terms.intervals):,}.")
        return " ".join(said) or None


@dataclass(frozen=True, slots=True)
class LinearAverage(Viewed):
    """The weighted mean of the forecasts of each event as written, p and ~p apart: the pool that everybody knows.

    Averages of incoherent or partial forecasts are in general incoherent (Predd, Kulkarni, Poor and
    Osherson 2006, section 3.3).

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4)])
    >>> round(co.aggregate(panel, method=co.LinearAverage()).probability("p"), 6)
    0.3
    """

    name: ClassVar[str] = "linear"

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Answer with the means that the problem already holds."""
        return Pool("linear").solve(problem, budget)


def answer_of_pool(problem: Problem, found: Solution, made_of: str, said: str | None) -> Solution:
    """The answer for the averages as one to the problem itself: nearness to them proves nothing about it."""
    if isinstance(found, Local):
        found = replace(found, trace=None)
    objective = None
    if found.objective is not None:
        objective = distance(problem, probabilities(problem, found), found.conditionals)
    far = "" if found.objective is None else f", at a weighted distance of {found.objective:.6g} from it"
    return replace(
        found,
        status=Status.CONVERGED if found.status is Status.OPTIMAL else found.status,
        objective=objective,
        lower_bound=None,
        guaranteed_improvement=None,
        note=" ".join(filter(None, [f"Made of the {made_of}{far}.", said, found.note])),
    )


def _times_log_odds(mean: Vector, factor: float | Vector, prior: float) -> Vector:
    """Multiply the log-odds relative to those of the prior: above 1 extremises, below 1 shrinks.

    Satopää, Baron, Foster, Mellers, Tetlock and Ungar (2014), Combining multiple probability predictions using a simple
    logit model, International Journal of Forecasting 30; Bordley (1982), A multiplicative formula for aggregating
    probability assessments, Management Science 28; Efron and Morris (1975), Data analysis using Stein's estimator and
    its generalizations, Journal of the American Statistical Association 70.
    """
    base = math.log(prior / (1.0 - prior))
    odds = base + factor * (np.log(mean / (1.0 - mean)) - base)
    return 0.5 * (1.0 + np.tanh(0.5 * odds))


def _columns(problem: Problem) -> tuple[NDArray[np.int32], Vector, Vector, int]:
    """The unit, the probability and the weight of each forecast, and the number of units."""
    return problem.forecasts.unit, problem.forecasts.probability, problem.forecasts.weight, len(problem.weight)


def _log_mean(pool: Pool, problem: Problem) -> Vector:
    return merged_mean(Log(pool.clip or CLIP), *_columns(problem))


def _log(pool: Pool, problem: Problem) -> Vector:
    """The mean log-odds, as a probability.

    The clip limits how far one judge can pull; it is no floor for what all say: where it leaves the pool nearer to 1/2
    than the mean of the forecasts, on the same side, that mean stands.
    """
    value, mean = _log_mean(pool, problem), problem.mean
    nearer = ((value < 0.5) & (mean < value)) | ((value > 0.5) & (mean > value))
    return np.where(nearer, mean, value)


def _extremised(pool: Pool, problem: Problem) -> Vector:
    return _times_log_odds(_log_mean(pool, problem), pool.exponent or EXPONENT, pool.prior or PRIOR)


def _shrunk(pool: Pool, problem: Problem) -> Vector:
    number = _effective_numbers(problem)
    return _times_log_odds(_log_mean(pool, problem), number / (number + (pool.shrink or SHRINK)), pool.prior or PRIOR)


def _effective_numbers(problem: Problem) -> Vector:
    """The effective number of forecasts of each unit (Kish 1965): (sum w)^2 / sum w^2."""
    given, count = problem.forecasts, len(problem.weight)
    squares = np.bincount(given.unit, given.weight**2, count)
    return np.divide(problem.weight**2, squares, out=np.ones(count), where=squares > 0)


AVERAGES: dict[str, Callable[[Pool, Problem], Vector]] = {
    "linear": lambda _, problem: problem.mean,
    "log": _log,
    "median": lambda _, problem: weighted_median(*_columns(problem)),
    "trimmed": lambda pool, problem: middle_mean(*_columns(problem), TRIM if pool.trim is None else pool.trim),
    "extremised": _extremised,
    "shrunk": _shrunk,
    "neyman-roughgarden": lambda pool, problem: neyman_roughgarden(
        problem.mean, _effective_numbers(problem), pool.prior or PRIOR
    ),
    "normalised": lambda _, problem: normalised(problem.mean, partitions(problem)),
    "power": lambda _, problem: power(problem.mean, partitions(problem)),
    "shin": lambda _, problem: shin(problem.mean, partitions(problem)),
}
"""How each kind averages the forecasts of each event as written."""
