"""Checks of the exact method on many random panels: a slice in the tests, the full number in the campaign."""

import time
from contextlib import contextmanager

import numpy as np

import coherently as co
from coherently.problem import pose
from coherently.solve.component import component_table, nearest
from coherently.solve.worlds import grounds
from tests.solve.reference import every_world, nearest_point, truth


def random_panel(rng, n_variables, n_rows, most=4, weighted=True):
    """Forecasts of conjunctions, disjunctions and mixtures of one to `most` literals."""
    names = [f"v{i}" for i in range(n_variables)]
    rows = []
    for _ in range(n_rows):
        chosen = rng.choice(n_variables, size=min(n_variables, int(rng.integers(1, most + 1))), replace=False)
        literals = [("~" if rng.random() < 0.4 else "") + names[i] for i in chosen]
        text = literals[0]
        for literal in literals[1:]:
            text = f"({text}) {rng.choice(['&', '|', '^', '->'], p=[0.4, 0.4, 0.1, 0.1])} {literal}"
        probability = float(rng.choice([0.0, 1.0, 0.5, rng.random(), rng.random(), round(rng.random(), 1)]))
        weight = float(10 ** rng.uniform(0, 2)) if weighted else 1.0
        rows.append((f"j{rng.integers(3)}", text, probability, weight))
    return co.Panel.from_records(rows)


def sparse_panel(rng, variables):
    """One forecast at random of every variable, and of about twice as many conjunctions of two."""
    first = rng.integers(variables, size=2 * variables)
    second = (first + rng.integers(1, variables, size=2 * variables)) % variables
    pairs = {f"v{a} & v{b}" for a, b in zip(first.tolist(), second.tolist(), strict=True)}
    texts = [*(f"v{i}" for i in range(variables)), *sorted(pairs)]
    return co.Panel.from_records([("A", text, p) for text, p in zip(texts, rng.random(len(texts)), strict=True)])


def by_nnls(panel):
    """The nearest mixture of all worlds: the x of each merged event."""
    merged = pose(panel).merged
    return nearest_point(np.unique(truth(panel, merged.event), axis=0), merged.weight, merged.mean)


def check_result(panel, result, tolerance=1e-6):
    """Hold a result against its own worlds and, by enumeration, against every possible one."""
    merged = result.problem.merged
    x = mixture_of(panel, result)
    np.testing.assert_allclose(result.problem.as_written(x), result.solution.value, atol=1e-9)
    weighty = merged.weight > 0
    objective = float(np.sum((merged.weight * (x - merged.mean) ** 2)[weighty]))
    assert abs(objective - result.objective) <= 1e-9 * max(1, objective)
    assert result.lower_bound <= result.objective
    assert result.status == "optimal"
    assert result.gap <= tolerance * max(1, objective)
    return x


def mixture_of(panel, result):
    """The probabilities of the merged events in the worlds of a result, evaluated by the table of events."""
    merged = result.problem.merged
    x = np.zeros(len(merged))
    total = 0.0
    for weight, world in result.worlds:
        assert weight >= 0
        row = np.array([[world.get(name, False) for name in panel.events.variables]])
        x += weight * panel.events.evaluate(merged.event, row)[0]
        total += weight
    assert abs(total - 1) <= 1e-9
    return x


def check_agreement(seed, count, n_variables=10):
    """Exact answers equal an independent quadratic program over all worlds, in every probability."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(count):
        panel = random_panel(rng, int(rng.integers(1, n_variables + 1)), int(rng.integers(1, 40)))
        result = co.aggregate(panel, "exact")
        x = check_result(panel, result)
        weighty = result.problem.merged.weight > 0
        off = np.abs(x - by_nnls(panel))[weighty].max(initial=0.0)
        assert off <= 1e-7, (seed, off)
        assert co.verify(panel, result), seed
        worst = max(worst, off)
    return worst


def check_routes(seed, count):
    """Column generation with branch and bound or a relaxation agrees with dynamic programming."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        most = 2 if number % 2 else 3
        panel = random_panel(rng, int(rng.integers(11, 17)), int(rng.integers(30, 90)), most)
        exact = co.aggregate(panel, "exact")
        check_result(panel, exact)
        with without_elimination():
            searched = co.aggregate(panel, co.Exact(tolerance=1e-7))
        check_result(panel, searched, 1e-7)
        assert co.verify(panel, exact), seed
        assert co.verify(panel, searched), seed
        assert abs(searched.objective - exact.objective) <= 1e-7 * max(1, exact.objective)
        assert searched.lower_bound <= exact.objective * (1 + 1e-9)


@contextmanager
def without_elimination():
    """Answers come by local search and the proofs for large components."""
    eager, most = nearest.EAGER_STATES, grounds.MOST_STATES
    nearest.EAGER_STATES = grounds.MOST_STATES = 0
    try:
        with one_by_one():
            yield
    finally:
        nearest.EAGER_STATES, grounds.MOST_STATES = eager, most


@contextmanager
def one_by_one():
    """Every component, however small, goes to the general method."""
    most = component_table.MOST_WORLDS
    component_table.MOST_WORLDS = 0
    try:
        yield
    finally:
        component_table.MOST_WORLDS = most


def check_time_limits(seed, count):
    """Answers at forced limits are coherent and their bounds valid; gives the longest overrun past 10%, in seconds."""
    rng = np.random.default_rng(seed)
    longest = 0.0
    for _ in range(count):
        shape = [(50, 100), (100, 300), (60, 150), (150, 700), None][int(rng.integers(5))]
        if shape is None:
            panel = sparse_panel(rng, 1500)
        else:
            panel = co.simulate(variables=shape[0], judges=shape[1], seed=int(rng.integers(1000)))
        limit = float(rng.choice([0.0, 0.05, 0.2, 0.5, 1.0]))
        begun = time.perf_counter()
        result = co.aggregate(panel, co.Exact(time_limit=limit))
        longest = max(longest, time.perf_counter() - begun - 1.1 * limit)
        x = mixture_of(panel, result)
        np.testing.assert_allclose(result.problem.as_written(x), result.solution.value, atol=1e-9)
        better = co.aggregate(panel, co.Exact(time_limit=limit + 0.5, seed=1))
        assert result.lower_bound <= better.objective * (1 + 1e-12)
    return longest


def least_everywhere(panel, coefficients):
    """The least sum of coefficients of merged events over every world."""
    merged = pose(panel).merged
    return float((panel.events.evaluate(merged.event, every_world(panel)).astype(float) @ coefficients).min())
