"""Laws in doubt: those without which an answer that a judge meant would fit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from coherently.explain import judge_sheet as desk
from coherently.web.operations.boards import answers_of
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.questions import setting_of
from coherently.web.refusals import not_found
from coherently.web.store.identifiers import now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain.judge_sheet import Answered, SheetSetting
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.board_shapes import BoardView
    from coherently.web.store import LawRecord, MeantRecord

KEPT = "kept_laws"
"""Where the settings of a panel hold until when a law was kept although somebody meant otherwise."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who meant it, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class DoubtedLaw:
    """A law (None: no law explains it), and the contradiction that was meant first: its events and its sentence.

    The sentence is empty while the numbers in it are private.
    """

    law: LawRecord | None
    events: tuple[str, ...]
    sentence: str
    voices: list[Voice] = field(default_factory=list)


def laws_in_doubt(bench: Workbench, caller: AccountCaller, panel: str, board: BoardView) -> list[DoubtedLaw]:
    """What judges meant against the laws, by law; what no law explains stands by itself."""
    kept = own_panel(bench, caller, panel).settings.get(KEPT, {})
    names = {each.id: each.name for each in board.judges}
    meant = [(record, clash) for record in bench.store.meant.list(panel) if (clash := _standing(board, record))]
    if not meant:
        return []
    laws = {each.id: each for each in bench.store.laws.list(panel)}
    setting, answers = setting_of(bench, panel), answers_of(bench, panel)
    found: dict[str, DoubtedLaw] = {}
    for record, clash in meant:
        events = tuple(clash["events"])
        own = tuple(each for each in answers.get(record.judge, []) if each.event in events)
        law = blamed_law(setting, tuple(laws.values()), own)
        if law is not None and record.time <= kept.get(law, ""):
            continue
        sentence = "" if record.judge in board.hidden else record.sentence
        made = DoubtedLaw(laws.get(law or ""), events, sentence)
        found.setdefault(law or record.key, made).voices.append(Voice(names[record.judge], record.reason))
    return list(found.values())


def keep_law(bench: Workbench, caller: AccountCaller, panel: str, law: str) -> None:
    """Remember that a law is kept, so that the doubts so far leave the board."""

    def action() -> None:
        settings = own_panel(bench, caller, panel).settings
        if law not in {each.id for each in bench.store.laws.list(panel)}:
            raise not_found("law")
        bench.store.panels.edit(panel, settings={**settings, KEPT: {**settings.get(KEPT, {}), law: now()}})

    bench.store.write(action)  # what is read and what is written are one transaction: two who keep laws lose neither


def _standing(board: BoardView, record: MeantRecord) -> Mapping[str, Any] | None:
    """The contradiction that was meant, if it still is one."""
    clashes = board.overview["contradictions"].get(record.judge, [])
    return next((each for each in clashes if each["key"] == record.key), None)


@lru_cache(maxsize=200)
def blamed_law(setting: SheetSetting, laws: tuple[LawRecord, ...], answers: tuple[Answered, ...]) -> str | None:
    """The law without which the answers would fit together."""
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
