"""Projections of groups, the problem relaxed to pairs and normal systems, by the properties that define them."""

import numpy as np
import pytest

from coherently import _core
from coherently.problem import find_design, find_loss, pose, split
from tests.kernels.draw import draw
from tests.solve.exact_checks import random_panel
from tests.solve.reference import by_clarabel, distance_from_hull, objective

LOSSES = ["brier", "log", "spherical"]


def groups_of(seed, shape):
    """Some groups of events that can be true together as the rows of their patterns say, and weights."""
    rng = np.random.default_rng(seed)
    events, patterns, members = 9, [], []
    for _ in range(4):
        if shape == "hull":
            some = draw(rng, 3, 2, 3)
            patterns.append(np.unique(some.truth(some.worlds()), axis=0).astype(float))
        else:
            size = int(rng.integers(2, 5))
            patterns.append(
                {
                    "one": np.eye(size),
                    "at most one": np.vstack([np.eye(size), np.zeros(size)]),
                    "chain": np.triu(np.ones((size + 1, size))),
                    "conjunction": np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]),
                }[shape].astype(float)
            )
        members.append(rng.choice(events, patterns[-1].shape[1], replace=False))
    return rng, members, patterns, 10 ** rng.uniform(-1, 1, events)


def projector(loss, members, patterns, weights):
    arrays = (
        np.cumsum([0, *map(len, members)]),
        np.concatenate(members).astype(np.int32),
        np.arange(len(members), dtype=np.int32),
        patterns,
        weights,
    )
    return _core.GroupProjector(*arrays) if loss == "brier" else _core.BregmanProjector(loss, *arrays)


def slope(loss, x):
    """The coordinates that a projector works in."""
    return x if loss == "brier" else find_loss(loss).gradient(x)


def chance(loss, z):
    return z if loss == "brier" else find_loss(loss).inverse(z)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", ["hull", "one", "at most one", "chain", "conjunction"])
@pytest.mark.parametrize("seed", range(8))
def test_one_group_after_the_other_goes_to_its_nearest_point(seed, shape, loss):
    rng, members, patterns, weights = groups_of(seed, shape)
    p = rng.uniform(0.02, 0.98, len(weights))
    z = slope(loss, p).copy()
    moved = projector(loss, members, patterns, weights).sweep(z)
    here, expected = slope(loss, p).copy(), 0.0
    for own, rows in zip(members, patterns, strict=True):
        before = here.copy()
        projector(loss, [own], [rows], weights).sweep(here)
        x = chance(loss, here)[own]
        # In the hull, and no row of it lies against the slope of the distance from what was projected.
        assert distance_from_hull(rows, x) <= 1e-7
        varies = rows.min(axis=0) < rows.max(axis=0)
        force = np.where(varies, weights[own] * (here - before)[own], 0.0)
        assert ((rows - x) @ force).min() >= -1e-9 * (1 + np.abs(force).sum())
        expected += float(np.sum(weights[own] * find_loss(loss).divergence(x, chance(loss, before)[own])))
    np.testing.assert_allclose(chance(loss, z), chance(loss, here), atol=1e-9)
    assert moved == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", ["hull", "one", "chain", "conjunction"])
@pytest.mark.parametrize("seed", range(8))
def test_the_violation_is_the_largest_move_of_any_group_alone(seed, shape, loss):
    rng, members, patterns, weights = groups_of(seed, shape)
    for p in (rng.uniform(0.02, 0.98, len(weights)), np.full(len(weights), 0.98), np.full(len(weights), 0.02)):
        expected = 0.0
        for own, rows in zip(members, patterns, strict=True):
            z = slope(loss, p).copy()
            projector(loss, [own], [rows], np.ones(len(p))).sweep(z)
            expected = max(expected, np.abs(chance(loss, z) - p).max())
        found = projector(loss, members, patterns, weights).violation(slope(loss, p))
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("design", ["logical", "pairs"])
@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_the_problem_of_pairs_hold_at_any_iteration(seed, design):
    rng = np.random.default_rng(seed)
    part = max((p.merged for p in split(pose(random_panel(rng, 6, 20, 2)).merged)), key=len)
    least, own = objective(part, by_clarabel(part, find_design(design)(part))), part.functions
    for iterations, tolerance in ((0, 1e9), (1, 1e9), (2, 1e9), (4, 1e9), (1000, 1e9), (1000, 1e-9)):
        x, value, bound, _ = _core.solve_pairs(
            part.weight, part.mean, own.starts, own.variables, part.n_variables, own.table_starts, own.tables,
            design == "pairs", False, tolerance, iterations, 1,
        )  # fmt: skip
        assert value == pytest.approx(objective(part, x), rel=1e-9, abs=1e-9)
        assert bound <= least * (1 + 1e-8) + 1e-9
        assert value >= least * (1 - 1e-8) - 1e-9
        if tolerance < 1:
            assert value - bound <= 1e-8 * max(1.0, value)
