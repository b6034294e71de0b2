import itertools
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently import _core
from coherently.problem import find_design, pose
from coherently.solve import Status, budget
from coherently.solve.methods.annealing import MAX_BITS, _distinct
from tests.events import generate
from tests.panels import TABLE_2, TABLE_3
from tests.solve.reference import by_clarabel, coordinates, objective, panels, records
from tests.solve.slow_annealer import SlowAnnealer

FOUR = ("p", "q", "p & q", "p | q")
ROW_1, ROW_2 = (0.2, 0.3, 0.5, 0.9), (0.9, 0.6, 0.1, 0.4)
TRIANGLE = [
    *[("A", event, 0.5) for event in ("a", "b", "c")],
    *[("A", event, 0.0) for event in ("a & b", "a & c", "b & c")],
]


def anneal(panel, **options):
    return co.aggregate(panel, co.Annealing(**options))


def row(probabilities):
    return [("A", event, p) for event, p in zip(FOUR, probabilities, strict=True)]


def least(panel):
    """The least energy of all mixtures of worlds, by another solver."""
    merged = pose(panel).merged
    return objective(merged, by_clarabel(merged, find_design("global")(merged)))


def in_all_variables(panel, merged, truth):
    """Worlds over the variables of the events, in those of the panel: what no event is about is false."""
    _, used = panel.events.supports(merged.event // 2)
    worlds = np.zeros((len(truth), len(panel.events.variables)), bool)
    worlds[:, np.unique(used)] = truth
    return worlds


def shares(panel, merged, worlds):
    """The probabilities of the merged events in weighted worlds, evaluated by the table of events."""
    return worlds.weight @ panel.events.evaluate(merged.event, in_all_variables(panel, merged, worlds.truth))


def check_promises(panel, result, columns):
    """Hold an answer against its worlds."""
    solution, merged = result.solution, result.problem.merged
    worlds = solution.worlds[0]  # others are of variables that no event is about
    assert (result.coherence, result.lower_bound, result.guaranteed_improvement) == ("global", 0.0, None)
    used = np.unique(panel.events.supports(merged.event // 2)[1])
    assert worlds.truth.shape == (len(worlds.weight), len(used))
    assert worlds.truth.dtype == bool
    assert len(np.unique(worlds.truth, axis=0)) == len(worlds.truth)
    assert worlds.weight.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(worlds.weight * columns, np.round(worlds.weight * columns), rtol=0, atol=1e-9)
    x = shares(panel, merged, worlds)
    np.testing.assert_allclose(coordinates(result.problem, solution.value), x, rtol=0, atol=1e-12)
    assert result.objective == pytest.approx(objective(merged, x), rel=1e-12, abs=1e-12)


def columns_of(worlds, columns):
    """The worlds one by one, each as often as its weight says."""
    return np.repeat(worlds.truth, np.round(worlds.weight * columns).astype(int), axis=0)


def best_flip(panel, merged, truth):
    """The least energy that a single flip reaches, by trying all of them."""
    found = np.inf
    for column, variable in np.ndindex(truth.shape):
        truth[column, variable] ^= True
        held = panel.events.evaluate(merged.event, in_all_variables(panel, merged, truth))
        found = min(found, objective(merged, held.mean(axis=0)))
        truth[column, variable] ^= True
    return found


# Worked numbers


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (TABLE_2, (23 / 30, 11 / 60, 11 / 60)),
        (TABLE_3, (0.675, 0.15, 0.15)),
        (row(ROW_1), (0.425, 0.525, 0.275, 0.675)),
        (row(ROW_2), (0.65, 0.35, 0.35, 0.65)),
        (TRIANGLE, [5 / 12] * 3 + [1 / 12] * 3),
    ],
    ids=["Table 2", "Table 3", "four events", "four other events", "triangle"],
)
@pytest.mark.parametrize("columns", [10, 100, 1000, 10_000])
def test_the_answer_approaches_the_nearest_coherent_one_with_columns(rows, expected, columns):
    panel = co.Panel.from_records(rows)
    result = anneal(panel, columns=columns, steps=1000 * min(columns, 1000))
    assert result.status == "converged"
    np.testing.assert_allclose(result.solution.value, expected, rtol=0, atol=1.5 / columns)
    gap = result.objective - least(panel)
    assert -1e-9 <= gap <= panel.weight.sum() / columns**2


def test_steps_lessen_the_energy():
    panel = co.simulate(31, 10, seed=0)
    best = least(panel)
    found = [anneal(panel, columns=200, steps=steps).objective for steps in (0, 100_000, 1_000_000)]
    assert found[0] > found[1] > found[2] >= best
    assert found[2] <= 1.004 * best


# Any panel


@pytest.mark.parametrize("weights", ["flat", "hundred", "skewed", "some zero"])
@settings(max_examples=25)
@given(st.data())
def test_the_answer_is_what_its_worlds_say_and_near_the_least_energy(weights, data):
    panel = data.draw(panels(weights, most=5, max_size=15))
    columns = data.draw(st.sampled_from([1, 63, 64, 65, 500]))
    result = anneal(panel, columns=columns, seed=data.draw(st.integers(0, 2**64 - 1)))
    check_promises(panel, result, columns)
    assert result.status == "converged"
    best, unit = least(panel), max(1.0, panel.weight.sum())
    assert result.objective >= best - 1e-8 * unit
    if columns == 500:
        assert result.objective <= best + 1e-3 * unit


@settings(max_examples=40)
@given(st.data())
def test_no_flip_improves_where_the_method_converged(data):
    panel = data.draw(panels(data.draw(st.sampled_from(["flat", "skewed", "some zero"])), most=4, max_size=10))
    columns = data.draw(st.integers(1, 12))
    result = anneal(panel, columns=columns, steps=data.draw(st.integers(0, 500)))
    merged = result.problem.merged
    assert result.status == "converged"
    truth = columns_of(result.solution.worlds[0], columns)
    assert len(truth) == columns
    assert best_flip(panel, merged, truth) >= result.objective - 1e-12 * max(1.0, panel.weight.sum())


def wide_rows(seed):
    """Forecasts of cardinalities without a table, of tables of many words and of small events, of equal variables."""
    rng = random.Random(seed)
    names = [f"y{i}" for i in range(rng.randrange(17, 80))]
    texts = [generate.write(rng, generate.wide_cardinality(rng, names)) for _ in range(4)]
    texts += [
        " ^ ".join(rng.sample(names, 9)),
        " & ".join(rng.sample(names, 7)),
        f"exactly(8; {', '.join(names[:16])})",
    ]
    texts += ["y0", "y1 -> y0", f"y2 & ~{names[-1]} | y1"]
    return [("A", text, rng.random(), rng.choice([0.0, 1.0, 1.0, 5.0])) for text in texts]


@pytest.mark.parametrize("seed", range(8))
def test_large_events(seed):
    panel = co.Panel.from_records(wide_rows(seed))
    assert pose(panel).merged.sizes().max() > 16
    result = anneal(panel, columns=9, steps=3000, seed=seed)
    check_promises(panel, result, 9)
    assert result.status == "converged"
    truth = columns_of(result.solution.worlds[0], 9)
    assert best_flip(panel, result.problem.merged, truth) >= result.objective - 1e-10


# The kernel


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@settings(max_examples=10)
@given(rows=records("hundred", most=4, n_variables=5, max_size=8))
def test_the_kernel_is_the_slow_one_bit_by_bit(seed, rows):
    check_kernel(co.Panel.from_records(rows), 7, seed)


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_is_the_slow_one_on_large_events(seed):
    check_kernel(co.Panel.from_records(wide_rows(seed)), 5, seed)


def check_kernel(panel, columns, seed):
    merged = pose(panel).merged
    fast = make_kernel(merged, columns, seed)

    def evaluate(truth):
        return panel.events.evaluate(merged.event, in_all_variables(panel, merged, truth))

    slow = SlowAnnealer(merged, evaluate, columns, seed)
    np.testing.assert_array_equal(fast.worlds(), slow.truth)
    assert fast.roughness(5) == pytest.approx(slow.roughness(5), rel=1e-12)
    for temperature in (0.1, 0.01, 0.0):
        fast.advance(60, temperature)
        slow.advance(60, temperature)
        np.testing.assert_array_equal(fast.worlds(), slow.truth)
        np.testing.assert_array_equal(fast.counts(), evaluate(slow.truth).sum(axis=0))


def make_kernel(merged, columns, seed=0, **changes):
    functions = merged.functions
    arrays = {
        "starts": functions.starts,
        "variables": functions.variables,
        "word_starts": functions.table_starts,
        "words": functions.tables,
        "weight": merged.weight,
        "target": np.nan_to_num(merged.mean),
    } | changes
    weights = {name: arrays.pop(name) for name in ("weight", "target")}
    handle = _core.Functions(merged.n_variables, **arrays)
    return _core.Annealer(handle, **weights, columns=columns, seed=seed)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"starts": np.array([0, 1, 2, 5])}, "differ in length"),
        ({"starts": np.array([0, 2, 1, 4])}, "starts must ascend"),
        ({"word_starts": np.array([0, 0, 2, 3])}, "number of words"),
        ({"target": np.zeros(2)}, "wrong length"),
        ({"variables": np.array([0, 1, 1, 1], np.int32)}, "ascend within range"),
        ({"variables": np.array([0, 1, 0, 2], np.int32)}, "out of range"),
        ({"columns": 0}, "1 or more"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(changes, error):
    merged = pose(co.Panel.from_records(TABLE_2)).merged
    columns = changes.pop("columns", 3)
    with pytest.raises((ValueError, IndexError), match=error):
        make_kernel(merged, columns, **changes)


# Runs


def test_a_seed_settles_the_answer():
    panel = co.simulate(5, 12, seed=1)
    first, second, other = (anneal(panel, columns=100, steps=20_000, seed=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.solution.value, second.solution.value)
    np.testing.assert_array_equal(first.solution.worlds[0].truth, second.solution.worlds[0].truth)
    np.testing.assert_array_equal(first.solution.worlds[0].weight, second.solution.worlds[0].weight)
    assert np.any(first.solution.value != other.solution.value)


def test_the_scale_of_weights_does_not_matter():
    rows = [(*row, weight) for row, weight in zip(TABLE_2, (1, 2, 3) * 3, strict=True)]
    scaled = [(*row[:3], 1024.0 * row[3]) for row in rows]
    one, other = (anneal(co.Panel.from_records(part), columns=50, steps=5000) for part in (rows, scaled))
    np.testing.assert_array_equal(one.solution.value, other.solution.value)
    assert other.objective == pytest.approx(1024 * one.objective)


def test_progress_grows_to_the_end():
    told = []
    co.aggregate(co.Panel.from_records(TABLE_2), co.Annealing(100, steps=12_345), progress=told.append)
    assert told == sorted(told)
    assert (len(told), told[-1]) == (100, 1.0)


def test_an_interruption_gives_the_answer_so_far():
    panel = co.simulate(10, 12, seed=2)
    calls = []

    def interrupt(fraction):
        calls.append(fraction)
        if len(calls) == 60:
            raise KeyboardInterrupt

    result = co.aggregate(panel, co.Annealing(100, steps=100_000), progress=interrupt)
    assert (result.solution.status, len(calls)) == (Status.INTERRUPTED, 60)
    check_promises(panel, result, 100)
    start = anneal(panel, columns=100, steps=0, passes=0)
    assert result.objective < start.objective


def test_a_limit_of_no_time_gives_the_start():
    panel = co.simulate(10, 12, seed=2)
    result = anneal(panel, columns=50, time_limit=0.0)
    assert result.solution.status is Status.TIME_LIMIT
    check_promises(panel, result, 50)
    assert result.objective == anneal(panel, columns=50, steps=0, passes=0).objective


@pytest.mark.parametrize("looks", [30, 94, 101])
def test_the_time_limit_ends_cooling_and_descent(looks, monkeypatch):
    """A clock that goes on by a second at each look: 90 of 100 seconds are for cooling, which needs 100 looks."""
    clock = itertools.count()
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    panel = co.simulate(10, 12, seed=2)
    result = anneal(panel, columns=100, steps=20_000, time_limit=float(looks))
    assert result.solution.status is Status.TIME_LIMIT
    assert next(clock) <= looks + 4  # one look each when the limit and the share of cooling are set
    check_promises(panel, result, 100)
    assert result.objective < anneal(panel, columns=100, steps=0, passes=0).objective
    assert anneal(panel, columns=100, steps=20_000, time_limit=1e9).solution.status is Status.CONVERGED


def test_a_descent_cut_short_says_so():
    panel = co.simulate(10, 12, seed=2)
    for passes, status in ((0, Status.PASS_LIMIT), (1, Status.PASS_LIMIT), (100, Status.CONVERGED)):
        result = anneal(panel, columns=50, steps=0, passes=passes)
        assert result.solution.status is status
        check_promises(panel, result, 50)


def test_weightless_and_constant_events():
    rows = [("A", "p", 0.9, 1.0), ("A", "p & q", 0.1, 0.0), ("A", "true", 0.5, 2.0), ("A", "r ^ ~r", 0.3, 0.0)]
    panel = co.Panel.from_records(rows)
    result = anneal(panel, columns=100)
    check_promises(panel, result, 100)
    np.testing.assert_allclose(result.solution.value[[0, 2]], [0.9, 1.0], rtol=0, atol=1e-12)
    assert 0 < result.solution.value[1] < 0.9
    assert result.objective == pytest.approx(0.5)
    constant = anneal(co.Panel.from_records([("A", "true", 0.25)]))
    assert (constant.status, constant.objective) == ("converged", pytest.approx(0.5625))
    assert (constant.solution.worlds[0].weight.tolist(), constant.solution.worlds[0].truth.shape) == ([1.0], (1, 0))


def test_equal_worlds_are_one():
    worlds = _distinct(np.array([[True, False], [True, True], [True, False], [True, False]]))
    assert dict(zip(map(tuple, worlds.truth.tolist()), worlds.weight.tolist(), strict=True)) == {
        (True, False): 0.75,
        (True, True): 0.25,
    }


def test_each_judge_alone():
    coherent = co.individual(co.Panel.from_records(TABLE_2), co.Annealing(columns=100))
    expected = [0.75, 0.6, 0.95, 0.2, 0.1, 0.3, 0.1, 0.1, 0.3]
    np.testing.assert_allclose(coherent.probability, expected, rtol=0, atol=1e-9)


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": 0}, "columns is 0; it must be a whole number from 1 to 100,000"),
        ({"columns": 100_001}, "columns is 100001; it must be a whole number from 1 to 100,000"),
        ({"columns": 2.5}, "columns is 2.5; it must be a whole number"),
        ({"steps": -1}, "steps is -1; it must be a whole number from 0 to"),
        ({"seed": -1}, "seed is -1; it must be a whole number from 0 to"),
        ({"seed": 2**64}, "seed is 18446744073709551616; it must be"),
        ({"passes": -1}, "passes is -1; it must be a whole number from 0 to"),
        ({"temperature": -0.1}, "temperature is -0.1; it must be a number of 0 or more"),
        ({"temperature": float("inf")}, "temperature is inf; it must be"),
        ({"temperature": float("nan")}, "temperature is nan; it must be"),
        ({"cooling": 0.0}, "cooling is 0.0; it must be above 0 and at most 1"),
        ({"time_limit": -1.0}, "time_limit is -1.0; it must be a number of seconds, 0 or more"),
        ({"cooling": 1.1}, "cooling is 1.1; it must be above 0 and at most 1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(co.MethodError) as raised:
        co.Annealing(**options)
    assert message in str(raised.value)


def test_what_annealing_cannot_do_is_refused():
    for loss in ("log", "spherical"):
        with pytest.raises(co.MethodError, match=f"only the loss brier, not {loss}"):
            co.aggregate(co.Panel.from_records(TABLE_2), "annealing", loss)
    many = co.Panel.from_records([("A", f"v{i}", 0.5) for i in range(5001)])
    with pytest.raises(co.MethodError, match=f"choose at most {MAX_BITS // 5001:,} columns"):
        anneal(many, columns=100_000)
