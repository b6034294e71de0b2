"""The unit of weights, and weights that doubles cannot tell apart."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import in_units, is_level, layers_of, pose, unit_of

ROWS = [("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2), ("B", "~p", 0.6)]


@pytest.mark.parametrize("scale", [1e-50, 1e-30, 0.3, 1.0, 7.0, 1e30, 1e50])
def test_the_unit_is_a_power_of_two_below_the_median(scale):
    weight = np.array([0.0, scale, scale, scale])
    unit = unit_of(weight)
    assert np.frexp(unit)[0] == 0.5
    assert unit <= scale < 2 * unit


@pytest.mark.parametrize("power", [-160, -40, 3, 160])
def test_only_ratios_are_left(power):
    weight = np.array([3.0, 0.7, 11.0, 0.0])
    panels = [
        co.Panel.from_records([(*row, float(w)) for row, w in zip(ROWS, scaled, strict=True)])
        for scaled in (weight, np.ldexp(weight, power))
    ]
    one, other = (in_units(panel.weight, unit_of(panel.weight)) for panel in panels)
    np.testing.assert_array_equal(one, other)
    assert 1 <= np.median(one[one > 0]) < 2


def test_layers_from_the_heaviest_down_and_no_weight_grows():
    rows = [("A", "p", 0.1, 1e-50), ("A", "q given r", 0.8, 1.0), ("A", "p & q", 0.2, 3.0), ("A", "r", 0.2, 1e50)]
    rows = [dict(zip(("judge", "event", "probability", "weight"), row, strict=True)) for row in rows]
    rows.append({"judge": "A", "event": "p | r", "lower": 0.2, "upper": 0.4, "weight": 1e20})
    merged = pose(co.Panel.from_records(rows)).merged
    layers = layers_of(merged)
    assert layers == [(1e50, 1e50), (1e20, 1e20), (1.0, 3.0), (1e-50, 1e-50)]
    before = merged.weights()
    for layer in layers:
        part = layer.drawn(merged)
        after = part.weights()
        assert (after <= before).all()
        assert (after[before < layer.least] == 0).all()
        own = (before >= layer.least) & (before <= layer.most)
        assert own.any()
        np.testing.assert_array_equal(after[own], before[own])
        np.testing.assert_array_equal(after[before > layer.most], layer.most * 2.0**33)
        assert np.isnan(part.mean[part.weight == 0]).all()
    near = pose(co.Panel.from_records([{**row, "weight": min(row["weight"], 1.0)} for row in rows[1:]])).merged
    assert is_level(near)
    assert not is_level(merged)


def test_heavy_forecasts_hold_what_they_have_settled():
    rows = [("p", 0.5, 1e20), ("p & q", 0.6, 1e20), ("r given p", 0.9, 1e20), ("s given p", 0.4, 1e20), ("q", 0.7, 1.0)]
    panel = co.Panel.from_records([("A", *row) for row in rows])
    merged, result = pose(panel).merged, co.aggregate(panel, "exact")
    x = np.array([0.55, 0.55, 0.7, 0.55 * 0.9 - 0.1, 0.55 * 0.4])
    light = layers_of(merged)[-1]
    held = light.anchored(merged, x)
    given = held.terms.conditionals
    assert given.weight.tolist() == [0.0, light.cap]  # r given p loses something, so that both r & p and p are held
    assert held.weight.tolist() == [light.cap, light.cap, 1.0, light.cap, 0.0]
    assert held.mean[:2] == pytest.approx([0.55, 0.55])
    assert held.mean[3] == pytest.approx(x[3])
    assert result.probability("p") == pytest.approx(result.probability("p & q"), abs=1e-9)
