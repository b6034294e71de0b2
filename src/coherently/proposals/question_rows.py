"""Rows of questions: a text with what a platform says beside it, from a file, a panel or a list."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

from coherently.errors import PanelError, counted
from coherently.panel import Panel, read_table

Questions: TypeAlias = "str | os.PathLike[str] | Panel | Iterable[str | Mapping[str, Any]]"
"""A file (CSV or JSON lines), a panel, texts, or mappings with the names of columns."""

ALIASES: Final = {
    "id": ("id", "name", "event", "event_id", "question_id", "ticker"),
    "text": ("text", "question", "title", "question_text"),
    "description": ("description", "rules", "resolution_criteria", "background"),
    "group": ("group", "event_ticker", "group_id"),
    "group_title": ("group_title", "event_title"),
    "option": ("option", "yes_sub_title", "groupitemtitle", "contract"),
    "exclusive": ("exclusive", "platform_exclusive", "mutually_exclusive", "negrisk"),
    "strike": ("strike",),
    "open_date": ("open_date", "open_time", "created"),
    "close_date": ("close_date", "close_time", "closes"),
}
"""Fields of a question, and the names that columns may have for them."""
PANEL_COLUMNS: Final = frozenset({"judge", "probability", "weight", "lower", "upper", "outcome", "time", "source"})
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


@dataclass(frozen=True, slots=True)
class Strike:
    """The numbers of a platform: its word for the comparison, and the ends."""

    type: str
    floor: Decimal | None = None
    cap: Decimal | None = None
    unit: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question: its name in laws, its text, and the fields of its platform; None is what nobody says."""

    name: str
    text: str
    description: str | None = None
    group: str | None = None
    group_title: str | None = None
    option: str | None = None
    exclusive: bool | None = None
    strike: Strike | None = None
    open_date: str | None = None
    close_date: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """All rows in the order of their names, notes on how they were read, and the digest of what was read."""

    rows: tuple[QuestionRow, ...]
    notes: tuple[str, ...]
    digest: str


def read_questions(source: Questions, labels: Mapping[str, str] | None = None) -> QuestionTable:
    """Read questions; rows of one name must say the same, and order does not matter.

    >>> [row.name for row in read_questions(["Team B wins", "Team A wins"]).rows]
    ['Team A wins', 'Team B wins']
    """
    if isinstance(source, Panel):
        return _table([QuestionRow(text, source.labels.get(text, text)) for text in _names(source)], ())
    if isinstance(source, str | os.PathLike):
        return _from_file(source, labels or {})
    if not isinstance(source, Iterable):
        raise PanelError("questions are a file, a panel, or a list of texts or of mappings", code="bad-question")
    rows, unknown = [], set()
    for number, one in enumerate(source, 1):
        values = {"text": one} if isinstance(one, str) else one
        if not isinstance(values, Mapping):
            raise PanelError(f"question {number} is neither a text nor a mapping of fields", code="bad-question")
        row, other = _row(values, f"question {number}", labels or {})
        rows.append(row)
        unknown |= other
    return _table(rows, unknown)


def _names(panel: Panel) -> list[str]:
    """The events of a panel that are single names: what a formula means is known already."""
    plain = set(panel.events.variables)
    return [text for text in panel.written.text if text.strip('"') in plain or " " in panel.labels.get(text, "")]


def _from_file(source: str | os.PathLike[str], labels: Mapping[str, str]) -> QuestionTable:
    path = os.fspath(source)
    if path.endswith((".jsonl", ".ndjson")):
        records = _json_records(path)
    else:
        table = read_table(path)
        names = list(table.columns)
        cells = [list(table.columns[name]) for name in names]
        records = [dict(zip(names, values, strict=True)) for values in zip(*cells, strict=True)]
    if not records:
        raise PanelError(f"{path} has no questions", code="no-rows")
    rows, unknown = [], set()
    for number, record in enumerate(records, 1):
        row, other = _row(record, f"{os.path.basename(path)} row {number}", labels)  # noqa: PTH119
        rows.append(row)
        unknown |= other
    return _table(rows, unknown)


def _json_records(path: str) -> list[dict[str, Any]]:
    from coherently.panel import read_lines

    records = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise PanelError(f"{path} line {number} is not JSON: {error}", code="bad-question") from None
        if not isinstance(value, dict):
            raise PanelError(
                f"{path} line {number} is not an object with the fields of a question", code="bad-question"
            )
        records.append(value)
    return records


def _row(values: Mapping[str, Any], place: str, labels: Mapping[str, str]) -> tuple[QuestionRow, set[str]]:
    """The row, and the names of columns that nobody knows."""
    known = {name.lower().strip(): name for name in values}
    fields: dict[str, Any] = {}
    used = set()
    for field, aliases in ALIASES.items():
        column = next((known[alias] for alias in aliases if alias in known), None)
        if column is not None and column not in used:
            fields[field] = values[column]
            used.add(column)
    name, text = _text(fields.get("id")), _text(fields.get("text"))
    text = text or labels.get(name or "", "") or name
    if not text:
        raise PanelError(f"{place} has neither a text nor an id: give a column text or id", code="bad-question")
    exclusive = _flag(fields.get("exclusive"), place)
    plain = {field: _text(fields.get(field)) for field in ALIASES if field not in ("id", "text", "exclusive", "strike")}
    row = QuestionRow(name or text, text, exclusive=exclusive, strike=_strike(fields.get("strike"), place), **plain)
    return row, {name for name in values if name not in used and name.lower() not in PANEL_COLUMNS}


def _text(value: object) -> str | None:
    told = "" if value is None or value != value else str(value).strip()  # noqa: PLR0124
    return " ".join(told.split()) or None


def _flag(value: object, place: str) -> bool | None:
    told = (_text(value) or "").lower()
    if not told:
        return None
    if told in _TRUE or told in _FALSE:
        return told in _TRUE
    raise PanelError(f"{place}: exclusive is {value!r}; it must be true, false or blank", code="bad-question")


def _strike(value: object, place: str) -> Strike | None:
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            raise PanelError(f"{place}: strike is {value!r}; it must be a JSON object", code="bad-question") from None
    if not isinstance(value, Mapping):
        return None
    ends = []
    for end in ("floor", "cap"):
        try:
            number = None if value.get(end) is None else Decimal(str(value[end]))
        except InvalidOperation:
            number = None
        ends.append(number if number is not None and number.is_finite() else None)
    words = [_text(value.get(word)) or "" for word in ("type", "unit", "label")]
    return Strike(words[0], ends[0], ends[1], unit=words[1], label=words[2])


def _table(rows: list[QuestionRow], unknown: Iterable[str]) -> QuestionTable:
    named: dict[str, QuestionRow] = {}
    repeated = 0
    for row in rows:
        if row.name in named and named[row.name] != row:
            raise PanelError(
                f"two questions have the name {row.name!r} but say different things: give each its own id",
                code="bad-question",
            )
        repeated += row.name in named
        named[row.name] = row
    notes = []
    if repeated:
        notes.append(f"{counted(repeated, 'row')} repeated a question and was read once")
    if extra := sorted(unknown):
        notes.append(f"columns that relate does not know, ignored: {', '.join(extra)}")
    ordered = tuple(named[name] for name in sorted(named))
    told = "\n".join(repr(row) for row in ordered)
    return QuestionTable(ordered, tuple(notes), hashlib.sha256(told.encode()).hexdigest())
