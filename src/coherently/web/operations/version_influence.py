"""What moves a version: each judge, question and law left out in turn, or some of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from coherently.explain.recent_values import Lately
from coherently.web.operations.aggregation_operations import get_result
from coherently.web.operations.stateless import aggregated, explain_event, in_body, plain
from coherently.web.operations.version_choices import PanelMembers
from coherently.web.refusals import not_found
from coherently.web.shapes.aggregation_shapes import InfluenceView, LeftOutView, ReasonsView
from coherently.web.shapes.stateless_shapes import InfluenceDraft, RecipeBody, WhyAnswer, WhyDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from coherently.explain.influence.influence_table import Influence
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.aggregation_shapes import ResultView

KEPT = 64
"""How many tables are kept: a version does not change, so neither does what moves it."""
_made: Lately[dict[str, Any]] = Lately(KEPT)
_explained: Lately[WhyAnswer] = Lately(KEPT)


class Calls(Protocol):
    """Runs a function of a module in a process of its own, within limits of time and memory."""

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Give the value of the function, or raise what it raised."""

    def ask(self, key: Hashable, wait: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same, or None if it is not there in so many seconds; the work goes on for whoever asks again."""


def get_influence(
    bench: Workbench,
    caller: AccountCaller,
    panel: str,
    aggregation: str,
    *,
    calls: Calls,
    without: Sequence[str] = (),
) -> InfluenceView:
    """What each judge, question and law moves in a version; or, without some of them, what these move together."""
    view = influence_in_time(bench, caller, panel, aggregation, calls=calls, without=without, wait=None)
    assert view is not None
    return view


def influence_in_time(
    bench: Workbench,
    caller: AccountCaller,
    panel: str,
    aggregation: str,
    *,
    calls: Calls,
    without: Sequence[str] = (),
    wait: float | None,
) -> InfluenceView | None:
    """The same, or None if it is not there in so many seconds: then it is worth asking for again."""
    found = get_result(bench, caller, panel, aggregation)
    parts = PanelMembers.of(bench, panel)
    asked = {row["event"] for row in found.forecasts}
    words = [word for part in without for word in parts.words(part)]
    words = [word for word in words if not word.startswith("event:") or word.removeprefix("event:") in asked]
    several = {
        each.id: [event.event for event in each.events if event.event in asked]
        for each in parts.questions.values()
        if len(each.events) > 1 and any(event.event in asked for event in each.events)
    }
    key = aggregation, tuple(words), tuple(several)
    made = _made.get(key)
    if made is None:
        draft = InfluenceDraft.model_validate(_inputs(found) | {"without": words})
        work = (find_version_influence, draft, {} if words else several)
        made = calls.call(*work) if wait is None else calls.ask(key, wait, *work)
        if made is None:
            return None
        _made.put(key, made)
    return _view(found, made, parts, [parts.name(part) for part in without])


def find_version_influence(
    draft: InfluenceDraft, several: Mapping[str, Sequence[str]], seconds: float
) -> dict[str, Any]:
    """The table in plain values; `several` are the questions of several events, which are left out as a whole."""
    share = 0.4 * seconds
    result = aggregated(draft, share, draft.labels)
    with in_body():
        table = result.influence(draft.largest, without=draft.without, time_limit=share)
        each = 0.2 * seconds / max(len(several), 1)
        whole = {
            name: result.influence(without=[f"event:{text}" for text in texts], time_limit=each)
            for name, texts in several.items()
            if len(set(texts)) < len(result.panel.written)
        }
    return {"table": plain(table.as_dict()), "whole": {name: _changes(found) for name, found in whole.items()}}


def _changes(found: Influence) -> list[float | None]:
    changes: list[float | None] = plain(found.left[0].change.tolist())
    return changes


def get_reasons(
    bench: Workbench, caller: AccountCaller, panel: str, aggregation: str, *, calls: Calls, event: str
) -> ReasonsView:
    """Why a version has its number for an event, by the id of the event."""
    found = get_result(bench, caller, panel, aggregation)
    own = PanelMembers.of(bench, panel).questions.values()
    text = next((one.event for question in own for one in question.events if one.id == event), None)
    if text is None or text not in {row["event"] for row in found.forecasts}:
        raise not_found("event in this version")
    key = aggregation, text
    made = _explained.get(key)
    if made is None:
        made = calls.call(explain_event, WhyDraft.model_validate(_inputs(found) | {"event": text}))
        _explained.put(key, made)
    return ReasonsView(aggregation=found.aggregation, event=event, sentences=made.sentences, why=made.why)


def _inputs(found: ResultView) -> dict[str, Any]:
    """What a version was made from, as a draft takes it."""
    method = found.aggregation.method if found.recipe is None else RecipeBody.model_validate(found.recipe)
    return {
        "forecasts": found.forecasts,
        "laws": found.laws,
        "method": method,
        "loss": found.aggregation.loss,
        "labels": {row.event: row.title for row in found.events if row.title},
    }


def _view(found: ResultView, made: Mapping[str, Any], parts: PanelMembers, without: list[str]) -> InfluenceView:
    table = made["table"]
    rows = _rows(table["left_out"], parts) if not without else _together(table["left_out"], without)
    rows += [
        LeftOutView(kind="question", id=name, name=parts.name(name), exact=True, change=change)
        for name, change in made["whole"].items()
    ]
    order = {"judge": 0, "question": 1, "law": 2}
    rows.sort(key=lambda row: (order[row.kind], -sum(abs(value) for value in row.change if value is not None)))
    return InfluenceView(
        aggregation=found.aggregation,
        events=table["events"],
        probability=table["probability"],
        raw=table["raw"],
        without=without,
        left_out=rows,
        sentences=table["sentences"],
        note=table["note"],
        influence=table,
    )


def _together(listed: Sequence[Mapping[str, Any]], without: Sequence[str]) -> list[LeftOutView]:
    (row,) = listed
    kind = {"event": "question", "together": "judge"}.get(row["kind"], row["kind"])
    return [LeftOutView(kind=kind, id=None, name=", ".join(without), exact=row["exact"], change=row["change"])]


def _rows(listed: Sequence[Mapping[str, Any]], parts: PanelMembers) -> list[LeftOutView]:
    """One row per judge, question of one event and law."""
    judges = {each.name: each.id for each in parts.judges.values()}
    home = {event.event: each for each in parts.questions.values() for event in each.events}
    laws = {each.statement: each for each in parts.laws.values()}
    rows = []
    for row in listed:
        moved = row["change"] if row["exact"] else row["estimate"]
        kind, name = row["kind"], row["name"]
        if kind == "judge":
            made = ("judge", judges.get(name), name)
        elif kind == "law":
            law = laws.get(name)
            made = ("law", law.id if law else None, (law.title or name) if law else name)
        elif name in home and len(home[name].events) > 1:
            continue
        else:
            made = ("question", home[name].id if name in home else None, home[name].title if name in home else name)
        rows.append(LeftOutView(kind=made[0], id=made[1], name=made[2], exact=row["exact"], change=moved))  # type: ignore[arg-type]
    return rows
