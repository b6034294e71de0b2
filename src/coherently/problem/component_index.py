"""The components of a problem by their numbers and variables: some of them are taken out at the cost of their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.problem.parts import Part, homes
from coherently.problem.problem import Merged
from coherently.problem.spaces.space import FREE, Space
from coherently.problem.terms import NO_TERMS
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LabelledRows(NamedTuple):
    """Numbers by their labels: those of label i are `items[starts[i]:starts[i + 1]]`, ascending."""

    starts: NDArray[np.int64]
    items: NDArray[np.int64]

    @staticmethod
    def of(label: NDArray[np.integer], count: int) -> LabelledRows:
        """The numbers of each of the labels from 0 to `count`; others are left out.

        >>> LabelledRows.of(np.array([1, 0, 1, -1]), 2).all([1]).tolist()
        [0, 2]
        """
        order = np.argsort(label, kind="stable")
        starts = np.searchsorted(label[order], np.arange(count + 1))
        return LabelledRows(starts - starts[0], order[starts[0] : starts[-1]])

    def all(self, labels: list[int]) -> NDArray[np.int64]:
        """The numbers of some labels, ascending."""
        found = [self.items[self.starts[i] : self.starts[i + 1]] for i in labels]
        return found[0] if len(found) == 1 else np.sort(np.concatenate(found))


@dataclass(frozen=True, slots=True, eq=False)
class ComponentIndex(Value):
    """The coordinates, variables, blocks and laws of each component; `home` is the component of a variable, or -1."""

    merged: Merged
    home: NDArray[np.int64]
    coordinates: LabelledRows
    variables: LabelledRows
    blocks: LabelledRows
    laws: LabelledRows

    @staticmethod
    def of(merged: Merged) -> ComponentIndex:
        """Index the components of a problem."""
        tied = merged.tied()
        home, size, blocks = homes(merged, tied), len(merged), len(merged.space.blocks)
        count = int(tied[:size].max(initial=-1)) + 1
        cuts = (tied[:size], home, tied[size : size + blocks], tied[size + blocks :])
        return ComponentIndex(merged, home, *(LabelledRows.of(label, count) for label in cuts))

    def part(self, components: list[int]) -> Part:
        """Some components together, as `split` would give them if something tied them."""
        merged, space = self.merged, self.merged.space
        mine, used = self.coordinates.all(components), self.variables.all(components)

        def numbered(variables: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.searchsorted(used, variables).astype(np.int32)

        functions, laws = merged.functions.take(mine), space.laws.take(self.laws.all(components))
        blocks = [space.blocks[i] for i in self.blocks.all(components).tolist()]
        own = Space(
            tuple(block.renumbered(numbered(block.variables)) for block in blocks),
            laws.renumbered(numbered(laws.variables)),
        )
        terms = NO_TERMS
        if len(merged.terms):
            number = np.full(len(merged), -1, np.int64)
            number[mine] = np.arange(len(mine))
            terms = merged.terms.part(number)
        part = Merged(
            event=merged.event[mine],
            weight=merged.weight[mine],
            mean=merged.mean[mine],
            functions=functions.renumbered(numbered(functions.variables)),
            origin=used.astype(np.int32),
            space=FREE if own.is_free else own,
            terms=terms,
        )
        return Part(mine, part)
