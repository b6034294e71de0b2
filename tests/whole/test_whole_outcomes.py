import pytest

from tests.whole.outcome_checks import check_outcomes


@pytest.mark.parametrize("seed", range(4))
def test_outcomes_agree_with_enumeration(seed):
    seen = check_outcomes(seed, 50)
    assert all(seen.values()), seen
