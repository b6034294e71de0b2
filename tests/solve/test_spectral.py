"""The semidefinite bound of dense components against exact answers."""

import time

import numpy as np
import pytest
from scipy.optimize import nnls

import coherently as co
from coherently.problem import pose, split
from coherently.solve.spectral import SpectralBound, nearest_shares
from tests.solve.exact_checks import mixture_of
from tests.solve.reference import truth


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_and_are_near(seed):
    panel = co.simulate(variables=10, judges=20, seed=seed)
    exact = co.aggregate(panel, "exact")
    (part,) = split(pose(panel).merged)
    bound = SpectralBound(part.merged, mixture_of(panel, exact)[part.coordinates])
    found = bound.raise_until(time.monotonic() + 0.3, exact.objective, lambda: None)
    assert 0.9 * exact.objective <= found <= exact.objective * (1 + 1e-9)


def test_points_of_the_relaxation_bound_every_world():
    panel = co.simulate(variables=10, judges=15, seed=3)
    (part,) = split(pose(panel).merged)
    merged = part.merged
    worlds = truth(panel, merged.event)
    bound = SpectralBound(merged, merged.mean)
    for direction in np.random.default_rng(0).normal(size=(20, len(merged))):
        bound.oracle.set(direction)
        bound.oracle.start_proof(1e9)
        least = (worlds @ direction).min()
        assert bound.oracle.bound() <= least + 1e-9
        assert direction @ bound.oracle.relaxed() <= least + 1e-3 * np.abs(direction).sum()


@pytest.mark.parametrize("seed", range(5))
def test_nearest_shares(seed):
    points = np.random.default_rng(seed).normal(size=(12, 6)) + 0.7
    share = nearest_shares(points @ points.T)
    expected, _ = nnls(np.vstack([points.T, np.ones(12)]), np.append(np.zeros(6), 1.0))
    np.testing.assert_allclose(share @ points, expected / expected.sum() @ points, atol=1e-6)
    assert share.sum() == pytest.approx(1)
