"""Branch and bound with a semidefinite bound: what it proves, against brute force over all worlds.

The cutoff is fixed, so it does not matter whether a search finds the best world first: below a high cutoff lie many
worlds, and each of them must be met.
"""

import numpy as np
import pytest

from coherently import _core
from tests.kernels.draw import Sum, draw, with_laws
from tests.kernels.test_worlds import FOREVER, drawn, oracle_of, rows, sums

ROUNDING = 1e-11


def prove(oracle):
    outcome = "unfinished"
    while outcome == "unfinished":
        outcome = oracle.prove(FOREVER)
    return outcome


def cutoffs(values):
    """Far below the least sum, just at it, between sums, and above all."""
    low, high = values.min(), values.max()
    span = max(high - low, 1.0)
    return [low - span, low - 1e-6 * span, *(low + share * span for share in (1e-6, 0.1, 0.3, 0.6)), high + span]


@pytest.mark.parametrize("seed", range(60))
def test_every_world_below_the_cutoff_is_met(seed):
    # A tree of at most 8 variables has fewer nodes than are waited for, so it is searched to its end.
    some, coefficients = drawn(seed, laws=False, most=2, n=1 + seed % 8)
    values = sums(some, coefficients)
    oracle = oracle_of(some, seed)
    for cutoff in cutoffs(values):
        oracle.set(coefficients)
        oracle.start_proof(cutoff)
        assert oracle.bound() <= min(cutoff, values.min()) + ROUNDING
        outcome = prove(oracle)
        assert outcome == ("better" if values.min() < cutoff else "proved")
        assert rows(oracle.better()) == rows(some.worlds()[values < cutoff])
        assert oracle.bound() == pytest.approx(min(cutoff, values.min()), abs=ROUNDING)


@pytest.mark.parametrize("n", [10, 12, 14])
@pytest.mark.parametrize("seed", range(6))
def test_larger_trees_prove_no_more_than_holds(n, seed):
    rng = np.random.default_rng(seed)
    some = draw(rng, n, n * n // 2)
    coefficients = rng.normal(size=len(some))
    values = sums(some, coefficients)
    oracle = oracle_of(some, seed)
    for cutoff in cutoffs(values):
        oracle.set(coefficients)
        oracle.start_proof(cutoff)
        assert oracle.bound() <= values.min() + ROUNDING
        assert prove(oracle) == ("better" if values.min() < cutoff else "proved")
        assert oracle.bound() <= min(cutoff, values.min()) + ROUNDING
        assert rows(oracle.better()) <= rows(some.worlds()[values < cutoff])
        if len(oracle.better()) < 2:
            assert oracle.bound() == pytest.approx(min(cutoff, values.min()), abs=ROUNDING)


@pytest.mark.parametrize("seconds", [0.0, FOREVER])
@pytest.mark.parametrize("seed", range(40))
def test_the_first_bound_holds_and_is_near(seed, seconds):
    # Of two or three variables the relaxation is all but exact, so that a little too much shows.
    rng = np.random.default_rng(seed)
    some = draw(rng, 2 + seed % 5, 12)
    oracle = oracle_of(some, seed)
    for coefficients in rng.normal(size=(10, len(some))):
        values = sums(some, coefficients)
        oracle.set(coefficients)
        span = values.max() - values.min()
        oracle.start_proof(values.min() + 0.01 * span, seconds)
        assert oracle.bound() <= values.min() + 1e-13 * np.abs(coefficients).sum()
        assert not seconds or oracle.bound() >= values.min() - 0.5 * span


def links(rng, n, kind):
    """Which of two variables differ, along a tree, a ring or all pairs."""
    edges = {
        "tree": [(int(rng.integers(v)), v) for v in range(1, n)],
        "ring": [(v, v + 1) for v in range(n - 1)] + ([(0, n - 1)] if n > 2 else []),
        "all": [(a, b) for a in range(n) for b in range(a + 1, n)],
    }[kind]
    return Sum(n, [np.array(edge) for edge in edges], [np.array([0, 1, 1, 0])] * len(edges))


@pytest.mark.parametrize("kind", ["tree", "ring", "all"])
@pytest.mark.parametrize("seed", range(27))
def test_the_first_bound_holds_where_the_relaxation_is_tight(seed, kind):
    # Sums of differences without a pull on single variables: all false is the best, or any tree's best cut, and the
    # relaxed minimum is as low. A matrix that is a little less than semidefinite gives a bound above it.
    rng = np.random.default_rng(seed)
    some = links(rng, 2 + seed % 9, kind)
    oracle = oracle_of(some, seed)
    for coefficients in rng.normal(size=(5, len(some))):
        chosen = coefficients if kind == "tree" else np.abs(coefficients)
        least, total = sums(some, chosen).min(), np.abs(chosen).sum()
        oracle.set(chosen)
        for seconds in (0.0, FOREVER):
            oracle.start_proof(least + total, seconds)
            assert oracle.bound() <= least + 1e-13 * total
        assert oracle.bound() >= least - 0.2 * total


@pytest.mark.parametrize("seed", range(40))
def test_laws_are_kept_by_fines_that_cost_possible_worlds_nothing(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    some = with_laws(rng, draw(rng, n, 2 * n), int(rng.integers(0, 3)), int(rng.integers(0, 4)))
    if some.space.is_free:
        pytest.skip("no laws were drawn")
    coefficients = rng.normal(size=len(some))
    values, allowed = sums(some, coefficients), some.worlds()
    oracle = oracle_of(some, seed)
    assert oracle.can_prove()
    for cutoff in cutoffs(values):
        oracle.set(coefficients)
        oracle.start_proof(cutoff)
        assert oracle.bound() <= values.min() + ROUNDING
        prove(oracle)
        assert oracle.bound() <= min(cutoff, values.min()) + ROUNDING
        # Worlds that break laws may be met as well, but none that is possible is left out.
        assert rows(allowed[values < cutoff - 1e-9]) <= rows(oracle.better())
    # Raised again and again, the fines outweigh whatever breaking a law may gain.
    for _ in range(8):
        oracle.raise_fines()
    oracle.set(coefficients)
    oracle.start_proof(values.min() + 1e-6)
    assert prove(oracle) == "better"
    assert rows(oracle.better()) <= rows(allowed)
    assert oracle.bound() == pytest.approx(values.min(), abs=1e-9)


@pytest.mark.parametrize("share", [-1e-9, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(8))
def test_a_proof_that_is_stopped_bounds_what_is_left(seed, share):
    rng = np.random.default_rng(seed)
    some = draw(rng, 14, 120)
    coefficients = rng.normal(size=len(some))
    values = sums(some, coefficients)
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    oracle.start_proof(values.min() + share * (values.max() - values.min()))
    bounds = [oracle.bound()]
    outcome = "unfinished"
    while outcome == "unfinished":
        outcome = oracle.prove(0.0)  # which looks at a few nodes
        bounds.append(oracle.bound())
    assert outcome == ("proved" if share < 0 else "better")
    assert max(bounds) <= values.min() + ROUNDING
    if share < 0:
        assert (np.diff(bounds) >= -ROUNDING).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_on_nodes_ends_a_proof_at_the_same_node_however_it_is_sliced(seed):
    rng = np.random.default_rng(seed)
    some = links(rng, 30, "all")
    coefficients = rng.normal(size=len(some))

    def proof(seconds, slices, nodes):
        oracle = oracle_of(some, seed)
        oracle.set(coefficients)
        oracle.start_proof(oracle.value(oracle.search(20, FOREVER)) - 1e-3)
        outcomes = {oracle.prove(seconds, nodes) for _ in range(slices)}
        return outcomes, oracle.bound()

    few, bound = proof(FOREVER, 1, 30)
    assert few == {"unfinished"}
    assert proof(0.0, 10, 30) == (few, bound)
    outcome, end = proof(FOREVER, 1, 2**62)
    assert outcome == {"proved"}
    assert end > bound


@pytest.mark.parametrize("seed", range(8))
def test_a_large_proof_that_is_stopped_bounds_what_is_left(seed):
    rng = np.random.default_rng(seed)
    some = draw(rng, 40, 160, 2, near=5)
    coefficients = rng.normal(size=len(some))
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    least = oracle.value(oracle.eliminate())
    oracle.start_proof(least + np.abs(coefficients).sum())
    for _ in range(20):
        if oracle.prove(0.0) == "better":
            break
        assert oracle.bound() <= least + ROUNDING


def test_functions_of_three_variables_under_laws_cannot_be_proved():
    rng = np.random.default_rng(0)
    three = draw(rng, 5, 0)
    assert _core.WorldOracle(three.handle, 0).can_prove()
    lawful = with_laws(rng, draw(rng, 5, 20, 3), 0, 2)
    assert max(map(len, lawful.variables)) == 3
    assert not oracle_of(lawful).can_prove()
