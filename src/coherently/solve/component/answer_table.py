"""The answers for all components of a problem, as arrays; an object for one of them is made on demand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.component.answer import Answer, Ended
from coherently.solve.facts import Coherence, Proof, Route
from coherently.solve.lazy_tuple import LazyTuple
from coherently.solve.solution import Component, LazyWorlds, Worlds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth, Vector

NO_INDICES = np.empty(0, np.int64)


class ComponentRows(NamedTuple):
    """Numbers that belong to components: those of component i are `items[starts[i]:starts[i + 1]]`, ascending."""

    starts: Indices
    items: NDArray[np.int32]

    def of(self, i: int) -> NDArray[np.int32]:
        """The numbers of one component."""
        return self.items[self.starts[i] : self.starts[i + 1]]

    def sizes(self) -> Indices:
        """How many each component has."""
        return np.diff(self.starts)

    def sums(self, values: Vector) -> Vector:
        """The sum of values over each component; none may be empty."""
        return np.add.reduceat(values[self.items], self.starts[:-1]) if len(self.items) else np.empty(0)

    def most(self, values: Vector) -> Vector:
        """The largest value in each component; none may be empty."""
        return np.maximum.reduceat(values[self.items], self.starts[:-1]) if len(self.items) else np.empty(0)


class TabledWorlds(NamedTuple):
    """Worlds with shares, one component after the other: `truth` has one row per world, of its variables."""

    starts: Indices
    share: Vector
    truth_starts: Indices
    truth: Truth

    def of(self, i: int) -> tuple[Vector, Truth]:
        """The shares and the worlds of one component."""
        share = self.share[self.starts[i] : self.starts[i + 1]]
        return share, self.truth[self.truth_starts[i] : self.truth_starts[i + 1]].reshape(len(share), -1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AnswerTable:
    """Answers for components, with one entry per component in each array (see `Answer`).

    `events` and `variables` say which coordinates and variables of the problem belong to which component; `x` has one
    entry per coordinate. `others` are answers of the general method; all other components were `tabled`, those whose
    forecasts are alone or squared distances, `enumerated`, without Newton's method.
    """

    events: ComponentRows
    variables: ComponentRows
    x: Vector
    objective: Vector
    bound: Vector
    saved: Vector
    shortfall: Vector
    steps: Indices
    enumerated: Mask
    mixtures: TabledWorlds
    others: Mapping[int, Answer] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.objective)

    def with_others(self, others: Mapping[int, Answer]) -> AnswerTable:
        """The same with answers of the general method for some components."""
        if not others:
            return self
        x, place = self.x.copy(), np.fromiter(others, np.int64, len(others))
        columns = {name: getattr(self, name).copy() for name in ("objective", "bound", "saved", "shortfall", "steps")}
        for name, column in columns.items():
            column[place] = [getattr(answer, name) for answer in others.values()]
        for i, answer in others.items():
            x[self.events.of(i)] = answer.x
        return replace(self, x=x, others={**self.others, **others}, **columns)

    def __iter__(self) -> Iterator[Answer]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, i: int) -> Answer:
        if i in self.others:
            return self.others[i]
        share, worlds = self.mixtures.of(i)
        return Answer(
            share=share,
            rows=worlds,
            x=self.x[self.events.of(i)],
            objective=float(self.objective[i]),
            bound=float(self.bound[i]),
            route=self._route(i),
            proof=Proof.ALL_WORLDS,
            ended=Ended.PROVED,
            violation=0.0,
            saved=float(self.saved[i]),
            shortfall=float(self.shortfall[i]),
            degenerate=NO_INDICES,
            steps=int(self.steps[i]),
        )

    def worlds(self) -> LazyWorlds:
        """The worlds of each component, with variables of the problem."""
        return LazyWorlds(len(self), self._worlds, variables=self.variables.items, probability=self.x)

    def components(self) -> LazyTuple[Component]:
        """What was done about each component."""
        return LazyTuple(len(self), self._component)

    def _route(self, i: int) -> Route:
        return Route.ENUMERATION if self.enumerated[i] else Route.NEWTON

    def _worlds(self, i: int) -> Worlds:
        share, truth = (self.others[i].share, self.others[i].worlds) if i in self.others else self.mixtures.of(i)
        return Worlds(self.variables.of(i), share, truth.view(np.bool_))

    def _component(self, i: int) -> Component:
        other, objective = self.others.get(i), float(self.objective[i])
        route, proof = (self._route(i), Proof.ALL_WORLDS) if other is None else (other.route, other.proof)
        return Component(
            variables=len(self.variables.of(i)),
            events=len(self.events.of(i)),
            coherence=Coherence.GLOBAL,
            route=route,
            proof=proof,
            objective=objective,
            lower_bound=min(objective, float(self.bound[i])),
        )
