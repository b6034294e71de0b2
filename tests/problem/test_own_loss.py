"""Losses of a user's own: what is accepted, what is refused and why, and that the answers are the nearest."""

import numpy as np
import pytest
from scipy.optimize import minimize

import coherently as co
from coherently.errors import MethodError, ResultError
from coherently.problem import find_loss, pose
from coherently.solve import METHODS

GRID = np.linspace(0, 1, 200_001)


class Tilted:
    """The divergence of phi(x) = x^2 + x^4: errors near 1 count more."""

    name = "tilted"
    is_quadratic = False

    def clipped(self, p):
        return np.asarray(p, np.float64)

    def gradient(self, x):
        return 2 * np.asarray(x, np.float64) + 4 * np.asarray(x, np.float64) ** 3

    def curvature(self, x):
        return 2 + 12 * np.asarray(x, np.float64) ** 2

    def inverse(self, g):
        return np.where(np.isnan(g), np.nan, np.interp(g, self.gradient(GRID), GRID))

    def divergence(self, x, p):
        x, p = np.asarray(x, np.float64), np.asarray(p, np.float64)
        return (x - p) ** 2 * (1 + x**2 + 2 * x * p + 3 * p**2)


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
    result = co.aggregate(panel, "exact", Tilted())
    assert (result.status, result.coherence, result.loss.name) == ("optimal", "global", "tilted")
    assert result.objective == pytest.approx(nearest(Tilted()), abs=1e-6)
    assert co.verify(panel, result)
    with pytest.raises(ResultError, match="loss is 'tilted'; it must be one of brier, log, spherical"):
        co.Result.from_json(result.to_json())


def test_conditionals_intervals_and_pins_under_a_loss_of_ones_own():
    rows = [("A", "p", 0.9), ("A", "q given p", 0.7), ("B", "p & q", 0.2)]
    panel = co.Panel.from_records(rows, laws=["P(q) <= 0.5"])
    result = co.aggregate(panel, "exact", Tilted())
    assert result.status == "optimal"
    assert co.verify(panel, result)
    assert co.individual(panel, "exact", Tilted()).probability == pytest.approx([0.9, 0.7, 0.2], abs=0.4)


def test_a_quadratic_loss_of_ones_own_is_briers():
    panel = co.Panel.from_records(ROWS)
    for method in ("exact", "dykstra", "projections", "linear", "lindley"):
        one, other = (co.aggregate(panel, method, loss).solution.value for loss in ("brier", Squared()))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_or_says_that_it_knows_other_losses(method):
    panel = co.Panel.from_records(ROWS)
    try:
        result = co.aggregate(panel, method, Tilted())
    except MethodError as error:
        assert "tilted" in str(error)
    else:
        assert method in ("auto", "exact", "dempster-shafer")
        assert np.isfinite(result.solution.value).all()
    pooled = co.aggregate(panel, co.Pool("median", then=co.Exact()), Tilted())
    assert pooled.coherence == "global"


def changed(**members):
    return type("Mine", (Tilted,), {"name": "mine", **members})()


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (Tilted, "the loss is the class Tilted; make an object of it"),
        (object(), "is not a loss: it has no name, is_quadratic, clipped, gradient, curvature, inverse, divergence"),
        (changed(name="log"), "the name 'log' is that of another loss"),
        (changed(divergence=lambda _, x, p: x * np.nan * p), "gives nan for divergence"),
        (changed(gradient=lambda _, x: np.log(x - x)), "gives -inf for gradient"),
        (changed(curvature=lambda _, x: -np.asarray(x)), "is not strictly convex"),
        (changed(gradient=lambda _, x: -np.asarray(x)), "is not strictly convex"),
        (changed(inverse=lambda _, g: np.asarray(g) / 2), r"inverse\(gradient\(p\)\) must be p"),
        (changed(divergence=lambda _, x, p: (x - p) ** 2), "gradient is not the slope of divergence"),
        (changed(divergence=lambda _, x, p: p - x), "a divergence that is below 0"),
        (changed(is_quadratic=True), "said to be quadratic"),
        (changed(clipped=lambda _, p: p[0]), r"clipped of the shape \(\) where it got 25 numbers"),
        (changed(gradient=lambda _, x: {}[x]), "unhashable|cannot be computed for an array"),
        (changed(curvature=lambda _: 1.0), "cannot be computed for an array"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_no_loss_is_refused_with_the_reason(loss, why):
    with pytest.raises(MethodError, match=why):
        find_loss(loss)
    with pytest.raises(MethodError, match=why):
        co.aggregate(co.Panel.from_records(ROWS), "exact", loss)


def test_a_clip_goes_with_the_log_loss_only():
    assert find_loss("log", 0.02) == co.Log(0.02)
    with pytest.raises(MethodError, match="clip goes with the loss log, not with brier"):
        find_loss("brier", 0.02)
