"""The page of questions, laws and judges."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.access.origins import is_only_here, link_origin
from coherently.web.catalogue import plain
from coherently.web.operations import invitations, question_edits, questions
from coherently.web.operations import panel_operations as panels
from coherently.web.operations.letters import LINK, list_letters
from coherently.web.operations.privacy import has_private
from coherently.web.pages.facilitator.asked_twice import summarise
from coherently.web.pages.facilitator.relation_page import offered as offered_relations
from coherently.web.pages.formats import clock
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.joined_events import JOINS, chips, join, picked, read_joined
from coherently.web.pages.forms.joined_laws import RELATIONS
from coherently.web.pages.forms.question_forms import read_question
from coherently.web.pages.rendered import say
from coherently.web.pages.visits import wrong
from coherently.web.refusals import RefusedError
from coherently.web.shapes.panel_shapes import EventEdit, PlaceDraft, QuestionEdit, ReadDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.forms.joined_events import EventChip
    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.judging_shapes import InvitedJudge, JudgeView
    from coherently.web.shapes.panel_shapes import LawView, LooseName, QuestionDraft, QuestionView

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
    visit: Visit,
    note: Notice | None = None,
    links: list[InvitedJudge] | None = None,
    law: dict[str, str] | None = None,
    asked: QuestionDraft | None = None,
) -> Response:
    """The page; after a form that was refused, or whose question (`asked`) or law is only shown, with what it held."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    listed = questions.list_questions(bench, caller, panel).questions
    laws = questions.list_laws(bench, caller, panel)
    refused = note is not None and note.tone == "wrong"
    kept = dict(visit.form) if (refused or asked is not None) and law is None else {}
    if visit.request.url.path.endswith("/questions"):  # the forms for new questions, of which one need not say its kind
        kept = {"kind": "yes-no"} | kept
    draft = SimpleNamespace(**EMPTY | kept)
    offered = chips(listed)
    law_form = dict(visit.form) if law is not None else {}
    law_draft = law or {"statement": "", "title": ""}
    return visit.show(
        "questions.html",
        422 if refused else 200,
        note=note or visit.notice(),
        panel=found,
        questions=[view_of(each) for each in listed],
        events=sum(len(each.events) for each in listed),
        summary=summarise(listed, [each.statement for each in laws.laws]),
        editing=_editing(visit, listed, kept),
        draft=draft,
        no_draft=SimpleNamespace(**EMPTY),
        chips=offered,
        joins=JOINS,
        form=kept,
        parts=picked(kept, offered),
        asked=None if asked is None else _asked(asked, kept, offered),
        reading=_reading(visit, panel, draft.event, "event") if refused else None,
        law_draft=law_draft,
        law_reading=_reading(visit, panel, law_draft["statement"], "law"),
        law_form=law_form,
        law_parts=picked(law_form, offered),
        relations=RELATIONS,
        laws=laws.laws,
        laws_text=kept.get("text", laws_as_text(laws.laws)),
        laws_text_open=visit.asked("laws") == "text" or "text" in kept,
        follows=laws.follows or [],
        unfinished=laws.follows is None,
        how=[(plain(f"how.{word}"), example) for word, example in HOW],
        judges=[_judge(each) for each in invitations.list_judges(bench, caller, panel).judges],
        links=_links(visit, panel, links or []),
        only_here=is_only_here(link_origin(visit.request, bench.settings)),
        private=has_private(bench, panel),
        saved=None,
        undo=visit.asked_id("undo", "q"),
        **offered_relations(visit, panel),
        loose=_loose(question_edits.list_loose_names(bench, caller, panel).names),
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
        declaration=question.declaration or "",
        events=question.events,
        options=[each.title or each.event for each in question.events] if several else [],
    )


def _editing(visit: Visit, listed: list[QuestionView], typed: dict[str, str]) -> SimpleNamespace | None:
    """The question whose form for changes is open, with what was typed there if it was refused."""
    sent = visit.request.path_params.get("question") if "title" in typed else None
    found = next((each for each in listed if each.id == (sent or visit.asked("edit"))), None)
    if found is None:
        return None
    events = [
        SimpleNamespace(
            id=each.id,
            event=typed.get(f"event-{each.id}", each.event),
            title=typed.get(f"short-{each.id}", each.title),
        )
        for each in found.events
    ]
    old = {"title": found.title, "definition": found.definition, "group": found.group}
    old["declaration"] = found.declaration or ""
    return SimpleNamespace(id=found.id, events=events, **{name: typed.get(name, text) for name, text in old.items()})


def _asked(draft: QuestionDraft, form: dict[str, str], offered: list[EventChip]) -> SimpleNamespace:
    """What a question asks that is not added yet: in a sentence, and as a formula."""
    several = len(draft.events) > 1
    options = [event.title or event.event for event in draft.events] if several else []
    sentence = join(form, offered).sentence if form.get("kind") == "combine" else draft.title
    declared = [draft.declaration] if draft.declaration else []
    return SimpleNamespace(
        kind=form.get("kind", "yes-no"),
        sentence=sentence,
        options=options,
        formulas=[*declared, *(event.event for event in draft.events)],
    )


def declared_in(listed: list[QuestionView], laws: list[str]) -> set[str]:
    """The names of variables that questions and laws declare."""
    texts = [*(each.declaration or "" for each in listed), *laws]
    return {found[1] for text in texts if (found := re.match(r"\s*variable\s+([^:]+?)\s*:", text))}


def _loose(names: list[LooseName]) -> list[SimpleNamespace]:
    """Names that may be slips, with what is said of them."""
    return [
        SimpleNamespace(
            name=each.name,
            question=each.question,
            near=each.near,
            words=plain("loose.near" if each.near else "loose.alone", name=each.name, near=each.near),
            more=plain("loose.alone.more") if each.alone else "",
        )
        for each in names
    ]


def laws_as_text(laws: list[LawView]) -> str:
    """The laws, one on each line, with their words after a #."""
    return "\n".join(f"{each.statement}  # {each.title}" if each.title else each.statement for each in laws)


def _reading(visit: Visit, panel: str, text: str, kind: str) -> Any:
    if not text:
        return None
    try:
        return questions.read_draft(visit.bench, visit.caller, panel, fill(ReadDraft, text=text, kind=kind))
    except RefusedError:  # it is not read yet: the form is shown without it
        return None


def _judge(judge: JudgeView) -> SimpleNamespace:
    if judge.revoked:
        state, time = "revoked", judge.revoked
    elif judge.handed_in:
        state, time = "handed_in", judge.handed_in
    else:
        state, time = ("opened", judge.opened) if judge.opened else ("invited", judge.invited)
    words = say("judges.words.state", state=plain(f"judges.{state}"), time=clock(time))
    return SimpleNamespace(id=judge.id, name=judge.name, words=words, revoked=judge.revoked)


def _links(visit: Visit, panel: str, invited: list[InvitedJudge]) -> list[SimpleNamespace]:
    """New links, each with a letter that has it."""
    if not invited:
        return []
    base = link_origin(visit.request, visit.bench.settings)
    written = {each.judge: each for each in list_letters(visit.bench, visit.caller, panel, "invitation").letters}
    found = []
    for each in invited:
        link, letter = f"{base}{each.link}", written.get(each.id)
        text = "" if letter is None else letter.text.replace(LINK, link)
        found.append(SimpleNamespace(name=each.name, link=link, letter=text))
    return found


def add(visit: Visit) -> Response:
    """Ask a question."""
    panel = visit.part("panel")
    back = given if (given := visit.form.get("back")) in ("board", "next") else "questions"
    try:
        listed = questions.list_questions(visit.bench, visit.caller, panel).questions
        laws = [each.statement for each in questions.list_laws(visit.bench, visit.caller, panel).laws]
        if visit.form.get("kind") == "combine":
            draft = read_joined(visit.form, chips(listed))
        else:
            draft = read_question(visit.form, names_in(listed), declared_in(listed, laws))
        if visit.form.get("show"):
            return show_questions(visit, asked=draft)
        made = questions.add_question(visit.bench, visit.caller, panel, draft)
        place = (
            max((each.number for each in listed if each.group and each.group == made.group), default=made.number) + 1
        )
        if place < made.number:  # a heading is there once: the question joins those under it
            where = PlaceDraft(number=place)
            made = question_edits.move_question(visit.bench, visit.caller, panel, made.id, draft=where)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/{back}", "questions.added", number=made.number)


def names_in(listed: list[QuestionView]) -> set[str]:
    """The names that formulas use already."""
    return {name for each in listed for event in each.events for name in re.findall(r"[^\W\d]\w*", event.event)}


def edit(visit: Visit) -> Response:
    """Change a question, or what its button says: move, copy or withdraw it, or ask it again."""
    bench, caller, panel, question = visit.bench, visit.caller, visit.part("panel"), visit.part("question")
    try:
        if visit.form.get("restore"):
            made = question_edits.restore_question(bench, caller, panel, question)
            return visit.go(f"/panels/{panel}/questions#{question}", "questions.restored", number=made.number)
        old = questions.view_question(questions.own_question(bench, caller, panel, question))
        if visit.form.get("withdraw"):
            questions.withdraw_question(bench, caller, panel, question)
            address = f"/panels/{panel}/questions?undo={question}"
            return visit.go(address, "questions.withdrawn", number=old.number)
        if visit.form.get("copy"):
            made = question_edits.copy_question(bench, caller, panel, question)
            address = f"/panels/{panel}/questions?edit={made.id}#{made.id}"
            return visit.go(address, "questions.copied", number=made.number)
        if visit.form.get("place"):
            place = fill(PlaceDraft, number=int(visit.form["place"]) if visit.form["place"].isdecimal() else 1)
            question_edits.move_question(bench, caller, panel, question, draft=place)
            return visit.go(f"/panels/{panel}/questions#{question}")
        question_edits.edit_question(bench, caller, panel, question, edit=_edited(visit, old))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/questions#{question}", "questions.kept", number=old.number)


def _edited(visit: Visit, old: QuestionView) -> QuestionEdit:
    """What the form changes; formulas are sent only if one of them differs."""
    form = visit.form
    words: dict[str, Any] = {name: form.get(name, "").strip() for name in ("title", "definition", "group")}
    events = [
        fill(
            EventEdit,
            id=each.id,
            event=form.get(f"event-{each.id}", each.event).strip(),
            title=form.get(f"short-{each.id}", each.title).strip(),
        )
        for each in old.events
    ]
    if any((new.event, new.title) != (each.event, each.title) for new, each in zip(events, old.events, strict=True)):
        words["events"] = events
    if form.get("declaration", "").strip() not in ("", old.declaration):
        words["declaration"] = form["declaration"].strip()
    return fill(QuestionEdit, **words)


def keep_name(visit: Visit) -> Response:
    """Keep a name that nothing else uses, or put the one instead that was meant."""
    bench, caller, panel, name = visit.bench, visit.caller, visit.part("panel"), visit.form.get("name", "")
    try:
        if not visit.form.get("near"):
            question_edits.keep_name(bench, caller, panel, name)
            return visit.go(f"/panels/{panel}/questions", "loose.kept")
        question_edits.correct_name(bench, caller, panel, name, meant=visit.form["near"])
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    return visit.go(f"/panels/{panel}/questions", "loose.corrected")
