"""Random losses of a user's own: symmetric ones against an independent conic solver, asymmetric ones refused.

A loss is a mixture of convex functions phi, each of which is written here twice: as numbers, for the package, and as
the perspective h phi(u / h) in cones, for Clarabel. Texts and truth tables come from `loss_checks.Worlds`; forecasts of
equal events and of complements are merged below, by finding roots.
"""

import warnings
from collections import Counter

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import brentq

import coherently as co
from tests.whole.loss_checks import Worlds, solve_closely

CLOSE = 1e-7
"""The relative difference of objectives, and what a bound may exceed the reference by: Clarabel gives no more."""
NEAR = 1e-3
"""The largest difference of probabilities: objectives are flat at their least, so that the root of CLOSE is all."""


def square(x):
    return (x - 0.5) ** 2, 2 * (x - 0.5), 2 + 0 * x


def fourth(x):
    return (x - 0.5) ** 4, 4 * (x - 0.5) ** 3, 12 * (x - 0.5) ** 2


def eighth(x):
    return (x - 0.5) ** 8, 8 * (x - 0.5) ** 7, 56 * (x - 0.5) ** 6


def entropy(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        phi = np.where(x > 0, x * np.log(x), 0.0) + np.where(x < 1, (1 - x) * np.log(1 - x), 0.0)
        return phi, np.log(x) - np.log1p(-x), 1 / (x * (1 - x))


def cosh(x):
    return np.cosh(3 * (x - 0.5)), 3 * np.sinh(3 * (x - 0.5)), 9 * np.cosh(3 * (x - 0.5))


def norm(x):
    phi = np.hypot(x, 1 - x)
    return phi, (2 * x - 1) / phi, phi**-3.0


def _squared(z, h, times):
    """The square over h, once and again: y^2/h becomes y^4/h^3, and that y^8/h^7."""
    for _ in range(times):
        z = cp.quad_over_lin(z, h)
    return z


def _exponentials(y, h):
    up, down = cp.Variable(), cp.Variable()
    return 0.5 * (up + down), [cp.constraints.ExpCone(3 * y, h, up), cp.constraints.ExpCone(-3 * y, h, down)]


CONES = {
    square: lambda y, h: (cp.quad_over_lin(y, h), []),
    fourth: lambda y, h: (_squared(cp.quad_over_lin(y, h), h, 1), []),
    eighth: lambda y, h: (_squared(cp.quad_over_lin(y, h), h, 2), []),
    entropy: lambda y, h: (cp.rel_entr(h / 2 + y, h) + cp.rel_entr(h / 2 - y, h), []),
    cosh: _exponentials,
    norm: lambda y, h: (cp.norm(cp.hstack([h / 2 + y, h / 2 - y])), []),
}
"""The perspective of each symmetric phi in y = u - h / 2 and h, with the rules that it needs."""
ASYMMETRIC = {
    "cubic": lambda x: (x**3, 3 * x**2, 6 * x),
    "mirrored cubic": lambda x: ((1 - x) ** 3, -3 * (1 - x) ** 2, 6 * (1 - x)),
    "fourth power": lambda x: (x**4, 4 * x**3, 12 * x**2),
    "exponential": lambda x: (np.exp(x), np.exp(x), np.exp(x)),
    "half an entropy": lambda x: (
        np.where(x > 0, x * np.log(np.maximum(x, 1e-300)), 0.0),
        np.log(np.maximum(x, 1e-300)) + 1,
        1 / np.maximum(x, 1e-300),
    ),
    "cosh about 0.6": lambda x: (np.cosh(4 * (x - 0.6)), 4 * np.sinh(4 * (x - 0.6)), 16 * np.cosh(4 * (x - 0.6))),
}


class MixedLoss:
    """The divergence of a sum of convex functions with positive factors."""

    is_quadratic = False

    def __init__(self, parts, clip=0.0, name="mixed"):
        self.parts, self.clip, self.name = parts, clip, name

    def phi(self, x, order):
        """The sum, or a derivative of it."""
        x = np.asarray(x, np.float64)
        return sum(factor * part(x)[order] for part, factor in self.parts.items())

    def clipped(self, p):
        return np.clip(np.asarray(p, np.float64), self.clip, 1 - self.clip)

    def gradient(self, x):
        return self.phi(x, 1)

    def curvature(self, x):
        return self.phi(x, 2)

    def inverse(self, g):
        low, high = np.zeros_like(g), np.ones_like(g)
        for _ in range(70):
            middle = 0.5 * (low + high)
            below = self.gradient(middle) < g
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def divergence(self, x, p):
        return self.phi(x, 0) - self.phi(p, 0) - self.gradient(p) * (np.asarray(x) - np.asarray(p))


def draw_loss(rng):
    """A random symmetric and strictly convex loss."""
    parts = {part: float(rng.uniform(0.1, 2)) for part in CONES if rng.random() < 0.4}
    if not set(parts) - {fourth, eighth}:
        parts[square] = float(rng.uniform(0.1, 2))
    clip = float(rng.choice([0.0, 1e-4, 0.01, 0.1]))
    return MixedLoss(parts, max(clip, 1e-4) if entropy in parts else clip)


def draw_asymmetric(rng):
    """A loss that is convex too, but counts one side more."""
    loss, name = draw_loss(rng), str(rng.choice(list(ASYMMETRIC)))
    factor = float(10 ** rng.uniform(-3, 0.5))
    return MixedLoss({**loss.parts, ASYMMETRIC[name]: factor}, max(loss.clip, 1e-4), f"mixed with {name}")


class Case:
    """A panel of a few judges, who repeat and complement each other, and its merged terms."""

    def __init__(self, seed):
        rng = np.random.default_rng([2711, seed])
        self.worlds, self.loss, self.unlike = Worlds(rng), draw_loss(rng), draw_asymmetric(rng)
        self.rows, said, kept = [], [], self.worlds.kept
        for _ in range(int(rng.integers(1, 9))):
            event, condition, u, h = self._statement(rng)
            if not (u[kept].all() or not u[kept].any() or (u == h)[kept].all() or (condition and h[kept].all())):
                said += [(event, condition, u, h)] * int(rng.integers(1, 4))
        self.terms = {}
        for event, condition, u, h in said:
            p, weight = float(rng.choice([round(rng.random(), 2), 0.0, 1.0], p=[0.9, 0.05, 0.05])), _weight(rng)
            turned = rng.random() < 0.4
            text = f"~({event})" if turned else event
            text = f"{text} given {condition}" if condition else text
            self.rows.append({"judge": f"J{len(self.rows)}", "event": text, "probability": p, "weight": weight})
            self._merge(u, h, 1 - p if turned else p, weight)

    def _statement(self, rng):
        event, u = self.worlds.formula(rng)
        if rng.random() >= 0.3:
            return event, None, u, np.ones_like(u)
        condition, h = self.worlds.formula(rng)
        return event, condition, u & h, h

    def _merge(self, u, h, p, weight):
        """Collect what is said of one function, or of its complement under the same condition, whatever laws say."""
        own, other = (u.tobytes(), h.tobytes()), ((h & ~u).tobytes(), h.tobytes())
        if other in self.terms:
            u, p, own = h & ~u, 1 - p, other
        self.terms.setdefault(own, (u, h, []))[2].append((p, weight))

    def merged(self):
        """The truth of each event and condition in the possible worlds, its total weight, and its mean by the loss."""
        for u, h, given in self.terms.values():
            p, weight = np.array(given).T
            p = np.clip(p, self.loss.clip, 1 - self.loss.clip)
            dual = float(weight @ self.loss.gradient(p)) / weight.sum()
            low, high = p.min(), p.max()
            mean = low
            if low < high:
                mean = brentq(lambda x, dual=dual: self.loss.gradient(x) - dual, low, high, xtol=1e-15)
            yield u[self.worlds.kept], h[self.worlds.kept], weight.sum(), mean

    def panel(self):
        return co.Panel.from_records(self.rows, laws=[*self.worlds.declarations, *self.worlds.laws])

    def value(self, share):
        """What shares of worlds lose, by definition."""
        total = 0.0
        for u, h, weight, mean in self.merged():
            a, c = float(share @ u), float(share @ h)
            if c > 0:
                total += weight * c * float(self.loss.divergence(min(a / c, 1.0), mean))
        return total

    def best(self):
        """The best shares by Clarabel; None where it does not find them."""
        share = cp.Variable(int(self.worlds.kept.sum()), nonneg=True)
        rules, scores = [cp.sum(share) == 1], []
        for u, h, weight, mean in self.merged():
            c = share @ h.astype(float)
            y = share @ u.astype(float) - 0.5 * c
            for part, factor in self.loss.parts.items():
                score, more = CONES[part](y, c)
                phi, slope, _ = part(np.float64(mean))
                scores.append(weight * factor * (score - phi * c - slope * (y - (mean - 0.5) * c)))
                rules += more
        problem = cp.Problem(cp.Minimize(sum(scores)), rules)
        solve_closely(problem)
        if problem.status != cp.OPTIMAL:
            return None
        found = np.maximum(share.value, 0)
        return found / found.sum()


def _weight(rng):
    return float(rng.choice([1, 1, 2, 5, 0.1, 30]))


def check_user_losses(first, count):
    """Hold so many panels and losses against the reference; how often each status came."""
    return Counter(_check(seed) for seed in range(first, first + count))


def _check(seed):
    case = Case(seed)
    if not case.rows:
        return "nothing forecast"
    panel = case.panel()
    with pytest.raises(co.MethodError, match="is not symmetric"):
        co.aggregate(panel, "exact", case.unlike)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = co.aggregate(panel, "exact", case.loss)
        verified = co.verify(panel, result)
    assert verified, (seed, verified.problems)
    best = case.best()
    if best is None:
        return "no reference"
    share, least = case.worlds.share(result), case.value(best)
    scale = max(1.0, least)
    assert abs(case.value(share) - result.objective) <= 1e-9 * scale, (seed, case.value(share), result.objective)
    assert result.lower_bound <= least + CLOSE * scale, (seed, result.lower_bound, least)
    if result.status == "optimal":
        assert result.objective <= least + CLOSE * scale + result.gap, (seed, result.objective, least)
        for u, h, _, _ in case.merged():
            if h.all():
                assert abs(share @ u - best @ u) <= NEAR, (seed, share @ u, best @ u)
    return str(result.status)
