"""At what price bets are sold and bought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.bets import decimal
from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from coherently.certify.bets import Bets


@dataclass(frozen=True, slots=True)
class Terms:
    """What trading costs: `fee` a unit of a bet, and `spread`, by which a bought bet costs more than a sold one brings.

    Bets trade at half a spread from their price; where `quoted`, the panel's columns lower and upper say at what a bet
    is sold and bought instead.
    """

    fee: float = 0.0
    spread: float = 0.0
    quoted: bool = False

    def __post_init__(self) -> None:
        for name, value in (("fee", self.fee), ("spread", self.spread)):
            if not 0 <= value < math.inf:
                raise MethodError(f"{name} is {value}; it must be a number of 0 or more")

    @property
    def free(self) -> bool:
        """Whether bets are sold and bought at one price."""
        return self.fee == 0 and self.spread == 0 and not self.quoted

    def net(self, bets: Bets) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a unit of each bet brings where it is sold and costs where it is bought, the fee included."""
        panel, half = bets.panel, 0.5 * self.spread
        sell, buy = bets.price - half, bets.price + half
        if self.quoted and panel.lower is not None:
            sell = np.where(np.isnan(panel.lower), sell, np.minimum(panel.lower, bets.price))
        if self.quoted and panel.upper is not None:
            buy = np.where(np.isnan(panel.upper), buy, np.maximum(panel.upper, bets.price))
        return sell - self.fee, buy + self.fee

    def exact(self, bets: Bets, index: NDArray[np.int64], signs: NDArray[np.float64]) -> list[Fraction]:
        """The price of each bet before the fee: sold where its sign is positive, bought where it is negative."""
        panel = bets.panel if bets.source is None else bets.source
        middle = bets.exact(panel.probability, index.tolist())
        if self.free:
            return middle
        half = decimal(self.spread) / 2
        lows = self._quotes(bets, index, panel.lower, [price - half for price in middle])
        highs = self._quotes(bets, index, panel.upper, [price + half for price in middle])
        return [
            min(low, price) if sign > 0 else max(high, price) if sign < 0 else price
            for sign, price, low, high in zip(signs.tolist(), middle, lows, highs, strict=True)
        ]

    def _quotes(
        self, bets: Bets, index: NDArray[np.int64], column: NDArray[np.float64] | None, others: Sequence[Fraction]
    ) -> Sequence[Fraction]:
        if not self.quoted or column is None:
            return others
        if bets.source is not None:
            return bets.exact(np.where(np.isnan(column), bets.source.probability, column), index.tolist())
        return [
            other if math.isnan(column[bet]) else decimal(column[bet])
            for bet, other in zip(index.tolist(), others, strict=True)
        ]
