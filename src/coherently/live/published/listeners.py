"""Who wants to know what changed."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from coherently.solve.measure import UNMOVED
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.live.published.edition import Edition

_LOG = logging.getLogger("coherently.live")


@dataclass(frozen=True, slots=True)
class Shift(Viewed):
    """How the probability of an event changed: None before it was forecast, and after nobody forecasts it."""

    event: str
    before: float | None
    after: float | None

    @property
    def by(self) -> float | None:
        """The probability after minus the one before."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class Change(Viewed):
    """What new answers changed: `shifts` has the events of the largest changes first.

    The answers take in the first `revision` revisions of these events.
    """

    revision: int
    shifts: tuple[Shift, ...]


Listener: TypeAlias = Callable[[Change], object]


class Listeners:
    """Functions that are called with each change; their errors are logged and hurt nobody else."""

    def __init__(self) -> None:
        self._functions: dict[object, Listener] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._functions)

    def add(self, function: Listener) -> Callable[[], None]:
        """Call a function from now on, until the function that is returned is called."""
        token = object()
        with self._lock:
            self._functions[token] = function

        def stop() -> None:
            with self._lock:
                self._functions.pop(token, None)

        return stop

    def tell(self, change: Change) -> None:
        """Tell everybody."""
        with self._lock:
            functions = list(self._functions.values())
        for function in functions:
            try:
                function(change)
            except Exception:
                _LOG.exception("a listener of a live panel failed; the panel goes on")


def change_between(before: Sequence[Edition], after: Sequence[Edition], revision: int) -> Change | None:
    """What changed from some editions to others; None if nothing did."""
    old, new = _values(before), _values(after)
    shifts = [Shift(text, old.get(text), new.get(text)) for text in {**old, **new}]
    moved = [one for one in shifts if one.by is None or abs(one.by) > UNMOVED]
    if not moved:
        return None
    return Change(revision, tuple(sorted(moved, key=lambda one: -2.0 if one.by is None else -abs(one.by))))


def _values(editions: Sequence[Edition]) -> dict[str, float]:
    """The probability of each event; events that nothing is known of are left out."""
    return {
        text: value
        for one in editions
        for text, value in zip(one.panel.written.text, one.solution.value.tolist(), strict=True)
        if not math.isnan(value)
    }
