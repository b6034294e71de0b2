"""The best world where events are single variables, and counts over all of these: the best for each number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import LARGEST_TABLE

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.problem import Merged


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountedWorlds:
    """Single variables, and counts of the same literals of all variables.

    Event `alone[i]` is the variable `variable[i]`. Event `counts[j]` holds if the number k of true literals is one with
    `holds[j, k]`; a variable counts if it is true where `literal` is, else if it is false.
    """

    alone: Indices
    variable: Indices
    counts: Indices
    literal: Mask
    holds: Mask

    @staticmethod
    def of(part: Merged) -> CountedWorlds | None:
        """The same events, if they are of this kind and no law forbids a world."""
        sizes, functions = part.sizes(), part.functions
        alone, counts = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > LARGEST_TABLE)
        if not part.space.is_free or not len(counts) or len(alone) + len(counts) < len(part):
            return None
        if (sizes[counts] < part.n_variables).any():
            return None
        decoded = [functions.decoded(i) for i in counts.tolist()]
        literal = decoded[0][0].astype(np.bool_)
        # The core tells counts of the same literals, and of the same ones all turned, by the same literals.
        if any((own != literal).any() for own, _ in decoded):
            return None
        holds = [numbers for _, numbers in decoded]
        variable = functions.variables[functions.starts[alone]].astype(np.int64)
        return CountedWorlds(
            alone=alone, variable=variable, counts=counts, literal=literal, holds=np.array(holds, np.bool_)
        )

    def least(self, coefficients: Vector) -> tuple[Truth, float]:
        """The world of the least sum of coefficients of events that hold, and a lower bound on that sum.

        With k true literals the cheapest k are true: sums of the sorted costs give the best world for each k. The bound
        is lower than the sum by what rounding may add to it.
        """
        cost = np.zeros(len(self.literal))
        cost[self.variable] = coefficients[self.alone]
        gain = np.where(self.literal, cost, -cost)
        order = np.argsort(gain, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(gain[order])]) + coefficients[self.counts] @ self.holds
        best = int(np.argmin(sums))
        true = np.zeros(len(cost), np.bool_)
        true[order[:best]] = True
        # Each of the 2n + m terms of a sum is rounded at most as often as there are terms.
        rounding = 2.0**-52 * (2 * len(cost) + len(self.counts)) * float(np.abs(coefficients).sum())
        bound = float(sums[best]) + float(cost[~self.literal].sum()) - rounding
        return (true == self.literal).astype(np.uint8), bound
