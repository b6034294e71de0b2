"""Pools against their formulas, and what follows a pool."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

import coherently as co
from coherently.solve import Promise
from coherently.solve.measure import distance, probabilities
from coherently.solve.methods.averages import middle_mean, neyman_roughgarden, weighted_median
from coherently.solve.methods.pools import CLIP, EXCEPTIONS, OPTIONS, PARTITIONED
from tests.panels import TABLE_2
from tests.solve.reference import PROBABILITIES, WEIGHTS, coordinates, objective, panels

THREE = [("Alice", "p", 0.75), ("Bob", "p", 0.60), ("Chris", "p", 0.95)]
REPEATED = st.lists(st.tuples(PROBABILITIES, st.integers(1, 4)), min_size=1, max_size=8)


def pooled(rows, event="p", **options):
    return co.aggregate(co.Panel.from_records(rows), co.Pool(**options)).probability(event)


def test_numbers_of_the_first_example():
    assert pooled(THREE, kind="linear") == pytest.approx(0.766667, abs=1e-6)
    assert pooled(THREE, kind="log") == pytest.approx(0.815001, abs=1e-6)
    assert pooled(THREE, kind="median") == 0.75
    assert pooled(THREE, kind="trimmed", trim=0.4) == pytest.approx(0.75)
    odds = math.log(0.815001 / (1 - 0.815001))
    assert pooled(THREE, kind="extremised", exponent=2) == pytest.approx(1 / (1 + math.exp(-2 * odds)), abs=1e-6)
    assert pooled(THREE, kind="neyman-roughgarden", prior=0.3) == pytest.approx(0.3 + 1.415342 * 0.466667, abs=1e-5)


def test_constants_of_neyman_and_roughgarden():
    number = np.array([1.0, 2.0, 5.0, 10.0, (1 + math.sqrt(5)) / 2, 1e9])
    factor = neyman_roughgarden(np.full(6, 0.1), number, 0.0) / 0.1
    np.testing.assert_allclose(factor[:4], [1.0, 1.291503, 1.529013, 1.624953], atol=1e-6)
    n = 1.7
    direct = n * (math.sqrt(3 * n**2 - 3 * n + 1) - 2) / (n**2 - n - 1)
    np.testing.assert_allclose(neyman_roughgarden(np.array([0.1]), np.array([n]), 0.0) / 0.1, direct)
    assert factor[3] < factor[5] == pytest.approx(math.sqrt(3))
    assert np.isfinite(factor[4])


@pytest.mark.parametrize("kind", OPTIONS)
def test_p_and_its_complement_are_averaged_apart(kind):
    rows = [("A", "p", 0.6), ("B", "not p", 0.6), ("B", "p", 0.6), ("A", "p given q", 0.3)]
    result = co.aggregate(co.Panel.from_records(rows), kind)
    assert (result.status, result.coherence, result.method.name) == ("averaged", "none", kind)
    assert result.objective is result.lower_bound is result.guaranteed_improvement is None
    assert co.verify(result.panel, result)
    p, rest, given_q = result.solution.value.tolist()
    assert given_q == pytest.approx(0.3) or kind in ("extremised", "shrunk")
    if kind in PARTITIONED:
        assert (p, rest) == pytest.approx((0.5, 0.5))
    elif kind == "extremised":
        assert p == pytest.approx(rest) == pytest.approx(1 / (1 + 1.5 ** -math.sqrt(3)))
    elif kind == "shrunk":
        assert (p, rest) == pytest.approx([1 / (1 + 1.5 ** -(n / (n + 1))) for n in (2, 1)])
    elif kind == "neyman-roughgarden":
        assert (p, rest) == pytest.approx((0.5 + 0.1 * 1.291503, 0.6), abs=1e-6)
    else:
        assert (p, rest) == pytest.approx((0.6, 0.6))


@given(REPEATED, st.sampled_from(sorted(OPTIONS)))
def test_a_weight_is_as_many_forecasts(pairs, kind):
    if Promise.ADDS_WEIGHTS in EXCEPTIONS.get(kind, ()):
        return
    once = [("A", "p", p, float(n)) for p, n in pairs]
    often = [("A", "p", p, 1.0) for p, n in pairs for _ in range(n)]
    assert pooled(once, kind=kind) == pytest.approx(pooled(often, kind=kind), abs=1e-9)


@given(st.lists(PROBABILITIES, min_size=1, max_size=9), st.floats(0.05, 0.95), st.integers(1, 5))
def test_shrinking_adds_forecasts_at_the_prior(values, prior, shrink):
    rows = [("A", "p", p) for p in values]
    odds = [math.log(q / (1 - q)) for q in (min(max(p, CLIP), 1 - CLIP) for p in [*values, *([prior] * shrink)])]
    expected = 1 / (1 + math.exp(-sum(odds) / len(odds)))
    assert pooled(rows, kind="shrunk", shrink=shrink, prior=prior) == pytest.approx(expected, abs=1e-9)


def test_limits_of_shrinking():
    assert pooled(THREE, kind="shrunk", shrink=1e-12) == pytest.approx(pooled(THREE, kind="log"))
    assert pooled(THREE, kind="shrunk", shrink=1e12, prior=0.2) == pytest.approx(0.2)
    log_odds = 0.75 * math.log(0.815001 / (1 - 0.815001)) + 0.25 * math.log(0.3 / 0.7)
    assert pooled(THREE, kind="shrunk", prior=0.3) == pytest.approx(1 / (1 + math.exp(-log_odds)), abs=1e-6)
    # One forecast has nearly all of the weight, so there is about one.
    heavy = [("A", "p", 0.9, 1e6), ("B", "p", 0.1, 1.0)]
    assert pooled(heavy, kind="shrunk") == pytest.approx(1 / (1 + 9**-0.5), abs=1e-4)


@given(st.lists(PROBABILITIES, min_size=1, max_size=9))
def test_medians_and_trimmed_means_are_those_of_other_libraries(values):
    unit, p, ones = np.zeros(len(values), np.int32), np.array(values), np.ones(len(values))
    assert weighted_median(unit, p, ones, 1)[0] == pytest.approx(np.median(p), abs=1e-12)
    for cut in range((len(p) + 1) // 2):
        share = cut / len(p)
        expected = trim_mean(p, share + 1e-12)
        assert middle_mean(unit, p, ones, 1, share)[0] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 2), PROBABILITIES, WEIGHTS["some zero"]), min_size=1, max_size=12))
def test_units_are_kept_apart(rows):
    unit, p, w = (np.array(column) for column in zip(*rows, strict=True))
    for average in (weighted_median, lambda *a: middle_mean(*a, 0.3)):
        together = average(unit.astype(np.int32), p, w, 3)
        for u in range(3):
            mine = unit == u
            alone = average(np.zeros(mine.sum(), np.int32), p[mine], w[mine], 1)[0]
            np.testing.assert_allclose(together[u], alone, atol=1e-9)
            assert np.isnan(alone) == (w[mine].sum() == 0)


def test_median_splits_the_weight():
    w = np.array([1.0, 1.0, 2.0, 0.0])
    assert weighted_median(np.zeros(4, np.int32), np.array([0.1, 0.3, 0.9, 0.5]), w, 1)[0] == pytest.approx(0.6)


def test_certain_forecasts_have_finite_log_odds_and_a_note():
    rows = [("A", "p", 0.0), ("B", "p", 1.0), ("B", "q", 1.0), ("A", "r", 0.0), ("B", "r", 0.4)]
    result = co.aggregate(co.Panel.from_records(rows), co.Pool("log"))
    odds = (math.log(CLIP / (1 - CLIP)) + math.log(0.4 / 0.6)) / 2
    np.testing.assert_allclose(result.solution.value, [0.5, 1.0, 1 / (1 + math.exp(-odds))])
    assert result.note == f"Forecasts nearer than {CLIP} to 0 or 1, clipped for their log-odds: 4."


@given(st.lists(PROBABILITIES, min_size=1, max_size=9))
def test_the_clip_of_the_log_pool_is_no_floor(values):
    """It lies on the mean's side, or beyond it: never nearer to 1/2 than the mean on the same side."""
    rows = [("A", "p", p) for p in values]
    pool, mean = pooled(rows, kind="log"), float(np.mean(values))
    if (pool - 0.5) * (mean - 0.5) > 0:
        assert abs(pool - 0.5) >= abs(mean - 0.5) - 1e-9
    if len(set(values)) == 1:
        assert pool == pytest.approx(values[0], abs=1e-9)


def test_one_log_pool_everywhere():
    """The pool, the recipe and the row of a comparison clip at the same place."""
    panel = co.simulate(judges=6, variables=30, basic=20, compound=0, seed=4)
    pool = co.aggregate(panel, co.Pool("log")).solution.value
    recipe = co.aggregate(panel, co.Recipe("log", consensus=0, then=None)).solution.value
    np.testing.assert_array_equal(pool, recipe)
    scores, row = co.tune(panel).scores, co.compare(panel, ["log"], bootstrap=0)
    assert scores.value[scores.methods.index("Log pool")] == pytest.approx(row.value[-1], abs=1e-12)


@given(panels("some zero"), st.sampled_from(sorted(OPTIONS)))
def test_what_follows_a_pool_is_the_projection_of_it(panel, kind):
    plain = co.aggregate(panel, kind)
    result = co.aggregate(panel, co.Pool(kind, then=co.Exact()))
    known = ~np.isnan(plain.solution.value)
    texts, weight = panel.written.text, plain.problem.weight
    rows = [("pool", texts[i], float(plain.solution.value[i]), float(weight[i])) for i in np.flatnonzero(known)]
    if rows:
        direct = co.aggregate(co.Panel.from_records(rows), "exact")
        expected = [direct.probability(text) for i, text in enumerate(texts) if known[i]]
        np.testing.assert_allclose(result.solution.value[known], expected, atol=1e-5)
    assert (result.coherence, result.status, result.lower_bound) == ("global", "converged", None)
    merged = result.problem.merged
    assert result.objective == pytest.approx(objective(merged, coordinates(result.problem, result.solution.value)))
    assert co.verify(panel, result), co.verify(panel, result).problems


def test_linear_then_exact_is_exact():
    """Merged forecasts are what exact starts from, so the linear pool changes nothing."""
    panel = co.Panel.from_records(TABLE_2)
    result = co.aggregate(panel, co.Pool("linear", then=co.Exact()))
    np.testing.assert_allclose(result.solution.value, co.aggregate(panel, "exact").solution.value, atol=1e-9)
    assert result.method.name == "linear, then exact"
    assert result.note == "Made of the linear pool, at a weighted distance of 0.0416667 from it."
    local = co.aggregate(panel, co.Pool("median", then=co.AlternatingProjections()), "log")
    assert (local.coherence, local.groups, local.lower_bound) == ("local", "logical", None)


def test_normalised_partitions_sum_to_one():
    rows = [("A", "p & q", 0.4), ("A", "p & ~q", 0.4), ("B", "~p & q", 0.4), ("B", "~p & ~q", 0.8), ("B", "p", 0.4)]
    result = co.aggregate(co.Panel.from_records(rows), "normalised")
    np.testing.assert_allclose(result.solution.value, [0.2, 0.2, 0.2, 0.4, 0.4])
    nothing = co.aggregate(co.Panel.from_records([("A", "p", 0.0), ("A", "~p", 0.0)]), "normalised")
    np.testing.assert_allclose(nothing.solution.value, [0.5, 0.5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "mode"}, "unknown kind of pool 'mode'; the kinds are linear, log"),
        ({"kind": "log", "trim": 0.1}, "the pool log has no trim; trimmed can have it"),
        ({"kind": "trimmed", "trim": 0.5}, "trim is 0.5; it must be at least 0 and below 0.5"),
        ({"kind": "extremised", "exponent": 0}, "exponent is 0; it must be above 0"),
        ({"kind": "shrunk", "shrink": 0}, "shrink is 0; it must be above 0"),
        ({"kind": "log", "shrink": 1.0}, "the pool log has no shrink; shrunk can have it"),
        ({"kind": "shin", "prior": 0.5}, "the pool shin has no prior"),
        ({"kind": "neyman-roughgarden", "prior": 1.0}, "prior is 1.0; it must be above 0 and below 1"),
        ({"kind": "log", "then": co.Exact}, "it must be a method object, such as co.Exact()"),
        ({"kind": "log", "then": "exact"}, "then is 'exact'"),
    ],
)
def test_options_are_validated_on_construction(options, message):
    with pytest.raises(co.MethodError) as caught:
        co.Pool(**options)
    assert message in str(caught.value)


def test_pools_that_measure_nothing_go_with_no_other_loss():
    panel = co.Panel.from_records(THREE)
    with pytest.raises(co.MethodError, match="median averaging goes with the loss brier"):
        co.aggregate(panel, "median", "log")


@pytest.mark.parametrize("laws", [[], ["P(r) >= 0.35"], ["p -> r"]])
def test_conditionals_and_pins_after_a_pool(laws):
    """Every event has as many forecasts as weight, so the linear pool changes nothing for what follows."""
    rows = [("A", "p", 0.6), ("B", "p", 0.7), ("A", "p & q", 0.5), ("B", "q given p", 0.4), ("A", "r", 0.3)]
    panel = co.Panel.from_records([*rows, ("B", "~r", 0.6), ("A", "q", 0.3), ("B", "q given r", 0.8)], laws=laws)
    then = co.AlternatingProjections(correction="dykstra")
    result, direct = co.aggregate(panel, co.Pool("linear", then=then)), co.aggregate(panel, then)
    np.testing.assert_allclose(result.solution.value, direct.solution.value, atol=1e-7)
    x = probabilities(result.problem, result.solution)
    assert distance(result.problem, x, "linearised") == pytest.approx(direct.objective, abs=1e-7)
    assert result.objective == pytest.approx(distance(result.problem, x, result.conditionals))
