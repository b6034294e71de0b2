"""Events in words: what is said means what is written."""

import random

import pytest

import coherently as co
from coherently.events import Events, in_words, words_or_none

SAID = {"if and only if": "iff", "or else": "xor"}
SIGNS = ("&", "|", "^", "->", "<->")


def formula(rng, depth):
    """A random formula with needless and missing parentheses."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["p", "q", "r", '"given"', "GDP-2027"])
    if rng.random() < 0.25:
        return f"~{rng.choice(['', ' '])}({formula(rng, depth - 1)})"
    one, other = (formula(rng, depth - 1) for _ in range(2))
    one, other = (f"({part})" if rng.random() < 0.6 else part for part in (one, other))
    return f"{one} {rng.choice(SIGNS)} {other}"


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_means_what_is_written(seed):
    """The words, read as a formula again, are the same event: every pair of operators has its parentheses."""
    rng, events = random.Random(seed), Events()
    for _ in range(50):
        text = formula(rng, rng.randint(0, 4))
        said = in_words(text, str)
        for word, sign in SAID.items():
            said = said.replace(word, sign)
        assert events.add([text]).event[0] == events.add([said]).event[0], (text, said)


def test_nothing_is_left_to_precedence():
    assert in_words("a & b | c", str) == "(a and b) or c"
    assert in_words("a -> b -> c", str) == "a implies (b implies c)"
    assert in_words("a & b & c", str) == "a and b and c"
    assert in_words("~(a | b) given c ^ d", str) == "not (a or b) given c or else d"


def test_names_comparisons_and_counts():
    seen = []
    said = in_words(
        'at_most(1; "will it rain?" | w=a, rate >= -2.5, due<2027-01-31) & w in {a, "b c"}',
        lambda part: seen.append(part) or "x",
    )
    assert said == "(at most 1 of x or x, x, x) and x"
    assert seen == ['"will it rain?"', "w = a", "rate >= -2.5", "due < 2027-01-31", 'w in {a, "b c"}']


def test_what_is_no_event_has_no_words():
    assert words_or_none("rain & wind?", str) is None
    with pytest.raises(co.EventError):
        in_words("rain &", str)
