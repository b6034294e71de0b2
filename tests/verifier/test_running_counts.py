"""The verifier's own elimination of variables, with counts, against lists of all worlds."""

import math

import numpy as np
import pytest

import coherently as co
from coherently.verifier.running_counts import Addend, least_sum
from tests.verifier.test_verify import refused
from tests.verifier.test_verify_claims import with_bound

SIZE = 9
WORLDS = (np.arange(2**SIZE)[:, None] >> np.arange(SIZE) & 1).astype(np.int64)


def value(addend):
    """The values of a function in all worlds, by its definition."""
    index = []
    for argument in addend.arguments:
        if isinstance(argument, int):
            index.append(WORLDS[:, argument])
        else:
            index.append(sum((WORLDS[:, own // 2] != own % 2).astype(np.int64) for own in argument))
    return addend.values[tuple(index)] if index else np.full(len(WORLDS), float(addend.values))


def drawn(rng):
    found = []
    for _ in range(int(rng.integers(1, 5))):
        some = rng.choice(SIZE, int(rng.integers(2, SIZE + 1)), replace=False)
        turned = rng.random(len(some)) < rng.choice([0.0, 0.4])
        literals = frozenset((2 * some + turned).tolist())
        values = rng.normal(size=len(some) + 1)
        found.append(Addend((literals,), np.where(rng.random(len(values)) < 0.1, np.inf, values)))
    for _ in range(int(rng.integers(0, 7))):
        some = rng.choice(SIZE, int(rng.integers(1, 4)), replace=False).tolist()
        found.append(Addend(tuple(some), rng.normal(size=(2,) * len(some))))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_the_least_sum_is_that_of_the_best_world(seed):
    addends = drawn(np.random.default_rng(seed))
    least = sum(value(addend) for addend in addends).min()
    assert least_sum(addends) == pytest.approx(least, abs=1e-12)


def test_functions_that_would_be_too_large_are_left():
    rng = np.random.default_rng(0)
    sets = [frozenset((2 * rng.choice(60, 30, replace=False)).tolist()) for _ in range(9)]
    assert math.isnan(least_sum([Addend((own,), rng.normal(size=31)) for own in sets]))


def panel_of(n, laws=()):
    rng = np.random.default_rng(n)
    names = [f"v{i}" for i in range(n)]
    rows = [("A", f"at_least({k}; {', '.join(names)})", float(rng.random())) for k in (n // 3, n // 2)]
    return co.Panel.from_records(rows + [("A", name, float(rng.random())) for name in names], laws=list(laws))


@pytest.mark.parametrize(
    "laws",
    [
        (),
        ["v0 -> v1", "v1 | v2"],
        ["at_most(20; " + ", ".join(f"v{i}" for i in range(40)) + ")"],
        ["variable w: X, Y, Z", "w = X -> v0", "w = Y | v1"],
        ["variable r: number", "r < 2 -> v0", "r < 3 | v1", "r >= 5 -> v2"],
    ],
)
def test_a_bound_over_many_worlds_is_proved_again_and_a_raised_one_is_refused(laws):
    panel = panel_of(40, laws)
    result = co.aggregate(panel, co.Exact())
    checked = co.verify(panel, result)
    assert checked
    assert checked.bound_rests_on == ["own elimination of variables"]
    assert not any("too many worlds" in words for words in checked.unchecked)
    refused(panel, with_bound(result, result.objective + 1e-6), "coherent forecasts reach")


def test_a_forged_bound_of_a_poor_answer_is_not_proved():
    panel = panel_of(40)
    poor = co.aggregate(panel, co.Exact(time_limit=0))
    best = co.aggregate(panel, co.Exact())
    assert poor.objective > best.objective + 1e-6
    checked = co.verify(panel, with_bound(poor, poor.objective))
    assert checked.bound_rests_on != ["own elimination of variables"]
    assert any("lower bound of component 0" in words for words in checked.unchecked)
