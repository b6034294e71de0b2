"""Judges on the board: who has not opened the link, who is at it, who has handed in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.pages.formats import clock, listed
from coherently.web.pages.rendered import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.web.operations.answer_operations import AnswerMark
    from coherently.web.shapes.board_shapes import BoardView
    from coherently.web.shapes.judging_shapes import JudgeView
    from coherently.web.shapes.panel_shapes import QuestionView

STATES = ("unopened", "at-it", "silent", "answered", "handed-in", "revoked")
"""The states of judges, in the order in which the board shows them."""


def grouped(board: BoardView, questions: Sequence[QuestionView], marks: Sequence[AnswerMark]) -> list[SimpleNamespace]:
    """The judges by state, with one cell for each question: answered, abstained or open."""
    by_judge: dict[str, dict[str, AnswerMark]] = {}
    for mark in marks:
        by_judge.setdefault(mark.judge, {})[mark.event] = mark
    rows: dict[str, list[SimpleNamespace]] = {state: [] for state in STATES}
    for judge in board.judges:
        own = by_judge.get(judge.id, {})
        rows[state_of(judge, board.round.phase, answered=bool(own))].append(_row(judge, board, questions, own))
    return [SimpleNamespace(state=state, judges=found) for state, found in rows.items() if found]


def state_of(judge: JudgeView, phase: str, *, answered: bool) -> str:
    """Whether a judge has handed in, is at it, has not begun, or cannot any more; a file counts as handed in.

    Once the round takes no answers, nobody is at it: a judge has answered or has not.
    """
    if judge.handed_in:
        return "handed-in"
    if judge.revoked and not answered:
        return "revoked"
    if not (judge.opened or answered):
        return "unopened"
    return "at-it" if phase in ("private", "revision") else "answered" if answered else "silent"


def _row(
    judge: JudgeView, board: BoardView, questions: Sequence[QuestionView], own: dict[str, AnswerMark]
) -> SimpleNamespace:
    cells = [_cell([own[event.id] for event in each.events if event.id in own], len(each.events)) for each in questions]
    clashes = board.overview["contradictions"].get(judge.id, [])
    last = max((each.time for each in own.values()), default=None)
    time = judge.handed_in or last or judge.opened
    return SimpleNamespace(
        name=judge.name,
        words=clock(time)
        if time
        else say("judges.words.state", state=plain("judges.invited"), time=clock(judge.invited)),
        cells=cells,
        answered=cells.count("answered"),
        abstained=cells.count("abstained"),
        contradictions=sum(not each["meant"] for each in clashes),
        meant=sum(bool(each["meant"]) for each in clashes),
        unchecked=judge.id in board.overview["unchecked"],
    )


def _cell(given: list[AnswerMark], events: int) -> str:
    if not given or len(given) < events:
        return "open"
    return "abstained" if all(each.is_abstention for each in given) else "answered"


def missing_names(people: Sequence[SimpleNamespace]) -> list[str]:
    """Who has not handed in, and could."""
    return [judge.name for group in people if group.state in ("unopened", "at-it") for judge in group.judges]


def lead_of(people: Sequence[SimpleNamespace], board: BoardView, *, questions: int, events: int) -> str:
    """The one paragraph that says it all."""
    counts = {group.state: len(group.judges) for group in people}
    sizes = {
        "judges": plain("judges.count", count=sum(counts.values())),
        "questions": plain("questions.count", count=questions),
        "events": plain("events.count", count=events),
    }
    active = [judge for group in people for judge in group.judges if judge.answered or judge.abstained]
    if not active:
        return plain("board.lead.none", **sizes)
    states = listed(
        [
            plain(f"board.lead.{state.replace('-', '_')}", count=counts[state])
            for state in ("handed-in", "answered", "at-it", "silent", "unopened", "revoked")
            if counts.get(state)
        ]
    )
    return plain("board.lead", **sizes, states=states, contradict=_contradict(active, board))


def _contradict(active: Sequence[SimpleNamespace], board: BoardView) -> str:
    count = sum(judge.contradictions + judge.meant > 0 for judge in active)
    averages = bool(board.overview["of_averages"])
    if count == 0 and not board.overview["checked"] and not averages:
        return plain("board.lead.unchecked")
    if not board.overview["checked"]:
        first = plain("board.lead.contradict", count=count, of=len(active)) if count else plain("board.lead.averages")
        return first + plain("board.lead.contradict.unchecked")
    if count == 0:
        return plain("board.lead.nobody") + plain("board.lead.nobody.but" if averages else "board.lead.nobody.and")
    first = plain("board.lead.contradict", count=count, of=len(active))
    return first + plain("board.lead.contradict.and" if averages else "board.lead.contradict.but")
