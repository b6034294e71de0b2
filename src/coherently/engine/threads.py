"""Where work runs: in this thread or over several, with the same answers in the same order."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

T = TypeVar("T")
Item = TypeVar("Item")


def count_threads(threads: int | None) -> int:
    """The number of threads: one per processor for None or 0."""
    if threads is not None and threads < 0:
        raise MethodError(f"threads is {threads}; it must be 0 (one per processor) or more")
    return threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def in_order(
    work: Callable[[Item], T], items: Sequence[Item], threads: int, stop: Callable[[], object]
) -> Generator[T, None, None]:
    """What `work` gives for each item, in the order of the items.

    If it raises, or nobody wants the rest, items that were not begun are left out; `stop` should end the others soon.

    >>> list(in_order(abs, [-1, -2, 3], 2, lambda: None))
    [1, 2, 3]
    """
    if threads <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        except BaseException:
            stop()
            pool.shutdown(cancel_futures=True)
            raise
