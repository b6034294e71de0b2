"""The form of the sheet, for browsers without script: every button sends all fields along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.operations import discussions, sheets
from coherently.web.operations.judge_drawings import axes_of
from coherently.web.pages.drawing_fields import read_drawing
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.typed_numbers import read_number
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.discussion_shapes import MindDraft
from coherently.web.shapes.judging_shapes import CommentDraft
from coherently.web.shapes.sheet_shapes import AnswerBatch, AnswerDraft, FitDraft, MeantDraft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.access.callers import JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import QuestionView
    from coherently.web.shapes.sheet_shapes import AnswerView, SheetView

SHEET = "/sheet"
CLOSE = 1e-9
"""Answers that differ by less are the same."""


def read_per_cent(text: str) -> float | None:
    """A number in per cent as people type it, as a probability; % is ignored.

    No per cent has thousands, so that a comma or a point before three digits is the decimal point.

    >>> read_per_cent("12,5 %"), read_per_cent("12,500"), read_per_cent(" ")
    (0.125, 0.125, None)
    """
    clean = text.replace("%", "").strip()
    if not clean:
        return None
    number = read_number(f"0{clean}" if clean.startswith((".", ",")) else clean.removesuffix(".").removesuffix(","))
    if number is None:
        raise RefusedError(422, "not-a-number", plain("judge.live.wrong.number", value=text[:40]))
    value = float(number.text)
    if not 0.0 <= value <= 100.0:
        raise RefusedError(422, "out-of-range", plain("judge.live.wrong.range", value=text[:40]))
    return value / 100


def answer_form(bench: Workbench, caller: JudgeCaller, form: Mapping[str, str]) -> str:
    """Keep what a form says and do what its button says; returns the address to go to."""
    sheet = sheets.get_sheet(bench, caller)
    drafts = _changed(sheet, form)
    if drafts:
        sheets.save_answers(bench, caller, AnswerBatch(answers=drafts))
    if key := form.get("fit"):
        return _fit(bench, caller, key)
    if key := form.get("mean"):
        sheets.mean_it(bench, caller, MeantDraft(key=key, reason=form.get(f"why-{key}", "").strip()))
    elif key := form.get("back"):
        sheets.take_back(bench, caller, key)
    elif moves := form.get("undo"):
        _undo(bench, caller, moves)
    elif event := form.get("give"):
        _give(bench, caller, event)
    elif (place := _speak(bench, caller, form)) is not None:
        return f"{SHEET}#{place}"
    elif drawn := form.get("draw"):
        return _draw(bench, caller, form, sheet, drawn=drawn)
    elif "hand_in" in form:
        sheets.hand_in(bench, caller)
        return f"{SHEET}?done=handed-in"
    return SHEET


def _speak(bench: Workbench, caller: JudgeCaller, form: Mapping[str, str]) -> str | None:
    """Say what the form says: a reply, a comment, or that a reason changed the judge's mind; where that is."""
    if key := form.get("reply"):
        draft = fill(CommentDraft, reason=key, text=form.get(f"reply-{key}", "").strip())
        sheets.add_sheet_comment(bench, caller, draft)
    elif key := form.get("mind") or form.get("unmind"):
        discussions.change_mind(bench, caller, fill(MindDraft, reason=key), changed="mind" in form)
    elif key := form.get("comment"):
        text = form.get(f"comment-{key}", "").strip()
        sheets.add_sheet_comment(bench, caller, fill(CommentDraft, question=key, text=text))
    return key or None


def _draw(bench: Workbench, caller: JudgeCaller, form: Mapping[str, str], sheet: SheetView, *, drawn: str) -> str:
    """Keep a distribution that the form drew; `drawn` has the way and the question."""
    way, _, question = drawn.partition(":")
    axis = axes_of(bench, caller.panel).get(question)
    asked = next((each for each in sheet.questions if each.id == question), None)
    if axis is None or asked is None:
        raise not_found("question")
    sheets.save_drawing(bench, caller, read_drawing(form, axis, way, question))
    return f"{SHEET}?drawn={asked.number}#q{asked.number}"


def _changed(sheet: SheetView, form: Mapping[str, str]) -> list[AnswerDraft]:
    """The answers that the form changes; a closed round's form has no fields."""
    known = {answer.event: answer for answer in sheet.answers}
    found = []
    for question in sheet.questions:
        for event in question.events:
            if f"a-{event.id}" in form:
                answer = known.get(event.id)
                draft = _draft(question, event.id, form, answer)
                if _differs(draft, answer):
                    found.append(draft)
    return found


def _draft(question: QuestionView, event: str, form: Mapping[str, str], answer: AnswerView | None) -> AnswerDraft:
    """What the form says about an event; what was not touched there is as it stands, whatever the page showed.

    `w-` has what a field said when the page was made, and `o-` which boxes of the question were ticked.
    """
    typed, boxes = form[f"a-{event}"], form.get(f"o-{question.id}", "")
    value = read_per_cent(typed)
    if typed == form.get(f"w-{event}"):
        value = answer.probability if answer else None
    abstained, locked = (f"{name}-{question.id}" in form for name in ("abstain", "lock"))
    if abstained and "abstain" not in boxes:
        value = None
    elif abstained == ("abstain" in boxes):
        abstained = bool(answer and answer.abstained)
    if locked == ("lock" in boxes):
        locked = bool(answer and answer.locked)
    return AnswerDraft(
        event=event,
        probability=value,
        abstained=abstained and value is None,
        locked=locked and value is not None,
        reason=form.get(f"reason-{question.id}", answer.reason if answer else "").strip(),
    )


def _differs(draft: AnswerDraft, answer: AnswerView | None) -> bool:
    """Whether a draft says something else than what stands."""
    if answer is None:
        return draft.probability is not None or draft.abstained
    given, stood = draft.probability, answer.probability
    same = given is stood if given is None or stood is None else abs(given - stood) < CLOSE
    told = (draft.abstained, draft.locked, draft.reason) == (answer.abstained, answer.locked, answer.reason)
    return not (same and told)


def _move(bench: Workbench, caller: JudgeCaller, moves: Mapping[str, float]) -> None:
    """Set some answers; locks and reasons stay."""
    known = {answer.event: answer for answer in sheets.get_sheet(bench, caller).answers}
    drafts = [
        AnswerDraft(
            event=event,
            probability=value,
            locked=event in known and known[event].locked,
            reason=known[event].reason if event in known else "",
        )
        for event, value in moves.items()
    ]
    if drafts:
        sheets.save_answers(bench, caller, AnswerBatch(answers=drafts))


def _fit(bench: Workbench, caller: JudgeCaller, key: str) -> str:
    changes = sheets.fit_answers(bench, caller, FitDraft(key=key)).changes
    if not changes:
        return SHEET
    _move(bench, caller, {change.event: change.after for change in changes})
    return f"{SHEET}?undo=" + ",".join(f"{change.event}:{round(100 * change.before, 4):g}" for change in changes)


def _undo(bench: Workbench, caller: JudgeCaller, moves: str) -> None:
    pairs = (pair.partition(":") for pair in moves.split(",") if pair)
    _move(bench, caller, {event: value for event, _, text in pairs if (value := read_per_cent(text)) is not None})


def _give(bench: Workbench, caller: JudgeCaller, event: str) -> None:
    """Give what a partition has left to one of its options."""
    sheet = sheets.get_sheet(bench, caller)
    question = next((each for each in sheet.questions if any(one.id == event for one in each.events)), None)
    if question is None:
        return
    own = {each.id for each in question.events}
    known = {answer.event: answer.probability or 0.0 for answer in sheet.answers if answer.event in own}
    left = 1.0 - sum(known.values())
    if left > 0:
        _move(bench, caller, {event: round(known.get(event, 0.0) + left, 6)})
