"""How a verification is stopped: its long loops ask here, each in the thread (or task) that the signal was given to."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.engine.worker import Signal

_signal: ContextVar[Signal | None] = ContextVar("signal", default=None)


class StoppedError(Exception):
    """The signal is set; raised from within the checks, and caught by `verify`."""


@contextmanager
def stopped_by(cancel: Signal | None) -> Iterator[None]:
    """Let the checks within obey a signal."""
    token = _signal.set(cancel)
    try:
        yield
    finally:
        _signal.reset(token)


def stop_if_asked() -> None:
    """Leave the checks if their signal is set."""
    signal = _signal.get()
    if signal is not None and signal.is_set():
        raise StoppedError
