"""The nearest point of the convex hull of worlds, by Wolfe's method, which goes on from the worlds of a near problem.

P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976). The nearest point x to a target t
is a mixture of few worlds w, and no world has (w - t) (x - t) below (x - t)^2: that is checked at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Vector

POSITIVE = 1e-12
"""Shares up to this count as none."""
OPTIMAL = 1e-11
"""By how much a world may be better than the mixture found: the squared distance is at most twice this too large."""
FACE = 1e-9
"""By how much a world of a mixture as near may be farther in the direction of the target: rounding errors."""
MOST_STEPS = 300
"""Maximum number of worlds that are taken up."""


class HullPoint(NamedTuple):
    """A mixture of worlds, by their numbers and shares, and all worlds that mixtures as near may be made of."""

    worlds: list[int]
    share: Vector
    face: NDArray[np.int64]


def nearest_in_hull(points: Vector, start: HullPoint | None = None) -> HullPoint | None:
    """The mixture of points, one per row, that is nearest to 0, from one to start with; None if it was not proved.

    >>> nearest_in_hull(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])).share.round(6).tolist()
    [0.5, 0.5]
    """
    if start is None:
        start = HullPoint([int(np.argmin((points**2).sum(axis=1)))], np.ones(1), np.zeros(0, np.int64))
    worlds, share = list(start.worlds), start.share.copy()
    for _ in range(MOST_STEPS):
        worlds, share = _settled_mixture(points, worlds, share)
        mixed = share @ points[worlds]
        better = points @ mixed
        best = int(np.argmin(better))
        if better[best] >= mixed @ mixed - OPTIMAL:
            # Any other mixture as near gives nothing to worlds that are farther in the direction of the target.
            return HullPoint(worlds, share, np.flatnonzero(better <= mixed @ mixed + FACE))
        if best in worlds:
            return None
        worlds, share = [*worlds, best], np.append(share, 0.0)
    return None


def _settled_mixture(points: Vector, worlds: list[int], share: Vector) -> tuple[list[int], Vector]:
    """Move to the nearest point of the plane of some points, and drop those that it would take less than nothing of."""
    while True:
        own = points[worlds]
        wanted = _nearest_in_plane(own)
        if (wanted > POSITIVE).all():
            return worlds, wanted
        low = wanted <= POSITIVE
        step = float(np.min(share[low] / np.maximum(share[low] - wanted[low], POSITIVE), initial=1.0))
        share = share + step * (wanted - share)
        kept = share > POSITIVE
        if kept.all():  # rounding: drop the least of those that must go
            kept[int(np.argmin(np.where(low, share, np.inf)))] = False
        worlds, share = (
            [w for w, keep in zip(worlds, kept.tolist(), strict=True) if keep],
            share[kept] / share[kept].sum(),
        )


def _nearest_in_plane(points: Vector) -> Vector:
    """The shares, which sum to 1, of the point nearest to 0 in the plane of some points: (P P' + 1 1') y = 1."""
    gram: NDArray[np.float64] = points @ points.T + 1.0
    ones = np.ones(len(points))
    try:
        found = np.linalg.solve(gram, ones)
        bad = np.abs(gram @ found - ones).max() > POSITIVE**0.5
    except np.linalg.LinAlgError:
        bad = True
    if bad:  # points on a common plane of fewer dimensions
        found = np.linalg.lstsq(gram, ones, rcond=None)[0]
    share: Vector = found / found.sum()
    return share
