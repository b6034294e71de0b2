"""`/panels` with questions and laws."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from coherently.web.api.dependencies import Bench, Facilitating, Key, LawId, Limit, PanelId, QuestionId, json_only
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import question_edits, questions
from coherently.web.shapes.board_shapes import ReadingView
from coherently.web.shapes.panel_shapes import (
    LawDraft,
    LawList,
    LawView,
    LooseNameList,
    NameDraft,
    PanelDraft,
    PanelEdit,
    PanelList,
    PanelView,
    PlaceDraft,
    QuestionDraft,
    QuestionEdit,
    QuestionList,
    QuestionView,
    ReadDraft,
)

router = APIRouter(dependencies=[Depends(json_only)])
Seen = Annotated[str | None, Query(pattern="^p_[0-9A-Za-z]{1,40}$", description="Id of the last panel seen.")]


@router.get("/panels", tags=["panels"])
def list_panels(bench: Bench, caller: Facilitating, limit: Limit = 100, after: Seen = None) -> PanelList:
    """List the panels of the account, the newest first."""
    return panels.list_panels(bench, caller, limit, after)


@router.post("/panels", tags=["panels"], status_code=201)
def create_panel(bench: Bench, caller: Facilitating, draft: PanelDraft, key: Key = None) -> PanelView:
    """Create a panel, in its first private round."""
    return panels.create_panel(bench, caller, draft, key)


@router.get("/panels/{panel}", tags=["panels"])
def get_panel(bench: Bench, caller: Facilitating, panel: PanelId) -> PanelView:
    """Show a panel."""
    return panels.get_panel(bench, caller, panel)


@router.patch("/panels/{panel}", tags=["panels"])
def edit_panel(bench: Bench, caller: Facilitating, panel: PanelId, edit: PanelEdit) -> PanelView:
    """Change title, description or tag."""
    return panels.edit_panel(bench, caller, panel, edit)


@router.delete("/panels/{panel}", tags=["panels"], status_code=204, response_model=None)
def delete_panel(bench: Bench, caller: Facilitating, panel: PanelId) -> None:
    """Delete a panel; the links of its judges end."""
    panels.delete_panel(bench, caller, panel)


@router.post("/panels/{panel}/restore", tags=["panels"])
def restore_panel(bench: Bench, caller: Facilitating, panel: PanelId) -> PanelView:
    """Show a panel again that was deleted."""
    return panels.restore_panel(bench, caller, panel)


@router.post("/panels/{panel}/copy", tags=["panels"], status_code=201)
def copy_panel(bench: Bench, caller: Facilitating, panel: PanelId, draft: PanelDraft) -> PanelView:
    """Make a panel with the same questions and laws, without judges and answers."""
    return panels.copy_panel(bench, caller, panel, draft)


@router.get("/panels/{panel}/names", tags=["questions"])
def list_loose_names(bench: Bench, caller: Facilitating, panel: PanelId) -> LooseNameList:
    """List names that one question alone uses, and no law: they may be slips."""
    return question_edits.list_loose_names(bench, caller, panel)


@router.post("/panels/{panel}/names", tags=["questions"])
def keep_name(bench: Bench, caller: Facilitating, panel: PanelId, draft: NameDraft) -> LooseNameList:
    """Keep a name although nothing else uses it."""
    return question_edits.keep_name(bench, caller, panel, draft.name)


@router.get("/panels/{panel}/questions", tags=["questions"])
def list_questions(bench: Bench, caller: Facilitating, panel: PanelId) -> QuestionList:
    """List the questions, in their order."""
    return questions.list_questions(bench, caller, panel)


@router.post("/panels/{panel}/questions", tags=["questions"], status_code=201)
def add_question(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: QuestionDraft, key: Key = None
) -> QuestionView:
    """Ask a question; its formulas are read together with all others first."""
    return questions.add_question(bench, caller, panel, draft, key=key)


@router.patch("/panels/{panel}/questions/{question}", tags=["questions"])
def edit_question(
    bench: Bench, caller: Facilitating, panel: PanelId, question: QuestionId, edit: QuestionEdit
) -> QuestionView:
    """Change words and formulas of a question; a formula that somebody has answered stays."""
    return question_edits.edit_question(bench, caller, panel, question, edit=edit)


@router.post("/panels/{panel}/questions/{question}/place", tags=["questions"])
def move_question(
    bench: Bench, caller: Facilitating, panel: PanelId, question: QuestionId, draft: PlaceDraft
) -> QuestionView:
    """Put a question at another place; the others close up."""
    return question_edits.move_question(bench, caller, panel, question, draft=draft)


@router.post("/panels/{panel}/questions/{question}/copy", tags=["questions"], status_code=201)
def copy_question(bench: Bench, caller: Facilitating, panel: PanelId, question: QuestionId) -> QuestionView:
    """Ask the same once more, right after it."""
    return question_edits.copy_question(bench, caller, panel, question)


@router.post("/panels/{panel}/questions/{question}/restore", tags=["questions"])
def restore_question(bench: Bench, caller: Facilitating, panel: PanelId, question: QuestionId) -> QuestionView:
    """Ask a question again that was withdrawn."""
    return question_edits.restore_question(bench, caller, panel, question)


@router.delete("/panels/{panel}/questions/{question}", tags=["questions"], status_code=204, response_model=None)
def withdraw_question(bench: Bench, caller: Facilitating, panel: PanelId, question: QuestionId) -> None:
    """Ask it no longer; its answers are kept."""
    questions.withdraw_question(bench, caller, panel, question)


@router.get("/panels/{panel}/laws", tags=["laws"])
def list_laws(bench: Bench, caller: Facilitating, panel: PanelId) -> LawList:
    """List the laws, and what follows without any."""
    return questions.list_laws(bench, caller, panel)


@router.post("/panels/{panel}/laws", tags=["laws"], status_code=201)
def add_law(bench: Bench, caller: Facilitating, panel: PanelId, draft: LawDraft, key: Key = None) -> LawView:
    """Add a law; it is read together with all others first."""
    return questions.add_law(bench, caller, panel, draft, key=key)


@router.delete("/panels/{panel}/laws/{law}", tags=["laws"], status_code=204, response_model=None)
def drop_law(bench: Bench, caller: Facilitating, panel: PanelId, law: LawId) -> None:
    """Let a law hold no longer."""
    questions.drop_law(bench, caller, panel, law)


@router.post("/panels/{panel}/read", tags=["questions"])
def read_draft(bench: Bench, caller: Facilitating, panel: PanelId, draft: ReadDraft) -> ReadingView:
    """Say what a draft of an event or a law means while it is typed; nothing is saved."""
    return ReadingView.model_validate(questions.read_draft(bench, caller, panel, draft).as_dict())
