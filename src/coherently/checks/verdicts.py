"""Whether bets are coherent, and how far they are from that: proved lower bounds, and upper bounds by example."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from coherently.books.distance import TOLERANCE
from coherently.books.relations.broken import Constraints, proved_square, violated
from coherently.checks.rounding import cannot_explain, explains, is_within_slack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coherently.arrays import Vector
    from coherently.books.bets import Bets
    from coherently.books.distance import NearestPrices
    from coherently.solve.budget import Budget

MOMENT = 0.1
"""Seconds for broken relations if no time is left."""
HALF = 0.5
"""The part of the time left that a closer look at one cluster may take."""
PROVED = 1e-3
"""A distance counts as known up to this gap between its bounds, relative to it."""


class CheckStatus(StrEnum):
    """What is known of some forecasts."""

    INCOHERENT = "incoherent"
    ROUNDING = "rounding"
    COHERENT = "coherent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of forecasts: the squared distance from coherent ones is at least `least` and at most `most`.

    `most` is infinite if no coherent forecasts were found. `guaranteed_improvement` is the summed Brier penalty that
    the nearest coherent forecasts save whatever happens, None where not known. `proofs` says on what distances rest.
    """

    status: CheckStatus
    least: float
    most: float
    guaranteed_improvement: float | None
    proofs: tuple[str, ...]

    @property
    def coherent(self) -> bool | None:
        """Whether the forecasts are coherent, but for rounding; None where that was not decided in time."""
        return None if self.status is CheckStatus.UNDECIDED else self.status is not CheckStatus.INCOHERENT

    @property
    def distance_low(self) -> float:
        """A proved lower bound on the distance."""
        return math.sqrt(self.least)

    @property
    def distance_high(self) -> float:
        """An upper bound on the distance; infinite if no coherent forecasts were found."""
        return math.sqrt(self.most)

    @property
    def distance(self) -> float:
        """The distance from the nearest coherent forecasts found: an upper bound if not `proved`; else a lower one."""
        return self.distance_high if math.isfinite(self.most) else self.distance_low

    @property
    def proved(self) -> bool:
        """Whether the distance is known, and not only its bounds."""
        return self.distance_high - self.distance_low <= PROVED * self.distance_high + TOLERANCE

    @property
    def proof(self) -> str:
        """On what the distance rests."""
        return "; ".join(self.proofs)

    @property
    def finished(self) -> bool:
        """Whether the distance and the status are known."""
        return self.proved and self.status is not CheckStatus.UNDECIDED

    @property
    def rank(self) -> tuple[int, float]:
        """The key that sorts contradictions first and the greatest distance first; what is not finished comes last."""
        place = list(CheckStatus).index(self.status) + len(CheckStatus) * (not self.finished)
        return place, -(self.distance if self.proved else self.distance_low)


FINE = Verdict(CheckStatus.COHERENT, 0.0, 0.0, 0.0, ())


class Court:
    """Judges the clusters of bets by their nearest coherent prices; `slack` is the largest error of each bet."""

    def __init__(self, bets: Bets, slack: Vector, budget: Budget) -> None:
        self.bets, self.slack, self.budget = bets, slack, budget
        self.looking = budget if budget.left() >= MOMENT else replace(budget, deadline=time.monotonic() + MOMENT)
        self.quoted = bets.quoted

    @cached_property
    def rules(self) -> Constraints:
        """What laws and declarations say."""
        return Constraints(self.bets.merged.space)

    def verdict(self, answer: NearestPrices) -> Verdict:
        """The verdict on a cluster."""
        if answer.coherent:
            return FINE
        own = self.slack[answer.cluster.bets]
        least, status = answer.least, CheckStatus.INCOHERENT if answer.coherent is False else CheckStatus.UNDECIDED
        if explains(answer, own):
            status = CheckStatus.ROUNDING
        elif answer.coherent is None or (own.any() and not cannot_explain(answer, own)):
            status, least = self._look(answer, own)
            if status is CheckStatus.COHERENT:
                return FINE
        most = answer.square if answer.is_mixture else math.inf
        quoted = bool(self.quoted[answer.cluster.bets].any())
        return Verdict(status, min(least, most), most, None if quoted else _saved(answer), (answer.proof,))

    def _look(self, answer: NearestPrices, slack: Vector) -> tuple[CheckStatus, float]:
        """A closer look: at relations that the bets of a cluster break, and at what rounding explains."""
        if self.looking.is_over():
            return CheckStatus.UNDECIDED, answer.least
        own = answer.cluster.bets
        broken = violated(self.bets, own, None, self.rules)
        least = max(answer.least, proved_square(broken))
        if violated(self.bets, own, self.slack, self.rules) if slack.any() else broken:
            return CheckStatus.INCOHERENT, least
        within = is_within_slack(self.bets, answer, slack, self.budget.share(HALF))
        if within is None:
            return CheckStatus.UNDECIDED, least
        good = CheckStatus.ROUNDING if slack.any() else CheckStatus.COHERENT
        return (good if within else CheckStatus.INCOHERENT), least


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on all bets from those on clusters, which are independent."""
    found = [verdict for verdict in verdicts if verdict.status is not CheckStatus.COHERENT]
    if not found:
        return FINE
    order = (CheckStatus.INCOHERENT, CheckStatus.UNDECIDED, CheckStatus.ROUNDING)
    status = min((verdict.status for verdict in found), key=order.index)
    saved = [v.guaranteed_improvement for v in found if v.guaranteed_improvement is not None]
    return Verdict(
        status,
        sum(verdict.least for verdict in found),
        sum(verdict.most for verdict in found),
        sum(saved) if saved else None,
        tuple(dict.fromkeys(proof for verdict in found for proof in verdict.proofs)),
    )


def _saved(answer: NearestPrices) -> float | None:
    """What moving to the answer saves in every world: |p - v|^2 - |x - v|^2 >= |p - x|^2 - 2 shortfall."""
    sure = answer.square - 2.0 * answer.shortfall
    return sure if sure > 0 else None
