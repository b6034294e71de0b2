"""The events of bets as truth tables, each with the bets that make it most and least likely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.explain.relations.relation import Assertion, Relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


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


def table_of(words: NDArray[np.uint64]) -> int:
    """A truth table as one integer."""
    return sum(int(word) << 64 * i for i, word in enumerate(words.tolist()))


def bits_of(table: int, count: int) -> NDArray[np.uint8]:
    """The entries of a truth table of `count` variables."""
    size = 1 << count
    packed = np.frombuffer(table.to_bytes((size + 7) // 8, "little"), np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little")


def over(event: PricedEvent, variables: tuple[int, ...]) -> int:
    """The truth table of an event over more variables."""
    return expanded(event.table, tuple(variables.index(v) for v in event.variables), len(variables))


@lru_cache(maxsize=100_000)
def expanded(table: int, places: tuple[int, ...], count: int) -> int:
    """A truth table over `count` variables; its own variables are at `places`."""
    rows = np.arange(1 << count)
    index = np.zeros(1 << count, np.int64)
    for i, place in enumerate(places):
        index |= (rows >> place & 1) << i
    bits = bits_of(table, len(places))
    return int.from_bytes(np.packbits(bits[index], bitorder="little").tobytes(), "little")
