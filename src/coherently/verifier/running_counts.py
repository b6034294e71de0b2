"""The least sum over worlds that are too many to list, where events count how many of many literals hold.

A sum of functions of few variables is minimised variable by variable: the least over the truth of x of all functions
with x is one function of their other variables (Bertele and Brioschi 1972). A function of "how many of the literals in
S hold" has that number as its one argument. Where x or its negation, the literal l, is in S, it is the number for S - l
plus 1 if l holds: one more function of the same kind, of an argument with one value less. Equal sets are one argument.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.problem.functions import decode
from coherently.verifier.stop_signal import stop_if_asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.panel import Panel
    from coherently.verifier.enumeration import Enumeration

    Literals: TypeAlias = frozenset[int]
    """Of variable v, 2 v counts where it is true, and 2 v + 1 where it is false."""
    Argument: TypeAlias = int | Literals

LEAST_COUNT = 5
"""Minimum number of variables from which a truth table is looked at as a count."""
MOST_CELLS, MOST_WORK = 2**21, 2**25
"""Maximum size of one function, and of all together."""


class _TooLargeError(Exception):
    """A function has too many cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Addend:
    """A function: its arguments, variables or numbers of true literals, and its values, one axis per argument."""

    arguments: tuple[Argument, ...]
    values: NDArray[np.float64]

    @property
    def variables(self) -> set[int]:
        """The variables that are arguments by themselves."""
        return {argument for argument in self.arguments if isinstance(argument, int)}

    def has(self, variable: int) -> bool:
        """Whether the function depends on a variable."""
        return any(
            argument == variable if isinstance(argument, int) else not argument.isdisjoint(_literals(variable))
            for argument in self.arguments
        )

    def at(self, variable: int, truth: int) -> Addend:
        """The function where a variable has a truth."""
        place: list[int | slice] = []
        left: list[Argument] = []
        for argument in self.arguments:
            if isinstance(argument, int):
                place.append(truth if argument == variable else slice(None))
                left += [] if argument == variable else [argument]
                continue
            rest = argument - _literals(variable)
            # count(S) = count(S - l) + [l]: with l true, the values from 1 on are left, else those before the last.
            held = len(rest) < len(argument) and (2 * variable in argument) == (truth == 1)
            place.append(slice(int(held), int(held) + len(rest) + 1) if rest else int(held))
            left += [rest] if rest else []
        return _distinct(left, self.values[tuple(place)])


def _literals(variable: int) -> Literals:
    return frozenset((2 * variable, 2 * variable + 1))


def _distinct(arguments: Sequence[Argument], values: NDArray[np.float64]) -> Addend:
    """The function with each argument once: where two are the same, only equal values of both are possible."""
    found = list(arguments)
    while len(set(found)) < len(found):
        i = next(i for i, argument in enumerate(found) if argument in found[:i])
        first = found.index(found[i])
        values = np.diagonal(values, axis1=first, axis2=i)
        found = [argument for k, argument in enumerate(found) if k not in (first, i)] + [found[i]]
    return Addend(tuple(found), values)


def _added(addends: Sequence[Addend]) -> Addend:
    """The sum of functions."""
    sizes: dict[Argument, int] = {}
    for addend in addends:
        sizes |= dict(zip(addend.arguments, addend.values.shape, strict=True))
    if math.prod(sizes.values()) > MOST_CELLS:
        raise _TooLargeError
    total = np.zeros(tuple(sizes.values()))
    order = {argument: k for k, argument in enumerate(sizes)}
    for addend in addends:
        place = sorted(range(len(addend.arguments)), key=lambda k: order[addend.arguments[k]])
        mine = set(addend.arguments)
        total += addend.values.transpose(place)[tuple(slice(None) if a in mine else None for a in sizes)]
    return Addend(tuple(sizes), total)


def least_sum(addends: Iterable[Addend]) -> float:
    """The least sum of functions over all truth assignments; NaN if the functions on the way are too large.

    >>> both = Addend((0, 1), np.array([[0.0, 0.0], [0.0, -3.0]]))
    >>> none = Addend((frozenset({0, 2, 4}),), np.array([0.0, 5.0, 5.0, 1.0]))
    >>> least_sum([both, none])
    -2.0
    """
    try:
        return _eliminated(_merged(addends))
    except _TooLargeError:
        return math.nan


def _merged(addends: Iterable[Addend]) -> list[Addend]:
    """The functions, those of the same arguments added up."""
    groups: dict[tuple[Argument, ...], list[Addend]] = defaultdict(list)
    for addend in addends:
        groups[addend.arguments].append(addend)
    return [_added(group) for group in groups.values()]


def _eliminated(addends: list[Addend]) -> float:
    left, work = addends, 0
    for variable in _order(addends):
        stop_if_asked()
        chosen = [addend for addend in left if addend.has(variable)]
        false, true = (_added([addend.at(variable, truth) for addend in chosen]) for truth in (0, 1))
        # Both have the same arguments in the same order: those of the same functions.
        one = Addend(false.arguments, np.minimum(false.values, true.values))
        work += one.values.size
        if work > MOST_WORK:
            raise _TooLargeError
        left = [addend for addend in left if not addend.has(variable)] + [one]
    return math.fsum(float(addend.values) for addend in left)


def _order(addends: Sequence[Addend]) -> list[int]:
    """First the variables that no table ties to others, those in the fewest counts first; then neighbours in turn."""
    sets = {argument for addend in addends for argument in addend.arguments if not isinstance(argument, int)}
    counts = Counter(literal // 2 for argument in sets for literal in argument)
    near: dict[int, set[int]] = defaultdict(set)
    for addend in addends:
        for variable in addend.variables:
            near[variable] |= addend.variables
    variables = sorted(near.keys() | counts.keys())
    loose = sorted((v for v in variables if len(near[v]) <= 1), key=lambda v: counts[v])
    tied, found = {v for v in variables if len(near[v]) > 1}, list[int]()
    edge: set[int] = set()  # the neighbours of what is gone and counted
    while tied:
        best = min(sorted(tied), key=lambda v: len((near[v] | (edge if counts[v] else set())) - {v}))
        tied.remove(best)
        found.append(best)
        around = (near[best] | (edge if counts[best] else set())) - {best}
        edge = around if counts[best] else edge - {best}
        for v in around:
            near[v] = (near[v] | around) - {best}
    return loose + found


@dataclass(frozen=True, slots=True, eq=False)
class CountedComponents:
    """The components that have too many worlds to list, and a count among their events."""

    panel: Panel
    worlds: Enumeration

    def least(self, coefficients: Vector) -> Vector:
        """As `Enumeration.least`, also where events count literals; NaN where that is not enough, either."""
        least = self.worlds.least(coefficients)
        for i in np.flatnonzero(~self.worlds.possible).tolist():
            mine = np.flatnonzero(self.worlds.component == i)
            constant, events = self._events(mine, coefficients)
            if any(isinstance(argument, frozenset) for addend in events for argument in addend.arguments):
                least[i] = constant + least_sum([*events, *self._laws(i), *self._declared(i)])
        return least

    def _functions(self, coordinates: NDArray[np.int32]) -> list[Addend]:
        """Functions that are 1 where an event holds."""
        events = self.panel.events
        (starts, members), (word_starts, words) = events.supports(coordinates), events.tables(coordinates)
        return [
            _function(members[starts[k] : starts[k + 1]].tolist(), words[word_starts[k] : word_starts[k + 1]])
            for k in range(len(coordinates))
        ]

    def _events(self, mine: NDArray[np.int64], coefficients: Vector) -> tuple[float, list[Addend]]:
        """A constant and the events times their coefficients; a complement is 1 minus its event."""
        side, own = self.worlds.sides[mine], coefficients[mine]
        turned = side % 2 == 1
        functions = zip(np.where(turned, -own, own).tolist(), self._functions(side // 2), strict=True)
        return float(own[turned].sum()), [Addend(f.arguments, c * f.values) for c, f in functions]

    def _laws(self, i: int) -> list[Addend]:
        side = self.worlds.laws[self.worlds.law_home == i]
        functions = zip((side % 2 == 1).tolist(), self._functions(side // 2), strict=True)
        return [Addend(f.arguments, np.where(f.values == turned, np.inf, 0.0)) for turned, f in functions]

    def _declared(self, i: int) -> list[Addend]:
        """That at most one atom of a named variable is true, or exactly one; and that thresholds ascend."""
        found: list[Addend] = []
        for choice in self.panel.events.choices():
            atoms = choice.atoms.tolist()
            if self.worlds.home[atoms[0]] != i:
                continue
            if choice.ordered:
                implies = np.array([[0.0, 0.0], [np.inf, 0.0]])
                found += [Addend((a, b), implies) for a, b in pairwise(atoms)]
                continue
            values = np.full(len(atoms) + 1, np.inf)
            values[int(choice.complete) : 2] = 0.0
            found.append(Addend((frozenset(2 * atom for atom in atoms),), values))
        return found


def _function(variables: list[int], words: NDArray[np.uint64]) -> Addend:
    """A function of the table of events: 1 where it holds, else 0."""
    literals, bits = decode(words, len(variables))
    if len(literals):
        return _count([2 * v + 1 - int(own) for v, own in zip(variables, literals, strict=True)], bits)
    # The first axis of a reshaped table is that of the last variable.
    table = bits.reshape((2,) * len(variables)).transpose()
    if len(variables) >= LEAST_COUNT and (count := _as_count(variables, table)) is not None:
        return count
    return Addend(tuple(variables), table.astype(np.float64))


def _as_count(variables: list[int], table: NDArray[np.uint8]) -> Addend | None:
    """The same as a count of literals, if it is one."""
    literals, turned = [2 * variables[0]], table
    for k in range(1, len(variables)):
        alike = np.array_equal(turned, turned.swapaxes(0, k))
        literals.append(2 * variables[k] + int(not alike))
        turned = turned if alike else np.flip(turned, k)
    number = np.indices(turned.shape).sum(axis=0)
    holds = np.array([turned[number == k].max() for k in range(turned.ndim + 1)])
    return _count(literals, holds) if np.array_equal(holds[number], turned) else None


def _count(literals: list[int], holds: NDArray[np.uint8]) -> Addend:
    """A count by most of its variables' truth, so that counts of the same variables have the same literals."""
    negative = sum(literal % 2 for literal in literals)
    if 2 * negative > len(literals) or (2 * negative == len(literals) and min(literals) % 2):
        literals, holds = [literal ^ 1 for literal in literals], holds[::-1]
    return Addend((frozenset(literals),), holds.astype(np.float64))
