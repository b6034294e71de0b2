"""Panels in the whole language, solved by brute force: every world is written out, and CVXPY finds the mixture."""

from __future__ import annotations

import itertools
import warnings
from collections import defaultdict
from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np

import coherently as co
from tests.events.oracle import truths


@dataclass
class Case:
    """A panel: rows are mappings with the columns' names; `domains` has the values of every variable."""

    domains: dict[str, tuple]
    rows: list[dict]
    declarations: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    pins: list[tuple[str, str, float]] = field(default_factory=list)

    @property
    def laws(self) -> list[str]:
        return [*self.declarations, *self.formulas, *(f"P({event}) {sign} {p!r}" for event, sign, p in self.pins)]

    def panel(self) -> co.Panel:
        return co.Panel.from_records(self.rows, laws=self.laws)

    @property
    def allowed(self) -> np.ndarray:
        """The worlds, in the order of itertools.product, that the laws allow."""
        count = len(list(itertools.product(*self.domains.values())))
        held = [np.broadcast_to(truths(law, self.domains), count) for law in self.formulas]
        return np.flatnonzero(np.all([np.ones(count, bool), *held], axis=0))

    def truth(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The truth of E & H and of H in the allowed worlds; H is certain where there is none."""
        return tuple(one[self.allowed].astype(float) for one in self.everywhere(text))

    def everywhere(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The same in all worlds, those that the laws rule out among them: what tells events apart."""
        found = truths(text, self.domains)
        count = len(list(itertools.product(*self.domains.values())))
        joint, given = found if isinstance(found, tuple) else (found, np.ones(count, bool))
        return tuple(np.broadcast_to(one, count) for one in (joint, given))

    def lost(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The same for what a forecast loses: where H settles E, the forecast is of a certain or impossible event."""
        joint, given = self.truth(text)
        if given.any() and (not joint.any() or (joint == given).all()):
            return np.full(len(given), float(joint.any())), np.ones(len(given))
        return joint, given


@dataclass
class Solved:
    objective: float
    share: np.ndarray
    case: Case

    def probability(self, text: str) -> float:
        joint, given = (one @ self.share for one in self.case.truth(text))
        return float(joint / given)


def solve(case: Case, loss: str = "brier", form: str = "called_off", clip: float = 1e-4) -> Solved:
    """Minimise what the panel's forecasts lose over all distributions on the allowed worlds."""
    share = cp.Variable(len(case.allowed), nonneg=True)
    cost = sum(_merged(case, share, loss, form, clip)) + sum(_intervals(case, share, form))
    constraints = [cp.sum(share) == 1]
    for event, sign, p in case.pins:
        joint, given = (one @ share for one in case.truth(event))
        constraints += {"=": [joint == p * given], "<=": [joint <= p * given], ">=": [joint >= p * given]}[sign]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    for tolerance, scaled in itertools.product((1e-11, 1e-10, 1e-9, 1e-8), (True, False)):
        with warnings.catch_warnings():
            # Where rounding keeps the solver from the tolerance, the answer may be anywhere: ask otherwise or for less.
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
            problem.solve(solver=cp.CLARABEL, equilibrate_enable=scaled, **options)
        if problem.status == cp.OPTIMAL:
            break
    assert problem.status == cp.OPTIMAL
    value = np.maximum(share.value, 0)
    return Solved(float(problem.value), value / value.sum(), case)


def _merged(case, share, loss, form, clip):
    """The losses of the point forecasts, those of one event merged."""
    groups, vectors = defaultdict(list), {}
    for row in case.rows:
        if row.get("lower") is None and row.get("upper") is None:
            joint, given = case.lost(row["event"])
            all_joint, all_given = case.everywhere(row["event"])
            if np.ptp(joint) == 0 and given.all() and not all_given.all():  # the condition settles the event
                all_joint, all_given = np.full(len(all_joint), joint.any()), np.ones(len(all_given), bool)
            other, p = given - joint, row["probability"]
            if (all_given & ~all_joint).tobytes() < all_joint.tobytes():
                joint, p, all_joint = other, 1 - p, all_given & ~all_joint
            key = all_joint.tobytes(), all_given.tobytes()
            vectors[key] = joint, given
            groups[key].append((p, row.get("weight", 1.0)))
    for key, forecasts in groups.items():
        joint, given = vectors[key]
        p, w = np.array(forecasts).T
        a, h = joint @ share, given @ share
        if w.sum() == 0:
            continue
        if loss == "log":
            clipped = np.clip(p, clip, 1 - clip)
            mean = 1 / (1 + np.exp(-np.average(np.log(clipped / (1 - clipped)), weights=w)))
            yield w.sum() * (cp.kl_div(a, mean * h) + cp.kl_div(h - a, (1 - mean) * h))
            continue
        mean = np.average(p, weights=w)
        square = cp.square(a - mean * h) if given.all() or form == "linearised" else cp.quad_over_lin(a - mean * h, h)
        yield w.sum() * square


def _intervals(case, share, form):
    """The losses of the intervals, by the Brier loss."""
    for row in case.rows:
        if row.get("weight", 1.0) > 0 and (row.get("lower") is not None or row.get("upper") is not None):
            low, high = row.get("lower") or 0.0, 1.0 if row.get("upper") is None else row["upper"]
            joint, given = case.lost(row["event"])
            a, h = joint @ share, given @ share
            miss = cp.pos(low * h - a) + cp.pos(a - high * h)
            yield row.get("weight", 1.0) * (
                cp.square(miss) if given.all() or form == "linearised" else cp.quad_over_lin(miss, h)
            )
