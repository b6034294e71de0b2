"""Mail to judges, letters to copy, and links to reports."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.shape import Id, Shape, Time, example

LetterKind = Literal["invitation", "reminder"]
State = Literal["waiting", "sending", "sent", "failed", "unsure", "cancelled"]


class LetterView(Shape):
    """A text for one judge, to be sent by whoever writes to them; `{link}` in it stands for their link."""

    judge: Id
    name: str
    address: str
    subject: str
    text: str


class LetterList(Shape):
    """A letter for each judge whom it concerns."""

    letters: list[LetterView]


class MessageDraft(Shape):
    """Mail to send: to all judges whom it concerns, or to some; who has had it is left out unless `again` is true."""

    model_config = example(kind="reminder")

    kind: LetterKind
    judges: Annotated[list[Id], Field(min_length=1, max_length=sizes.PAGE)] | None = None
    again: bool = False


class MessageView(Shape):
    """A mail to a judge and what became of it.

    One that failed for now waits until `next_at`. Of one that is unsure nobody knows whether the mail server took it:
    it is not sent again by itself.
    """

    id: Id
    judge: Id
    kind: LetterKind
    round: int
    address: str
    state: State
    attempts: int
    error: str
    requested_at: Time
    next_at: Time
    ended_at: Time | None


class SkippedJudge(Shape):
    """A judge to whom nothing is sent, and why."""

    judge: Id
    reason: Literal["no-address", "no-link", "sent", "under-way", "unsure", "failed", "handed-in"]


class QueuedMessages(Shape):
    """What will be sent, and who is left out."""

    messages: list[MessageView]
    left_out: list[SkippedJudge]


class MessageList(Shape):
    """All mail of a panel, the oldest first; `can_send` says whether a mail server is set up."""

    can_send: bool
    messages: list[MessageView]


class ReportLinkDraft(Shape):
    """A link by which anybody reads what came out; with names, the whole report with what each judge said."""

    model_config = example(note="For the board", with_names=False)

    note: Annotated[str, Field(max_length=sizes.TITLE, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    with_names: bool = False


class ReportLinkView(Shape):
    """A link to a report."""

    id: Id
    note: str
    with_names: bool
    created: Time
    revoked: Time | None


class ReportLinkList(Shape):
    """The links to the report of a panel."""

    links: list[ReportLinkView]


class NewReportLink(ReportLinkView):
    """A new link to a report; it is shown this once."""

    link: str
