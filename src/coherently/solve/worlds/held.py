"""The best world for a sum of coefficients and one or two more events, of any number of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.problem import LARGEST_GROUP
from coherently.solve.worlds.grounds import DENSE_VARIABLES, EAGER_STATES
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget

FEW = 5
"""Maximum number of variables of the last events whose assignments are tried one by one."""


class Priced(NamedTuple):
    """Worlds, the best first, and a lower bound for all worlds."""

    worlds: list[Mask]
    bound: float


class Pricing:
    """Minimises coefficients of all events of `part`, the last of which, `asked` many, may be larger than the others.

    The semidefinite bound handles only events of one or two variables. If only the last ones are larger, their
    variables are held in each of their assignments in turn, by a price on each variable that outweighs all its events.
    Under laws some assignments are impossible, and branching over clusters is used instead.
    """

    def __init__(self, part: Merged, asked: int = 1) -> None:
        self.part, self.asked = part, asked
        size = part.sizes()
        self.held = np.empty(0, np.int64)
        self.oracle = Oracle(part)
        largest, other = int(size.max()), int(size[:-asked].max(initial=0))
        dense = part.n_variables <= DENSE_VARIABLES and part.space.is_free
        self.works = self.oracle.is_exact or largest <= LARGEST_GROUP or (dense and largest <= 2)
        if dense and other <= 2 < largest and not self.oracle.is_exact:
            held = np.unique(part.functions.variables[part.functions.starts[-1 - asked] :]).astype(np.int64)
            if len(held) <= FEW:
                self.held, self.works, self.oracle = held, True, Oracle(_with_singles(part, held, asked))

    @property
    def is_quick(self) -> bool:
        """Whether dynamic programming finds the best world at once."""
        return self.oracle.grounds.cost <= EAGER_STATES and not len(self.held)

    def least(self, coefficients: Vector, budget: Budget, tolerance: float) -> Priced:
        """The best worlds found; their bound may be lower by the tolerance, or by more if the budget is over."""
        if not len(self.held):
            best = self.oracle.least(coefficients, budget, tolerance)
            return Priced([best.world.astype(np.bool_)], best.bound)
        plain, last = np.split(coefficients, [-self.asked])
        price = self._prices(plain)
        ends: list[tuple[float, Mask]] = []
        bound = np.inf
        count = 2 ** len(self.held)
        for number in range(count):
            truth = (number >> np.arange(len(self.held)) & 1).astype(np.bool_)
            time = budget.share(1.0 / (count - number))
            best = self.oracle.least(np.concatenate([plain, np.where(truth, -price, price)]), time, tolerance)
            world = best.world.astype(np.bool_)
            world[self.held] = truth
            gain = float(last @ self.part.functions.hold(world[None])[0, -self.asked :])
            ends.append((best.value + gain + float(price @ truth), world))
            bound = min(bound, best.bound + gain + float(price @ truth))
        ends.sort(key=lambda end: end[0])
        return Priced([world for _, world in ends], bound)

    def _prices(self, plain: Vector) -> Vector:
        """For each held variable, more than the sum of the coefficients of its events."""
        part = self.part
        load = np.repeat(np.abs(plain), part.sizes()[: len(plain)])
        variables = part.functions.variables[: part.functions.starts[len(plain)]]
        total = np.bincount(variables, load, part.n_variables).astype(np.float64)
        prices: Vector = 1.0 + 1.01 * total[self.held]
        return prices


def _with_singles(part: Merged, variables: Indices, asked: int) -> Merged:
    """The part without its last events, and with some single variables in their place."""
    kept = part.keep(np.arange(len(part)) < len(part) - asked)
    return kept.extend(variables[:, None].tolist(), [np.array([2], np.uint64)] * len(variables))
