"""The distribution over possible worlds behind a globally coherent result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.events import Events, Value
    from coherently.solve import Worlds

CELLS = 2**22
"""Worlds times variables that are held at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Weighted worlds, which give every forecast event its probability; weights sum to 1.

    `parts` are the independent components, each with worlds of its own variables, and `names` the text of each
    variable: its name or, of a declared variable, a comparison such as "winner = Ann". Iterating joins the parts: their
    cumulative weights are walked together, so that there are at most as many joint worlds as worlds of all parts. A
    world tells the value of each variable: true or false, a named value (None is the unnamed other), or a number or a
    date between two thresholds.

    >>> import coherently as co
    >>> result = co.aggregate(co.Panel.from_records([("Ann", "p", 0.25), ("Ann", "q", 0.5)]), "exact")
    >>> for weight, world in result.worlds:
    ...     print(weight, world)
    0.5 {'p': False, 'q': False}
    0.25 {'p': False, 'q': True}
    0.25 {'p': True, 'q': True}
    """

    parts: tuple[Worlds, ...]
    names: Sequence[str]
    events: Events
    origin: NDArray[np.int32]

    def __iter__(self) -> Iterator[tuple[float, dict[str, Value]]]:
        """Give each joint world with its weight, from the variables' names to their values."""
        ends = [np.cumsum(part.weight) for part in self.parts]
        for end in ends:
            end[-1] = 1.0
        cuts = np.unique(np.concatenate([[0.0], *ends]))
        weights = np.diff(cuts)
        size = len(self.events.variables)
        step = max(1, CELLS // max(1, size))
        known = self._known()
        for begin in range(0, len(weights), step):
            middle = cuts[1:][begin : begin + step]
            rows = np.zeros((len(middle), size), np.bool_)
            for part, end in zip(self.parts, ends, strict=True):
                rows[:, self.origin[part.variables]] = part.truth[np.searchsorted(end, middle)]
            for weight, world in zip(weights[begin : begin + step].tolist(), self.events.worlds(rows), strict=True):
                yield weight, {name: value for name, value in world.items() if name in known}

    def _known(self) -> set[str]:
        """The names of the variables that the worlds tell the values of."""
        own = set(self.origin.tolist())
        choices = self.events.choices()
        atoms = {atom for choice in choices for atom in choice.atoms.tolist()}
        names = self.events.variables
        told = {choice.name for choice in choices if own.issuperset(choice.atoms.tolist())}
        return told | {names[v] for v in own - atoms}

    def __repr__(self) -> str:
        worlds = sum(len(part.weight) for part in self.parts)
        return f"<Mixture: {worlds:,} worlds in {len(self.parts):,} parts over {len(self.names):,} variables>"
