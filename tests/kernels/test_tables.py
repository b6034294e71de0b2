"""The scanners and the writer of tables, beside Python's own csv and json."""

from __future__ import annotations

import csv
import io
import json
import math
import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coherently import _core

LIMIT = 50
TEXT, NAME, NUMBER = (1, 0.0, 0.0), (2, 0.0, 0.0), (3, 0.0, 1.0)
WHITE = " \t\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000"
PIECES = ['"', '""', ",", "\n", "\r", "\r\n", "a", "b c", "é", "日本", "😀", "", '"a"', '"a,b"', '"a\nb"', " ", *WHITE]


def texts_of(packed):
    offsets, data = packed
    return _core.unpack(offsets, data, np.arange(len(offsets) - 1))


def scan_csv(blocks, plan=TEXT):
    """Rows that the scanner keeps, by their numbers; or the fault and its row."""
    scanner = _core.CsvScanner(LIMIT)
    names, pending = None, [*blocks, b""]
    for i, block in enumerate(pending):
        fault = scanner.push(block, i == len(pending) - 1)
        if fault:
            return fault[0], fault[1]
        if names is None:
            if scanner.find_header() is None or (found := scanner.read_header(",")) is None:
                continue
            names, fault = found
            if fault:
                return fault[0], fault[1]
            scanner.plan([plan] * len(names), len(names))
        fault = scanner.scan()
        if fault:
            return fault[0], fault[1]
    if names is None:
        return None
    columns = []
    for i in range(len(names)):
        codes, packed, *_ = scanner.take_column(i)
        distinct = texts_of(packed)
        columns.append([distinct[code] for code in codes.tolist()])
    numbers = range(scanner.first_row + 1, scanner.first_row + scanner.rows)
    left_out = set(scanner.take_left_out().tolist())
    kept = [number for number in numbers if number not in left_out]
    rows, cells = scanner.ragged()
    ragged = dict(zip(rows.tolist(), cells.tolist(), strict=True))
    return names, dict(zip(kept, map(list, zip(*columns, strict=True)), strict=True)), ragged, scanner.blank


def python_csv(text):
    """The same by the csv module."""
    lines = io.StringIO(text, newline="")
    first, line = next(((i, line) for i, line in enumerate(lines, 1) if line.strip()), (0, None))
    if line is None:
        return None
    csv.field_size_limit(LIMIT)
    rest = iter([line, *lines])
    records = csv.reader(rest, strict=True)
    row, names, kept, ragged, blank = first, None, {}, {}, 0
    while True:
        try:
            record = next(records)
        except StopIteration:
            return names, kept, ragged, blank
        except csv.Error as error:
            kinds = {"expected after": "after quote", "limit": "too long"}
            return next((kind for words, kind in kinds.items() if words in str(error)), "unending"), row
        if names is None:
            names = record
        elif len(record) != len(names):
            if "".join(record).strip():
                ragged[row] = len(record)
        elif any(record):
            kept[row] = record
        else:
            blank += 1
        row += 1


@st.composite
def blocks_of_text(draw):
    text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=40)))
    if draw(st.booleans()):
        text = "x,y\n" + text
    whole = text.encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return text, [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


@settings(max_examples=1500, deadline=None)
@given(blocks_of_text())
@example(('a\n"' + "x" * (LIMIT + 1) + '"', [b'a\n"' + b"x" * (LIMIT + 1) + b'"']))
@example(("a\n" + "é" * LIMIT, [("a\n" + "é" * LIMIT).encode()]))
@example(("a\n" + "é" * (LIMIT + 1), [("a\n" + "é" * (LIMIT + 1)).encode()]))
@example(('a\n"' + '""' * LIMIT + '"', [('a\n"' + '""' * LIMIT + '"').encode()]))
def test_the_scanner_reads_csv_as_python_does_wherever_blocks_end(case):
    text, blocks = case
    try:
        assert scan_csv(blocks) == python_csv(text)
    finally:
        csv.field_size_limit(131072)


@given(st.text(st.sampled_from(WHITE + "ab\u200b\u180e\ufeff😀é")))
def test_names_are_stripped_as_python_does(text):
    quoted = '"' + text + '"'
    names, rows, _, blank = scan_csv([b"a,b\n", f'{quoted},"x"'.encode()], NAME)
    assert names == ["a", "b"]
    assert (rows, blank) == ({2: [text.strip(), "x"]}, 0)


@given(st.binary(max_size=30), st.integers(0, 30))
def test_bytes_that_are_not_utf8_are_found_at_their_line(noise, cut):
    content = b"a\n\n" + noise
    found = scan_csv([content[:cut], content[cut:]])
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        if b"\0" not in noise and b'"' not in noise:
            assert found == ("encoding", line)
    else:
        assert found is None or found[0] != "encoding"


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(0, 1).map(repr),
    st.integers().map(str),
    st.text(string.digits + ".eE+-_ %infaxé٠", max_size=12),
    st.sampled_from(
        ["1e400", "1e-400", "-0", ".5", "5.", "+.5", " 0.25 ", "0x1", "1_0", "", "nan", "٠.٥", "1e5", "-.0"]
    ),
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_are_those_of_python_and_the_rest_stays_as_it_is(cells):
    scanner = _core.CsvScanner(LIMIT)
    scanner.push(("x,y\n" + "".join(f'"{cell}",y\n' for cell in cells)).encode(), True)
    scanner.find_header()
    scanner.read_header(",")
    scanner.plan([NUMBER, TEXT], 2)
    assert scanner.scan() is None
    codes, packed, values, odd, first = scanner.take_column(0)
    distinct = texts_of(packed)
    assert [cells[i] for i in odd.tolist()] == [distinct[code] for code in codes.tolist()]
    plain = [i for i in range(len(cells)) if i not in set(odd.tolist())]
    assert first == (cells[plain[0]] if plain else None)
    for i in plain:
        assert 0 <= values[i] <= 1
        assert math.copysign(1, values[i]) == math.copysign(1, float(cells[i]))
        assert values[i] == float(cells[i])
        assert "_" not in cells[i]
    for i in odd.tolist():
        assert math.isnan(values[i])
        digits = cells[i].isascii() and cells[i].replace(".", "", 1).isdigit()
        assert not (digits and 0 <= float(cells[i]) <= 1)


JSON_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(0, 1), st.text(max_size=5), st.just([1]), st.just('p\n"q\\')
)


@settings(max_examples=400)
@given(st.lists(st.tuples(JSON_VALUES, JSON_VALUES, JSON_VALUES), max_size=6), st.integers(0, 60), st.booleans())
def test_json_lines_that_are_read_are_read_as_python_does(rows, cut, spaced):
    records = [dict(zip("abc", row, strict=True)) for row in rows]
    separators = (" , ", ": ") if spaced else (",", ":")
    text = "\n\n".join(json.dumps(record, ensure_ascii=False, separators=separators) for record in records)
    content = text.encode("utf-8", "surrogatepass")
    scanner, keys = _core.JsonScanner(), None
    for block, last in ((content[:cut], False), (content[cut:], False), (b"", True)):
        if scanner.push(block, last):
            return
        if keys is None:
            if (found := scanner.read_keys()) is None:
                continue
            keys, fault = found
            if fault:
                return
            assert keys == list("abc")
            scanner.plan([NAME, NUMBER, TEXT])
        if scanner.scan():
            # Something is unusual: nested, escaped by code, or a name that is no text.
            assert any(not isinstance(row[0], str) or "\\u" in text or [1] in row for row in rows)
            return
    if keys is None:
        assert not rows
        return
    codes, packed, *_ = scanner.take_column(0)
    assert [texts_of(packed)[code] for code in codes.tolist()] == [row[0].strip() for row in rows]
    codes, packed, values, odd, _ = scanner.take_column(1)
    cells = dict(zip(odd.tolist(), (json.loads(texts_of(packed)[code]) for code in codes.tolist()), strict=True))
    read = [cells.get(i, value) for i, value in enumerate(values.tolist())]
    assert [(value, type(value) is str) for value in read] == [(row[1], type(row[1]) is str) for row in rows]
    codes, packed, *_ = scanner.take_column(2)
    assert [json.loads(texts_of(packed)[code]) for code in codes.tolist()] == [row[2] for row in rows]


@given(
    st.lists(st.tuples(st.floats(), st.text(st.sampled_from('ab",;\n\té "\\'), max_size=6)), max_size=20),
    st.sampled_from(",\t;"),
)
@example(
    [(5e-324, ""), (1.7976931348623157e308, '"'), (1e16, ","), (1e15, ""), (1e-5, ""), (0.0001, ""), (-0.0, "")], ","
)
@example(
    [(x, "") for x in (1e15 + 0.125, 4503599627370495.5, 9007199254740993.0, 1.5, -12.75, 0.00010000000000000002)], ";"
)
def test_rows_are_written_as_python_does(rows, delimiter):
    numbers, texts = np.array([row[0] for row in rows], np.float64), [row[1] for row in rows]
    wanted = io.StringIO(newline="")
    writer = csv.writer(wanted, delimiter=delimiter, lineterminator="\n")
    writer.writerows(zip([None if math.isnan(x) else x for x in numbers.tolist()], texts, strict=True))
    assert _core.csv_rows([numbers, texts], 0, len(rows), delimiter).decode() == wanted.getvalue()


def test_a_row_with_one_empty_cell_is_no_empty_line():
    assert _core.csv_rows([["", "a"]], 0, 2, ",") == b'""\na\n'
    assert _core.csv_rows([np.array([np.nan])], 0, 1, ",") == b'""\n'


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(
    chunks=st.lists(st.lists(st.one_of(st.none(), st.text(" ab日é", max_size=14)), max_size=9), min_size=1, max_size=4)
)
def test_texts_come_through_the_arrow_interface(kind, chunks):
    pool = _core.TextPool()
    arrays = [pa.array([None, *chunk, "x"], pa.string()).cast(kind)[1:] for chunk in chunks]
    codes = pool.encode(pa.chunked_array(arrays).__arrow_c_stream__())
    cells = [cell for chunk in chunks for cell in [*chunk, "x"]]
    wanted = [None if cell is None else cell.strip() for cell in cells]
    distinct = texts_of(pool.pack(0))
    assert distinct == list(dict.fromkeys(text for text in wanted if text is not None))
    assert [None if code < 0 else distinct[code] for code in codes.tolist()] == wanted
    assert texts_of(pool.pack(len(pool))) == []


def test_what_is_no_text_is_left_to_others():
    assert _core.TextPool().encode(pa.chunked_array([[1, 2]]).__arrow_c_stream__()) is None
    assert _core.TextPool().encode(pa.chunked_array([pa.array([b"a"])]).__arrow_c_stream__()) is None


def test_a_text_that_is_not_utf8_is_refused_with_its_row():
    broken = pa.array([b"a", b"\xff"]).view(pa.string())
    with pytest.raises(ValueError, match="1"):
        _core.TextPool().encode(pa.chunked_array([broken]).__arrow_c_stream__())


def test_many_texts_keep_their_numbers():
    texts = [f"v{i} & v{i * 7919 % 100_003}" for i in range(100_000)]
    pool = _core.TextPool()
    first = pool.encode(pa.chunked_array([texts]).__arrow_c_stream__())
    again = pool.encode(pa.chunked_array([texts[::-1]]).__arrow_c_stream__())
    assert np.array_equal(first, np.arange(100_000))
    assert np.array_equal(again[::-1], first)


def test_indices_out_of_range_are_refused():
    with pytest.raises(IndexError):
        _core.unpack(np.array([0, 1]), np.zeros(1, np.uint8), np.array([1]))
    with pytest.raises(IndexError):
        _core.csv_rows([["a"]], 0, 2, ",")
    with pytest.raises(IndexError):
        _core.TextPool().pack(1)
    with pytest.raises(ValueError, match="ascend"):
        _core.EventTable().add_packed(np.array([0, 9]), np.zeros(1, np.uint8), {}, 10)
    with pytest.raises(ValueError, match="ascend"):
        _core.EventTable().add_packed(np.array([1, 0]), np.zeros(1, np.uint8), {}, 10)
