"""The board: who is missing, who contradicts what, where judges differ, and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.explain import judge_sheet as desk
from coherently.web.operations.invitations import view_judges
from coherently.web.operations.open_panels import open_panel
from coherently.web.operations.panel_operations import own_panel, view_round
from coherently.web.operations.privacy import privacy_of, veil_of
from coherently.web.operations.sheets import standing
from coherently.web.shapes.board_shapes import BoardView, DoubtView

if TYPE_CHECKING:
    from coherently.explain.judge_sheet import Answered, Overview, Suggestion
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.operations.open_panels import PanelMoment
    from coherently.web.operations.privacy import Privacy
    from coherently.web.store import ForecastRecord

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
    now = open_panel(bench, panel).moment()
    # What is private is asked after the answers were read: a round that opens meanwhile covers none of them.
    privacy = privacy_of(bench, panel)
    veil, found = veil_of(now.records, privacy), _calculated(bench, panel, now, privacy)
    names = {record.id: record.name for record in store.judges.list(panel)}
    return BoardView(
        round=view_round(store.rounds.current(panel)),
        judges=view_judges(bench, panel, now.records),
        overview=veil.overview(found.overview).as_dict(),
        coherent=None if veil.events or now.coherent is None else dict(now.coherent),
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


def _calculated(bench: Workbench, panel: str, now: PanelMoment, privacy: Privacy) -> Calculated:
    """The overview and what to ask next; both stay the same until the panel changes, unless time ran out."""

    def find(seconds: float) -> Calculated:
        answers = _by_judge(now)
        meant: dict[str, set[str]] = {}
        for record in bench.store.meant.list(panel):
            meant.setdefault(record.judge, set()).add(record.key)
        hidden = veil_of(now.records, privacy).events
        shown = {judge: [each for each in own if each.event not in hidden] for judge, own in answers.items()}
        return Calculated(desk.overview(now.setting, answers, meant, seconds), desk.ask_next(now.setting, shown))

    return _kept.get((bench.store.url, panel, now.change, privacy), SECONDS, find)


def answers_of(bench: Workbench, panel: str) -> dict[str, list[Answered]]:
    """The answers of each judge to the questions that are asked."""
    return _by_judge(open_panel(bench, panel).moment())


def _by_judge(now: PanelMoment) -> dict[str, list[Answered]]:
    asked = {item.id for item in now.setting.items}
    found: dict[str, list[ForecastRecord]] = {}
    for record in now.records:
        if record.event in asked:
            found.setdefault(record.judge, []).append(record)
    return {judge: standing(records) for judge, records in found.items()}
