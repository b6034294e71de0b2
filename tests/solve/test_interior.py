from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.problem.groups.simple import Groups
from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.interior import interior_point
from tests.solve.reference import by_clarabel, members_of, violation
from tests.solve.test_bound import WEIGHTS, draw, grouped, worlds


def objective(weight, target, x):
    return np.nansum(weight * (x - target) ** 2)


def by_brute_force(weight, target, rows):
    """Project on the affine hull of each small set of vertices; keep the best that lies within the set."""
    root, best = np.sqrt(weight), None
    for size in range(1, rows.shape[1] + 2):
        for chosen in combinations(rows, min(size, len(rows))):
            base, edges = chosen[0], np.array(chosen[1:]).reshape(-1, rows.shape[1]) - chosen[0]
            share = np.linalg.lstsq((edges * root).T, root * (target - base))[0]
            if share.min(initial=0.0) >= -1e-12 and share.sum() <= 1 + 1e-12:
                x = base + share @ edges
                if best is None or objective(weight, target, x) < objective(weight, target, best):
                    best = x
    return best


def check(weight, target, groups, answer):
    reached = objective(weight, target, answer.x)
    unit = max(1.0, reached)
    assert answer.gap == reached - relaxed_bound(weight, target, groups, answer.forces)
    assert -1e-12 * unit <= answer.gap <= 1e-11 * unit
    assert violation(groups, answer.x) <= 1e-10
    assert np.all((answer.x >= 0) & (answer.x <= 1))
    pull = np.bincount(groups.members, answer.forces, len(weight))
    slope = np.where(weight > 0, 2 * weight * (answer.x - np.nan_to_num(target)), 0.0)
    inside = np.isin(np.arange(len(weight)), groups.members)
    np.testing.assert_allclose(pull[inside], slope[inside], atol=1e-9 * weight.max(initial=1.0))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_an_independent_solver(weights, seed):
    weight, target, groups, _ = draw(seed, weights, n_groups=1 + seed)
    answer = interior_point(weight, target, groups)
    check(weight, target, groups, answer)
    inside = np.isin(np.arange(len(weight)), groups.members)
    even = weights in {"flat", "hundred", "some zero"}
    other = np.where(inside, by_clarabel(SimpleNamespace(weight=weight, mean=target), groups, sharp=even), answer.x)
    unit = max(1.0, objective(weight, target, other))
    assert objective(weight, target, answer.x) == pytest.approx(objective(weight, target, other), abs=1e-9 * unit)
    assert np.sum(weight * (answer.x - other) ** 2) <= 1e-9 * unit
    if even:
        np.testing.assert_allclose(answer.x[weight > 0], other[weight > 0], atol=1e-7)


@given(st.integers(0, 10**6), st.sampled_from(["flat", "hundred", "six orders"]))
def test_one_group_agrees_with_brute_force(seed, weights):
    weight, target, _, truth = draw(seed, weights, n_variables=3, n_events=4, width=4)
    groups = grouped(truth, [np.arange(4)])
    answer = interior_point(weight, target, groups)
    check(weight, target, groups, answer)
    expected = by_brute_force(weight, target, groups.patterns[0])
    unit = max(1.0, objective(weight, target, expected))
    assert np.sum(weight * (answer.x - expected) ** 2) <= 1e-13 * unit


@given(st.integers(0, 10**6), st.sampled_from(sorted(WEIGHTS)), st.integers(1, 30))
def test_certifies_its_answer(seed, weights, n_groups):
    weight, target, groups, _ = draw(seed, weights, n_groups=n_groups)
    check(weight, target, groups, interior_point(weight, target, groups))


@given(st.integers(0, 10**6), st.sampled_from(sorted(WEIGHTS)), st.sampled_from([1e-8, 1e-3, 1.0]))
def test_other_forces_bound_no_better(seed, weights, strength):
    weight, target, groups, _ = draw(seed, weights)
    answer = interior_point(weight, target, groups)
    noise = strength * weight.max() * np.random.default_rng(seed).normal(size=len(groups.members))
    reached = objective(weight, target, answer.x)
    unit = max(1.0, reached, np.abs(noise).sum())
    assert relaxed_bound(weight, target, groups, answer.forces + noise) <= reached + 1e-12 * unit


@given(st.integers(0, 10**6), st.sampled_from(["flat", "hundred", "some zero"]), st.booleans())
def test_coherent_targets_stay(seed, weights, corner):
    weight, _, groups, truth = draw(seed, weights)
    rng = np.random.default_rng(seed)
    share = rng.permutation(np.eye(len(truth))[0]) if corner else rng.dirichlet(np.full(len(truth), 0.2))
    target = np.where(weight > 0, np.clip(share @ truth, 0.0, 1.0), np.nan)
    answer = interior_point(weight, target, groups)
    check(weight, target, groups, answer)
    np.testing.assert_allclose(answer.x[weight > 0], target[weight > 0], atol=1e-7)


@given(st.integers(0, 10**6), st.sampled_from(["flat", "hundred", "some zero"]), st.booleans())
def test_order_and_sides_do_not_matter(seed, weights, rounded):
    weight, target, groups, truth = draw(seed, weights)
    target = np.round(4 * target) / 4 if rounded else target
    rng = np.random.default_rng(seed)
    order, turned = rng.permutation(len(weight)), rng.random(len(weight)) < 0.5
    place = np.argsort(order)
    members = [rng.permutation(place[members]) for members, _ in rng.permutation(np.array(members_of(groups), object))]
    other = grouped(np.where(turned, 1 - truth, truth)[:, order], members)
    answer = interior_point(weight, target, groups)
    again = interior_point(weight[order], np.where(turned, 1 - target, target)[order], other)
    x = again.x[place]
    x = np.where(turned, 1 - x, x)
    np.testing.assert_allclose(x[weight > 0], answer.x[weight > 0], rtol=0, atol=1e-7)


PAIR = worlds(2)
AND_OR = np.column_stack([PAIR, PAIR.min(axis=1), PAIR.max(axis=1)])


@pytest.mark.parametrize(
    ("target", "members", "expected"),
    [
        ([0.2, 0.3, 0.5, 0.9], [[0, 1, 2], [0, 1, 3]], [0.4, 0.4, 0.4, 0.8]),
        ([0.9, 0.6, 0.1, 0.4], [[0, 1, 2], [0, 1, 3]], [0.62, 0.54, 0.16, 0.62]),
        ([0.2, 0.3, 0.5, 0.9], [[0, 1, 2, 3]], [0.425, 0.525, 0.275, 0.675]),
        ([0.9, 0.6, 0.1, 0.4], [[0, 1, 2, 3]], [0.65, 0.35, 0.35, 0.65]),
    ],
)
def test_worked_and_or(target, members, expected):
    groups = grouped(AND_OR, members)
    answer = interior_point(np.ones(4), np.array(target), groups)
    check(np.ones(4), np.array(target), groups, answer)
    np.testing.assert_allclose(answer.x, expected, atol=1e-10)


def test_worked_triangle():
    single = worlds(3)
    truth = np.column_stack([single, *(single[:, i] * single[:, j] for i, j in combinations(range(3), 2))])
    groups = grouped(truth, [np.arange(6)])
    target = np.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])
    answer = interior_point(np.ones(6), target, groups)
    np.testing.assert_allclose(answer.x, [5 / 12] * 3 + [1 / 12] * 3, atol=1e-10)
    assert objective(np.ones(6), target, answer.x) == pytest.approx(1 / 24, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_the_scale_of_the_weights_does_not_matter(scale):
    weight, target, groups, _ = draw(7, "hundred")
    answer, scaled = interior_point(weight, target, groups), interior_point(scale * weight, target, groups)
    np.testing.assert_allclose(scaled.x, answer.x, atol=1e-8)
    np.testing.assert_allclose(scaled.forces.sum(), scale * answer.forces.sum(), atol=1e-5 * scale)


def test_nine_orders_of_weights():
    for seed in range(10):
        _, target, groups, _ = draw(seed, "flat", n_groups=20)
        weight = 10 ** np.random.default_rng(seed).uniform(0, 9, len(target))
        check(weight, target, groups, interior_point(weight, target, groups))


def test_a_wide_group_whose_events_depend_on_each_other():
    single = worlds(8)
    pairs = [(single[:, i], single[:, j]) for i, j in combinations(range(8), 2)]
    forms = [f for a, b in pairs for f in (a * b, a * (1 - b), (1 - a) * b, np.maximum(a, b))]
    truth = np.column_stack([single, *forms])
    groups = grouped(truth, [np.arange(truth.shape[1])])
    rng = np.random.default_rng(0)
    weight, target = rng.uniform(1, 100, truth.shape[1]), rng.random(truth.shape[1])
    check(weight, target, groups, interior_point(weight, target, groups))


def test_coordinates_in_no_group_stay_and_weightless_ones_are_a_half():
    weight, target = np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.3, np.nan, 0.2, 0.6])
    groups = grouped(np.array([[0.0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]), [[2, 3]])
    answer = interior_point(weight, target, groups)
    np.testing.assert_allclose(answer.x, [0.3, 0.5, 0.4, 0.4], atol=1e-10)
    none = Groups(
        design="none",
        starts=np.zeros(1, np.int64),
        members=np.zeros(0, np.int32),
        pattern=np.zeros(0, np.int32),
        patterns=(),
    )
    np.testing.assert_array_equal(interior_point(weight, target, none).x, [0.3, 0.5, 0.2, 0.6])


def test_without_any_weight_the_answer_is_feasible():
    _, _, groups, _ = draw(3, "flat")
    answer = interior_point(np.zeros(12), np.full(12, np.nan), groups)
    assert violation(groups, answer.x) <= 1e-10
    assert answer.gap == pytest.approx(0.0, abs=1e-12)


def test_few_iterations_still_give_a_gap():
    weight, target, groups, _ = draw(1, "hundred")
    answer = interior_point(weight, target, groups, max_iterations=3)
    assert answer.iterations == 3
    assert answer.gap > 1e-9
