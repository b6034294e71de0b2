from __future__ import annotations

import errno
import gzip
import io
import os
import tempfile
from importlib import util
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.errors import MissingDependencyError, PanelError
from coherently.panel import writers
from coherently.panel.readers import read_table
from coherently.panel.workbook_writer import UNWRITABLE, write_workbook
from coherently.panel.worksheets.workbook_parts import opened_parts
from coherently.panel.worksheets.xlsx_sheets import XlsxCells, xlsx_sheets
from coherently.panel.writers import ENDINGS, check_output, write_columns, write_table

COLUMNS = {
    "event": ["p", 'say "q", r', "ünï", None],
    "probability": np.array([0.1, np.nan, 1e-17, 1.0]),
    "n": np.array([1, 2, 3, 2**60]),
    "flag": np.array([True, False, True, False]),
    "mixed": [1.5, float("nan"), True, "x"],
}
CSV = """\
event,probability,n,flag,mixed
p,0.1,1,true,1.5
"say ""q"", r",,2,false,
ünï,1e-17,3,true,true
,1.0,1152921504606846976,false,x
"""
JSON = """\
{"event": "p", "probability": 0.1, "n": 1, "flag": true, "mixed": 1.5}
{"event": "say \\"q\\", r", "probability": null, "n": 2, "flag": false, "mixed": null}
{"event": "ünï", "probability": 1e-17, "n": 3, "flag": true, "mixed": true}
{"event": null, "probability": 1.0, "n": 1152921504606846976, "flag": false, "mixed": "x"}
"""


def names(folder):
    return [path.name for path in folder.iterdir()]


def refusal(call, *arguments):
    with pytest.raises(PanelError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("out.csv", CSV),
        ("OUT.CSV", CSV),
        ("out.tsv", CSV.replace(",", "\t").replace('"say ""q""\t r"', '"say ""q"", r"')),
        ("out.jsonl", JSON),
        ("out.ndjson", JSON),
    ],
)
def test_text(tmp_path, name, content):
    write_table(COLUMNS, tmp_path / name)
    assert (tmp_path / name).read_bytes().decode() == content
    assert names(tmp_path) == [name]


def test_gzip_does_not_depend_on_the_time_or_the_name(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(COLUMNS, tmp_path / name)
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode() == CSV
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_parquet(tmp_path):
    columns = {name: COLUMNS[name] for name in ("event", "n", "flag")} | {"p": np.array([0.1, 0.2, 1e-17, 1])}
    write_table(columns, tmp_path / "out.parquet")
    written = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert written == {name: list(cells) for name, cells in columns.items()}


def test_a_stream():
    stream = io.StringIO()
    write_columns(COLUMNS, stream)
    assert stream.getvalue() == CSV


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
floats = st.floats(allow_infinity=False)


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != ".xlsx"])
@given(rows=st.lists(st.tuples(texts, floats), min_size=1))
def test_what_is_written_is_read(ending, rows):
    events, values = map(list, zip(*rows, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{ending}"
        write_table({"event": events, "p": np.array(values)}, path)
        columns = read_table(path).columns
    assert list(columns) == ["event", "p"]
    assert columns["event"] == events
    read = [float("nan") if value in (None, "") else float(value) for value in columns["p"]]
    np.testing.assert_array_equal(read, values)
    known = ~np.isnan(values)
    np.testing.assert_array_equal(np.signbit(read)[known], np.signbit(values)[known])


@given(rows=st.lists(st.tuples(texts, floats), min_size=1))
def test_a_workbook_has_what_was_written(rows):
    events, values = map(list, zip(*rows, strict=True))
    stream = io.BytesIO()
    write_workbook({"event": events, "p": [None if np.isnan(value) else value for value in values]}, stream)
    with opened_parts(stream, "out.xlsx") as parts:
        ((name, hidden, part),) = xlsx_sheets(parts)
        grid = XlsxCells(parts).read(name, part, hidden=hidden)
    for i, (event, value) in enumerate(zip(events, values, strict=True), 2):
        read = grid.row(i, 2)
        assert (read[0] or "").strip() == UNWRITABLE.sub("", event).strip()
        assert read[1] == (None if np.isnan(value) else value)


def test_an_ending_that_is_not_written(tmp_path):
    for name in ("out.xls", "out", "out.gz", "csv"):
        message = f"{tmp_path / name} has an unknown ending: use one of {', '.join(ENDINGS)}"
        assert refusal(check_output, tmp_path / name) == message
        assert refusal(write_table, COLUMNS, tmp_path / name) == message
    assert names(tmp_path) == []


def test_an_output_that_has_no_place(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert refusal(check_output, tmp_path / "folder.csv") == f"{tmp_path}/folder.csv is a folder: name a file in it"
    assert refusal(check_output, tmp_path / "no" / "out.csv") == f"{tmp_path}/no is not a folder: create it first"
    check_output(tmp_path / "out.csv")
    assert names(tmp_path) == ["folder.csv"]


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "find_spec", lambda name: None if name == "pyarrow" else util.find_spec(name))
    with pytest.raises(MissingDependencyError, match=r"pip install pyarrow"):
        check_output(tmp_path / "out.parquet")
    check_output(tmp_path / "out.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, ending):
    path = tmp_path / f"out{ending}"
    path.write_bytes(b"old")

    def fail(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    columns = {"event": ["p"], "p": np.array([0.5])}
    assert refusal(write_table, columns, path) == f"{path} cannot be written: No space left on device"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


def test_a_name_that_the_disk_refuses_leaves_nothing(tmp_path):
    path = tmp_path / f"{'a' * 300}.csv"
    assert refusal(write_table, COLUMNS, path) == f"{path} cannot be written: File name too long"
    assert names(tmp_path) == []


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_table(COLUMNS, tmp_path / "out.csv")
    assert names(tmp_path) == []


def test_a_replaced_file_keeps_its_permissions_and_links(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_table(COLUMNS, link)
    assert real.read_text() == CSV
    assert real.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain.csv").touch()
    write_table(COLUMNS, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "plain.csv").stat().st_mode
