import random
from pathlib import Path

import numpy as np
import pytest

import coherently as co
from coherently.events import Events, find_world
from coherently.panel import NO_LAWS, UNRESOLVED
from coherently.panel.laws import read_laws
from tests.events.oracle import truths
from tests.events.test_declared import DECLARATIONS, DOMAINS, formula

ROWS = [("A", "p", 0.5)]


def refused(laws, rows=ROWS, error=co.PanelError, **options):
    with pytest.raises(error) as raised:
        co.Panel.from_records(rows, laws=laws, **options)
    assert type(raised.value) is error
    return str(raised.value)


def test_a_file_of_laws(tmp_path):
    file = tmp_path / "laws.txt"
    file.write_text(
        "# what is certain\n\n"
        'winner = Ann -> p & "a # b"  # a comment\r\n'
        "variable winner: Ann, Bob, ...\n"
        "P(p) <= 40%\n"
        "P(winner = Ann) = 0.3\n"
        "P(p given winner = Bob) >= .5\n"
    )
    laws = co.Panel.from_records(ROWS, laws=file).laws
    assert laws.text == ('winner = Ann -> p & "a # b"',)
    assert laws.place == ("laws.txt line 3",)
    assert laws.declarations == ("variable winner: Ann, Bob, ...",)
    assert laws.pins.text == ("P(p) <= 40%", "P(winner = Ann) = 0.3", "P(p given winner = Bob) >= .5")
    assert (laws.pins.low.tolist(), laws.pins.high.tolist()) == ([0.0, 0.3, 0.5], [0.4, 0.3, 1.0])
    panel = co.Panel.from_records(ROWS, laws=str(file))
    expected = panel.events.add(["p", "winner = Ann", "p given winner = Bob", 'winner = Ann -> p & "a # b"']).sides
    np.testing.assert_array_equal(panel.laws.pins.event, expected[:3, 0])
    np.testing.assert_array_equal(panel.laws.pins.condition, expected[:3, 1])
    assert panel.laws.side.tolist() == [expected[3, 0]]


def test_without_laws_there_are_none():
    assert co.Panel.from_records(ROWS).laws is NO_LAWS
    empty = co.Panel.from_records(ROWS, laws=["", "# nothing"]).laws
    assert (len(empty), len(empty.pins), empty.declarations) == (0, 0, ())


def test_laws_stay_with_a_part_of_the_panel():
    panel = co.Panel.from_records([("A", "p", 0.5), ("B", "q", 0.5)], laws=["p -> q"])
    assert panel.judge("B").laws is panel.laws


def test_the_summary_counts_a_declared_variable_once():
    rows = [("A", "winner = Ann", 0.5), ("A", "winner = Bob & p", 0.2), ("A", "rate < 3 | rate > 5", 0.2)]
    panel = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob, Cid", "variable rate: number"])
    assert panel.summary() == "3 forecasts by 1 judge on 3 events over 3 variables"


def test_a_note_counts_laws_that_are_not_about_the_forecasts():
    laws = ["a -> b", "p -> c", "P(c given d) = 0.3", "P(c given p) = 0.3", "a | ~a", "variable w: x, y", "w = x | a"]
    assert co.Panel.from_records(ROWS, laws=laws).notes == ("laws on variables that no forecast uses: 3",)
    assert co.Panel.from_records([("A", "w = y", 0.5)], laws=laws).notes == (
        "laws on variables that no forecast uses: 4",
    )


def test_all_statements_that_cannot_be_read_are_said_at_once():
    message = refused(
        [
            "p given q",
            "variable w: a, b",
            "P(q) = 1.3",
            "P(q) > 0.3",
            "P(q given z & ~z) = .5",
            "P(q &) = .4",
            "v = a",
            "P(q) 0.3",
            "variable w: c, d",
            "w = e",
        ]
    )
    pin = "A pin is P(event) = 0.3, P(event) <= 0.1 or P(event given event) >= 50%."
    assert message.splitlines() == [
        "laws statement 1: a law is a formula without 'given'; write a -> b for a law, "
        "or P(a given b) = 0.9 for a probability",
        f"laws statement 3: '1.3' is above 1. {pin} The number lies between 0 and 1.",
        f"laws statement 4: a pin has '=', '<=' or '>=', not '>'. {pin}",
        "laws statement 5: the condition after 'given' can never be true",
        "laws statement 6: expected an event after '&' (column 6)",
        "    P(q &) = .4",
        "         ^",
        "laws statement 7: v is compared with a value but not declared; "
        "add `variable v: a, ...` to the laws (column 1)",
        "    v = a",
        "    ^",
        f"laws statement 8: 'P(q) 0.3' begins like a pin but does not end like one. {pin}",
        "laws statement 9: w is declared before; declare a variable once, with all its values",
        "laws statement 10: e is not a value of w (a, b) (column 5)",
        "    w = e",
        "        ^",
    ]


@pytest.mark.parametrize("number", ["1.01", "-0.1", "101%", "half", "nan", "inf"])
def test_pins_outside_the_unit_interval(number):
    assert "The number lies between 0 and 1." in refused([f"P(p) = {number}"])


def test_a_name_is_declared_or_true_or_false():
    assert "p is declared (a, b)" in refused(["variable p: a, b"])
    assert "laws statement 1: p is declared (a number)" in refused(["p -> q", "variable p: number"], [("A", "q", 0.5)])


def test_a_variable_may_be_called_variable_or_p():
    laws = co.Panel.from_records(ROWS, laws=["variable & P", "variable or p", "P -> p"]).laws
    assert laws.text == ("variable & P", "variable or p", "P -> p")


def test_long_statements():
    names = ", ".join(f"n{i}" for i in range(100_000))
    laws = co.Panel.from_records(ROWS, laws=[f"exactly(1; {names})"]).laws
    assert len(laws) == 1
    assert "the limit is" not in laws.text[0]
    message = refused(["p | " * 300_000 + "p"])
    assert message == "laws statement 1: has 1,200,001 characters; a statement may have at most 1,000,000"


@pytest.mark.parametrize(
    ("laws", "needed"),
    [
        (["p -> q", "q -> r", "s", "p", "~r"], [1, 2, 4, 5]),
        (["variable w: a, b, c", "p & w in {a, b}", "w = c -> p", "w = c"], [1, 2, 4]),
        (["variable w: a, b, c", "p & w = a", "~p"], [2, 3]),
        (["w != a", "w != b", "variable w: a, b, c", "w != c"], [3, 1, 2, 4]),
        (["variable r: number", "r < 3 | r > 5", "variable w: a, b", "r > 4 & r < 5"], [1, 2, 4]),
        (["variable w: a, b", "w = a & w = b"], [1, 2]),
        (["variable w: a, b", "q | r", "p & ~p & w = a"], [3]),
        (["exactly(1; a, b, c)", "a & ~d", "d", "b"], [2, 3]),
        (["false"], [1]),
    ],
)
def test_a_contradiction_names_a_minimal_set(laws, needed):
    message = refused(laws, error=co.ContradictionError)
    assert message.splitlines()[1:-1] == [f"  laws statement {number}: {laws[number - 1]}" for number in needed]


def test_a_contradiction_comes_before_anything_else_is_read():
    assert "laws statement" in refused(["p", "~p"], [("A", "p &", 7.0)], co.ContradictionError)


@pytest.mark.parametrize("seed", range(40))
def test_contradictions_by_brute_force(seed):
    """Random laws over declared variables: refused just if no world of the enumeration obeys them, and minimal."""
    rng = random.Random(seed)
    names = rng.sample(list(DOMAINS), 3)
    texts = [formula(rng, rng.randint(1, 3), names) for _ in range(rng.randint(2, 8))]
    obeyed = np.array([truths(text, DOMAINS) for text in texts])
    statements = [*DECLARATIONS, *texts]
    if obeyed.all(axis=0).any():
        assert len(read_laws(statements, Events())) == len(texts)
        return
    message = refused(statements, error=co.ContradictionError)
    listed = [statements[int(line.split()[2][:-1]) - 1] for line in message.splitlines()[1:-1]]
    kept = [text for text in listed if text not in DECLARATIONS]
    table = np.array([truths(text, DOMAINS) for text in kept])
    assert not table.all(axis=0).any()
    assert all(np.delete(table, i, axis=0).all(axis=0).any() for i in range(len(kept)))
    for left_out in set(listed) - set(kept):
        events = Events()
        events.declare([one for one in DECLARATIONS if one in listed and one != left_out])
        events.declare([one for one in DECLARATIONS if one not in listed or one == left_out], free=True)
        assert find_world(events, events.add(kept).event) is not None


def test_conditions_that_the_laws_rule_out():
    rows = [("A", "p given a & ~b", 0.5), ("A", "p given a", 0.5), ("A", "q given a & c", 0.1)]
    laws = ["a -> b", "b -> ~c", "x | y"]
    assert refused(laws, rows).splitlines() == [
        "records row 1: the condition after 'given' can never be true under the laws: 'a -> b' (laws statement 1)",
        "records row 3: the condition after 'given' can never be true under the laws: "
        "'a -> b' (laws statement 1) and 'b -> ~c' (laws statement 2)",
    ]
    assert refused([*laws, "P(q given a & ~b) = 0.3"]) == (
        "laws statement 4: the condition after 'given' can never be true under the laws: 'a -> b' (laws statement 1)"
    )
    many = [("A", f"p given x{i} & ~y{i}", 0.5) for i in range(30)]
    assert len(co.Panel.from_records(many, laws=["x0 -> x1", "y3 -> x3", "x5 | y5"])) == 30


def test_plain_events_are_names_whatever_is_declared():
    rows = [("A", "winner = Ann", 0.5), ("A", "winner = Bob", 0.9)]
    panel = co.Panel.from_records(rows, laws=["variable winner: Ann, Bob"], plain_events=True)
    assert panel.events.written_variables == ['"winner = Ann"', '"winner = Bob"']
    message = refused(["variable winner: Ann, Bob"], [("A", "winner", 0.5)], plain_events=True)
    assert message.startswith("records row 1: winner is a declared variable, but with plain events")


def test_a_laws_file_that_is_not_there(tmp_path):
    assert "does not exist" in refused(tmp_path / "none.txt")
    assert refused([3]) == "laws statement 1 is 3, which is not a text"


DECLARED = ["variable winner: Ann, Bob, ...", "variable rate: number", "variable due: date", "winner = Ann -> p"]
EVENTS = ["winner = Ann", "winner = Bob", "winner = other", "p", "rate > 3", "rate <= 3.5", "due < 2027-01-01"]


def outcomes(known, events=EVENTS, laws=DECLARED):
    panel = co.Panel.from_records([("A", event, 0.5) for event in events], laws=laws, outcomes=known)
    return dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))


def test_declared_variables_are_resolved_by_their_values():
    assert outcomes({"winner": "Ann", "rate": 3.2, "due": "2026-05-05"}) == dict(
        zip(EVENTS, [1, 0, 0, 1, 1, 1, 1], strict=True)
    )
    assert outcomes({'"winner"': "other", "rate": "4", "due": ""}) == dict(
        zip(EVENTS, [0, 0, 1, UNRESOLVED, 1, 0, UNRESOLVED], strict=True)
    )
    assert outcomes({"winner = Bob": 0, "winner = other": 0, "rate <= 3": 1}) == dict(
        zip(EVENTS, [1, 0, 0, 1, 0, 1, UNRESOLVED], strict=True)
    )
    assert outcomes({"winner": None, "p": False}) == dict(
        zip(EVENTS, [0, UNRESOLVED, UNRESOLVED, 0, UNRESOLVED, UNRESOLVED, UNRESOLVED], strict=True)
    )


def test_outcomes_of_declared_variables_from_a_file(tmp_path):
    file = tmp_path / "outcomes.csv"
    file.write_text("variable,outcome\nwinner,Bob\np,no\nrate,2\ndue,2027-01-01\n")
    assert outcomes(file) == dict(zip(EVENTS, [0, 1, 0, 0, 0, 1, 0], strict=True))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"winner": "Dan"}, "column outcome: 'Dan' is not a value of winner; allowed are Ann, Bob, None (other)"),
        ({"rate": "high"}, "outcomes row 1, column outcome: 'high' is not a value of rate; it must be a finite number"),
        ({"due": "soon"}, "'soon' is not a value of due; it must be an ISO date, such as 2027-01-31"),
        ({"winner": "Ann", '"winner"': "Bob"}, "outcomes row 2: winner is 'Bob', but outcomes row 1 says otherwise"),
        ({"winner": "Ann", "winner = Bob": 1}, "these outcomes contradict each other. No possible world has these 2 "),
        ({"winner": "Ann", "winner in {Bob, other} | rate < 0": 1, "rate": 1}, "world has these 3 statements"),
        ({"winner": "Ann", "p": 0}, "  outcomes row 1: the outcome of 'winner' is Ann\n"
                                    "  outcomes row 2: the outcome of 'p' is 0\n"
                                    "  laws statement 4: winner = Ann -> p\n"),
        ({"winner = Ann & ~p": 1}, "this outcome contradicts the law. No possible world has these 2 statements"),
    ],
)  # fmt: skip
def test_outcomes_that_cannot_be(known, words):
    with pytest.raises(co.PanelError) as raised:
        outcomes(known)
    assert words in str(raised.value)


def test_outcomes_follow_from_the_laws():
    found = outcomes({"a": 1, "d": 0}, ["a", "b", "c", "b & c", "c given d", "e"], ["a -> b", "b -> c", "e <-> a & b"])
    assert found == {"a": 1, "b": 1, "c": 1, "b & c": 1, "c given d": -2, "e": 1}


class TestIntervals:
    def read(self, text, tmp_path, **options):
        file = tmp_path / "panel.csv"
        file.write_text(text)
        return co.read_panel(file, **options)

    def test_an_interval_alone_stands_for_its_middle(self, tmp_path):
        text = "event,probability,lower,upper\np,0.5,0.4,0.9\nq,,0.2,30%\nr,,0.4,\ns,,,0.1\n"
        panel = self.read(text, tmp_path)
        np.testing.assert_allclose(panel.probability, [0.5, 0.25, 0.7, 0.05])
        np.testing.assert_array_equal(panel.lower, [0.4, 0.2, 0.4, np.nan])
        np.testing.assert_array_equal(panel.upper, [0.9, 0.3, np.nan, 0.1])
        text = "event,lower,upper\np,0.4,0.9\nq,10,20\n"
        np.testing.assert_allclose(
            self.read(text.replace("0.4,0.9", "40,90"), tmp_path, percent=True).probability, [0.65, 0.15]
        )

    def test_a_row_has_a_probability_or_an_interval(self, tmp_path):
        text = "event,probability,lower,upper\np,0.5,,\nq,,,\n"
        with pytest.raises(co.PanelError) as raised:
            self.read(text, tmp_path)
        assert str(raised.value).startswith(
            "panel.csv row 3, column probability: no probability, and no lower or upper bound\n"
        )
        assert self.read(text, tmp_path, missing="abstain").written.text == ("p",)

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("p,0.5,0.6,0.4", "panel.csv row 2: lower 0.6 is above upper 0.4"),
            ("p,0.5,0.6,0.9", "panel.csv row 2: probability 0.5 is below lower 0.6"),
            ("p,0.5,0.1,0.3", "panel.csv row 2: probability 0.5 is above upper 0.3"),
            ("p,0.5,-0.1,0.7", "panel.csv row 2, column lower: '-0.1' is below 0"),
            ("p,0.5,,1.2", "panel.csv row 2, column upper: '1.2' is above 1"),
        ],
    )
    def test_intervals_that_cannot_be(self, row, message, tmp_path):
        with pytest.raises(co.PanelError) as raised:
            self.read(f"event,probability,lower,upper\n{row}\n", tmp_path)
        assert str(raised.value).startswith(message)


def test_a_text_that_is_no_file_is_taken_for_a_statement_that_should_be_in_a_list():
    for text in ("x -> y", "x" * 5_000, "x\0y", "nowhere/laws.txt"):
        message = refused(text)
        assert "there is no such file" in message
        assert "pass statements as a list, laws=['" in message
        assert len(message) < 300
    assert "does not exist" in refused(Path("x -> y"))


def test_laws_of_another_kind_are_refused():
    assert refused(3) == "laws is 3: pass the path of a file, or a list of statements"


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("P(false) >= 0.26", "never true, so its probability is 0"),
        ("P(p & ~p) = 0.2", "never true, so its probability is 0"),
        ("P(w = X & w = Z & q) >= 0.1", "never true, so its probability is 0"),
        ("P(exactly(3; w = X, w = Z, q)) >= 0.1", "never true, so its probability is 0"),
        ("P(true) <= 0.3", "always true, so its probability is 1"),
        ("P(p | ~p) = 0.9", "always true, so its probability is 1"),
    ],
)
def test_pins_that_no_probability_of_a_constant_event_meets_are_refused(pin, why):
    with pytest.raises(co.ContradictionError, match=why):
        co.Panel.from_records([("A", "p", 0.5)], laws=["variable w: X, Y, Z", pin])


@pytest.mark.parametrize("pin", ["P(false) = 0", "P(p & ~p) <= 0.2", "P(true) = 1", "P(p | ~p) >= 0.5"])
def test_pins_that_constant_events_meet_say_nothing(pin):
    panel = co.Panel.from_records([("A", "p", 0.5)], laws=[pin])
    result = co.aggregate(panel)
    assert result.probability("p") == 0.5
    assert co.verify(panel, result)
