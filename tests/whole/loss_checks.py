"""Random small panels with every mixture of losses and terms, against all worlds and an independent conic solver.

Texts and truth tables are drawn side by side, so that the reference uses neither the parser nor the worlds of the
package. Clarabel solves the problem over all worlds; its shares are scored by the formulas below.
"""

import itertools
import warnings
from collections import Counter

import cvxpy as cp
import numpy as np
import pytest

import coherently as co
from coherently.problem import Log
from coherently.solve.component import component_solver
from tests.solve.exact_checks import one_by_one, without_elimination

CLIP = Log().clip
CLOSE = 1e-7
"""The relative difference of objectives, and what a bound may exceed the reference by: Clarabel gives no more."""
KEPT = 1e-9
"""What pins may be missed by."""
OPERATIONS = {
    "&": np.logical_and,
    "|": np.logical_or,
    "^": np.logical_xor,
    "->": lambda a, b: ~a | b,
    "<->": np.equal,
}
COUNTS = {"exactly": np.equal, "at_least": np.greater_equal, "at_most": np.less_equal}


def solve_closely(problem):
    """Solve a conic program as closely as the solver can: a tolerance that it does not reach is widened."""
    for tolerance in (1e-11, 1e-9, 1e-8):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of inaccurate answers: a wider tolerance is tried
                problem.solve(cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance))
        except cp.error.SolverError:
            continue
        if problem.status in (cp.OPTIMAL, cp.INFEASIBLE):
            return


class Worlds:
    """All assignments of a few variables, true or false, of named values or numbers, that laws leave."""

    def __init__(self, rng):
        domains = dict.fromkeys("abcde"[: int(rng.integers(2, 6))], (False, True))
        self.declarations = []
        if rng.random() < 0.3:
            domains["w"] = ("X", "Y", "Z")
            self.declarations.append("variable w: X, Y, Z")
        if rng.random() < 0.25:
            domains["r"] = (0.5, 1.5, 2.5)
            self.declarations.append("variable r: number")
        self.names, self.table = list(domains), list(itertools.product(*domains.values()))
        column = {name: np.array([row[i] for row in self.table]) for i, name in enumerate(self.names)}
        self.atoms = [(name, column[name]) for name in self.names if domains[name] == (False, True)]
        if "w" in domains:
            self.atoms += [(f"w = {value}", column["w"] == value) for value in domains["w"]]
        if "r" in domains:
            self.atoms += [("r < 1", column["r"] < 1), ("r < 2", column["r"] < 2), ("r >= 2", column["r"] >= 2)]
        self.laws, self.kept = [], np.ones(len(self.table), bool)
        for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.5 else 0):
            text, truth = self.formula(rng)
            if (self.kept & truth).sum() >= 2:
                self.laws.append(text)
                self.kept &= truth

    def formula(self, rng):
        """A text, and its truth in every row of the table."""
        size = min(int(rng.integers(1, 4)), len(self.atoms))
        parts = []
        for i in rng.choice(len(self.atoms), size, replace=False):
            text, truth = self.atoms[i]
            parts.append((f"~({text})", ~truth) if rng.random() < 0.3 else (text, truth))
        if size == 3 and rng.random() < 0.2:
            number, word = int(rng.integers(1, 4)), str(rng.choice(list(COUNTS)))
            return (
                f"{word}({number}; {', '.join(text for text, _ in parts)})",
                COUNTS[word](np.sum([truth for _, truth in parts], axis=0), number),
            )
        text, truth = parts[0]
        for other, held in parts[1:]:
            sign = str(rng.choice(list(OPERATIONS)))
            text, truth = f"({text}) {sign} ({other})", OPERATIONS[sign](truth, held)
        return text, truth

    def statement(self, rng, chance):
        """An event, conditional by chance: its text, where it and its condition hold, and where the condition does."""
        text, truth = self.formula(rng)
        if rng.random() >= chance:
            return text, truth, np.ones_like(truth)
        given, held = self.formula(rng)
        return f"{text} given {given}", truth & held, held

    def share(self, result):
        """The shares that a result gives to the worlds that laws leave."""
        place = {row: i for i, row in enumerate(self.table)}
        share = np.zeros(len(self.table))
        for weight, world in result.worlds:
            share[place[tuple(self._value(name, world.get(name)) for name in self.names)]] += weight
        assert share[~self.kept].sum() == 0
        return share[self.kept]

    @staticmethod
    def _value(name, value):
        if name == "r":
            return 0.5 if value is None or value < 1 else 1.5 if value < 2 else 2.5
        return (value or "X") if name == "w" else bool(value)


class Case:
    """A panel, and what its terms and pins are over the worlds that laws leave."""

    def __init__(self, seed):
        rng = np.random.default_rng([2611, seed])
        self.worlds = worlds = Worlds(rng)
        self.loss = str(rng.choice(["brier", "brier", "log", "spherical"]))
        self.linearised = self.loss == "brier" and rng.random() < 0.35
        self.rows, self.terms, self.pins, self.limits = [], [], [], []
        seen, kept = set(), worlds.kept
        for _ in range(int(rng.integers(2, 16))):
            text, u, h = worlds.statement(rng, 0.4)
            u, h = u[kept], h[kept]
            settled = u.all() or not u.any() or (u == h).all() or (" given " in text and h.all())
            key = frozenset([u.tobytes(), (h & ~u).tobytes()])
            row, low, high = self._numbers(rng)
            if settled or key in seen or row is None:
                continue
            seen.add(key)
            self.rows.append({"judge": "A", "event": text, **row})
            self.terms.append((u, h, low, high, row["weight"], self.linearised and " given " in text))
        for _ in range(int(rng.integers(0, 3)) if rng.random() < 0.4 else 0):
            text, u, h = worlds.statement(rng, 0.3)
            sign = str(rng.choice(["=", "<=", ">="]))
            edge = float(rng.choice([round(rng.random(), 2), 0.0, 1.0], p=[0.9, 0.05, 0.05]))
            if h[kept].any():
                self.pins.append(f"P({text}) {sign} {edge}")
                self.limits.append((u[kept].astype(float) - edge * h[kept], sign))

    def _numbers(self, rng):
        """A probability with its weight, maybe an interval; and the ends that the loss sees."""
        p = float(rng.choice([round(rng.random(), 2), rng.random(), rng.choice([0.0, 1.0])], p=[0.6, 0.3, 0.1]))
        row = {"probability": p, "weight": float(rng.choice([1, 1, 2, 5, 0.1, 30]))}
        low = high = float(np.clip(p, CLIP, 1 - CLIP)) if self.loss == "log" else p
        if rng.random() < 0.2:
            low = min(p, max(0.0, round(p - 0.3 * rng.random(), 3)))
            high = max(p, min(1.0, round(p + 0.3 * rng.random(), 3)))
            row |= {"lower": low, "upper": high}
            if self.loss == "log" and (0 < low < CLIP or 1 - CLIP < high < 1 or low == high):
                return None, low, high
            if self.loss == "log":
                low, high = min(low, 1 - CLIP), max(high, CLIP)
        return row, low, high

    def panel(self):
        return co.Panel.from_records(self.rows, laws=[*self.worlds.declarations, *self.worlds.laws, *self.pins])

    def value(self, share):
        """What shares of worlds lose, by definition."""
        total = 0.0
        for u, h, low, high, weight, linear in self.terms:
            a, b, c = float(share @ u), float(share @ (h & ~u)), float(share @ h)
            if c > 0:
                r = a / c if a <= b else 1 - b / c
                t = min(max(r, low), high)
                total += weight * ((a - t * c) ** 2 if linear else c * divergence(self.loss, r, t))
        return total

    def missed(self, share):
        """The largest amount by which a pin is missed."""
        off = [(float(share @ row), sign) for row, sign in self.limits]
        return max([0.0, *(abs(v) if sign == "=" else v if sign == "<=" else -v for v, sign in off)])

    def best(self):
        """The best shares by Clarabel; None where pins contradict each other, NaN where it finds nothing."""
        share = cp.Variable(int(self.worlds.kept.sum()), nonneg=True)
        rules, scores = [cp.sum(share) == 1], []
        for u, h, low, high, weight, linear in self.terms:
            a, c = share @ u.astype(float), share @ h.astype(float)
            if low == high:
                scores.append(weight * self._score(a, c, low, linear))
                continue
            for edge, sign in ((high, 1), (low, -1)):
                if edge != (1.0 if sign > 0 else 0.0):
                    excess = cp.Variable(nonneg=True)
                    rules.append(sign * (edge * c - a) + excess >= 0)
                    scores.append(weight * self._score(edge * c + sign * excess, c, edge, linear))
        for row, sign in self.limits:
            rules.append({"=": share @ row == 0, "<=": share @ row <= 0, ">=": share @ row >= 0}[sign])
        problem = cp.Problem(cp.Minimize(sum(scores) if scores else 0), rules)
        solve_closely(problem)
        if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
            return None
        found = np.full(share.size, np.nan) if share.value is None else np.maximum(share.value, 0)
        return found / found.sum()

    def _score(self, a, c, p, linear):
        if linear:
            return cp.square(a - p * c)
        if self.loss == "brier":
            return cp.quad_over_lin(a - p * c, c)
        if self.loss == "log":
            return cp.rel_entr(a, p * c) + cp.rel_entr(c - a, (1 - p) * c)
        f, slope = spherical(p)
        return cp.norm(cp.hstack([a, c - a])) - f * c - slope * (a - p * c)


def spherical(p):
    """The generating function of the spherical loss, and its slope."""
    return np.hypot(p, 1 - p), (2 * p - 1) / np.hypot(p, 1 - p)


def divergence(loss, r, p):
    """What the ratio r loses where p was forecast."""
    if loss == "brier":
        return (r - p) ** 2
    if r == p:
        return 0.0
    if loss == "log":
        return (r * np.log(r / p) if r > 0 else 0.0) + ((1 - r) * np.log((1 - r) / (1 - p)) if r < 1 else 0.0)
    f, slope = spherical(p)
    return float(np.hypot(r, 1 - r) - f - slope * (r - p))


def check_losses(first, count):
    """Hold so many panels against the reference; how often each status came."""
    return Counter(_check(seed) for seed in range(first, first + count))


def check_losses_one_by_one(first, count):
    """The same with the general method for every component, however few its worlds."""
    with one_by_one():
        return check_losses(first, count)


def check_losses_by_search(first, count):
    """The same with the methods for components of very many worlds."""
    with without_elimination():
        return check_losses(first, count)


def check_losses_by_cliques(first, count):
    """The same over the cliques of junction trees, which otherwise serve only components of very many events."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(component_solver, "LARGE", 0)
        return check_losses_one_by_one(first, count)


def _check(seed):
    case = Case(seed)
    if not case.rows:
        return "nothing forecast"
    best = case.best()
    method = co.Exact(conditionals="linearised" if case.linearised else "called_off")
    try:
        result = co.aggregate(case.panel(), method, case.loss)
    except co.ContradictionError:
        assert best is None or np.isnan(best).any(), seed
        return "contradiction"
    assert best is not None, seed
    if np.isnan(best).any():
        return "no reference"
    share, least = case.worlds.share(result), case.value(best)
    # Where the reference itself misses pins, it is better by their prices: slopes of the log loss at 1e-10 are 23 times
    # a weight of up to 30, for up to 15 terms, and a pin of 0.01 on a conditional multiplies them by 100.
    scale = max(1.0, least) + 1e5 * case.missed(best) / CLOSE
    assert case.missed(share) <= KEPT, seed
    assert abs(case.value(share) - result.objective) <= KEPT * scale, (seed, case.value(share), result.objective)
    assert result.lower_bound <= least + CLOSE * scale, (seed, result.lower_bound, least)
    # A mixture of possible worlds cannot lose less than the best one, so that only the other side can be wrong.
    if result.status == "optimal":
        assert result.objective <= least + CLOSE * scale + result.gap, (seed, result.objective, least)
    return str(result.status)
