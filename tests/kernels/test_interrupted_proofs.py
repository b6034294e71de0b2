"""Branch and bound at every interruption, and margins of rounding where they decide, against exact arithmetic.

The bound of a proof that was stopped after any number of nodes, in whichever order these are visited, is at most the
least sum, never falls, and ends at the least sum. Sums are compared as fractions: a margin of rounding that is not
subtracted, or added, gives bounds above the least sum by less than any tolerance would notice.
"""

from fractions import Fraction

import numpy as np
import pytest

from coherently.solve.component.planes import PlaneBelow
from coherently.solve.worlds.oracle import rounding_of
from tests.kernels.draw import draw, with_laws
from tests.kernels.test_proofs import links
from tests.kernels.test_worlds import FOREVER, oracle_of, rows, sums

OPEN = [0, 1, 7, 20_000]
"""How many nodes are kept in the order of their bounds; the others are visited last in, first out."""
ULPS = 2.0**-49
"""Rounding of a sum of a few dozen terms, relative to the sum of their absolute values."""


def exact_least(some, coefficients):
    """The least sum of coefficients over worlds, as a fraction."""
    truth = some.truth(some.worlds())
    exact = [Fraction(float(c)) for c in coefficients]
    return min(sum((c for c, holds in zip(exact, row, strict=True) if holds), Fraction(0)) for row in truth.tolist())


def course(oracle, cutoff, open_, seconds=0.0):
    """The bounds of a proof after each of its nodes, and how it ended."""
    oracle.start_proof(cutoff, seconds, open_)
    bounds, nodes, outcome = [oracle.bound()], 0, "unfinished"
    while outcome == "unfinished":
        nodes += 1
        outcome = oracle.prove(FOREVER, nodes)
        bounds.append(oracle.bound())
    return bounds, outcome


@pytest.mark.parametrize("open_", OPEN)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_rise_and_end_at_the_least_sum_whenever_a_proof_is_stopped(seed, open_):
    rng = np.random.default_rng(seed)
    some = draw(rng, 6 + seed % 5, 60)
    coefficients = rng.normal(size=len(some))
    values, total = sums(some, coefficients), np.abs(coefficients).sum()
    least, span = values.min(), values.max() - values.min()
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    for share in (-1e-9, 0.02, 0.3, 2.0):
        cutoff = least + share * span
        bounds, outcome = course(oracle, cutoff, open_)
        assert outcome == ("proved" if share < 0 else "better")
        assert max(bounds) <= least + ULPS * total
        assert (np.diff(bounds) >= -ULPS * total).all()
        if share < 0 or some.n <= 8:  # larger trees end early, with better worlds
            assert bounds[-1] == pytest.approx(min(cutoff, least), abs=1e-12 * total)


@pytest.mark.parametrize("open_", OPEN)
@pytest.mark.parametrize("seed", range(6))
def test_under_laws_bounds_hold_whenever_a_proof_is_stopped(seed, open_):
    rng = np.random.default_rng(100 + seed)
    some = with_laws(rng, draw(rng, 7, 40), 1, 3)
    coefficients = rng.normal(size=len(some))
    values = sums(some, coefficients)
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    for share in (-1e-9, 0.3):
        bounds, _ = course(oracle, values.min() + share * (values.max() - values.min()), open_)
        assert max(bounds) <= values.min() + 1e-12 * np.abs(coefficients).sum()


@pytest.mark.parametrize("open_", [0, 20_000])
def test_a_tree_of_many_nodes_keeps_all_of_them_in_its_bound(open_):
    """The best cut of a complete graph of oddly many nodes lies above its relaxation, and is known."""
    n = 13
    some = links(np.random.default_rng(0), n, "all")
    oracle = oracle_of(some, 0)
    oracle.set(-np.ones(len(some)))
    least = -(n // 2) * (n - n // 2)
    bounds, outcome = course(oracle, least - 1e-6, open_)
    assert outcome == "proved"
    assert len(bounds) > 100
    assert max(bounds) <= least - 1e-6 == bounds[-1]
    assert bounds[len(bounds) // 2] < least - 0.1  # what is left is not forgotten


def uneven(rng, count):
    """Coefficients over many magnitudes, some of which nearly cancel."""
    found = rng.normal(size=count) * 10.0 ** rng.integers(-3, 16, count)
    half = count // 2
    found[half : 2 * half : 2] = -found[:half:2] * (1 + 2.0**-50)
    return found


@pytest.mark.parametrize("kind", ["tree", "ring"])
@pytest.mark.parametrize("seed", range(30))
def test_the_first_bound_is_no_higher_than_the_least_sum_in_exact_arithmetic(seed, kind):
    """Where the relaxation is tight, the bound of floats lies within rounding of the least sum: on either side."""
    rng = np.random.default_rng(seed)
    some = links(rng, 3 + seed % 7, kind)
    for scale in (1.0, 1e15, 1e-12):
        coefficients = scale * (rng.normal(size=len(some)) if kind == "tree" else np.abs(rng.normal(size=len(some))))
        least, total = exact_least(some, coefficients), np.abs(coefficients).sum()
        oracle = oracle_of(some, seed)
        oracle.set(coefficients)
        for seconds in (0.0, FOREVER):
            oracle.start_proof(float(least) + total, seconds)
            assert Fraction(oracle.bound()) <= least
        assert oracle.bound() >= float(least) - 1e-3 * total


@pytest.mark.parametrize("n", [4, 9, 16, 30])
@pytest.mark.parametrize("seed", range(8))
def test_every_diagonal_is_tested_before_it_is_used(seed, n):
    """Along a tree the relaxation is tight, so that a form that is not quite convex gives a bound above the least sum.

    Every difference of a tree can be chosen by itself: the least sum is that of the negative coefficients. After a
    sharp bound the next coefficients begin with its small correction, which is far too small for a coarse one.
    """
    rng = np.random.default_rng(seed)
    oracle = oracle_of(some := links(rng, n, "tree"), seed)
    for _ in range(6):
        for seconds in (FOREVER, 0.0, 0.0):
            coefficients = rng.normal(size=len(some))
            least = sum(Fraction(c) for c in coefficients.tolist() if c < 0)
            total = np.abs(coefficients).sum()
            oracle.set(coefficients)
            oracle.start_proof(float(least) + total, seconds)
            assert Fraction(oracle.bound()) <= least
            assert oracle.bound() >= float(least) - 0.5 * total


@pytest.mark.parametrize("open_", [0, 20_000])
@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_open_nodes_hold_in_exact_arithmetic_where_coefficients_cancel(seed, open_):
    rng = np.random.default_rng(seed)
    some = draw(rng, 5, 16)
    coefficients = uneven(rng, len(some))
    least, total = exact_least(some, coefficients), np.abs(coefficients).sum()
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    for cutoff in (float(least) + total, float(least) + 1e-3 * total):
        bounds, outcome = course(oracle, cutoff, open_)
        assert outcome == "better"
        assert max(map(Fraction, bounds)) <= least + Fraction(ULPS * total)
    # Just below the least sum it is proved; the margin is far less than the difference.
    bounds, outcome = course(oracle, float(least) - 1e-9 * total, open_)
    assert outcome == "proved"
    # Just above it, by more than the rounding of one sum and less than the margin, nothing is proved.
    bounds, outcome = course(oracle, float(least) + 2e-14 * total, open_)
    assert outcome == "better"
    assert max(map(Fraction, bounds)) <= least + Fraction(ULPS * total)


@pytest.mark.parametrize("open_", [0, 20_000])
@pytest.mark.parametrize("seed", range(24))
def test_worlds_below_the_cutoff_by_a_unit_of_rounding_are_met(seed, open_):
    """The cutoff is the next float above a world's sum: without its margin, a bound may lie above both."""
    rng = np.random.default_rng(seed)
    some = draw(rng, 3 + seed % 8, 40)
    coefficients = rng.normal(size=len(some)) if seed % 2 else uneven(rng, len(some))
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    worlds = some.worlds().astype(np.uint8)
    values = np.array([oracle.value(world) for world in worlds])
    for value in np.sort(values)[[0, 1, 2, 3, 5, 6, 7, *range(8, min(60, len(values)), 5)]]:
        for cutoff in (np.nextafter(value, np.inf), value + 4e-14 * np.abs(coefficients).sum()):
            _, outcome = course(oracle, float(cutoff), open_)
            assert outcome == "better"
            assert rows(oracle.better()) == rows(worlds[values < cutoff])


@pytest.mark.parametrize("seed", range(200))
def test_the_rounding_of_a_plane_is_subtracted(seed):
    """A plane's float bound is no higher than the exact least value of the plane over mixtures of worlds."""
    rng = np.random.default_rng(seed)
    coefficients, constant = uneven(rng, 12), float(rng.normal() * 10.0 ** rng.integers(0, 16))
    truth = rng.random((40, 12)) < 0.5
    least = float((truth @ coefficients).min())  # as floats have it
    plane = PlaneBelow(coefficients, constant, rounding_of(coefficients) + rounding_of(np.array([constant])))
    exact = [Fraction(float(c)) for c in coefficients]
    true = min(sum((c for c, holds in zip(exact, row, strict=True) if holds), Fraction(0)) for row in truth.tolist())
    assert Fraction(plane.bound(least)) <= true + Fraction(constant)
    assert plane.bound(least) >= float(true) + constant - 1e-13 * (np.abs(coefficients).sum() + abs(constant))


def test_the_rounding_of_sums_is_covered_and_no_more_than_it_need_be():
    rng = np.random.default_rng(0)
    for size in (3, 100, 5000):
        for _ in range(20):
            terms, share = uneven(rng, size), rng.random(size)
            pairs = zip(terms.tolist(), share.tolist(), strict=True)
            exact = sum(Fraction(a) * Fraction(b) for a, b in pairs)
            error = abs(Fraction(float(terms @ share)) - exact)
            assert error <= Fraction(rounding_of(terms))
            assert rounding_of(terms) <= 1e-14 * np.abs(terms).sum()
