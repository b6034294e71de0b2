"""A slice of the campaign of losses and terms."""

import pytest

from tests.whole.loss_checks import (
    check_losses,
    check_losses_by_cliques,
    check_losses_by_search,
    check_losses_one_by_one,
)
from tests.whole.user_loss_checks import check_user_losses


@pytest.mark.parametrize("check", [check_losses, check_losses_one_by_one])
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_every_loss_and_term_agrees_with_a_conic_solver(first, check):
    found = check(first, 20)
    assert found["optimal"] >= 15
    assert set(found) <= {"optimal", "contradiction", "nothing forecast"}


@pytest.mark.parametrize("check", [check_losses_by_search, check_losses_by_cliques])
@pytest.mark.parametrize("first", range(100, 200, 20))
def test_methods_for_large_components_agree_with_it_too(first, check):
    found = check(first, 20)
    assert found["optimal"] >= 15
    assert set(found) <= {"optimal", "contradiction", "nothing forecast"}


@pytest.mark.parametrize("seed", [8348, 8554])
def test_pins_that_contradict_each_other_are_found_by_search(seed):
    """Worlds were taken in and dropped without end; and a law that no event is about cost nothing to break."""
    assert check_losses_by_search(seed, 1) == {"contradiction": 1}


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_losses_of_a_users_own_agree_with_it_and_asymmetric_ones_are_refused(first):
    found = check_user_losses(first, 20)
    assert found["optimal"] >= 15
    assert set(found) <= {"optimal", "nothing forecast"}
