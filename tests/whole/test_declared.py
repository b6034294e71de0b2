import pytest

from tests.whole.declared_checks import check_declared


@pytest.mark.parametrize("seed", range(4))
def test_declared_variables_and_laws_agree_with_enumeration(seed):
    check_declared(seed, 25)
