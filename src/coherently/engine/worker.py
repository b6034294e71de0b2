"""What work knows where it runs: whether somebody has withdrawn it."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Signal(Protocol):
    """What tells work to stop: a `threading.Event`, or anything with `is_set`."""

    def is_set(self) -> bool:
        """Whether the work should stop."""


class Number(Protocol):
    """How often an engine has withdrawn its work; a pool of processes shares it with its workers."""

    value: int


@dataclass(frozen=True, slots=True)
class Withdrawals:
    """The same as a value."""

    value: int


@dataclass(frozen=True, slots=True)
class Order:
    """A piece of work of an engine, and how often the engine had withdrawn its work before."""

    engine: str
    before: int

    def is_set(self) -> bool:
        """Whether the work was withdrawn since."""
        known = _withdrawals.get(self.engine)
        return known is not None and known.value > self.before


# Work is withdrawn by a number that only grows: an order that was given before it grew is withdrawn, and a later one is
# not, so nobody needs to reset anything while old work still runs. Workers read one shared integer without a lock;
# reading it a moment late only means that work ends a slice later. The order belongs to a thread, since a thread pool
# does the work of several callers at once.
_here = threading.local()
_withdrawals: dict[str, Number | Withdrawals] = {}


def learn_number(engine: str, number: Number | Withdrawals) -> None:
    """Let this worker know how often an engine has withdrawn its work."""
    _withdrawals[engine] = number


def begin_process(engine: str, number: Number) -> None:
    """Begin a worker of a pool, which leaves Ctrl-C to the program that has the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    learn_number(engine, number)


def obey(order: Order, work: Callable[..., T], *arguments: Any) -> T:
    """Do work that may ask `order_here` whether it was withdrawn."""
    _here.order = order
    try:
        return work(*arguments)
    finally:
        _here.order = None


def order_here() -> Order | None:
    """The order that the work of this thread obeys, if it has one."""
    order: Order | None = getattr(_here, "order", None)
    return order
