"""Variables with finite domains, and Boolean functions of them: tables of truth, or counts of many literals.

A variable is Boolean (state 1 is true), or declared; then its states are classes of values that no text distinguishes.
A table is an integer: bit i tells the truth at the i-th combination of states, the last variable of the scope fastest.
Logic on tables is then logic on integers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from .check_errors import BadInputError
from .language import LITERALS, Declaration, Step

LARGEST_TABLE = 1 << 22
LARGEST_KEY = 1 << 16
"""Counts up to this size are also tables, so that they equal formulas that mean the same."""
FEW = 5
"""Maximum number of literals of a count that is eliminated as a table."""
FIRST_DAY, LAST_DAY = 1, 3652059

Comparison: TypeAlias = tuple[()] | tuple[str, tuple[str, ...]]
"""A relation and values; empty of a Boolean variable."""
Literal: TypeAlias = tuple[int, frozenset[int]]
"""A variable, and the states in which the literal holds."""


@dataclass(frozen=True)
class Count:
    """How many of some literals hold: one of `counts`. Each literal is of another variable."""

    literals: tuple[Literal, ...]
    counts: frozenset[int]


@dataclass(frozen=True)
class TruthFunction:
    """A Boolean function of the variables `scope`, ascending: a table `mask`, or a count, or both."""

    scope: tuple[int, ...]
    mask: int | None
    count: Count | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TruthFunction) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[object, ...]:
        """What equal functions have in common, however they were written."""
        return (self.scope, self.mask) if self.mask is not None else (self.scope, self.count)

    @property
    def constant(self) -> bool | None:
        """The truth of a function without variables; None for any other."""
        return None if self.scope else bool(self.mask)


TRUE, FALSE = TruthFunction((), 1), TruthFunction((), 0)


class Variable:
    """A variable with its states: all values that may differ, those alike in each of the formulas' comparisons as one.

    A comparison is a relation and values; that of a Boolean variable is empty, and holds where the variable is true.
    """

    def __init__(self, name: str, declaration: Declaration | None, comparisons: Collection[Comparison]) -> None:
        self.name, self.declaration = name, declaration
        self.samples = self._samples([text for one in comparisons for text in (one[1] if one else ())])
        alike: list[list[int]] = [[] for _ in self.samples]
        for number, comparison in enumerate(comparisons):
            for place in self.held(*comparison):
                alike[place].append(number)
        states: dict[tuple[int, ...], int] = {}
        self.state_of = [states.setdefault(tuple(one), len(states)) for one in alike]
        self.size = len(states)
        self.truths = {comparison: self.states_where(*comparison) for comparison in comparisons}

    def states_where(self, relation: str = "", values: tuple[str, ...] = ()) -> frozenset[int]:
        """The states in which a comparison holds, also one that no formula has."""
        return frozenset(self.state_of[place] for place in self.held(relation, values))

    def _samples(self, texts: Iterable[str]) -> list[Any]:
        """All named values; of a quantity, each one that is mentioned, and one between each two, below and above."""
        declared = self.declaration
        if declared is None:
            return [False, True]
        if declared.kind == "named":
            return list(declared.values)
        named = sorted({declared.quantity(text) for text in texts}) or [Fraction(FIRST_DAY)]
        if declared.kind == "date":
            days = {day for at in named for day in (at - 1, at, at + 1)}
            return sorted(day for day in days if FIRST_DAY <= day <= LAST_DAY)
        return sorted({*named, *(Fraction(a + b, 2) for a, b in pairwise([named[0] - 1, *named, named[-1] + 1]))})

    def held(self, relation: str = "", values: tuple[str, ...] = ()) -> list[int]:
        """The samples for which a comparison holds."""
        declared = self.declaration
        if (declared is None) == bool(relation):
            is_it = "is declared, so it must be compared" if declared else "is compared with a value but not declared"
            raise BadInputError(f"{self.name} {is_it}")
        if declared is None:
            return [1]
        if declared.kind == "named":
            if not set(values) <= set(declared.values) or relation not in ("=", "!=", "in"):
                raise BadInputError(f"{self.name} has named values; it cannot be compared by {relation} {values}")
            wanted: list[Any] = list(values)
        else:
            wanted = [declared.quantity(text) for text in values]
        if relation in ("=", "in", "!="):
            return [i for i, sample in enumerate(self.samples) if (sample in wanted) != (relation == "!=")]
        below, most = bisect_left(self.samples, wanted[0]), bisect_right(self.samples, wanted[0])
        every = range(len(self.samples))
        return list({"<": every[:below], "<=": every[:most], ">": every[most:], ">=": every[below:]}[relation])

    def state_with(self, told: Iterable[tuple[Comparison, bool]]) -> int | None:
        """A state in which some comparisons are true and others false; None if there is no such value."""
        left = set(range(len(self.samples)))
        for comparison, truth in told:
            holds = self.held(*comparison)
            left = left.intersection(holds) if truth else left.difference(holds)
        return self.state_of[min(left)] if left else None


class StateSpace:
    """The variables, in the order in which texts mention them, and functions made of programs."""

    def __init__(self, declarations: Sequence[Declaration], programs: Sequence[Sequence[Step]]) -> None:
        declared, compared = {one.name: one for one in declarations}, dict[str, dict[Comparison, None]]()
        for program in programs:
            for step in program:
                if step[0] in LITERALS:
                    compared.setdefault(step[1], {})[step[2:]] = None
        self.variables = [Variable(name, declared.get(name), compared[name]) for name in compared]
        self.number = {name: i for i, name in enumerate(compared)}

    def literal(self, step: Step) -> Literal:
        """What a step about one variable says."""
        variable = self.number[step[1]]
        return variable, self.variables[variable].truths[step[2:]]

    def function(self, program: Sequence[Step]) -> TruthFunction:
        """The function of a program, of those variables alone that matter to it."""
        counted = self._count(program)
        if counted is not None and len(counted.counts) in (0, len(counted.literals) + 1):
            return TRUE if counted.counts else FALSE
        scope = sorted({self.number[step[1]] for step in program if step[0] in LITERALS})
        if counted is not None and self.cells(scope) > LARGEST_KEY:
            return TruthFunction(tuple(scope), None, counted)
        if self.cells(scope) > LARGEST_TABLE:
            raise BadInputError("an event has too many variables for a table, and is not a count of variables")
        mask = self._mask(program, scope)
        needed = [v for i, v in enumerate(scope) if not self._is_idle(mask, scope, i)]
        if len(needed) < len(scope):
            mask = self._mask(program, needed)
        keep = counted if counted is not None and len(needed) == len(counted.literals) > FEW else None
        return TruthFunction(tuple(needed), mask, keep)

    def cells(self, scope: Iterable[int]) -> int:
        """The number of combinations of states."""
        return prod(self.variables[variable].size for variable in scope)

    def strides(self, scope: Sequence[int]) -> dict[int, int]:
        """How far the next state of each variable is in a table."""
        return {v: self.cells(scope[i + 1 :]) for i, v in enumerate(scope)}

    def states(self, scope: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """All states of variables."""
        return {v: tuple(range(self.variables[v].size)) for v in scope}

    def truth(self, function: TruthFunction) -> list[bool]:
        """The table of a function, one entry for each combination of states."""
        assert function.mask is not None
        return [bit == "1" for bit in reversed(f"{function.mask:0{self.cells(function.scope)}b}")]

    def complement(self, function: TruthFunction) -> TruthFunction:
        """The function that is true where this one is false."""
        mask = None if function.mask is None else function.mask ^ ((1 << self.cells(function.scope)) - 1)
        one = function.count
        counts = one and Count(one.literals, frozenset(range(len(one.literals) + 1)) - one.counts)
        return TruthFunction(function.scope, mask, counts)

    def _count(self, program: Sequence[Step]) -> Count | None:
        """The count that a program is, if it is a single count of literals, each of another variable."""
        steps, negated = list(program), False
        while steps and steps[-1] == ("not",):
            steps.pop()
            negated = not negated
        if not steps or steps[-1][0] != "count":
            return None
        _, word, k, n = steps.pop()
        literals: list[Literal] = []
        for step in steps:
            if step == ("not",) and literals:
                literals[-1] = (literals[-1][0], self._others(literals[-1]))
            elif step[0] in LITERALS:
                literals.append(self.literal(step))
            else:
                return None
        if len({variable for variable, _ in literals}) < len(literals) or len(literals) != n:
            return None
        held = frozenset(j for j in range(len(literals) + 1) if counted(word, k, j) != negated)
        literals.sort(key=lambda one: one[0])
        first = literals[0]
        if sorted(first[1]) < sorted(self._others(first)):  # one of two ways to write the same count
            literals = [(one[0], self._others(one)) for one in literals]
            held = frozenset(len(literals) - j for j in held)
        return Count(tuple(literals), held)

    def _others(self, literal: Literal) -> frozenset[int]:
        return frozenset(range(self.variables[literal[0]].size)) - literal[1]

    def _mask(self, program: Sequence[Step], scope: Sequence[int]) -> int:
        """The table of a program over a scope; a variable outside it is in state 0."""
        cells = self.cells(scope)
        full, stack, known = (1 << cells) - 1, list[int](), dict[Literal, int]()
        for step in program:
            kind = step[0]
            if kind == "constant":
                stack.append(full if step[1] else 0)
            elif kind in LITERALS:
                literal = self.literal(step)
                if literal not in known:
                    known[literal] = self._literal_mask(literal, scope, cells)
                stack.append(known[literal])
            elif kind == "not":
                stack[-1] ^= full
            elif kind == "count":
                _, word, k, n = step
                taken = [stack.pop() for _ in range(n)]
                stack.append(count_mask(taken, word, k, full))
            else:
                second, first = stack.pop(), stack.pop()
                stack.append(joined(kind, first, second, full))
        return stack.pop()

    def _literal_mask(self, literal: Literal, scope: Sequence[int], cells: int) -> int:
        variable, states = literal
        if variable not in scope:
            return (1 << cells) - 1 if 0 in states else 0
        stride = self.cells(scope[scope.index(variable) + 1 :])
        block = sum(((1 << stride) - 1) << (stride * state) for state in states)
        period = stride * self.variables[variable].size
        return block * (((1 << cells) - 1) // ((1 << period) - 1))

    def _is_idle(self, mask: int, scope: Sequence[int], place: int) -> bool:
        """Whether a table is the same in every state of one of its variables."""
        stride, size = self.cells(scope[place + 1 :]), self.variables[scope[place]].size
        first = mask & self._literal_mask((scope[place], frozenset((0,))), scope, self.cells(scope))
        return first * (((1 << stride * size) - 1) // ((1 << stride) - 1)) == mask


def places(scope: Iterable[Any], strides: Mapping[Any, int], states: Mapping[Any, Sequence[int]]) -> list[int]:
    """Where a table with these strides has its entry for each combination of states of a scope, the last fastest."""
    found = [0]
    for one in scope:
        stride = strides.get(one, 0)
        found = [place + stride * state for place in found for state in states[one]]
    return found


def counted(word: str, k: int, n: int) -> bool:
    """Whether n true arguments are exactly, at least or at most k."""
    return n == k if word == "exactly" else n >= k if word == "at_least" else n <= k


def count_mask(masks: list[int], word: str, k: int, full: int) -> int:
    """Where the number of masks that hold is as said: `exact[j]` has the places where j of them do."""
    exact = [full]
    for mask in masks:
        moved = [0, *(one & mask for one in exact)]
        exact = [(stay & ~mask) | move for stay, move in zip([*exact, 0], moved, strict=True)]
    found = 0
    for j, places in enumerate(exact):
        if counted(word, k, j):
            found |= places
    return found


def joined(word: str, first: int, second: int, full: int) -> int:
    """A binary operator on tables."""
    if word == "and":
        return first & second
    if word == "or":
        return first | second
    if word == "xor":
        return first ^ second
    return (first ^ full) | second if word == "implies" else (first ^ second) ^ full
