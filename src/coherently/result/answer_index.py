"""What a result says of some variables, looked up: its components and its worlds, each at the cost of its own size."""

from __future__ import annotations

from copy import deepcopy
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.component_index import ComponentIndex
from coherently.result.answer_worlds import join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Events, Reading
    from coherently.problem import Merged
    from coherently.result.result import Result
    from coherently.solve import Worlds


class AnswerIndex:
    """An index of a globally coherent result, made when somebody first asks for what it implies.

    Texts are read by a copy of the panel's table, which keeps their events but no variable that is new with them.
    """

    def __init__(self, panel_events: Events, merged: Merged, worlds: Sequence[Worlds]) -> None:
        self._original, self._lock = panel_events, Lock()
        self._events: Events | None = None
        self._worlds, self.components = worlds, ComponentIndex.of(merged)
        self._number = np.full(panel_events.n_variables, -1, np.int64)
        self._number[merged.origin] = np.arange(merged.n_variables)
        self._part = np.full(merged.n_variables, -1, np.int64)
        for i, part in enumerate(worlds):
            self._part[part.variables] = i

    def read(self, event: str) -> tuple[Reading, Events] | None:
        """Read a text; None if it is about variables that the panel does not have."""
        with self._lock:
            if self._events is None:
                self._events = deepcopy(self._original)
            events, count = self._events, self._original.n_variables
            reading = events.add([event])
            if events.n_variables != count:
                self._events = None
                return None
            return reading, events

    def numbers(self, variables: NDArray[np.integer]) -> NDArray[np.int64] | None:
        """The problem's numbers of the panel's variables; None if nothing that was solved is about one of them."""
        number: NDArray[np.int64] = self._number[variables]
        if (number < 0).any() or (self.components.home[number] < 0).any():
            return None
        return number

    def mixture(self, variables: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
        """The mixture over some variables of the problem: shares and worlds; None if it does not assign all."""
        own = self._part[variables]
        if (own < 0).any():
            return None
        parts = [self._worlds[i] for i in np.unique(own).tolist()]
        share, rows = join(parts)
        known = np.zeros((len(share), len(variables)), np.bool_)
        for part, row in zip(parts, rows, strict=True):
            order = np.argsort(part.variables)
            place = np.minimum(np.searchsorted(part.variables, variables, sorter=order), len(order) - 1)
            column = order[place]
            mine = part.variables[column] == variables
            known[:, mine] = part.truth[row][:, column[mine]]
        distinct, number = np.unique(known, axis=0, return_inverse=True)
        return np.bincount(number.ravel(), share, len(distinct)).astype(np.float64), distinct


class Indexed:
    """A place for the index of a result, which is made once."""

    __slots__ = ("_index",)


def index_of(result: Result) -> AnswerIndex:
    """The index of a result."""
    known: AnswerIndex | None = getattr(result, "_index", None)
    if known is None:
        mixture = result.worlds
        assert mixture is not None
        known = AnswerIndex(result.panel.events, result.problem.merged, mixture.parts)
        object.__setattr__(result, "_index", known)
    return known
