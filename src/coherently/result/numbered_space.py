"""Variables as the checker of proofs numbers them, from what the compiled core finds in texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.events.interpretation import prepare
from coherently.proofcheck.language import Declaration
from coherently.proofcheck.truth_functions import StateSpace, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Choice, Events
    from coherently.proofcheck.language import Step
    from coherently.proofcheck.truth_functions import Literal

LONGEST = 2**31
"""Number of characters of the longest text; the panel has read all of them already."""
THRESHOLDS = ("<", "<=", ">", ">=")
SHORT_NUMBER = re.compile(r"-?\d{1,8}(\.\d{1,6})?")
"""Numbers that are equal as floats only if they are equal."""
DAYS_TO_EPOCH = 719163
"""The number of 1970-01-01 among the days from 0001-01-01, which is 1, as the checker counts."""


class LateVariable(Variable):
    """A declared variable: how many states it has is known at once, which they are when somebody asks."""

    def __init__(self, choice: Choice, compared: list[tuple[str, tuple[str, ...]]]) -> None:
        self.name, self.declaration = choice.name, _declaration(choice)
        self.choice, self.is_open, self.compared = choice, True, compared

    def count(self) -> NDArray[np.bool_]:
        """Find the number of states; the truths of the solver's variables in the last one."""
        assert self.declaration is not None
        relations, values = {one for one, _ in self.compared}, [one for _, told in self.compared for one in told]
        if self.declaration.kind == "number" and relations.issubset(THRESHOLDS):
            if all(map(SHORT_NUMBER.fullmatch, values)):
                self.size = len({(float(told[0]), one in ("<=", ">")) for one, told in self.compared}) + 1
                return np.zeros(len(self.choice.atoms), np.bool_)
        elif self.declaration.kind == "named" and relations <= {"=", "!="}:
            every, named = self.declaration.values, set(values)
            rest = [value for value in every if value not in named]
            self.size = len(named) + bool(rest)
            last = next(value for value in reversed(every) if value in named or value == rest[0])
            return np.asarray(self.choice.at == every.index(last))
        self.closed()
        return self._truths(self.samples[self.state_of.index(self.size - 1)])

    def _truths(self, sample: object) -> NDArray[np.bool_]:
        assert self.declaration is not None
        if self.declaration.kind == "named":
            return np.asarray(self.choice.at == self.declaration.values.index(str(sample)))
        value = float(sample) - (DAYS_TO_EPOCH if self.declaration.kind == "date" else 0)  # type: ignore[arg-type]
        return np.asarray((value < self.choice.at) | (self.choice.inclusive & (value == self.choice.at)))

    def closed(self) -> LateVariable:
        """The variable with its states."""
        if self.is_open:
            self.is_open = False
            super().__init__(self.name, self.declaration, self.compared)
        return self

    def states_where(self, relation: str = "", values: tuple[str, ...] = ()) -> frozenset[int]:
        """The states in which a comparison holds."""
        return Variable.states_where(self.closed(), relation, values)


class NumberedSpace(StateSpace):
    """The checker's variables, and how the solver's Boolean variables belong to them.

    `owner` has the checker's number of the variable of each Boolean one (-1 if no text mentions it), `plain` says
    which are such variables themselves, and `last` has the truth of each in the last states of all variables.
    `sizes` has, for each text, the binary logarithm of the number of combinations of states of what it mentions.
    """

    def __init__(self, events: Events, texts: Sequence[str], names: Sequence[str] = ()) -> None:
        super().__init__([], [])
        clean, classes, _ = prepare(texts)
        compared = dict[str, list[tuple[str, tuple[str, ...]]]]()
        mentions, starts, members = _core.mentions(clean, classes, LONGEST)
        choices = {one.name: one for one in events.choices()}  # of those with an atom
        for name, (relation, *values) in ((name, told) for name, told in mentions if told):
            if name not in choices:
                choices = {one.name: one for one in events.declarations()}
            compared.setdefault(name, []).append((relation, tuple(values)))
        for name in (*(name for name, _ in mentions), *names):
            if name not in self.number:
                self.number[name] = len(self.variables)
                own = compared.get(name)
                self.variables.append(Variable(name, None, [()]) if own is None else LateVariable(choices[name], own))
        self._join(events)
        about = np.array([self.number[name] for name, _ in mentions], np.int64)[members]
        text = np.repeat(np.arange(len(clean)), np.diff(starts))
        text, about = np.divmod(np.unique(text * len(self.variables) + about), max(1, len(self.variables)))
        sizes = np.log2([float(one.size) for one in self.variables])
        self.sizes = np.bincount(text, sizes[about], len(clean))

    def _join(self, events: Events) -> None:
        names, count = events.variables, events.n_variables
        self.owner, self.plain, self.last = np.full(count, -1), np.ones(count, np.bool_), np.ones(count, np.bool_)
        self.plain[_joined([choice.atoms for choice in events.choices()])] = False
        for v in np.flatnonzero(self.plain).tolist():
            self.owner[v] = self.number.get(names[v], -1)
        late = [(i, one) for i, one in enumerate(self.variables) if isinstance(one, LateVariable)]
        atoms = _joined([one.choice.atoms for _, one in late])
        self.owner[atoms] = np.repeat(
            np.array([i for i, _ in late], np.int64), [len(one.choice.atoms) for _, one in late]
        )
        self.last[atoms] = _joined([one.count() for _, one in late])

    def literal(self, step: Step) -> Literal:
        """What a step about one variable says."""
        variable = self.variables[self.number[str(step[1])]]
        if isinstance(variable, LateVariable):
            variable.closed()
        return super().literal(step)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int32)


def _declaration(choice: Choice) -> Declaration:
    if choice.kind != "named":
        return Declaration(choice.name, choice.kind)
    return Declaration(choice.name, "named", tuple("other" if value is None else value for value in choice.values))
