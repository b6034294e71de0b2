"""Conditionals, intervals and pins by enumeration of all worlds and a convex solver, and random panels of them."""

import warnings

import cvxpy
import numpy as np

import coherently as co
from coherently.problem import pose, settled
from tests.problem.test_terms import under, worlds_of
from tests.truth import holds

EVENTS = ("a", "b", "c", "a & b", "a | b", "a & c", "b -> c", "a ^ c", "~b", "a & b & c", "d", "c & d")


def random_panel(seed, most=8):
    """Forecasts of events and conditionals, some of them intervals, with weights, and up to two pins."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(rng.integers(2, most + 1)):
        text = _text(rng, 0.5)
        p = round(float(rng.random()), 2)
        low, high = (
            (max(0.0, p - 0.3 * rng.random()), min(1.0, p + 0.3 * rng.random()))
            if rng.random() < 0.25
            else (None, None)
        )
        rows.append(
            {
                "judge": "A",
                "event": text,
                "probability": p,
                "weight": float(rng.integers(1, 6)),
                "lower": low,
                "upper": high,
            }
        )
    pins = []
    for _ in range(rng.integers(0, 3)):
        low, high = np.sort(rng.random(2).round(2))
        pins.append((_text(rng, 0.4), low, low if rng.random() < 0.3 else high))
    return under(co.Panel.from_records(rows), (), pins)


def _text(rng, conditional):
    text = str(rng.choice(EVENTS))
    return f"{text} given {rng.choice(EVENTS)}" if rng.random() < conditional else text


class Reference:
    """The least sum of scores over all distributions over worlds; None where pins cannot be kept."""

    def __init__(self, panel, loss, linearised=False):
        self.merged, self.loss, self.linearised = pose(settled(panel), loss).merged, loss, linearised
        self.truth = holds(self.merged, worlds_of(self.merged.n_variables)).astype(float)
        self.share = cvxpy.Variable(len(self.truth), nonneg=True)
        self.x = self.truth.T @ self.share
        self.constraints, self.scores = [cvxpy.sum(self.share) == 1], []
        self._points()
        self._intervals()
        self._limits()
        problem = cvxpy.Problem(cvxpy.Minimize(sum(self.scores)), self.constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the last digits may be inaccurate
            problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        self.status, self.value = problem.status, None if problem.status == "infeasible" else problem.value

    def _side(self, sides, k):
        one = cvxpy.sum(self.share)
        if sides.coordinate[k] < 0:
            return one
        return one - self.x[sides.coordinate[k]] if sides.turned[k] else self.x[sides.coordinate[k]]

    def _score(self, a, h, p, weight, conditional):
        if self.loss.name == "log":
            self.scores.append(weight * (cvxpy.rel_entr(a, p * h) + cvxpy.rel_entr(h - a, (1 - p) * h)))
        elif self.linearised and conditional:
            self.scores.append(weight * cvxpy.square(a - p * h))
        else:
            self.scores.append(weight * cvxpy.quad_over_lin(a - p * h, h))

    def _points(self):
        merged, given = self.merged, self.merged.terms.conditionals
        one = cvxpy.sum(self.share)
        for j in np.flatnonzero(merged.weight > 0):
            self._score(self.x[j], one, merged.mean[j], merged.weight[j], False)
        for k in np.flatnonzero(given.weight > 0):
            self._score(
                self._side(given.joint, k), self._side(given.condition, k), given.mean[k], given.weight[k], True
            )

    def _intervals(self):
        intervals, given = self.merged.terms.intervals, self.merged.terms.conditionals
        for i, about in enumerate(intervals.about):
            conditional = intervals.conditional[i]
            a = self._side(given.joint, about) if conditional else self.x[about]
            h = self._side(given.condition, about) if conditional else cvxpy.sum(self.share)
            for edge, sign in ((intervals.high[i], 1), (intervals.low[i], -1)):
                if edge in ((1.0,) if sign > 0 else (0.0,)):
                    continue
                excess = cvxpy.Variable(nonneg=True)
                self.constraints.append(sign * (edge * h - a) + excess >= 0)
                self._score(edge * h + sign * excess, h, self.loss.clipped(edge), intervals.weight[i], conditional)

    def _limits(self):
        limits = self.merged.terms.limits
        for k in range(len(limits)):
            a, h = self._side(limits.joint, k), self._side(limits.condition, k)
            self.constraints += [a >= limits.low[k] * h, a <= limits.high[k] * h]
