"""Families as people review them: one decision for all of a family, in sentences that say what the law says."""

from dataclasses import replace
from itertools import pairwise, product

import pytest

import coherently as co
from coherently.proposals import (
    DecisionWord,
    ProposalStatus,
    ProposedLaw,
    RelationName,
    ReviewState,
    Strength,
    family_decisions,
    family_reviews,
    relate,
    relation_sentence,
)
from coherently.proposals.proposal import clauses, law_text
from tests.proposals.families import FAMILIES

TEXTS = {"a": "Fire", "b": "Flood", "c": "Storm"}
WORLDS = list(product((False, True), repeat=3))


def holds(sentence, world):
    """Whether a sentence about the first members holds in a world, read by its own words."""
    true = [TEXTS[name] for name, is_true in zip("abc", world, strict=True) if is_true]
    named = [text for text in TEXTS.values() if f"“{text}”" in sentence]
    named.sort(key=lambda text: sentence.index(f"“{text}”"))
    came = [text in true for text in named]
    if sentence.startswith("If "):
        return not came[0] or came[1]
    if sentence.startswith("Each of these means the next"):
        return all(not one or other for one, other in pairwise(came))
    if sentence.startswith("At most one"):
        return sum(came) <= 1
    if sentence.startswith("These mean the same"):
        return len(set(came)) == 1
    assert sentence.startswith(("Exactly one", "Either "))
    return sum(came) == 1


@pytest.mark.parametrize("relation", RelationName)
def test_a_sentence_says_what_the_law_says_in_every_world(relation):
    pair = relation in (RelationName.IMPLIES, RelationName.EXCLUDES, RelationName.COMPLEMENT)
    members = ("a", "b") if pair else ("a", "b", "c")
    sentence = relation_sentence(ProposedLaw("rule", relation, members, Strength.LIKELY), TEXTS)
    for world in WORLDS:
        truth = dict(zip("abc", world, strict=True))
        records = [("Ann", name, float(value)) for name, value in truth.items()]
        panel = co.Panel.from_records(records, laws=[law_text(relation, members)])
        assert co.check(panel).coherent is holds(sentence, world), (sentence, world)
        assert all(truth[x] is not v or truth[y] is w for (x, v), (y, w) in clauses(relation, members)) or not holds(
            sentence, world
        )


def test_every_proposal_is_in_one_review_and_keys_differ():
    for questions, _ in FAMILIES.values():
        found = relate(questions)
        reviews = family_reviews(found)
        assert sorted(one.id for each in reviews for one in each.proposals) == sorted(one.id for one in found.proposals)
        assert len({each.key for each in reviews}) == len(reviews)


LADDER = ["Cut by June 30, 2026", "Cut by September 30, 2026", "Cut by December 31, 2026"]


def test_a_decision_is_about_the_whole_family_and_moves_it_to_the_decided():
    found = relate(LADDER)
    (review,) = family_reviews(found)
    assert review.state is ReviewState.WAITING
    made = family_decisions(
        review.proposals, found.questions, word=DecisionWord.ACCEPT, by="Ann", date="2026-11-18", reason="Read both."
    )
    assert {(each.by, each.date, each.reason) for each in made} == {("Ann", "2026-11-18", "Read both.")}
    (after,) = family_reviews(found.decided(made))
    assert (after.state, after.key) == (ReviewState.DECIDED, review.key)
    assert {one.status for one in after.proposals} == {ProposalStatus.ACCEPTED}
    assert found.laws() == []
    assert len(found.decided(made).laws()) == len(review.proposals)


def test_the_key_of_a_family_outlives_the_order_and_names_of_rows_but_not_its_words():
    keys = [family_reviews(relate(rows))[0].key for rows in (LADDER, LADDER[::-1])]
    renamed = relate([{"id": f"q{i}", "text": text} for i, text in enumerate(LADDER)])
    assert len({*keys, family_reviews(renamed)[0].key}) == 1
    assert family_reviews(relate(LADDER[:2]))[0].key not in keys


def test_a_law_of_ones_own_replaces_the_family():
    found = relate(LADDER)
    (review,) = family_reviews(found)
    several = [*review.proposals, *(replace(one, members=one.members[:2]) for one in review.proposals)]
    made = family_decisions(
        several, found.questions, word=DecisionWord.ACCEPT, by="Ann", date="", law='"Cut by June 30, 2026" -> x'
    )
    assert [each.decision for each in made] == [DecisionWord.ACCEPT, *[DecisionWord.REJECT] * (len(several) - 1)]
    assert found.decided(made).laws() == ['"Cut by June 30, 2026" -> x']
