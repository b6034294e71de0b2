"""What some events make impossible together, by their truth in the worlds that differ in them.

A literal is an event, by its number i among n, or its complement, n + i. Everything here is about worlds and not about
probabilities, so that it is found once for the same events, however often their forecasts change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Vector

    Truths = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

MOST_IN_THREES = 150
"""Maximum number of events that are compared three at a time."""
WORST = 1_000
"""Maximum number of pairs of each kind among more events than that; those that are broken most are kept."""
KNOWN = 50_000
"""Number of small sets of truth tables whose exclusions are kept."""


class Excess(NamedTuple):
    """Literals that are claimed to be likelier than is possible: `kind` is that of `Relation`."""

    kind: str
    literals: tuple[int, ...]


class LimitRows(NamedTuple):
    """Up to three literals in a row, which may add up to `most`; of n events, 2 n stands for no literal."""

    literals: Numbers
    most: Vector
    kinds: list[str]


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Literals of events that cannot all happen, and sums that must agree; `truth` has one row per event.

    `pairs` cannot both happen; `threes` cannot all happen though any two can; of `ones` no two can. A row a, b, c, d of
    `sums` says that c is "a and b" and d "a or b".
    """

    truth: Truths

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def has_threes(self) -> bool:
        """Whether events are compared three at a time: they are not if they are too many."""
        return len(self) <= MOST_IN_THREES

    @cached_property
    def _open(self) -> Numbers:
        """The events that worlds do not settle."""
        return np.flatnonzero(self.truth.any(axis=1) & ~self.truth.all(axis=1))

    @cached_property
    def singles(self) -> Numbers:
        """The literals that cannot happen."""
        n = len(self)
        never, sure = np.flatnonzero(~self.truth.any(axis=1)), np.flatnonzero(self.truth.all(axis=1))
        return np.concatenate([never, n + sure])

    @cached_property
    def _meets(self) -> Truths:
        """Whether two literals of open events can both happen."""
        bits = _words_of_rows(self.truth[self._open])
        every = _words_of_rows(np.ones((1, self.truth.shape[1]), np.bool_))
        literals = np.vstack([bits, every & ~bits])
        return np.array([(literals & one).any(axis=1) for one in literals], np.bool_).reshape((len(literals),) * 2)

    def _numbered(self, literals: Numbers) -> Numbers:
        """Literals of open events as those of all."""
        m = len(self._open)
        return self._open[literals % m] + len(self) * (literals // m) if m else literals

    @cached_property
    def pairs(self) -> Numbers:
        """Two literals of different events, in their order, that cannot both happen."""
        m = len(self._open)
        never = ~self._meets.reshape(2, m, 2, m).transpose(1, 3, 0, 2)
        never[np.tril_indices(m)] = False
        i, j, first, second = np.nonzero(never)
        return self._numbered(np.stack([i + m * first, j + m * second], axis=1))

    @cached_property
    def pair_list(self) -> list[tuple[int, int]]:
        """The pairs as plain numbers."""
        return [(a, b) for a, b in self.pairs.tolist()]

    @cached_property
    def _triples(self) -> tuple[Numbers, Numbers]:
        m = len(self._open)
        none = np.zeros((0, 3), np.int64)
        if m < 3 or not self.has_threes:
            return none, none
        threes, ones = _core.triple_exclusions(_words_of_rows(self.truth[self._open]), self.truth.shape[1])
        return self._numbered(threes), self._numbered(ones)

    @property
    def threes(self) -> Numbers:
        """Three literals that cannot all happen though any two can."""
        return self._triples[0]

    @property
    def ones(self) -> Numbers:
        """Three literals of which no two can happen."""
        return self._triples[1]

    @cached_property
    def sums(self) -> Numbers:
        """Literals a, b, c and d of four events: c is a and b, d is a or b."""
        m = len(self._open)
        if m < 4 or not self.has_threes:
            return np.zeros((0, 4), np.int64)
        bits = bits_of_rows(self.truth[self._open])
        every = (1 << self.truth.shape[1]) - 1
        bits += [every ^ one for one in bits]
        known: dict[int, list[int]] = {}
        for literal, one in enumerate(bits):
            known.setdefault(one, []).append(literal)
        found, seen = [], set()
        for a, b in zip(*(side.tolist() for side in np.nonzero(np.triu(self._meets, 1))), strict=True):
            both = known.get(bits[a] & bits[b])
            for c, d in product(both, known.get(bits[a] | bits[b], ())) if both else ():
                events = frozenset(literal % m for literal in (a, b, c, d))
                if len(events) == 4 and events not in seen:
                    seen.add(events)
                    found.append((a, b, c, d))
        return self._numbered(np.array(found, np.int64).reshape(-1, 4))

    @cached_property
    def limits(self) -> LimitRows:
        """All that events exclude but for the sums, where they are not too many."""
        kinds = ((self.singles[:, None], "all"), (self.pairs, "all"), (self.threes, "all"), (self.ones, "one"))
        nobody = 2 * len(self)
        return LimitRows(
            np.vstack([np.pad(rows, ((0, 0), (0, 3 - rows.shape[1])), constant_values=nobody) for rows, _ in kinds]),
            np.concatenate([np.full(len(r), 1.0 if k == "one" else r.shape[1] - 1.0) for r, k in kinds]),
            [kind for rows, kind in kinds for _ in rows],
        )

    def broken(self, high: Vector, low: Vector, tolerance: float) -> Iterator[Excess]:
        """What probabilities break by more than the tolerance, if events are at least `high` and at most `low` likely.

        NaN stands for events of which nothing is said.
        """
        yield from self.broken_pairs(high, low, tolerance)
        yield from self.broken_sets(high, low, tolerance)

    def broken_pairs(self, high: Vector, low: Vector, tolerance: float) -> Iterator[Excess]:
        """What is about one or two events."""
        likely = np.concatenate([high, 1.0 - low])
        if len(self.singles):
            for literal in self.singles[likely[self.singles] > tolerance].tolist():
                yield Excess("all", (literal,))
        if not self.has_threes:
            yield from self._broken_among_many(high, low, tolerance)
            return
        for row in self.pairs[likely[self.pairs].sum(axis=1) > 1.0 + tolerance].tolist():
            yield Excess("all", tuple(row))

    def broken_sets(self, high: Vector, low: Vector, tolerance: float) -> Iterator[Excess]:
        """What is about more events."""
        if self.has_threes:
            likely = np.concatenate([high, 1.0 - low])
            yield from self._broken_threes(likely, tolerance)
            yield from self._broken_sums(high, low, likely, tolerance)

    def _broken_threes(self, likely: Vector, tolerance: float) -> Iterator[Excess]:
        """Those with the fewest complements first: of relations between the same forecasts, the first is told."""
        found = []
        for kind, rows, most in (("all", self.threes, 2.0), ("one", self.ones, 1.0)):
            found += [(kind, row) for row in rows[likely[rows].sum(axis=1) > most + tolerance].tolist()]
        n = len(self)
        for kind, row in sorted(found, key=lambda one: ([i >= n for i in one[1]], one[0], [i % n for i in one[1]])):
            yield Excess(kind, tuple(row))

    def _broken_among_many(self, high: Vector, low: Vector, tolerance: float) -> Iterator[Excess]:
        """Pairs among many events, the worst of each kind, without a list of all that cannot happen."""
        n, holds = len(self), self.truth.astype(np.float32)
        fails = 1.0 - holds
        settled = np.setdiff1d(np.arange(n), self._open)
        for first, second, turns in ((holds, holds, (0, 0)), (holds, fails, (0, 1)), (fails, fails, (1, 1))):
            ends = [1.0 - low if turn else high for turn in turns]
            excess = np.where(first @ second.T < 0.5, np.add.outer(*ends) - 1.0, 0.0)
            np.fill_diagonal(excess, 0.0)
            excess[settled] = excess[:, settled] = 0.0
            if turns[0] == turns[1]:
                excess = np.triu(excess)
            rows, columns = np.nonzero(excess > tolerance)
            worst = np.argsort(-excess[rows, columns], kind="stable")[:WORST]
            for i, j in zip(rows[worst].tolist(), columns[worst].tolist(), strict=True):
                yield Excess("all", (i + n * turns[0], j + n * turns[1]))

    def _broken_sums(self, high: Vector, low: Vector, likely: Vector, tolerance: float) -> Iterator[Excess]:
        if not len(self.sums):
            return
        least = np.concatenate([low, 1.0 - high])
        for more, less in (([0, 1], [2, 3]), ([2, 3], [0, 1])):
            over = likely[self.sums[:, more]].sum(axis=1) - least[self.sums[:, less]].sum(axis=1)
            for row in self.sums[over > tolerance][:, [*more, *less]].tolist():
                yield Excess("sum", tuple(row))


def disjoint(truth: Truths, high: Vector, low: Vector) -> tuple[tuple[int, ...], bool]:
    """Literals of which no two can happen, the narrowest first, and whether one of them must.

    An event may be replaced by its complement if that is narrower.
    """
    n, count = truth.shape
    turned = 2 * truth.sum(axis=1) > count
    narrow = np.where(turned[:, None], ~truth, truth)
    likely = np.where(turned, 1.0 - low, high)
    covered, chosen = np.zeros(count, np.bool_), []
    for i in np.lexsort((-likely, narrow.sum(axis=1))).tolist():
        if narrow[i].any() and not (covered & narrow[i]).any():
            covered |= narrow[i]
            chosen.append(i + n * int(turned[i]))
    return tuple(chosen), bool(covered.all())


@lru_cache(maxsize=KNOWN)
def exclusions_of(tables: tuple[int, ...], allowed: int, size: int) -> Exclusions:
    """The exclusions of events by truth tables of so many rows, of which some are allowed."""
    rows = rows_of_bits((*tables, allowed), size)
    return Exclusions(rows[:-1, rows[-1]])


def _words_of_rows(truth: Truths) -> NDArray[np.uint64]:
    """Rows of truths as words: bit i of a row is the truth in world i."""
    packed = np.packbits(truth, axis=1, bitorder="little")
    whole = np.zeros((len(truth), -(-truth.shape[1] // 64) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view(np.uint64)


def bits_of_rows(truth: Truths) -> list[int]:
    """Rows of truths as numbers: bit i is the truth in world i."""
    packed = np.packbits(truth, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def rows_of_bits(bits: Sequence[int], size: int) -> Truths:
    """The same back."""
    raw = np.frombuffer(b"".join(one.to_bytes((size + 7) // 8, "little") for one in bits), np.uint8)
    rows: Truths = np.unpackbits(raw.reshape(len(bits), -1), axis=1, count=size, bitorder="little").view(np.bool_)
    return rows
