"""`/sheet`: what a judge sees and sends, with the secret of the link."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from coherently.web.api.dependencies import Bench, Judging, Key, ReasonKey, json_only
from coherently.web.operations import closings, discussions, practice, sheets
from coherently.web.shapes.closing_shapes import ClosingView
from coherently.web.shapes.discussion_shapes import MindDraft, VoiceView
from coherently.web.shapes.drawn_shapes import DrawnDraft
from coherently.web.shapes.judging_shapes import CommentDraft, CommentList, CommentView
from coherently.web.shapes.practice_shapes import PracticeDraft, PracticeList, PracticeView
from coherently.web.shapes.sheet_shapes import (
    AnswerBatch,
    FeedbackView,
    FitDraft,
    FitView,
    HandedIn,
    MeantDraft,
    SavedView,
    SheetView,
)

router = APIRouter(prefix="/sheet", tags=["sheet"], dependencies=[Depends(json_only)])
ClashKey = Annotated[str, Path(min_length=1, max_length=200, pattern="^[!-~]+$", description="Key of a contradiction.")]


@router.get("")
def get_sheet(bench: Bench, caller: Judging) -> SheetView:
    """Show the whole sheet of the judge."""
    return sheets.get_sheet(bench, caller)


@router.post("/answers")
def save_answers(bench: Bench, caller: Judging, batch: AnswerBatch, key: Key = None) -> SavedView:
    """Keep answers, and say what they allow and contradict."""
    return sheets.save_answers(bench, caller, batch, key)


@router.post("/drawings")
def save_drawing(bench: Bench, caller: Judging, draft: DrawnDraft, key: Key = None) -> SavedView:
    """Keep a distribution that was drawn for a number or a date; its values at thresholds become the answers."""
    return sheets.save_drawing(bench, caller, draft, key)


@router.post("/try")
def try_answers(bench: Bench, caller: Judging, batch: AnswerBatch) -> FeedbackView:
    """Say what answers would allow and contradict; nothing is saved."""
    return sheets.try_answers(bench, caller, batch)


@router.post("/fit")
def fit_answers(bench: Bench, caller: Judging, draft: FitDraft) -> FitView:
    """Find the smallest change that resolves one contradiction; nothing is saved."""
    return sheets.fit_answers(bench, caller, draft)


@router.post("/meant")
def mean_it(bench: Bench, caller: Judging, draft: MeantDraft, key: Key = None) -> FeedbackView:
    """Say that a contradiction is meant."""
    return sheets.mean_it(bench, caller, draft, key)


@router.delete("/meant/{clash}")
def take_back(bench: Bench, caller: Judging, clash: ClashKey) -> FeedbackView:
    """Say that it was not meant after all."""
    return sheets.take_back(bench, caller, clash)


@router.post("/hand-in")
def hand_in(bench: Bench, caller: Judging) -> HandedIn:
    """Hand in; answers may still change until the round closes."""
    return sheets.hand_in(bench, caller)


@router.get("/comments")
def list_comments(bench: Bench, caller: Judging) -> CommentList:
    """List the comments that this phase shows, without names."""
    return sheets.sheet_comments(bench, caller)


@router.post("/comments", status_code=201)
def add_comment(bench: Bench, caller: Judging, draft: CommentDraft, key: Key = None) -> CommentView:
    """Comment as a judge, or reply to a reason."""
    return sheets.add_sheet_comment(bench, caller, draft, key)


@router.post("/minds")
def change_mind(bench: Bench, caller: Judging, draft: MindDraft) -> VoiceView:
    """Say that a reason changed the judge's mind."""
    return discussions.change_mind(bench, caller, draft)


@router.delete("/minds/{reason}")
def take_mind_back(bench: Bench, caller: Judging, reason: ReasonKey) -> VoiceView:
    """Say that it did not after all."""
    return discussions.change_mind(bench, caller, MindDraft(reason=reason), changed=False)


@router.get("/practice")
def list_statements(_: Judging) -> PracticeList:
    """List the statements for practice."""
    return practice.list_statements()


@router.post("/practice")
def look_at_guesses(_: Judging, draft: PracticeDraft) -> PracticeView:
    """Say how well calibrated guesses about known facts are; nothing is kept."""
    return practice.look_at_guesses(draft)


@router.get("/closing")
def get_closing(bench: Bench, caller: Judging) -> ClosingView:
    """Show the panel's result beside the judge's own numbers, once the panel is closed."""
    return closings.get_closing(bench, caller)
