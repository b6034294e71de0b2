"""The finder of broken relations agrees with brute force over all pairs, threes and sums of claims in all worlds."""

import pytest

from tests.explain import relation_checks


@pytest.mark.parametrize("seed", range(8))
def test_the_finder_finds_what_brute_force_finds(seed):
    relation_checks.check_relations(seed, 15)


@pytest.mark.parametrize("seed", range(4))
def test_a_check_finds_what_brute_force_finds(seed):
    relation_checks.check_violated(seed, 40)
