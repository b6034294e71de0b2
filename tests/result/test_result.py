import numpy as np
import pytest

import coherently as co
from tests.panels import TABLE_2, bundled


def test_frame_of_table_2():
    frame = co.aggregate(bundled("table2.csv"), method="linear").frame()
    assert list(frame.columns) == ["event", "probability", "raw", "weight", "adjustment"]
    assert frame["event"].tolist() == ["p", "q", "p & q"]
    np.testing.assert_allclose(frame["probability"], [0.766667, 0.1, 0.266667], atol=1e-6)
    np.testing.assert_array_equal(frame["raw"], frame["probability"])
    assert frame["weight"].tolist() == [3, 3, 3]
    assert frame["adjustment"].tolist() == [0, 0, 0]


def test_rows_keep_the_order_of_the_panel():
    rows = co.aggregate(co.Panel.from_records(TABLE_2)).rows()
    assert list(rows.columns) == ["judge", "event", "probability", "raw", "weight", "adjustment"]
    assert list(zip(rows["judge"], rows["event"], rows["raw"], strict=True)) == TABLE_2
    np.testing.assert_allclose(rows["adjustment"], rows["probability"] - rows["raw"])


def test_sides_as_written_keep_their_own_rows():
    result = co.aggregate(co.Panel.from_records([("A", "p", 0.6), ("B", "not p", 0.6), ("B", "p", 0.8)]), "linear")
    frame = result.frame()
    assert frame["event"].tolist() == ["p", "not p"]
    np.testing.assert_allclose(frame["raw"], [0.7, 0.6])
    assert frame["weight"].tolist() == [2, 1]
    assert result.probability("~p") == 0.6
    np.testing.assert_allclose(result.probability("p"), 0.7)


def test_what_a_linear_average_promises():
    result = co.aggregate(co.Panel.from_records(TABLE_2), method=co.LinearAverage())
    assert (result.status, result.coherence) == ("averaged", "none")
    assert (result.objective, result.lower_bound, result.gap, result.guaranteed_improvement) == (None,) * 4


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("q and p", 0.2),
        ("~p | ~q", 0.8),
        ("p given q", 0.4),
        ("~p given q", 0.6),
        ("p & ~p", 0.0),
        ("true", 1.0),
    ],
)
def test_probability_of_any_text(event, expected):
    result = co.aggregate(co.Panel.from_records([("A", "p & q", 0.2), ("A", "p given q", 0.4)]), "linear")
    np.testing.assert_allclose(result.probability(event), expected)


@pytest.mark.parametrize("event", ["p", "p given r", "z given z & y", "p | q"])
def test_probability_of_what_nobody_forecast(event):
    result = co.aggregate(co.Panel.from_records([("A", "p & q", 0.2)]))
    with pytest.raises(co.EventError, match="nobody forecast"):
        result.probability(event)


def test_the_error_names_the_bounds_of_what_nobody_forecast():
    result = co.aggregate(co.Panel.from_records([("A", "p & q", 0.2)]))
    with pytest.raises(co.EventError, match=r"result\.bounds\('p'\) gives what they imply for it$"):
        result.probability("p")
    with pytest.raises(co.EventError, match=r"result\.bounds\('p given q'\) gives what they imply for it$"):
        result.probability("p given q")


def test_probability_of_a_bad_text():
    result = co.aggregate(co.Panel.from_records([("A", "p & q", 0.2)]))
    with pytest.raises(co.EventError, match="expected an event after '&'"):
        result.probability("p &")


def test_a_forecast_constant_keeps_what_was_said():
    result = co.aggregate(co.Panel.from_records([("A", "p | ~p", 0.9)]), "linear")
    assert result.probability("true") == 0.9


def test_unknown_methods_are_refused():
    with pytest.raises(co.MethodError, match=r"unknown method 'liner'.*Did you mean 'linear'\?"):
        co.aggregate(co.Panel.from_records(TABLE_2), method="liner")


def test_a_class_is_not_a_method_and_a_list_is_not_a_panel():
    with pytest.raises(co.MethodError, match=r"LinearAverage\(\)"):
        co.aggregate(co.Panel.from_records(TABLE_2), method=co.LinearAverage)
    with pytest.raises(co.PanelError, match="needs a Panel, found list"):
        co.aggregate(TABLE_2)


def test_weightless_events_have_no_average():
    frame = co.aggregate(co.Panel.from_records([("A", "p", 0.2, 0.0), ("A", "q", 0.3, 1.0)]), "linear").frame()
    np.testing.assert_array_equal(frame["probability"], [np.nan, 0.3])
    assert frame["weight"].tolist() == [0, 1]


def test_printed_numbers_add_up():
    rows = [("A", f"r = {v}", p) for v, p in zip("abcd", (0.14506, 0.50596, 0.24506, 0.10392), strict=True)]
    result = co.aggregate(co.Panel.from_records(rows, laws=["variable r: a, b, c, d"]))
    lines = [line.split() for line in str(result).splitlines()[2:]]
    assert sum(round(10_000 * float(line[3])) for line in lines) == 10_000
    assert [line[3] for line in lines] == [line[4] for line in lines]
    assert {line[6] for line in lines} == {"0"}
    assert result.frame()["probability"].tolist() == pytest.approx([p for _, _, p in rows], abs=1e-12)


def test_one_event_is_counted_as_one():
    assert repr(co.aggregate(co.Panel.from_records([("A", "p", 0.5)]))).startswith("<Result: 1 event by")
