"""Components in which coherent means order-preserving: literals that imply each other, and events linear in these.

Let every law be a set of clauses of two literals, "not both", and turn some variables round so that each clause is an
implication between positive literals i -> j. Then the worlds are the closed sets of an order, and the probabilities x
of the literals are coherent if and only if x_i <= x_j for all i -> j (the order polytope, Stanley 1986): the worlds
{i: x_i >= u}, with u uniform between 0 and 1, have them. So all variables hang on one number u, and the probability
of any event about literals of which each implies the next is linear in x: of literals a -> b -> c, "b and not a" has
x_b - x_a.

If clauses cannot be turned so, as "not both" among three variables, this is another structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coherently import _core
from coherently.problem import BlockForm
from coherently.solve.lazy_table import LazyTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.problem import Block, LawFunctions, Merged
    from coherently.solve.budget import Budget

    Clauses = NDArray[np.int64]

T = TypeVar("T")
MOST_IN_LAW, MOST_IN_EVENT = 5, 16
"""Maximum number of variables of a law, and of an event, that is looked at."""
LARGE = 2_000
"""Number of nodes from which work on an order with cycles is watched by the clock."""
NOT_BOTH = np.zeros((0, 4), np.int64)
"""No clauses. A row i, s, j, t says that variable i has the truth s and variable j the truth t in no world."""


def sums_at(place: Indices, values: Vector, count: int) -> Vector:
    """The sum of the values at each of `count` places."""
    found: Vector = np.bincount(place, values, count).astype(np.float64, copy=False)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class LiteralOrder:
    """Literals, one per variable, in an order, and events as sums of their probabilities.

    Where `turned`, the literal is the complement of the variable. The probability of event i is `constant[i]` plus the
    sum of `factor` times the probability of `literal` over the entries of which `event` is i; it is one literal or its
    complement, or certain or impossible, for all events if `is_single`.
    """

    order: _core.Order
    turned: Mask
    event: Indices
    literal: Indices
    factor: Vector
    constant: Vector

    @property
    def is_single(self) -> bool:
        """Whether each event is one literal or its complement, or has no choice."""
        return len(np.unique(self.event)) == len(self.event)

    def probabilities(self, x: Vector) -> Vector:
        """Those of the events, from those of the literals."""
        return self.constant + sums_at(self.event, self.factor * x[self.literal], len(self.constant))

    def by_literal(self, coefficients: Vector) -> Vector:
        """A sum of coefficients of events as one of coefficients of literals; a constant is left out."""
        return sums_at(self.literal, self.factor * coefficients[self.event], len(self.turned))

    def least(self, coefficients: Vector) -> float:
        """A lower bound on the sum of coefficients of events in any world, as good as rounding allows."""
        costs = self.by_literal(coefficients)
        rounding = 2.0**-49 * (float(np.abs(coefficients).sum()) + float(np.abs(costs).sum()))
        return float(coefficients @ self.constant) + self.order.least(costs)[1] - rounding

    def least_within(self, budget: Budget, coefficients: Vector) -> float:
        """The same within a budget: the flow that proves it proves less where it has to end early."""
        return self.watched(budget, partial(self.least, coefficients))

    def watched(self, budget: Budget, work: Callable[[], T]) -> T:
        """Work of the core on the order, which ends soon after the budget; where there are no cycles it is short."""
        if self.order.is_forest or self.order.n_nodes < LARGE:
            return work()
        return budget.watch(work, self.order.stop)

    def mixture(self, x: Vector) -> tuple[Vector, LazyTable]:
        """The shares and the worlds, one for each level of the probabilities of literals."""
        levels, rank = np.unique(x, return_inverse=True)
        share = np.diff(levels, prepend=0.0, append=1.0)
        kept = np.flatnonzero(share > 0)
        return share[kept] / share[kept].sum(), LazyTable(partial(self._worlds, kept, rank), len(kept), len(x))

    def _worlds(self, kept: Indices, rank: Indices) -> Truth:
        """The worlds between levels; a level of rank k is true in worlds 0 to k."""
        number = np.uint16 if len(self.turned) < 2**16 - 1 else np.int64
        worlds: Mask = np.less_equal.outer(kept.astype(number), rank.astype(number))
        if self.turned.any():
            worlds ^= self.turned
        return worlds.view(np.uint8)


def literal_order(part: Merged) -> LiteralOrder | None:
    """The component as an order of literals; None if there is anything else in it."""
    if len(part.terms) or int(part.sizes().max(initial=0)) > MOST_IN_EVENT or not part.sizes().all():
        return None
    clauses = _clauses(part)
    if clauses is None:
        return None
    turned = _orientation(clauses, part.n_variables)
    if turned is None:
        return None
    i, s, j, _ = clauses.T
    forward = turned[i] != s
    first, second = np.where(forward, i, j), np.where(forward, j, i)
    rows = _rows(part, turned, first, second)
    if rows is None:
        return None
    order = _core.Order(part.n_variables, first.astype(np.int32), second.astype(np.int32))
    return LiteralOrder(order, turned, *rows)


def _clauses(part: Merged) -> Clauses | None:
    """What blocks and laws say, as clauses of two literals; None if that is not all that they say."""
    found = [NOT_BOTH]
    for block in part.space.blocks:
        own = _block_clauses(block)
        if own is None:
            return None
        found.append(own)
    laws = part.space.laws
    sizes = laws.sizes()
    for size in np.unique(sizes).tolist():
        own = _law_clauses(laws, np.flatnonzero(sizes == size), size)
        if own is None:
            return None
        found.append(own)
    return np.concatenate(found)


def _block_clauses(block: Block) -> Clauses | None:
    variables = block.variables.astype(np.int64)
    if block.form is BlockForm.CHAIN:
        return _not_both(variables[:-1], 1, variables[1:], 0)
    pair = len(variables) == 2
    if block.form is BlockForm.AT_MOST_ONE and len(variables) <= 2:
        return _not_both(variables[:1], 1, variables[1:], 1) if pair else NOT_BOTH
    if block.form is BlockForm.EXACTLY_ONE and pair:
        a, b = variables[:1], variables[1:]
        return np.concatenate([_not_both(a, 1, b, 1), _not_both(a, 0, b, 0)])
    return None


def _not_both(i: Indices, s: int, j: Indices, t: int) -> Clauses:
    return np.stack([i, np.full_like(i, s), j, np.full_like(i, t)], axis=1)


def _law_clauses(laws: LawFunctions, which: Indices, size: int) -> Clauses | None:
    """The clauses of laws about equally many variables; laws of one truth table have the same."""
    if not 2 <= size <= MOST_IN_LAW:
        return None
    variables = laws.variables[laws.starts[which][:, None] + np.arange(size)].astype(np.int64)
    table, truth = laws.tables[laws.table_starts[which]], laws.truth[which]
    found = []
    for word in np.unique(table).tolist():
        for holds in (True, False):
            own = variables[(table == word) & (truth == holds)]
            if len(own):
                clauses = _pairs_of(word if holds else ~word & (2**2**size - 1), size)
                if clauses is None:
                    return None
                found += [_not_both(own[:, a], s, own[:, b], t) for a, s, b, t in clauses]
    return np.concatenate(found)


@cache
def _pairs_of(allowed: int, size: int) -> tuple[tuple[int, int, int, int], ...] | None:
    """The clauses of two literals that a truth table is made of; None if it says more.

    A table that fixes a variable has clauses that no turning makes implications (see `_orientation`).
    """
    states = [
        state for state in product((0, 1), repeat=size) if allowed >> sum(b << k for k, b in enumerate(state)) & 1
    ]
    clauses = tuple(
        (a, s, b, t)
        for a, b in combinations(range(size), 2)
        for s, t in product((0, 1), repeat=2)
        if not any(state[a] == s and state[b] == t for state in states)
    )
    left = sum(
        not any(state[a] == s and state[b] == t for a, s, b, t in clauses) for state in product((0, 1), repeat=size)
    )
    return clauses if left == len(states) else None


def _orientation(clauses: Clauses, count: int) -> Mask | None:
    """Which variables to turn, so that each clause is an implication between positive literals; None if no way is.

    Variable i turned and not turned are two places, 2 i + 1 and 2 i. A clause ties the places of its variables that
    go together: (i, s), (j, t) with s = t go with turning one of the two. If both places of a variable are tied, no
    way is.
    """
    i, s, j, t = clauses.T
    other = 1 ^ s ^ t
    rows = np.stack([2 * i, 2 * j + other, 2 * i + 1, 2 * j + (1 ^ other)], axis=1).reshape(-1, 2)
    starts = np.arange(0, 2 * len(rows) + 1, 2, dtype=np.int64)
    label = np.arange(-2 * count, 0)
    label[rows] = _core.connected_rows(starts, rows.ravel().astype(np.int32), 2 * count)[:, None]
    plain, turned = label[0::2], label[1::2]
    return None if (plain == turned).any() else plain > turned


def _rows(
    part: Merged, turned: Mask, first: Indices, second: Indices
) -> tuple[Indices, Indices, Vector, Vector] | None:
    """The events as sums of literals: event, literal, factor, and the constants; None if an event is not one."""
    functions, sizes = part.functions, part.sizes()
    chains, constant, parts = _Chains(part, turned, first, second), np.zeros(len(part)), []
    for size in np.unique(sizes).tolist():
        event = np.flatnonzero(sizes == size)
        literal = functions.variables[functions.starts[event][:, None] + np.arange(size)].astype(np.int64)
        order = chains.ascending(literal)
        if order is None:
            return None
        truth = _truth_upwards(part, event, turned[literal], order)
        factor = np.diff(truth, axis=1).astype(np.float64)
        constant[event] = truth[:, 0]
        used = factor != 0
        downwards = np.take_along_axis(literal, order, axis=1)[:, ::-1]
        parts.append((np.repeat(event, used.sum(axis=1)), downwards[used], factor[used]))
    event, literal, factor = (np.concatenate(column) for column in zip(*parts, strict=True))
    return event, literal, factor, constant


def _truth_upwards(part: Merged, event: Indices, turned: Mask, order: Indices) -> NDArray[np.int64]:
    """The truth of events in the states of their literals: none is true, then the last, the last two, and so on.

    With literals a -> b -> c no other state is possible. An event that is f_0, f_1, f_2, f_3 there has the probability
    f_0 + (f_1 - f_0) x_c + (f_2 - f_1) x_b + (f_3 - f_2) x_a.
    """
    size = order.shape[1]
    state = (turned << np.arange(size)).sum(axis=1)
    states = [state]
    for k in range(size - 1, -1, -1):
        states.append(states[-1] ^ (1 << order[:, k]))
    place = np.stack(states, axis=1)
    words = part.functions.tables[part.functions.table_starts[event][:, None] + place // 64]
    found: NDArray[np.int64] = (words >> (place % 64).astype(np.uint64) & np.uint64(1)).astype(np.int64)
    return found


class _Chains:
    """Which literals imply each other, as far as a block or a single law says it."""

    def __init__(self, part: Merged, turned: Mask, first: Indices, second: Indices) -> None:
        self.chain = -1 - np.arange(part.n_variables)  # each by itself
        self.place, self.count = np.zeros(part.n_variables, np.int64), part.n_variables
        for number, block in enumerate(part.space.blocks):
            if block.form is BlockForm.CHAIN:
                self.chain[block.variables], self.place[block.variables] = number, np.arange(len(block.variables))
        self.place[turned] *= -1
        self.pairs = first * self.count + second

    def ascending(self, literal: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """For each row of literals their places, so that each implies the next; None if that is not known of a row."""
        order = np.argsort(self.place[literal], axis=1, kind="stable")
        chain = self.chain[literal]
        loose = np.flatnonzero((chain != chain[:, :1]).any(axis=1))
        if not len(loose):
            return order
        if literal.shape[1] != 2:
            return None
        a, b = literal[loose].T
        forward, back = np.isin(a * self.count + b, self.pairs), np.isin(b * self.count + a, self.pairs)
        if not (forward | back).all():
            return None
        order[loose] = np.where(forward[:, None], [0, 1], [1, 0])
        return order
