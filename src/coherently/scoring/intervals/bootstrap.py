"""How much the mean scores vary if other judges make the aggregates: judges are drawn again with replacement."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from itertools import takewhile
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.engine.batches import batches_of
from coherently.engine.dispatch import dispatch
from coherently.engine.threads import in_order
from coherently.engine.worker import order_here
from coherently.solve import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from coherently.scoring.intervals.jackknife import Tally
    from coherently.solve import Signal

LEAST_DRAWS = 20
"""Minimum number of draws for a variance."""


Remake: TypeAlias = "Callable[[NDArray[np.float64], Signal], Tally]"
"""Runs the methods on judges that count as often as they were drawn, until its signal is set."""


def redraw(
    judges: int,
    count: int,
    seed: int,
    where: int | tuple[Executor, float],
    remake: Remake,
    progress: Callable[[float], None],
) -> NDArray[np.float64]:
    """Draw judges again, `count` times, and score the methods each time: draw, method, rule.

    `where` is a number of threads, or an executor and the seconds that a draw takes, roughly. The draws depend on the
    seed and the number of judges only; an interruption leaves out the later ones.
    """
    often = np.random.default_rng(seed).multinomial(judges, np.full(judges, 1 / judges), count).astype(np.float64)
    draws: dict[int, NDArray[np.float64]] = {}
    found = _over_threads(where, often, remake) if isinstance(where, int) else _elsewhere(*where, often, remake)
    try:
        with closing(found) as every:
            for i, draw in every:
                draws[i] = draw
                progress(len(draws) / count)
    except KeyboardInterrupt:
        pass
    return np.array([draws[i] for i in takewhile(draws.__contains__, range(count))])


def _over_threads(
    threads: int, often: NDArray[np.float64], remake: Remake
) -> Generator[tuple[int, NDArray[np.float64]], None, None]:
    """The draws in this process, in their order."""
    stopped = Event()
    with closing(in_order(partial(_redrawn, remake, stopped), list(often), threads, stopped.set)) as draws:
        yield from enumerate(draws)


def _redrawn(remake: Remake, stopped: Signal, times: NDArray[np.float64]) -> NDArray[np.float64]:
    return remake(times, stopped).point(times)


def _elsewhere(
    engine: Executor, seconds: float, often: NDArray[np.float64], remake: Remake
) -> Generator[tuple[int, NDArray[np.float64]], None, None]:
    """The draws by an executor, as they arrive."""
    numbers = batches_of([seconds] * len(often))
    batches = [often[batch] for batch in numbers]
    with closing(dispatch(engine, partial(_redraw_batch, remake), batches, Budget())) as arriving:
        for k, draws in arriving:
            yield from zip(numbers[k], draws, strict=True)


def _redraw_batch(remake: Remake, often: NDArray[np.float64], _: float) -> list[NDArray[np.float64]]:
    return [_redrawn(remake, order_here() or Event(), times) for times in often]


def covariances(draws: NDArray[np.float64], judges: int) -> NDArray[np.float64]:
    """The covariances of the methods' mean scores: rule, method, method; NaN if the draws are too few.

    Draws vary (n - 1) / n times as much as means of n judges do. A draw without a score is left out.
    """
    shape = draws.shape[1:]
    found = np.full((shape[1], shape[0], shape[0]), np.nan)
    for rule in range(shape[1]):
        scores = draws[:, :, rule]
        scores = scores[~np.isnan(scores).any(axis=1)]
        if len(scores) >= LEAST_DRAWS and judges > 1:
            found[rule] = judges / (judges - 1) * np.cov(scores.T, bias=True)
    return found
