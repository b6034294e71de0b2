"""Notes, which the command line prints, for those who program: warnings where a source was read, and a logger for all.

How a source was read may mean that something in it does not count: an ignored column, a row without a value. Whoever
reads it in Python must see that, as a warning of a category of its own. Notes of answers say how these were found; they
are on the answer, which a notebook shows, and go to the logger "coherently", silent unless somebody listens.
"""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

P = ParamSpec("P")
R = TypeVar("R")

LOGGER = logging.getLogger("coherently")
LOGGER.addHandler(logging.NullHandler())
_INSIDE: ContextVar[bool] = ContextVar("inside a call that logs its own notes", default=False)


@contextmanager
def notes_unlogged() -> Iterator[None]:
    """Log no note of the calls made here: they are steps of another call, which has notes of its own."""
    token = _INSIDE.set(True)
    try:
        yield
    finally:
        _INSIDE.reset(token)


def log_notes(notes: Iterable[str | None]) -> None:
    """Log notes, unless a call that has notes of its own is under way."""
    if not _INSIDE.get() and LOGGER.isEnabledFor(logging.INFO):
        for note in filter(None, notes):
            LOGGER.info(note)


class CoherentlyNote(UserWarning):
    """A note on how a source was read; `warnings.simplefilter("ignore", co.CoherentlyNote)` silences all of them.

    >>> import coherently as co
    >>> issubclass(co.CoherentlyNote, UserWarning)
    True
    """


def notes_logged(
    notes: Callable[[Any], Iterable[str | None]], *, warn: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a public call log the notes of its answer, once; calls that it makes itself log nothing.

    With `warn` each note is also a warning, at the line of the caller, unless that is this package: its doors, such as
    the command line, show notes in their own way.

    >>> @notes_logged(lambda answer: [f"found {answer}"])
    ... def find():
    ...     return 3
    >>> with notes_unlogged():
    ...     find()
    3
    """

    def deco(call: Callable[P, R]) -> Callable[P, R]:
        @wraps(call)
        def logged(*args: P.args, **kwargs: P.kwargs) -> R:
            if _INSIDE.get():
                return call(*args, **kwargs)
            with notes_unlogged():
                answer = call(*args, **kwargs)
            told = [note for note in notes(answer) if note]
            log_notes(told)
            if warn and told and not _is_own(sys._getframe(1).f_globals):
                for note in told:
                    warnings.warn(note, CoherentlyNote, stacklevel=2)
            return answer

        return logged

    return deco


def _is_own(names: dict[str, Any]) -> bool:
    """Whether code is a part of this package, by the names that it sees."""
    return str(names.get("__name__", "")).partition(".")[0] == __name__.partition(".")[0]
