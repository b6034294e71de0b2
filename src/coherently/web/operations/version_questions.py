"""What to ask next: the questions whose answers would say most, by the forecasts and laws of a version.

A version has no private numbers, so that what follows from it may be shown while a later round is open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherently.explain import judge_sheet as desk
from coherently.explain.recent_values import Lately
from coherently.web.operations.aggregation_operations import get_result
from coherently.web.operations.questions import setting_of
from coherently.web.operations.stateless import plain
from coherently.web.refusals import not_found
from coherently.web.shapes.aggregation_shapes import GainView, NextQuestionsView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.judge_sheet import Item
    from coherently.panel import Panel
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.operations.version_influence import Calls

ALL, CONTRADICTIONS = "all", "contradictions"
SHOWN = 8
"""How many questions are told."""
LOOKED_AT = 24
"""How many are looked at: what the library suggests, then pairs of questions that nobody was asked about together."""
KEPT = 64
_made: Lately[dict[str, Any]] = Lately(KEPT)


@dataclass(frozen=True, slots=True)
class VersionSheet:
    """The forecasts and laws of a version, and the events that judges are asked about now."""

    forecasts: tuple[dict[str, Any], ...]
    laws: tuple[str, ...]
    items: tuple[Item, ...]

    def titles(self) -> dict[str, str]:
        """The titles of events by their texts."""
        return {item.event: f"{item.topic}: {item.title}" if item.topic else item.title for item in self.items}

    def answered(self) -> tuple[desk.SheetSetting, dict[str, list[desk.Answered]]]:
        """The sheet of those events that the version has, and the answers of its judges."""
        there = {row["event"] for row in self.forecasts}
        items = tuple(replace(item, id=item.event) for item in self.items if item.event in there)
        answers: dict[str, list[desk.Answered]] = {}
        for row in self.forecasts:
            answers.setdefault(row["judge"], []).append(desk.Answered(row["event"], row["probability"]))
        return desk.SheetSetting(items, self.laws), answers


def get_next_questions(
    bench: Workbench, caller: AccountCaller, panel: str, aggregation: str, *, calls: Calls, about: str = ALL
) -> NextQuestionsView:
    """The questions whose answers would say most about all, about contradictions, or about an event by its id."""
    found = get_result(bench, caller, panel, aggregation)
    setting = setting_of(bench, panel)
    sheet = VersionSheet(tuple(found.forecasts), tuple(found.laws), setting.items)
    aim = about if about in (ALL, CONTRADICTIONS) else _formula(setting.items, about)
    key = aggregation, aim, setting.items
    made = _made.get(key)
    if made is None:
        made = calls.call(find_version_questions, sheet, aim)
        _made.put(key, made)
    record, titles = made["record"], made["titles"]
    return NextQuestionsView(
        aggregation=found.aggregation,
        about=about,
        open=record["open"],
        questions=[GainView(title=titles[row["event"]], **row) for row in record["questions"]],
        sentences=made["sentences"],
        notes=record["notes"],
        next_questions=record,
    )


def _formula(items: Sequence[Item], event: str) -> str:
    """The text of an event; in brackets if it is the name of an aim."""
    text = next((item.event for item in items if item.id == event), None)
    if text is None:
        raise not_found("event")
    return f"({text})" if text in (ALL, CONTRADICTIONS) else text


def find_version_questions(sheet: VersionSheet, aim: str, seconds: float) -> dict[str, Any]:
    """What the library finds in plain values, and titles for its events."""
    from coherently.explain.next_questions import ask_next
    from coherently.panel import Panel

    panel = Panel.from_records(sheet.forecasts, laws=sheet.laws)
    titles = sheet.titles()
    if aim == CONTRADICTIONS:
        found = ask_next(panel, SHOWN, about=aim, time_limit=0.8 * seconds)
    else:
        told = could_be_asked(panel, sheet, 0.1 * seconds)
        titles = told | titles
        target = None if aim == ALL else aim
        found = ask_next(panel, SHOWN, about=target, candidates=list(told), time_limit=0.7 * seconds)
    named = {one.event: titles.get(one.event, one.event) for one in found.questions}
    return {"record": plain(found.as_dict()), "sentences": found.sentences(), "titles": named}


def could_be_asked(panel: Panel, sheet: VersionSheet, seconds: float) -> dict[str, str]:
    """Events that nobody is asked about, with titles: those that the panel suggests, then pairs of questions."""
    from coherently.explain.event_names import EventNames
    from coherently.explain.next_questions import suggested
    from coherently.explain.people_sentences import phrase

    names = EventNames({item.event: phrase(item) for item in sheet.items})
    own = {text: names.composed(text) or text for text in suggested(panel)[0]}
    pairs = desk.ask_next(*sheet.answered(), count=LOOKED_AT, time_limit=seconds)
    asked = {item.event for item in sheet.items}
    every = own | {one.event: one.title for one in pairs}
    open_ = [(text, title) for text, title in every.items() if text not in asked]
    return dict(open_[:LOOKED_AT])
