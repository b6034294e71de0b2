"""The distribution over possible worlds behind a globally coherent result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.events import Events, Value
    from coherently.solve import Worlds

CELLS = 2**22
"""Maximum number of worlds times variables that are in memory together."""


@dataclass(frozen=True, eq=False)
class Mixture(Viewed):
    """Weighted worlds, which give every forecast event its probability; weights sum to 1.

    `parts` are the independent components, each with worlds of its own variables, and `names` has the text of each
    variable: its name or, for a declared variable, a comparison such as "winner = Ann". Together they assign every
    variable that the panel mentions: variables that no forecast is connected to have a part whose worlds obey the laws
    and pins about them. Iterating joins the parts: it walks their cumulative weights together, so there are at most as
    many joint worlds as worlds of all parts. A world has the value of each variable: true or false, a named value (None
    is the unnamed other), or a number or a date between two thresholds.

    >>> import coherently as co
    >>> result = co.aggregate(co.Panel.from_records([("Ann", "p", 0.25), ("Ann", "q", 0.5)]), "exact")
    >>> for weight, world in result.worlds:
    ...     print(weight, world)
    0.5 {'p': False, 'q': False}
    0.25 {'p': False, 'q': True}
    0.25 {'p': True, 'q': True}
    """

    parts: Sequence[Worlds]
    events: Events
    origin: NDArray[np.int32]

    @cached_property
    def names(self) -> Sequence[str]:
        """The text of each variable."""
        texts = self.events.written_variables
        return [texts[v] for v in self.origin.tolist()]

    def __iter__(self) -> Iterator[tuple[float, dict[str, Value]]]:
        """Give each joint world, a dictionary from variables' names to values, with its weight."""
        weights, rows = join(self.parts)
        size = len(self.events.variables)
        step = max(1, CELLS // max(1, size))
        told = self.origin[np.concatenate([np.empty(0, np.int32), *(part.variables for part in self.parts)])]
        unused = {
            one.name: one.decode(np.empty(0, np.bool_)) for one in self.events.declarations() if not len(one.atoms)
        }
        for begin in range(0, len(weights), step):
            stretch = slice(begin, begin + step)
            truth = np.zeros((len(weights[stretch]), size), np.bool_)
            for part, own in zip(self.parts, rows, strict=True):
                truth[:, self.origin[part.variables]] = part.truth[own[stretch]]
            for weight, world in zip(weights[stretch].tolist(), self.events.worlds(truth, told), strict=True):
                yield weight, {**world, **unused}

    def __repr__(self) -> str:
        worlds = counted(sum(len(part.weight) for part in self.parts), "world")
        return f"<Mixture: {worlds} in {counted(len(self.parts), 'part')} over {counted(len(self.names), 'variable')}>"


def join(parts: Sequence[Worlds]) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """Walk the cumulative weights of independent parts together.

    Returns the weights of the joint worlds and, for each part, its row in each of them. Sums that are above 1 by
    rounding count as 1, and a world that begins there is in no joint world.
    """
    ends = [np.append(np.minimum(np.cumsum(part.weight)[:-1], 1.0), 1.0) for part in parts]
    cuts = np.unique(np.concatenate([[0.0, 1.0], *ends]))
    return np.diff(cuts), [np.searchsorted(end, cuts[1:]) for end in ends]
