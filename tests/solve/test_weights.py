"""Only the ratios of weights matter, whatever their size."""

import json
from fractions import Fraction

import numpy as np
import pytest

import coherently as co
from coherently.panel.columnar.cell_values import HEAVIEST, LIGHTEST
from coherently.problem import unit_of

ROWS = [("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2), ("B", "~p", 0.6)]
SCALES = (1e-50, 1e-49, 1e-30, 1e-15, 1e-6, 1e6, 1e15, 1e30, 1e50)


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("method", ["exact", "dykstra", "projections"])
def test_a_factor_of_all_weights_changes_nothing(method, loss):
    plain = co.aggregate(co.Panel.from_records(ROWS), method, loss)
    for scale in SCALES:
        found = co.aggregate(co.Panel.from_records([(*row, scale) for row in ROWS]), method, loss)
        np.testing.assert_allclose(found.solution.value, plain.solution.value, rtol=0, atol=1e-12)
        assert found.status == plain.status
        assert found.objective == pytest.approx(scale * plain.objective, rel=1e-9)
        assert _same(found.lower_bound, plain.lower_bound, scale, 1e-9)
        # A promise is less by the root of a gap that is rounding.
        assert _same(found.guaranteed_improvement, plain.guaranteed_improvement, scale, 1e-6)


def _same(one, other, scale, rounding):
    return one is other is None or one == pytest.approx(scale * other, rel=rounding)


def test_a_power_of_two_changes_no_bit():
    for power in (-160, -5, 7, 160):
        rows = [(*row, w) for row, w in zip(ROWS, (3.0, 0.7, 2.0, 1.1), strict=True)]
        one = co.aggregate(co.Panel.from_records(rows))
        other = co.aggregate(co.Panel.from_records([(*row[:3], float(np.ldexp(row[3], power))) for row in rows]))
        np.testing.assert_array_equal(one.solution.value, other.solution.value)
        assert np.ldexp(one.objective, power) == other.objective
        assert [np.ldexp(c.lower_bound, power) for c in one.components] == [c.lower_bound for c in other.components]


@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e12, 1e15, 1e16, 1e20, 1e50])
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


@pytest.mark.parametrize("weight", [LIGHTEST, HEAVIEST])
def test_weights_at_the_ends_of_their_range_go_through_bounds_books_and_the_verifier(weight):
    rows = [("A", "p", 0.9, weight), ("A", "q", 0.8, weight), ("A", "p & q", 0.2, weight), ("B", "p", 0.6, weight)]
    panel = co.Panel.from_records(rows)
    for method in ("exact", "dykstra"):
        assert co.verify(panel, co.aggregate(panel, method))
    low, high = co.aggregate(panel, "exact").bounds("p | q")
    assert 0 <= low <= high <= 1
    assert (
        co.dutch_book(panel).sure_profit == co.dutch_book(co.Panel.from_records([row[:3] for row in rows])).sure_profit
    )


# ---------------------------------------------------------------- weights far apart


class Star:
    """Forecasts of some variables and of their conjunction; exactly, the nearest coherent ones.

    If every variable has a low forecast, the only rule that binds is that the conjunction t is at most each variable:
    what is lost is w (t - b)^2 plus the sum of w_i (t - a_i)^2 over the variables with a_i < t.
    """

    def __init__(self, seed):
        rng = np.random.default_rng([2712, seed])
        count = int(rng.integers(1, 5))
        levels = 10.0 ** rng.uniform(-50, 50, 3) if rng.random() < 0.5 else [1.0, 1e-30, 1e-18, 1e12, 1e20]
        weights = [float(rng.choice(levels) * rng.choice([1, 2, 7])) for _ in range(count + 1)]
        self.weight = [min(max(w, LIGHTEST), HEAVIEST) for w in weights]
        self.p = [round(float(rng.uniform(0, 0.2)), 3) for _ in range(count)] + [round(float(rng.uniform(0.1, 0.9)), 3)]
        names = [f"v{i}" for i in range(count)]
        self.events = [*names, " & ".join(names) if count > 1 else "v0 & u"]

    def panel(self):
        rows = zip("ABCDE", self.events, self.p, self.weight, strict=False)
        return co.Panel.from_records(list(rows))

    def best(self):
        """The least distance and the probabilities, in fractions."""
        *above, (b, w) = [(Fraction(p), Fraction(weight)) for p, weight in zip(self.p, self.weight, strict=True)]
        for pooled in range(len(above) + 1):
            kept = sorted(above)[:pooled]
            t = (w * b + sum(v * a for a, v in kept)) / (w + sum(v for _, v in kept))
            if all(a < t for a, _ in kept) and all(t <= a for a, _ in sorted(above)[pooled:]):
                lost = w * (t - b) ** 2 + sum(v * (t - a) ** 2 for a, v in kept)
                return lost, [max(a, t) for a, _ in above] + [t]
        raise AssertionError


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_weights_far_apart_are_kept_verified_and_bounded_closely(first):
    for seed in range(first, first + 20):
        star = Star(seed)
        panel, (least, nearest) = star.panel(), star.best()
        result = co.aggregate(panel, "exact")
        assert result.columns()["weight"].tolist() == star.weight
        assert [row["weight"] for row in json.loads(result.to_json())["forecasts"]] == star.weight
        assert co.verify(panel, result).problems == [], seed
        assert co.verify(panel, co.Result.from_json(result.to_json())).problems == [], seed
        assert Fraction(result.lower_bound) <= least * (1 + Fraction(1, 10**12)), (seed, result.lower_bound)
        close = 1e-5 * max(unit_of(panel.weight), float(least))  # a weight of 2^33 beside 1 leaves so many digits
        assert float(least) - result.lower_bound <= close, (seed, float(least), result.lower_bound)
        assert result.solution.value == pytest.approx([float(x) for x in nearest], abs=1e-4), seed


@pytest.mark.parametrize("loss", ["brier", "log"])
@pytest.mark.parametrize("method", ["auto", "dykstra", "projections", "linear", "log", "median"])
def test_weights_far_apart_are_kept_and_verified_by_every_kind_of_method(method, loss):
    for seed in range(200, 215):
        star = Star(seed)
        panel = star.panel()
        if method in ("linear", "median", "log") and loss == "log":
            continue
        result = co.aggregate(panel, method, loss)
        assert result.columns()["weight"].tolist() == star.weight
        assert co.verify(panel, result).problems == [], seed


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_a_light_forecast_leaves_the_bound_as_it_is_without_it(loss):
    heavy = [("A", "p", 0.5), ("A", "p & q", 0.6), ("A", "r given p", 0.9), ("A", "r & p", 0.1)]
    alone = co.aggregate(co.Panel.from_records(heavy), "exact", loss)
    for light in (1e-18, 1e-30, 1e-50):
        rows = [*heavy, ("A", "q", 0.3, light), ("A", "q given r", 0.3, light)]
        rows = [{"judge": "A", "event": e, "probability": p, "weight": (*w, 1.0)[0]} for _, e, p, *w in rows]
        rows += [{"judge": "A", "event": "q | r", "probability": 0.1, "weight": light, "lower": 0.05, "upper": 0.2}]
        result = co.aggregate(co.Panel.from_records(rows), "exact", loss)
        assert result.status == "optimal"
        assert result.lower_bound == pytest.approx(alone.lower_bound, abs=1e-6)
        assert result.lower_bound <= alone.objective


def test_light_forecasts_do_not_settle_again_what_heavier_ones_have_settled():
    rows = [("A", "p", 0.1, 1e30), ("A", "p & q", 0.8, 1.0), ("A", "r", 0.4, 1e-20), ("A", "r & p", 0.3, 1e-20)]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    assert result.solution.value == pytest.approx([0.1, 0.1, 0.4, 0.1], abs=1e-6)
    assert result.lower_bound == pytest.approx(0.49, abs=1e-6)
