"""The board: who is missing, who contradicts what, where judges differ, and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.explain import judge_sheet as desk
from coherently.web.operations.invitations import view_judges
from coherently.web.operations.panel_operations import own_panel, view_round
from coherently.web.operations.privacy import privacy_of, veil_of
from coherently.web.operations.questions import setting_of
from coherently.web.operations.sheets import standing
from coherently.web.shapes.board_shapes import BoardView, DoubtView

if TYPE_CHECKING:
    from coherently.explain.judge_sheet import Answered, Overview, Suggestion
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench

KEPT = 50
"""Maximum number of boards that are kept until their panel changes."""
SECONDS, LONGEST = 2.0, 16.0
"""Seconds of the processor that a board may take, at first and when it is asked for again."""


@dataclass(frozen=True, slots=True)
class Calculated:
    """What is calculated for a board: whether it was `finished` says the overview."""

    overview: Overview
    suggestions: tuple[Suggestion, ...]

    @property
    def finished(self) -> bool:
        """Whether more time would find no more."""
        return self.overview.finished


_kept = desk.Attempts[Calculated](KEPT, LONGEST)


def get_board(bench: Workbench, caller: AccountCaller, panel: str) -> BoardView:
    """What a facilitator sees of a panel."""
    own_panel(bench, caller, panel)
    store = bench.store
    veil, found = veil_of(store.forecasts.latest(panel), privacy_of(bench, panel)), _calculated(bench, panel)
    names = {record.id: record.name for record in store.judges.list(panel)}
    return BoardView(
        round=view_round(store.rounds.current(panel)),
        judges=view_judges(bench, panel),
        overview=veil.overview(found.overview).as_dict(),
        ask_next=[each.as_dict() for each in found.suggestions],
        doubts=[
            DoubtView(
                judge=names.get(each.judge, ""),
                sentence="" if each.judge in veil.judges else each.sentence,
                reason=each.reason,
                time=each.time,
            )
            for each in store.meant.list(panel)
        ],
        hidden=sorted(veil.judges),
    )


def _calculated(bench: Workbench, panel: str) -> Calculated:
    """The overview and what to ask next; both stay the same until the panel changes, unless time ran out."""
    key = (bench.store.url, panel, bench.store.changes.last(panel))

    def find(seconds: float) -> Calculated:
        setting, answers = setting_of(bench, panel), answers_of(bench, panel)
        meant: dict[str, set[str]] = {}
        for record in bench.store.meant.list(panel):
            meant.setdefault(record.judge, set()).add(record.key)
        veil = veil_of(bench.store.forecasts.latest(panel), privacy_of(bench, panel))
        shown = {judge: [each for each in own if each.event not in veil.events] for judge, own in answers.items()}
        return Calculated(desk.overview(setting, answers, meant, seconds), desk.ask_next(setting, shown))

    return _kept.get(key, SECONDS, find)


def answers_of(bench: Workbench, panel: str) -> dict[str, list[Answered]]:
    """The answers of each judge to the questions that are asked."""
    asked = {event.id for question in bench.store.questions.list(panel) for event in question.events}
    found: dict[str, list[Any]] = {}
    for record in bench.store.forecasts.latest(panel):
        if record.event in asked:
            found.setdefault(record.judge, []).append(record)
    return {judge: standing(records) for judge, records in found.items()}
