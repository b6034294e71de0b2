"""Certain laws hold whatever happens: quantities and dates are drawn, and the questions answered by them."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.events import Events
from coherently.proposals.panel_gaps import excess, refuted
from coherently.proposals.proposal import ProposedLaw, RelationName, Strength, law_text

NUMBERS = st.integers(0, 12)
SHAPES = {
    "above {a}": lambda x, a, _: x > a,
    "at least {a}": lambda x, a, _: x >= a,
    "below {a}": lambda x, a, _: x < a,
    "at most {a}": lambda x, a, _: x <= a,
    "{a} or more": lambda x, a, _: x >= a,
    "exactly {a}": lambda x, a, _: x == a,
    "between {a} and {b}": lambda x, a, b: a <= x <= b,
    "more than {a} and at most {b}": lambda x, a, b: a < x <= b,
    "not above {a}": lambda x, a, _: x <= a,
}


def sized():
    return st.tuples(st.sampled_from(sorted(SHAPES)), NUMBERS, st.integers(1, 6))


def violated(found, truth):
    """Proposals of class certain that truth values of all questions break."""
    return [one for one in found.proposals if one.strength is Strength.CERTAIN and refuted(one, truth)]


@given(st.lists(sized(), min_size=2, max_size=8, unique=True))
def test_certain_relations_of_a_quantity_hold_for_every_value(drawn):
    questions = {}
    for shape, a, more in drawn:
        questions[f"Level {shape.format(a=a, b=a + more)} on May 1, 2026"] = (shape, a, a + more)
    found = co.relate(list(questions))
    laws = found.accept("certain", by="test").laws()
    events = Events()
    for x in (Decimal(n) / 2 for n in range(-2, 42)):
        truth = {text: SHAPES[shape](x, a, b) for text, (shape, a, b) in questions.items()}
        assert not violated(found, truth), (x, truth)
    if laws:
        declarations = [law for law in laws if law.startswith("variable")]
        assert events.declare(declarations) == ()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 400)), min_size=2, max_size=6, unique=True))
def test_deadlines_of_a_group_hold_whenever_it_happens(drawn):
    begin = date(2026, 1, 1)
    rows, limits = [], {}
    for number, (strict, days) in enumerate(drawn):
        day = begin + timedelta(days)
        word = "before" if strict else "by"
        rows.append({"id": f"q{number}", "text": f"Launch {word} {day:%B} {day.day}, {day.year}", "group": "g"})
        limits[f"q{number}"] = day if strict else day + timedelta(1)
    found = co.relate(rows)
    for days in range(-1, 403):
        happens = begin + timedelta(days)
        truth = {name: happens < limit for name, limit in limits.items()}
        assert not violated(found, truth)


@pytest.mark.parametrize("relation", RelationName)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_law_outcomes_and_gaps_say_the_same(relation, count):
    """The text of a law, what outcomes refute, and the gap of certain forecasts agree in every world."""
    pairs = (RelationName.IMPLIES, RelationName.EXCLUDES, RelationName.EQUIVALENT, RelationName.COMPLEMENT)
    if relation in pairs and count > 2:
        return
    names = [f"e {i}" for i in range(count)]
    proposal = ProposedLaw("test", relation, tuple(names), Strength.LIKELY)
    events = Events()
    side = events.add([law_text(relation, names)]).event
    for values in product((False, True), repeat=count):
        truth = dict(zip(names, values, strict=True))
        world = np.array([[truth[name] for name in events.variables]])
        is_true = bool(events.evaluate(side, world).ravel()[0])
        assert refuted(proposal, truth) == (not is_true)
        assert (excess(relation, [float(value) for value in values]) > 0) == (not is_true)
