"""Each family of questions has the relations that a careful reader finds in it, in their classes, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from tests.proposals.families import FAMILIES

SURE = ("certain", "likely")


def names_of(questions):
    return [one if isinstance(one, str) else one["id"] for one in questions]


def found_in(questions):
    names = names_of(questions)
    return {
        (one.strength.value, one.relation.value, tuple(names.index(member) for member in one.members))
        for one in co.relate(questions).proposals
        if one.strength.value in SURE
    }


def normal(relation):
    strength, word, members = relation
    if word == "ladder" and len(members) == 2:
        word = "implies"
    return strength, word, members if word in ("implies", "ladder") else tuple(sorted(members))


@pytest.mark.parametrize("family", FAMILIES)
def test_relations_and_classes(family):
    questions, wanted = FAMILIES[family]
    assert {normal(one) for one in found_in(questions)} == {normal(one) for one in wanted}


EVERY = [one for questions, _ in FAMILIES.values() for one in questions]


def distinct(questions):
    by_name = {}
    for one in questions:
        row = {"id": one, "text": one} if isinstance(one, str) else one
        by_name.setdefault(row["id"], row)
    return list(by_name.values())


@given(st.data())
def test_the_order_of_rows_changes_nothing(data):
    some = distinct(data.draw(st.lists(st.sampled_from(EVERY), min_size=2, max_size=25)))
    assert co.relate(data.draw(st.permutations(some))).to_json() == co.relate(some).to_json()


def test_every_proposal_says_why_and_what_would_refute_it():
    found = co.relate(distinct(EVERY))
    assert len(found) > 50
    for one in found.proposals:
        assert one.evidence, one
        assert one.counterexample.endswith("?")
        assert one.assumes or one.strength.value != "likely" or one.rule == "one of several", one
        assert not (one.strength.value == "certain" and one.assumes), one
        for quoted in one.evidence:
            if quoted.span is not None:
                start, end = quoted.span
                assert found.questions[quoted.row][start:end] == quoted.words


def test_ids_are_unique_and_no_law_is_proposed_twice():
    found = co.relate(distinct(EVERY)).proposals
    assert len({one.id for one in found}) == len(found)
    assert len({one.law for one in found}) == len(found)
