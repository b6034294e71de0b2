"""Losses of a user's own: what is accepted, what is refused and why, and that the answers are the nearest."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import coherently as co
from coherently.errors import MethodError, ResultError
from coherently.problem import find_loss, pose
from coherently.solve import METHODS

GRID = np.linspace(0, 1, 200_001)


class Bent:
    """The divergence of phi(x) = x^2 + 4 (x - 1/2)^4: errors near 0 and 1 count more."""

    name = "bent"
    is_quadratic = False

    def clipped(self, p):
        return np.asarray(p, np.float64)

    def gradient(self, x):
        return 2 * np.asarray(x, np.float64) + 16 * (np.asarray(x, np.float64) - 0.5) ** 3

    def curvature(self, x):
        return 2 + 48 * (np.asarray(x, np.float64) - 0.5) ** 2

    def inverse(self, g):
        assert np.isfinite(g).all()  # events without a forecast have no dual
        return np.interp(g, self.gradient(GRID), GRID)

    def divergence(self, x, p):
        x, p = np.asarray(x, np.float64) - 0.5, np.asarray(p, np.float64) - 0.5
        return (x - p) ** 2 * (1 + 4 * (x**2 + 2 * x * p + 3 * p**2))


class Squared(co.Brier):
    """The squared loss once more, as somebody else may write it."""

    name = "squared"


ROWS = [("A", "p", 0.9), ("A", "q", 0.8), ("B", "p & q", 0.2), ("B", "~p", 0.4), ("C", "p | q", 0.6)]
WORLDS = [(p, q) for p in (0, 1) for q in (0, 1)]


def nearest(loss):
    """The least distance over mixtures of the four worlds, by another solver."""
    merged = pose(co.Panel.from_records(ROWS), loss).merged
    truth = np.array([[p, q, p and q, p or q] for p, q in WORLDS], float)

    def distance(share):
        return float(np.sum(merged.weight * loss.divergence(np.clip(share @ truth, 0, 1), merged.mean)))

    one = {"type": "eq", "fun": lambda share: share.sum() - 1}
    found = minimize(distance, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=one, tol=1e-14)
    return found.fun


def test_the_nearest_forecasts_under_a_loss_of_ones_own():
    panel = co.Panel.from_records(ROWS)
    result = co.aggregate(panel, "exact", Bent())
    assert (result.status, result.coherence, result.loss.name) == ("optimal", "global", "bent")
    assert result.objective == pytest.approx(nearest(Bent()), abs=1e-6)
    assert co.verify(panel, result)
    with pytest.raises(ResultError, match="loss is 'bent'; it must be one of brier, log, spherical"):
        co.Result.from_json(result.to_json())


def test_conditionals_intervals_and_pins_under_a_loss_of_ones_own():
    rows = [("A", "p", 0.9), ("A", "q given p", 0.7), ("B", "p & q", 0.2)]
    panel = co.Panel.from_records(rows, laws=["P(q) <= 0.5"])
    result = co.aggregate(panel, "exact", Bent())
    assert result.status == "optimal"
    assert co.verify(panel, result)
    assert co.individual(panel, "exact", Bent()).probability == pytest.approx([0.9, 0.7, 0.2], abs=0.4)


def test_a_quadratic_loss_of_ones_own_is_briers():
    panel = co.Panel.from_records(ROWS)
    for method in ("exact", "dykstra", "projections", "linear", "lindley"):
        one, other = (co.aggregate(panel, method, loss).solution.value for loss in ("brier", Squared()))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_or_says_that_it_knows_other_losses(method):
    panel = co.Panel.from_records(ROWS)
    try:
        result = co.aggregate(panel, method, Bent())
    except MethodError as error:
        assert "bent" in str(error)
    else:
        assert method in ("auto", "exact", "dempster-shafer")
        assert np.isfinite(result.solution.value).all()
    pooled = co.aggregate(panel, co.Pool("median", then=co.Exact()), Bent())
    assert pooled.coherence == "global"


def changed(**members):
    return type("Mine", (Bent,), {"name": "mine", **members})()


def of(phi, gradient, curvature, **members):
    """The loss of a convex function."""
    grid = np.concatenate([[0.0], np.geomspace(1e-9, 0.01, 5_000), np.linspace(0.01, 0.99, 200_001)[1:-1]])
    grid = np.union1d(grid, 1 - grid)
    return changed(
        gradient=lambda _, x: gradient(np.asarray(x, np.float64)),
        curvature=lambda _, x: curvature(np.asarray(x, np.float64)),
        divergence=lambda _, x, p: phi(x) - phi(p) - gradient(np.asarray(p, np.float64)) * (x - p),
        **{"inverse": lambda _, g: np.interp(g, gradient(grid), grid), **members},
    )


def scaled(factor, **members):
    """A loss in other units."""
    return changed(
        gradient=lambda _, x: factor * Bent().gradient(x),
        curvature=lambda _, x: factor * Bent().curvature(x),
        inverse=lambda _, g: Bent().inverse(np.asarray(g) / factor),
        **{"divergence": lambda _, x, p: factor * Bent().divergence(x, p), **members},
    )


CUBIC = of(lambda x: x**2 + x**4 / 4, lambda x: 2 * x + x**3, lambda x: 2 + 3 * x**2)
"""Of the review: events and complements share a coordinate, so that the answer was that of another loss."""
ENTROPY = of(
    lambda x: x * np.log(x) + (1 - x) * np.log(1 - x),
    lambda x: np.log(x / (1 - x)),
    lambda x: 1 / (x * (1 - x)),
)
HUBER = of(
    lambda x: x**2 + np.maximum(np.abs(x - 0.5) - 0.25, 0) ** 2,
    lambda x: 2 * x + 2 * np.sign(x - 0.5) * np.maximum(np.abs(x - 0.5) - 0.25, 0),
    lambda x: 2 + 2.0 * (np.abs(x - 0.5) > 0.25),
)


def dented(where, width):
    """Quadratic but for a dent, at a place and its complement, in which it is concave."""

    def fold(x):
        return np.minimum(x, 1 - x) - where

    def gradient(x):
        inside = np.abs(fold(x)) < width
        return 2 * x - np.where(inside, 2 * np.sign(0.5 - x) * width * np.sin(np.pi * fold(x) / width), 0.0)

    return changed(gradient=lambda _, x: gradient(np.asarray(x, np.float64)))


@pytest.mark.parametrize(
    "loss", [Bent(), Squared(), HUBER, scaled(1e-9), scaled(1e9), changed(clipped=co.Log(0.2).clipped)]
)
def test_symmetric_convex_losses_are_accepted(loss):
    assert find_loss(loss) is loss


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (Bent, "the loss is the class Bent; make an object of it"),
        (object(), "is not a loss: it has no name, is_quadratic, clipped, gradient, curvature, inverse, divergence"),
        (changed(name="log"), "the name 'log' is that of another loss"),
        (changed(divergence=lambda _, x, p: x * np.nan * p), "gives nan for divergence"),
        (changed(gradient=lambda _, x: np.log(x - x)), "gives -inf for gradient"),
        (ENTROPY, r"gives -inf for gradient.*let clipped move forecasts away from there, as co\.Log does"),
        (changed(curvature=lambda _, x: -np.asarray(x)), "is not strictly convex"),
        (changed(curvature=lambda _, x: 48 * (np.asarray(x) - 0.5) ** 2), "is not strictly convex"),
        (changed(gradient=lambda _, x: -np.asarray(x)), "is not strictly convex"),
        (dented(0.3, 0.01), "is not strictly convex"),
        (dented(0.001, 0.0009), "is not strictly convex"),
        (changed(inverse=lambda _, g: np.asarray(g) / 2), r"inverse\(gradient\(p\)\) must be p"),
        (changed(divergence=lambda _, x, p: (x - p) ** 2), "gradient is not the slope of divergence"),
        (changed(divergence=lambda _, x, p: Bent().divergence(p, x)), "gradient is not the slope of divergence"),
        (scaled(1e-9, divergence=lambda _, x, p: 1e-9 * (x - p) ** 2), "gradient is not the slope of divergence"),
        (changed(curvature=lambda _, x: 1.01 * Bent().curvature(x)), "curvature is not the slope of gradient"),
        (changed(divergence=lambda _, x, p: p - x), "a divergence that is below 0"),
        (changed(divergence=lambda _, x, p: Bent().divergence(x, p) + 0.1), "not 0 between equal probabilities"),
        (changed(is_quadratic=True), "said to be quadratic"),
        (
            CUBIC,
            r"is not symmetric: divergence\(x, p\) must be divergence\(1 - x, 1 - p\), but it is 1\.25 for x = 1 and",
        ),
        (CUBIC, r"1\.75 for the complements\. A forecast p of an event is also a forecast 1 - p of its complement"),
        (
            changed(clipped=lambda _, p: np.maximum(p, 0.1)),
            r"is not symmetric: clipped\(1 - p\) must be 1 - clipped\(p\)",
        ),
        (changed(clipped=lambda _, p: 0.25 + np.asarray(p) / 2), r"clipped\(clipped\(p\)\) must be clipped\(p\)"),
        (changed(clipped=lambda _, p: 1 - np.asarray(p)), "clips a higher forecast to a lower number"),
        (changed(clipped=lambda _, p: 2 * np.asarray(p) - 0.5), r"to a number outside \[0, 1\]"),
        (changed(clipped=lambda _, p: p[0]), r"clipped of the shape \(\) where it got 809 numbers"),
        (changed(gradient=lambda _, x: {}[x]), "unhashable|cannot be computed for an array"),
        (changed(curvature=lambda _: 1.0), "cannot be computed for an array"),
        (type("Mine", (co.Log,), {"divergence": lambda _, x, p: (x - p) ** 2})(), "the name 'log' is that of another"),
        (type("Mine", (co.Brier,), {"name": "mine", "divergence": CUBIC.divergence})(), "said to be quadratic"),
    ],
)
def test_what_is_no_loss_is_refused_with_the_reason(loss, why):
    with pytest.raises(MethodError, match=why):
        find_loss(loss)
    with pytest.raises(MethodError, match=why):
        co.aggregate(co.Panel.from_records(ROWS), "exact", loss)


STEEP = of(
    lambda x: x * np.log(np.maximum(x, 1e-300)) + (1 - x) * np.log(np.maximum(1 - x, 1e-300)),
    ENTROPY.gradient,
    ENTROPY.curvature,
    clipped=co.Log(0.01).clipped,
    inverse=co.Log().inverse,
)
"""The log loss as a user may write it: its slope at 0 is infinite."""


@pytest.mark.parametrize(
    ("rows", "law"),
    [
        ([("A", "p", 0.3), ("A", "q", 0.9), ("A", "q & r", 0.95)], "~p & (q -> r)"),
        ([("A", "p given q", 0.3), ("A", "q", 0.5), ("A", "q | r", 0.4)], "P(p & q) = 0"),
    ],
)
def test_infinite_slopes_neither_warn_nor_let_false_claims_pass(rows, law):
    panel = co.Panel.from_records(rows, laws=[law])
    result, usual = (co.aggregate(panel, "exact", loss) for loss in (STEEP, co.Log(0.01)))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(usual.objective, rel=1e-6)
    assert co.verify(panel, result)
    for more in (0.1, 0.001):
        claims = replace(result.solution, lower_bound=result.lower_bound + more, components=())
        assert not co.verify(panel, replace(result, solution=claims))


def test_a_clip_goes_with_the_log_loss_only():
    assert find_loss("log", 0.02) == co.Log(0.02)
    with pytest.raises(MethodError, match="clip goes with the loss log, not with brier"):
        find_loss("brier", 0.02)
