"""A slice of the campaign on relations between answers."""

import pytest

from tests.whole.relation_checks import RELATIONS, check_relation


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.__name__)
def test_answers_keep_the_relation(relation):
    check_relation(relation, 1, 10)
