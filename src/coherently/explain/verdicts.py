"""Whether bets are coherent, and how far they are from that: proved lower bounds, and upper bounds by example."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.bets.conditions import may_be_called_off
from coherently.explain.bets.distance import are_close, largest_square
from coherently.explain.relations.broken import MOMENT, proved_square, violated
from coherently.explain.rounding_slack import cannot_explain, explains, is_within_slack
from coherently.problem.constraints import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.arrays import Mask, Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.distance import NearestPrices
    from coherently.solve.budget import Budget

HALF = 0.5
"""The part of the time left that a closer look at one cluster may take."""


class CheckStatus(StrEnum):
    """What is known of some forecasts."""

    INCOHERENT = "incoherent"
    ROUNDING = "rounding"
    COHERENT = "coherent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of forecasts: the squared distance from coherent ones is at least `least` and at most `most`.

    Without coherent forecasts to show, `most` is the largest that any may have. `guaranteed_improvement` is the summed
    Brier penalty that the nearest coherent forecasts save in every outcome; None if it is not known. `proofs` says what
    the distances rest on. If the work was `cut`, more time would tell more.
    """

    status: CheckStatus
    least: float
    most: float
    guaranteed_improvement: float | None
    proofs: tuple[str, ...]
    cut: bool

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
        """An upper bound on the distance."""
        return math.sqrt(self.most)

    @property
    def distance(self) -> float:
        """The distance from the nearest coherent forecasts: an upper bound on it if not `proved`."""
        return self.distance_high

    @property
    def proved(self) -> bool:
        """Whether the distance is known, and not only its bounds."""
        return are_close(self.distance_low, self.distance_high)

    @property
    def proof(self) -> str:
        """On what the distance rests."""
        return "; ".join(self.proofs)

    @property
    def finished(self) -> bool:
        """Whether the distance and the status are known."""
        return self.proved and self.status is not CheckStatus.UNDECIDED

    def where_condition_holds(self) -> Verdict:
        """The same for bets that are called off unless a condition holds: elsewhere nothing is saved."""
        return self if self.guaranteed_improvement is None else replace(self, guaranteed_improvement=0.0)

    @property
    def rank(self) -> tuple[int, float]:
        """The key that sorts contradictions first and the greatest distance first; what is not finished comes last."""
        place = list(CheckStatus).index(self.status) + len(CheckStatus) * (not self.finished)
        return place, -(self.distance if self.proved else self.distance_low)


FINE = Verdict(status=CheckStatus.COHERENT, least=0.0, most=0.0, guaranteed_improvement=0.0, proofs=(), cut=False)


class Court:
    """Judges the clusters of bets by their nearest coherent prices; `slack` is the largest error of each bet."""

    def __init__(self, bets: Bets, slack: Vector, budget: Budget) -> None:
        self.bets, self.slack, self.budget = bets, slack, budget
        self.looking = budget.at_least(MOMENT)
        self.quoted = bets.quoted

    @cached_property
    def rules(self) -> Constraints:
        """What laws and declarations say."""
        return Constraints(self.bets.merged.space)

    @cached_property
    def called_off(self) -> Mask:
        """The bets on constant events that save nothing in some worlds."""
        return may_be_called_off(self.bets)

    def verdicts(self, answers: Sequence[NearestPrices]) -> list[Verdict]:
        """The verdicts on clusters; looks that ended with their share of the time are taken again in what is left."""
        found = [self.verdict(answer) for answer in answers]
        again = [i for i, one in enumerate(found) if one.status is CheckStatus.UNDECIDED and one.cut]
        for k, i in enumerate(again):
            if self.budget.left() < MOMENT:
                break
            found[i] = self.verdict(answers[i], 1.0 / (len(again) - k))
        return found

    def verdict(self, answer: NearestPrices, share: float = HALF) -> Verdict:
        """The verdict on a cluster; a closer look, if there is one, may take this share of the time left."""
        if answer.coherent:
            return FINE
        own = self.slack[answer.cluster.bets]
        least, status = answer.least, CheckStatus.INCOHERENT if answer.coherent is False else CheckStatus.UNDECIDED
        late = False
        if explains(answer, own):
            status = CheckStatus.ROUNDING
        elif answer.coherent is None or (own.any() and not cannot_explain(answer, own)):
            status, least, late = self._look(answer, own, share)
            if status is CheckStatus.COHERENT:
                return FINE
        most = answer.square if answer.is_mixture else largest_square(self.bets, answer.cluster.bets)
        quoted = bool(self.quoted[answer.cluster.bets].any())
        saved = None if quoted else _saved(answer, self.called_off[answer.cluster.bets])
        return Verdict(
            status=status,
            least=min(least, most),
            most=most,
            guaranteed_improvement=saved,
            proofs=(answer.proof,),
            cut=answer.cut or late,
        )

    def _look(self, answer: NearestPrices, slack: Vector, share: float) -> tuple[CheckStatus, float, bool]:
        """A closer look: at relations that the bets of a cluster break, and at what rounding explains.

        The last value says whether it ended with its time.
        """
        if self.looking.is_over():
            return CheckStatus.UNDECIDED, answer.least, True
        own = answer.cluster.bets
        broken = violated(self.bets, own, None, self.rules, budget=self.looking)
        least = max(answer.least, proved_square(broken))
        if violated(self.bets, own, self.slack, self.rules, budget=self.looking) if slack.any() else broken:
            return CheckStatus.INCOHERENT, least, False
        budget = self.budget.share(share)
        within = is_within_slack(self.bets, answer, slack, budget)
        if within is None:
            return CheckStatus.UNDECIDED, least, budget.is_over()
        good = CheckStatus.ROUNDING if slack.any() else CheckStatus.COHERENT
        return (good if within else CheckStatus.INCOHERENT), least, False


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on all bets from those on clusters, which are independent."""
    found = [verdict for verdict in verdicts if verdict.status is not CheckStatus.COHERENT]
    if not found:
        return FINE
    order = (CheckStatus.INCOHERENT, CheckStatus.UNDECIDED, CheckStatus.ROUNDING)
    status = min((verdict.status for verdict in found), key=order.index)
    saved = [v.guaranteed_improvement for v in found if v.guaranteed_improvement is not None]
    return Verdict(
        status=status,
        least=sum(verdict.least for verdict in found),
        most=sum(verdict.most for verdict in found),
        guaranteed_improvement=sum(saved) if saved else None,
        proofs=tuple(dict.fromkeys(proof for verdict in found for proof in verdict.proofs)),
        cut=any(verdict.cut for verdict in found),
    )


def _saved(answer: NearestPrices, called_off: Mask) -> float | None:
    """What moving to the answer saves in every world: |p - v|^2 - |x - v|^2 >= |p - x|^2 - 2 shortfall.

    Bets that may be called off are bets on constants, which the answer gives exactly; without them, less is sure.
    """
    if called_off.all():
        return 0.0
    away = float(np.sum(np.square(answer.target - answer.value)[called_off]))
    sure = answer.square - away - 2.0 * answer.shortfall
    return sure if sure > 0 else 0.0 if away else None
