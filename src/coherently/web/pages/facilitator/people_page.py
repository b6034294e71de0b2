"""The page from which people are reached: letters, mail, the deadline, and links to the report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from starlette.responses import Response

from coherently.errors import CoherentlyError
from coherently.web.access.origins import is_only_here, link_origin
from coherently.web.catalogue import plain
from coherently.web.operations import deadlines, invitations, judge_mail, letters, report_links
from coherently.web.operations import panel_operations as panels
from coherently.web.pages.formats import clock
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.rendered import say
from coherently.web.pages.visits import wrong
from coherently.web.shapes.judging_shapes import JudgeEdit
from coherently.web.shapes.message_shapes import MessageDraft, ReportLinkDraft
from coherently.web.shapes.panel_shapes import PanelEdit
from coherently.web.shapes.shape import zone_names

if TYPE_CHECKING:
    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.judging_shapes import JudgeView
    from coherently.web.shapes.message_shapes import LetterView, MessageView, NewReportLink

KINDS = ("invitation", "reminder")
ANSWERING = ("private", "revision")


def show_people(visit: Visit, note: Notice | None = None, made: NewReportLink | None = None) -> Response:
    """The page."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    judges = invitations.list_judges(bench, caller, panel).judges
    mail = judge_mail.list_messages(bench, caller, panel)
    written = {kind: letters.list_letters(bench, caller, panel, kind).letters for kind in KINDS}
    last = {each.judge: each for each in mail.messages}
    origin = link_origin(visit.request, bench.settings)
    closes = found.round.closes_at if found.round.phase in ANSWERING else None
    missing = [each for each in judges if not each.handed_in and not each.revoked]
    return visit.show(
        "people.html",
        422 if note is not None and note.tone == "wrong" else 200,
        note=note or visit.notice(),
        panel=found,
        judges=[_row(each, last.get(each.id)) for each in judges],
        missing=len(missing),
        mail_words=_mail_words(visit, origin),
        can_mail=mail.can_send and not is_only_here(origin),
        only_here=is_only_here(origin),
        counts={kind: _unsent(written[kind], mail.messages, kind, found.round.number) for kind in KINDS},
        letters=_letters(written),
        mark=letters.LINK,
        when=None if closes is None else deadlines.in_words(closes, found.time_zone),
        answering=found.round.phase in ANSWERING,
        zones=sorted(zone_names()),
        links=report_links.list_report_links(bench, caller, panel).links,
        made=made,
    )


def _mail_words(visit: Visit, origin: str) -> str:
    mail = visit.bench.settings.mail
    if mail is None:
        return plain("people.mail.none")
    return (
        plain("people.mail.here", origin=origin)
        if is_only_here(origin)
        else plain("people.mail.ready", sender=mail.sender)
    )


def _letters(written: dict[str, list[LetterView]]) -> list[SimpleNamespace]:
    return [SimpleNamespace(kind=kind, **each.model_dump()) for kind, found in written.items() for each in found]


def _unsent(found: list[LetterView], messages: list[MessageView], kind: str, number: int) -> int:
    """How many letters of a kind would be mailed."""
    had = {each.judge for each in messages if (each.kind, each.round) == (kind, number) and each.state != "cancelled"}
    return sum(bool(each.address) and each.judge not in had for each in found)


def _row(judge: JudgeView, last: MessageView | None) -> SimpleNamespace:
    words = plain("people.never")
    if last is not None:
        kind = plain(f"people.letter.{last.kind}")
        state = plain(f"message.{last.state}", kind=kind)
        words = say("judges.words.state", state=state, time=clock(last.ended_at or last.requested_at))
    return SimpleNamespace(id=judge.id, name=judge.name, address=judge.address, words=words, last=last)


def save_addresses(visit: Visit) -> Response:
    """Keep the addresses that differ, all or none."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    try:
        judges = invitations.list_judges(bench, caller, panel).judges
        typed = {each.id: visit.form.get(f"address-{each.id}", each.address).strip() for each in judges}
        edits = {each.id: fill(JudgeEdit, address=typed[each.id]) for each in judges if typed[each.id] != each.address}
        for judge, edit in edits.items():
            judge_mail.edit_judge(bench, caller, panel, judge, edit=edit)
    except CoherentlyError as error:
        return show_people(visit, wrong(error))
    return visit.go(f"/panels/{panel}/people", "people.addresses.saved", count=len(edits))


def send(visit: Visit) -> Response:
    """Mail a letter to all whom it concerns."""
    panel = visit.part("panel")
    try:
        draft = fill(MessageDraft, kind=visit.form.get("kind", ""))
        origin = link_origin(visit.request, visit.bench.settings)
        queued = judge_mail.queue_messages(visit.bench, visit.caller, panel, draft, origin=origin)
    except CoherentlyError as error:
        return show_people(visit, wrong(error))
    count = len(queued.messages)
    return visit.go(f"/panels/{panel}/people", "people.sent" if count else "people.sent.none", count=count)


def repeat_or_cancel(visit: Visit) -> Response:
    """Send a mail once more, or not at all."""
    bench, caller, panel, message = visit.bench, visit.caller, visit.part("panel"), visit.part("message")
    try:
        if visit.form.get("cancel"):
            judge_mail.cancel_message(bench, caller, panel, message)
            return visit.go(f"/panels/{panel}/people", "people.cancelled")
        judge_mail.repeat_message(bench, caller, panel, message)
    except CoherentlyError as error:
        return show_people(visit, wrong(error))
    return visit.go(f"/panels/{panel}/people", "people.again.done")


def set_zone(visit: Visit) -> Response:
    """Choose the time zone of the panel."""
    panel = visit.part("panel")
    try:
        edit = fill(PanelEdit, time_zone=visit.form.get("time_zone", "").strip())
        made = panels.edit_panel(visit.bench, visit.caller, panel, edit)
    except CoherentlyError as error:
        return show_people(visit, wrong(error))
    return visit.go(f"/panels/{panel}/people", "people.zone.saved", name=made.time_zone)


def make_link(visit: Visit) -> Response:
    """Make a link to the report, and show it this once."""
    panel = visit.part("panel")
    try:
        with_names = visit.form.get("with_names") == "1"
        draft = fill(ReportLinkDraft, note=visit.form.get("note", "").strip(), with_names=with_names)
        origin = link_origin(visit.request, visit.bench.settings)
        made = report_links.make_report_link(visit.bench, visit.caller, panel, draft, origin=origin)
    except CoherentlyError as error:
        return show_people(visit, wrong(error))
    return show_people(visit, made=made)


def revoke_link(visit: Visit) -> Response:
    """End a link to the report."""
    panel = visit.part("panel")
    report_links.revoke_report_link(visit.bench, visit.caller, panel, visit.part("link"))
    return visit.go(f"/panels/{panel}/people#report", "people.report.revoked")


def calendar(visit: Visit) -> Response:
    """The deadline as a file for calendars."""
    origin = link_origin(visit.request, visit.bench.settings)
    return calendar_file(deadlines.panel_calendar(visit.bench, visit.caller, visit.part("panel"), origin))


def calendar_file(text: str) -> Response:
    """The answer that gives a file for calendars."""
    headers = {"Content-Disposition": 'attachment; filename="deadline.ics"'}
    return Response(text, media_type="text/calendar; charset=utf-8", headers=headers)
