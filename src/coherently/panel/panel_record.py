"""A panel as JSON, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    KnownText,
    ListOf,
    MapOf,
    ObjectOf,
    OneOf,
    OrNull,
    Record,
    RecordField,
    numbers,
    plain,
)
from coherently.errors import PanelError, summarise
from coherently.events import Events
from coherently.panel.canonical import is_plain
from coherently.panel.columnar.cell_values import are_weights
from coherently.panel.frames import LIBRARIES
from coherently.panel.laws import NO_LAWS, impossible_conditions, read_laws

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.events import Reading
    from coherently.panel.panel import Panel

OPTIONAL = ("lower", "upper", "time")
"""Columns that a panel may lack."""
UNRESOLVED, CALLED_OFF = -1, -2
"""Outcomes other than 1 and 0: not known, and that of a conditional whose condition came out false."""
OUTCOMES = {"true": 1, "false": 0, "called_off": CALLED_OFF}
"""The words for outcomes."""
EVENT = ObjectOf(
    "a panel",
    (
        RecordField("event", TEXT, "the text"),
        RecordField(
            "outcome",
            OrNull(OneOf(lambda: OUTCOMES)),
            "what came of it; called_off is a conditional whose condition failed; null if it is not resolved",
        ),
    ),
)
FORECAST_ROW = ObjectOf(
    "a panel",
    (
        RecordField("judge", TEXT, "who made the forecast"),
        RecordField("event", TEXT, "the event, as the panel first wrote it"),
        RecordField("probability", NUMBER, "its probability, from 0 to 1"),
        RecordField("weight", NUMBER, "how much the forecast counts: 0, or from 1e-50 to 1e50"),
        RecordField("lower", OrNull(NUMBER), "the lower end of an interval", optional=True),
        RecordField("upper", OrNull(NUMBER), "the upper end of an interval", optional=True),
        RecordField("time", OrNull(NUMBER), "when it was made, in seconds since 1970 (UTC)", optional=True),
    ),
)
PANEL = Record(
    "panel",
    2,
    "All forecasts of a panel, with laws, outcomes and labels (`co.Panel`).",
    (
        RecordField("plain_events", FLAG, "whether each event is one variable with that text as its name"),
        RecordField("laws", ListOf(TEXT), "declarations of variables, laws and pins, in this order"),
        RecordField("judges", ListOf(TEXT), "the names of the judges"),
        RecordField("events", ListOf(EVENT), "one object per event as first written"),
        RecordField("forecasts", ListOf(FORECAST_ROW), "one object per forecast, in the order of the panel"),
        RecordField("labels", MapOf(TEXT), "readable names"),
        RecordField("notes", ListOf(TEXT), "what a reader should know about how the source was read"),
        RecordField("reduced", FLAG, "whether means with total weights stand in place of the forecasts"),
        RecordField("library", OrNull(KnownText(lambda: LIBRARIES)), "the library of the frames that it gives"),
    ),
    PanelError,
    oldest=2,
)
"""Version 1 of this format is the canonical form of docs/reference/result-json.md, of which digests are made."""


def panel_values(panel: Panel) -> dict[str, Any]:
    """The fields of the record of a panel."""
    texts, outcome = list(panel.written.text), panel.written.outcome.tolist()
    word = {number: name for name, number in OUTCOMES.items()}
    columns: dict[str, list[Any]] = {
        "judge": [panel.judges[i] for i in panel.judge_index.tolist()],
        "event": [texts[i] for i in panel.event_index.tolist()],
        "probability": panel.probability.tolist(),
        "weight": panel.weight.tolist(),
    }
    for name in OPTIONAL:
        values = getattr(panel, name)
        if values is not None:
            columns[name] = plain(values)
    return {
        "plain_events": is_plain(panel),
        "laws": panel.laws.statements(),
        "judges": list(panel.judges),
        "events": [{"event": text, "outcome": word.get(number)} for text, number in zip(texts, outcome, strict=True)],
        "forecasts": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "labels": dict(panel.labels),
        "notes": list(panel.notes),
        "reduced": panel.reduced,
        "library": panel.library,
    }


def panel_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments that make the panel of such fields; `written` has those of its events."""
    rows: list[dict[str, Any]] = values["forecasts"]
    events = Events()
    laws = read_laws(values["laws"], events) if values["laws"] else NO_LAWS
    judges, texts = values["judges"], [each["event"] for each in values["events"]]
    reading = events.add_names(texts) if values["plain_events"] else events.add(texts)
    _check_texts(texts, reading)
    broken = impossible_conditions(laws, events, reading.condition)
    if broken:
        raise PanelError(next(iter(broken.values())))
    outcome = [OUTCOMES.get(each["outcome"], UNRESOLVED) for each in values["events"]]
    sides = {"event": reading.event, "condition": reading.condition, "rest": reading.rest}
    return {
        "events": events,
        "judges": tuple(judges),
        "written": {"text": tuple(texts), **sides, "outcome": np.array(outcome, np.int8)},
        "judge_index": _places("judge", judges, rows),
        "event_index": _places("event", texts, rows),
        **_numbers(rows),
        "laws": laws,
        "notes": tuple(values["notes"]),
        "labels": values["labels"],
        "library": values["library"],
        "reduced": values["reduced"],
    }


def _places(name: str, known: list[str], rows: list[dict[str, Any]]) -> Any:
    """The numbers of the judges or events of forecasts."""
    number = {text: i for i, text in enumerate(known)}
    if len(number) < len(known):
        twice = next(text for i, text in enumerate(known) if number[text] != i)
        raise PanelError(f"{name}s has {twice!r} twice")
    for i, row in enumerate(rows):
        if row[name] not in number:
            raise PanelError(f"forecasts[{i}].{name} is {row[name]!r}; it must be one of {name}s")
    return np.array([number[row[name]] for row in rows], np.int32)


def _check_texts(texts: list[str], reading: Reading) -> None:
    """Refuse texts that cannot be read, and two texts of one event."""
    if reading.faults:
        raise PanelError(summarise([f"events[{fault.index}].event: {fault}" for fault in reading.faults]))
    first: dict[tuple[int, ...], int] = {}
    for i, sides in enumerate(map(tuple, reading.sides.tolist())):
        if first.setdefault(sides, i) != i:
            raise PanelError(f"events[{i}].event is {texts[i]!r}, the same event as events[{first[sides]}]")


def _numbers(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of numbers; an error names the first that is outside its limits."""
    found: dict[str, Any] = {name: numbers([row[name] for row in rows]) for name in ("probability", "weight")}
    for name in OPTIONAL:
        there = any(name in row for row in rows)
        found[name] = numbers([row.get(name) for row in rows]) if there else None
    for name in ("probability", "lower", "upper"):
        if found[name] is not None:
            _check(found, name, ~((found[name] < 0) | (found[name] > 1)), "a number from 0 to 1")
    _check(found, "weight", are_weights(found["weight"]), "0, or a number from 1e-50 to 1e50")
    if found["lower"] is not None and found["upper"] is not None:
        _check(found, "lower", ~(found["lower"] > found["upper"]), "at most upper")
    return found


def _check(columns: dict[str, Vector], name: str, good: Any, allowed: str) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise PanelError(f"forecasts[{i}].{name} is {columns[name][i]:g}; it must be {allowed}")
