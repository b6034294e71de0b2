"""A result as JSON, and back: docs/reference/result-json.md says what each field is."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import ListedProblem, ResultError, Where
from coherently.events import Events, Fault
from coherently.panel import NO_LAWS, Panel, WrittenEvents, is_plain, read_laws
from coherently.panel.columnar.cell_values import HEAVIEST, are_weights
from coherently.panel.panel import UNRESOLVED
from coherently.problem import LOSSES, Log, find_loss, pose, settled
from coherently.result.fields import Fields, parse
from coherently.result.idle import with_idle
from coherently.solve import Averages, Coherence, Component, Global, Local, Proof, Route, Status, Worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem import Loss, Problem
    from coherently.result.result import Result
    from coherently.solve import Solution

FORMAT, VERSION = "coherently-result", 3
OLDER = (2,)
"""Earlier versions that can be read; version 2 does not say from which panel a result was made."""
DIGEST = re.compile("[0-9a-f]{64}")
PROMISES = (
    "objective",
    "lower_bound",
    "gap",
    "guaranteed_improvement",
    "groups",
    "sweeps",
    "violation",
    "conditionals",
    "note",
)
FIELDS = (
    *("format", "version", "panel_sha256", "status", "coherence", "method", "tolerance", "loss", "clip", *PROMISES),
    *("plain_events", "laws", "forecasts", "components", "worlds"),
)
"""The fields of a record, in their order."""
LACKS = {
    Coherence.NONE: ("groups", "sweeps", "violation", "worlds"),
    Coherence.LOCAL: ("worlds",),
    Coherence.GLOBAL: ("groups", "sweeps"),
}
"""The fields that an answer of each coherence does not have."""
CONFLICT = ", conflict "
"""The text between a route and the conflict of the evidence."""
ROW = ("probability", "weight", "lower", "upper")
MOST_FORECASTS = 1e12
"""The weight of an event in a record is a sum; it is at most this many times the greatest weight of a forecast."""


FORMS = ("called_off", "linearised", "ratio")
"""How an objective may count conditional forecasts."""


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
    return {
        "format": FORMAT,
        "version": VERSION,
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


def read(text: str) -> tuple[Panel, Recorded, Problem, Solution, Claimed]:
    """Read the fields of a result; in place of the panel come its means, as the forecasts of one judge."""
    fields = parse(text)
    version = _version(fields)
    forecasts = fields.objects("forecasts")
    for forecast in forecasts:
        forecast.only("event", "probability", "raw", "weight", "rows")
    texts = [forecast.text("event") for forecast in forecasts]
    raw, weight, value = (
        _floats([forecast.number_or_none(name) for forecast in forecasts]) for name in ("raw", "weight", "probability")
    )
    totals = are_weights(np.minimum(weight, HEAVIEST)) & (weight <= MOST_FORECASTS * HEAVIEST)
    if not totals.all():
        forecasts[int(np.argmin(totals))].refuse("weight", "0, or a number from 1e-50 to 1e62")
    plain = fields.flag("plain_events")
    panel = _stand_in(texts, raw, weight, fields.texts("laws"), plain=plain)
    if is_plain(panel) != plain:
        fields.refuse("plain_events", "true if every event is the name of one variable, and only then")
    panel = _with_rows(panel, forecasts)
    problem = replace(pose(settled(panel), _loss(fields)), mean=raw, weight=weight)
    worlds = None
    if not fields.is_none("worlds"):
        problem, worlds = _worlds(fields.objects("worlds"), panel.events, problem)
    problem, solution = with_idle(panel, problem, _solution(fields, value, worlds))
    method = Recorded(fields.text("method"), fields.number_or_none("tolerance"))
    sha256 = _digest(fields) if version == VERSION else None
    return panel, method, problem, solution, Claimed(fields.number_or_none("gap"), sha256)


def _version(fields: Fields) -> int:
    """The version of a record that can be read, with the fields of that version and no others."""
    found, version = fields.text("format"), fields.whole("version")
    if found != FORMAT or version not in (VERSION, *OLDER):
        older = ", ".join(map(str, OLDER))
        raise ResultError(
            f"the record is {found!r}, version {version}; this version of Coherently reads {FORMAT!r}, version "
            f"{VERSION}, and the earlier version {older}"
        )
    fields.only(*(name for name in FIELDS if version == VERSION or name != "panel_sha256"))
    return version


def _digest(fields: Fields) -> str | None:
    text = fields.text_or_none("panel_sha256")
    if text is not None and DIGEST.fullmatch(text) is None:
        fields.refuse("panel_sha256", "64 hexadecimal digits, in lower case, or null")
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


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


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
    written = WrittenEvents(tuple(texts), reading.event, reading.condition, reading.rest, outcome)
    index = np.arange(len(texts), dtype=np.int32)
    probability = np.clip(np.nan_to_num(raw), 0.0, 1.0)
    return Panel(events, ("panel",), written, np.zeros_like(index), index, probability, weight, laws=laws, reduced=True)


def _with_rows(panel: Panel, forecasts: Sequence[Fields]) -> Panel:
    """The panel with single forecasts in place of the means of events that have intervals."""
    given = [forecast.objects("rows") if forecast.has("rows") else [] for forecast in forecasts]
    for forecast, rows in zip(forecasts, given, strict=True):
        if forecast.has("rows") and all(row.is_none("lower") and row.is_none("upper") for row in rows):
            forecast.refuse("rows", "left out if there is no interval among them")
    if not any(given):
        return panel
    own = [(i, *_row(row)) for i, rows in enumerate(given) for row in rows]
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


def _row(fields: Fields) -> tuple[float, float, float, float]:
    """The numbers of a forecast, each in the form of a panel."""
    fields.only(*ROW)
    for name in ("probability", "weight"):
        fields.number(name)
    numbers = _floats([fields.number_or_none(name) for name in ROW])
    for name, number in zip(ROW, numbers.tolist(), strict=True):
        if name == "weight" and not are_weights(np.float64(number)):
            fields.refuse(name, "0, or a number from 1e-50 to 1e50")
        if name != "weight" and not 0 <= number <= 1 and not np.isnan(number):
            fields.refuse(name, "a number from 0 to 1")
    probability, weight, lower, upper = numbers.tolist()
    if lower > upper:
        fields.refuse("lower", "at most upper")
    return probability, weight, lower, upper


def _loss(fields: Fields) -> Loss:
    name, clip = fields.text("loss"), fields.number_or_none("clip")
    if name not in LOSSES:
        fields.refuse("loss", f"one of {', '.join(LOSSES)}: a loss of your own cannot be read from a record")
    if (clip is None) == (name == Log.name):
        fields.refuse("clip", "a number if the loss is log, and null otherwise")
    return find_loss(name) if clip is None else Log(clip)


def _solution(fields: Fields, value: NDArray[np.float64], worlds: tuple[Worlds, ...] | None) -> Solution:
    """An answer of the shape that belongs to its coherence; fields that do not fit are refused."""
    coherence, status = fields.fact("coherence", Coherence), fields.fact("status", Status)
    for name in LACKS[coherence]:
        if not fields.is_none(name):
            fields.refuse(name, f"null where the coherence is {coherence}")
    head: dict[str, Any] = {name: fields.number_or_none(name) for name in ("objective", "lower_bound")}
    head |= {name: fields.text_or_none(name) for name in ("conditionals", "note")}
    if head["conditionals"] not in (None, *FORMS):
        fields.refuse("conditionals", f"null or one of {', '.join(FORMS)}")
    head["guaranteed_improvement"] = fields.number_or_none("guaranteed_improvement")
    head["components"] = tuple(_component(component) for component in fields.objects("components"))
    if coherence is Coherence.LOCAL:
        groups, sweeps, violation = fields.text("groups"), fields.whole("sweeps"), fields.number("violation")
        return Local(value, status, groups=groups, sweeps=sweeps, violation=violation, **head)
    if coherence is Coherence.NONE:
        return Averages(value, status, **head)
    if worlds is None:
        fields.refuse("worlds", f"a list where the coherence is {coherence}")
    return Global(value, status, worlds=worlds, violation=fields.number_or_none("violation"), **head)


def _component(fields: Fields) -> Component:
    fields.only("variables", "events", "coherence", "route", "proof", "objective", "lower_bound")
    objective, bound = _floats([fields.number_or_none(name) for name in ("objective", "lower_bound")]).tolist()
    return Component(
        fields.whole("variables"),
        fields.whole("events"),
        fields.fact("coherence", Coherence),
        fields.fact("route", Route, before=CONFLICT),
        fields.fact("proof", Proof),
        objective,
        bound,
        _conflict(fields),
    )


def _conflict(fields: Fields) -> float | None:
    """The conflict of evidence, which is written after the route."""
    _, mark, number = fields.text("route").partition(CONFLICT)
    try:
        return float(number) if mark else None
    except ValueError:
        fields.refuse("route", "a route that ends with a number")


def _worlds(parts: Sequence[Fields], events: Events, problem: Problem) -> tuple[Problem, tuple[Worlds, ...]]:
    """The worlds, and the problem with the variables of the worlds that no forecast mentions."""
    for part in parts:
        part.only("variables", "weights", "worlds")
    names = [[unicodedata.normalize("NFC", name) for name in part.texts("variables")] for part in parts]
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
        Worlds(place[[number[name] for name in own]], *_weighted(part, len(own)))
        for part, own in zip(parts, names, strict=True)
    )
    return replace(problem, merged=replace(problem.merged, origin=origin)), found


def _weighted(part: Fields, width: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    weight, worlds = np.array(part.numbers("weights")), part.texts("worlds")
    if not len(weight):
        part.refuse("weights", "a list of one or more numbers")
    if len(worlds) != len(weight):
        raise ResultError(
            f"{part.place('worlds')} has {len(worlds):,} worlds; it must have one for each of {len(weight):,} weights"
        )
    for i, world in enumerate(worlds):
        if len(world) != width or set(world) - {"0", "1"}:
            raise ResultError(
                f"{part.place('worlds')}[{i}] is {world[:60]!r}; it must have a 0 or 1 for each of {width:,} variables"
            )
    bits = np.frombuffer("".join(worlds).encode("ascii"), np.uint8) - ord("0")
    return weight, bits.astype(np.bool_).reshape(len(worlds), width)
