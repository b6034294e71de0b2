"""How much the mean scores vary if other judges make the aggregates: judges are drawn again with replacement."""

from __future__ import annotations

from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.threads import in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.scoring.intervals.jackknife import Tally

LEAST_DRAWS = 20
"""Minimum number of draws for a variance."""


def redraw(
    judges: int,
    count: int,
    seed: int,
    threads: int,
    remake: Callable[[NDArray[np.float64], Event], Tally],
    progress: Callable[[float], None],
) -> NDArray[np.float64]:
    """Draw judges again, `count` times, and score the methods each time: draw, method, rule.

    `remake` runs the methods again on judges that count as often as they were drawn, until its event is set. The draws
    depend on the seed and the number of judges only; an interruption leaves out the later ones.
    """
    often = np.random.default_rng(seed).multinomial(judges, np.full(judges, 1 / judges), count).astype(np.float64)
    stopped = Event()
    draws: list[NDArray[np.float64]] = []
    try:
        with closing(
            in_order(lambda times: remake(times, stopped).point(times), list(often), threads, stopped.set)
        ) as every:
            for draw in every:
                draws.append(draw)
                progress(len(draws) / count)
    except KeyboardInterrupt:
        pass
    return np.array(draws)


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
