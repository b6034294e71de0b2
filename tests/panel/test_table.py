from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.errors import KEPT, SHOWN, ListedProblem, PanelError, Where
from coherently.panel.cell_table import ProblemList, Table, append_records, check_header


@pytest.mark.parametrize(
    ("column", "place"),
    [
        (None, "panel.csv row 4"),
        ("probability", "panel.csv row 4, column probability"),
        ("", "panel.csv row 4, first column"),
    ],
)
def test_a_place_counts_rows_as_the_source_does(column, place):
    assert Table("panel.csv", {}, np.array([2, 4, 5])).place(1, column) == place


def test_a_table_without_rows_is_refused():
    with pytest.raises(PanelError, match=r"^panel\.csv has a header but no rows: add"):
        Table("panel.csv", {"event": []}, range(0))


def test_no_problem_raises_nothing():
    problems = ProblemList()
    problems.add([], str, ["never said"])
    problems.check()


@given(st.lists(st.lists(st.integers(0, 10**6)).map(sorted), min_size=1))
def test_problems_show_the_lowest_rows_and_count_all(batches):
    problems = ProblemList()
    for batch in batches:
        problems.add(batch, lambda row: ListedProblem(f"row {row}", "odd", Where(row=row)), ["mend it"])
    rows = sorted(row for batch in batches for row in batch)
    if not rows:
        return
    with pytest.raises(PanelError) as caught:
        problems.check()
    expected = [f"row {row}" for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        expected.append(f"... and {len(rows) - SHOWN:,} more ({len(rows):,} in all)")
    assert str(caught.value).split("\n") == [*expected, "mend it"]
    assert [problem.where.row for problem in caught.value.problems] == rows[:KEPT]


def test_only_the_problems_that_are_kept_are_described():
    described = []

    def describe(row):
        described.append(row)
        return ListedProblem(str(row), "odd")

    ProblemList().add(range(1_000_000), describe)
    assert described == list(range(KEPT))


def test_a_remedy_is_said_once():
    problems = ProblemList()
    problems.add([3], lambda row: ListedProblem(str(row), "odd"), ["b", "a"])
    problems.add([1], lambda row: ListedProblem(str(row), "odd"), ["a"])
    with pytest.raises(PanelError, match=r"^1\n3\nb\na$"):
        problems.check()


def test_a_header_is_stripped_and_may_begin_with_a_blank():
    assert check_header("panel.csv", ["  ", " Alice ", "Bob"]) == ["", "Alice", "Bob"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "panel.csv has no columns"),
        (["event", " "], "panel.csv: column 2 has no name: name it or delete"),
        (["event", 3], "panel.csv: column 2 is named 3, which is not a text: rename"),
        (["Event", "p", " event "], "panel.csv has two columns named 'Event' and 'event'"),
    ],
)
def test_a_header_that_cannot_tell_columns_apart_is_refused(names, message):
    with pytest.raises(PanelError) as caught:
        check_header("panel.csv", names)
    assert message in str(caught.value)


records = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers()), max_size=8)


@given(records, records)
def test_appended_records_have_every_key_in_order_of_appearance(first, second):
    columns = {}
    append_records(columns, first, 0)
    append_records(columns, second, len(first))
    both = first + second
    assert list(columns) == list(dict.fromkeys(key for record in both for key in record))
    assert columns == {key: [record.get(key) for record in both] for key in columns}
