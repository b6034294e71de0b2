"""Lindley, Tversky and Brown: reports are coherent probabilities with errors, whose covariance is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coherently.errors import MethodError
from coherently.panel.matrices import read_covariance
from coherently.problem import Problem
from coherently.solve.budget import Budget
from coherently.solve.component.metric import Metric, NearestByMetric
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from coherently.solve.measure import distance, probabilities
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.gaussian import MergedReports, merge_reports
from coherently.solve.solution import Component, Global, Worlds
from coherently.solve.worlds.oracle import Oracle
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from coherently.solve.component.metric import Nearby

LARGEST = 2000
"""Maximum number of distinct events if errors are correlated or of log-odds."""
STEPS = 200
"""Maximum number of steps on the log-odds scale."""
STILL = 1e-9
"""Changes of probabilities below this count as none."""
LEAST = 1e-6
"""The share of the way to the next aim below which it counts as no improvement."""


@dataclass(frozen=True, slots=True, eq=False)
class Lindley(Viewed):
    r"""Treats forecasts q as coherent probabilities x with Gaussian errors of covariance S, and finds the likeliest x.

    $$\min_x\ (q - x)' S^{-1} (q - x) + (x - \pi)' V^{-1} (x - \pi) \quad \text{over coherent } x$$

    `covariance` is one variance, variances, or covariances; of the judges' errors (`over="judges"`: the same for every
    event, independent from event to event; divided by the weight of a forecast), or of the errors of the panel's means
    of the events as written (`over="events"`). It is a number, a mapping by name, a frame or a file with the names in
    its first column, or an array in the panel's order. Without it each forecast has the variance 1 over its weight, so
    the answer is that of `co.Exact`. `prior` is $\pi$, for all events as written or a mapping from some, with the
    variance `prior_variance`; an event and its complement that are both forecast have a prior each.

    With `scale="log-odds"` errors are those of the log-odds. The problem is then not convex: linearised steps stop
    where none improves, and nothing is proved. On the scale of probabilities `result.note` says how far the answer may
    be from the least sum, and the answer is globally coherent. Correlated errors: up to 2,000 distinct events.

    Lindley, Tversky and Brown (1979), On the reconciliation of probability assessments, Journal of the Royal
    Statistical Society A 142.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.8)])
    >>> round(co.aggregate(panel, co.Lindley({"Ann": 1.0, "Bob": 2.0})).probability("p"), 6)
    0.4
    >>> joint = co.Lindley([[1.0, 0.9], [0.9, 2.0]])
    >>> round(co.aggregate(panel, joint).probability("p"), 6)
    0.25
    """

    name: ClassVar[str] = "lindley"

    covariance: object = None
    over: str = "judges"
    scale: str = "probability"
    prior: float | Mapping[str, float] | None = None
    prior_variance: float = 1.0
    tolerance: float = 1e-6
    time_limit: float = 60.0

    def __post_init__(self) -> None:
        if self.over not in ("judges", "events"):
            raise MethodError(f"over is {self.over!r}; a covariance is over 'judges' or 'events'")
        if self.scale not in ("probability", "log-odds"):
            raise MethodError(f"scale is {self.scale!r}; errors are on the scale 'probability' or 'log-odds'")
        priors = self.prior.values() if isinstance(self.prior, Mapping) else [0.5 if self.prior is None else self.prior]
        if not all(0 <= value <= 1 for value in priors):
            raise MethodError(f"prior is {self.prior}; probabilities lie in [0, 1]")
        if not 0 < self.prior_variance < math.inf:
            raise MethodError(f"prior_variance is {self.prior_variance}; it must be a number above 0")
        Exact(self.tolerance, self.time_limit)
        object.__setattr__(self, "covariance", read_covariance(self.covariance))

    @property
    def exceptions(self) -> frozenset[Promise]:
        """Reports are numbers for events, and a prior pulls them away from what judges agree on."""
        moved = frozenset() if self.prior is None else frozenset({Promise.KEEPS_COHERENT})
        return moved | {Promise.TAKES_MORE}

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Merge the reports of each event, then find the nearest coherent probabilities by their inverse covariance."""
        if not problem.loss.is_quadratic:
            raise MethodError(
                f"lindley measures by its covariance, not by the loss {problem.loss.name}: leave that out"
            )
        if len(problem.merged.terms):
            raise MethodError("lindley takes numbers for events: no conditionals, no intervals, no P(...) in laws")
        reports = merge_reports(problem.in_weights(), self)
        if self.scale == "probability" and reports.is_plain:
            return _by_precision(problem, self._weighted(problem, reports, budget))
        if len(reports.coordinates) > LARGEST:
            raise MethodError(
                f"the panel has {len(reports.coordinates):,} distinct events; lindley takes up to {LARGEST:,} where "
                f"errors are correlated or of log-odds: leave out correlations, or use another method"
            )
        budget = replace((budget or Budget()).within(self.time_limit), tolerance=self.tolerance)
        search = NearestByMetric(problem.merged, Oracle(problem.merged))
        if self.scale == "probability":
            metric = Metric.of(reports.coordinates, reports.centre, reports.precision)
            found = search.solve(metric, budget)
        else:
            found = _by_log_odds(search, reports, budget)
        return _by_precision(problem, self._solution(problem, found, in_time=not budget.is_late()))

    def _weighted(self, problem: Problem, reports: MergedReports, budget: Budget | None) -> Global:
        """Independent errors are weights, and the problem is that of the exact method."""
        merged = problem.merged
        weight, mean = np.zeros(len(merged)), np.full(len(merged), np.nan)
        weight[reports.coordinates], mean[reports.coordinates] = reports.precision, reports.centre
        every, no = np.arange(len(merged)), np.zeros(len(merged), np.bool_)
        posed = Problem.of(
            replace(merged, weight=weight, mean=mean), problem.loss, every, no, probability=mean, weight=weight
        )
        found = Exact(self.tolerance, self.time_limit).solve(posed, budget)
        return replace(
            found,
            value=problem.as_written(found.value),
            status=Status.CONVERGED if found.status is Status.OPTIMAL else found.status,
            objective=distance(problem, probabilities(posed, found)),
            lower_bound=None,
            guaranteed_improvement=None,
            note=_note(found.objective or 0.0, found.lower_bound),
        )

    def _solution(self, problem: Problem, found: Nearby, *, in_time: bool) -> Global:
        """The answer, which is one mixture over all variables."""
        merged = problem.merged
        proved = self.scale == "probability"
        done = found.objective - found.bound <= self.tolerance * max(1.0, found.objective) if proved else in_time
        ended = Status.UNPROVED if in_time else Status.TIME_LIMIT
        bound = found.bound if proved else 0.0
        component = Component(
            variables=merged.n_variables,
            events=len(merged),
            coherence=Coherence.GLOBAL,
            route=Route.WOLFE,
            proof=found.proof,
            objective=found.objective,
            lower_bound=bound,
        )
        variables = np.arange(merged.n_variables, dtype=np.int32)
        return Global(
            problem.as_written(found.x),
            Status.INTERRUPTED if found.interrupted else Status.CONVERGED if done else ended,
            objective=distance(problem, found.x),
            violation=0.0,
            worlds=(Worlds(variables, found.weight, found.truth),),
            components=(component,),
            note=_note(found.objective, bound if proved else None),
        )


def _by_precision(problem: Problem, found: Global) -> Global:
    """The components; their figures, sums of precisions, are stated as sums of weights in their unit."""
    return replace(found, components=found.in_weights(1.0 / problem.weight_unit).components)


def _by_log_odds(search: NearestByMetric, reports: MergedReports, budget: Budget) -> Nearby:
    """Gauss-Newton: step towards the nearest coherent point of the linearised problem, as far as that improves.

    A point that is proved to be nearest takes longer, and is the aim only where no other one improves.
    """
    start = np.sqrt(np.diag(reports.precision)) if reports.precision.ndim == 2 else np.sqrt(reports.precision)
    found = search.approach(Metric(reports.coordinates, reports.from_scale(reports.centre), start), budget)
    for _ in range(STEPS):
        if budget.is_over():
            break
        metric = reports.linearised(found.x)
        better = _improved(reports, found, search.approach(metric, budget))
        better = better or _improved(reports, found, search.solve(metric, budget))
        if better is None:
            break
        moved = float(np.abs(better.x - found.x).max())
        found = better
        if moved <= STILL:
            break
    lost = reports.distance(found.x)
    return replace(found, objective=lost, bound=0.0, proof=Proof.NOT_CONVEX, interrupted=budget.is_stopped)


def _improved(reports: MergedReports, one: Nearby, other: Nearby) -> Nearby | None:
    """The mixture of two mixtures with the largest of the shares 1, 1/2, 1/4 ... of the other that improves the one."""
    lost, share = reports.distance(one.x), 1.0
    while reports.distance(x := (1 - share) * one.x + share * other.x) >= lost:
        share *= 0.5
        if share <= LEAST:
            return None
    truth, number = np.unique(np.vstack([one.truth, other.truth]), axis=0, return_inverse=True)
    shares = np.concatenate([(1 - share) * one.weight, share * other.weight])
    weight = np.bincount(number.ravel(), shares, len(truth)).astype(np.float64)
    kept = weight > 0
    return replace(other, weight=weight[kept], truth=truth[kept], x=x)


def _note(objective: float, bound: float | None) -> str:
    """The distance of the reports by their inverse covariance, and what is proved about it."""
    proof = "" if bound is None else f", at most {max(0.0, objective - bound):.1e} above the least possible"
    return f"By the inverse covariance of the errors, the squared distance from the reports is {objective:.6g}{proof}."
