"""The logger "coherently": the notes that the command line prints, for programs; silent unless somebody listens."""

from __future__ import annotations

import logging
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


def notes_logged(notes: Callable[[Any], Iterable[str | None]]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a public call log the notes of its answer, once; calls that it makes itself log nothing.

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
            log_notes(notes(answer))
            return answer

        return logged

    return deco
