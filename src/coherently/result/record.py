"""A result as JSON, and back: docs/reference/result-json.md says what each field is."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    KnownText,
    ListOf,
    ObjectOf,
    OneOf,
    OrNull,
    Record,
    RecordField,
    fact,
    number_or_nan,
    numbers,
)
from coherently.contract.description import MisfitError, refuse
from coherently.errors import ListedProblem, ResultError, Where
from coherently.events import Events, Fault
from coherently.panel import NO_LAWS, Panel, WrittenEvents, is_plain, read_laws
from coherently.panel.columnar.cell_values import HEAVIEST, are_weights
from coherently.panel.panel_record import UNRESOLVED
from coherently.problem import LOSSES, Log, find_loss, pose, settled
from coherently.problem.groups.named import DESIGNS
from coherently.result.idle import with_idle
from coherently.solve import METHODS, Averages, Coherence, Component, Global, Local, Proof, Route, Status, Worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem import Loss, Problem
    from coherently.result.result import Result
    from coherently.solve import Solution

DIGEST = re.compile("[0-9a-f]{64}")
FORMS = ("called_off", "linearised", "ratio")
"""How an objective may count conditional forecasts."""
CELL = OrNull(NUMBER)
"""A number, or null where it is not known."""
ROW = ("probability", "weight", "lower", "upper")
INTERVAL_ROW = ObjectOf(
    "a result",
    (
        RecordField("probability", NUMBER, "the probability that the judge gave"),
        RecordField("weight", NUMBER, "its weight"),
        RecordField("lower", CELL, "the lower end of the interval"),
        RecordField("upper", CELL, "the upper end"),
    ),
)
FORECAST = ObjectOf(
    "a result",
    (
        RecordField("event", TEXT, "the event as the panel writes it"),
        RecordField("probability", CELL, "its coherent probability"),
        RecordField("raw", CELL, "the mean of its forecasts; null without weight"),
        RecordField("weight", NUMBER, "their total weight"),
        RecordField("rows", ListOf(INTERVAL_ROW), "its single forecasts, if it has intervals", optional=True),
    ),
)
COMPONENT = ObjectOf(
    "a result",
    (
        RecordField("variables", WHOLE, "the number of its variables"),
        RecordField("events", WHOLE, "the number of its distinct events"),
        RecordField("coherence", OneOf(lambda: Coherence), "how far its answer is coherent"),
        RecordField("route", KnownText(lambda: Route), "how the answer was found, and the conflict of evidence"),
        RecordField("proof", OneOf(lambda: Proof), "on what the bound rests"),
        RecordField("objective", CELL, "its part of the objective"),
        RecordField("lower_bound", CELL, "its part of the lower bound"),
    ),
)
WORLDS_PART = ObjectOf(
    "a result",
    (
        RecordField("variables", ListOf(TEXT), "names of variables, or comparisons such as winner = Ann"),
        RecordField("weights", ListOf(NUMBER), "the probability of each possible world"),
        RecordField("worlds", ListOf(TEXT), "a text per world, with 0 or 1 for each variable"),
    ),
)
RESULT = Record(
    "result",
    3,
    "Coherent forecasts and what they promise (`co.aggregate`, `coherently aggregate --json`).",
    (
        RecordField("panel_sha256", OrNull(TEXT), "the digest of the panel; null if it had means only", since=3),
        RecordField("status", OneOf(lambda: Status), "how the method ended"),
        RecordField("coherence", OneOf(lambda: Coherence), "how far the forecasts are coherent"),
        RecordField("method", KnownText(lambda: METHODS), "the name of the method"),
        RecordField("tolerance", CELL, "the gap, relative to the objective or 1, that the method calls optimal"),
        RecordField("loss", KnownText(lambda: LOSSES), "the distance that was minimised"),
        RecordField("clip", CELL, "the clip of the loss log; null for other losses"),
        RecordField("objective", CELL, "the weighted distance from the merged forecasts"),
        RecordField("lower_bound", CELL, "a lower bound on the least distance"),
        RecordField("gap", CELL, "the objective less the lower bound"),
        RecordField("guaranteed_improvement", CELL, "the summed Brier penalty that is saved in every possible world"),
        RecordField("groups", OrNull(KnownText(lambda: DESIGNS)), "the group design of locally coherent forecasts"),
        RecordField("sweeps", OrNull(WHOLE), "the number of passes over the groups"),
        RecordField("violation", CELL, "the largest distance from a group's coherent set, or from a pin"),
        RecordField("conditionals", OrNull(OneOf(lambda: FORMS)), "how the objective counts conditional forecasts"),
        RecordField("note", OrNull(TEXT), "what a reader should know about how the answer was found"),
        RecordField("plain_events", FLAG, "whether each event is one variable with that text as its name"),
        RecordField("laws", ListOf(TEXT), "declarations, laws and pins of the panel"),
        RecordField("forecasts", ListOf(FORECAST), "one object per event as written"),
        RecordField("components", ListOf(COMPONENT), "one object per independent component; may be empty"),
        RecordField("worlds", OrNull(ListOf(WORLDS_PART)), "for global coherence, one object per independent part"),
    ),
    oldest=2,
)
"""Version 2 does not say from which panel a result was made."""
PROMISES = tuple(field.name for field in RESULT.fields[7:16])
LACKS = {
    Coherence.NONE: ("groups", "sweeps", "violation", "worlds"),
    Coherence.LOCAL: ("worlds",),
    Coherence.GLOBAL: ("groups", "sweeps"),
}
"""The fields that an answer of each coherence does not have."""
CONFLICT = ", conflict "
"""The text between a route and the conflict of the evidence."""
MOST_FORECASTS = 1e12
"""The weight of an event in a record is a sum; it is at most this many times the greatest weight of a forecast."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a record says about the method: its name, and the gap that it calls optimal."""

    name: str
    tolerance: float | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a record says that a result would otherwise work out: its gap, and the digest of the panel."""

    gap: float | None
    panel_sha256: str | None


def write(result: Result) -> str:
    """Write a result, with numbers that are read back exactly."""
    return json.dumps(as_dict(result), ensure_ascii=False, allow_nan=False)


def as_dict(result: Result) -> dict[str, Any]:
    """Everything that is written about a result, in plain values."""
    loss = result.loss
    found, mixture = result.columns(), result.worlds
    columns = {name: _nullable(found[name]) for name in ("event", "probability", "raw", "weight")}
    rows = _rows(result.panel)
    values = {
        "panel_sha256": result.panel_sha256,
        "status": str(result.status),
        "coherence": str(result.coherence),
        "method": result.method.name,
        "tolerance": getattr(result.method, "tolerance", None),
        "loss": loss.name,
        "clip": loss.clip if isinstance(loss, Log) else None,
        **_finite({name: getattr(result, name) for name in PROMISES}),
        "plain_events": is_plain(result.panel),
        "laws": result.panel.laws.statements(),
        "forecasts": [
            dict(zip(columns, row, strict=True)) | rows.get(i, {})
            for i, row in enumerate(zip(*columns.values(), strict=True))
        ],
        "components": [_described(component) for component in result.components],
        "worlds": None if mixture is None else [_part(part, mixture.names) for part in mixture.parts],
    }
    return RESULT.headed(values)


def _rows(panel: Panel) -> dict[int, dict[str, list[dict[str, float | None]]]]:
    """The single forecasts of events with intervals, which a mean cannot replace."""
    none = np.full(len(panel), np.nan)
    lower, upper = (none if ends is None else ends for ends in (panel.lower, panel.upper))
    columns = (panel.probability, panel.weight, lower, upper)
    found: dict[int, dict[str, list[dict[str, float | None]]]] = {}
    intervals = np.unique(panel.event_index[~np.isnan(lower) | ~np.isnan(upper)])
    for i in np.flatnonzero(np.isin(panel.event_index, intervals)).tolist():
        numbers = _nullable(np.array([column[i] for column in columns]))
        row = dict(zip(ROW, numbers, strict=True))
        found.setdefault(int(panel.event_index[i]), {"rows": []})["rows"].append(row)
    return found


def read(values: dict[str, Any]) -> tuple[Panel, Recorded, Problem, Solution, Claimed]:
    """Make sense of the checked fields of a result.

    In place of the panel come its means, as the forecasts of one judge.
    """
    forecasts: list[dict[str, Any]] = values["forecasts"]
    texts = [forecast["event"] for forecast in forecasts]
    raw, weight, value = (
        numbers([forecast[name] for forecast in forecasts]) for name in ("raw", "weight", "probability")
    )
    totals = are_weights(np.minimum(weight, HEAVIEST)) & (weight <= MOST_FORECASTS * HEAVIEST)
    if not totals.all():
        i = int(np.argmin(totals))
        _refuse(forecasts[i], "weight", "0, or a number from 1e-50 to 1e62", f"forecasts[{i}]")
    plain = values["plain_events"]
    panel = _stand_in(texts, raw, weight, values["laws"], plain=plain)
    if is_plain(panel) != plain:
        _refuse(values, "plain_events", "true if every event is the name of one variable, and only then")
    panel = _with_rows(panel, forecasts)
    problem = replace(pose(settled(panel), _loss(values)), mean=raw, weight=weight)
    worlds = None
    if values["worlds"] is not None:
        problem, worlds = _worlds(values["worlds"], panel.events, problem)
    problem, solution = with_idle(panel, problem, _solution(values, value, worlds))
    method = Recorded(values["method"], _number(values["tolerance"]))
    return panel, method, problem, solution, Claimed(_number(values["gap"]), _digest(values))


def _refuse(values: dict[str, Any], name: str, allowed: str, place: str = "") -> NoReturn:
    """Say what a field of an object, which is at a place, must be."""
    try:
        refuse(values[name], f"{place}.{name}" if place else name, allowed)
    except MisfitError as error:
        raise error.told_as(ResultError) from None


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _digest(values: dict[str, Any]) -> str | None:
    text: str | None = values.get("panel_sha256")
    if text is not None and DIGEST.fullmatch(text) is None:
        _refuse(values, "panel_sha256", "64 hexadecimal digits, in lower case, or null")
    return text


def _described(component: Component) -> dict[str, Any]:
    conflict = "" if component.conflict is None else f"{CONFLICT}{component.conflict:.6g}"
    words = {"coherence": str(component.coherence), "route": f"{component.route}{conflict}"}
    fields = asdict(component) | words | {"proof": str(component.proof)}
    del fields["conflict"]
    return _finite(fields)


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    """Write numbers that are not finite as null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in fields.items()
    }


def _nullable(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray):
        return [None if np.isnan(value) else value for value in values.tolist()]
    return list(values)


def _part(part: Worlds, names: Sequence[str]) -> dict[str, Any]:
    rows = (part.truth.astype(np.uint8) + ord("0")).tobytes().decode("ascii")
    count, width = part.truth.shape
    return {
        "variables": [names[v] for v in part.variables.tolist()],
        "weights": part.weight.tolist(),
        "worlds": [rows[i * width : (i + 1) * width] for i in range(count)],
    }


def _unreadable(fault: Fault) -> ListedProblem:
    place = f"forecasts[{fault.index}].event"
    return ListedProblem(f"{place}: {fault}", fault.code, fault.where(field=place), fault.remedy)


def _stand_in(
    texts: list[str], raw: NDArray[np.float64], weight: NDArray[np.float64], statements: list[str], *, plain: bool
) -> Panel:
    events = Events()
    laws = read_laws(statements, events) if statements else NO_LAWS
    reading = events.add_names(texts) if plain else events.add(texts)
    if reading.faults:
        raise ResultError.listing([_unreadable(fault) for fault in reading.faults])
    first: dict[tuple[int, ...], int] = {}
    for i, sides in enumerate(map(tuple, reading.sides.tolist())):
        if first.setdefault(sides, i) != i:
            place = f"forecasts[{i}].event"
            message = f"{place} is {texts[i]!r}, the same event as forecasts[{first[sides]}]"
            raise ResultError(message, code="repeated-event", where=Where(event=texts[i], field=place))
    outcome = np.full(len(texts), UNRESOLVED, np.int8)
    written = WrittenEvents(
        text=tuple(texts), event=reading.event, condition=reading.condition, rest=reading.rest, outcome=outcome
    )
    index = np.arange(len(texts), dtype=np.int32)
    probability = np.clip(np.nan_to_num(raw), 0.0, 1.0)
    return Panel(
        events=events,
        judges=("panel",),
        written=written,
        judge_index=np.zeros_like(index),
        event_index=index,
        probability=probability,
        weight=weight,
        laws=laws,
        reduced=True,
    )


def _with_rows(panel: Panel, forecasts: Sequence[dict[str, Any]]) -> Panel:
    """The panel with single forecasts in place of the means of events that have intervals."""
    given = [forecast.get("rows", []) for forecast in forecasts]
    for i, forecast in enumerate(forecasts):
        if "rows" in forecast and all(row["lower"] is None and row["upper"] is None for row in given[i]):
            _refuse(forecast, "rows", "left out if there is no interval among them", f"forecasts[{i}]")
    if not any(given):
        return panel
    own = [(i, *_row(row, f"forecasts[{i}].rows[{k}]")) for i, rows in enumerate(given) for k, row in enumerate(rows)]
    kept = np.array([i for i, rows in enumerate(given) if not rows], np.int32)
    none = np.full(len(kept), np.nan)
    means = (panel.probability[kept], panel.weight[kept], none, none)
    columns = [np.append(mean, [row[k] for row in own]) for k, mean in enumerate(means, 1)]
    index = np.append(kept, [row[0] for row in own]).astype(np.int32)
    order = np.argsort(index, kind="stable")
    probability, weight, lower, upper = (column[order] for column in columns)
    return replace(
        panel,
        judge_index=np.zeros_like(index),
        event_index=index[order],
        probability=probability,
        weight=weight,
        lower=lower,
        upper=upper,
    )


def _row(values: dict[str, Any], place: str) -> tuple[float, float, float, float]:
    """The numbers of a forecast, each in the form of a panel."""
    found = {name: number_or_nan(values[name]) for name in ROW}
    for name, number in found.items():
        if name == "weight" and not are_weights(np.float64(number)):
            _refuse(values, name, "0, or a number from 1e-50 to 1e50", place)
        if name != "weight" and not 0 <= number <= 1 and not np.isnan(number):
            _refuse(values, name, "a number from 0 to 1", place)
    if found["lower"] > found["upper"]:
        _refuse(values, "lower", "at most upper", place)
    return found["probability"], found["weight"], found["lower"], found["upper"]


def _loss(values: dict[str, Any]) -> Loss:
    name, clip = values["loss"], _number(values["clip"])
    if name not in LOSSES:
        _refuse(values, "loss", f"one of {', '.join(LOSSES)}: a loss of your own cannot be read from a record")
    if (clip is None) == (name == Log.name):
        _refuse(values, "clip", "a number if the loss is log, and null otherwise")
    return find_loss(name) if clip is None else Log(clip)


def _solution(values: dict[str, Any], value: NDArray[np.float64], worlds: tuple[Worlds, ...] | None) -> Solution:
    """An answer of the shape that belongs to its coherence; fields that do not fit are refused."""
    coherence, status = fact(Coherence, values["coherence"]), fact(Status, values["status"])
    for name in LACKS[coherence]:
        if values[name] is not None:
            _refuse(values, name, f"null where the coherence is {coherence}")
    head: dict[str, Any] = {
        name: _number(values[name]) for name in ("objective", "lower_bound", "guaranteed_improvement")
    }
    head |= {name: values[name] for name in ("conditionals", "note")}
    head["components"] = tuple(_component(each, f"components[{i}]") for i, each in enumerate(values["components"]))
    violation = _number(values["violation"])
    if coherence is Coherence.NONE:
        return Averages(value, status, **head)
    if coherence is Coherence.LOCAL:
        for name, allowed in (("groups", "a text"), ("sweeps", "a whole number"), ("violation", "a finite number")):
            if values[name] is None:
                _refuse(values, name, f"{allowed} where the coherence is {coherence}")
        assert violation is not None
        return Local(value, status, groups=values["groups"], sweeps=values["sweeps"], violation=violation, **head)
    if worlds is None:
        _refuse(values, "worlds", f"a list where the coherence is {coherence}")
    return Global(value, status, worlds=worlds, violation=violation, **head)


def _component(values: dict[str, Any], place: str) -> Component:
    word, mark, number = values["route"].partition(CONFLICT)
    if word not in list(Route):
        _refuse(values, "route", f"one of {', '.join(Route)}", place)
    try:
        conflict = float(number) if mark else None
    except ValueError:
        _refuse(values, "route", "a route that ends with a number", place)
    return Component(
        variables=values["variables"],
        events=values["events"],
        coherence=Coherence(values["coherence"]),
        route=Route(word),
        proof=Proof(values["proof"]),
        objective=number_or_nan(values["objective"]),
        lower_bound=number_or_nan(values["lower_bound"]),
        conflict=conflict,
    )


def _worlds(parts: Sequence[dict[str, Any]], events: Events, problem: Problem) -> tuple[Problem, tuple[Worlds, ...]]:
    """The worlds, and the problem with the variables of the worlds that no forecast mentions."""
    names = [[unicodedata.normalize("NFC", name) for name in part["variables"]] for part in parts]
    given = [name for own in names for name in own]
    reading = events.add(given)
    if reading.faults:
        raise ResultError(f"a variable of the worlds: {reading.faults[0]}")
    number = {name: v for v, name in enumerate(events.written_variables)}
    unknown = [name for name in given if name not in number]
    if unknown:
        raise ResultError(f"the worlds have {unknown[0]!r}, which is not a variable in the form of the event language")
    used = problem.merged.origin
    named = np.array([number[name] for own in names for name in own], np.int32)
    origin = np.concatenate([used, np.setdiff1d(named, used)]).astype(np.int32)
    place = np.zeros(len(number), np.int32)
    place[origin] = np.arange(len(origin))
    found = tuple(
        Worlds(place[[number[name] for name in own]], *_weighted(part, len(own), f"worlds[{i}]"))
        for i, (part, own) in enumerate(zip(parts, names, strict=True))
    )
    return replace(problem, merged=replace(problem.merged, origin=origin)), found


def _weighted(part: dict[str, Any], width: int, place: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    weight, worlds = numbers(part["weights"]), part["worlds"]
    if not len(weight):
        _refuse(part, "weights", "a list of one or more numbers", place)
    if len(worlds) != len(weight):
        raise ResultError(
            f"{place}.worlds has {len(worlds):,} worlds; it must have one for each of {len(weight):,} weights"
        )
    for i, world in enumerate(worlds):
        if len(world) != width or set(world) - {"0", "1"}:
            raise ResultError(
                f"{place}.worlds[{i}] is {world[:60]!r}; it must have a 0 or 1 for each of {width:,} variables"
            )
    bits = np.frombuffer("".join(worlds).encode("ascii"), np.uint8) - ord("0")
    return weight, bits.astype(np.bool_).reshape(len(worlds), width)
