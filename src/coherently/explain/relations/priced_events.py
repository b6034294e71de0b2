"""The events of bets as truth tables, each with the bets that make it most and least likely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from coherently.explain.relations.relation import Assertion, Relation
from coherently.problem.truth_tables import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence


class Stand(NamedTuple):
    """An assertion, or its complement if `negated`."""

    assertion: Assertion
    negated: bool

    def turned(self) -> Stand:
        """The complement."""
        return Stand(self.assertion, not self.negated)


@dataclass(frozen=True, slots=True)
class PricedEvent:
    """A distinct event of one or more variables: its table, and who says that it is at least or at most so likely.

    `high` is the greatest that it is said to be at least, and `low` the least that it is said to be at most.
    """

    variables: tuple[int, ...]
    table: int
    high: float
    high_stand: Stand
    low: float
    low_stand: Stand

    def most(self, negated: bool) -> tuple[float, Stand]:
        """The greatest probability of it, or of its complement, and who says that."""
        return (1.0 - self.low, self.low_stand.turned()) if negated else (self.high, self.high_stand)

    def least(self, negated: bool) -> tuple[float, Stand]:
        """The least probability of it, or of its complement, and who says that."""
        probability, stand = self.most(not negated)
        return 1.0 - probability, stand.turned()


def relation_of(kind: str, events: Sequence[PricedEvent], literals: Sequence[int]) -> Relation:
    """The relation of what is claimed most: too many of these literals of the events would happen."""
    ends = [events[i % len(events)].most(i >= len(events))[1] for i in literals]
    if kind == "sum":
        ends[2:] = [events[i % len(events)].least(i >= len(events))[1] for i in literals[2:]]
    return Relation(kind, tuple(stand.assertion for stand in ends), tuple(stand.negated for stand in ends))


def over(event: PricedEvent, variables: tuple[int, ...]) -> int:
    """The truth table of an event over more variables."""
    return expanded(event.table, tuple(variables.index(v) for v in event.variables), len(variables))
