"""Laws that hold together, or the claim that none do, against all worlds: tables, and counts of many variables."""

import numpy as np
import pytest

from coherently import _core
from tests.kernels.draw import all_worlds, holds, pack, table_of

N = 18
WORLDS = all_worlds(N)
NONE = (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0, np.uint8))


def drawn(seed):
    """Counts with gaps of 17 or 18 literals, and small tables, each with the truth it must have."""
    rng = np.random.default_rng(seed)
    variables, words, kept = [], [], np.ones(len(WORLDS), bool)
    truth = []
    for _ in range(int(rng.integers(1, 4))):
        own = np.sort(rng.choice(N, int(rng.integers(17, N + 1)), replace=False))
        polarity = rng.integers(0, 2, len(own))
        allowed = (rng.random(len(own) + 1) < rng.choice([0.1, 0.2, 0.4])).astype(int)
        wanted = int(rng.random() < 0.7)
        variables.append(own)
        words.append(np.concatenate([pack(polarity), pack(allowed)]))
        truth.append(wanted)
        kept &= allowed[(WORLDS[:, own] == polarity).sum(axis=1)] == wanted
    for _ in range(int(rng.integers(2, 14))):
        own = np.sort(rng.choice(N, int(rng.integers(2, 5)), replace=False))
        table = table_of(rng, len(own))
        variables.append(own)
        words.append(pack(table))
        truth.append(int(rng.random() < 0.5))
        kept &= holds([own], [table], WORLDS)[:, 0] == truth[-1]
    functions = (
        N,
        np.cumsum([0, *map(len, variables)]),
        np.concatenate(variables).astype(np.int32),
        np.cumsum([0, *map(len, words)]),
        np.concatenate(words),
    )
    return functions, np.array(truth, np.uint8), kept


@pytest.mark.parametrize("seed", range(60))
def test_counts_and_tables_together(seed):
    functions, truth, kept = drawn(seed)
    for known in (
        np.full(N, -1, np.int8),
        np.where(np.arange(N) < 4, seed >> np.arange(N) % 4 & 1, -1).astype(np.int8),
    ):
        fits = kept & ((known < 0) | (known == WORLDS)).all(axis=1)
        world = _core.satisfy(_core.Functions(*functions), truth, *NONE, known)
        assert (world is not None) == fits.any()
        if world is not None:
            assert fits[int(world.astype(np.int64) @ (1 << np.arange(N)))]
