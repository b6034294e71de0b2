"""The exact method under laws and with many-valued variables."""

import numpy as np

import coherently as co
from tests.problem.test_terms import under
from tests.solve import law_checks


def test_random_laws_agree_with_enumeration():
    assert law_checks.check_laws_agree(1, 40) <= 1e-7


def test_a_law_that_one_of_two_holds():
    panel = co.Panel.from_records([("A", "p", 0.6), ("A", "q", 0.3), ("A", "r", 0.2), ("B", "p & q", 0.4)])
    result = co.aggregate(under(panel, ["p -> q", "exactly(1; q, r)"]), "exact")
    np.testing.assert_allclose(result.frame()["probability"], [0.5, 0.55, 0.45, 0.5], atol=1e-12)
    assert result.status == "optimal"


def test_a_large_partition_is_projected_on_the_simplex():
    count = 300
    raw = np.random.default_rng(0).random(count) / 20
    names = [f"v{i}" for i in range(count)]
    panel = co.Panel.from_records([("A", name, float(p)) for name, p in zip(names, raw, strict=True)])
    result = co.aggregate(under(panel, [f"exactly(1; {', '.join(names)})"]))
    falling = np.sort(raw)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, count + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    np.testing.assert_allclose(result.frame()["probability"], np.maximum(raw - level, 0.0), atol=1e-12)
    assert result.gap <= 1e-12
