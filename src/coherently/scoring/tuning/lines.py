"""Lines in log-odds, fitted to outcomes without overfitting.

A line turns the log-odds z of a pool into a z + b. With the Brier score S(a, b) of what comes out, on the events of
some blocks, the line is the minimum on a grid of

    S(a, b) / weight + penalty ((a - 1)^2 + b^2),

and the penalty is that for which lines fitted without a block score best on it, over the blocks of the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.scoring.tuning.blocks import ResolvedEvents

EXPONENTS = np.linspace(0.5, 3.0, 21)
SHIFTS = np.linspace(-1.0, 1.0, 17)
PENALTIES = (np.inf, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0)
"""From no line at all to a free one; the first of equally good ones is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class LineScores:
    """The Brier score of each line of the grid, as a sum per block: arrays of block, exponent, shift."""

    loss: Vector
    weight: Vector

    def fit(self, among: Indices) -> tuple[int, int]:
        """The place in the grid of the line that some blocks teach."""
        total, weight = self.loss[among].sum(axis=0), self.weight[among].sum()
        if len(among) < 2 or not weight > 0:
            return PLAIN
        without = [(total - self.loss[b], weight - self.weight[b]) for b in among]
        tried = [
            sum(self.loss[b][_best(*rest, penalty)] for b, rest in zip(among, without, strict=True))
            for penalty in PENALTIES
        ]
        return _best(total, weight, PENALTIES[int(np.argmin(tried))])


def score_lines(blocks: ResolvedEvents, pooled: Vector, clip: float) -> LineScores:
    """Score all lines for a pool of the events as written."""
    value = np.clip(pooled[blocks.event], clip, 1.0 - clip)
    odds = np.log(value / (1.0 - value))
    shape = len(blocks.fold), len(EXPONENTS), len(SHIFTS)
    loss = np.empty(shape)
    for i, exponent in enumerate(EXPONENTS):
        for k, shift in enumerate(SHIFTS):
            line = 0.5 * (1.0 + np.tanh(0.5 * (exponent * odds + shift)))
            loss[:, i, k] = blocks.sums(np.square(line - blocks.outcome))
    # Without a line, nothing is clipped.
    loss[(slice(None), *PLAIN)] = blocks.loss(pooled)
    return LineScores(loss, blocks.sums(np.ones(len(blocks.event))))


def _best(total: Vector, weight: float, penalty: float) -> tuple[int, int]:
    if np.isinf(penalty):
        return PLAIN
    place = int(np.argmin(total / max(weight, 1e-300) + penalty * AWAY))
    return place // len(SHIFTS), place % len(SHIFTS)


PLAIN = int(np.flatnonzero(EXPONENTS == 1.0)[0]), int(np.flatnonzero(SHIFTS == 0.0)[0])
"""The place of the line that changes nothing."""
AWAY = np.square(EXPONENTS - 1.0)[:, None] + np.square(SHIFTS)[None]
"""How far lines are from that."""
