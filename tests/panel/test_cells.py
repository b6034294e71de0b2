from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.errors import PanelError
from coherently.panel import cells
from coherently.panel.cell_table import Table
from coherently.panel.columnar import cell_values

NAN = float("nan")


def table(*values, **columns):
    columns = columns or {"x": values[0] if isinstance(values[0], np.ndarray) else list(values)}
    count = len(next(iter(columns.values())))
    return Table("panel.csv", columns, range(2, count + 2))


def probabilities(*values, percent=False, missing="error"):
    return cells.probabilities(table(*values), "x", percent=percent, missing=missing)


def refusal(read, *arguments, **options):
    with pytest.raises(PanelError) as caught:
        read(*arguments, **options)
    return str(caught.value)


def same(result, expected, dtype=np.float64):
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, np.array(expected, dtype=dtype))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("0.35", 0.35),
        (".35", 0.35),
        ("1e-3", 0.001),
        (" 0.5 ", 0.5),
        ("35%", 0.35),
        (" 35 % ", 0.35),
        ("0%", 0.0),
        ("100%", 1.0),
        ("0", 0.0),
        ("+1", 1.0),
        (0, 0.0),
        (1, 1.0),
        (0.35, 0.35),
        (np.float32(0.5), 0.5),
        (np.int64(1), 1.0),
        (Decimal("0.35"), 0.35),
    ],
)
def test_a_probability(cell, value):
    same(probabilities(cell), [value])
    same(probabilities(cell, "7%", "0.25", 0), [value, 0.07, 0.25, 0.0])


def test_percentages():
    same(probabilities("35", "35%", 7, "0.5", "100", percent=True), [0.35, 0.35, 0.07, 0.005, 1.0])
    same(probabilities("35", "100", percent=True), [0.35, 1.0])


@pytest.mark.parametrize("cell", ["", "  ", "NA", "na", "N/A", "null", "NaN", " nan ", None, NAN, pd.NA, pd.NaT])
def test_a_missing_probability_abstains_only_if_told_to(cell):
    same(probabilities("0.5", cell, missing="abstain"), [0.5, NAN])
    assert refusal(probabilities, "0.5", cell) == (
        "panel.csv row 3, column x: no probability\n"
        "A long table has no row for an abstention: delete the row, "
        "or pass --missing abstain (missing='abstain')."
    )


def test_an_array_may_abstain():
    same(probabilities(np.array([0.5, NAN]), missing="abstain"), [0.5, NAN])
    assert "panel.csv row 3, column x: no probability" in refusal(probabilities, np.array([0.5, NAN]))
    same(probabilities(np.array([0, 1])), [0.0, 1.0])


ALLOWED = "A probability is a number from 0 to 1, or a percentage such as 35%."


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("abc", "'abc' is not a number"),
        ("0.1_5", "'0.1_5' is not a number"),
        ("none", "'none' is not a number"),
        ("+nan", "'+nan' is not a number"),
        ("%", "'%' is not a number"),
        (" %", "' %' is not a number"),
        ("NA%", "'NA%' is not a number"),
        ("{}", "'{}' is not a number"),
        (True, "True is not a number"),
        ([0.5], "[0.5] is not a number"),
        ({"p": 1}, "{'p': 1} is not a number"),
        ("inf", "'inf' is not finite"),
        (float("inf"), "inf is not finite"),
        (10**400, "is not finite"),
        ("-0.1", "'-0.1' is below 0"),
        (-1, "-1 is below 0"),
        ("-5%", "'-5%' is below 0"),
        ("101%", "'101%' is above 100"),
        ("101", "'101' is above 1"),
    ],
)
def test_no_probability(cell, reason):
    first, *remedies = refusal(probabilities, "0.5", cell).split("\n")
    assert first.startswith("panel.csv row 3, column x: ")
    assert first.endswith(reason)
    assert remedies == [ALLOWED]


def test_an_array_out_of_range():
    message = "panel.csv row 2, column x: 1.5 is above 1\npanel.csv row 4, column x: -0.5 is below 0"
    assert refusal(probabilities, np.array([1.5, 0.5, -0.5])).startswith(message)


def test_a_decimal_comma_gets_a_hint():
    assert refusal(probabilities, "0,35").split("\n") == [
        "panel.csv row 2, column x: '0,35' is not a number",
        ALLOWED,
        "Write decimals with a point: 0.35, not 0,35.",
    ]


def test_percentages_by_mistake_get_one_hint_however_late_they_come():
    expected = [f"panel.csv row {row}, column x: '200' is above 1" for row in range(2, 12)]
    expected += ["... and 2 more (12 in all)", ALLOWED]
    hint = "If the column holds percentages, pass --percent (percent=True)."
    assert refusal(probabilities, *["200"] * 11, "35").split("\n") == [*expected, hint]


def test_past_a_hundred_per_cent():
    first, allowed = refusal(probabilities, "50", "101", percent=True).split("\n")
    assert first == "panel.csv row 3, column x: '101' is above 100"
    assert allowed == "A probability is a number from 0 to 100, or a percentage such as 35%."


def test_a_long_cell_is_cut():
    assert len(refusal(probabilities, "x" * 10_000)) < 200


number = st.floats(-0.5, 101) | st.integers(-1, 101)
cell = number | number.map(str) | st.sampled_from(["1_0", "nan", "inf", "", "x", "5%", True, None, NAN])


@given(st.lists(st.floats(0, 1)) | st.lists(number.map(str)) | st.lists(cell), st.booleans(), st.booleans())
def test_reading_at_once_is_reading_one_by_one(values, percent, abstain):
    options = {"percent": percent, "missing": "abstain" if abstain else "error"}
    apart = [cell_values.to_probability(value, 100 if percent else 1, abstain) for value in values]
    bad = [row for row, answer in enumerate(apart, 2) if isinstance(answer, cell_values.Refusal)]
    if not values:
        return
    if bad:
        message = refusal(cells.probabilities, table(*values), "x", **options)
        assert [line.split(",")[0] for line in message.split("\n")][: len(bad[:10])] == [
            f"panel.csv row {row}" for row in bad[:10]
        ]
    else:
        same(cells.probabilities(table(*values), "x", **options), apart)


def test_weights():
    same(cells.weights(table("1", "0", " 2.5 "), "x"), [1.0, 0.0, 2.5])
    same(cells.weights(table(1, "0", Decimal("2.5")), "x"), [1.0, 0.0, 2.5])
    same(cells.weights(table(np.array([1, 2])), "x"), [1.0, 2.0])


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "no weight"),
        (None, "no weight"),
        ("-1", "'-1' is below 0"),
        ("inf", "'inf' is not finite"),
        ("5%", "'5%' is not a number"),
        (True, "True is not a number"),
        ("1e-51", "'1e-51' is too small"),
        (9.9e-51, "9.9e-51 is too small"),
        (1.1e50, "1.1e+50 is too large"),
        ("1e400", "'1e400' is not finite"),
    ],
)
def test_no_weight(cell, reason):
    assert refusal(cells.weights, table("1", cell), "x") == (
        f"panel.csv row 3, column x: {reason}\nA weight is 0, or a number from 1e-50 to 1e50; every row has one. Only "
        "the ratios of weights matter: divide all of them by the same number, or write 0 to leave a forecast out."
    )


def test_the_range_of_weights_is_allowed():
    assert cells.weights(table("0", "1e-50", "1e50", "1"), "x").tolist() == [0.0, 1e-50, 1e50, 1.0]


def test_bounds():
    both = table(low=["0.1", "", "20%"], high=["0.1", "0.5", None])
    low, high = cells.bounds(both, "low", "high", percent=False)
    same(low, [0.1, NAN, 0.2])
    same(high, [0.1, 0.5, NAN])
    low, high = cells.bounds(table(low=["10"]), "low", None, percent=True)
    same(low, [0.1])
    assert high is None
    assert cells.bounds(both, None, None, percent=False) == (None, None)


def test_bounds_the_wrong_way_round():
    crossed = table(low=["0.1", "0.7"], high=["0.2", "0.4"])
    assert refusal(cells.bounds, crossed, "low", "high", percent=False) == (
        "panel.csv row 3: low 0.7 is above high 0.4\n"
        "The lower bound must not be above the upper bound: swap or fix them."
    )


def test_texts():
    assert cells.texts(table(" Ann ", "NA", "p & q"), "x") == ["Ann", "NA", "p & q"]
    assert cells.texts(table("Ann ", 7, 7.0, np.int64(8), "7"), "x") == ["Ann", "7", "7", "8", "7"]
    assert cells.texts(table(np.array([2**60, 2**60 + 1])), "x") == [str(2**60), str(2**60 + 1)]
    assert cells.texts(table(np.array([1.0, -2.0])), "x") == ["1", "-2"]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "the cell is empty"),
        ("\u00a0 ", "the cell is empty"),
        (None, "the cell is empty"),
        (NAN, "the cell is empty"),
        (pd.NA, "the cell is empty"),
        (1.5, "1.5 is neither a text nor a whole number"),
        (float("inf"), "inf is neither a text nor a whole number"),
        (True, "True is neither a text nor a whole number"),
        (["p"], "['p'] is neither a text nor a whole number"),
    ],
)
def test_no_text(cell, reason):
    assert refusal(cells.texts, table("Ann", cell), "x") == (
        f"panel.csv row 3, column x: {reason}\nJudges and events are texts or whole numbers: write one in every row."
    )


def test_half_a_character_is_no_text():
    message = refusal(cells.texts, table("Ann", "\ud800"), "x")
    assert message.startswith("panel.csv row 3, column x: '\\ud800' contains half a character")


def test_outcomes():
    true = ["1", "1.0", " TRUE ", "yes", "Yes", 1, 1.0, True, np.bool_(True)]
    false = ["0", "0.0", "false", "No", 0, 0.0, False, np.bool_(False)]
    unresolved = ["", " ", "NA", "null", None, NAN]
    expected = [1] * len(true) + [0] * len(false) + [-1] * len(unresolved)
    same(cells.outcomes(table(*true, *false, *unresolved), "x"), expected, np.int8)
    for value, code in zip([*true, *false, *unresolved], expected, strict=True):
        same(cells.outcomes(table(value), "x"), [code], np.int8)
    same(cells.outcomes(table(np.array([0.0, NAN, 1.0])), "x"), [0, -1, 1], np.int8)


@pytest.mark.parametrize("cell", ["maybe", "2", 0.5, "100%", [1], "1_0"])
def test_no_outcome(cell):
    assert refusal(cells.outcomes, table("yes", cell), "x") == (
        f"panel.csv row 3, column x: {cell!r} is not an outcome\n"
        "An outcome is 0 or 1, true or false, yes or no, or an empty cell while it is unresolved."
    )


def test_times_as_numbers():
    same(cells.times(table("3", "-1.5", "20240101"), "x"), [3.0, -1.5, 20240101.0])
    same(cells.times(table(3, "4", Decimal(5)), "x"), [3.0, 4.0, 5.0])


def test_times_as_dates():
    noon = datetime(2024, 5, 31, 12, tzinfo=UTC)
    moments = [
        "2024-05-31T12:00",
        " 2024-05-31 12:00:00Z ",
        "2024-05-31T14:00+02:00",
        datetime(2024, 5, 31, 12),
        noon.astimezone(timezone(timedelta(hours=-5))),
        pd.Timestamp("2024-05-31 12:00"),
    ]
    same(cells.times(table(*moments), "x"), [noon.timestamp()] * len(moments))
    midnight = noon.timestamp() - 12 * 3600
    same(cells.times(table("2024-05-31", date(2024, 5, 31)), "x"), [midnight, midnight])


@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=1))
def test_an_iso_text_is_its_moment(moments):
    expected = [moment.timestamp() for moment in moments]
    same(cells.times(table(*[moment.isoformat() for moment in moments]), "x"), expected)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "no time"),
        (NAN, "no time"),
        (pd.NaT, "no time"),
        ("31/05/2024", "'31/05/2024' is not a time"),
        ("2024-13-01", "'2024-13-01' is not a time"),
        ("inf", "'inf' is not a time"),
        (True, "True is not a time"),
    ],
)
def test_no_time(cell, reason):
    first, remedy = refusal(cells.times, table("2024-05-31", cell), "x").split("\n")
    assert first == f"panel.csv row 3, column x: {reason}"
    assert remedy.startswith("A time is a number, or an ISO date such as 2024-05-31")


def test_dates_and_numbers_do_not_mix():
    assert refusal(cells.times, table("3", "4", "2024-05-31"), "x") == (
        "panel.csv row 4, column x has '2024-05-31' but panel.csv row 2, column x has '3': "
        "write all times as dates or all as numbers"
    )


@pytest.mark.parametrize("number", [1 + 2**-52, "1.0000000000000002", Decimal("1.0000000000000002"), 1 + 9e-13])
def test_what_rounding_has_put_past_1_is_1(number):
    assert probabilities(number).tolist() == [1.0]
    assert probabilities(number, "0.5").tolist() == [1.0, 0.5]


@pytest.mark.parametrize("number", [-1e-17, "-1e-17", np.float64(-1e-17), -9e-13])
def test_what_rounding_has_put_below_0_is_0(number):
    assert probabilities(number).tolist() == [0.0]
    assert probabilities(number, "50%").tolist() == [0.0, 0.5]


def test_rounding_of_percentages():
    assert probabilities("100.00000000000001%", "-1e-15%").tolist() == [1.0, 0.0]
    assert probabilities(np.array([100.00000000000001, 35.0]), percent=True).tolist() == [1.0, 0.35]


@pytest.mark.parametrize("number", [1 + 2e-12, -2e-12, "1.000001", -1e-9])
def test_what_is_further_out_is_refused(number):
    with pytest.raises(PanelError, match=r"is above 1|is below 0"):
        probabilities(number)
