"""Errors that the user can fix; each message says how."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN = 10
"""Maximum number of problems that one message lists; the rest are counted."""


class CoherentlyError(Exception):
    """The base of every error that Coherently raises on purpose."""


class EventError(CoherentlyError):
    """An event text cannot be read."""


class PanelError(CoherentlyError):
    """A panel, or something that belongs to it (laws, outcomes, labels), cannot be used as it is."""


class ContradictionError(PanelError):
    """Laws contradict each other; the message lists a minimal set of them."""


class MethodError(CoherentlyError):
    """A method or an option does not exist or does not fit the panel."""


class ResultError(CoherentlyError):
    """A result cannot be read, or does not promise what was asked of it."""


class EngineError(CoherentlyError):
    """Work cannot run where it was asked to, or was lost there.

    `keep` has the components that were finished, or names their file: the same call with `keep=error.keep` goes on from
    there.
    """

    keep: Any = None


class NetworkError(CoherentlyError):
    """A network cannot run as asked, or a file of one of its nodes cannot be used."""


class MissingDependencyError(CoherentlyError):
    """An optional package is needed but not installed."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun; the plural has an s, unless it is given.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "time series", "time series")
    ('1 row', '2,000 rows', '2 time series')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def summarise(problems: Sequence[str], total: int | None = None) -> str:
    """Join the first problems, one per line, and say how many there are if not all are shown.

    `total` is the true count if `problems` is already shortened.
    """
    count = len(problems) if total is None else total
    shown = list(problems[:SHOWN])
    if count > len(shown):
        shown.append(f"... and {count - len(shown):,} more ({count:,} in all)")
    return "\n".join(shown)


def did_you_mean(word: object, words: Iterable[str]) -> str:
    """Ask whether the word was meant that is spelt most nearly like this one; nothing if none is.

    >>> did_you_mean("bier", ["brier", "log"]), did_you_mean("linear", ["brier", "log"])
    (" Did you mean 'brier'?", '')
    """
    close = difflib.get_close_matches(str(word), list(words), 1)
    return f" Did you mean {close[0]!r}?" if close else ""
