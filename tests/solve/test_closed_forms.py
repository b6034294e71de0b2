"""The closed projections on partitions and ladders, against programs that know nothing of them."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import entr

from coherently import _core


def project(patterns, weights, y, loss=None):
    """One group's projection, in duals where there is a loss."""
    n = len(y)
    arrays = (np.array([0, n]), np.arange(n, dtype=np.int32), np.zeros(1, np.int32), [patterns], weights)
    x = y.copy()
    (_core.GroupProjector(*arrays) if loss is None else _core.BregmanProjector(loss, *arrays)).dykstra(x, np.zeros(n))
    return x


def shuffled(rows, order):
    return np.ascontiguousarray(np.unique(rows[:, order], axis=0).astype(float))


def staircase(n):
    return np.triu(np.ones((n + 1, n)))


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_the_weighted_projection_on_a_simplex(seed, complete):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    y, weights = random.normal(0.2, 10.0 ** random.integers(-2, 2), n), 10.0 ** random.uniform(-2, 2, n)
    rows = np.eye(n) if complete else np.vstack([np.eye(n), np.zeros(n)])
    found = project(shuffled(rows, random.permutation(n)), weights, y)
    x = cp.Variable(n, nonneg=True)
    limit = cp.sum(x) == 1 if complete else cp.sum(x) <= 1
    program = cp.Problem(cp.Minimize(cp.sum(cp.multiply(weights, cp.square(x - y)))), [limit])
    program.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(found, x.value, atol=2e-5)
    assert np.sum(weights * (found - y) ** 2) <= program.value * (1 + 1e-9) + 1e-9
    assert found.min() >= 0
    assert found.sum() <= 1 + 1e-12 * n


@pytest.mark.parametrize("seed", range(12))
def test_the_weighted_projection_on_a_chain(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 40))
    y, weights = random.normal(0.5, 10.0 ** random.integers(-2, 2), n), 10.0 ** random.uniform(-2, 2, n)
    order = random.permutation(n)
    found = project(shuffled(staircase(n), order), weights, y)
    place = np.argsort(order)  # the column of each step of the ladder
    expected = np.clip(isotonic_regression(y[place], weights=weights[place]).x, 0, 1)
    np.testing.assert_allclose(found[place], expected, atol=1e-12)


def cost(x, weights, z, loss):
    """What the projection minimises: the sum of w (phi(x) - z x)."""
    phi = -(entr(x) + entr(1 - x)) if loss == "log" else np.hypot(x, 1 - x)
    return float(weights @ (phi - z * x))


def hull_projection(rows, weights, z, loss):
    share = cp.Variable(len(rows), nonneg=True)
    x = rows.T @ share
    if loss == "log":
        phi = -(cp.entr(x) + cp.entr(1 - x))
    else:
        phi = cp.hstack([cp.norm(cp.hstack([x[i], 1 - x[i]])) for i in range(rows.shape[1])])
    cp.Problem(cp.Minimize(weights @ (phi - cp.multiply(z, x))), [cp.sum(share) == 1]).solve(solver=cp.CLARABEL)
    return rows.T @ (np.maximum(share.value, 0) / np.maximum(share.value, 0).sum())


def probability(z, loss):
    return 1 / (1 + np.exp(-z)) if loss == "log" else (1 + z / np.sqrt(2 - z**2)) / 2


@pytest.mark.parametrize("loss", ["log", "spherical"])
@pytest.mark.parametrize("kind", ["exactly one", "at most one", "chain"])
@pytest.mark.parametrize("seed", range(4))
def test_projections_under_other_losses(seed, kind, loss):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 8))
    rows = {"exactly one": np.eye(n), "at most one": np.vstack([np.eye(n), np.zeros(n)]), "chain": staircase(n)}[kind]
    z = random.normal(0, 2, n) if loss == "log" else random.uniform(-1.3, 1.3, n)
    weights = random.uniform(0.5, 4, n)
    found = probability(project(np.unique(rows, axis=0), weights, z, loss), loss)
    other = hull_projection(rows, weights, z, loss)
    np.testing.assert_allclose(found, other, atol=2e-4)
    assert cost(found, weights, z, loss) <= cost(other, weights, z, loss) + 1e-12
    np.testing.assert_allclose(found.sum(), 1 if kind == "exactly one" else found.sum(), atol=1e-12)


def test_a_ladder_of_a_thousand_thresholds():
    random = np.random.default_rng(3)
    y = np.linspace(-0.2, 1.2, 1000) + random.normal(0, 0.3, 1000)
    found = project(staircase(1000), np.ones(1000), y)
    np.testing.assert_allclose(found, np.clip(isotonic_regression(y).x, 0, 1), atol=1e-11)
