"""Only the ratios of weights matter, whatever their size."""

import numpy as np
import pytest

import coherently as co

ROWS = [("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2), ("B", "~p", 0.6)]
SCALES = (1e-320, 1e-300, 1e-160, 1e-50, 1e-15, 1e-6, 1e6, 1e15, 1e50, 1e160, 1e300, 1.7e308)


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("method", ["exact", "dykstra", "projections"])
def test_a_factor_of_all_weights_changes_nothing(method, loss):
    plain = co.aggregate(co.Panel.from_records(ROWS), method, loss)
    for scale in SCALES:
        found = co.aggregate(co.Panel.from_records([(*row, scale) for row in ROWS]), method, loss)
        np.testing.assert_allclose(found.solution.value, plain.solution.value, rtol=0, atol=1e-12)
        assert found.status == plain.status
        rounding = 1e-9 if scale > 1e-300 else 0.5  # of numbers with few digits left
        assert found.objective == pytest.approx(scale * plain.objective, rel=rounding)
        assert _same(found.lower_bound, plain.lower_bound, scale, rounding)
        # A promise is less by the root of a gap that is rounding.
        assert _same(found.guaranteed_improvement, plain.guaranteed_improvement, scale, max(1e-6, rounding))


def _same(one, other, scale, rounding):
    return one is other is None or one == pytest.approx(scale * other, rel=rounding)


def test_a_power_of_two_changes_no_bit():
    for power in (-1000, -5, 7, 900):
        rows = [(*row, w) for row, w in zip(ROWS, (3.0, 0.7, 2.0, 1.1), strict=True)]
        one = co.aggregate(co.Panel.from_records(rows))
        other = co.aggregate(co.Panel.from_records([(*row[:3], float(np.ldexp(row[3], power))) for row in rows]))
        np.testing.assert_array_equal(one.solution.value, other.solution.value)
        assert np.ldexp(one.objective, power) == other.objective
        assert [np.ldexp(c.lower_bound, power) for c in one.components] == [c.lower_bound for c in other.components]


@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e12, 1e15, 1e16, 1e20, 1e100, 1e300])
def test_light_forecasts_matter_beside_heavy_ones(heavy):
    rows = [("A", "p", 0.9, heavy), ("A", "q", 0.8, 1.0), ("A", "p & q", 0.2, 1.0)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    assert result.solution.value == pytest.approx([0.9, 0.55, 0.45], abs=1e-6)
    assert result.lower_bound <= 0.125
    expected = sum(w * (x - p) ** 2 for (_, _, p, w), x in zip(rows, result.solution.value, strict=True))
    assert result.objective == pytest.approx(expected, rel=1e-9)
    if heavy <= 1e15:
        assert result.status == "optimal"
    assert result.status in ("optimal", "unproved")  # never the clock
    assert result.gap <= 1e-6 or result.status == "unproved"
    if heavy > 1e10:
        assert "2^33" in result.note


@pytest.mark.parametrize("seed", range(30))
def test_trees_with_weights_of_twelve_orders_of_magnitude_are_proved(seed):
    rng = np.random.default_rng(seed)
    rows = []
    for v in range(int(rng.integers(3, 16))):
        rows.append((f"v{v}", rng.random(), 10 ** rng.uniform(-4, 8)))
        if v:
            other, op = rng.integers(v), rng.choice(["&", "|", "->", "^"])
            rows.append((f"v{v} {op} v{other}", rng.random(), 10 ** rng.uniform(-4, 8)))
    panel = co.Panel.from_records([("A", event, float(p), float(w)) for event, p, w in rows])
    assert co.aggregate(panel, "exact").status == "optimal"


def test_weights_at_the_end_of_the_doubles_go_through_bounds_books_and_the_verifier():
    rows = [("A", "p", 0.9, 5e307), ("A", "q", 0.8, 5e307), ("A", "p & q", 0.2, 5e307), ("B", "p", 0.6, 5e307)]
    panel = co.Panel.from_records(rows)
    for method in ("exact", "dykstra"):
        assert co.verify(panel, co.aggregate(panel, method))
    low, high = co.aggregate(panel, "exact").bounds("p | q")
    assert 0 <= low <= high <= 1
    assert (
        co.dutch_book(panel).sure_profit == co.dutch_book(co.Panel.from_records([row[:3] for row in rows])).sure_profit
    )
