"""The board: who is missing, who contradicts what, where judges differ, and what to ask next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.explain import judge_sheet as desk
from coherently.web.operations.invitations import view_judges
from coherently.web.operations.open_panels import open_panel
from coherently.web.operations.panel_operations import own_panel, view_round
from coherently.web.operations.privacy import privacy_of, veil_of
from coherently.web.operations.sheets import standing
from coherently.web.shapes.board_shapes import BoardView, DoubtView

if TYPE_CHECKING:
    from coherently.explain.judge_sheet import Answered, PanelLook
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.operations.open_panels import PanelMoment
    from coherently.web.operations.privacy import Privacy
    from coherently.web.store import ForecastRecord

SECONDS = 2.0
"""Seconds of the processor that a board may take at first; more when it is asked for again."""


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


def _calculated(bench: Workbench, panel: str, now: PanelMoment, privacy: Privacy) -> PanelLook:
    """The overview and what to ask next, as far as they are known in time."""
    meant: dict[str, set[str]] = {}
    for record in bench.store.meant.list(panel):
        meant.setdefault(record.judge, set()).add(record.key)
    asked = desk.PanelAnswers(
        now.setting,
        tuple((judge, tuple(own)) for judge, own in _by_judge(now).items()),
        tuple((judge, frozenset(keys)) for judge, keys in meant.items()),
        veil_of(now.records, privacy).events,
    )
    found = bench.desk.ask(panel, bench.settings.limits.page_seconds, desk.look_at_panel, asked, SECONDS)
    return asked.unfinished() if found is None else found


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
