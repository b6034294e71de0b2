from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coherently as co
from coherently.errors import MissingDependencyError, PanelError
from coherently.panel.columnar import text_files
from coherently.panel.columnar.text_files import CELL_LIMIT
from coherently.panel.readers import CHUNK, read_table

LONG = {"judge": ["Ann", "Bob"], "event": ["p", "p & q"], "probability": ["0.5", "0.25"]}
TEXT = "judge,event,probability\nAnn,p,0.5\nBob,p & q,0.25\n"


def zipped(text):
    """Compress the text without the time of day, so that a test made of it has the same name in every process."""
    return gzip.compress(text.encode(), mtime=0)


@pytest.fixture
def write(tmp_path):
    def _write(content, name="panel.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def read(path):
    """Return the whole table as plain values."""
    table = read_table(path)
    return {name: list(cells) for name, cells in table.columns.items()}, list(table.rows)


def refusal(path):
    with pytest.raises(PanelError) as caught:
        read_table(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("panel.csv", TEXT),
        ("panel.CSV", TEXT),
        ("panel.txt", TEXT),
        ("panel", TEXT),
        ("panel.csv", "\ufeff" + TEXT),
        ("panel.csv", TEXT.replace("\n", "\r\n")),
        ("panel.csv", TEXT.replace("\n", "\r")),
        ("panel.csv", TEXT.rstrip()),
        ("panel.csv", TEXT.replace(",", ";")),
        ("panel.csv", TEXT.replace(",", "\t")),
        ("panel.tsv", TEXT.replace(",", "\t")),
        ("panel.csv", TEXT.replace("judge,", " judge ,")),
        ("panel.csv.gz", zipped(TEXT)),
        ("panel.tsv.gz", zipped(TEXT.replace(",", "\t"))),
    ],
)
def test_csv(write, name, content):
    path = write(content, name)
    assert read(path) == (LONG, [2, 3])
    assert read_table(path).source == name
    assert read_table(path).library is None


def test_csv_is_read_without_the_libraries_of_frames(write):
    code = """
import sys
from coherently.panel.readers import read_table
read_table(sys.argv[1])
print(sorted({"narwhals", "pandas", "polars", "pyarrow"} & sys.modules.keys()))
"""
    command = [sys.executable, "-c", code, write(TEXT)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_pipe_is_read_and_its_progress_is_its_end(tmp_path):
    pipe = tmp_path / "panel.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,))
    writer.start()
    shares = []
    columns = read_table(pipe, shares.append).columns
    writer.join()
    assert (columns, shares) == (LONG, [1.0])


def test_a_tsv_may_have_commas_in_its_header(write):
    assert read(write("\tSmith, Ann\np\t0.5\n", "panel.tsv")) == ({"": ["p"], "Smith, Ann": ["0.5"]}, [2])


def test_quoted_cells_keep_delimiters_quotes_lines_and_spaces(write):
    content = 'event,p\n"exactly(1; a, b)",0.5\n"""rain, ""x""",0.1\n"two\nlines", 0.2\nlast,1\n'
    events = ["exactly(1; a, b)", '"rain, "x"', "two\nlines", "last"]
    assert read(write(content)) == ({"event": events, "p": ["0.5", "0.1", " 0.2", "1"]}, [2, 3, 4, 5])


def test_blank_lines_are_skipped_but_counted(write):
    content = "\n \nevent,p\n\np,0.5\n  \n\nq,0.25\n\n"
    assert read(write(content)) == ({"event": ["p", "q"], "p": ["0.5", "0.25"]}, [5, 8])


def test_more_bytes_than_a_block_and_their_share(write, monkeypatch):
    monkeypatch.setattr(text_files, "BLOCK", 4096)
    count = 3 * CHUNK + 7
    path = write("event,p\n" + "".join(f"e{i},0.{i}\n" for i in range(count)))
    shares = []
    table = read_table(path, shares.append)
    assert table.columns["event"] == [f"e{i}" for i in range(count)]
    assert table.columns["p"] == [f"0.{i}" for i in range(count)]
    assert np.array_equal(table.rows, np.arange(2, count + 2))
    assert shares == sorted(shares)
    assert len(shares) >= 4
    assert shares[-1] == 1.0


def test_a_long_cell_is_read(write):
    event = " & ".join(f"variable{i}" for i in range(50_000))
    assert len(event) > 131_072, "the limit that the csv module starts with"
    assert read(write(f"event,p\n{event},0.5\n"))[0]["event"] == [event]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "panel.csv is empty: a table has a header"),
        ("\n  \n\n", "panel.csv is empty: a table has a header"),
        ("event,p\n", "panel.csv has a header but no rows: add"),
        ("event,p\n\n\n", "panel.csv has a header but no rows: add"),
        ("event,p,P \nx,1,1\n", "panel.csv has two columns named 'p' and 'P'"),
        ("event,p,\nx,1,1\n", "panel.csv: column 3 has no name"),
        ('event,p\na,1\n"b,0.5\nc,1\n', 'panel.csv row 3: a cell never ends; look for a double quote (")'),
        ('"event,p\na,1\n', "panel.csv row 1: a cell never ends"),
        (
            'event,p\n"a" & "b",1\n',
            "panel.csv row 2: a quoted cell continues after its closing quote; put the whole",
        ),
        (
            f'event,p\n\na,1\n"{"x" * (CELL_LIMIT + 1)}',
            "panel.csv row 4: a cell has over 2,000,000 characters",
        ),
        (
            "event,p\np,0.5\n".encode("utf-16"),
            "panel.csv is UTF-16 text; only UTF-8 is read. Save it as UTF-8",
        ),
        (
            "event,p\np,0.5\n".encode("utf-16-le"),
            "panel.csv line 1 contains a NUL byte, so it is not text. Save it",
        ),
        (
            "event,p\ncafé,0.5\n".encode("latin-1"),
            "panel.csv line 2 is not UTF-8 text (byte 0xe9). Save it as CSV",
        ),
        (b"event,p\np,0.5\n\xc3", "panel.csv line 3 is not UTF-8 text (byte 0xc3)"),
    ],
)
def test_csv_that_cannot_be_read(write, content, message):
    assert message in refusal(write(content))


@pytest.mark.parametrize("byte", [b"\0", b"\xff"])
def test_a_bad_byte_far_into_the_file_is_found(write, byte):
    content = "event,p\n" + "é,0.5\n" * 200_000
    assert "panel.csv line 200002 " in refusal(write(content.encode() + byte + b",0.5\n"))


def test_records_of_another_width_are_told_together(write):
    rows = ["a,1", "b", "c,1,2", "", *(["d,0,5"] * 20)]
    expected = ["panel.csv row 3: 1 cell, but the header has 2"]
    expected += [f"panel.csv row {row}: 3 cells, but the header has 2" for row in (4, *range(6, 14))]
    hint = "Put a cell that contains ',' in quotes; leave a missing cell empty."
    expected += ["... and 12 more (22 in all)", hint]
    assert refusal(write("event,p\n" + "\n".join(rows))).split("\n") == expected


def test_what_is_no_file(tmp_path):
    missing = tmp_path / "panel.csv"
    assert refusal(missing) == f"{missing} does not exist: check the name and the folder"
    assert refusal(tmp_path) == f"{tmp_path} is a folder: name a file in it"
    endless = tmp_path / f"{'a' * 300}.csv"
    assert refusal(endless) == f"{endless} cannot be read: File name too long"


def test_a_file_that_may_not_be_read(write, monkeypatch):
    path = write(TEXT)

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    assert refusal(path) == f"no permission to read {path}: change its permissions or copy it"


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        zipped(TEXT)[:-12],
        zipped(TEXT * 99)[:-8] + b"12345678",
        zipped(TEXT * 99)[:20] + b"\xff" * 40,
    ],
)
def test_a_damaged_gzip(write, content):
    message = refusal(write(content, "panel.csv.gz"))
    assert message.startswith("panel.csv.gz is not a complete gzip file (")
    assert message.endswith("): compress it again, or remove .gz from its name")


@pytest.mark.parametrize("name", ["panel.jsonl", "panel.ndjson", "panel.jsonl.gz"])
def test_json_lines(write, name):
    content = '{"event": "p", " p": 0.5}\n\n{" p": 1, "event": "q", "tags": ["x", {}]}\n'
    path = write(zipped(content) if name.endswith("gz") else content, name)
    assert read(path) == ({"event": ["p", "q"], "p": [0.5, 1], "tags": [None, ["x", {}]]}, [1, 3])


def test_json_lines_of_many_chunks_with_a_late_key(write):
    records = [{"event": f"e{i}", "p": 0.5} for i in range(2 * CHUNK)] + [{"weight": 2}]
    path = write("\n".join(map(json.dumps, records)), "panel.jsonl")
    expected = {key: [record.get(key) for record in records] for key in ("event", "p", "weight")}
    assert read(path) == (expected, list(range(1, len(records) + 1)))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event": }', "not JSON (Expecting value at character 11)"),
        ("[1, 2]", "[1, 2] is not an object"),
        ("3", "3 is not an object"),
        ('{"event": 1, "p": 2, "event": 3}', "the key 'event' appears twice"),
        ("[" * 100_000, "JSON nested too deeply"),
    ],
)
def test_json_lines_that_cannot_be_read(write, line, message):
    path = write('{"event": "p"}\n\n' + line + '\n{"event": "q"}\n' + line, "panel.jsonl")
    first, second, remedy = refusal(path).split("\n")
    assert first == f"panel.jsonl row 3: {message}"
    assert second == f"panel.jsonl row 5: {message}"
    assert remedy.startswith("JSON lines have one object per line, such as {")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n\n", "panel.jsonl is empty. JSON lines have one object per line"),
        ("{}\n", "panel.jsonl has no columns"),
        ('{"event": 1, "Event": 2}\n', "panel.jsonl has two columns named 'event' and 'Event'"),
        (b'{"event": "\xff"}\n', "panel.jsonl line 1 is not UTF-8 text (byte 0xff)"),
    ],
)
def test_json_lines_without_a_table(write, content, message):
    assert message in refusal(write(content, "panel.jsonl"))


def test_parquet(tmp_path):
    path = tmp_path / "panel.parquet"
    columns = {"judge": ["Ann", None], "p": [0.5, 0.25], "__index_level_0__": [7, 8]}
    pq.write_table(pa.table(columns), path)
    shares = []
    assert read_table(path, shares.append).library is None
    assert shares == [1.0]
    assert read(path) == ({"judge": ["Ann", None], "p": [0.5, 0.25]}, [1, 2])


def test_parquet_that_cannot_be_read(tmp_path, write):
    path = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"event": ["p"] * 1000}), path)
    for content in (b"", TEXT.encode(), path.read_bytes()[:-20], b"PAR1" + b"\xff" * 50 + b"PAR1"):
        message = refusal(write(content, "panel.parquet"))
        assert message.startswith("panel.parquet is not a complete Parquet file (")
        assert message.endswith("): write it again")
    pq.write_table(pa.table({"event": pa.array([], pa.string())}), path)
    assert "whole.parquet has a header but no rows" in refusal(path)
    pq.write_table(pa.table([["p"], ["q"]], names=["event", "event"]), path)
    assert "whole.parquet has two columns with the same name" in refusal(path)


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"panel\.parquet needs .* pip install pyarrow"):
        read_table(write(b"PAR1", "panel.parquet"))


@pytest.mark.parametrize("start", [b"PK\x03\x04\x14\x00\x06\x00", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_workbook_is_called_one(tmp_path, start):
    file = tmp_path / "risks.xlsx"
    file.write_bytes(start + bytes(100))
    with pytest.raises(PanelError, match=r"risks\.xlsx is an Excel workbook .* save the sheet as 'CSV UTF-8'"):
        read_table(file)


def test_rows_without_any_value_are_left_out_and_counted(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,Ann,Bob\n,,\nrain,0.1,0.2\n,,\n\nwind,,0.3\n,,\n")
    table = read_table(file)
    assert table.columns == {"event": ["rain", "wind"], "Ann": ["0.1", ""], "Bob": ["0.2", "0.3"]}
    assert (table.rows.tolist(), table.blank) == ([3, 6], 3)
    assert "panel.csv: blank rows, left out: 3" in co.read_panel(file).notes
    file.write_text("event,Ann\n,0.5\n")
    with pytest.raises(PanelError, match="the cell is empty"):
        co.read_panel(file)


def test_a_row_that_is_too_short_is_counted_in_words(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,Ann,Bob\nrain\nwind,0.5\n")
    with pytest.raises(PanelError, match=r"row 2: 1 cell, but the header has 3\npanel.csv row 3: 2 cells, but"):
        read_table(file)


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("event;Müller, Dr.;Bob", ["event", "Müller, Dr.", "Bob"]),
        ('event,"a;b;c",Bob', ["event", "a;b;c", "Bob"]),
        ("event\tAnn, B.\tBob", ["event", "Ann, B.", "Bob"]),
        ("event,Ann;Bob", ["event", "Ann;Bob"]),
    ],
)
def test_the_separator_is_the_sign_that_the_header_has_most_of(tmp_path, header, columns):
    sign = next(s for s in "\t;," if header.count(s) >= len(columns) - 1 and s not in "".join(columns))
    file = tmp_path / "panel.csv"
    file.write_text(f"{header}\n{sign.join('x' * len(columns))}\n")
    assert list(read_table(file).columns) == columns


def test_empty_columns_to_the_right_are_no_columns(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event;Ann; ;\nrain;0.1;;\nwind;0.2;;\n")
    assert list(read_table(file).columns) == ["event", "Ann"]
    file.write_text("event;Ann; ;\nrain;0.1;;\nwind;0.2;0.3;\n")
    with pytest.raises(PanelError, match="column 3 has no name"):
        read_table(file)
    file.write_text("Our risks,,\nevent,Ann,Bob\nrain,0.1,0.2\n")
    with pytest.raises(PanelError, match=r"column 2 has no name: .* or delete a title above the header"):
        read_table(file)
    file.write_text(",,\nrain,0.1,0.2\n")
    with pytest.raises(PanelError, match="column 2 has no name"):
        read_table(file)
