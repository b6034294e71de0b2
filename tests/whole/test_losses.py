"""A slice of the campaign of losses and terms."""

import pytest

from tests.whole.loss_checks import check_losses


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_every_loss_and_term_agrees_with_a_conic_solver(first):
    found = check_losses(first, 20)
    assert found["optimal"] >= 15
    assert set(found) <= {"optimal", "contradiction", "nothing forecast"}
