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


@pytest.mark.parametrize("seed", range(60))
def test_what_counts_and_tables_entail(seed):
    """Questions of both kinds; facts that leave worlds, and facts that leave none."""
    functions, truth, kept = drawn(seed)
    own = np.random.default_rng(seed)
    rows = [np.sort(own.choice(N, int(own.integers(1, 5)), replace=False)) for _ in range(30)]
    tables = [table_of(own, len(row)) for row in rows]
    holding = list(holds(rows, tables, WORLDS).T.astype(bool))
    words = [pack(table) for table in tables]
    for _ in range(5):
        rows.append(np.sort(own.choice(N, 17, replace=False)))
        polarity, allowed = own.integers(0, 2, 17), np.r_[own.integers(0, 2, 17), 1]
        words.append(np.concatenate([pack(polarity), pack(allowed)]))
        holding.append(allowed[(WORLDS[:, rows[-1]] == polarity).sum(axis=1)] == 1)
    questions = _core.Functions(
        N,
        np.cumsum([0, *map(len, rows)]),
        np.concatenate(rows).astype(np.int32),
        np.cumsum([0, *map(len, words)]),
        np.concatenate(words),
    )
    possible, found = _core.entailed(_core.Functions(*functions), truth, questions, *NONE, 10**6)
    assert possible == kept.any()
    if possible:
        expected = [int(one[kept][0]) if len(set(one[kept].tolist())) == 1 else -1 for one in holding]
        assert found.tolist() == expected
