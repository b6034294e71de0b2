"""Judges, rounds, forecasts, outcomes, comments and the board: what the facilitator does during a panel."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from coherently.web.api.dependencies import (
    AsOf,
    Bench,
    CommentId,
    Facilitating,
    JudgeId,
    Key,
    Limit,
    PanelId,
    ReasonKey,
    json_only,
)
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import boards, discussions, invitations
from coherently.web.shapes.board_shapes import BoardView
from coherently.web.shapes.discussion_shapes import MoveList, ReasonList, ReasonView
from coherently.web.shapes.judging_shapes import (
    CommentDraft,
    CommentList,
    CommentView,
    ForecastBatch,
    ForecastPage,
    InvitedJudge,
    JudgeDraft,
    JudgeList,
    OutcomeDraft,
    OutcomeList,
    OutcomeView,
    RecordedForecasts,
    RoundDraft,
    RoundList,
)
from coherently.web.shapes.panel_shapes import RoundView

router = APIRouter(prefix="/panels/{panel}", dependencies=[Depends(json_only)])
OfJudge = Annotated[str | None, Query(pattern="^j_[0-9A-Za-z]{1,40}$", description="Only forecasts of this judge.")]
OfEvent = Annotated[str | None, Query(pattern="^e_[0-9A-Za-z]{1,40}$", description="Only forecasts of this event.")]
After = Annotated[str, Query(pattern="^[0-9]{1,15}$", description="Id of the last forecast seen.")]


@router.get("/judges", tags=["judges"])
def list_judges(bench: Bench, caller: Facilitating, panel: PanelId) -> JudgeList:
    """List the judges, and how far they are."""
    return invitations.list_judges(bench, caller, panel)


@router.post("/judges", tags=["judges"], status_code=201)
def invite_judge(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: JudgeDraft, key: Key = None
) -> InvitedJudge:
    """Invite a judge; the secret of the link is in this answer and nowhere else."""
    return invitations.invite_judge(bench, caller, panel, draft, key=key)


@router.post("/judges/{judge}/link", tags=["judges"], status_code=201)
def renew_link(bench: Bench, caller: Facilitating, panel: PanelId, judge: JudgeId) -> InvitedJudge:
    """Make a new link; the old one ends."""
    return invitations.renew_link(bench, caller, panel, judge)


@router.delete("/judges/{judge}/link", tags=["judges"], status_code=204, response_model=None)
def revoke_link(bench: Bench, caller: Facilitating, panel: PanelId, judge: JudgeId) -> None:
    """End a link; the answers are kept."""
    invitations.revoke_link(bench, caller, panel, judge)


@router.get("/rounds", tags=["rounds"])
def list_rounds(bench: Bench, caller: Facilitating, panel: PanelId) -> RoundList:
    """List the phases so far; the last is the current one."""
    return invitations.list_rounds(bench, caller, panel)


@router.post("/rounds", tags=["rounds"], status_code=201)
def advance_round(bench: Bench, caller: Facilitating, panel: PanelId, draft: RoundDraft) -> RoundView:
    """Go on to a phase: private, discussion, revision or closed."""
    return invitations.advance_round(bench, caller, panel, draft)


@router.get("/forecasts", tags=["forecasts"])
def list_forecasts(
    bench: Bench,
    caller: Facilitating,
    panel: PanelId,
    judge: OfJudge = None,
    event: OfEvent = None,
    as_of: AsOf = None,
    after: After = "0",
    limit: Limit = 1000,
) -> ForecastPage:
    """List all forecasts ever recorded or, with `as_of`, the answers that stood then."""
    return answers.list_forecasts(
        bench, caller, panel, judge=judge, event=event, as_of=as_of, after=int(after), limit=limit
    )


@router.post("/forecasts", tags=["forecasts"], status_code=201)
def record_forecasts(
    bench: Bench, caller: Facilitating, panel: PanelId, batch: ForecastBatch, key: Key = None
) -> RecordedForecasts:
    """Record forecasts for judges, all or none; nothing that was recorded is ever changed."""
    return answers.record_forecasts(bench, caller, panel, batch, key=key)


@router.get("/outcomes", tags=["outcomes"])
def list_outcomes(bench: Bench, caller: Facilitating, panel: PanelId) -> OutcomeList:
    """List the outcomes that are known."""
    return answers.list_outcomes(bench, caller, panel)


@router.post("/outcomes", tags=["outcomes"], status_code=201)
def record_outcome(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: OutcomeDraft, key: Key = None
) -> OutcomeView:
    """Record how an event came out."""
    return answers.record_outcome(bench, caller, panel, draft, key=key)


@router.get("/comments", tags=["comments"])
def list_comments(bench: Bench, caller: Facilitating, panel: PanelId) -> CommentList:
    """List all comments, with the names of those who wrote them."""
    return answers.list_comments(bench, caller, panel)


@router.post("/comments", tags=["comments"], status_code=201)
def add_comment(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: CommentDraft, key: Key = None
) -> CommentView:
    """Comment as the facilitator, or reply to a reason."""
    return answers.add_comment(bench, caller, panel, draft, key=key)


@router.put("/comments/{comment}/hidden", tags=["comments"], status_code=204, response_model=None)
def hide_comment(bench: Bench, caller: Facilitating, panel: PanelId, comment: CommentId) -> None:
    """Let judges see a comment or a reply no longer."""
    discussions.moderate_comment(bench, caller, panel, comment, hidden=True)


@router.delete("/comments/{comment}/hidden", tags=["comments"], status_code=204, response_model=None)
def show_comment(bench: Bench, caller: Facilitating, panel: PanelId, comment: CommentId) -> None:
    """Let judges see a comment or a reply again."""
    discussions.moderate_comment(bench, caller, panel, comment, hidden=False)


@router.get("/reasons", tags=["comments"])
def list_reasons(bench: Bench, caller: Facilitating, panel: PanelId) -> ReasonList:
    """List the reasons beside the answers that stand, with names and replies, without numbers."""
    return discussions.list_reasons(bench, caller, panel)


@router.put("/reasons/{reason}/hidden", tags=["comments"])
def hide_reason(bench: Bench, caller: Facilitating, panel: PanelId, reason: ReasonKey) -> ReasonView:
    """Let the other judges see a reason no longer."""
    return discussions.moderate_reason(bench, caller, panel, reason, hidden=True)


@router.delete("/reasons/{reason}/hidden", tags=["comments"])
def show_reason(bench: Bench, caller: Facilitating, panel: PanelId, reason: ReasonKey) -> ReasonView:
    """Let the other judges see a reason again."""
    return discussions.moderate_reason(bench, caller, panel, reason, hidden=False)


@router.get("/moves", tags=["rounds"])
def list_moves(bench: Bench, caller: Facilitating, panel: PanelId) -> MoveList:
    """Show what the last revision moved, without names, once it is closed."""
    return discussions.list_moves(bench, caller, panel)


@router.get("/board", tags=["panels"])
def get_board(bench: Bench, caller: Facilitating, panel: PanelId) -> BoardView:
    """Show who is missing, who contradicts what, where judges differ, and what to ask next."""
    return boards.get_board(bench, caller, panel)
