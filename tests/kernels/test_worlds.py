"""The world of the least sum: what search, elimination and proofs say of it, against brute force over all worlds."""

import numpy as np
import pytest

from coherently import _core
from tests.kernels.draw import Sum, all_worlds, draw, table_of, unchecked_space, unpack, with_laws

FOREVER = 60.0


def oracle_of(some, seed=0):
    return _core.WorldOracle(some.handle, seed, some.core_space())


def sums(some, coefficients, worlds=None):
    return some.truth(some.worlds() if worlds is None else worlds) @ coefficients


def rows(worlds):
    return {tuple(row) for row in np.asarray(worlds).tolist()}


def drawn(seed, *, laws, most=3, n=None):
    """Functions, in a space or not, and a coefficient each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9)) if n is None else n
    some = draw(rng, n, int(rng.integers(1, 4 * n)), most)
    if laws:
        some = with_laws(rng, some, int(rng.integers(0, 3)), int(rng.integers(0, 4)), min(n, 3))
    return some, rng.choice([rng.normal(size=len(some)), rng.integers(-3, 4, len(some)).astype(float)])


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_values_and_truths_are_those_of_the_functions(seed, laws):
    some, coefficients = drawn(seed, laws=laws, most=5)
    worlds = all_worlds(some.n)
    truth = some.truth(worlds)
    np.testing.assert_array_equal(some.handle.evaluate(worlds), truth)
    oracle = oracle_of(some)
    oracle.set(coefficients)
    np.testing.assert_allclose([oracle.value(world) for world in worlds], truth @ coefficients, atol=1e-12)
    if not some.space.is_free:
        allowed = rows(some.worlds())
        space = unchecked_space(some)
        assert space.allows(worlds).tolist() == [tuple(world) in allowed for world in worlds.tolist()]
        assert space.find_witness()
        assert tuple(space.witness().tolist()) in allowed


def test_functions_of_many_variables_are_tables_of_several_words():
    rng = np.random.default_rng(0)
    some = Sum(9, [np.arange(7), np.arange(1, 9), np.arange(9)], [table_of(rng, size) for size in (7, 8, 9)])
    worlds = all_worlds(9)
    np.testing.assert_array_equal(some.handle.evaluate(worlds), some.truth(worlds))
    oracle = oracle_of(some)
    for coefficients in rng.normal(size=(20, 3)):
        oracle.set(coefficients)
        least = sums(some, coefficients).min()
        assert oracle.value(oracle.eliminate()) == pytest.approx(least, abs=1e-12)
        assert oracle.value(oracle.search(20, FOREVER)) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_elimination_finds_the_least_of_all_worlds(seed, laws):
    some, coefficients = drawn(seed, laws=laws, most=4)
    oracle = oracle_of(some)
    for sign in (1.0, -1.0):
        oracle.set(sign * coefficients)
        world = oracle.eliminate()
        assert tuple(world.tolist()) in rows(some.worlds())
        assert sums(some, sign * coefficients, world[None])[0] == pytest.approx(
            sums(some, sign * coefficients).min(), abs=1e-12
        )


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_elimination_on_rings_that_need_messages(seed, laws):
    rng = np.random.default_rng(seed)
    some = draw(rng, 13, 30, 3, near=3)
    if laws:
        some = with_laws(rng, some, 2, 3)
    oracle = oracle_of(some)
    for coefficients in rng.normal(size=(6, len(some))):
        oracle.set(coefficients)
        world = oracle.eliminate()
        assert tuple(world.tolist()) in rows(some.worlds())
        assert oracle.value(world) == pytest.approx(sums(some, coefficients).min(), abs=1e-12)


@pytest.mark.parametrize("laws", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_search_finds_the_least_of_few_worlds(seed, laws):
    some, coefficients = drawn(seed, laws=laws, most=4)
    oracle = oracle_of(some, seed)
    oracle.set(coefficients)
    world = oracle.search(20, FOREVER)
    assert tuple(world.tolist()) in rows(some.worlds())
    assert sums(some, coefficients, world[None])[0] == pytest.approx(sums(some, coefficients).min(), abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_search_obeys_laws_however_much_breaking_them_would_gain(seed):
    # The laws tie too many states for a block, and each of them is an event that the sum wants otherwise.
    rng = np.random.default_rng(seed)
    some = with_laws(rng, draw(rng, 12, 20), 0, 5, 6)
    laws = some.space.laws
    scopes = [laws.of(i) for i in range(len(laws))]
    words = [laws.tables[laws.table_starts[i] : laws.table_starts[i + 1]] for i in range(len(laws))]
    tables = [unpack(own)[: 2 ** len(scope)] for own, scope in zip(words, scopes, strict=True)]
    tempted = Sum(12, some.variables + scopes, some.tables + tables, some.space)
    oracle = oracle_of(tempted, seed)
    allowed = rows(some.worlds())
    for plain in rng.normal(size=(3, len(some))):
        oracle.set(np.concatenate([plain, np.where(laws.truth, 5.0, -5.0)]))
        for attempts in (1, 2, 10):
            assert tuple(oracle.search(attempts, FOREVER).tolist()) in allowed


@pytest.mark.parametrize(("n", "count", "most"), [(30, 200, 2), (30, 120, 4), (90, 60, 2), (90, 60, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_no_single_change_betters_what_search_found(n, count, most, seed):
    # Gains are kept up to date from flip to flip: if one is wrong, the walk ends elsewhere than at a minimum.
    rng = np.random.default_rng(seed)
    some = draw(rng, n, count, most)
    oracle = oracle_of(some, seed)
    for attempts in (2, 4):
        coefficients = rng.normal(size=len(some))
        oracle.set(coefficients)
        world = oracle.search(attempts, FOREVER)
        turned = world[None] ^ np.eye(n, dtype=np.uint8)
        assert (sums(some, coefficients, turned) >= sums(some, coefficients, world[None]) - 1e-9).all()


@pytest.mark.parametrize("seed", range(12))
def test_no_single_change_betters_a_walk_through_few_links(seed):
    # Where links are few, the best change comes from a tournament of the gains.
    rng = np.random.default_rng(seed)
    some = draw(rng, 40, 20)
    oracle = oracle_of(some, seed)
    for coefficients in rng.normal(size=(3, len(some))):
        oracle.set(coefficients)
        world = oracle.search(1, FOREVER)
        turned = world[None] ^ np.eye(40, dtype=np.uint8)
        assert (sums(some, coefficients, turned) >= sums(some, coefficients, world[None]) - 1e-9).all()


@pytest.mark.parametrize("seed", range(6))
def test_counts_of_very_many_variables_go_by_their_numbers(seed):
    rng = np.random.default_rng(seed)
    n = 20
    polarity = rng.integers(0, 2, n)
    allowed = rng.integers(0, 2, n + 1)
    # false where all its variables are, as every function is held
    allowed[np.count_nonzero(polarity == 0)] = 0
    single = [np.array([v]) for v in range(n)]
    some = Sum(n, [*single, np.arange(n)], [*[np.array([0, 1])] * n, [0]])
    n_, starts, variables, _, _ = some.arrays
    words = np.concatenate([*[np.array([2], np.uint64)] * n, pack_bits(polarity), pack_bits(allowed)])
    functions = (n_, starts, variables, np.append(np.arange(n + 1), n + 2), words)
    coefficients = np.append(rng.normal(size=n), 3.0 * rng.normal())
    oracle = _core.WorldOracle(_core.Functions(*functions), seed)
    oracle.set(coefficients)

    def value(worlds):
        count = (worlds == polarity).sum(axis=1)
        return worlds @ coefficients[:n] + coefficients[n] * allowed[count]

    worlds = rng.integers(0, 2, (50, n)).astype(np.uint8)
    np.testing.assert_allclose([oracle.value(world) for world in worlds], value(worlds), atol=1e-12)
    found = oracle.search(20, FOREVER)
    assert (value(found[None] ^ np.eye(n, dtype=np.uint8)) >= value(found[None]) - 1e-9).all()


def pack_bits(bits):
    padded = np.zeros(64, np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)


def test_an_oracle_begins_with_coefficients_of_zero():
    rng = np.random.default_rng(0)
    for some in (draw(rng, 5, 8, 3), with_laws(rng, draw(rng, 5, 8, 3))):
        oracle = oracle_of(some, 0)
        worlds = some.worlds()
        for world in (oracle.search(0, 0.0), oracle.search(3, FOREVER), oracle.eliminate()):
            assert oracle.value(world) == 0
            assert (worlds == world).all(axis=1).any()


@pytest.mark.parametrize("place", [1, 3])
def test_rows_that_do_not_ascend_are_refused(place):
    functions = list(draw(np.random.default_rng(1), 5, 8, 3).arrays)
    functions[place] = np.concatenate([functions[place][-1:], functions[place][1:]])
    with pytest.raises(ValueError, match="ascend"):
        _core.Functions(*functions)
