"""The semidefinite bound of dense components against exact answers."""

from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.problem import pose, split
from coherently.solve.budget import Budget
from coherently.solve.component import nearest as nearest_module
from coherently.solve.lower_bounds.descent import descend
from coherently.solve.lower_bounds.semidefinite import RelaxedNearest, SpectralBound
from tests.solve.reference import truth


def only_part(panel):
    (part,) = split(pose(panel).merged)
    return part.merged


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_and_are_near(seed):
    panel = co.simulate(variables=10, judges=20, seed=seed)
    exact = co.aggregate(panel, "exact")
    bound = SpectralBound(only_part(panel))
    found = bound.raise_within(Budget().within(60.0), exact.objective)
    assert 0.9 * exact.objective <= found <= exact.objective * (1 + 1e-9)
    first = SpectralBound(only_part(panel)).begin(Budget())
    assert 0.9 * exact.objective <= first <= exact.objective * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_relaxed_point_is_the_nearest_of_the_relaxed_set(seed):
    part = only_part(co.simulate(variables=12, judges=30, seed=seed))
    relaxed = RelaxedNearest(part)
    x = relaxed.settle(Budget())
    bound = SpectralBound(part)
    bound._look(x, 0.0, seconds=60.0)
    assert (1 - 1e-4) * relaxed.objective(x) <= bound.bound <= relaxed.objective(x)


def test_worlds_are_points_of_the_relaxed_set():
    panel = co.simulate(variables=5, judges=15, basic=5, seed=3)
    part = only_part(panel)
    relaxed = RelaxedNearest(part)
    worlds = (np.arange(2**part.n_variables)[:, None] >> np.arange(part.n_variables) & 1).astype(float)
    events = truth(panel, part.event)
    for world, holds in zip(worlds, events, strict=True):
        relaxed.vectors = np.concatenate([[1.0], 2 * world - 1])[:, None]
        np.testing.assert_allclose(relaxed._point(), holds, atol=1e-12)


def test_proofs_bound_every_world():
    panel = co.simulate(variables=10, judges=15, seed=3)
    part = only_part(panel)
    worlds = truth(panel, part.event)
    oracle = SpectralBound(part).oracle
    for direction in np.random.default_rng(0).normal(size=(20, len(part))):
        oracle.set(direction)
        oracle.start_proof(1e9)
        assert oracle.bound() <= (worlds @ direction).min() + 1e-9


def test_vectors_that_are_too_short_are_widened():
    part = only_part(co.simulate(variables=30, judges=60, seed=0))
    short = RelaxedNearest(part)
    short.vectors = short.vectors[:, :2] / np.linalg.norm(short.vectors[:, :2], axis=1, keepdims=True)
    first = short.objective(short.settle(Budget()))
    while short.widen():
        last = short.objective(short.settle(Budget()))
    assert short.vectors.shape[1] == part.n_variables + 1
    enough = RelaxedNearest(part)
    assert last < first
    assert last == pytest.approx(enough.objective(enough.settle(Budget())), rel=1e-6)


def test_the_bound_of_a_dense_component_comes_before_the_search(monkeypatch):
    """Neither a search nor a late bound: what is proved is proved at the start, and is the same every time."""
    panel = co.simulate(judges=120, variables=50, seed=0)
    best = co.aggregate(panel, co.Exact(time_limit=2)).objective
    monkeypatch.setattr(nearest_module, "LATE_BOUNDS", ())
    monkeypatch.setattr(nearest_module, "TUNING", replace(nearest_module.TUNING, search_share=0.0))
    first, again = (co.aggregate(panel, co.Exact(time_limit=600)).lower_bound for _ in range(2))
    assert first == again
    assert 0.9 * best <= first <= best


@pytest.mark.parametrize("seed", range(3))
def test_a_descent_ends_where_the_gradient_vanishes(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(30, 30))
    matrix, aim = root @ root.T + 0.1 * np.eye(30), rng.normal(size=30)

    def bowl(x):
        return float((x - aim) @ matrix @ (x - aim)) + 1.0, 2.0 * matrix @ (x - aim)

    np.testing.assert_allclose(descend(bowl, np.zeros(30), 1e-15, lambda: False), aim, atol=1e-5)
    np.testing.assert_array_equal(descend(bowl, np.zeros(30), 1e-15, lambda: True), np.zeros(30))
