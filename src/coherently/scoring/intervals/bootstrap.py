"""How much the mean scores vary if other judges make the aggregates: judges are drawn again with replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    remake: Callable[[NDArray[np.float64]], Tally],
    progress: Callable[[float], None],
) -> NDArray[np.float64]:
    """Draw judges again, `count` times, and score the methods each time: draw, method, rule.

    `remake` runs the methods again on judges that count as often as they were drawn. The draws depend on the seed and
    the number of judges only; an interruption leaves out the later ones.
    """
    rng = np.random.default_rng(seed)
    draws: list[NDArray[np.float64]] = []
    try:
        for done in range(count):
            times = rng.multinomial(judges, np.full(judges, 1 / judges)).astype(np.float64)
            draws.append(remake(times).point(times))
            progress((done + 1) / count)
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
