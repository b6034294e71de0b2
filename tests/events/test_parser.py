import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.errors import EventError
from coherently.events import CERTAIN, NEVER, Events, quote_name, tidy
from tests.events import checks

NAMES_17 = [f"x{i}" for i in range(17)]


def sides(*texts):
    reading = Events().add(texts)
    assert reading.faults == ()
    return [tuple(row) for row in reading.sides.tolist()]


def fault(text):
    (found,) = Events().add([text]).faults
    return found


@pytest.mark.parametrize(
    "texts",
    [
        ("p & q", "q and p", "~(~p | ~q)", "not (p -> ~q)", "p && q", "p ∧ q", "Q & P".lower()),
        ("p | q", "p || q", "p OR q", "p ∨ q", "~p -> q", "at_least(1; p, q)"),
        ("p ^ q", "p xor q", "~(p <-> q)", "exactly(1; p, q)"),
        ("p -> q -> r", "p -> (q -> r)", "p & q -> r", "p → q → r"),
        ("p <-> q <-> r", "p iff (q iff r)", "p ^ q ^ r", "p ↔ q ↔ r"),
        ("p | q & r", "p | (q & r)"),
        ("p ^ q & r | s", "(p ^ (q & r)) | s"),
        ("~p & q", "(~p) & q", "! p & q", "¬p&q", 'NOT "p" & q'),
        ("p & (q | ~q)", "p", '"p"', "p given true", "p given q | ~q"),
        ("p given q", "p & q given q", "(p)given(q)", "q -> p given q"),
        ("p given p", "true given p", "q -> q given p"),
        ("at_most(1; p, q, r)", "~at_least(2; p, q, r)", "exactly(0; p,q,r) | exactly(1; p,q,r)"),
        ("été", "e\u0301te\u0301"),
        ("exactly(3; p, q)", "false", "p & ~p"),
        ("true", "TRUE", "p | ~p", "at_least(0; p)"),
    ],
)
def test_texts_that_mean_the_same_are_one_event(texts):
    assert len(set(sides(*texts))) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("p -> q -> r", "(p -> q) -> r"),
        ("a-b", "a & ~b"),
        ("p given q", "p & q"),
        ("p given q", "p given ~q"),
        ("~p & q", "~(p & q)"),
        ("p | q ^ r", "(p | q) ^ r"),
    ],
)
def test_texts_that_mean_other_things_are_other_events(left, right):
    first, second = sides(left, right)
    assert first != second


def test_complement_is_the_other_side():
    event, complement = sides("p & ~q", "~p | q")
    assert complement[0] == event[0] ^ 1
    assert event[2] == complement[0]


def test_conditional_has_event_condition_and_rest():
    conditional, both, condition, rest = sides("p given q", "p & q", "q", "~p & q")
    assert conditional == (both[0], condition[0], rest[0])
    assert sides("p given q", "~p given q")[1] == (rest[0], condition[0], both[0])


def test_constants():
    assert [row[0] for row in sides("true", "false", "p | ~p", "p & ~p")] == [CERTAIN, NEVER, CERTAIN, NEVER]


def test_names():
    names = ["p", "_x", "a.b", "u@site", "a:b", "x-1", "été", "дождь", "वर्षा", "晴れ"]
    events = Events()
    assert events.add(names).faults == ()
    assert events.variables == names


@pytest.mark.parametrize(
    ("text", "kind", "column", "words"),
    [
        ("", "syntax", 1, "empty"),
        ("   ", "syntax", 4, "empty"),
        ("p & q & ", "syntax", 9, "expected an event after '&'"),
        ("& p", "syntax", 1, "expected an event before '&'"),
        ("p q", "syntax", 3, "expected an operator"),
        ("(p & q", "syntax", 1, "never closed"),
        ("p & (q | (r)", "syntax", 5, "never closed"),
        ("p)", "syntax", 2, "closes nothing"),
        ("p # q", "syntax", 3, "unexpected character '#'"),
        ("p \u200f q", "syntax", 3, "U+200F"),
        ('"p', "syntax", 1, "never closed"),
        ('"" & p', "syntax", 1, "quotes are empty"),
        (r'"a\n"', "syntax", 3, "inside quotes"),
        ("p given q given r", "syntax", 11, "once"),
        ("(p given q)", "syntax", 4, "outside parentheses"),
        ("p, q", "syntax", 2, "belongs inside exactly"),
        ("exactly(x; p)", "syntax", 9, "whole number"),
        ("exactly(1, p)", "syntax", 10, "expected ';'"),
        ("exactly 1", "syntax", None, ""),
        ("winner in Ann", "syntax", 11, "expected '{'"),
        ("p => q", "syntax", 4, "write '->'"),
        ("p == q", "syntax", 4, "write '<->' between two events, '=' before a value"),
        ("3M & p", "syntax", 1, "begins with a letter"),
        ("exactly(9999999999; p)", "syntax", 9, "at most 9 digits"),
        ('"my var" = "a, b"', "undeclared", 1, '`variable "my var": "a, b", ...`'),
        ("rate < high", "syntax", 8, "a number or a date"),
        ("due < 2027-02-29", "syntax", 7, "a number or a date"),
        ("winner = Ann & q", "undeclared", 1, "`variable winner: Ann, ...`"),
        ("p & rate <= 3.5", "undeclared", 5, "`variable rate: number`"),
        ("due < 2028-02-29", "undeclared", 1, "`variable due: date`"),
        ("p given q & ~q", "impossible", 0, "never be true"),
        (" & ".join(NAMES_17), "limit", 0, "17 variables"),
        (f"exactly(1; {', '.join(NAMES_17)}) & x1", "limit", 0, "17 variables"),
        (f"exactly(1; x1, {', '.join(NAMES_17)})", "limit", 0, "each once"),
        ("p" * 10_001, "limit", 0, "10001 characters"),
        ("~" * 65 + "p", "limit", 66, "64 levels"),
        ("(" * 65 + "p" + ")" * 65, "limit", 65, "64 levels"),
        ("(" * 100_000 + "p" + ")" * 100_000, "limit", 0, "200001 characters"),
        ("p -> " * 65 + "p", "limit", None, "64 levels"),
    ],
)
def test_faults(text, kind, column, words):
    found = fault(text)
    assert found.kind == kind
    assert words in found.message
    if column is not None:
        assert found.column == column


@pytest.mark.parametrize(
    "text",
    [
        " & ".join(NAMES_17[:16]),
        "~" * 64 + "p",
        "(" * 64 + "p" + ")" * 64,
        "p -> " * 64 + "p",
        " & ".join(["p", "q"] * 1000),
        "p" * 10_000,
        f"at_least(3; {', '.join(f'y{i}' for i in range(1500))})",
    ],
)
def test_within_the_limits(text):
    assert Events().add([text]).faults == ()


def test_a_fault_points_at_its_place():
    assert str(fault("p & q & ")) == "expected an event after '&' (column 9)\n    p & q & \n            ^"


def test_half_a_surrogate_pair_is_refused_wherever_it_stands():
    reading = Events().add(["p", "\ud800", '"\ud800"', "q &"])
    assert [(found.index, found.kind) for found in reading.faults] == [
        (1, "syntax"),
        (2, "syntax"),
        (3, "syntax"),
    ]
    assert reading.event.tolist()[1:] == [-1, -1, -1]


def test_large_cardinalities_are_canonical():
    names = [f"y{i:02}" for i in range(40)]
    plain, turned = ", ".join(names), ", ".join(f"~{name}" for name in reversed(names))
    first, second, third, fourth = sides(
        f"at_least(3; {plain})", f"at_most(37; {turned})", f"~at_most(2; {plain})", f"at_most(2; {plain})"
    )
    assert first == second == third
    assert fourth[0] == first[0] ^ 1
    assert sides(f"at_least(0; {plain})", f"at_most(40; {turned})", f"exactly(41; {plain})") == [
        (CERTAIN, CERTAIN, NEVER),
        (CERTAIN, CERTAIN, NEVER),
        (NEVER, CERTAIN, CERTAIN),
    ]


def test_find_does_not_add():
    events = Events()
    events.add(["p & q"])
    size, variables = len(events), events.variables
    found = events.find(["q & p", "~(p & q)", "p", "z & w", "p & (z | ~z) & q"])
    assert found.event.tolist() == [2, 3, -1, -1, 2]
    assert (len(events), events.variables) == (size, variables)


def test_plain_names_are_not_formulas():
    events = Events()
    reading = events.add_names(["p & q", "p"])
    assert events.variables == ["p & q", "p"]
    assert events.add(['"p & q"']).event[0] == reading.event[0]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("((not p) and q) implies (r)", "~p & q -> r"),
        ("(p -> q) -> r", "(p -> q) -> r"),
        ("p & (q & r)", "p & q & r"),
        ('"and" or "x y"', '"and" | "x y"'),
        ('w in {a,"b c"}&r<-5', 'w in {a, "b c"} & r < -5'),
        ("EXACTLY(02;p,q|r)", "exactly(2; p, q | r)"),
        ("~(p|q)given r", "~(p | q) given r"),
    ],
)
def test_tidy(text, printed):
    assert tidy(text) == printed


def test_tidy_stays_within_the_limit():
    text = "&".join(["p"] * 5000)
    assert len(text) == 9_999
    assert tidy(text) == text


def test_tidy_refuses_what_is_no_event():
    with pytest.raises(EventError, match="expected an event"):
        tidy("p &")
    with pytest.raises(EventError, match="characters"):
        tidy("p" * 10_001)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_any_name_can_be_written(name):
    events = Events()
    quoted, plain = events.add([quote_name(name)]), events.add_names([name])
    assert quoted.faults == ()
    assert np.array_equal(quoted.sides, plain.sides)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_grammar(seed):
    assert checks.check_agreement(seed, 1500) > 300


@pytest.mark.parametrize("seed", range(2))
def test_round_trip(seed):
    checks.check_round_trip(seed, 2500)


def test_survives_anything():
    checks.check_survival(0, 10_000)
