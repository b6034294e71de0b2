"""The best world for a sum of coefficients and one more event, of any number of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.problem import LARGEST_GROUP
from coherently.solve.worlds.grounds import DENSE_VARIABLES
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget

FEW = 5
"""Maximum number of variables of the last event whose assignments are tried one by one."""


class Priced(NamedTuple):
    """Worlds, the best first, and a lower bound for all worlds."""

    worlds: list[Mask]
    bound: float


class Pricing:
    """Minimises coefficients of all events of `part`, the last of which may be larger than the others.

    The semidefinite bound handles only events of one or two variables. If only the last one is larger, its variables
    are held in each of their assignments in turn, by a price on each variable that outweighs all its events. Under
    laws some assignments are impossible, and the mixed-integer program is used instead.
    """

    def __init__(self, part: Merged) -> None:
        self.part = part
        size = part.sizes()
        self.held = np.empty(0, np.int64)
        self.oracle = Oracle(part)
        largest, other = int(size[-1]), int(size[:-1].max(initial=0))
        dense = part.n_variables <= DENSE_VARIABLES and part.space.is_free
        self.works = (
            self.oracle.is_exact or max(largest, other) <= LARGEST_GROUP or (dense and max(largest, other) <= 2)
        )
        if dense and other <= 2 < largest <= FEW and not self.oracle.is_exact:
            self.held = part.functions.of(len(part) - 1).astype(np.int64)
            self.works, self.oracle = True, Oracle(_with_singles(part, self.held))

    def least(self, coefficients: Vector, budget: Budget, tolerance: float) -> Priced:
        """The best worlds found; their bound may be lower by the tolerance, or by more if the budget is over."""
        if not len(self.held):
            found = self.oracle.least(coefficients, budget, tolerance)
            return Priced([found.world.astype(np.bool_)], found.bound)
        plain, last = coefficients[:-1], float(coefficients[-1])
        price = self._prices(plain)
        ends: list[tuple[float, Mask]] = []
        bound = np.inf
        count = 2 ** len(self.held)
        for number in range(count):
            truth = (number >> np.arange(len(self.held)) & 1).astype(np.bool_)
            own = budget.share(1.0 / (count - number))
            found = self.oracle.least(np.concatenate([plain, np.where(truth, -price, price)]), own, tolerance)
            world = found.world.astype(np.bool_)
            world[self.held] = truth
            gain = last * float(self.part.functions.hold(world[None])[0, -1])
            ends.append((found.value + gain + float(price @ truth), world))
            bound = min(bound, found.bound + gain + float(price @ truth))
        ends.sort(key=lambda end: end[0])
        return Priced([world for _, world in ends], bound)

    def _prices(self, plain: Vector) -> Vector:
        """For each held variable, more than the sum of the coefficients of its events."""
        part = self.part
        load = np.repeat(np.abs(plain), part.sizes()[:-1])
        total = np.bincount(part.functions.variables[: part.functions.starts[-2]], load, part.n_variables).astype(
            np.float64
        )
        prices: Vector = 1.0 + 1.01 * total[self.held]
        return prices


def _with_singles(part: Merged, variables: Indices) -> Merged:
    """The part without its last event, and with some single variables in its place."""
    kept = part.keep(np.arange(len(part)) < len(part) - 1)
    return kept.extend(variables[:, None].tolist(), [np.array([2], np.uint64)] * len(variables))
