"""Reports with errors, merged to one per event by the covariance of the errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.panel import by_appearance
from coherently.panel.matrices import read_covariance
from coherently.solve.component.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.arrays import Indices, Vector
    from coherently.problem import Problem
    from coherently.solve.methods.lindley import Lindley

CLIP = 1e-4
"""For log-odds, probabilities are clipped to [CLIP, 1 - CLIP]."""


@dataclass(frozen=True, slots=True, eq=False)
class MergedReports:
    """The form (z(x) - centre)' precision (z(x) - centre), where x are the probabilities of some coordinates.

    z is x itself, or its log-odds; `precision` is a matrix, or its diagonal.
    """

    coordinates: Indices
    centre: Vector
    precision: Vector
    log_odds: bool

    @property
    def is_plain(self) -> bool:
        """Whether the reports are weighted means, event by event."""
        return self.precision.ndim == 1 and bool(np.all((self.centre >= 0) & (self.centre <= 1)))

    def from_scale(self, z: Vector) -> Vector:
        """The probabilities that numbers on the scale stand for."""
        return 0.5 * (1.0 + np.tanh(0.5 * z)) if self.log_odds else z

    def distance(self, x: Vector) -> float:
        """The form at some probabilities."""
        apart = to_scale(x[self.coordinates], log_odds=self.log_odds) - self.centre
        return float(apart @ (self.precision * apart if self.precision.ndim == 1 else self.precision @ apart))

    def linearised(self, x: Vector) -> Metric:
        """The same with log-odds replaced by their tangents at x."""
        own = x[self.coordinates]
        at = np.clip(own, CLIP, 1.0 - CLIP)
        slope = 1.0 / (at * (1.0 - at))
        centre = own + (self.centre - to_scale(at, log_odds=True)) / slope
        scaled = slope**2 * self.precision if self.precision.ndim == 1 else np.outer(slope, slope) * self.precision
        return Metric.of(self.coordinates, centre, scaled)


def to_scale(p: Vector, *, log_odds: bool) -> Vector:
    """Probabilities, or the log-odds of clipped probabilities."""
    if not log_odds:
        return p
    p = np.clip(p, CLIP, 1.0 - CLIP)
    odds: Vector = np.log(p) - np.log1p(-p)
    return odds


def merge_reports(problem: Problem, method: Lindley) -> MergedReports:
    """Merge the forecasts of each event, and of its complement: precisions add up."""
    log_odds, covariance = method.scale == "log-odds", read_covariance(method.covariance)
    z = to_scale(problem.turned(), log_odds=log_odds)
    if method.over == "events":
        precision, pull = _by_events(problem, z, covariance.of(problem.texts, "events"))
    else:
        precision, pull = _by_judges(problem, z, covariance.of(problem.forecasts.judges, "judges"))
    if method.prior is not None:
        total, count = _priors(problem, method.prior, log_odds=log_odds)
        more = count / method.prior_variance
        precision = precision + (more if precision.ndim == 1 else np.diag(more))
        pull = pull + total / method.prior_variance
    diagonal = precision if precision.ndim == 1 else np.diag(precision)
    told = np.flatnonzero(diagonal > 0)
    if precision.ndim == 1:
        return MergedReports(told, pull[told] / precision[told], precision[told], log_odds)
    some = precision[np.ix_(told, told)]
    return MergedReports(told, _solve(some, pull[told]), some, log_odds)


def _by_judges(problem: Problem, z: Vector, covariance: Vector) -> tuple[Vector, Vector]:
    """The precision of each coordinate and its product with the mean; errors of different units are independent."""
    given, weight, count = problem.forecasts, problem.forecasts.weight, len(problem.merged)
    if covariance.ndim == 1:
        own, w = problem.coordinate[given.unit], weight / covariance[given.judge]
        return np.bincount(own, w, count).astype(np.float64), np.bincount(own, w * z, count).astype(np.float64)
    precision, pull = np.zeros(count), np.zeros(count)
    weighty = np.flatnonzero(weight > 0)
    pair, first = by_appearance(given.unit[weighty].astype(np.int64) * len(given.judges) + given.judge[weighty])
    total = np.bincount(pair, weight[weighty])
    mean = np.bincount(pair, weight[weighty] * z[weighty]) / np.maximum(total, np.finfo(np.float64).tiny)
    unit, judge = given.unit[weighty][first], given.judge[weighty][first]
    order = np.argsort(unit, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(unit[order])) + 1):
        if not len(rows):
            continue
        spread = np.sqrt(total[rows])
        block = covariance[np.ix_(judge[rows], judge[rows])] / np.outer(spread, spread)
        share = _solve(block, np.ones(len(rows)))
        j = problem.coordinate[unit[rows[0]]]
        precision[j] += share.sum()
        pull[j] += share @ mean[rows]
    return precision, pull


def _by_events(problem: Problem, z: Vector, covariance: Vector) -> tuple[Vector, Vector]:
    """The precision matrix of the coordinates, and its product with the means, from errors of the units' means."""
    count, units = len(problem.merged), len(problem.weight)
    told = np.flatnonzero(problem.weight > 0)
    sums = np.bincount(problem.forecasts.unit, problem.forecasts.weight * z, units)
    mean, own, event, judge = (
        sums[told] / problem.weight[told],
        *(column[told] for column in (problem.coordinate, problem.written, problem.owner)),
    )
    if covariance.ndim == 1:
        w = 1.0 / covariance[event]
        return np.bincount(own, w, count).astype(np.float64), np.bincount(own, w * mean, count).astype(np.float64)
    sign = np.where(problem.complemented[told], -1.0, 1.0)
    shared = covariance[np.ix_(event, event)] * np.equal.outer(judge, judge)
    inverse = np.linalg.inv(shared * np.outer(sign, sign))
    precision, pull = np.zeros((count, count)), np.zeros(count)
    np.add.at(precision, (own[:, None], own[None, :]), 0.5 * (inverse + inverse.T))
    np.add.at(pull, own, inverse @ mean)
    return precision, pull


def _priors(problem: Problem, prior: float | Mapping[str, float], *, log_odds: bool) -> tuple[Vector, Vector]:
    """The sum and the number of the priors of each coordinate: an event and its complement may have one each."""
    given = dict.fromkeys(problem.texts, prior) if isinstance(prior, float | int) else prior
    unknown = set(given).difference(problem.texts)
    if unknown:
        raise MethodError(f"there is a prior for {min(unknown)!r}, which nobody forecast; name events as frame() does")
    value = np.array([given.get(text, np.nan) for text in problem.texts])[problem.written]
    unit = np.flatnonzero(~np.isnan(value))
    turned = np.where(problem.complemented[unit], 1.0 - value[unit], value[unit])
    z, own, count = to_scale(turned, log_odds=log_odds), problem.coordinate[unit], len(problem.merged)
    return np.bincount(own, z, count).astype(np.float64), np.bincount(own, minlength=count).astype(np.float64)


def _solve(positive: Vector, right: Vector) -> Vector:
    """Solve a linear system whose matrix is positive definite."""
    from scipy.linalg import solve

    answer: Vector = solve(positive, right, assume_a="pos")
    return answer
