"""What bounds under other losses rest on: slopes of slopes, clipped means, and Dykstra's increments at any sweep."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import find_loss
from coherently.problem.losses import Brier, Log, Spherical, merged_mean
from tests.solve.exact_checks import random_panel

LOSSES = ["brier", "log", "spherical"]


@pytest.mark.parametrize("name", LOSSES)
def test_the_curvature_is_the_slope_of_the_gradient(name):
    loss, x = find_loss(name), np.linspace(0.03, 0.97, 48)
    slope = (loss.gradient(x + 1e-6) - loss.gradient(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.curvature(x), slope, rtol=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_duals_and_probabilities_belong_together_everywhere(name):
    loss = find_loss(name)
    small = np.concatenate([[0.0], np.geomspace(1e-12, 0.49, 200)])
    for x in (0.5 + small, 0.5 - small, 1e-3 * small, 1 - 1e-3 * small):
        np.testing.assert_allclose(loss.inverse(loss.gradient(x)), x, rtol=1e-12, atol=1e-15)
        assert (np.diff(loss.gradient(np.sort(x))) >= 0).all()
        assert (loss.curvature(np.clip(x, 1e-9, 1 - 1e-9)) > 0).all()
    duals = np.concatenate([-small[::-1], small])
    odds = {"brier": duals / 2, "log": 1 / (1 + np.exp(-duals)), "spherical": 0.5 + 0.5 * duals / np.sqrt(2 - duals**2)}
    np.testing.assert_allclose(loss.inverse(duals), odds[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", [Log(), Log(clip=0.01), Brier(), Spherical()])
def test_forecasts_are_clipped_at_both_ends_and_nowhere_else(loss):
    clip = getattr(loss, "clip", 0.0)
    p = np.array([0.0, 1e-9, 0.5 * clip, clip, 0.3, 1 - clip, 1 - 0.5 * clip, 1 - 1e-9, 1.0])
    expected = np.minimum(np.maximum(p, clip), 1 - clip)
    np.testing.assert_array_equal(loss.clipped(p), expected)
    assert np.isfinite(loss.divergence(np.array([0.0, 1.0]), loss.clipped(np.array([[0.0], [1.0]])))).all()


@pytest.mark.parametrize("name", LOSSES)
def test_certain_forecasts_merge_as_they_are_clipped(name):
    loss = find_loss(name)
    forecasts, weights, index = np.array([0.0, 1.0, 0.3, 1.0]), np.array([1.0, 2.0, 3.0, 0.5]), np.zeros(4, int)
    q = merged_mean(loss, index, forecasts, weights, 1)[0]
    x = np.linspace(0.01, 0.99, 25)
    apart = sum(w * loss.divergence(x, loss.clipped(p)) for w, p in zip(weights, forecasts, strict=True))
    rest = apart - weights.sum() * loss.divergence(x, q)
    np.testing.assert_allclose(rest, rest[0], rtol=1e-9)


@pytest.mark.parametrize("loss", ["log", "spherical"])
@pytest.mark.parametrize("groups", ["logical", "pairs"])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_after_any_number_of_sweeps_is_below_the_least_distance(seed, groups, loss):
    panel = random_panel(np.random.default_rng(seed), 5, 14, 2)
    method = co.AlternatingProjections(groups, correction="dykstra", sweeps=3000, tolerance=1e-11)
    best = co.aggregate(panel, method, loss).objective
    for sweeps in (1, 2, 3, 5, 10, 30, 100):
        held = co.AlternatingProjections(groups, correction="dykstra", sweeps=sweeps, tolerance=0.0)
        result = co.aggregate(panel, held, loss)
        assert result.lower_bound <= best + 1e-6 * max(1.0, best)
        assert result.lower_bound <= result.objective
    assert result.lower_bound >= 0.9 * best - 1e-6
