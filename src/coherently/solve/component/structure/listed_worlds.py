"""The worlds of a component that are few for its size: a declared variable with other variables beside it.

A variable of k values, a ladder or bins of k steps, and m other variables have at most k 2^m worlds. They are listed
factor by factor: a block is in one of its states, a variable beside blocks is true or false. A world is a row of these
states, and rows are in ascending order. After each factor, laws whose variables are all known leave out what they
forbid; and of worlds that agree on all events that are known and on all variables that later events and laws need, one
is kept: nothing tells them apart.

Whether worlds agree is asked of sums of random words, one for each event and variable that is true, modulo 2^64. Sums
of different sets agree with a probability of 2^-64 each, and two are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import BlockForm
from coherently.solve.component.structure.event_runs import EventRuns, runs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth
    from coherently.problem import Block, Functions, Merged

    Words = NDArray[np.uint64]

MOST_ENTRIES = 2**26
"""Maximum size of the table of worlds and events whose runs have to be searched, or of worlds and their variables."""
MOST_IN_RUN = 16
"""Maximum number of variables of an event whose runs are read from its truth table."""
SEED = 29


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """Variables that are in one of some joint states."""

    variables: Indices
    block: Block | None = None

    @property
    def count(self) -> int:
        """The number of states; a variable beside blocks has two."""
        return 2 if self.block is None else self.block.n_states

    @property
    def has_runs(self) -> bool:
        """Whether a variable holds in one run of states."""
        return self.block is not None and self.block.form is not BlockForm.LISTED

    @property
    def is_chain(self) -> bool:
        """Whether variable i holds up to state i, and not in state i alone."""
        return self.block is not None and self.block.form is BlockForm.CHAIN

    def truth(self, state: Indices, place: Indices) -> Mask:
        """The truth of the variables at some places, one row per state."""
        if self.block is None:
            found: Mask = np.repeat(state[:, None] == 1, len(place), axis=1)
        elif self.is_chain:
            number = np.uint16 if self.count <= 2**16 else np.int64  # a short number is compared sooner
            found = np.less_equal.outer(state.astype(number), place.astype(number))
        elif self.has_runs:
            found = np.equal.outer(state, place)
        else:
            found = self.block.states[np.ix_(state, place)].astype(np.bool_)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ListedWorlds:
    """Possible worlds, by the state of each factor, and the `events` in these: every truth vector is there once."""

    factors: tuple[Factor, ...]
    states: Indices
    events: EventRuns
    n_variables: int

    def __len__(self) -> int:
        return len(self.states)

    def worlds(self, which: Indices) -> Truth:
        """Some worlds, one row each."""
        found = np.zeros((len(which), self.n_variables), np.uint8)
        for factor, state in zip(self.factors, self.states[which].T, strict=True):
            if factor.has_runs and not factor.is_chain:
                named = np.flatnonzero(state < len(factor.variables))
                found[named, factor.variables[state[named]]] = 1
            else:
                order = np.argsort(factor.variables)
                found[:, _in_a_row(factor.variables[order])] = factor.truth(state, order).view(np.uint8)
        return found


def listed_worlds(part: Merged, most: int) -> ListedWorlds | None:
    """The distinguishable worlds of a component; None if more than `most` would have to be looked at.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "w = a | w = b & x", 0.5)], laws=["variable w: a, b, c"])
    >>> listed = listed_worlds(pose(panel).merged, 6)
    >>> listed.worlds(np.arange(len(listed))).tolist(), listed_worlds(pose(panel).merged, 3)  # x, w = a, w = b
    ([[0, 1, 0], [0, 0, 1]], None)
    """
    listing = _Listing(part)
    for number in range(len(listing.factors)):
        if not listing.extend(number, most):
            return None
    runs = listing.runs()
    return None if runs is None else ListedWorlds(listing.factors, listing.states, runs, part.n_variables)


class _Listing:
    """The worlds so far, by the states of the first factors; `known` has the words of the events that are known."""

    def __init__(self, part: Merged) -> None:
        self.part, self.factors = part, _factors(part)
        self.home, self.place = np.empty(part.n_variables, np.int64), np.empty(part.n_variables, np.int64)
        for number, factor in enumerate(self.factors):
            self.home[factor.variables], self.place[factor.variables] = number, np.arange(len(factor.variables))
        self.events, self.laws = (_known_after(some, self.home) for some in (part.functions, part.space.laws))
        self.states, self.known = np.zeros((1, 0), np.int64), np.zeros((1, 2), np.uint64)
        words = np.random.default_rng(SEED).integers(0, 2**64, (len(part) + part.n_variables, 2), np.uint64)
        self.event_words, self.variable_words = words[: len(part)], words[len(part) :]
        self.ran, self.event, self.first, self.end = self._first_runs()

    def extend(self, number: int, most: int) -> bool:
        """List the states of one more factor; False if there are too many."""
        count = self.factors[number].count
        if len(self.states) * count > most:
            return False
        state = np.tile(np.arange(count), len(self.states))
        self.states, self.known = (
            np.column_stack([np.repeat(self.states, count, axis=0), state]),
            np.repeat(self.known, count, axis=0),
        )
        lawful = self._lawful(np.flatnonzero(self.laws == number))
        if lawful is None:
            return False
        self.states, self.known = self.states[lawful], self.known[lawful]
        truth = self._truth(self.part.functions, np.flatnonzero((self.events == number) & ~self.ran))
        if truth is None:
            return False
        self.known += truth @ self.event_words[(self.events == number) & ~self.ran]
        if number == 0:
            self.known += _words_along(self.event, self.first, self.end, words=self.event_words, count=count)[
                self.states[:, 0]
            ]
        kept = _first_of_each(self.known + self._needed_words(number))
        self.states, self.known = self.states[kept], self.known[kept]
        return True

    def runs(self) -> EventRuns | None:
        """The runs of all events along the worlds; None if the table that has to be searched is too large."""
        others = np.flatnonzero(~self.ran)
        truth = self._truth(self.part.functions, others)
        if truth is None:
            return None
        event, first, end = runs_of(truth)
        along = self.states[:, 0] if len(self.factors) else np.zeros(len(self.states), np.int64)
        first, end = (
            np.concatenate([np.searchsorted(along, mine), found])
            for mine, found in ((self.first, first), (self.end, end))
        )
        event = np.concatenate([self.event, others[event]])
        some = end > first
        return EventRuns(event[some], first[some], end[some], n_events=len(self.part), n_worlds=len(self.states))

    def _first_runs(self) -> tuple[Mask, Indices, Indices, Indices]:
        """Which events are about the first factor alone, and their runs along its states."""
        functions, sizes = self.part.functions, self.part.sizes()
        ran, parts = np.zeros(len(self.part), np.bool_), []
        if self.factors and self.factors[0].has_runs:
            ran = (self.events == 0) & (sizes > 0) & (sizes <= MOST_IN_RUN)
            for size in np.unique(sizes[ran]).tolist():
                event = np.flatnonzero(ran & (sizes == size))
                variables = functions.variables[functions.starts[event][:, None] + np.arange(size)]
                found = _runs_along(functions, event, self.place[variables], is_chain=self.factors[0].is_chain)
                parts.append(found)
        empty = np.empty(0, np.int64)
        event, first, end = (
            (np.concatenate([empty, *column]) for column in zip(*parts, strict=True)) if parts else (empty,) * 3
        )
        return ran, event, first, end

    def _truth(self, functions: Functions, which: Indices) -> Mask | None:
        """The truth of some functions in the worlds so far; None if the table is too large."""
        some = functions.take(which)
        used, column = np.unique(some.variables, return_inverse=True)
        if len(self.states) * max(len(used), len(which)) > MOST_ENTRIES:
            return None
        worlds = np.zeros((len(self.states), len(used)), np.bool_)
        for number in np.unique(self.home[used]).tolist():
            mine = np.flatnonzero(self.home[used] == number)
            worlds[:, mine] = self.factors[number].truth(self.states[:, number], self.place[used[mine]])
        return some.renumbered(column.astype(np.int32)).hold(worlds)

    def _lawful(self, which: Indices) -> Mask | None:
        laws = self.part.space.laws
        truth = self._truth(laws, which)
        return None if truth is None else (truth == laws.truth[which]).all(axis=1)

    def _needed_words(self, number: int) -> Words:
        """The words of the known variables that later events and laws are about, added up in each world."""
        part = self.part
        used = np.zeros(part.n_variables, np.bool_)
        for functions, later in ((part.functions, self.events > number), (part.space.laws, self.laws > number)):
            used[functions.variables[np.repeat(later, functions.sizes())]] = True
        found = np.zeros((len(self.states), 2), np.uint64)
        for k in range(number + 1):
            factor = self.factors[k]
            mine = np.flatnonzero(used[factor.variables])
            words = self.variable_words[factor.variables[mine]]
            if factor.has_runs:
                first = np.zeros_like(mine) if factor.is_chain else mine
                by_state = _words_along(np.arange(len(mine)), first, mine + 1, words=words, count=factor.count)
            else:
                by_state = factor.truth(np.arange(factor.count), mine) @ words
            found += by_state[self.states[:, k]]
        return found


def _in_a_row(variables: Indices) -> Indices | slice:
    """The variables, as a slice if they are in a row, which is quicker."""
    first, count = int(variables[0]), len(variables)
    return slice(first, first + count) if (variables == np.arange(first, first + count)).all() else variables


def _factors(part: Merged) -> tuple[Factor, ...]:
    """Blocks, those of the most states first, then each other variable by itself."""
    blocks = sorted(part.space.blocks, key=lambda block: -block.n_states)
    beside = np.ones(part.n_variables, np.bool_)
    for block in blocks:
        beside[block.variables] = False
    found = [Factor(block.variables.astype(np.int64), block) for block in blocks]
    return tuple(found + [Factor(np.array([v])) for v in np.flatnonzero(beside).tolist()])


def _known_after(functions: Functions, home: Indices) -> Indices:
    """The factor after which each function is known: the last of those that its variables are in."""
    if not len(functions):
        return np.empty(0, np.int64)
    found = np.zeros(len(functions), np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(functions)), functions.sizes()), home[functions.variables])
    return found


def _runs_along(
    functions: Functions, event: Indices, place: Indices, *, is_chain: bool
) -> tuple[Indices, Indices, Indices]:
    """The runs of events of equally many variables along the states of a factor: event, first state and end.

    Of a chain, variables at places a < b < c are all true up to state a, then b and c up to state b, and so on. Of
    exclusive values, one is true in the state of its place. Elsewhere all are false, and so is the event.
    """
    order = np.argsort(place, axis=1)
    place, bit = np.take_along_axis(place, order, axis=1), 1 << order
    if is_chain:
        state = np.cumsum(bit[:, ::-1], axis=1)[:, ::-1]
        first = np.column_stack([np.zeros(len(place), np.int64), place[:, :-1] + 1])
    else:
        state, first = bit, place
    end = place + 1
    words = functions.tables[functions.table_starts[event][:, None] + state // 64]
    holds = (words >> (state % 64).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
    joined = np.zeros_like(holds)
    joined[:, 1:] = holds[:, 1:] & holds[:, :-1] & (first[:, 1:] == end[:, :-1])
    begins, ends = holds & ~joined, holds & ~np.roll(joined, -1, axis=1)
    return event[np.nonzero(begins)[0]], first[begins], end[ends]


def _words_along(item: Indices, first: Indices, end: Indices, *, words: Words, count: int) -> Words:
    """The sum of the words of items in each of `count` states; an item is there from its first state to its end."""
    steps = np.zeros((count + 1, 2), np.uint64)
    np.add.at(steps, first, words[item])
    np.subtract.at(steps, end, words[item])
    found: Words = np.cumsum(steps, axis=0, dtype=np.uint64)[:-1]
    return found


def _first_of_each(words: Words) -> Indices:
    """The first of the rows of each kind, ascending."""
    order = np.lexsort([words[:, 1], words[:, 0]])
    ordered = words[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    found: Indices = np.sort(np.minimum.reduceat(order, np.flatnonzero(new))) if len(order) else order
    return found
