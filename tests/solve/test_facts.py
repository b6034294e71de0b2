"""Facts are values that equal, print as and are written as their words."""

import json
import pickle

import pytest

import coherently as co
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from tests.panels import TABLE_2

FACTS = [fact for kind in (Coherence, Promise, Proof, Route, Status) for fact in kind]


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_is_its_words_to_whoever_reads_it(fact):
    words = fact.value
    assert fact == words
    assert (str(fact), f"{fact}", repr(fact), json.dumps([fact])) == (words, words, repr(words), json.dumps([words]))
    assert pickle.loads(pickle.dumps(fact)) is type(fact)(words) is fact


def test_a_result_shows_words():
    result = co.aggregate(co.Panel.from_records(TABLE_2))
    assert f"{result.status} {result.coherence}" == "optimal global"
    assert result.status.sentence.startswith("These are the nearest coherent forecasts")
    assert "coherence='global', route='enumeration', proof='dynamic programming over all worlds'" in repr(
        result.components[0]
    )
