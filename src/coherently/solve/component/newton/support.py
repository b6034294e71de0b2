"""Worlds with shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.worlds.distinct import distinct_worlds

if TYPE_CHECKING:
    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged


ROUND = 1e-9
"""Entries of a direction below this are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Worlds with shares, and the probabilities of the events, then of their complements, then of certainty."""

    share: Vector
    worlds: Truth
    sides: Vector

    def towards(self, other: Blend, length: float) -> Blend:
        """The blend that lies a part of the way to another one."""
        if length == 1:
            return other
        kept = self.share > 0
        return Blend(
            np.concatenate([(1.0 - length) * self.share[kept], length * other.share]),
            np.vstack([self.worlds[kept], other.worlds]),
            (1.0 - length) * self.sides + length * other.sides,
        )

    def distinct(self) -> tuple[Vector, Truth]:
        """The shares of distinct worlds, which sum to 1."""
        kept = self.share > 0
        worlds, same = distinct_worlds(self.worlds[kept])
        share = np.bincount(same, self.share[kept], len(worlds)).astype(np.float64)
        return share / share.sum(), worlds


def blend_of(part: Merged, share: Vector, worlds: Truth) -> Blend:
    """A mixture of worlds; both sides of an event are summed from shares, so that small ones keep their digits."""
    truth = part.functions.hold(worlds).astype(np.float64)
    return Blend(share, worlds, np.concatenate([share @ truth, share @ (1.0 - truth), [1.0]]))


def fewest(share: Vector, truth: Vector) -> Vector:
    """Shares with the same mixture, for at most one world more than there are events (Caratheodory 1911).

    >>> np.sort(fewest(np.full(4, 0.25), np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))).round(6).tolist()
    [0.0, 0.0, 0.5, 0.5]
    """
    from scipy.linalg import qr

    share = share.copy()
    kept = np.hstack([truth, np.ones((len(truth), 1))])
    basis, triangle, _ = qr(kept, pivoting=True)
    size = np.abs(triangle.diagonal())
    free = basis[:, np.count_nonzero(size > np.finfo(np.float64).eps * max(kept.shape) * size[0]) :]
    while free.shape[1]:
        way = free[:, 0]
        way = way if way.max() >= -way.min() else -way
        reach = np.where(way > ROUND, share / np.where(way > ROUND, way, 1.0), np.inf)
        leaving = int(np.argmin(reach))
        share = np.maximum(0.0, share - reach[leaving] * way)
        share[leaving] = 0.0
        free = free[:, 1:] - np.outer(free[:, 0] / free[leaving, 0], free[leaving, 1:])
        free[leaving] = 0.0
        free /= np.maximum(np.linalg.norm(free, axis=0), ROUND)
    total: Vector = share / share.sum()
    return total
