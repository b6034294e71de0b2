"""Events that are compared with each other: each as the set of joint states of variables in which it is true."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import LARGEST_TABLE, States, TooManyStatesError, split
from coherently.problem.spaces.states import truths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Mask
    from coherently.problem import Merged, Part, Problem

ORDERING = 1_000_000
"""A component is taken whole if its variables, squared, times its laws are at most this many; else in smaller sets."""
CERTAIN = (-1, False)
"""The condition of a forecast that has none."""


@dataclass(frozen=True, slots=True, eq=False)
class EventFamily:
    """Units of a problem and their truth: one row per state that is possible, one column per unit.

    Conditionals on one event are a family of their own, over the states in which that event is true.
    """

    units: Indices
    truth: Mask


def families(problem: Problem, units: Indices) -> Iterator[EventFamily]:
    """The families of some units, two or more in each; every relation that is looked for lies within one.

    A component with at most 4,096 possible states is one family, laws and all. Otherwise there is one for the variables
    of each event, of each law and of each declared variable, with the units that are about nothing else.
    """
    kept = np.zeros(len(problem.merged), np.bool_)
    given = problem.merged.terms.conditionals
    plain, numbers = units[~problem.conditional[units]], problem.coordinate[units[problem.conditional[units]]]
    kept[problem.coordinate[plain]] = True
    for sides in (given.joint, given.condition):
        own = sides.coordinate[numbers]
        kept[own[own >= 0]] = True
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    for part in split(problem.merged.keep(kept)):
        local = np.full(int(kept.sum()) + 1, -1, np.int64)
        local[part.coordinates] = np.arange(len(part.coordinates))
        yield from _within(_PlacedUnits(problem, units, np.append(local[place], -1)), part)


@dataclass(frozen=True, slots=True, eq=False)
class _PlacedUnits:
    """Units of a problem, with the number of each coordinate in a component; -1 for others and the certain event."""

    problem: Problem
    units: Indices
    number: Indices

    def by_condition(self) -> dict[tuple[int, bool], list[tuple[int, int, bool]]]:
        """For each condition: the units of the component, each with its coordinate and whether that is turned."""
        problem = self.problem
        given = problem.merged.terms.conditionals
        found: dict[tuple[int, bool], list[tuple[int, int, bool]]] = {}
        for unit in self.units.tolist():
            j, turned, condition = int(problem.coordinate[unit]), bool(problem.complemented[unit]), CERTAIN
            if problem.conditional[unit]:
                condition = int(self.number[given.condition.coordinate[j]]), bool(given.condition.turned[j])
                if condition[0] < 0:
                    continue
                j, turned = int(given.joint.coordinate[j]), turned ^ bool(given.joint.turned[j])
            if j >= 0 and self.number[j] >= 0:
                found.setdefault(condition, []).append((unit, int(self.number[j]), turned))
        return found


def _within(placed: _PlacedUnits, part: Part) -> Iterator[EventFamily]:
    """The families of one component."""
    by_condition = placed.by_condition()
    if not any(len(own) > 1 for own in by_condition.values()):
        return
    merged = part.merged
    sets = merged.functions.variable_sets()
    for variables, states in _state_tables(merged):
        inside = set(variables.tolist())
        members = [i for i, own in enumerate(sets) if inside.issuperset(own)]
        column = {coordinate: k for k, coordinate in enumerate(members)}
        truth = truths(merged, members, states, variables).view(np.bool_)
        for condition, own in by_condition.items():
            mine = [(unit, column[j], turned) for unit, j, turned in own if j in column]
            if len(mine) < 2 or (condition is not CERTAIN and condition[0] not in column):
                continue
            rows = truth if condition is CERTAIN else truth[truth[:, column[condition[0]]] ^ condition[1]]
            units, columns, turned = (np.array(each) for each in zip(*mine, strict=True))
            yield EventFamily(units, rows[:, columns] ^ turned.astype(np.bool_))


def _state_tables(merged: Merged) -> Iterator[tuple[Indices, np.ndarray]]:
    """Variables of a component, and their possible joint states: all, or else those of one event or law at a time."""
    states = States(merged.space, merged.n_variables)
    if merged.n_variables**2 * max(len(merged.space.laws), 1) <= ORDERING:
        try:
            every = np.arange(merged.n_variables)
            yield every, states.of(every)
        except TooManyStatesError:
            pass
        else:
            return
    for closed, smaller in _sets(merged).items():
        try:
            yield np.array(closed), states.of(np.array(closed))
        except TooManyStatesError:
            for variables in smaller:
                with contextlib.suppress(TooManyStatesError):
                    yield np.array(variables), states.of(np.array(variables))


def _sets(merged: Merged) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The variables of each event, law and block, by the same with all that events say of their blocks."""
    used = set(merged.functions.variables.tolist())
    laws = [own for own in merged.space.laws.variable_sets() if len(own) <= LARGEST_TABLE and not used.isdisjoint(own)]
    blocks = [tuple(sorted(used.intersection(block.variables.tolist()))) for block in merged.space.blocks]
    home = {v: block for block in blocks for v in block}
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for own in dict.fromkeys([*blocks, *merged.functions.variable_sets(), *laws]):
        closed = tuple(sorted({*own, *(v for one in own for v in home.get(one, ()))}))
        if closed:
            found.setdefault(closed, []).extend([own] if own != closed else [])
    return found
