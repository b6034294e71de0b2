"""Files into forecasts: CSV and JSON lines, long or wide, and the canonical form of a panel with its digest."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from . import doubles
from .check_errors import BadInputError
from .language import normal, statement

ROLES = {
    "judge": ("judge", "forecaster", "user", "model", "judge_id"),
    "event": ("event", "question", "event_id"),
    "probability": ("probability", "p", "prob", "forecast", "probability_yes"),
    "weight": ("weight",),
    "lower": ("lower",),
    "upper": ("upper",),
    "outcome": ("outcome", "resolution", "answer"),
    "time": ("time",),
}
PAIRS = "bid ask/bid_price ask_price/best_bid best_ask/yes_bid yes_ask/low high/min max/minimum maximum"
QUOTES = [tuple(pair.split()) for pair in f"{PAIRS}/lower_bound upper_bound".split("/")]
LARGEST_FILE = 1 << 30
FORM = ("coherently-panel", 1)


@dataclass(frozen=True)
class ReadingOptions:
    """How a table is read; the same words as those of `coherently aggregate`."""

    percent: bool = False
    missing: str = "error"
    repeats: str = "keep"
    plain_events: bool = False


@dataclass(frozen=True)
class ForecastRow:
    """One forecast, with numbers as the canonical form has them; `probability` is None for an abstention."""

    judge: str
    event: str
    probability: float | None
    weight: float
    lower: float | None = None
    upper: float | None = None
    time: float | datetime = 0


@dataclass(frozen=True)
class Canonical:
    """The canonical form of a panel: its lines, of which the digest is taken."""

    plain_events: bool
    laws: tuple[str, ...]
    forecasts: tuple[dict[str, Any], ...]
    digest: str


def unpacked(file: BinaryIO) -> BinaryIO:
    """A file, or what is packed in it if it is gzipped."""
    begins = file.read(2)
    file.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if begins == b"\x1f\x8b" else file


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, gzipped or not."""
    try:
        with path.open("rb") as file:
            data = unpacked(file).read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise BadInputError(f"{path} has more than {LARGEST_FILE} bytes")
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(f"{path} cannot be read: {error}") from None
    except UnicodeDecodeError:
        raise BadInputError(f"{path} is not text in UTF-8") from None


def read_json(text: str, where: str) -> Any:
    """A JSON value whose numbers stay as they are written, as texts marked by a class."""
    try:
        return READER.decode(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{where} is not JSON: {error}") from None


class WrittenNumber(str):
    """A number of JSON, as it is written."""

    __slots__ = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


READER = json.JSONDecoder(
    parse_float=WrittenNumber, parse_int=WrittenNumber, parse_constant=WrittenNumber, object_pairs_hook=_object
)


def read_rows(path: Path, options: ReadingOptions) -> list[ForecastRow] | Canonical:
    """The forecasts of a file; what is in the canonical form already is given so."""
    text, name = read_text(path), path.name.lower().removesuffix(".gz")
    if text.startswith('{"format":"coherently-panel"'):
        return canonical_lines(text)
    if name.endswith((".jsonl", ".ndjson")):
        lines = [(line, f"{path.name} row {i}") for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        records = [read_json(line, where) for line, where in lines]
        if not all(isinstance(one, dict) for one in records):
            raise BadInputError(f"{path.name}: a row is not an object")
        header = list(dict.fromkeys(key for one in records for key in one))
        rows = [[one.get(key) for key in header] for one in records]
    else:
        first = next((line for line in text.splitlines() if line.strip()), "")
        mark = "\t" if name.endswith(".tsv") else max(",\t;", key=re.sub('"[^"]*"', "", first).count)
        cells = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if any(map(str.strip, row))]
        width = max([1, *(i for row in cells[:1] for i, cell in enumerate(row, 1) if cell.strip())])
        header = [cell.strip() for row in cells[:1] for cell in row[:width]]
        rows = [[*row, *[""] * width][:width] for row in cells[1:]]
    if not header:
        raise BadInputError(f"{path.name} is empty")
    return _forecasts(header, rows, options, path.name)


def _forecasts(header: list[str], rows: list[list[Any]], options: ReadingOptions, source: str) -> list[ForecastRow]:
    roles: dict[str, int] = {}
    for role, names in ROLES.items():
        found = [i for i, name in enumerate(header) if name.lower() in names]
        if len(found) > 1:
            raise BadInputError(f"{source} has {len(found)} columns for the role {role}")
        roles.update({role: found[0]} if found else {})
    spelt = {re.sub("[ -]", "_", name.lower()): i for i, name in enumerate(header)}
    if not {"lower", "upper"} & roles.keys() and ("event" in roles or header[0] == ""):
        for low, high in QUOTES:
            if {low, high} <= spelt.keys():
                roles = {"event": 0, **roles, "lower": spelt[low], "upper": spelt[high]}
    placed = [(f"{source} row {i}", row) for i, row in enumerate(rows, 2)]
    if "event" in roles and {"probability", "lower", "upper"} & roles.keys():
        return [_long({role: row[i] for role, i in roles.items()}, options, where) for where, row in placed]
    if roles.get("event", 0) == 0 and (header[0] == "" or "event" in roles) and len(roles) <= 1:
        return [
            ForecastRow(judge, _name(row[0], where), doubles.share(cell, options.percent, where), 1)
            for where, row in placed
            for judge, cell in zip(header[1:], row[1:], strict=True)
        ]
    raise BadInputError(f"{source} is neither a long nor a wide table; write its canonical form and check that")


def _long(cells: dict[str, Any], options: ReadingOptions, where: str) -> ForecastRow:
    """The forecast of a row of a long table, whose cells have roles."""
    low, high = (doubles.share(cells.get(role), options.percent, where) for role in ("lower", "upper"))
    probability = doubles.share(cells.get("probability"), options.percent, where)
    if probability is None and (low, high) != (None, None):
        probability = doubles.middle(low, high)
    if probability is None and options.missing != "abstain":
        raise BadInputError(f"{where}: no probability; an abstention needs --missing abstain")
    if probability is not None and not (low is None or low <= probability) & (high is None or probability <= high):
        raise BadInputError(f"{where}: the probability lies outside its interval")
    judge, event = _name(cells.get("judge", "panel"), where), _name(cells["event"], where)
    weight, time = doubles.weight(cells.get("weight", "1"), where), _moment(cells.get("time", "0"), where)
    return ForecastRow(judge, event, probability, weight, lower=low, upper=high, time=time)


def _name(cell: object, where: str) -> str:
    text = str(cell).strip() if isinstance(cell, str) else ""
    if isinstance(cell, WrittenNumber) and doubles.double(cell, where) is not None:
        text = str(int(doubles.double(cell, where) or 0))
    if not text:
        raise BadInputError(f"{where}: a judge or an event has no name")
    return text


def _moment(cell: object, where: str) -> float | datetime:
    try:
        found = doubles.double(cell, where)
    except BadInputError:
        try:
            moment = datetime.fromisoformat(str(cell).strip())
        except ValueError:
            raise BadInputError(f"{where}: {cell!r} is not a time") from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if found is None:
        raise BadInputError(f"{where}: no time")
    return found


def settle(rows: Sequence[ForecastRow], repeats: str, key: Callable[[str], Hashable]) -> list[ForecastRow]:
    """Rows with the text in which each event was first written, without abstentions, repeats as the option says."""
    first: dict[Hashable, str] = {}
    named = [replace(row, event=first.setdefault(key(row.event), row.event)) for row in rows]
    told = [row for row in named if row.probability is not None]
    if repeats == "keep":
        return told
    groups: dict[tuple[str, str], list[ForecastRow]] = {}
    for row in told:
        groups.setdefault((row.judge, row.event), []).append(row)
    if repeats == "error" and any(len(group) > 1 for group in groups.values()):
        raise BadInputError("a judge has forecast an event twice")
    if repeats == "last":
        return [max(enumerate(group), key=lambda one: (one[1].time, one[0]))[1] for group in groups.values()]
    return [_averaged(group) if repeats == "mean" and len(group) > 1 else group[0] for group in groups.values()]


def _averaged(group: list[ForecastRow]) -> ForecastRow:
    group = sorted(group, key=lambda row: row.time)
    weight = doubles.mean([row.weight for row in group])
    pull = [row.weight if weight > 0 else 1 for row in group]
    bounds = [[x for x in ends if x is not None] for ends in ([r.lower for r in group], [r.upper for r in group])]
    low, high = (doubles.mean(ends) if ends else None for ends in bounds)
    probability = doubles.mean([row.probability or 0 for row in group], pull)
    return replace(group[0], probability=probability, weight=weight, lower=low, upper=high)


def canonical(rows: Sequence[ForecastRow], laws: Sequence[str], *, plain_events: bool) -> Canonical:
    """The canonical form of forecasts and laws (docs/reference/result-json.md defines it)."""
    lines = []
    for row in rows:
        numbers = {"probability": row.probability, "weight": row.weight, "lower": row.lower, "upper": row.upper}
        told = "".join(f',"{name}":{doubles.shortest(x)}' for name, x in numbers.items() if x is not None)
        lines.append(f'{{"judge":{_json(normal(row.judge))},"event":{_json(normal(row.event))}{told}}}\n')
    head = f'{{"format":"{FORM[0]}","version":{FORM[1]},"plain_events":{"true" if plain_events else "false"}}}\n'
    said = [f'{{"law":{_json(text)}}}\n' for text in map(statement, laws) if text]
    text = head + "".join(sorted(said, key=str.encode)) + "".join(sorted(lines, key=str.encode))
    return canonical_lines(text)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def canonical_lines(text: str) -> Canonical:
    """Read the canonical form; lines that are not sorted, or of another version, are refused."""
    lines = text.split("\n")
    head = read_json(lines[0], "the first line of the panel")
    if (head.get("format"), head.get("version")) != (FORM[0], str(FORM[1])) or lines[-1] != "":
        raise BadInputError("the canonical form of the panel is of another version, or cut off")
    said = [read_json(line, f"line {i} of the panel") for i, line in enumerate(lines[1:-1], 2)]
    laws = [one["law"] for one in said if isinstance(one, dict) and one.keys() == {"law"} and type(one["law"]) is str]
    forecasts = said[len(laws) :]
    kinds = {"judge": str, "event": str, "weight": WrittenNumber, "probability": WrittenNumber}
    known = kinds | {"lower": WrittenNumber, "upper": WrittenNumber}
    for one in forecasts:
        if not isinstance(one, dict) or not kinds.keys() <= one.keys() <= known.keys():
            raise BadInputError("a line of the canonical form is neither a law nor a forecast, or laws come late")
        if any(type(value) is not known[name] for name, value in one.items()):
            raise BadInputError("a line of the canonical form has a text for a number, or a number for a text")
    for part in (lines[1 : 1 + len(laws)], lines[1 + len(laws) : -1]):
        if part != sorted(part, key=lambda line: (line + "\n").encode("utf-8", "surrogatepass")):
            raise BadInputError("the lines of the canonical form are not sorted")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Canonical(head.get("plain_events") is True, tuple(laws), tuple(forecasts), digest)
