from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coherently.errors import MissingDependencyError, PanelError
from coherently.panel import Panel
from coherently.panel.frames import table_from_frame, table_from_records, to_frame

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
each_library = pytest.mark.parametrize("library", MAKERS)


def refusal(read, value):
    with pytest.raises(PanelError) as caught:
        read(value)
    return str(caught.value)


@each_library
def test_a_frame(library):
    moments = [datetime(2024, 1, 1, tzinfo=UTC), None, datetime(2024, 1, 2, tzinfo=UTC)]
    columns = {
        " judge ": ["Ann", None, "Cid"],
        "whole": [1, 2, 2**60 + 1],
        "count": [1, None, 3],
        "p": [0.5, None, 0.25],
        "flag": [True, False, True],
        "maybe": [True, None, False],
        "day": [date(2024, 1, 1), None, date(2024, 1, 2)],
        "moment": moments,
        "tags": [["x"], None, []],
    }
    table = table_from_frame(MAKERS[library](columns))
    assert (table.source, table.rows, table.library) == ("frame", range(1, 4), library)
    assert list(table.columns) == [name.strip() for name in columns]
    arrays = {name: cells for name, cells in table.columns.items() if isinstance(cells, np.ndarray)}
    assert list(arrays) == ["whole", "count", "p"]
    assert arrays["whole"].tolist() == [1, 2, 2**60 + 1]
    np.testing.assert_array_equal(arrays["count"], [1, np.nan, 3])
    np.testing.assert_array_equal(arrays["p"], [0.5, np.nan, 0.25])
    lists = {name: cells for name, cells in table.columns.items() if name not in arrays}
    assert lists == {name.strip(): cells for name, cells in columns.items() if name.strip() not in arrays}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pd.Series(["a", np.nan, pd.NA, pd.NaT, None, 3], dtype=object), ["a", None, None, None, None, 3]),
        (pd.Categorical(["x", None, "x"]), ["x", None, "x"]),
        (pd.Series(["a", None], dtype="string"), ["a", None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pl.Series(["x", None, "x"], dtype=pl.Categorical), ["x", None, "x"]),
        (pl.Series(["x", None], dtype=pl.Enum(["x", "y"])), ["x", None]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
    ],
)
def test_a_column_that_is_no_number(column, cells):
    maker = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]
    assert table_from_frame(maker({"x": column})).columns == {"x": cells}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Series([1, None], dtype="Int64")}),
        pd.DataFrame({"x": pd.Series([1.0, None], dtype="Float32")}),
        pd.DataFrame({"x": pd.Series([1.0, None], dtype="double[pyarrow]")}),
        pl.DataFrame({"x": pl.Series([1.0, None], dtype=pl.Float32)}),
        pl.DataFrame({"x": [Decimal(1), None]}),
        pa.table({"x": pa.array([Decimal(1), None])}),
        pa.table({"x": pa.array([1, None], pa.uint8())}),
    ],
)
def test_nulls_in_a_column_of_numbers(frame):
    cells = table_from_frame(frame).columns["x"]
    assert cells.dtype == np.float64
    np.testing.assert_array_equal(cells, [1, np.nan])


def test_a_pandas_index_is_ignored():
    frame = pd.DataFrame({"p": [0.5, 0.25]}, index=pd.Index([7, 9], name="event"))
    table = table_from_frame(frame[::-1])
    assert list(table.columns) == ["p"]
    assert table.columns["p"].tolist() == [0.25, 0.5]
    assert table.place(0) == "frame row 1"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (pl.LazyFrame({"p": [1]}), "polars.LazyFrame"),
        (pd.Series([1]), "pandas.Series"),
        ({"p": [1]}, "builtins.dict"),
        (np.zeros((2, 2)), "numpy.ndarray"),
    ],
)
def test_no_frame(value, kind):
    message = refusal(table_from_frame, value)
    assert message.startswith(f"{kind} is not a frame that can be read: pass a pandas or polars DataFrame or a pyarrow")
    assert ".collect()" in message


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame([[1, 2]], columns=["p", "p"]),
            "frame has two columns with the same name: rename or delete one",
        ),
        (pa.table([[1], [2]], names=["p", "p"]), "frame has two columns with the same name: rename or delete one"),
        (pd.DataFrame([[1, 2]], columns=["p", "P "]), "frame has two columns named 'p' and 'P'"),
        (pd.DataFrame([[1, 2]]), "frame: column 1 is named 0, which is not a text: rename it"),
        (pl.DataFrame({"p": []}), "frame has a header but no rows"),
        (pl.DataFrame(), "frame has no columns"),
    ],
)
def test_a_frame_that_is_no_table(frame, message):
    assert message in refusal(table_from_frame, frame)


@pytest.mark.parametrize(
    ("records", "columns"),
    [
        (
            [("Ann", "p", 0.5), ["Bob", "q", "1%"]],
            {"judge": ["Ann", "Bob"], "event": ["p", "q"], "probability": [0.5, "1%"]},
        ),
        ([("Ann", "p", 0.5, 2)], {"judge": ["Ann"], "event": ["p"], "probability": [0.5], "weight": [2]}),
        (
            [{"event": "p", " prob": 0.5}, {"time": 3, "event": "q"}],
            {"event": ["p", "q"], "prob": [0.5, None], "time": [None, 3]},
        ),
    ],
)
def test_records(records, columns):
    table = table_from_records(iter(records))
    assert table.columns == columns
    assert (table.source, table.rows, table.library) == ("records", range(1, len(records) + 1), None)


GOOD = ("Ann", "p", 0.5)


@pytest.mark.parametrize(
    ("records", "problems"),
    [
        ([GOOD, ("Bob", "q")], ["records row 2: 2 values (('Bob', 'q')), but other records are 3 values"]),
        (
            [GOOD, GOOD, (*GOOD, 1)],
            ["records row 3: 4 values (('Ann', 'p', 0.5, 1)), but other records are 3 values"],
        ),
        (
            [GOOD, {"event": "p"}],
            ["records row 2: a mapping ({'event': 'p'}), but other records are 3 values"],
        ),
        (
            [{"event": "p"}, GOOD],
            ["records row 2: 3 values (('Ann', 'p', 0.5)), but other records are a mapping"],
        ),
        ([None, GOOD], ["records row 1: a NoneType (None), but other records are 3 values"]),
        ("pq", ["records row 1: a str ('p')", "records row 2: a str ('q')"]),
    ],
)
def test_records_that_differ(records, problems):
    *found, remedy = refusal(table_from_records, records).split("\n")
    assert found == problems
    assert remedy.startswith("Each record is (judge, event, probability) or (judge, event, probability, weight), or")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "records is empty. Each record is (judge, event, probability)"),
        (3, "3 is not a list of records. Each record is"),
        ([{"event": 1, "Event": 2}], "records has two columns named 'event' and 'Event'"),
        ([{1: 2}], "records: column 1 is named 1, which is not a text"),
        ([{}], "records has no columns"),
    ],
)
def test_no_records(records, message):
    assert message in refusal(table_from_records, records)


@each_library
def test_columns_come_back_as_a_frame(library):
    columns = {"event": ["p", "q"], "probability": np.array([0.5, np.nan]), "n": [1, 2]}
    frame = to_frame(columns, library)
    assert isinstance(frame, MAKERS[library] if library != "pyarrow" else pa.Table)
    table = table_from_frame(frame)
    assert list(table.columns) == list(columns)
    assert table.columns["event"] == ["p", "q"]
    np.testing.assert_array_equal(table.columns["probability"], [0.5, np.nan])
    assert table.columns["n"].tolist() == [1, 2]


def test_the_first_library_that_is_installed(monkeypatch):
    assert isinstance(to_frame({"p": [1]}, None), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(to_frame({"p": [1]}, None), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(to_frame({"p": [1]}, None), pa.Table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"needs pandas, polars or pyarrow, .*: pip install pandas"):
        to_frame({"p": [1]}, None)
    with pytest.raises(MissingDependencyError, match=r"needs polars, .*: pip install polars"):
        to_frame({"p": [1]}, "polars")


def test_events_in_the_index_of_a_frame_are_asked_for():
    with pytest.raises(
        PanelError, match=r"If the first column, 'Ann', .*; if the index does, pass frame\.reset_index\(\)"
    ):
        Panel.from_frame(pd.DataFrame({"Ann": [0.2, 0.3]}, index=["rain", "wind"]))
    with pytest.raises(PanelError, match=r"rename it to 'event'\.\n"):
        Panel.from_frame(pl.DataFrame({"Ann": [0.2, 0.3]}))
