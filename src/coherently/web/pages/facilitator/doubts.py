"""Laws in doubt: those without which an answer that a judge meant would fit."""

from __future__ import annotations

import re
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.explain import judge_sheet as desk
from coherently.web.operations.boards import answers_of
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.questions import setting_of
from coherently.web.pages.facilitator.titles import about
from coherently.web.refusals import not_found
from coherently.web.store.identifiers import now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain.judge_sheet import Answered, SheetSetting
    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.board_shapes import BoardView
    from coherently.web.store import LawRecord

KEPT = "kept_laws"
"""Where the settings of a panel hold until when a law was kept although somebody meant otherwise."""


def laws_in_doubt(
    visit: Visit, panel: str, board: BoardView, events: Mapping[str, NamedEvent]
) -> list[SimpleNamespace]:
    """The doubts of the board, by law; what no law explains stands by itself."""
    bench = visit.bench
    kept = bench.store.panels.get(panel).settings.get(KEPT, {})
    names = {each.id: each.name for each in board.judges}
    laws = {each.id: each for each in bench.store.laws.list(panel)}
    found: dict[str, SimpleNamespace] = {}
    for record in bench.store.meant.list(panel):
        clash = _standing(board, record.judge, record.key)
        if clash is None:
            continue
        law = _law_of(visit, panel, record.judge, tuple(clash["events"]))
        if law is not None and record.time <= kept.get(law, ""):
            continue
        key = law or record.key
        known = laws.get(law or "")
        sentence = about(clash["events"], events) if record.judge in board.hidden else record.sentence
        title = (known.title or sentence) if known else sentence
        made = SimpleNamespace(law=law, title=title, statement=known.statement if known else "", voices=[])
        found.setdefault(key, made).voices.append(SimpleNamespace(name=names[record.judge], reason=record.reason))
    return list(found.values())


def keep(visit: Visit, panel: str, law: str) -> None:
    """Remember that a law is kept, so that the doubts so far leave the board."""
    record = own_panel(visit.bench, visit.caller, panel)
    if law not in {each.id for each in visit.bench.store.laws.list(panel)}:
        raise not_found("law")
    settings = {**record.settings, KEPT: {**record.settings.get(KEPT, {}), law: now()}}
    visit.bench.store.panels.edit(panel, settings=settings)


def _standing(board: BoardView, judge: str, key: str) -> dict[str, Any] | None:
    clashes = board.overview["contradictions"].get(judge, [])
    return next((each for each in clashes if each["key"] == key), None)


def _law_of(visit: Visit, panel: str, judge: str, events: tuple[str, ...]) -> str | None:
    """The law without which the answers to these events would fit together."""
    store = visit.bench.store
    setting = setting_of(visit.bench, panel)
    answers = [each for each in answers_of(visit.bench, panel).get(judge, []) if each.event in events]
    return _blamed(setting, tuple(store.laws.list(panel)), tuple(answers))


@lru_cache(maxsize=200)
def _blamed(setting: SheetSetting, laws: tuple[LawRecord, ...], answers: tuple[Answered, ...]) -> str | None:
    texts = " ".join(item.event for item in setting.items if item.id in {each.event for each in answers})
    words = set(re.findall(r"\w+", texts))
    for law in laws:
        if not words & set(re.findall(r"\w+", law.statement)):
            continue
        rest = list(setting.laws)
        rest.remove(law.statement)
        if _fit(desk.SheetSetting(setting.items, tuple(rest)), answers):
            return law.id
    return None


def _fit(setting: SheetSetting, answers: Sequence[Answered]) -> bool:
    told = desk.feedback(setting, answers)
    return told.checked and not told.contradictions
