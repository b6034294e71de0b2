"""The discussion as its leader sees it: reasons, replies and comments, what they moved, and what is hidden."""

from __future__ import annotations

from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import discussions, invitations, questions
from coherently.web.operations import panel_operations as panels
from coherently.web.operations.boards import get_board
from coherently.web.pages.facilitator.titles import name_events
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.shapes.judging_shapes import CommentDraft, RoundDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.discussion_shapes import MoveView, ReasonView
    from coherently.web.shapes.judging_shapes import CommentView


def show_discussion(visit: Visit, note: Notice | None = None) -> Response:
    """The page."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    listed = questions.list_questions(bench, caller, panel).questions
    board = get_board(bench, caller, panel)
    events = name_events(listed)
    comments = answers.list_comments(bench, caller, panel).comments
    spreads = {each["event"]: each for each in board.overview["spreads"] if each["answers"]}
    reasons = discussions.list_reasons(bench, caller, panel).reasons
    moves = discussions.list_moves(bench, caller, panel)
    moved = {each.event: each for each in moves.moves}
    voices: dict[str | None, list[SimpleNamespace]] = {}
    for reason in reasons:
        voices.setdefault(reason.question, []).append(_reason(reason))
    for comment in comments:
        voices.setdefault(comment.question, []).append(_said(comment))
    topics = [
        SimpleNamespace(
            id=each.id,
            number=each.number,
            title=each.title,
            definition=each.definition,
            spreads=[
                SimpleNamespace(**{**spreads[event.id], "title": events[event.id].within})
                for event in each.events
                if event.id in spreads
            ],
            voices=sorted(voices.get(each.id, []), key=lambda voice: voice.time),
            moves=[_move(moved[event.id], events[event.id].within) for event in each.events if event.id in moved],
        )
        for each in listed
    ]
    phase, hidden = board.round.phase, board.round.hide_numbers
    numbers = "" if hidden else plain("talk.lead.numbers")
    return visit.show(
        "discussion.html",
        422 if note is not None and note.tone == "wrong" else 200,
        note=note or visit.notice(),
        panel=found,
        lead=plain(f"talk.lead.{phase}", numbers=numbers),
        topics=topics,
        panel_voices=voices.get(None, []),
        hide_numbers=hidden,
        phase=phase,
        closed=phase == "closed",
        moved=moves.known,
    )


def _said(comment: CommentView) -> SimpleNamespace:
    name = plain("talk.facilitator") if comment.mine else comment.author or plain("talk.someone")
    return SimpleNamespace(
        id=comment.id, text=comment.text, name=name, time=comment.time, kind="comment", hidden=comment.hidden
    )


def _reason(reason: ReasonView) -> SimpleNamespace:
    replies = [
        SimpleNamespace(
            id=each.id,
            text=each.text,
            name=plain("talk.facilitator") if each.mine else each.author,
            hidden=each.hidden,
        )
        for each in reason.replies
    ]
    return SimpleNamespace(
        id=reason.key,
        text=reason.text,
        name=reason.author,
        time=reason.time,
        kind="reason",
        hidden=reason.hidden,
        minds=reason.minds,
        replies=replies,
    )


def _move(move: MoveView, title: str) -> SimpleNamespace:
    before, after = (median(values) if values else None for values in (move.before, move.after))
    return SimpleNamespace(title=title, before=before, after=after, changed=move.changed)


def comment(visit: Visit) -> Response:
    """Say something as the facilitator."""
    panel, question, reason = visit.part("panel"), visit.form.get("question") or None, visit.form.get("reason") or None
    try:
        draft = fill(CommentDraft, question=question, reason=reason, text=visit.form.get("text", "").strip())
        answers.add_comment(visit.bench, visit.caller, panel, draft)
    except CoherentlyError as error:
        return show_discussion(visit, wrong(error))
    return visit.go(f"/panels/{panel}/discussion{f'#{question}' if question else ''}", "talk.said")


def moderate(visit: Visit) -> Response:
    """Hide a reason, a reply or a comment from judges, or show it again."""
    panel, what, hidden = visit.part("panel"), visit.form.get("what", ""), visit.form.get("hide") == "1"
    if what.startswith("r_"):
        discussions.moderate_reason(visit.bench, visit.caller, panel, what, hidden=hidden)
    else:
        discussions.moderate_comment(visit.bench, visit.caller, panel, what, hidden=hidden)
    return visit.go(f"/panels/{panel}/discussion#{what}", "talk.hidden" if hidden else "talk.shown")


def show_or_hide_numbers(visit: Visit) -> Response:
    """Choose whether judges see each other's numbers, without names."""
    panel = visit.part("panel")
    present = invitations.list_rounds(visit.bench, visit.caller, panel).rounds[-1]
    draft = RoundDraft(phase=present.phase, closes_at=present.closes_at, hide_numbers=visit.form.get("hide") == "1")
    invitations.advance_round(visit.bench, visit.caller, panel, draft)
    return visit.go(f"/panels/{panel}/discussion", "round.changed")
