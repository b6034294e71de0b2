"""The nearest point of the convex hull of worlds, by Wolfe's method in the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from coherently import _core
    from coherently.arrays import Indices, Mask, Vector


class HullPoint(NamedTuple):
    """A mixture of worlds, by their numbers and shares, and all worlds that mixtures as near may be made of."""

    worlds: Indices
    share: Vector
    face: Indices


def nearest_in_hull(hull: _core.Hull, target: Vector, active: Mask, start: HullPoint | None = None) -> HullPoint | None:
    """The mixture of worlds nearest to the active entries of a target, from one to start with; None if unproved.

    >>> from coherently import _core
    >>> hull = _core.Hull(np.array([[1, 0], [0, 1], [1, 1]], np.uint8))
    >>> nearest_in_hull(hull, np.zeros(2), np.ones(2, np.bool_)).share.round(6).tolist()
    [0.5, 0.5]
    """
    begin = (np.zeros(0, np.int64), np.zeros(0)) if start is None else (start.worlds, start.share)
    found = hull.nearest(np.ascontiguousarray(target), np.ascontiguousarray(active).view(np.uint8), *begin)
    return None if found is None else HullPoint(*found)
