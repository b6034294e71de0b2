"""Mail to judges: what is queued, who is left out and why, and what is sent once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.web.access.origins import is_only_here
from coherently.web.access.request_keys import only_once
from coherently.web.operations.invitations import own_judge, view_judge
from coherently.web.operations.letters import LetterContext
from coherently.web.operations.panel_operations import own_panel
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.message_shapes import MessageList, MessageView, QueuedMessages, SkippedJudge

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.judging_shapes import JudgeEdit, JudgeView
    from coherently.web.shapes.message_shapes import MessageDraft
    from coherently.web.store import JudgeRecord, MessageRecord

REASONS = {"waiting": "under-way", "sending": "under-way", "sent": "sent", "failed": "failed", "unsure": "unsure"}
"""Why nothing is sent to whom a message of the same kind and round was sent, or should have been."""


def edit_judge(bench: Workbench, caller: AccountCaller, panel: str, judge: str, edit: JudgeEdit) -> JudgeView:
    """Say where mail to a judge goes."""
    own_judge(bench, caller, panel, judge)
    return view_judge(bench, panel, bench.store.judges.set_address(judge, edit.address))


def list_messages(bench: Workbench, caller: AccountCaller, panel: str) -> MessageList:
    """All mail of a panel."""
    own_panel(bench, caller, panel)
    found = [MessageView.of(each) for each in bench.store.messages.list(panel)]
    return MessageList(can_send=bench.settings.mail is not None, messages=found)


def queue_messages(
    bench: Workbench, caller: AccountCaller, panel: str, draft: MessageDraft, *, origin: str, key: str | None = None
) -> QueuedMessages:
    """Queue mail to judges; nobody gets the same letter of a round twice unless that is asked for."""
    own_panel(bench, caller, panel)
    _check_mail(bench, origin)

    def action() -> QueuedMessages:
        store, context = bench.store, LetterContext.of(bench.store, panel)
        every = {each.id: each for each in store.judges.list(panel)}
        unknown = next((judge for judge in draft.judges or () if judge not in every), None)
        if unknown is not None:
            raise not_found("judge")
        chosen = [every[judge] for judge in dict.fromkeys(draft.judges or every)]
        had = {each.judge: each for each in store.messages.list(panel) if _is_same(each, draft.kind, context)}
        queued, left = [], []
        for judge in chosen:
            reason = _left_out(judge, draft, context, had.get(judge.id))
            if reason is None:
                queued.append(MessageView.of(store.messages.add(judge.id, draft.kind, context.round.number, origin)))
            else:
                left.append(SkippedJudge.model_validate({"judge": judge.id, "reason": reason}))
        return QueuedMessages(messages=queued, left_out=left)

    return only_once(bench, caller, f"messages {panel}", key, draft=draft, action=lambda: bench.store.write(action))


def _is_same(message: MessageRecord, kind: str, context: LetterContext) -> bool:
    return message.kind == kind and message.round == context.round.number and message.state != "cancelled"


def _left_out(judge: JudgeRecord, draft: MessageDraft, context: LetterContext, had: MessageRecord | None) -> str | None:
    if not context.concerns(judge, draft.kind):
        return "handed-in" if judge.has_link and judge.id in context.handed_in else "no-link"
    if not judge.address:
        return "no-address"
    if had is None or (draft.again and had.state not in ("waiting", "sending")):
        return None
    return REASONS[had.state]


def _check_mail(bench: Workbench, origin: str) -> None:
    if bench.settings.mail is None:
        raise RefusedError(
            409,
            "no-mail",
            "No mail server is set up.",
            remedy="Start the workbench with --mail smtps://USER@HOST --mail-from ADDRESS, or copy the letters.",
        )
    if is_only_here(origin):
        raise RefusedError(
            409,
            "only-here",
            f"The links would begin with {origin}, which no other computer reaches.",
            remedy="Start the workbench with --address and the address under which others reach it.",
        )


def repeat_message(bench: Workbench, caller: AccountCaller, panel: str, message: str) -> MessageView:
    """Send a mail once more that failed, or of which nobody knows whether it was sent."""
    own = own_message(bench, caller, panel, message)
    _check_mail(bench, own.origin)
    return MessageView.of(bench.store.messages.repeat(message))


def cancel_message(bench: Workbench, caller: AccountCaller, panel: str, message: str) -> MessageView:
    """Do not send a mail that still waits."""
    own_message(bench, caller, panel, message)
    return MessageView.of(bench.store.messages.cancel(message))


def own_message(bench: Workbench, caller: AccountCaller, panel: str, message: str) -> MessageRecord:
    """A message of the caller's panel."""
    own_panel(bench, caller, panel)
    record = bench.store.messages.get(message)
    if record.panel != panel:
        raise not_found("message")
    return record
