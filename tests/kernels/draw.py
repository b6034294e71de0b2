"""Random sums of Boolean functions for the compiled core, and what brute force over all worlds says of them."""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import nnls

from coherently import _core
from coherently.problem.spaces.space import Block, LawFunctions, Space
from coherently.solve.worlds.lawful import without_witness


@dataclass(frozen=True)
class Sum:
    """Functions of numbered variables, each false where all its variables are, in the worlds of a space."""

    n: int
    variables: list
    tables: list
    space: Space = field(default_factory=Space)

    @property
    def handle(self):
        """As the kernels take them."""
        return _core.Functions(*self.arrays)

    @property
    def arrays(self):
        """As the core takes them: the number of variables, then rows of variables and of words."""
        words = [pack(table) for table in self.tables]
        return (
            self.n,
            np.cumsum([0, *map(len, self.variables)]),
            np.concatenate([np.empty(0, np.int32), *self.variables]).astype(np.int32),
            np.cumsum([0, *map(len, words)]),
            np.concatenate([np.empty(0, np.uint64), *words]),
        )

    @property
    def n_variables(self):
        return self.n

    def __len__(self):
        return len(self.variables)

    def core_space(self):
        """The space with a world to begin with; None where every truth assignment is possible."""
        if self.space.is_free:
            return None
        space = without_witness(self.space, self.n)
        assert space.find_witness()
        return space

    def truth(self, worlds):
        """The truth of each function in each world."""
        return holds(self.variables, self.tables, worlds)

    def worlds(self):
        """Every world that the space allows, by definition of its blocks and laws."""
        every = all_worlds(self.n)
        kept = np.ones(len(every), bool)
        for block in self.space.blocks:
            states = {tuple(row) for row in block.states.tolist()}
            kept &= [tuple(row) in states for row in every[:, block.variables].tolist()]
        laws = self.space.laws
        for i in range(len(laws)):
            table = unpack(laws.tables[laws.table_starts[i] : laws.table_starts[i + 1]])
            kept &= holds([laws.of(i)], [table], every)[:, 0] == laws.truth[i]
        return every[kept]


def all_worlds(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.uint8)


def holds(variables, tables, worlds):
    rows = [worlds[:, own].astype(np.int64) @ (1 << np.arange(len(own))) for own in variables]
    return np.array([np.asarray(table)[row] for table, row in zip(tables, rows, strict=True)]).T.reshape(
        len(worlds), len(tables)
    )


def pack(table):
    bits = np.zeros(-(-len(table) // 64) * 64, np.uint8)
    bits[: len(table)] = table
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def unpack(words):
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")


def table_of(rng, size):
    """A function of so many variables, all of which matter, that is false where all of them are."""
    while True:
        table = rng.integers(0, 2, 2**size)
        table[0] = 0
        grid = table.reshape((2,) * size)
        if all((np.take(grid, 0, axis) != np.take(grid, 1, axis)).any() for axis in range(size)):
            return table


def draw(rng, n, count, most=2, near=None):
    """Each variable alone, and functions of one to `most` variables; with `near`, of so many neighbours in a ring."""
    variables = [np.array([v]) for v in range(n)]
    for _ in range(count):
        size = int(rng.integers(1, min(most, n) + 1))
        if near is None:
            own = rng.choice(n, size, replace=False)
        else:
            own = (rng.integers(n) + rng.choice(min(near, n), min(size, near, n), replace=False)) % n
        variables.append(np.sort(own))
    return Sum(n, variables, [table_of(rng, len(own)) for own in variables])


def with_laws(rng, some, blocks=1, laws=2, largest=2):
    """The same in the worlds of a few blocks and laws, which leave some."""
    while True:
        free, own = rng.permutation(some.n), []
        for _ in range(blocks):
            size = int(rng.integers(2, 4))
            if len(free) < size:
                break
            taken, free = np.sort(free[:size]), free[size:]
            kind = rng.integers(3)
            own.append(Block.chain(taken) if kind == 2 else Block.one_of(taken, complete=bool(kind)))
        rows = [np.sort(rng.choice(some.n, int(rng.integers(1, largest + 1)), replace=False)) for _ in range(laws)]
        tables = [pack(table_of(rng, len(row))) for row in rows]
        functions = LawFunctions(
            starts=np.cumsum([0, *map(len, rows)]),
            variables=np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32),
            table_starts=np.cumsum([0, *map(len, tables)]),
            tables=np.concatenate([np.empty(0, np.uint64), *tables]),
            truth=rng.random(laws) < 0.5,
        )
        found = Sum(some.n, some.variables, some.tables, Space(tuple(own), functions))
        if len(found.worlds()):
            return found


def unchecked_space(some):
    """The space as the core has it, before a world in it was looked for."""
    return without_witness(some.space, some.n)


def nearest(truth, weight, target):
    """The point of the hull of some rows with the least weighted squared distance, and that distance.

    Lawson and Hanson's method, with the sum of the shares as one more heavy row.
    """
    root = np.sqrt(weight)
    heavy = 1e3 * max(1.0, root.max(initial=0.0))
    rows = np.vstack([root[:, None] * truth.T, np.full((1, len(truth)), heavy)])
    share, _ = nnls(rows, np.append(root * target, heavy), maxiter=10**6)
    x = share / share.sum() @ truth
    return x, distance(x, weight, target)


def distance(x, weight, target):
    return float(np.sum(weight * (x - target) ** 2))
