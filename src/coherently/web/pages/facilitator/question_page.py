"""The page of questions, laws and judges."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import invitations, questions
from coherently.web.operations import panel_operations as panels
from coherently.web.pages.facilitator.asked_twice import summarise
from coherently.web.pages.formats import clock
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.question_forms import read_question
from coherently.web.pages.rendered import say
from coherently.web.pages.visits import wrong
from coherently.web.settings import LOOPBACK
from coherently.web.shapes.panel_shapes import QuestionEdit, ReadDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.judging_shapes import InvitedJudge, JudgeView
    from coherently.web.shapes.panel_shapes import LawView, QuestionView

HOW = (
    ("and", "a & b"),
    ("or", "a | b"),
    ("not", "~a"),
    ("means", "a -> b"),
    ("if", "a given b"),
    ("one", "exactly(1; a, b, c)"),
    ("number", "rate >= 2.5"),
    ("date", "due <= 2027-03-31"),
)
"""The event language in eight lines."""
EMPTY = dict.fromkeys(("kind", "title", "definition", "group", "event", "short", "shape", "variable", "lines"), "")
"""The fields of a question that nobody has begun."""


def show_questions(
    visit: Visit, note: Notice | None = None, links: list[InvitedJudge] | None = None, law: str = ""
) -> Response:
    """The page; after a form that was refused, with what it held."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    listed = questions.list_questions(bench, caller, panel).questions
    laws = questions.list_laws(bench, caller, panel)
    refused = note is not None and note.tone == "wrong"
    draft = SimpleNamespace(**EMPTY | (dict(visit.form) if refused and not law else {}))
    law_draft = SimpleNamespace(statement=law, title=visit.form.get("title", "") if law else "")
    return visit.show(
        "questions.html",
        422 if refused else 200,
        note=note or visit.notice(),
        panel=found,
        questions=[view_of(each) for each in listed],
        events=sum(len(each.events) for each in listed),
        summary=summarise(listed, [each.statement for each in laws.laws]),
        editing=visit.asked("edit"),
        draft=draft,
        no_draft=SimpleNamespace(**EMPTY),
        reading=_reading(visit, panel, draft.event, "event") if refused else None,
        law_draft=law_draft,
        law_reading=_reading(visit, panel, law, "law") if law else None,
        laws=laws.laws,
        laws_text=laws_as_text(laws.laws),
        laws_text_open=visit.asked("laws") == "text" or bool(refused and "laws_text" in visit.form),
        follows=laws.follows,
        how=[(plain(f"how.{word}"), example) for word, example in HOW],
        judges=[_judge(each) for each in invitations.list_judges(bench, caller, panel).judges],
        links=[_link(visit, each) for each in links or ()],
        only_here=visit.request.url.hostname in LOOPBACK,
        saved=None,
    )


def view_of(question: QuestionView) -> SimpleNamespace:
    """A question as the list shows it: its formula, or what its several events are about."""
    several = len(question.events) > 1
    declared = re.sub(r"^variable\s+", "", question.declaration or "")
    formula = declared if several and declared else " / ".join(each.event for each in question.events)
    return SimpleNamespace(
        id=question.id,
        number=question.number,
        kind=question.kind,
        group=question.group,
        title=question.title,
        definition=question.definition,
        formula=formula,
        options=[each.title or each.event for each in question.events] if several else [],
    )


def laws_as_text(laws: list[LawView]) -> str:
    """The laws, one on each line, with their words after a #."""
    return "\n".join(f"{each.statement}  # {each.title}" if each.title else each.statement for each in laws)


def _reading(visit: Visit, panel: str, text: str, kind: str) -> Any:
    if not text:
        return None
    return questions.read_draft(visit.bench, visit.caller, panel, fill(ReadDraft, text=text, kind=kind))


def _judge(judge: JudgeView) -> SimpleNamespace:
    if judge.revoked:
        state, time = "revoked", judge.revoked
    elif judge.handed_in:
        state, time = "handed_in", judge.handed_in
    else:
        state, time = ("opened", judge.opened) if judge.opened else ("invited", judge.invited)
    words = say("judges.words.state", state=plain(f"judges.{state}"), time=clock(time))
    return SimpleNamespace(id=judge.id, name=judge.name, words=words, revoked=judge.revoked)


def _link(visit: Visit, invited: InvitedJudge) -> SimpleNamespace:
    base = str(visit.request.base_url).rstrip("/")
    return SimpleNamespace(name=invited.name, link=f"{base}{invited.link}")


def add(visit: Visit) -> Response:
    """Ask a question."""
    panel = visit.part("panel")
    back = "board" if visit.form.get("back") == "board" else "questions"
    try:
        taken = names_in(questions.list_questions(visit.bench, visit.caller, panel).questions)
        made = questions.add_question(visit.bench, visit.caller, panel, read_question(visit.form, taken))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/{back}", "questions.added", number=made.number)


def names_in(listed: list[QuestionView]) -> set[str]:
    """The names that formulas use already."""
    return {name for each in listed for event in each.events for name in re.findall(r"[^\W\d]\w*", event.event)}


def edit(visit: Visit) -> Response:
    """Change the words of a question, or withdraw it."""
    bench, caller, panel, question = visit.bench, visit.caller, visit.part("panel"), visit.part("question")
    try:
        number = questions.own_question(bench, caller, panel, question).number
        if visit.form.get("withdraw"):
            questions.withdraw_question(bench, caller, panel, question)
            return visit.go(f"/panels/{panel}/questions", "questions.withdrawn", number=number)
        words = {name: visit.form.get(name, "").strip() for name in ("title", "definition", "group")}
        questions.edit_question(bench, caller, panel, question, edit=fill(QuestionEdit, **words))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/questions#{question}", "questions.kept", number=number)
