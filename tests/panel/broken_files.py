"""Two hundred broken files: rows, columns, values and encodings that people get wrong, and the messages for them.

`python -m tests.panel.broken_files` writes the messages of the present code to the file that the tests compare.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

import coherently as co
from coherently.errors import CoherentlyError
from coherently.panel.columnar.text_files import CELL_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = Path(__file__).parent / "broken_files.txt"
LONG_HEADER = ("judge", "event", "probability")
EVENTS = ("p", "q", "p & q", "p | q", "r", "~r", "r -> p", "p given q", "s", "s & ~p", "t", "t | s", "u", "v", "w")
LIBRARY_WORDS = re.compile(r"(is not a complete (?:Parquet|gzip) file \().*?(\): )")


def rows(count: int = 15) -> list[list[str]]:
    """Good forecasts by two judges."""
    return [[f"judge {i % 2}", EVENTS[i % len(EVENTS)], f"0.{i % 9 + 1}"] for i in range(count)]


def csv(header: tuple[str, ...], lines: list[list[str]], mark: str = ",", end: str = "\n") -> bytes:
    """Write cells as they are, without adding quotes."""
    return "".join(mark.join(cells) + end for cells in [list(header), *lines]).encode()


def with_cell(column: int, cell: str, places: tuple[int, ...] = (3,), extra: str | None = None) -> list[list[str]]:
    """Put one cell into some rows of a column; `extra` fills a fourth column elsewhere."""
    made = [[*row, extra] if extra is not None else row for row in rows()]
    for place in places:
        made[place][column] = cell
    return made


def quoted(cell: str) -> str:
    """Put a cell in quotes if CSV asks for them."""
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"\n\r') else cell


EVERY = tuple(range(15))
PROBABILITIES = (
    *("1.5", "-0.1", "abc", "", "NA", "nan", "inf", "-inf", "1e400", "0,5", "35 %x", "%", "101%", "-5%", "1_0", "True"),
    *(
        "0x1",
        "50",
        "100.5",
        " ",
        "0.5.1",
        "--1",
        "1e",
        "+",
        ".",
        "½",
        "1.0000001",
        "٠.٥",
        "0.5 0.6",
        "null",
        "N/A",
        "-",
    ),
)
EVENT_TEXTS = (
    *("", "  ", "p &", "& q", "(p", "p)", "p q", "Supplier delay", '"open', "9lives", "p ? q", "winner = Ann"),
    *("rate < 3", "p given", "p given q given r", "p given (q & ~q)", "exactly(1; p", "exactly(p)", "~", "p == q"),
    *("p => q", "p in {a}", "p $ q", '"" & p', "p -> ", "in", "at_least(x; p, q)", "p,q", "é & ", "p\nq &", "given p"),
    *("~" * 300 + "p", "a" * 10_001, '"back\\slash"', "rain tomorrow & wind", "price of oil > 80", "“p”", "p\u00a0&"),
)
WEIGHTS = ("-1", "", "x", "inf", "nan", "1_0", "NA", "1e999", "-0.0001", "50%")
OUTCOMES = ("2", "maybe", "-1", "0.5", "TRUE!", "1 0")
TIMES = ("", "yesterday", "2024-13-01", "12/31/2024", "nan", "inf", "2024-05-31")


def value_files() -> Iterator[tuple[str, bytes]]:
    """Cells that cannot be read, one in each file or one in every row."""
    for i, cell in enumerate(PROBABILITIES):
        yield f"probability{i}.csv", csv(LONG_HEADER, with_cell(2, quoted(cell)))
        if i % 4 == 0:
            yield f"probability{i}_all.tsv", csv(LONG_HEADER, with_cell(2, cell, EVERY), "\t")
    for i, cell in enumerate(EVENT_TEXTS):
        yield f"event{i}.csv", csv(LONG_HEADER, with_cell(1, quoted(cell)))
        if i % 8 == 0:
            yield f"event{i}_all.csv", csv(LONG_HEADER, with_cell(1, quoted(cell), EVERY), ";")
    for i, cell in enumerate(WEIGHTS):
        yield f"weight{i}.csv", csv((*LONG_HEADER, "weight"), with_cell(3, cell, extra="1"))
    for i, cell in enumerate(OUTCOMES):
        yield f"outcome{i}.csv", csv((*LONG_HEADER, "outcome"), with_cell(3, cell, extra=""))
    for i, cell in enumerate(TIMES):
        yield f"time{i}.csv", csv((*LONG_HEADER, "time"), with_cell(3, cell, extra="17"))
    yield "judge_blank.csv", csv(LONG_HEADER, with_cell(0, ""))
    yield "judge_spaces.csv", csv(LONG_HEADER, with_cell(0, "  ", EVERY))
    made = with_cell(3, "1", extra="")
    made[4][3], made[5][3] = "1", "1"
    yield "outcome_both.csv", csv((*LONG_HEADER, "outcome"), made)
    made = [["a", "p", "0.5", "1"], ["a", "q", "0.5", "0"], ["a", "p & q", "0.5", "1"]]
    yield "outcome_parts.csv", csv((*LONG_HEADER, "outcome"), made)


def interval_files() -> Iterator[tuple[str, bytes]]:
    """Bounds that contradict each other or the probability."""
    header = ("judge", "event", "probability", "lower", "upper")
    cases = ((".5", ".6", ".7"), (".5", ".1", ".4"), ("", ".6", ".5"), ("", "", ""), (".5", "x", ".6"), ("", "-1", "2"))
    for i, case in enumerate(cases):
        made = [[*row[:2], ".5", ".4", ".6"] for row in rows()]
        made[6][2:] = case
        yield f"interval{i}.csv", csv(header, made)
    made = [[*row[:2], ".6", ".4"] for row in rows()]
    yield "interval_all.csv", csv(("judge", "event", "lower", "upper"), made)


def header_files() -> Iterator[tuple[str, bytes]]:
    """Headers that are missing, misspelt, doubled or of another trade."""
    headers = (
        *(("judge", "evnt", "probability"), ("judge", "event", "probabilty"), ("a", "b", "c"), ("judge", "p", "prob")),
        *(("judge", "event", "event_id"), ("judge", "judge", "event"), ("judge", "event", ""), ("", "event", "p")),
        *(
            ("Judge", "judge ", "p"),
            ("user", "ticker", "price"),
            ("market", "bid", "ask"),
            ("judge", "event", "weight"),
        ),
        *(("event", "Ann", "outcome"), ("event", "juge", "probabilit"), ("title", "p", "chance"), ("1", "2", "3")),
    )
    for i, header in enumerate(headers):
        yield f"header{i}.csv", csv(header, rows())
    yield "empty.csv", b""
    yield "blank.csv", b"\n \n\t\n"
    yield "header_only.csv", csv(LONG_HEADER, [])
    yield "header_and_blank_rows.csv", csv(LONG_HEADER, [["", "", ""]] * 3)
    yield "no_judges.csv", csv(("event",), [["p"], ["q"]])
    yield "title_above.csv", b"Forecasts of May,,\n" + csv(LONG_HEADER, rows())
    yield "no_header.csv", csv(("judge 1", "p", "0.5"), rows())
    yield "wide_bad.csv", csv(("", "Ann", "Bob"), [["p", "0.5", "x"], ["q", "1.2", "NA"], ["r", "", "0.4"]])
    yield "wide_all_missing.csv", csv(("", "Ann", "Bob"), [["p", "", "NA"], ["q", "", ""]])
    yield "wide_no_event.csv", csv(("", "Ann"), [["p", "0.5"], ["", "0.4"]])
    yield "unnamed_with_cells.csv", csv((*LONG_HEADER, "", ""), [[*row, "", "x"] for row in rows()])


def row_files() -> Iterator[tuple[str, bytes]]:
    """Rows with too many or too few cells, quotes that do not close, cells without end."""
    good = csv(LONG_HEADER, rows())
    for i, row in enumerate(
        (["a"], ["a", "b"], ["a", "p", "0.5", ""], ["a", "p", "q", "0.5"], ["a", "p & q, r", ".5"])
    ):
        yield f"ragged{i}.csv", csv(LONG_HEADER, [*rows(4), row, *rows(3)])
    yield "ragged_many.csv", csv(LONG_HEADER, [["a", "b"]] * 14)
    yield "ragged_long.csv", csv(LONG_HEADER, [*rows(2000), ["a"], *rows(2000), ["b", "c"]])
    yield "quote_open.csv", good + b'a,"p & q,0.5\n' + csv(("a", "p", "0.5"), rows())
    yield "quote_after.csv", good + b'a,"p" & q,0.5\nb,q,0.5\n'
    yield "quote_inside.csv", good + b'a,p "or" q,0.5\n'
    yield "quote_header.csv", b'judge,"event,probability\n' + good
    yield "quote_spaces.csv", good + b'a, "p",0.5\n'
    yield "cell_limit.csv", good + b"a," + b"x" * (CELL_LIMIT + 1) + b",0.5\n"
    yield "cell_limit_quoted.csv", good + b'a,"' + b"x\n" * (CELL_LIMIT // 2 + 1) + b'",0.5\n'
    yield "blank_rows.csv", csv(LONG_HEADER, [*rows(3), ["", "", ""], [""], [" ", "", " "], *rows(2)])
    yield "line_ends.csv", b"\r".join(good.split(b"\n"))[:-1] + b"\ra,p &,0.5\r"
    yield "windows.csv", good.replace(b"\n", b"\r\n") + b"a,p,1.5\r\n"
    yield "multi_line.csv", good + b'a,"p\n& q",0.5\nb,q,x\n'
    yield "spaces.csv", csv((" judge", "event ", " probability "), [["a", " p ", " 0.5 "], ["b", "q", " x "]])


def encoding_files() -> Iterator[tuple[str, bytes]]:
    """Files that are not UTF-8 text."""
    good = csv(LONG_HEADER, rows())
    yield "utf16le.csv", b"\xff\xfe" + good.decode().encode("utf-16-le")
    yield "utf16be.csv", b"\xfe\xff" + good.decode().encode("utf-16-be")
    yield "utf16_no_mark.csv", good.decode().encode("utf-16-le")
    yield "latin1.csv", good + "a,café,0.5\n".encode("latin-1")
    yield "latin1_header.csv", "juge,événement,p\n".encode("latin-1") + good
    yield "half_character.csv", good + b"a,caf\xc3"
    yield "surrogate.csv", good + b"a,\xed\xa0\x80,0.5\n"
    yield "overlong.csv", good + b"a,\xc0\xaf,0.5\n"
    yield "too_large.csv", good + b"a,\xf5\x80\x80\x80,0.5\n"
    yield "late_byte.csv", csv(LONG_HEADER, rows(30_000)) + b"a,\xffp,0.5\n"
    yield "nul.csv", good + b"a,p\0,0.5\n"
    yield "late_nul.csv", csv(LONG_HEADER, rows(30_000)) + b"\0\n"
    yield "mark.csv", b"\xef\xbb\xbf" + good + b"a,p,x\n"
    yield "workbook.csv", b"PK\x03\x04" + b"\x14\0\x06\0" * 20
    yield "old_workbook.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50
    yield "not_gzip.csv.gz", good
    yield "cut.csv.gz", gzip.compress(csv(LONG_HEADER, rows(500)), mtime=0)[:-30]
    yield "bad.csv.gz", gzip.compress(csv(LONG_HEADER, with_cell(2, "x")), mtime=0)
    yield "latin1.jsonl", '{"judge": "é", "event": "p", "probability": 0.5}\n'.encode("latin-1")
    yield "nul.jsonl", b'{"judge": "a", "event": "p", "probability": 0.5}\n\0\n'
    yield "workbook.parquet", b"PK\x03\x04" + b"\x14\0\x06\0" * 20


def json_files() -> Iterator[tuple[str, bytes]]:
    """JSON lines with one bad line among good ones."""
    good = [json.dumps(dict(zip(LONG_HEADER, (*row[:2], float(row[2])), strict=True))) for row in rows()]
    bad = (
        *(
            '{"judge": "a", "event": "p", "probability": }',
            "[1, 2]",
            "17",
            "null",
            '"text"',
            "{",
            "judge,event,p",
            "{}",
        ),
        *('{"judge": "a", "event": "p", "event": "q", "probability": 1}', '{"judge": "a", "event": "p"}'),
        *(
            f'{{"judge": "a", "event": "p", "probability": {p}}}'
            for p in ("2", "-1", "NaN", "Infinity", "true", "null")
        ),
        *(
            f'{{"judge": "a", "event": "p", "probability": {p}}}'
            for p in ('"x"', '"1.5"', "[0.5]", '{"p": 1}', "1e999")
        ),
        *(f'{{"judge": "a", "event": {e}, "probability": 0.5}}' for e in ("null", "1.5", "true", '""', '"p &"', "[1]")),
        *(f'{{"judge": {j}, "event": "p", "probability": 0.5}}' for j in ("null", '"\\ud800"', '" "', "0.5")),
        '{"judge": "a", "event": "p", "probability": 0.5} {}',
        "[" * 100_000,
        '{"judge": "a", "event": "p", "probability": 0.5, "probability_yes": 0.4}',
    )
    for i, line in enumerate(bad):
        yield f"line{i}.jsonl", "\n".join([*good[:7], line, *good[7:]]).encode()
    yield "empty.jsonl", b"\n\n"
    yield "many_bad.ndjson", "\n".join(["{"] * 13).encode()


def parquet(columns: dict[str, pa.Array]) -> bytes:
    """Write columns to Parquet."""
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def parquet_files() -> Iterator[tuple[str, bytes]]:
    """Parquet with values, types and bytes that cannot be used."""
    judge, event = (pa.array([row[i] for row in rows()]) for i in range(2))
    number = [float(row[2]) for row in rows()]
    good = {"judge": judge, "event": event, "probability": pa.array(number)}

    def replaced(name: str, values: list[object], kind: pa.DataType | None = None) -> bytes:
        return parquet({**good, name: pa.array(values, kind)})

    words = judge.to_pylist()
    yield "above.parquet", replaced("probability", [*number[:-1], 1.5])
    yield "whole.parquet", replaced("probability", [0, 1, 2] * 5)
    yield "null_probability.parquet", replaced("probability", [*number[:-1], None])
    yield "nan.parquet", replaced("probability", [*number[:-1], float("nan")])
    yield "infinite.parquet", replaced("probability", [*number[:-1], float("inf")])
    yield "text_probability.parquet", replaced("probability", ["x", *map(str, number[1:])])
    yield "truth_probability.parquet", replaced("probability", [True, False, None] * 5)
    yield "list_probability.parquet", replaced("probability", [[0.5]] * 15)
    yield "null_judge.parquet", replaced("judge", [*words[:-1], None])
    yield "null_event.parquet", replaced("event", [None, *event.to_pylist()[1:]])
    yield "blank_event.parquet", replaced("event", [" ", *event.to_pylist()[1:]])
    yield "bad_event.parquet", replaced("event", ["p &", *event.to_pylist()[1:]])
    yield "float_event.parquet", replaced("event", [0.5 * i for i in range(15)])
    yield "bytes_event.parquet", replaced("event", [b"p"] * 15)
    yield "list_event.parquet", replaced("event", [["p"]] * 15)
    yield "category.parquet", parquet({**good, "event": pa.array(["p &"] * 15).dictionary_encode()})
    yield "small_float.parquet", replaced("probability", [1.25] * 15, pa.float32())
    yield "weights.parquet", parquet({**good, "weight": pa.array([-1.0] * 15)})
    yield "times.parquet", parquet({**good, "time": pa.array([None] * 15, pa.timestamp("us"))})
    yield "outcome.parquet", parquet({**good, "outcome": pa.array([3] * 15)})
    yield "names.parquet", parquet({"a": judge, "b": event})
    yield "twice.parquet", parquet({**good, "Probability": pa.array(number)})
    yield "no_rows.parquet", parquet({name: values[:0] for name, values in good.items()})
    yield "no_columns.parquet", parquet({})
    yield "cut.parquet", parquet(good)[:-20]
    yield "half.parquet", parquet(good)[:150]
    yield "text.parquet", csv(LONG_HEADER, rows())
    yield "empty.parquet", b""


def broken_files() -> dict[str, bytes]:
    """All files by their names."""
    makers = (*(value_files, interval_files, header_files, row_files, encoding_files, json_files, parquet_files),)
    made = [file for maker in makers for file in maker()]
    assert len({name for name, _ in made}) == len(made)
    return dict(made)


def message(path: Path) -> str:
    """What a person sees: the error, or what was read and the notes."""
    try:
        panel = co.read_panel(path)
    except CoherentlyError as error:
        return LIBRARY_WORDS.sub(r"\1...\2", str(error)).replace(f"{path.parent}/", "")
    return "\n".join([repr(panel), *panel.notes])


def messages(folder: Path) -> dict[str, str]:
    """The message for each file."""
    found = {}
    for name, content in broken_files().items():
        (folder / name).write_bytes(content)
        found[name] = message(folder / name)
    return found


def read_messages() -> dict[str, str]:
    """The stored messages."""
    parts = MESSAGES.read_text("utf-8").split("\n=== ")[1:]
    return {name: text.removesuffix("\n") for name, _, text in (part.partition("\n") for part in parts)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        stored = messages(Path(made))
    text = "".join(f"\n=== {name}\n{said}\n" for name, said in stored.items())
    MESSAGES.write_text(text, "utf-8", newline="\n")
    print(f"{len(stored)} messages written to {MESSAGES}")
