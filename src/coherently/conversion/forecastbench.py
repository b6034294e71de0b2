"""ForecastBench: question, forecast and resolution sets.

The files of https://github.com/forecastingresearch/forecastbench-datasets. Karger, Bastani, Yueh-Han, Jacobs, Halawi,
Zhang and Tetlock (2025), ForecastBench: A Dynamic Benchmark of AI Forecasting Capabilities, ICLR.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.draft import (
    Draft,
    DraftForecast,
    kind_of,
    listed,
    read_number,
    read_probability,
    read_text,
    settle,
)
from coherently.conversion.sources import parse_json
from coherently.errors import PanelError, counted
from coherently.events import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coherently.conversion.sources import Source

KINDS: Final = ("questions", "forecasts", "resolutions")
NONE: Final = (None, "N/A", "", "NaT", "nan")
"""Values of a field that does not apply."""
SET_FIELDS: Final = frozenset(
    {
        "forecast_due_date",
        "question_set",
        "question-set",
        "organization",
        "model",
        "model_organization",
        "leaderboard_eligible",
    }
)
NEEDED: Final = {
    "questions": ("id", "source", "question"),
    "forecasts": ("id", "source", "forecast"),
    "resolutions": ("id", "source", "resolved_to"),
}
KNOWN: Final = {
    "questions": frozenset(
        {
            "id",
            "source",
            "question",
            "resolution_criteria",
            "background",
            "market_info_open_datetime",
            "market_info_close_datetime",
            "market_info_resolution_criteria",
            "market_info_resolution_datetime",
            "url",
            "freeze_datetime",
            "freeze_datetime_value",
            "freeze_datetime_value_explanation",
            "source_intro",
            "combination_of",
            "resolution_dates",
            "forecast_horizons",
        }
    ),
    "forecasts": frozenset(
        {
            "id",
            "source",
            "forecast",
            "resolution_date",
            "reasoning",
            "direction",
            "user_id",
            "searches",
            "consulted_urls",
            "resolved",
            "resolved_to",
            "imputed",
            "forecast_due_date",
            "market_value_on_due_date",
            "market_value_on_due_date_minus_one",
        }
    ),
    "resolutions": frozenset(
        {
            "id",
            "source",
            "direction",
            "resolution_date",
            "resolved_to",
            "resolved",
            "forecast_due_date",
            "market_value_on_due_date",
            "market_value_on_due_date_minus_one",
        }
    ),
}


def read_forecastbench(sources: Sequence[Source]) -> Draft:
    """Make a panel from sets of one round: one event per question and resolution date, one formula per combination."""
    draft = Draft()
    sets = [(source, *_parse(source)) for source in sources]
    _check_one_round(sets)
    if not any(kind == "forecasts" for _, kind, _ in sets):
        raise PanelError(f"no forecast set (with 'forecasts') among {listed(source.name for source in sources)}")
    titles: dict[str, str] = {}
    for source, kind, content in sets:
        draft.note_unknown(source.name, "fields of the set", Counter(set(content) - SET_FIELDS - set(KINDS)))
        counts = Counter(field for item in content[kind] for field in item if field not in KNOWN[kind])
        draft.note_unknown(source.name, f"fields of {kind}", counts)
        if kind == "questions":
            titles.update(_titles(content[kind], source.name))
    asked: set[str] = set()
    for source, kind, content in sets:
        if kind == "forecasts":
            asked |= _add_forecasts(draft, source, content, titles)
    resolved: dict[str, set[bool]] = {}
    for source, kind, content in sets:
        if kind == "resolutions":
            for event, outcome in _resolutions(draft, source, content, asked):
                resolved.setdefault(event, set()).add(outcome)
    settle(draft, resolved)
    return draft


def _parse(source: Source) -> tuple[str, dict[str, Any]]:
    source.check("forecastbench")
    content = parse_json(source.text, source.name)
    found = [kind for kind in KINDS if isinstance(content.get(kind), list)]
    if len(found) != 1:
        raise source.refuse("forecastbench")
    kind = found[0]
    for index, item in enumerate(content[kind]):
        place = f"{source.name}, {kind}[{index}]"
        if not isinstance(item, dict):
            raise PanelError(f"{place}: expected an object, found {kind_of(item)}")
        missing = [field for field in NEEDED[kind] if field not in item]
        if missing:
            raise PanelError(f"{place}: expected {', '.join(missing)}; found {listed(item) or 'no field'}")
    return kind, content


def _check_one_round(sets: Sequence[tuple[Source, str, Mapping[str, Any]]]) -> None:
    """Refuse several rounds: questions compare with values on the due date, so a text is a new event in each round."""
    rounds: dict[str, str] = {}
    for source, _, content in sets:
        due = content.get("forecast_due_date")
        if due in NONE:
            raise PanelError(f"{source.name}: expected forecast_due_date; found {listed(content)}")
        rounds.setdefault(read_text(due, f"{source.name}, forecast_due_date")[:10], source.name)
    if len(rounds) > 1:
        seen = ", ".join(f"{due} ({name})" for due, name in rounds.items())
        raise PanelError(f"the sets are of several rounds: {seen}; convert each round by itself")


def _event(item: Mapping[str, Any], place: str) -> tuple[str, list[str]]:
    """The event text of a question, forecast or resolution, and the variables in it.

    >>> _event({"id": ["a1", "b2"], "source": "acled", "direction": [1, -1], "resolution_date": "2026-01-31"}, "here")
    ('acled:a1:2026-01-31 & ~acled:b2:2026-01-31', ['acled:a1:2026-01-31', 'acled:b2:2026-01-31'])
    """
    ids, direction = item["id"], item.get("direction")
    date = item.get("resolution_date")
    suffix = "" if date in NONE else f":{read_text(date, f'{place}, resolution_date')[:10]}"
    parts = ids if isinstance(ids, list) else [ids]
    source = read_text(item["source"], f"{place}, source")
    names = [quote_name(f"{source}:{read_text(one, f'{place}, id')}{suffix}") for one in parts]
    if not isinstance(ids, list):
        return names[0], names
    if not isinstance(direction, list) or len(direction) != len(ids) or any(sign not in (1, -1) for sign in direction):
        raise PanelError(
            f"{place}: a combination of {len(ids)} needs as many directions of 1 or -1, found {kind_of(direction)}"
        )
    signed = [name if sign == 1 else f"~{name}" for name, sign in zip(names, direction, strict=True)]
    return " & ".join(signed), names


def _titles(questions: Sequence[Mapping[str, Any]], name: str) -> dict[str, str]:
    titles = {}
    for index, item in enumerate(questions):
        parts = item.get("combination_of")
        for part in [item] if not isinstance(parts, list) else parts:
            if not isinstance(part, dict) or not {"id", "source", "question"} <= set(part):
                raise PanelError(f"{name}, questions[{index}]: expected id, source and question of each part")
            if not isinstance(part["id"], list):
                title = read_text(part["question"], f"{name}, questions[{index}], question")
                titles[f"{part['source']}:{part['id']}"] = title
    return titles


def _add_forecasts(draft: Draft, source: Source, content: Mapping[str, Any], titles: Mapping[str, str]) -> set[str]:
    """Add a set's forecasts; returns the variables that they are about."""
    silent, untitled, asked = 0, set(), set()
    said = [field for field in ("organization", "model") if content.get(field) not in NONE]
    team = "/".join(read_text(content[field], f"{source.name}, {field}") for field in said)
    due = str(content["forecast_due_date"])[:10]
    for index, item in enumerate(content["forecasts"]):
        place = f"{source.name}, forecasts[{index}]"
        event, names = _event(item, place)
        if item["forecast"] in NONE:
            silent += 1
            continue
        judge = team or source.file.removesuffix(".json")
        if item.get("user_id") not in NONE:
            judge = read_text(item["user_id"], f"{place}, user_id")
        draft.forecasts.append(DraftForecast(judge, event, read_probability(item["forecast"], place), due))
        date = item.get("resolution_date")
        ids = item["id"] if isinstance(item["id"], list) else [item["id"]]
        asked.update(names)
        for one, name in zip(ids, names, strict=True):
            title = titles.get(f"{item['source']}:{one}")
            if title is not None:
                draft.label(name, title if date in NONE else f"{title} ({str(date)[:10]})")
            elif titles:
                untitled.add(name)
    if silent:
        draft.notes.append(f"{source.name}: {counted(silent, 'forecast')} missing, counted as abstentions")
    if untitled:
        draft.notes.append(f"{source.name}: {counted(len(untitled), 'event')} not in any question set given")
    return asked


def _resolutions(
    draft: Draft, source: Source, content: Mapping[str, Any], asked: set[str]
) -> Iterator[tuple[str, bool]]:
    """Give the events that resolved to 0 or 1; a market question, whenever it resolves, is the event without a date."""
    left = Counter[str]()
    for index, item in enumerate(content["resolutions"]):
        place = f"{source.name}, resolutions[{index}]"
        event, names = _event(item, place)
        if not asked.issuperset(names):
            event, names = _event({**item, "resolution_date": None}, place)
        value = item["resolved_to"]
        if not asked.issuperset(names):
            left["of events that nobody forecast, left out"] += 1
        elif item.get("resolved") is False or value in NONE or str(value) in NONE:
            left["still open, left unresolved"] += 1
        elif read_number(value, place) in {0.0, 1.0}:
            yield event, bool(value)
        else:
            left["between 0 and 1, left unresolved"] += 1
    for why, count in left.items():
        draft.notes.append(f"{source.name}: {counted(count, 'resolution')} {why}")
