"""The engine of rows against an interior point method over all worlds."""

from __future__ import annotations

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pytest

from coherently import _core

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
    return (
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
    truth = _core.evaluate_worlds(*functions, worlds).astype(float)
    count = int(rng.integers(0, 4))
    pins, equal = sums(rng, count, size), rng.integers(0, 2, count).astype(np.uint8)
    engine = _core.RowEngine(*functions, seed, None, pins, equal)
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
        held = _core.evaluate_worlds(*functions, own).astype(float)
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1, abs=1e-12)
        missed = share @ in_worlds(pins, held)
        assert np.all(np.where(equal, np.abs(missed), np.maximum(0, -missed)) < 1e-12)
        value = share @ (held @ cost) + 0.5 * weight @ (share @ in_worlds(rows, held)) ** 2
        assert value == pytest.approx(engine.objective(), rel=1e-9, abs=1e-9)
        assert value == pytest.approx(problem.value, rel=1e-6, abs=1e-7)
        assert engine.level() - engine.least() <= 1e-9 * (1 + np.abs(engine.gradient()).sum())
