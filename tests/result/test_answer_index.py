"""Bounds by the result's own components are those of the whole panel posed anew."""

import numpy as np
import pytest

import coherently as co
from coherently.problem import pose, split
from coherently.problem.component_index import ComponentIndex
from coherently.result import bounds as bounds_room
from coherently.result.answer_index import index_of
from coherently.solve.budget import Budget

TEXTS = ("{a}", "{b}", "{a} & {b}", "{a} | {c}", "{a} ^ {b}", "{b} -> {c}")


def random_result(seed, groups=5):
    """Components with laws, declared variables, conditionals, intervals and a pin."""
    rng = np.random.default_rng(seed)
    rows, laws = [], ["P(g0a) <= 0.7"]
    for g in range(groups):
        names = {letter: f"g{g}{letter}" for letter in "abc"}
        if g % 3 == 1:
            laws.append(f"variable w{g}: x, y, z, ...")
            names = {"a": f"w{g} = x", "b": f"w{g} = y", "c": f"w{g} = z"}
        elif g % 3 == 2:
            laws.append("{a} -> {b}".format(**names))
        texts = [text.format(**names) for text in rng.choice(TEXTS, 3, replace=False)]
        rows += [{"event": text, "probability": float(rng.random())} for text in texts]
        rows.append({"event": "{b} given {a}".format(**names), "probability": float(rng.random())})
        rows.append({"event": names["a"], "probability": 0.5, "lower": 0.3, "upper": 0.6})
        every = "{b} | {c}" if g % 3 == 1 else "{a} & {b} & {c}"  # so that no variable is without a forecast
        rows.append({"event": every.format(**names), "probability": 0.1})
    panel = co.Panel.from_records(rows, laws=[*laws, "idle -> other"])
    return co.aggregate(panel, co.Exact()), [text for g in range(groups) for text in _asked(g)]


def _asked(g):
    if g % 3 == 1:
        return [f"w{g} = x | w{g} = z", f"w{g} = y given w{g} != x", f"w{g} = x & g0b"]
    return [f"g{g}a & g{g}c", f"g{g}b ^ g{g}c", f"g{g}c given g{g}b", f"g{g}a -> g0b", f"~g{g}c"]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_by_the_index_are_those_of_the_whole_panel(seed):
    result, texts = random_result(seed)
    for text in texts:
        looked_up = bounds_room._looked_up(result, text, Budget())
        anew = bounds_room._posed_anew(result, text, Budget())
        assert looked_up is not None
        np.testing.assert_allclose(looked_up, anew, atol=2e-7, err_msg=text)
        assert (looked_up.certified, looked_up.note) == (anew.certified, anew.note)


@pytest.mark.parametrize("text", ["new & g0a", "idle & g0a", "other", "w1 = other", "w1 = x & new"])
def test_variables_that_no_component_has_are_looked_at_with_the_whole_panel(text):
    result, _ = random_result(0)
    count = result.panel.events.n_variables
    assert bounds_room._looked_up(result, text, Budget()) is None
    low, high = result.bounds(text)
    assert 0 <= low <= high <= 1
    read = index_of(result).read("g0a & g0b")
    assert read is not None
    assert read[1].n_variables == count == result.panel.events.n_variables


def test_a_table_of_bounds_has_the_bounds_of_each_event():
    result, texts = random_result(1)
    table = result.bounds_table(texts[:6])
    assert list(table.bounds) == [result.bounds(text) for text in texts[:6]]


def test_components_by_number_are_those_of_split():
    result, _ = random_result(2)
    merged = pose(result.panel).merged
    index, parts = ComponentIndex.of(merged), split(merged)
    for i, part in enumerate(parts):
        found = index.part([i])
        np.testing.assert_array_equal(found.coordinates, part.coordinates)
        assert found.merged == part.merged
    both = index.part([0, 2])
    np.testing.assert_array_equal(both.coordinates, np.sort(np.append(parts[0].coordinates, parts[2].coordinates)))
    assert both.merged.n_variables == parts[0].merged.n_variables + parts[2].merged.n_variables
