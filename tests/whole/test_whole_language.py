"""A slice of the campaign on panels of the whole language."""

import pytest

from tests.whole.language_checks import check_language


@pytest.mark.parametrize("seed", range(4))
def test_worlds_proofs_json_bounds_checks_and_books_agree_with_enumeration(seed):
    check_language(seed, 15)
