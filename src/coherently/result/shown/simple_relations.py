"""Relations that people check on a page: what implies what, and what adds up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Mask, Vector
    from coherently.result.shown.families import EventFamily

STEPS = 400_000
"""Maximum number of events that are tried as parts of sums, in all; sums beyond are not found."""
SUMS = 2_000
"""Maximum number of sums of a family, beside those of the parts of each event."""


@dataclass(frozen=True, slots=True)
class ShownRelation:
    """The sum of the numbers of `units`, each times its sign, lies between `least` and `most` (numbers from 0 to 1)."""

    units: tuple[int, ...]
    signs: tuple[int, ...]
    least: float
    most: float

    def broken(self, value: Vector) -> float:
        """By how much numbers break it."""
        total = float(value[list(self.units)] @ np.array(self.signs, np.float64))
        return max(self.least - total, total - self.most, 0.0)


@dataclass(slots=True)
class StepsLeft:
    """How many steps of a search are left."""

    left: int = STEPS

    def take(self, count: int = 1) -> bool:
        """Take some; whether they were there."""
        self.left -= count
        return self.left >= 0


class FamilyRelations:
    """Finds the relations of one family; `known` are the units that have a number."""

    def __init__(self, family: EventFamily, known: Mask, steps: StepsLeft) -> None:
        self._steps = steps
        has = known[family.units]
        self.units: list[int] = family.units[has].tolist()
        self._truth = family.truth[:, has]
        packed = np.packbits(self._truth.T, axis=1, bitorder="little")
        self._bits = [int.from_bytes(row.tobytes(), "little") for row in packed]
        self._all = (1 << len(self._truth)) - 1

    @cached_property
    def sums(self) -> list[ShownRelation]:
        """What adds up: events or complements of events that exclude each other add up to at most 1.

        If they leave nothing out, they add up to 1. First come the parts of the certain event and those of each event,
        the largest that there are, so that large families have what people check; then all others, within `STEPS`.
        """
        search = _PartSearch(self._bits, self._steps)
        found: dict[frozenset[int], None] = {}
        count = len(self.units)
        for rest, whole in [(None, self._all), *((count + i, own) for i, own in enumerate(self._bits))]:
            parts = search.cover(whole) or search.disjoint(whole)
            found[frozenset(parts if rest is None else [*parts, rest])] = None
        found |= dict.fromkeys(islice(self._exclusive(), SUMS))
        return [
            *(self._sum(sorted(literals)) for literals in found if len(literals) > 2),
            *islice(self._overlaps(), SUMS),
        ]

    def _sum(self, literals: list[int]) -> ShownRelation:
        """The sum of literals that exclude each other: units, then their complements."""
        count = len(self.units)
        covered = 0
        for i in literals:
            covered |= self._bits[i] if i < count else self._all ^ self._bits[i - count]
        most = 1.0 - sum(i >= count for i in literals)
        least = most if covered == self._all else -np.inf
        return ShownRelation(
            tuple(self.units[i % count] for i in literals), tuple(1 if i < count else -1 for i in literals), least, most
        )

    def _overlaps(self) -> Iterator[ShownRelation]:
        """Two events that overlap: both, and at least one of them, add up to the two.

        1[a] + 1[b] = 1[a & b] + 1[a | b] in every state. Literals are the units, then their complements; where two of
        the four are one event and its complement, the relation is a sum of parts, which `sums` has already.
        """
        count, every = len(self.units), self._all
        literals = [*self._bits, *(every ^ own for own in self._bits)]
        place = {own: i for i, own in reversed(list(enumerate(literals)))}
        kept = sorted(set(place.values()))
        for k, i in enumerate(kept):
            # Of two complements, the two events themselves say the same.
            if i >= count or not self._steps.take(len(kept) - k):
                return
            for j in kept[k + 1 :]:
                one, other = literals[i], literals[j]
                both, either = one & other, one | other
                if both in (0, one, other) or either == every or both not in place or either not in place:
                    continue
                yield self._balance((i, j), (place[both], place[either]))

    def _balance(self, two: tuple[int, int], others: tuple[int, int]) -> ShownRelation:
        """Two literals add up to two others."""
        count, signs, constant = len(self.units), dict[int, int](), 0
        for literal, sign in (*((i, 1) for i in two), *((i, -1) for i in others)):
            turned = literal >= count
            unit = self.units[literal % count]
            signs[unit] = signs.get(unit, 0) + (-sign if turned else sign)
            constant += sign if turned else 0
        return ShownRelation(tuple(signs), tuple(signs.values()), -float(constant), -float(constant))

    def _exclusive(self) -> Iterator[frozenset[int]]:
        """The largest sets of literals of which any two exclude each other (Bron and Kerbosch, with pivots)."""
        apart = self._implied
        count = len(self.units)
        apart = np.hstack([apart[:, count:], apart[:, :count]])  # a excludes b if a implies the complement of b
        possible = np.hstack([self._truth.any(axis=0), ~self._truth.all(axis=0)])
        near = [frozenset(np.flatnonzero(row & possible).tolist()) - {i} for i, row in enumerate(apart)]
        waiting = [(frozenset[int](), frozenset(np.flatnonzero(possible).tolist()), frozenset[int]())]
        while waiting:
            chosen, open_, done = waiting.pop()
            if not self._steps.take(1 + len(open_)):
                return
            if not open_:
                if not done:
                    yield chosen
                continue
            pivot = max(open_ | done, key=lambda i: len(near[i] & open_))
            for i in sorted(open_ - near[pivot]):
                waiting.append((chosen | {i}, open_ & near[i], done & near[i]))
                open_, done = open_ - {i}, done | {i}

    @cached_property
    def _implied(self) -> Mask:
        """Whether a literal implies another; literals are the units, then their complements."""
        literals = np.hstack([self._truth, ~self._truth]).astype(np.float32)
        implied: Mask = literals.T @ (1.0 - literals) == 0
        np.fill_diagonal(implied, False)
        return implied

    def pairs(self, low: Indices, high: Indices, top: int) -> Iterator[ShownRelation]:
        """Two units of which one implies, excludes or completes the other.

        Only those that numbers between `low` and `high` (one per unit of the family, out of `top`) can break; what
        follows from two others is left out.
        """
        low, high = np.concatenate([low, top - high]), np.concatenate([high, top - low])
        active = self._implied & (high[:, None] > low[None, :])
        strict = (active & ~self._implied.T).astype(np.float32)
        active &= ~((strict @ strict > 0) & ~self._implied.T)
        count = len(self.units)
        for i, j in np.argwhere(active).tolist():
            # Every implication is there twice: a -> b is ~b -> ~a.
            first, second = i % count, j % count
            if first == second or (first > second and active[(j + count) % (2 * count), (i + count) % (2 * count)]):
                continue
            signs = (1 if i < count else -1, -1 if j < count else 1)
            offset = float(i >= count) - float(j >= count)
            yield ShownRelation((self.units[first], self.units[second]), signs, -np.inf, -offset)


class _PartSearch:
    """Looks for events that exclude each other among some, each given as the set of states in which it is true."""

    def __init__(self, bits: list[int], steps: StepsLeft) -> None:
        self._bits, self._steps = bits, steps
        self._largest_first = sorted((i for i, own in enumerate(bits) if own), key=lambda i: -bits[i].bit_count())
        self._with_state: dict[int, list[int]] = {}

    def _with(self, state: int) -> list[int]:
        """The events that are true in a state, the largest first."""
        if state not in self._with_state:
            self._steps.take(len(self._largest_first))
            self._with_state[state] = [i for i in self._largest_first if self._bits[i] >> state & 1]
        return self._with_state[state]

    def cover(self, whole: int) -> list[int]:
        """Events, smaller than the whole, of which exactly one is true in each of its states; none if not found."""
        left, chosen = whole, list[int]()
        waiting = [iter(self._with(_first_state(left)))] if whole else []
        while waiting and self._steps.take():
            i = next(waiting[-1], None)
            if i is None:
                waiting.pop()
                if chosen:
                    left |= self._bits[chosen.pop()]
            elif self._bits[i] & ~left == 0 and self._bits[i] != whole:
                chosen.append(i)
                left ^= self._bits[i]
                if not left:
                    return chosen
                waiting.append(iter(self._with(_first_state(left))))
        return []

    def disjoint(self, whole: int) -> list[int]:
        """Events inside the whole that exclude each other, the smallest first."""
        left, chosen = whole, []
        if not self._steps.take(len(self._largest_first)):
            return []
        for i in reversed(self._largest_first):
            if self._bits[i] & ~left == 0 and self._bits[i] != whole:
                chosen.append(i)
                left ^= self._bits[i]
        return chosen


def _first_state(states: int) -> int:
    return (states & -states).bit_length() - 1
