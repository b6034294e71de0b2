"""The distribution over possible worlds behind a globally coherent result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.solve import Worlds


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Weighted worlds, which give every forecast event its probability; weights sum to 1.

    `parts` are the independent components, each with worlds of its own variables, and `names` the name of each
    variable. Iterating joins the parts: their cumulative weights are walked together, so that there are at most as
    many joint worlds as worlds of all parts.

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

    def __iter__(self) -> Iterator[tuple[float, dict[str, bool]]]:
        """Give each joint world with its weight, from the variables' names to their truth."""
        ends = [np.cumsum(part.weight) for part in self.parts]
        for end in ends:
            end[-1] = 1.0
        cuts = np.unique(np.concatenate([[0.0], *ends]))
        rows = [np.searchsorted(end, cuts[1:]).tolist() for end in ends]
        for number, weight in enumerate(np.diff(cuts).tolist()):
            world: dict[str, bool] = {}
            for part, row in zip(self.parts, rows, strict=True):
                truth = part.truth[row[number]].tolist()
                world.update((self.names[v], value) for v, value in zip(part.variables.tolist(), truth, strict=True))
            yield weight, {name: world[name] for name in self.names}

    def __repr__(self) -> str:
        worlds = sum(len(part.weight) for part in self.parts)
        return f"<Mixture: {worlds:,} worlds in {len(self.parts):,} parts over {len(self.names):,} variables>"
