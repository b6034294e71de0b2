"""At what price bets are sold and bought."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.explain.bets.bets import asks, bids, decimal
from coherently.problem import Intervals
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets, Cluster
    from coherently.problem import Merged


@dataclass(frozen=True, slots=True)
class TradingTerms(Viewed):
    """What trading costs: the `fee` per unit of a bet, and the `spread` between the buying and the selling price.

    Bets trade at half a spread from their price; quotes have their own spread and trade at bid and ask. The fee of
    a bet that is called off is returned with its price.
    """

    fee: float = 0.0
    spread: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("fee", self.fee), ("spread", self.spread)):
            if not 0 <= value < math.inf:
                raise MethodError(f"{name} is {value}; it must be a number of 0 or more")

    @property
    def costless(self) -> bool:
        """Whether trading costs nothing beyond what quotes say."""
        return self.fee == 0 and self.spread == 0

    def free(self, bets: Bets) -> bool:
        """Whether bets are sold and bought at one price."""
        return self.costless and not bets.quoted.any()

    def net(self, bets: Bets) -> tuple[Vector, Vector]:
        """The selling and the buying price of a unit of each bet, including the fee.

        To sell at 0 or less, or buy at 1 or more, wins in no world; a side that a quote lacks has such a price.
        """
        cost = self.fee + np.where(bets.quoted, 0.0, 0.5 * self.spread)
        return bets.bid - cost, bets.ask + cost

    def exact(self, bets: Bets, index: Indices, signs: Vector) -> list[Fraction]:
        """The price of each bet before the fee: sold where its sign is positive, bought where it is negative."""
        panel = bets.panel if bets.source is None else bets.source
        if self.free(bets):
            return bets.exact(panel.probability, index.tolist())
        half, quoted = decimal(self.spread) / 2, bets.quoted
        found: dict[int, Fraction] = {}
        for side, chosen, shift in (
            (bids(panel), signs > 0, -half),
            (asks(panel), signs < 0, half),
            (panel.probability, signs == 0, Fraction(0)),
        ):
            own = index[chosen].tolist()
            for bet, price in zip(own, bets.exact(side, own), strict=True):
                found[bet] = price if quoted[bet] else price + shift
        return [found[bet] for bet in index.tolist()]


def at_quotes(bets: Bets, cluster: Cluster) -> Merged:
    """The cluster's part with each bet as a separate interval from bid to ask: nothing is merged."""
    part, own, turned = cluster.part, cluster.bets, cluster.complemented
    bid, ask = bets.bid[own], bets.ask[own]
    intervals = Intervals(
        about=cluster.coordinate.astype(np.int32),
        conditional=cluster.conditional,
        low=np.where(turned, 1.0 - ask, bid),
        high=np.where(turned, 1.0 - bid, ask),
        weight=np.ones(len(own)),
    )
    given = replace(part.terms.conditionals, weight=np.zeros(len(part.terms.conditionals)))
    terms = replace(part.terms, conditionals=given, intervals=intervals)
    return replace(part, weight=np.zeros(len(part)), terms=terms)
