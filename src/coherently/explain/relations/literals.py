"""Events of bets as truth tables, and the relations that their probabilities break."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Literal(NamedTuple):
    """A bet's event, or its complement if `negated`."""

    bet: int
    negated: bool


class PricedEvent(NamedTuple):
    """A distinct event of one or more variables: its table, and the bets that make it most and least likely."""

    variables: tuple[int, ...]
    table: int
    high: float
    high_literal: Literal
    low: float
    low_literal: Literal

    def most(self, negated: bool) -> tuple[float, Literal]:
        """The greatest probability of it, or of its complement, and the literal of the bet that gives it."""
        if not negated:
            return self.high, self.high_literal
        return 1.0 - self.low, Literal(self.low_literal.bet, not self.low_literal.negated)

    def least(self, negated: bool) -> tuple[float, Literal]:
        """The least probability of it, or of its complement, and the literal of the bet that gives it."""
        probability, literal = self.most(not negated)
        return 1.0 - probability, Literal(literal.bet, not literal.negated)


@dataclass(frozen=True, slots=True)
class Relation:
    """Literals that cannot all happen, or of which at most one can (`kind`), with probabilities that exceed this.

    The kinds are "all" (the probabilities should add up to at most their number minus 1), "one" (to at most 1), "sum"
    (those of the first two to that of the last two) and "set" (they cannot hold together, for no stated reason).
    """

    kind: str
    literals: tuple[Literal, ...]
    chances: tuple[float, ...]

    @property
    def violation(self) -> float:
        """By how much the probabilities exceed what is possible."""
        if self.kind == "sum":
            return sum(self.chances[:2]) - sum(self.chances[2:])
        return sum(self.chances) - (1 if self.kind == "one" else len(self.literals) - 1)

    @property
    def bets(self) -> tuple[int, ...]:
        """The bets that it is about."""
        return tuple(literal.bet for literal in self.literals)

    @property
    def signs(self) -> list[int]:
        """The trades that profit: 1 to sell, -1 to buy."""
        turned = [-1 if literal.negated else 1 for literal in self.literals]
        return [sign if i < 2 or self.kind != "sum" else -sign for i, sign in enumerate(turned)]

    @property
    def complements(self) -> int:
        """The number of literals that are complements of what was written."""
        return sum(literal.negated for literal in self.literals)

    def reduced(self, tolerance: float) -> Relation:
        """The fewest likeliest literals, of which at most one can happen, whose sum still exceeds 1: all are needed.

        The sum without the least likely of them is at most 1, and without any other it is no greater.
        """
        if self.kind != "one":
            return self
        order = sorted(range(len(self.chances)), key=lambda i: -self.chances[i])
        enough = int(np.searchsorted(np.cumsum([self.chances[i] for i in order]), 1.0 + tolerance, side="right"))
        kept = sorted(order[: enough + 1])
        kind = "one" if len(kept) > 2 else "all"
        return Relation(kind, tuple(self.literals[i] for i in kept), tuple(self.chances[i] for i in kept))


def relation_of(kind: str, events: Sequence[PricedEvent], signs: Sequence[bool]) -> Relation:
    """The relation of the likeliest bets: too many of these literals would happen."""
    ends = [event.most(negated) for event, negated in zip(events, signs, strict=True)]
    return Relation(kind, tuple(literal for _, literal in ends), tuple(chance for chance, _ in ends))


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
