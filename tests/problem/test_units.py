"""The unit of weights, and weights that doubles cannot tell apart."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import drawn_together, in_units, pose, unit_of

ROWS = [("A", "p", 0.9), ("A", "q", 0.8), ("A", "p & q", 0.2), ("B", "~p", 0.6)]


@pytest.mark.parametrize("scale", [5e-324, 1e-320, 1e-300, 0.3, 1.0, 7.0, 1e300, 1.7e308])
def test_the_unit_is_a_power_of_two_below_the_median(scale):
    weight = np.array([0.0, scale, scale, scale])
    unit = unit_of(weight)
    assert np.frexp(unit)[0] == 0.5
    assert unit <= scale < 2 * unit if scale < 1e308 else unit <= scale


@pytest.mark.parametrize("power", [-1000, -40, 3, 900])
def test_only_ratios_are_left(power):
    weight = np.array([3.0, 0.7, 11.0, 0.0])
    panels = [
        co.Panel.from_records([(*row, float(w)) for row, w in zip(ROWS, scaled, strict=True)])
        for scaled in (weight, np.ldexp(weight, power))
    ]
    one, other = (in_units(panel.weight, unit_of(panel.weight)) for panel in panels)
    np.testing.assert_array_equal(one, other)
    assert 1 <= np.median(one[one > 0]) < 2


def test_drawn_together_from_the_lightest_up_and_never_heavier():
    rows = [("A", "p", 0.1, 1e-50), ("A", "q given r", 0.8, 1.0), ("A", "p & q", 0.2, 3.0), ("A", "r", 0.2, 1e80)]
    merged = pose(co.Panel.from_records(rows)).merged
    found = drawn_together(merged)
    before = np.concatenate([merged.weight, merged.terms.conditionals.weight])
    after = np.concatenate([found.weight, found.terms.conditionals.weight])
    assert (after <= before).all()
    known = np.sort(after[after > 0])
    assert known[0] == 1e-50
    assert np.log2(known[1:] / known[:-1]) == pytest.approx([33.0, np.log2(3.0), 33.0])
    near = pose(co.Panel.from_records([(*row[:3], min(row[3], 1.0)) for row in rows[1:]])).merged
    assert drawn_together(near) is near
