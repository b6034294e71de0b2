"""The wall clock, in the one place where it is read.

Whoever runs the machine may set it, forwards and back. So it only says when something happened and whether a time has
come: what comes before what is told by numbers, and how long something takes by `time.monotonic`.
"""

from __future__ import annotations

from datetime import UTC, datetime


def present() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)
