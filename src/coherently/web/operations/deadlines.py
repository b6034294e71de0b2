"""When a round closes: in words, in the panel's time zone, and as a file for calendars."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from coherently.web.catalogue import plain
from coherently.web.operations.panel_operations import own_panel, time_zone
from coherently.web.refusals import RefusedError
from coherently.web.store.identifiers import now

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import PanelRecord, RoundRecord

WIDTH = 75
"""Maximum number of bytes of a line of a calendar file (RFC 5545, 3.1)."""
EARLY = timedelta(days=1)
"""How long before the end a calendar reminds."""


def in_words(moment: str, zone: str) -> str:
    """A moment in a time zone, with its name and, unless it is the same, in UTC.

    >>> in_words("2026-05-01T12:00:00.000Z", "Europe/Berlin")
    'Friday 1 May 2026, 14:00 (Europe/Berlin; 12:00 UTC)'
    >>> in_words("2026-05-01T23:30:00.000Z", "Asia/Tokyo")
    'Saturday 2 May 2026, 08:30 (Asia/Tokyo; 1 May, 23:30 UTC)'
    """
    then, there = datetime.fromisoformat(moment), datetime.fromisoformat(moment).astimezone(ZoneInfo(zone))
    words = f"{there:%A} {there.day} {there:%B} {there.year}, {there:%H:%M}"
    if zone == "UTC":
        return f"{words} (UTC)"
    day = "" if there.date() == then.date() else f"{then.day} {then:%B}, "
    return f"{words} ({zone}; {day}{then:%H:%M} UTC)"


def read_local(text: str, zone: str) -> str:
    """A time as a form sends it, read in a time zone; one that its clocks leave out is refused.

    >>> read_local("2026-05-01T14:00", "Europe/Berlin")
    '2026-05-01T14:00:00+02:00'
    """
    try:
        typed = datetime.fromisoformat(text)
        there = typed if typed.tzinfo else typed.replace(tzinfo=ZoneInfo(zone))
        back = there.astimezone(UTC).astimezone(there.tzinfo)
    except (ValueError, OverflowError):
        return text
    if back.replace(tzinfo=None) != there.replace(tzinfo=None):
        raise RefusedError(
            422,
            "no-such-time",
            f"There is no {typed:%H:%M} on {typed.day} {typed:%B} {typed.year} in the time zone {zone}: the clocks "
            "are put forward then.",
            where="body.closes_at",
            remedy="Choose another time.",
        )
    return there.isoformat(timespec="seconds")


def panel_calendar(bench: Workbench, caller: AccountCaller, panel: str, origin: str) -> str:
    """The end of the present round, for the calendar of the facilitator."""
    return calendar(
        own_panel(bench, caller, panel), bench.store.rounds.current(panel), f"{origin}/panels/{panel}/board"
    )


def sheet_calendar(bench: Workbench, caller: JudgeCaller, origin: str) -> str:
    """The end of the present round, for the calendar of a judge; it has no link, which is a secret."""
    return calendar(bench.store.panels.get(caller.panel), bench.store.rounds.current(caller.panel), f"{origin}/sheet")


def calendar(panel: PanelRecord, present: RoundRecord, address: str) -> str:
    """The deadline of a round as a file of RFC 5545; a later file of the same round takes the place of an earlier one.

    Times are in UTC, so that calendars need no table of time zones.
    """
    if present.closes_at is None or present.phase not in ("private", "revision"):
        raise RefusedError(404, "no-deadline", "The round has no end, or takes no answers now.")
    end = datetime.fromisoformat(present.closes_at)
    words = plain("calendar.words", when=in_words(present.closes_at, time_zone(panel)), address=address)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Coherently//Workbench//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:{panel.id}-{present.number}@coherently",
        f"DTSTAMP:{_stamp(datetime.fromisoformat(now()))}",
        # Calendars keep the version with the highest number: a deadline that was set later has a higher one.
        f"SEQUENCE:{int(datetime.fromisoformat(present.since).timestamp()) % 2**31}",
        f"DTSTART:{_stamp(end - timedelta(minutes=30))}",
        f"DTEND:{_stamp(end)}",
        f"SUMMARY:{_escaped(plain('calendar.title', panel=panel.title))}",
        f"DESCRIPTION:{_escaped(words)}",
        f"URL:{address}",
        "TRANSP:TRANSPARENT",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        f"TRIGGER;RELATED=END:-P{EARLY.days}D",
        f"DESCRIPTION:{_escaped(plain('calendar.title', panel=panel.title))}",
        "END:VALARM",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escaped(text: str) -> str:
    r"""A text as a calendar holds it.

    >>> print(_escaped("a, b; c\nd"))
    a\, b\; c\nd
    """
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\r", "").replace("\n", "\\n")


def _folded(line: str) -> str:
    """A line in pieces of at most 75 bytes, none of which breaks a letter; a blank begins each but the first."""
    pieces, piece = [], ""
    for letter in line:
        if len(f"{piece}{letter}".encode()) > WIDTH:
            pieces.append(piece)
            piece = " "
        piece += letter
    return "\r\n".join([*pieces, piece])
