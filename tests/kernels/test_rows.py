"""The engine of rows against an interior point method over all worlds."""

from __future__ import annotations

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest

from coherently import _core
from coherently.solve.component.objective import Model
from tests.kernels.draw import draw, with_laws

VARIABLES = 4


def events(rng, count):
    """Random functions of two or three of the variables, false where all of them are."""
    starts, variables, words = [0], [], []
    for _ in range(count):
        own = np.sort(rng.choice(VARIABLES, int(rng.integers(1, 4)), replace=False))
        table = int(rng.integers(1, 2 ** (2 ** len(own) - 1))) << 1
        variables.extend(own.tolist())
        starts.append(len(variables))
        words.append(table)
    return _core.Functions(
        VARIABLES,
        np.array(starts, np.int64),
        np.array(variables, np.int32),
        np.arange(count + 1, dtype=np.int64),
        np.array(words, np.uint64),
    )


def sums(rng, count, size):
    """Random sums of two sides of events."""
    return (
        2 * np.arange(count + 1, dtype=np.int64),
        rng.integers(0, size, 2 * count).astype(np.int32),
        rng.integers(0, 2, 2 * count).astype(np.uint8),
        rng.choice([1.0, -0.3, 0.7], 2 * count),
        -rng.random(count),
    )


def in_worlds(arrays, truth):
    starts, coordinates, turned, factors, offset = arrays
    sides = np.where(turned, 1.0 - truth[:, coordinates], truth[:, coordinates]) * factors
    return np.add.reduceat(sides, starts[:-1], axis=1) + offset if len(offset) else np.zeros((len(truth), 0))


def reference(cost, rows, weight, pins, equal, truth):
    share = cp.Variable(len(truth), nonneg=True)
    value = share @ (truth @ cost) + 0.5 * cp.sum_squares(
        cp.multiply(np.sqrt(weight), in_worlds(rows, truth).T @ share)
    )
    kept = in_worlds(pins, truth)
    constraints = [cp.sum(share) == 1]
    constraints += [share @ kept[:, t] == 0 if equal[t] else share @ kept[:, t] >= 0 for t in range(len(equal))]
    problem = cp.Problem(cp.Minimize(value), constraints)
    for tolerance in (1e-11, 1e-9, 1e-8):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
            problem.solve(solver=cp.CLARABEL, **options)
        if problem.status in (cp.OPTIMAL, cp.INFEASIBLE):
            break
    return problem


@pytest.mark.parametrize("seed", range(60))
def test_the_best_mixture_is_that_of_an_independent_solver(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    functions = events(rng, size)
    worlds = np.array(list(itertools.product([0, 1], repeat=VARIABLES)), np.uint8)
    truth = functions.evaluate(worlds).astype(float)
    count = int(rng.integers(0, 4))
    pins, equal = sums(rng, count, size), rng.integers(0, 2, count).astype(np.uint8)
    engine = _core.RowEngine(functions, seed, None, pins, equal)
    engine.include(worlds[:1])
    for _ in range(3):  # the model changes, worlds and shares survive
        cost = rng.normal(size=size) * rng.choice([0.0, 0.1, 1.0])
        rows = sums(rng, int(rng.integers(1, 8)), size)
        weight = 10.0 ** rng.uniform(-3, 6, len(rows[4]))
        problem = reference(cost, rows, weight, pins, equal, truth)
        engine.set(cost, rows, weight)
        assert engine.eliminate(10.0, 0.0)
        if problem.status != cp.OPTIMAL:
            assert engine.missing() > 1e-9
            return
        assert engine.is_feasible()
        share, own = engine.worlds()
        held = functions.evaluate(own).astype(float)
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1, abs=1e-12)
        missed = share @ in_worlds(pins, held)
        assert np.all(np.where(equal, np.abs(missed), np.maximum(0, -missed)) < 1e-12)
        value = share @ (held @ cost) + 0.5 * weight @ (share @ in_worlds(rows, held)) ** 2
        assert value == pytest.approx(engine.objective(), rel=1e-9, abs=1e-9)
        assert value == pytest.approx(problem.value, rel=1e-6, abs=1e-7)
        assert engine.level() - engine.least() <= 1e-9 * (1 + np.abs(engine.gradient()).sum())


def large(seed):
    """A model of many events, whose best mixture takes many rounds."""
    rng = np.random.default_rng(seed)
    some = draw(rng, 12, 60)
    if seed % 2:
        some = with_laws(rng, some)
    size = len(some.variables)
    rows, cost = sums(rng, 80, size), rng.normal(size=size)
    pins = sums(rng, 1, size)
    pins[4][:] = -in_worlds(pins, some.truth(some.worlds()).astype(float)).mean() + pins[4]
    return some, cost, rows, 10.0 ** rng.uniform(-1, 3, len(rows[4])), pins


def engine_of(some, seed, pins):
    return _core.RowEngine(some.handle, seed, some.core_space(), pins, np.ones(len(pins[4]), np.uint8))


@pytest.mark.parametrize("work", ["search", "eliminate"])
@pytest.mark.parametrize("seed", range(6))
def test_work_in_slices_ends_where_work_at_once_does(seed, work):
    some, cost, rows, weight, pins = large(seed)
    ends, slices = [], 0
    for seconds in (60.0, 2e-5):
        engine = engine_of(some, seed, pins)
        engine.set(cost, rows, weight)
        while not (engine.eliminate(seconds, 0.0) if work == "eliminate" else engine.search(seconds, 0.0, 2)):
            slices += 1
        ends.append((engine.sides(), engine.prices(), *engine.worlds()))
    assert slices > 1
    for whole, sliced in zip(*ends, strict=True):
        np.testing.assert_array_equal(sliced, whole)


@pytest.mark.parametrize("seed", range(6))
def test_search_finds_the_mixture_of_elimination(seed):
    some, cost, rows, weight, pins = large(seed)
    best, other = engine_of(some, seed, pins), engine_of(some, seed, pins)
    for engine in (best, other):
        engine.set(cost, rows, weight)
    assert best.eliminate(60.0, 0.0)
    assert other.search(60.0, 0.0, 4)
    assert best.is_feasible()
    assert other.is_feasible()
    assert best.objective() <= other.objective() + 1e-9 * (1 + abs(best.objective()))
    assert other.objective() == pytest.approx(best.objective(), rel=1e-6, abs=1e-6)
    worlds = other.worlds()[1].astype(bool)
    assert (worlds[:, None] == some.worlds().astype(bool)[None]).all(axis=2).any(axis=1).all()


@pytest.mark.parametrize("seed", range(6))
def test_search_ends_at_a_goal_and_soon_where_there_is_none_to_reach(seed):
    some, cost, rows, weight, pins = large(seed)
    best, other, beyond = (engine_of(some, seed, pins) for _ in range(3))
    for engine in (best, other, beyond):
        engine.set(cost, rows, weight)
    assert best.eliminate(60.0, 0.0)
    goal = best.objective() + 0.05 * abs(best.objective())
    assert other.search(60.0, 0.0, 4, 0.0, goal)
    assert best.objective() + 1e-6 < other.objective() <= goal
    assert beyond.search(60.0, 0.0, 4, 0.0, best.objective() - 1.0)
    assert beyond.is_feasible()
    away = beyond.objective() - best.objective()
    assert -1e-9 * (1 + abs(best.objective())) <= away <= 0.05 * (1.0 + abs(best.objective()))


@pytest.mark.parametrize("seed", range(6))
def test_the_value_of_a_model_is_the_objective_of_its_mixture(seed):
    some, cost, rows, weight, pins = large(seed)
    engine = engine_of(some, seed, pins)
    engine.set(cost, rows, weight)
    assert engine.eliminate(60.0, 0.0)
    sides = np.append(engine.sides(), 1.0)[: 2 * len(cost) + 1]
    assert Model(cost, rows, weight).value(sides) == pytest.approx(engine.objective(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("bend", [0.0, 1e-16, 1e-12, 1e-6])
@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e6])
def test_a_model_that_hardly_bends_keeps_its_shares(bend, cost):
    functions = events(np.random.default_rng(0), 3)
    worlds = np.array(list(itertools.product([0, 1], repeat=VARIABLES)), np.uint8)
    truth = functions.evaluate(worlds).astype(float)
    none = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0), np.empty(0))
    costs = cost * np.array([1.0, -0.7, 0.4])
    for start in (worlds[:1], worlds[5:6], worlds[3:9]):
        engine = _core.RowEngine(functions, 0, None, none, np.empty(0, np.uint8))
        engine.include(np.ascontiguousarray(start))
        # In every world the row has the value of its offset.
        rows = (np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.uint8), np.zeros(1), np.full(1, bend))
        engine.set(costs, rows, np.ones(1))
        assert engine.worlds()[0].sum() == pytest.approx(1, abs=1e-12)
        assert engine.eliminate(10.0, 0.0)
        assert engine.worlds()[0].sum() == pytest.approx(1, abs=1e-12)
        assert engine.objective() == pytest.approx((truth @ costs).min(), abs=1e-9 * cost)


@pytest.mark.parametrize("seed", range(40))
def test_shares_are_those_of_a_mixture_whatever_the_weights(seed):
    rng = np.random.default_rng(seed)
    some = draw(rng, 5, 8, 3)
    size = len(some.variables)
    none = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0), np.empty(0))
    engine = _core.RowEngine(some.handle, seed, None, none, np.empty(0, np.uint8))
    rows = sums(rng, 6, size)
    for exponent in range(8):
        weight = 10.0 ** (exponent * rng.choice([-1, 0, 1], len(rows[4])))
        engine.set(rng.normal(size=size) * 10.0 ** -rng.integers(0, 8), rows, weight)
        done = False
        while not done:
            done = engine.eliminate(1e-6, 0.0)
            share, worlds = engine.worlds()
            assert share.sum() == pytest.approx(1, abs=1e-9)
            np.testing.assert_allclose(engine.sides()[:size], share @ some.truth(worlds), atol=1e-9)
