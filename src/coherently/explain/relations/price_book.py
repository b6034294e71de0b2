"""What bets assert of events, and conditional bets of the shares of their conditions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.relations.priced_events import PricedEvent, Stand, relation_of
from coherently.explain.relations.relation import Assertion, share
from coherently.problem.truth_tables import MOST_VARIABLES, expanded, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Vector
    from coherently.explain.bets.bets import Bets
    from coherently.explain.relations.relation import Relation
    from coherently.problem import Sides


class PriceBook:
    """What bets assert: each may be off by its `slack` either way."""

    def __init__(self, bets: Bets, slack: Vector | None) -> None:
        self._bets, off = bets, 0.0 if slack is None else slack
        bid, ask = bets.bid - off, bets.ask + off
        self._sold = np.where(bets.complemented, 1.0 - ask, bid)
        self._bought = np.where(bets.complemented, 1.0 - bid, ask)

    def events(self, index: Indices) -> tuple[dict[int, PricedEvent], list[Relation]]:
        """The events of bets, by coordinate, and what is claimed of events that never or always happen."""
        functions, constants, events = self._bets.merged.functions, list[PricedEvent](), {}
        given: dict[int, list[int]] = defaultdict(list)
        for bet in index.tolist():
            given[int(self._bets.coordinate[bet])].append(bet)
        for coordinate, own in given.items():
            variables = tuple(functions.of(coordinate).tolist())
            if not variables:
                constants += [self._event((), 0, [bet]) for bet in own]
            elif len(variables) <= MOST_VARIABLES:
                events[coordinate] = self._event(variables, table_of(functions.words(coordinate)), own)
        # A coordinate without variables never happens, so no literal of it is considered.
        return events, [relation_of("all", (event,), (0,)) for event in constants]

    def _event(self, variables: tuple[int, ...], table: int, own: list[int]) -> PricedEvent:
        """An event with the best prices of some bets on it."""
        high, low = own[int(np.argmax(self._sold[own]))], own[int(np.argmin(self._bought[own]))]
        ends = []
        for bet, price in ((high, float(self._sold[high])), (low, float(self._bought[low]))):
            turned = bool(self._bets.complemented[bet])
            ends.append((price, Stand(Assertion((bet,), 1.0 - price if turned else price), turned)))
        return PricedEvent(variables, table, *ends[0], *ends[1])

    def conditionals(self, index: Indices) -> Iterator[GivenBet]:
        """Conditional bets as truth tables, those of not too many variables."""
        terms = self._bets.merged.terms.conditionals
        for bet in index.tolist():
            given = int(self._bets.coordinate[bet])
            sides = [self._side(terms.joint, given), self._side(terms.condition, given)]
            variables = tuple(sorted({v for own, _, _ in sides for v in own}))
            if len(variables) > MOST_VARIABLES:
                continue
            every = (1 << (1 << len(variables))) - 1
            joint, condition = (
                expanded(table, tuple(variables.index(v) for v in own), len(variables)) ^ (every if turned else 0)
                for own, table, turned in sides
            )
            yield GivenBet(bet, variables, joint, condition)

    def _side(self, sides: Sides, given: int) -> tuple[tuple[int, ...], int, bool]:
        functions, coordinate = self._bets.merged.functions, int(sides.coordinate[given])
        table = table_of(functions.words(coordinate))
        return tuple(functions.of(coordinate).tolist()), table, bool(sides.turned[given])

    def alone(self, given: GivenBet) -> PricedEvent:
        """The event of a conditional where its condition holds."""
        return self._event(given.variables, given.joint, [given.bet])

    def shares_of(self, given: GivenBet, events: dict[int, PricedEvent]) -> Iterator[PricedEvent]:
        """What a conditional makes of its condition, if that is among the events, by coordinate."""
        side = self._bets.merged.terms.conditionals.condition
        number = int(self._bets.coordinate[given.bet])
        condition = events.get(int(side.coordinate[number]))
        if condition is not None:
            yield from self.shares(given, condition, bool(side.turned[number]))

    def shares(self, given: GivenBet, condition: PricedEvent, turned: bool) -> Iterator[PricedEvent]:
        """What a conditional and the forecasts of its condition make together, and the rest of the condition.

        The condition is the complement of the event if `turned`.
        """
        ends = condition.most(turned), condition.least(turned)
        for table, rest in ((given.joint, False), (given.condition & ~given.joint, True)):
            high, low = (self._share(given.bet, *end, rest=rest, least=i == 0) for i, end in enumerate(ends))
            yield PricedEvent(
                variables=given.variables,
                table=table,
                high=high.assertion.chance,
                high_stand=high,
                low=low.assertion.chance,
                low_stand=low,
            )

    def _share(self, bet: int, chance: float, condition: Stand, *, rest: bool, least: bool) -> Stand:
        """The assertion of a conditional and its condition: that the event is at least, or at most, so likely."""
        price = float((self._sold if least != rest else self._bought)[bet])
        made = share(min(max(price, 0.0), 1.0), min(max(chance, 0.0), 1.0), rest=rest, turned=False)
        written = rest != bool(self._bets.complemented[bet])
        both = (bet, *condition.assertion.forecasts)
        return Stand(Assertion(both, made, rest=written, turned=condition.negated), False)


class GivenBet(NamedTuple):
    """A conditional bet: the tables of its event with its condition, and of the condition."""

    bet: int
    variables: tuple[int, ...]
    joint: int
    condition: int

    def within(self, variables: tuple[int, ...]) -> GivenBet:
        """The same over more variables."""
        places = tuple(variables.index(v) for v in self.variables)
        joint, condition = (expanded(table, places, len(variables)) for table in (self.joint, self.condition))
        return GivenBet(self.bet, variables, joint, condition)
