"""The board: who is missing, who contradicts what, where judges differ, and what to ask next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from coherently.web import desk
from coherently.web.operations.inviting import view_judges
from coherently.web.operations.panel_operations import own_panel, view_round
from coherently.web.operations.questions import setting_of
from coherently.web.operations.sheets import standing
from coherently.web.shapes.board_shapes import BoardView, DoubtView

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.desk import Answered

KEPT = 50
"""Maximum number of boards that are kept until their panel changes."""
_kept: OrderedDict[tuple[str, str, int], tuple[dict[str, Any], list[dict[str, Any]]]] = OrderedDict()
_lock = threading.Lock()


def get_board(bench: Workbench, caller: AccountCaller, panel: str) -> BoardView:
    """What a facilitator sees of a panel."""
    own_panel(bench, caller, panel)
    store = bench.store
    overview, suggestions = _calculated(bench, panel)
    names = {record.id: record.name for record in store.judges.list(panel)}
    return BoardView(
        round=view_round(store.rounds.current(panel)),
        judges=view_judges(bench, panel),
        overview=overview,
        ask_next=suggestions,
        doubts=[
            DoubtView(judge=names.get(each.judge, ""), sentence=each.sentence, reason=each.reason, time=each.time)
            for each in store.meant.list(panel)
        ],
    )


def _calculated(bench: Workbench, panel: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The overview and what to ask next; both stay the same until the panel changes."""
    key = (bench.store.url, panel, bench.store.changes.last(panel))
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    setting, answers = setting_of(bench, panel), answers_of(bench, panel)
    meant: dict[str, set[str]] = {}
    for record in bench.store.meant.list(panel):
        meant.setdefault(record.judge, set()).add(record.key)
    found = (
        desk.overview(setting, answers, meant).as_dict(),
        [each.as_dict() for each in desk.ask_next(setting, answers)],
    )
    with _lock:
        _kept[key] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return found


def answers_of(bench: Workbench, panel: str) -> dict[str, list[Answered]]:
    """The answers of each judge to the questions that are asked."""
    asked = {event.id for question in bench.store.questions.list(panel) for event in question.events}
    found: dict[str, list[Any]] = {}
    for record in bench.store.forecasts.latest(panel):
        if record.event in asked:
            found.setdefault(record.judge, []).append(record)
    return {judge: standing(records) for judge, records in found.items()}
