"""What a check finds out about the forecasts of one judge, or about the panel's means."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coherently.explain.bets.dutch import make_book
from coherently.explain.bets.trading_terms import TradingTerms
from coherently.explain.minimal_sets import lawfully_minimal, minimal
from coherently.explain.relations.broken import MOMENT, irreducible, moved_most, violated
from coherently.explain.rounding_slack import is_within_slack
from coherently.explain.symbol_sentences import contradiction_words, set_words
from coherently.explain.verdicts import CheckStatus, Verdict
from coherently.values import Told, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.explain.allowance import Allowance
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.bets.dutch import Book
    from coherently.solve.budget import Budget

SHOWN = 5
"""Maximum number of contradictions that are put into words."""
SHARE = 0.5
"""The part of the time left that a book or the contradictions of one judge may take."""


class Contradiction(NamedTuple):
    """Forecasts that cannot hold together, by their numbers among those of the finding, and why, in words."""

    forecasts: tuple[int, ...]
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Verdict, Value, Told):
    """Whether the forecasts of one judge, or the panel's means, are coherent.

    `status` is "coherent", "incoherent", "rounding" (incoherent by no more than the decimals of the numbers explain:
    each may be off by `tolerance`) or "undecided" (within the time limit). The distance is the root of the sum of
    squared differences from the nearest coherent forecasts, over the forecasts as given, each counted once: repeats and
    complements are not merged. With bids and asks it is the distance between those and the nearest coherent prices.
    """

    name: str
    forecasts: int
    tolerance: float
    _bets: Bets
    _answers: Sequence[NearestPrices]
    _alone: Sequence[Alone]
    _slack: Vector
    _allowance: Allowance = field(compare=False)

    def __repr__(self) -> str:
        return f"<Finding: {self.name} is {self.status}, distance {self.distance:.6g}>"

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The worst contradictions among the forecasts, each a sentence; the worst first."""
        return tuple(found.sentence for found in self.contradictory)

    @cached_property
    def contradictory(self) -> tuple[Contradiction, ...]:
        """The sets of forecasts that the contradictions are about."""
        if self.status is not CheckStatus.INCOHERENT:
            return ()
        with self._allowance.spend(SHARE) as budget:
            shown = _contradictions(self._bets, self._answers, self._slack, budget)
            for alone in self._alone:
                slack = self._slack[alone.source]
                shown += _contradictions(alone.bets, alone.answers, slack, budget, granted=alone.source)
        return tuple(shown[:SHOWN])

    @cached_property
    def book(self) -> Book:
        """Bets at the forecasts' own prices that win whatever happens; false if there are none."""
        with self._allowance.spend(SHARE) as budget:
            return make_book(self._bets, self._answers, self._alone, TradingTerms(), budget)

    def as_dict(self) -> dict[str, Any]:
        """The finding in plain values."""
        return {
            "name": self.name,
            "forecasts": self.forecasts,
            "status": str(self.status),
            "coherent": self.coherent,
            "distance": self.distance,
            "distance_low": self.distance_low,
            "distance_high": self.distance_high,
            "proved": self.proved,
            "tolerance": self.tolerance,
            "guaranteed_improvement": self.guaranteed_improvement,
            "contradictions": list(self.contradictions),
        }


def _contradictions(
    bets: Bets, answers: Sequence[NearestPrices], slack: Vector, budget: Budget, *, granted: Indices | None = None
) -> list[Contradiction]:
    """Simple contradictions of bets, or else one set of forecasts that cannot hold together.

    `granted` are the original numbers of bets that are considered in the worlds of their condition.
    """
    bad = [answer for answer in answers if not answer.coherent]
    if not bad:
        return []
    broken = irreducible(violated(bets, moved_most(bad), slack, budget=budget.at_least(MOMENT), shares=True))
    if len(bets.panel.laws.side) or bets.conditional.any():
        broken = lawfully_minimal(bets, broken, budget)
    shown = {
        relation.forecasts: contradiction_words(bets, relation, granted=granted is not None)
        for relation in islice(broken, SHOWN)
    }
    if not shown and (proved := _proved(bets, bad, slack, budget)):
        found = minimal(bets, max(proved, key=lambda answer: answer.least), budget).tolist()
        shown = {tuple(found): set_words(bets, found)}
    number = np.arange(len(bets)) if granted is None else granted
    return [Contradiction(tuple(number[list(own)].tolist()), sentence) for own, sentence in shown.items()]


def _proved(bets: Bets, bad: Sequence[NearestPrices], slack: Vector, budget: Budget) -> Sequence[NearestPrices]:
    """The clusters that are proved incoherent: by their distance, or else by stakes that win."""
    by_distance = [answer for answer in bad if answer.coherent is False]
    if by_distance:
        return by_distance
    return [answer for answer in bad if is_within_slack(bets, answer, slack[answer.cluster.bets], budget) is False]
