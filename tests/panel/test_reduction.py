"""Panels that are read in pieces: the same answers as in memory, and clear refusals."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.errors import PanelError
from coherently.panel import reduce_tables, write_batches, write_table
from coherently.panel.columnar import parquet_files

TEXTS = ["p", "q", "p & q", "q & p", "~p", "p | q", "r", "r & ~p", "p given q", "(p)"]


def table(rows, weighted=True):
    columns = {
        "judge": pa.array([f"j{row[0]}" for row in rows]),
        "event": pa.array([TEXTS[row[1]] for row in rows]),
        "probability": pa.array([row[2] for row in rows], pa.float64()),
    }
    return pa.table(columns | ({"weight": pa.array([row[3] for row in rows], pa.float64())} if weighted else {}))


@pytest.fixture
def folder(tmp_path):
    """Write tables as the files of a folder."""

    def _folder(*tables):
        made = tmp_path / "parts"
        made.mkdir(exist_ok=True)
        for i, part in enumerate(tables):
            pq.write_table(part, made / f"part{i}.parquet")
        return made

    return _folder


ROWS = st.lists(
    st.tuples(
        st.integers(0, 3), st.integers(0, len(TEXTS) - 1), st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 3.0])
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(0, 40), st.booleans(), st.integers(1, 9))
def test_answers_are_those_of_the_panel_in_memory(tmp_path_factory, rows, cut, weighted, size):
    made = tmp_path_factory.mktemp("parts")
    whole = table(rows, weighted)
    parts = [part for part in (whole[:cut], whole[cut:]) if len(part)]
    for i, part in enumerate(parts):
        pq.write_table(part, made / f"{i}.parquet", row_group_size=7)
    pq.write_table(whole, made.parent / f"{made.name}.parquet")
    panel = co.read_panel(made.parent / f"{made.name}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coherently.panel.columnar.parquet_parts.ROWS", size)
        reduced = reduce_tables(made)
    assert reduced.forecasts == len(rows)
    wanted, found = co.aggregate(panel), co.aggregate(reduced.panel)
    assert list(wanted.columns()["event"]) == list(found.columns()["event"])
    for name in ("raw", "weight"):
        assert np.allclose(wanted.columns()[name], found.columns()[name], rtol=1e-14, atol=1e-14, equal_nan=True)
    for one, other in zip(_posed(wanted), _posed(found), strict=True):
        assert np.allclose(one, other, rtol=1e-13, atol=1e-13, equal_nan=True)
    assert wanted.problem.scatter == pytest.approx(reduced.scatter + found.problem.scatter, rel=1e-9, abs=1e-12)
    # The problems are the same up to rounding, so that the answers are as near as the certificates say.
    assert abs(wanted.objective - found.objective) <= wanted.gap + found.gap + 1e-9
    value = found.solution.value[found.problem.forecasts.unit]
    batches = list(reduced.row_batches(value, None))
    rows_wanted = wanted.row_columns()
    for name in ("judge", "event"):
        assert [cell for batch in batches for cell in batch[name]] == list(rows_wanted[name])
    for name in ("raw", "weight"):
        assert np.array_equal(np.concatenate([batch[name] for batch in batches]), rows_wanted[name])
    by_text = dict(zip(found.columns()["event"], found.solution.value.tolist(), strict=True))
    for batch in batches:
        assert batch["probability"].tolist() == [by_text[event] for event in batch["event"]]
        assert np.array_equal(batch["adjustment"], batch["probability"] - batch["raw"])


def _posed(result):
    """What is solved: means and weights of events and of conditionals."""
    merged = result.problem.merged
    given = merged.terms.conditionals
    return merged.event, merged.weight, merged.mean, given.weight, given.mean


def test_the_means_and_weights_are_the_same_numbers(folder):
    rng = np.random.default_rng(0)
    rows = [(i % 7, int(rng.choice([0, 1, 2, 5, 6])), float(rng.random()), float(rng.random())) for i in range(5000)]
    made = folder(table(rows[:3000]), table(rows[3000:]))
    pq.write_table(table(rows), made.parent / "whole.parquet")
    wanted = co.aggregate(co.read_panel(made.parent / "whole.parquet"), "linear").columns()
    found = co.aggregate(reduce_tables(made).panel, "linear").columns()
    assert wanted["event"] == found["event"]
    assert np.array_equal(wanted["weight"], found["weight"])
    assert np.allclose(wanted["raw"], found["raw"], rtol=4e-16, atol=0)


ENDINGS = [".parquet", ".csv", ".tsv", ".csv.gz", ".jsonl"]


def write(rows, path):
    """A table in the format of the path's ending; None is a missing probability."""
    columns = {
        "judge": [f"j{row[0]}" for row in rows],
        "event": [TEXTS[row[1]] for row in rows],
        "probability": np.array([np.nan if row[2] is None else row[2] for row in rows]),
        "weight": np.array([row[3] for row in rows]),
    }
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        write_table(columns, path)


SOME_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.none() | st.floats(0, 1), st.sampled_from([0.0, 0.5, 3.0])),
    min_size=1,
    max_size=40,
).filter(lambda rows: any(row[2] is not None for row in rows))


@settings(max_examples=60, deadline=None)
@given(SOME_ROWS, st.sampled_from(ENDINGS), st.integers(1, 200))
def test_every_format_is_read_in_pieces_as_it_is_in_memory(tmp_path_factory, rows, ending, size):
    path = tmp_path_factory.mktemp("whole") / f"panel{ending}"
    write(rows, path)
    panel = co.read_panel(path, missing="abstain")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coherently.panel.columnar.parquet_parts.ROWS", size)
        patch.setattr("coherently.panel.columnar.text_files.BLOCK", size)
        reduced = reduce_tables(path, missing="abstain")
        assert reduced.forecasts == len(panel)
        wanted, found = (co.aggregate(each, "linear") for each in (panel, reduced.panel))
        batches = list(reduced.row_batches(found.solution.value[found.problem.forecasts.unit], None))
    assert sorted(wanted.columns()["event"]) == sorted(found.columns()["event"])
    by_text = dict(zip(found.columns()["event"], zip(*_numbers(found), strict=True), strict=True))
    for event, *numbers in zip(wanted.columns()["event"], *_numbers(wanted), strict=True):
        assert np.allclose(numbers, by_text[event], rtol=1e-13, atol=1e-13, equal_nan=True)
    kept = [row for row in rows if row[2] is not None]
    assert [judge for batch in batches for judge in batch["judge"]] == [f"j{row[0]}" for row in kept]
    assert [p for batch in batches for p in batch["raw"].tolist()] == [row[2] for row in kept]
    for event, p in (
        (event, p) for batch in batches for event, p in zip(batch["event"], batch["probability"].tolist(), strict=True)
    ):
        assert p == by_text[event][0] or np.isnan(p)


def _numbers(result):
    return [result.columns()[name] for name in ("probability", "weight")]


def test_rows_of_a_folder_of_texts_are_named_with_their_file(tmp_path):
    for i, last in enumerate(["p,0.3", "p &,0.4"]):
        (tmp_path / f"part{i}.csv").write_text(f"event,probability\n\nq,0.1\n{last}\n")
    with pytest.raises(PanelError, match=r"row 4 of part1.csv: expected an event after '&'"):
        reduce_tables(tmp_path)
    (tmp_path / "part1.csv").write_text("event,probability\n\nq,0.1\n ,0.2\n")
    with pytest.raises(PanelError, match=r"part1.csv row 4, column event: the cell is empty"):
        reduce_tables(tmp_path)
    (tmp_path / "part1.csv").write_text("event,probability\nq,0.1\nq,1.2\n")
    with pytest.raises(PanelError, match=r"part1.csv row 3, column probability: .1.2. is above 1"):
        reduce_tables(tmp_path)


def test_json_lines_that_differ_are_not_read_in_pieces(tmp_path):
    path = tmp_path / "panel.jsonl"
    path.write_text('{"event": "p", "probability": 0.5}\n{"probability": 0.5, "event": "p"}\n')
    with pytest.raises(PanelError, match=r"panel.jsonl has JSON lines that are not flat objects"):
        reduce_tables(path)


def test_means_lose_less_than_forecasts_by_the_scatter_whatever_happens(folder):
    rows = [("A", "p", 0.2, 1.0), ("B", "p", 0.6, 3.0), ("A", "q", 0.5, 2.0), ("B", "p given q", 0.9, 5.0)]
    columns = dict(zip(("judge", "event", "probability", "weight"), zip(*rows, strict=True), strict=True))
    reduced = reduce_tables(folder(pa.table(columns), pa.table({**columns, "probability": [0.3, 0.7, 0.5, 0.1]})))
    weight, p = np.array([1, 3, 1, 3.0]), np.array([0.2, 0.6, 0.3, 0.7])
    mean = weight @ p / weight.sum()
    for truth in (0.0, 1.0):
        lost = weight @ (p - truth) ** 2 - weight.sum() * (mean - truth) ** 2
        assert reduced.scatter == pytest.approx(lost, abs=1e-12)  # q does not scatter; conditionals do not count


def test_percentages_numbers_as_names_and_rows_without_a_probability(folder):
    columns = {"event": [7, 7, 8], "p": ["35%", "NA", "0.5"], "user": [1, 2, 3]}
    made = folder(pa.table(columns))
    reduced = reduce_tables(made, missing="abstain", plain_events=True)
    assert list(reduced.panel.written.text) == ["7", "8"]
    assert reduced.panel.probability.tolist() == [0.35, 0.5]
    (batch,) = reduced.row_batches(np.array([0.1, 0.2]), None)
    assert list(batch["judge"]) == ["1", "3"]
    with pytest.raises(PanelError, match=r"part0.parquet row 2, column p: no probability"):
        reduce_tables(made, plain_events=True)


def test_errors_name_the_file_and_the_row(folder):
    good = table([(0, 0, 0.5, 1.0)] * 3)
    bad = pa.table({"judge": ["a", "b"], "event": ["p", "p &"], "probability": [0.5, 0.5], "weight": [1.0, 1.0]})
    with pytest.raises(PanelError, match=r"parts row 2 of part1.parquet: expected an event after '&'"):
        reduce_tables(folder(good, bad))
    for name, values, said in (
        ("probability", [0.5, 1.5], "part1.parquet row 2, column probability: 1.5 is above 1"),
        ("weight", [1.0, -1.0], "part1.parquet row 2, column weight: -1.0 is below 0"),
        ("event", ["p", None], "part1.parquet row 2, column event: the cell is empty"),
        ("event", [" ", "p"], "part1.parquet row 1, column event: the cell is empty"),
    ):
        place = bad.column_names.index(name)
        fine = bad.set_column(1, "event", pa.array(["p", "q"]))
        with pytest.raises(PanelError) as caught:
            reduce_tables(folder(good, fine.set_column(place, name, pa.array(values))))
        assert str(caught.value).startswith(said)


def test_a_folder_with_mixed_schemas_is_refused(folder):
    good = table([(0, 0, 0.5, 1.0)])
    other = good.set_column(2, "probability", pa.array(["0.5"]))
    with pytest.raises(PanelError, match=r"'probability' is double in part0.parquet and string in part1.parquet"):
        reduce_tables(folder(good, other))
    with pytest.raises(PanelError, match=r"'weight' is double in part0.parquet and absent in part1.parquet"):
        reduce_tables(folder(good, good.drop_columns(["weight"])))


def test_what_cannot_be_added_up_is_refused(folder, tmp_path):
    good = table([(0, 0, 0.5, 1.0)])
    with pytest.raises(PanelError, match=r"--repeats last\) cannot be used for parts"):
        reduce_tables(folder(good), repeats="last")
    bounded = good.append_column("lower", pa.array([0.1]))
    with pytest.raises(PanelError, match="the column 'lower' cannot be used for parts"):
        reduce_tables(folder(bounded))
    with pytest.raises(PanelError, match="a wide table cannot be used"):
        reduce_tables(folder(pa.table({"event": ["p"], "Ann": [0.5]})))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(PanelError, match=r"is a folder without .parquet files"):
        reduce_tables(empty)
    (empty / "cut.parquet").write_bytes(b"PAR1")
    with pytest.raises(PanelError, match=r"cut.parquet is not a complete Parquet file"):
        reduce_tables(empty)


def test_a_file_that_is_cut_in_the_middle_is_refused(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "panel.parquet"
    pq.write_table(
        pa.table({"event": [f"e{i}" for i in range(9000)], "p": rng.random(9000)}), path, row_group_size=3000
    )
    content = bytearray(path.read_bytes())
    content[5000:60000] = bytes(55000)
    path.write_bytes(content)
    with pytest.raises(PanelError, match=r"panel.parquet is not a complete Parquet file"):
        reduce_tables(path)


def test_one_large_row_group_is_read_in_pieces(tmp_path):
    path = tmp_path / "panel.parquet"
    count = 400_000
    events = pa.array([f"event {i % 50}" for i in range(count)])
    pq.write_table(pa.table({"event": events, "p": np.full(count, 0.5)}), path, row_group_size=count)
    sizes = []
    reduced = reduce_tables(path, lambda done, total: sizes.append((done, total)), plain_events=True)
    assert max(np.diff([0, *(done for done, _ in sizes)])) <= parquet_files.ROWS
    assert sizes[-1] == (count, count)
    assert reduced.panel.weight.tolist() == [count / 50] * 50


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "csv.gz"])
def test_a_full_disk_leaves_the_old_file_alone(tmp_path, folder, ending):
    made = folder(table([(i % 5, i % 7, 0.5, 1.0) for i in range(200_000)]))
    target = tmp_path / f"out.{ending}"
    target.write_text("old")
    code = (
        "import resource, signal, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "from coherently.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "aggregate", str(made), "--rows", "-o", str(target), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"error: {target} cannot be written: File too large" in done.stderr
    assert target.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == [target.name, "parts"]


def test_batches_are_one_file(tmp_path):
    batches = [{"event": ["p", 'q, "r"'], "p": np.array([0.5, np.nan])}, {"event": ["s"], "p": np.array([1.0])}]
    assert write_batches(batches, tmp_path / "out.csv") == 3
    assert (tmp_path / "out.csv").read_text() == 'event,p\np,0.5\n"q, ""r""",\ns,1.0\n'
    assert write_batches(batches, tmp_path / "out.jsonl") == 3
    assert (tmp_path / "out.jsonl").read_text().splitlines()[2] == '{"event": "s", "p": 1.0}'
    assert write_batches(batches, tmp_path / "out.parquet") == 3
    assert pq.read_table(tmp_path / "out.parquet").column("event").to_pylist() == ["p", 'q, "r"', "s"]
