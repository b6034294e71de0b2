"""Texts read by several threads get the numbers that one thread gives them."""

from __future__ import annotations

import numpy as np
import pytest

from coherently import _core

LIMIT = 10_000
TURN = 16_384
"""Number of texts that threads share at a time."""


def draw(rng, count, names):
    """Formulas of few variables, among them broken ones, conditionals and comparisons."""
    forms = [
        "{a} & ~{b}",
        "{a} | {b}",
        "~{a}",
        "{a}",
        "{a} given {b}",
        "x < {n}",
        "x < {n} | {a}",
        "{a} &",
        "x",
        "{a} ^ {a}",
    ]
    picks = rng.choice(len(forms), count, p=[0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.03, 0.02, 0.05])
    a, b, n = rng.integers(names, size=count), rng.integers(names, size=count), rng.integers(30, size=count)
    rows = zip(picks.tolist(), a.tolist(), b.tolist(), n.tolist(), strict=True)
    return [forms[form].format(a=f"v{i}", b=f"v{j}", n=k) for form, i, j, k in rows]


def read(texts, threads):
    table = _core.EventTable()
    assert not table.declare(["variable x: number"], {}, False)
    sides, faults = table.add(texts, {}, LIMIT, threads)
    every = np.arange(len(table), dtype=np.int32)
    return sides, faults, table.names(), [*table.supports(every), *table.tables(every)]


@pytest.mark.parametrize("names", [50, 3_000, 1_000_000])
def test_numbers_do_not_depend_on_threads(names):
    texts = draw(np.random.default_rng(names), 3 * TURN + 77, names)
    one, *others = (read(texts, threads) for threads in (1, 2, 5))
    for other in others:
        assert np.array_equal(one[0], other[0])
        assert one[1:3] == other[1:3]
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(one[3], other[3], strict=True))


def test_texts_one_by_one_get_the_same_numbers():
    texts = draw(np.random.default_rng(7), 2 * TURN + 5, 200)
    table, sides = _core.EventTable(), []
    assert not table.declare(["variable x: number"], {}, False)
    for text in texts:
        sides += table.add([text], {}, LIMIT)[0].tolist()
    found = read(texts, 2)
    assert found[0].tolist() == sides
    assert found[2] == table.names()
