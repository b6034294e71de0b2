"""Tables on a terminal: shown numbers that a reader can check."""

from dataclasses import replace

import numpy as np

import coherently as co
from coherently.report import bounds_table, forecasts_table, summary
from coherently.report.tables import row_table

PARTITION = [("A", f"r = {v}", p) for v, p in zip("abcd", (0.14506, 0.50596, 0.24506, 0.10392), strict=True)]
LAWS = ["variable r: a, b, c, d"]


def cells(table):
    return {column.header.plain: [str(cell) for cell in column.cells] for column in table.columns}


def test_forecasts_add_up_and_changes_are_those_of_the_numbers_shown():
    shown = cells(forecasts_table(co.aggregate(co.Panel.from_records(PARTITION, laws=LAWS))))
    assert sum(round(10_000 * float(p)) for p in shown["probability"]) == 10_000
    assert shown["raw"] == shown["probability"]
    assert shown["change"] == ["0"] * 4


def test_what_replaces_each_forecast_adds_up_too():
    rows = [*PARTITION, ("B", "r = a", 0.3), ("B", "r = b", 0.6)]
    shown = cells(row_table(co.aggregate(co.Panel.from_records(rows, laws=LAWS))))
    assert sum(round(10_000 * float(p)) for p in shown["probability"][:4]) == 10_000
    assert shown["probability"][:2] == shown["probability"][4:]
    for after, raw, change in zip(shown["probability"], shown["raw"], shown["change"], strict=True):
        assert round(10_000 * (float(after) - float(raw))) == round(10_000 * float(change))


def test_bounds_of_an_event_and_of_its_complement_add_up_crosswise():
    columns = {"event": ["p", "~p"], "low": [0.12345, 0.3], "high": [0.7, 0.87655], "note": [None, None]}
    shown = cells(bounds_table(columns))
    assert (shown["low"], shown["high"]) == (["0.1234", "0.3000"], ["0.7000", "0.8766"])
    np.testing.assert_allclose(np.array(shown["low"], float) + np.array(shown["high"], float)[::-1], 1.0)


def test_one_world_is_counted_as_one():
    result = co.aggregate(co.Panel.from_records([("A", "p", 1.0), ("A", "p & q", 1.0)]))
    assert "a mixture of 1 possible world." in summary(result).plain


def test_a_distance_that_is_rounding_is_shown_as_0():
    result = co.aggregate(co.Panel.from_records(PARTITION, laws=LAWS))
    for lost, saved in ((6.16298e-33, 1e-30), (2.5e-6, 1e-6)):
        solution = replace(result.solution, objective=lost, lower_bound=0.0, guaranteed_improvement=saved)
        told = summary(replace(result, solution=solution)).plain
        assert ("from the forecasts: 0." in told) == (lost < 1e-18)
        assert ("saved in every outcome" in told) == (lost > 1e-18)
