"""What forecasts assertion of events, and the relations that assertions break."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from coherently.arrays import Vector


class RelationShape(StrEnum):
    """What the assertions of a relation are to each other."""

    NEVER = "never"
    SURE = "sure"
    IMPLIES = "implies"
    EXCLUDE = "exclude"
    COVER = "cover"
    OVERLAP = "overlap"
    NEEDS = "needs"
    ONE = "one"
    PARTS = "parts"
    PARTITION = "partition"
    SET = "set"


_SHAPES = {
    ("all", 1): (RelationShape.NEVER, RelationShape.SURE),
    ("all", 2): (RelationShape.EXCLUDE, RelationShape.IMPLIES, RelationShape.COVER),
    ("all", 3): (RelationShape.SET, RelationShape.OVERLAP, RelationShape.NEEDS, RelationShape.COVER),
    # Of A, B and ~C at most one comes true: A and B exclude each other and are parts of C.
    ("one", 3): (RelationShape.ONE, RelationShape.PARTS, RelationShape.SET, RelationShape.SET),
}
"""By the kind of a relation and the number of its assertions: its shape, by the number of complements."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """That an event has some probability, by one forecast, or by a conditional and the forecast of its condition.

    `forecasts` are the numbers of these. P(E given H) times P(H) is P(E & H); `rest` says that it is about the rest
    of P(H), and `turned` that the second forecast is that of ~H. `worlds` are those of the event, as bits, among
    the worlds in which the relation was looked for.
    """

    forecasts: tuple[int, ...]
    chance: float
    worlds: int = 0
    rest: bool = False
    turned: bool = False

    @property
    def is_share(self) -> bool:
        """Whether a conditional and its condition make it."""
        return len(self.forecasts) > 1

    def chances_at(self, values: Vector) -> Vector:
        """The probabilities that rows of other forecasts give the event."""
        first: Vector = values[:, self.forecasts[0]]
        if not self.is_share:
            return first
        return share(first, values[:, self.forecasts[1]], rest=self.rest, turned=self.turned)


Number = TypeVar("Number", float, "Vector")


def share(conditional: Number, condition: Number, *, rest: bool, turned: bool) -> Number:
    """What a conditional and its condition make together."""
    return (1.0 - conditional if rest else conditional) * (1.0 - condition if turned else condition)


@dataclass(frozen=True, slots=True)
class Relation:
    """Assertions, each with whether its complement is meant (a literal), of which too many would come true.

    The kinds are "all" (they cannot all happen: their probabilities should add up to at most their number minus 1),
    "one" (at most one can: to at most 1), "sum" (those of the first two should add up to that of the last two) and
    "set" (they cannot hold together, for no stated reason). `granted` says that they are conditional forecasts,
    considered where their condition holds; `partition` that they are options of one question, and `whole` that they are
    all of them. `worlds` of assertions can be compared within one `scope`, which has `size` worlds (0 if not told).
    """

    kind: str
    assertions: tuple[Assertion, ...]
    negated: tuple[bool, ...]
    granted: bool = False
    partition: bool = False
    whole: bool = False
    scope: int = 0
    size: int = 0

    @property
    def shape(self) -> RelationShape:
        """What the assertions are to each other."""
        if self.partition:
            return RelationShape.PARTITION
        shapes = _SHAPES.get((self.kind, len(self.assertions)))
        return RelationShape.SET if shapes is None else shapes[sum(self.negated)]

    @property
    def violation(self) -> float:
        """By how much the probabilities exceed what is possible."""
        return float(self._excess([assertion.chance for assertion in self.assertions]))

    def violations_at(self, values: Vector) -> Vector:
        """The same for rows of other forecasts."""
        found: Vector = np.full(len(values), self._excess([one.chances_at(values) for one in self.assertions]))
        return found

    def _excess(self, chances: Sequence[Any]) -> Any:
        likely = [1.0 - chance if turned else chance for chance, turned in zip(chances, self.negated, strict=True)]
        if self.kind == "set":
            return -math.inf
        if self.kind == "sum":
            return sum(likely[:2]) - sum(likely[2:])
        return sum(likely) - (1 if self.kind == "one" else len(likely) - 1)

    @property
    def forecasts(self) -> tuple[int, ...]:
        """The forecasts that it is about, each once."""
        return tuple(dict.fromkeys(number for assertion in self.assertions for number in assertion.forecasts))

    @property
    def sense(self) -> tuple[Hashable, ...]:
        """What is said about which forecasts, without numbers: relations of one sense are told in the same words."""
        told = zip(self.assertions, self.negated, strict=True)
        return self.shape, self.granted, *sorted((one.forecasts, one.rest, no) for one, no in told)

    @property
    def has_shares(self) -> bool:
        """Whether some assertion is that of a conditional and its condition together."""
        return any(assertion.is_share for assertion in self.assertions)

    @property
    def rests(self) -> int:
        """The number of assertions about the rest of a condition."""
        return sum(assertion.rest for assertion in self.assertions)

    @property
    def signs(self) -> list[int]:
        """The trades that profit, assertion by assertion: 1 to sell, -1 to buy."""
        turned = [-1 if negated else 1 for negated in self.negated]
        return [sign if i < 2 or self.kind != "sum" else -sign for i, sign in enumerate(turned)]

    @property
    def complements(self) -> int:
        """The number of assertions whose complement is meant."""
        return sum(self.negated)

    def reduced(self, tolerance: float) -> Relation:
        """The fewest likeliest literals, of which at most one can happen, whose sum still exceeds 1: all are needed.

        The sum without the least likely of them is at most 1, and without any other it is no greater.
        """
        if self.kind != "one" or self.partition:
            return self
        likely = [1.0 - one.chance if no else one.chance for one, no in zip(self.assertions, self.negated, strict=True)]
        order = sorted(range(len(likely)), key=lambda i: -likely[i])
        enough = int(np.searchsorted(np.cumsum([likely[i] for i in order]), 1.0 + tolerance, side="right"))
        kept = sorted(order[: enough + 1])
        kind = "one" if len(kept) > 2 else "all"
        return replace(
            self,
            kind=kind,
            assertions=tuple(self.assertions[i] for i in kept),
            negated=tuple(self.negated[i] for i in kept),
        )
