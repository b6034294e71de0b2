"""The discussion: reasons and comments for each question, and numbers without names once they are opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.operations.boards import get_board
from coherently.web.pages.facilitator.titles import name_events
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.shapes.judging_shapes import CommentDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.judging_shapes import CommentView


def show_discussion(visit: Visit, note: Notice | None = None) -> Response:
    """The page."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    listed = questions.list_questions(bench, caller, panel).questions
    board = get_board(bench, caller, panel)
    names = {each.id: each.name for each in board.judges}
    events = name_events(listed)
    comments = answers.list_comments(bench, caller, panel).comments
    spreads = {each["event"]: each for each in board.overview["spreads"] if each["answers"]}
    voices = _reasons(visit, panel, names, {each.id: events[each.id].question for each in events.values()})
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
            voices=sorted(
                [*voices.get(each.id, []), *(_said(comment) for comment in comments if comment.question == each.id)],
                key=lambda voice: voice.time,
            ),
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
        panel_voices=[_said(each) for each in comments if each.question is None],
        hide_numbers=hidden,
        closed=phase == "closed",
    )


def _said(comment: CommentView) -> SimpleNamespace:
    name = plain("talk.facilitator") if comment.mine else comment.author or plain("talk.someone")
    return SimpleNamespace(text=comment.text, name=name, time=comment.time, kind="comment")


def _reasons(visit: Visit, panel: str, names: dict[str, str], home: dict[str, str]) -> dict[str, list[SimpleNamespace]]:
    """The reasons beside the answers that stand, by question; the same words are said once."""
    found: dict[str, list[SimpleNamespace]] = {}
    seen = set()
    for record in answers.list_marks(visit.bench, visit.caller, panel):
        question = home.get(record.event)
        if not record.reason or question is None or (record.judge, question, record.reason) in seen:
            continue
        seen.add((record.judge, question, record.reason))
        voice = SimpleNamespace(text=record.reason, name=names.get(record.judge, ""), time=record.time, kind="reason")
        found.setdefault(question, []).append(voice)
    return found


def comment(visit: Visit) -> Response:
    """Say something as the facilitator."""
    panel, question = visit.part("panel"), visit.form.get("question") or None
    try:
        draft = fill(CommentDraft, question=question, text=visit.form.get("text", "").strip())
        answers.add_comment(visit.bench, visit.caller, panel, draft)
    except CoherentlyError as error:
        return show_discussion(visit, wrong(error))
    return visit.go(f"/panels/{panel}/discussion{f'#{question}' if question else ''}", "talk.said")
