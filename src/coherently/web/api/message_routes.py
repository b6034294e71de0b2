"""Letters and mail to judges, the deadline as a file for calendars, and links to the report."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from coherently.web.api.dependencies import (
    Bench,
    Facilitating,
    JudgeId,
    Judging,
    Key,
    LinkOrigin,
    MessageId,
    PanelId,
    ReportLinkId,
    json_only,
)
from coherently.web.operations import deadlines, judge_mail, letters, report_links
from coherently.web.shapes.judging_shapes import JudgeEdit, JudgeView
from coherently.web.shapes.message_shapes import (
    LetterKind,
    LetterList,
    MessageDraft,
    MessageList,
    MessageView,
    NewReportLink,
    QueuedMessages,
    ReportLinkDraft,
    ReportLinkList,
)

router = APIRouter(dependencies=[Depends(json_only)])
CALENDAR = "text/calendar; charset=utf-8"
FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {CALENDAR: {"schema": {"type": "string"}}}}
}


def calendar_file(text: str) -> Response:
    """The answer that gives a file for calendars."""
    headers = {"Content-Disposition": 'attachment; filename="deadline.ics"', "Content-Type": CALENDAR}
    return Response(text, headers=headers)


@router.patch("/panels/{panel}/judges/{judge}", tags=["judges"])
def edit_judge(bench: Bench, caller: Facilitating, panel: PanelId, judge: JudgeId, edit: JudgeEdit) -> JudgeView:
    """Say where mail to a judge goes."""
    return judge_mail.edit_judge(bench, caller, panel, judge, edit=edit)


@router.get("/panels/{panel}/letters/{kind}", tags=["messages"])
def list_letters(bench: Bench, caller: Facilitating, panel: PanelId, kind: LetterKind) -> LetterList:
    """Give a letter for each judge whom it concerns, to be sent by hand."""
    return letters.list_letters(bench, caller, panel, kind)


@router.get("/panels/{panel}/messages", tags=["messages"])
def list_messages(bench: Bench, caller: Facilitating, panel: PanelId) -> MessageList:
    """List all mail to judges, and what became of it."""
    return judge_mail.list_messages(bench, caller, panel)


@router.post("/panels/{panel}/messages", tags=["messages"], status_code=202)
def queue_messages(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: MessageDraft, origin: LinkOrigin, key: Key = None
) -> QueuedMessages:
    """Mail a letter to judges; who has had it is left out."""
    return judge_mail.queue_messages(bench, caller, panel, draft, origin=origin, key=key)


@router.post("/panels/{panel}/messages/{message}/repeat", tags=["messages"])
def repeat_message(bench: Bench, caller: Facilitating, panel: PanelId, message: MessageId) -> MessageView:
    """Send a mail once more that failed, or of which nobody knows whether it was sent."""
    return judge_mail.repeat_message(bench, caller, panel, message)


@router.post("/panels/{panel}/messages/{message}/cancel", tags=["messages"])
def cancel_message(bench: Bench, caller: Facilitating, panel: PanelId, message: MessageId) -> MessageView:
    """Do not send a mail that still waits."""
    return judge_mail.cancel_message(bench, caller, panel, message)


@router.get("/panels/{panel}/deadline.ics", tags=["rounds"], responses=FILE, response_class=Response)
def panel_deadline(bench: Bench, caller: Facilitating, panel: PanelId, origin: LinkOrigin) -> Response:
    """Give the end of the round as a file for calendars."""
    return calendar_file(deadlines.panel_calendar(bench, caller, panel, origin))


@router.get("/sheet/deadline.ics", tags=["sheet"], responses=FILE, response_class=Response)
def sheet_deadline(bench: Bench, caller: Judging, origin: LinkOrigin) -> Response:
    """Give the end of the round as a file for the calendar of the judge."""
    return calendar_file(deadlines.sheet_calendar(bench, caller, origin))


@router.get("/panels/{panel}/report-links", tags=["files"])
def list_report_links(bench: Bench, caller: Facilitating, panel: PanelId) -> ReportLinkList:
    """List the links to the report, with those that were withdrawn."""
    return report_links.list_report_links(bench, caller, panel)


@router.post("/panels/{panel}/report-links", tags=["files"], status_code=201)
def make_report_link(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: ReportLinkDraft, origin: LinkOrigin
) -> NewReportLink:
    """Make a link by which anybody reads the report; it is shown this once."""
    return report_links.make_report_link(bench, caller, panel, draft, origin=origin)


@router.delete("/panels/{panel}/report-links/{link}", tags=["files"], status_code=204, response_model=None)
def revoke_report_link(bench: Bench, caller: Facilitating, panel: PanelId, link: ReportLinkId) -> None:
    """End a link to the report."""
    report_links.revoke_report_link(bench, caller, panel, link)
