"""What can go wrong for reasons that the user can mend, each with a sentence that says how."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 10
"""How many problems one message lists before it only counts."""


class CoherentlyError(Exception):
    """The base of every error that Coherently raises on purpose."""


class EventError(CoherentlyError):
    """An event text that cannot be read."""


class PanelError(CoherentlyError):
    """A panel, or something said beside it (laws, outcomes, labels), that cannot be used as it stands."""


class ContradictionError(PanelError):
    """Laws that cannot hold together; the message has as few of them as make the contradiction."""


class MethodError(CoherentlyError):
    """A method or an option that does not exist or does not fit the panel."""


class ResultError(CoherentlyError):
    """A result that cannot be read, or does not promise what was asked of it."""


class MissingDependencyError(CoherentlyError):
    """An optional package is needed for what was asked and is not installed."""


def summarise(problems: Sequence[str], total: int | None = None) -> str:
    """Join the first problems, one a line, and say how many there are when not all are shown.

    `total` is the true count where `problems` is already cut short.
    """
    count = len(problems) if total is None else total
    shown = list(problems[:SHOWN])
    if count > len(shown):
        shown.append(f"... and {count - len(shown):,} more ({count:,} in all)")
    return "\n".join(shown)
