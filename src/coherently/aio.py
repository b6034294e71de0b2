"""The calls that may take long, for programs that run an asyncio event loop.

Each takes what the call of the same name takes, works in a thread, and gives the same answer. If the task that awaits
it is cancelled, the work is told to stop, as by `cancel`, and the task ends at once; the thread ends soon after. A
`cancel` that is set from outside ends the work with the answer so far. `progress` is called in the event loop.

>>> import asyncio
>>> import coherently as co
>>> panel = co.Panel.from_records([("Ann", "p", 0.7), ("Ann", "p & q", 0.9)])
>>> async def main():
...     result, found = await asyncio.gather(co.aio.aggregate(panel), co.aio.check(panel))
...     return round(result.probability("p"), 3), found.coherent
>>> asyncio.run(main())
(0.8, False)
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from coherently.explain import check as _check
from coherently.explain.next_questions import ask_next as _ask_next
from coherently.result import aggregate as _aggregate
from coherently.scoring import tune as _tune
from coherently.scoring.consistency import consistency as _consistency
from coherently.verifier import verify as _verify

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from coherently.panel import Progress
    from coherently.solve import Signal

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["aggregate", "ask_next", "check", "consistency", "tune", "verify"]


@dataclass(frozen=True, slots=True)
class EitherSignal:
    """A signal that is set once one of two is."""

    own: threading.Event
    given: Signal | None

    def is_set(self) -> bool:
        """Whether the work should stop."""
        return self.own.is_set() or (self.given is not None and self.given.is_set())


async def in_thread(call: Callable[[threading.Event], R]) -> R:
    """Run a call in a thread, with a signal that is set when the task that awaits this is cancelled.

    >>> asyncio.run(in_thread(lambda stop: stop.is_set()))
    False
    """
    stop, context = threading.Event(), copy_context()
    loop = asyncio.get_running_loop()
    try:
        return await loop.run_in_executor(None, context.run, partial(call, stop))
    except asyncio.CancelledError:
        stop.set()
        raise


def _in_loop(progress: Progress) -> Progress:
    """The same listener, called in the event loop; what it is told after the loop has closed is lost."""
    loop = asyncio.get_running_loop()

    def tell(share: float) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(progress, share)

    return tell


def _twin(call: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The call as a coroutine function."""
    stoppable = "cancel" in inspect.signature(call).parameters

    @wraps(call)
    async def awaited(*args: P.args, **kwargs: P.kwargs) -> R:
        given: dict[str, Any] = dict(kwargs)
        if given.get("progress") is not None:
            given["progress"] = _in_loop(given["progress"])

        def work(stop: threading.Event) -> R:
            stops = {"cancel": EitherSignal(stop, given.get("cancel"))} if stoppable else {}
            return call(*args, **{**given, **stops})

        return await in_thread(work)

    awaited.__doc__ = f"`co.{call.__name__}`, awaited: the work runs in a thread.\n\n    {call.__doc__}"
    return awaited


aggregate = _twin(_aggregate)
ask_next = _twin(_ask_next)
check = _twin(_check)
consistency = _twin(_consistency)
tune = _twin(_tune)
verify = _twin(_verify)
