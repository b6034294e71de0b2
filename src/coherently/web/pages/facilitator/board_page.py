"""The board: rounds, who is missing, contradictions, disagreement, laws in doubt, and what to ask next."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import invitations, questions
from coherently.web.operations import panel_operations as panels
from coherently.web.operations.aggregation_operations import request_aggregation
from coherently.web.operations.answer_operations import list_marks
from coherently.web.operations.boards import get_board
from coherently.web.operations.deadlines import in_words, read_local
from coherently.web.operations.doubted_laws import keep_law, laws_in_doubt
from coherently.web.pages.facilitator.judge_groups import grouped, lead_of, missing_names
from coherently.web.pages.facilitator.titles import about, name_events
from coherently.web.pages.formats import deadline, listed, local_field
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.rendered import say
from coherently.web.pages.visits import wrong
from coherently.web.refusals import RefusedError
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.shapes.judging_shapes import RoundDraft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from coherently.web.operations.doubted_laws import DoubtedLaw
    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.board_shapes import BoardView
    from coherently.web.shapes.panel_shapes import PanelView, RoundView

PHASES = ("private", "discussion", "revision", "closed")
"""The phases of the IDEA protocol: investigate, discuss, estimate anew, aggregate."""
SENTENCES = 12
"""How many contradictions of one judge are written out."""
WIDE = 8
"""How many events the list of the widest disagreement shows before it is opened."""


def show_board(visit: Visit, note: Notice | None = None) -> Response:
    """The page."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    asked = questions.list_questions(bench, caller, panel).questions
    board = get_board(bench, caller, panel)
    events = name_events(asked)
    marks = list_marks(bench, caller, panel)
    people = grouped(board, asked, marks)
    wide, rest = spreads(board, events)
    missing = missing_names(people) if board.round.phase in ("private", "revision") else []
    return visit.show(
        "board.html",
        422 if note is not None and note.tone == "wrong" else 200,
        note=note or visit.notice(),
        panel=found,
        lead=lead_of(people, board, questions=len(asked), events=len(events)),
        round=board.round,
        steps=steps(board.round, found.time_zone),
        next_phase=following(board.round.phase),
        closes_local=local_field(board.round.closes_at, found.time_zone),
        missing=len(missing),
        reminder=reminder(found, missing),
        last_answer=max((each.time for each in marks), default=None),
        answered=bool(marks),
        widest=wide,
        narrower=rest,
        narrower_than=round(100 * wide[-1].width) + 1 if wide else 0,
        contradictions=sentences(board, events),
        checked=board.overview["checked"],
        again=not board.overview["finished"],
        unchecked=unchecked_names(board),
        hidden=bool(board.hidden),
        doubts=[_doubt(each, events) for each in laws_in_doubt(bench, caller, panel, board)],
        people=people,
        suggestions=[SimpleNamespace(**each) for each in board.ask_next],
        may_ask=board.round.phase != "closed",
    )


def following(phase: str) -> str | None:
    """The phase after this one."""
    place = PHASES.index(phase) + 1
    return PHASES[place] if place < len(PHASES) else None


def steps(present: RoundView, zone: str) -> list[SimpleNamespace]:
    """The four phases, with what each means."""
    made = []
    for phase in PHASES:
        hidden = phase == "discussion" and present.hide_numbers and present.phase != "private"
        key = "round.discussion.hidden" if hidden else f"round.{phase}.words"
        words: Any = plain(key)
        current = phase == present.phase
        if current and present.closes_at and phase in ("private", "revision"):
            words = say("round.until.words", time=deadline(present.closes_at, zone), words=words)
        made.append(SimpleNamespace(phase=phase, current=current, words=words))
    return made


def spreads(board: BoardView, events: Mapping[str, NamedEvent]) -> tuple[list[SimpleNamespace], list[SimpleNamespace]]:
    """The events on which judges differ, the widest first, and those that the page shows only when asked."""
    by_event = {each["event"]: each for each in board.overview["spreads"]}
    rows = [
        SimpleNamespace(**{**by_event[event], "title": events[event].title})
        for event in board.overview["widest"]
        if event in events
    ]
    return rows[:WIDE], rows[WIDE:]


def sentences(board: BoardView, events: Mapping[str, NamedEvent]) -> list[SimpleNamespace]:
    """The contradictions of each judge and of the averages, in words; without numbers while these are hidden."""
    names = {each.id: each.name for each in board.judges}
    named = {names[judge]: clashes for judge, clashes in board.overview["contradictions"].items() if judge in names}
    named[plain("board.averages")] = board.overview["of_averages"]
    return [
        SimpleNamespace(
            name=name,
            sentences=[_sentence(each, events) for each in clashes[:SENTENCES]],
            more=max(0, len(clashes) - SENTENCES),
        )
        for name, clashes in named.items()
        if clashes
    ]


def unchecked_names(board: BoardView) -> str:
    """Whose answers were not all checked."""
    names = [each.name for each in board.judges if each.id in board.overview["unchecked"]]
    names += [] if board.overview["averages_checked"] else [plain("board.averages.within")]
    return listed(names) if names else ""


def _sentence(clash: Mapping[str, Any], events: Mapping[str, NamedEvent]) -> SimpleNamespace:
    return SimpleNamespace(words=clash["sentence"] or about(clash["events"], events), meant=clash["meant"])


def reminder(panel: PanelView, names: list[str]) -> str:
    """A message to those who have not handed in."""
    if not names:
        return ""
    closes_at = panel.round.closes_at
    until = "" if closes_at is None else plain("board.reminder.until", time=in_words(closes_at, panel.time_zone))
    return plain("board.reminder", names=", ".join(names), panel=panel.title, until=until)


def advance(visit: Visit) -> Response:
    """Go on to a phase, or change when the present one closes and whether it hides numbers."""
    bench, caller, panel, form = visit.bench, visit.caller, visit.part("panel"), visit.form
    try:
        present = invitations.list_rounds(bench, caller, panel).rounds[-1]
        phase = form.get("phase", "")
        stays = phase == present.phase
        hidden = form.get("hide_numbers") == "1" if phase == "discussion" else present.hide_numbers
        zone = panels.get_panel(bench, caller, panel).time_zone
        closes = read_local(form["closes_at"], zone) if form.get("closes_at") else None
        draft = fill(RoundDraft, phase=phase, closes_at=closes, hide_numbers=hidden)
        invitations.advance_round(bench, caller, panel, draft)
        if not stays and phase in ("discussion", "closed"):
            aggregate_round(visit, panel, present.number)
    except CoherentlyError as error:
        return show_board(visit, wrong(error))
    return visit.go(f"/panels/{panel}/board", "round.changed" if stays else f"round.moved.{phase}")


def aggregate_round(visit: Visit, panel: str, number: int) -> None:
    """Make a version of what the round brought, if it brought anything."""
    draft = AggregationDraft(note=plain("version.round", number=number))
    try:
        request_aggregation(visit.bench, visit.caller, panel, draft)
    except RefusedError as refusal:
        if refusal.code != "no-answers":
            raise


def _doubt(doubt: DoubtedLaw, events: Mapping[str, NamedEvent]) -> SimpleNamespace:
    sentence = doubt.sentence or about(doubt.events, events)
    law = doubt.law
    return SimpleNamespace(
        law=law.id if law else None,
        title=(law.title if law else "") or sentence,
        statement=law.statement if law else "",
        voices=doubt.voices,
    )


def keep(visit: Visit) -> Response:
    """Let a law hold although somebody meant otherwise."""
    panel = visit.part("panel")
    keep_law(visit.bench, visit.caller, panel, visit.part("law"))
    return visit.go(f"/panels/{panel}/board", "laws.kept")
