import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.errors import EventError
from coherently.events import OPEN, Events, entail
from tests.events import generate

NAMES = ("p", "q", "r", "s")
WIDE = tuple(f"y{i}" for i in range(9))


def read_formula(seed, names, size):
    """A random formula, a table that has read it after all its names, and the side."""
    rng = random.Random(seed)
    formula = generate.formula(rng, size, names)
    events = Events()
    events.add_names(names)
    reading = events.add([generate.write(rng, formula)])
    assert reading.faults == ()
    return formula, events, reading.event


def all_worlds(count):
    return np.array(list(itertools.product([False, True], repeat=count)))


@pytest.mark.parametrize("names", [NAMES, WIDE], ids=["in one word", "in many words"])
@pytest.mark.parametrize("seed", range(60))
def test_evaluation_in_every_world(seed, names):
    formula, events, side = read_formula(seed, names, 25)
    worlds = all_worlds(len(names))
    expected = [generate.holds(formula, dict(zip(names, world, strict=True))) for world in worlds.tolist()]
    assert events.evaluate(side, worlds).ravel().tolist() == expected
    assert events.evaluate(side ^ 1, worlds).ravel().tolist() == [not value for value in expected]


@pytest.mark.parametrize("seed", range(20))
def test_evaluation_of_large_cardinalities(seed):
    rng = random.Random(seed)
    names = [f"y{i}" for i in range(rng.randrange(17, 90))]
    formula = generate.wide_cardinality(rng, names)
    events = Events()
    events.add_names(names)
    side = events.add([generate.write(rng, formula)]).event
    worlds = np.random.default_rng(seed).random((100, len(names))) < rng.random()
    expected = [generate.holds(formula, dict(zip(names, world, strict=True))) for world in worlds.tolist()]
    assert events.evaluate(side, worlds).ravel().tolist() == expected


def bits(words, count):
    return np.unpackbits(words.astype("<u8").view(np.uint8), count=count, bitorder="little").astype(bool)


@pytest.mark.parametrize("count", [17, 63, 64, 65, 90])
def test_the_words_of_large_cardinalities(count):
    rng = random.Random(count)
    names = [f"y{i}" for i in range(count)]
    events = Events()
    events.add_names(names)
    side = events.add([generate.write(rng, generate.wide_cardinality(rng, names)), "y0 & y1"]).event
    (begin, end, last), words = events.tables(side // 2)
    assert (end - begin, words[end:last].tolist()) == (-(-count // 64) + -(-(count + 1) // 64), [0b1000])
    own = words[begin:end]
    counted, allowed = bits(own[: -(-count // 64)], count), bits(own[-(-count // 64) :], count + 1)
    for worlds in (np.random.default_rng(count).random((500, count)) < 0.5, all_counts(counted)):
        expected = allowed[(worlds == counted).sum(axis=1)]
        np.testing.assert_array_equal(events.evaluate(side[:1] & ~1, worlds)[:, 0], expected)


def all_counts(counted):
    """Worlds with every number of true literals."""
    return np.tri(len(counted) + 1, len(counted), -1, dtype=bool) == counted


def test_evaluation_by_name():
    events = Events()
    side = events.add(["p -> q"]).event
    assert events.holds(side, {"p": True, "q": False}).tolist() == [False]
    with pytest.raises(EventError, match="has no value for q"):
        events.holds(side, {"p": True})


def completions(known):
    """Every world that agrees with what is known."""
    choices = [[False, True] if value < 0 else [bool(value)] for value in known]
    return np.array(list(itertools.product(*choices)))


def literals(events, known):
    """The facts that variables have their known values, and the side of each variable."""
    sides = events.add_names(events.variables).event
    known = np.array(known)
    return sides[known >= 0] ^ (known[known >= 0] == 0), sides


@given(st.integers(0, 10**6), st.lists(st.sampled_from([-1, 0, 1]), min_size=9, max_size=9))
def test_what_is_known_of_variables_entails_what_is_the_same_in_every_completion(seed, known):
    _, events, side = read_formula(seed, WIDE, 12)
    values = events.evaluate(side, completions(known)).ravel()
    expected = int(values[0]) if values.all() or not values.any() else OPEN
    assert entail(events, literals(events, known)[0], side).truth.tolist() == [expected]


@given(st.integers(0, 10**6), st.lists(st.sampled_from([-1, -1, 0, 1]), min_size=9, max_size=9))
def test_one_fact_entails_all_that_it_forces(seed, known):
    _, events, side = read_formula(seed, WIDE, 12)
    worlds = completions(known)
    fitting = worlds[events.evaluate(side, worlds).ravel()]
    facts, variables = literals(events, known)
    found = entail(events, np.concatenate([facts, side]), variables)
    assert found.possible == bool(len(fitting))
    if len(fitting):
        expected = np.where(fitting.all(axis=0), 1, np.where(fitting.any(axis=0), OPEN, 0))
        assert found.truth.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "known", "learnt"),
    [
        ("exactly(1; {})", {0: 1}, dict.fromkeys(range(1, 20), 0)),
        ("at_least(19; {})", {3: 0}, {i: 1 for i in range(20) if i != 3}),
        ("at_most(2; {})", {3: 1}, {}),
        ("~at_most(19; {})", {}, dict.fromkeys(range(20), 1)),
    ],
)
def test_large_cardinalities_force_their_literals(text, known, learnt):
    names = [f"y{i}" for i in range(20)]
    events = Events()
    events.add_names(names)
    fact = events.add([text.format(", ".join(names))]).event
    state = np.full(20, OPEN, np.int8)
    state[list(known)] = list(known.values())
    expected = state.copy()
    expected[list(learnt)] = list(learnt.values())
    facts, variables = literals(events, state)
    assert entail(events, np.concatenate([facts, fact]), variables).truth.tolist() == expected.tolist()
