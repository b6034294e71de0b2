"""Orders and band matrices of the compiled core against brute force and dense algebra."""

import itertools

import numpy as np
import pytest

from coherently import _core


def draw(rng, kind):
    count = int(rng.integers(1, 8))
    if kind == "chain":
        pairs = [(i, i + 1) for i in range(count - 1)]
    elif kind == "forest":
        pairs = [(i, int(rng.integers(i)))[:: int(rng.choice([1, -1]))] for i in range(1, count) if rng.random() < 0.9]
    else:
        pairs = [(i, j) for i in range(count) for j in range(count) if i != j and rng.random() < 0.25]
    first, second = (np.array([pair[k] for pair in pairs], np.int32) for k in (0, 1))
    return _core.Order(count, first, second), closed_sets(count, pairs)


def closed_sets(count, pairs):
    rows = np.array(list(itertools.product((0, 1), repeat=count)), np.uint8)
    return rows[[all(row[i] <= row[j] for i, j in pairs) for row in rows]]


def slow_isotonic(sets, value, weight):
    """The greatest, over closed sets with an event, of the least mean over what is left without another closed set."""
    found = np.empty(len(value))
    for i in range(len(value)):
        above = [row.astype(bool) for row in sets if row[i]]
        without = [row.astype(bool) for row in sets if not row[i]]
        found[i] = max(
            min(np.average(value[upper & ~lower], weights=weight[upper & ~lower]) for lower in without)
            for upper in above
        )
    return found


@pytest.mark.parametrize("kind", ["chain", "forest", "any"])
def test_the_least_world_is_the_least_of_all_closed_sets(kind):
    rng = np.random.default_rng(1)
    for _ in range(200):
        order, sets = draw(rng, kind)
        cost = rng.normal(size=sets.shape[1]) * 10 ** rng.uniform(-3, 3)
        world, bound = order.least(cost)
        least = (sets @ cost).min()
        assert world.tolist() in sets.tolist()
        np.testing.assert_allclose(world @ cost, least, atol=1e-12 * np.abs(cost).sum())
        assert least - 1e-12 * np.abs(cost).sum() <= bound <= least


@pytest.mark.parametrize("kind", ["chain", "forest", "any"])
def test_isotonic_regression_is_the_greatest_of_least_means(kind):
    rng = np.random.default_rng(2)
    for _ in range(200):
        order, sets = draw(rng, kind)
        value, weight = rng.normal(size=sets.shape[1]).round(1), 10 ** rng.uniform(-2, 2, sets.shape[1])
        np.testing.assert_allclose(order.isotonic(value, weight), slow_isotonic(sets, value, weight), atol=1e-10)


@pytest.mark.parametrize("kind", ["chain", "forest", "any"])
def test_events_without_weight_take_part_in_the_order_alone(kind):
    rng = np.random.default_rng(3)
    for _ in range(200):
        order, sets = draw(rng, kind)
        value, weight = rng.normal(size=sets.shape[1]), rng.random(sets.shape[1]) * (rng.random(sets.shape[1]) < 0.6)
        light = np.where(weight > 0, weight, 1e-9)
        fitted = order.isotonic(value, weight)
        if weight.any():
            lost, least = (weight @ (x - value) ** 2 for x in (fitted, order.isotonic(value, light)))
            assert lost <= least + 1e-12
        for i, j in order.implications():
            node = order.nodes()
            assert fitted[node == i].max() <= fitted[node == j].min()


def test_deep_trees_and_large_orders_agree_with_their_conditions():
    """The multipliers of isotonic regression are flows: no closed set has a negative sum of slopes."""
    rng = np.random.default_rng(4)
    for count, kind in ((3_000, "tree"), (3_000, "path"), (600, "any")):
        child = np.arange(1, count)
        parent = child - 1 if kind == "path" else (rng.random(count - 1) * child).astype(int)
        first, second = np.where(rng.random(count - 1) < 0.5, [child, parent], [parent, child])
        if kind == "any":
            low, high = np.sort(rng.integers(count, size=(2, 3 * count)), axis=0)
            first, second = low[low < high], high[low < high]
        order = _core.Order(count, first.astype(np.int32), second.astype(np.int32))
        value, weight = 2.0 ** -rng.integers(0, 40, count).astype(float), 10 ** rng.uniform(-2, 2, count)
        x = order.isotonic(value, weight)
        assert (x[first] <= x[second]).all()
        slope = weight * (x - value)
        np.testing.assert_allclose(order.least(slope)[1], slope @ x - slope @ x, atol=1e-10 * weight.sum())
        np.testing.assert_allclose(slope @ x, 0, atol=1e-10 * weight.sum())


def test_inner_levels_rise_along_every_implication():
    rng = np.random.default_rng(5)
    for _ in range(100):
        order, _ = draw(rng, "any")
        levels = order.inner_levels()
        assert ((levels > 0) & (levels < 1)).all()
        for i, j in order.implications():
            assert levels[i] < levels[j]


def test_band_factors_solve_and_refuse():
    rng = np.random.default_rng(6)
    for _ in range(50):
        size = int(rng.integers(1, 30))
        width = int(rng.integers(0, size))
        root = np.tril(np.triu(rng.normal(size=(size, size)), -width)) + 3 * np.eye(size)
        matrix = root @ root.T
        band = np.array([[matrix[j + d, j] if j + d < size else 0.0 for d in range(width + 1)] for j in range(size)])
        factor = _core.BandFactor(size, width, band.ravel())
        right = rng.normal(size=size)
        np.testing.assert_allclose(matrix @ factor.solve(right), right, atol=1e-9 * np.abs(matrix).max())
    assert not _core.BandFactor(2, 1, np.array([1.0, 2.0, 1.0, 0.0])).is_positive


def test_numbers_along_a_band_keep_neighbours_near():
    rng = np.random.default_rng(7)
    size = 200
    names = rng.permutation(size).astype(np.int32)
    number = _core.band_order(size, names[:-2], names[2:])
    assert sorted(number.tolist()) == list(range(size))
    assert np.abs(number[names[:-2]] - number[names[2:]]).max() <= 2


def test_ends_out_of_range_are_refused():
    ends = np.array([2], np.int32), np.array([0], np.int32)
    with pytest.raises(IndexError, match="out of range"):
        _core.Order(2, *ends)
    with pytest.raises(IndexError, match="out of range"):
        _core.band_order(2, *ends)
    with pytest.raises(ValueError, match="wrong length"):
        _core.Order(3, *ends).least(np.zeros(2))
