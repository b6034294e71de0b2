import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.panel import CALLED_OFF, UNRESOLVED

EVENTS = ["p", "q", "p & q", "p | q", "p -> q", "p ^ q", "p given q", "~p given q", "exactly(1; p, q)"]


def outcomes(events, known, **options):
    panel = co.Panel.from_records([("A", event, 0.5) for event in events], outcomes=known, **options)
    return dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))


@pytest.mark.parametrize(("p", "q"), list(itertools.product([False, True], repeat=2)))
def test_complex_events_follow_from_the_variables(p, q):
    assert outcomes(EVENTS, {"p": p, "q": q}) == {
        "p": p,
        "q": q,
        "p & q": p and q,
        "p | q": p or q,
        "p -> q": not p or q,
        "p ^ q": p != q,
        "p given q": p if q else CALLED_OFF,
        "~p given q": (not p) if q else CALLED_OFF,
    }


def test_what_does_not_follow_is_unresolved():
    found = outcomes(["p", "q", "p & q", "p | q", "p given q"], {"p": False})
    assert found == {"p": 0, "q": UNRESOLVED, "p & q": 0, "p | q": UNRESOLVED, "p given q": UNRESOLVED}


def test_a_complex_event_may_be_resolved_without_its_parts():
    assert outcomes(["p & q", "p", "~q", "p | q"], {"p & q": True}) == {
        "p & q": 1,
        "p": 1,
        "~q": 0,
        "p | q": 1,
    }
    assert outcomes(["p ^ q", "p", "p <-> q"], {"p ^ q": 1}) == {"p ^ q": 1, "p": UNRESOLVED, "p <-> q": 0}
    assert outcomes(["p", "q"], {"p | q": 1, "p": 0}) == {"p": 0, "q": 1}


def test_an_outcome_of_a_conditional_says_that_its_condition_came_true():
    assert outcomes(["p given q", "q", "p"], {"p given q": False}) == {"p given q": 0, "q": 1, "p": 0}


@pytest.mark.parametrize("value", [1, True, "1", "true", "YES", 1.0, "1.0"])
def test_ways_to_say_true(value):
    assert outcomes(["p"], {"p": value}) == {"p": 1}


@pytest.mark.parametrize("value", ["", None, "NA", float("nan")])
def test_blank_is_unresolved(value):
    assert outcomes(["p"], {"p": value}) == {"p": UNRESOLVED}


def test_outcomes_from_a_column_a_file_and_a_frame(tmp_path):
    rows = [
        {"judge": "A", "event": "p", "probability": 0.5, "outcome": "yes"},
        {"judge": "B", "event": "p & q", "probability": 0.5, "outcome": None},
    ]
    file = tmp_path / "outcomes.csv"
    file.write_text("variable,resolution\nq,0\n")
    for source in (file, str(file), pl.DataFrame({"event": ["q"], "answer": [False]})):
        assert co.Panel.from_records(rows, outcomes=source).written.outcome.tolist() == [1, 0]
    assert co.Panel.from_records(rows).written.outcome.tolist() == [1, UNRESOLVED]


TOGETHER = "statements together, and without any one of them there is no such conflict:"
CORRECT = "Correct these outcomes, or leave them blank, which means unresolved."


def refusal(known, **options):
    with pytest.raises(co.PanelError) as raised:
        outcomes(["p", "q"], known, **options)
    return str(raised.value)


@pytest.mark.parametrize(
    "known",
    [
        {"p": 1, "~p": 1},
        {"p & q": 1, "p": 0},
        {"p ^ q": 1, "p <-> q": 1},
        {"p given q": 1, "q": 0},
        {"p | q": True, "p -> r": True, "q -> r": True, "r": False},
        {"p ^ q": True, "p ^ r": True, "q ^ r": True},
    ],
)
def test_contradictions_are_refused_with_a_minimal_set(known):
    others = {"s": True, "p | s": True}
    said = [f"  outcomes row {i}: the outcome of {event!r} is {known[event]}" for i, event in enumerate(known, 1)]
    start = f"these outcomes contradict each other. No possible world has these {len(known)} {TOGETHER}"
    assert refusal({**known, **others}).split("\n") == [start, *said, CORRECT]


def test_an_outcome_that_is_impossible_by_itself():
    assert refusal({"p | ~p": 0}) == (
        f"this outcome is impossible:\n  outcomes row 1: the outcome of 'p | ~p' is 0\n{CORRECT}"
    )


def test_each_conflict_is_named_once_outcomes_before_laws():
    laws = ["p -> q", "r", "r -> s", "q -> t"]
    assert refusal({"t": "no", "u": "yes", "s": 0, "q": 1}, laws=laws).split("\n") == [
        f"these outcomes contradict the law. No possible world has these 3 {TOGETHER}",
        "  outcomes row 1: the outcome of 't' is no",
        "  outcomes row 4: the outcome of 'q' is 1",
        "  laws statement 4: q -> t",
        f"this outcome contradicts the laws. No possible world has these 3 {TOGETHER}",
        "  outcomes row 3: the outcome of 's' is 0",
        "  laws statement 2: r",
        "  laws statement 3: r -> s",
        CORRECT,
    ]


def test_a_conflict_is_of_whole_rows():
    """The value of a declared variable is one statement, however many comparisons it settles."""
    laws = ["variable rate: number"]
    known = {"rate": 3, "rate < 1 | p": 1, "rate < 2 | ~p": 1, "rate > 5 | rate < 3.5": 1}
    assert refusal(known, laws=laws).split("\n")[1:-1] == [
        "  outcomes row 1: the outcome of 'rate' is 3",
        "  outcomes row 2: the outcome of 'rate < 1 | p' is 1",
        "  outcomes row 3: the outcome of 'rate < 2 | ~p' is 1",
    ]


@pytest.mark.parametrize(
    ("laws", "event"),
    [
        (["b -> e"], "b -> e"),
        (["(b -> e) & exactly(2; k, k)"], "b -> e"),
        (["b | c", "b -> e", "c -> e"], "e"),
        (["b -> e", "~b -> e"], "e & a"),
        (["p ^ q ^ r"], "p ^ q ^ r"),
        ([], "(b & ~c) | ~b | c"),
        (["b -> c", "c -> d"], "b -> d"),
        (["variable x: number", "x > 3 -> b", "x < 5 -> b"], "b"),
        (["variable w: u, v, ...", "w = u -> b", "w = v -> b", "w = other -> b"], "b"),
        (["exactly(1; " + ", ".join(f"y{i}" for i in range(20)) + ")"], "at_most(1; y0, y7, y19)"),
    ],
)
def test_what_laws_and_logic_entail_is_filled_in(laws, event):
    assert outcomes([event, f"~({event})", "x1 & x2"], {"a": True}, laws=laws) == {
        event: 1,
        f"~({event})": 0,
        "x1 & x2": UNRESOLVED,
    }


def test_a_conditional_follows_its_condition_wherever_that_is_entailed():
    laws = ["b | c", "b -> e", "c -> e", "f & p -> ~e"]
    found = outcomes(["p given e", "p given f", "p given b", "e given p"], {"p": True}, laws=laws)
    assert found == {"p given e": 1, "p given f": CALLED_OFF, "p given b": UNRESOLVED, "e given p": 1}


@pytest.mark.parametrize("known", [None, {}, {"p": None}, {"winner": None}])
def test_without_an_outcome_nothing_has_come_out(known):
    laws = ["variable winner: Ann, Bob", "q"]
    assert set(outcomes(["p | ~p", "q", "winner in {Ann, Bob}"], known, laws=laws).values()) == {UNRESOLVED}


def test_a_value_counts_as_an_outcome_even_if_no_event_compares_it():
    laws = ["variable winner: Ann, Bob", "q"]
    assert outcomes(["q"], {"winner": "Ann"}, laws=laws) == {"q": 1}


def test_values_speak_about_comparisons_that_only_outcomes_make():
    assert "outcomes row 1: the outcome of 'rate' is 3" in refusal(
        {"rate": 3, "rate < 2": True}, laws=["variable rate: number"]
    )


def test_what_the_search_leaves_undecided_is_said(monkeypatch):
    """Nine pigeons in eight holes: a contradiction that takes many conflicts to find."""
    monkeypatch.setattr("coherently.panel.outcomes.MAX_CONFLICTS", 100)
    holes = ", ".join(f"h{i}" for i in range(8))
    laws = [f"variable pigeon{i}: {holes}" for i in range(9)]
    known = {f"at_most(1; {', '.join(f'pigeon{i} = h{hole}' for i in range(9))})": True for hole in range(8)}
    rows = [("A", event, 0.5) for event in ("pigeon0 = h0", "pigeon1 = h1", "p", "q")]
    panel = co.Panel.from_records(rows, laws=laws, outcomes={**known, "p | q": True, "p | ~q": True})
    assert panel.written.outcome.tolist() == [UNRESOLVED, UNRESOLVED, 1, UNRESOLVED]
    limit = "was not decided within 100 dead ends of the search in a component"
    assert panel.notes == (
        f"whether the outcomes can all be true together {limit}",
        f"whether an outcome follows for 2 events that are left unresolved {limit}",
    )


def test_bad_outcomes_name_row_and_value(tmp_path):
    file = tmp_path / "outcomes.csv"
    file.write_text("event,outcome\np,maybe\nq,2\n")
    with pytest.raises(co.PanelError) as raised:
        outcomes(["p"], file)
    assert "outcomes.csv row 2, column outcome" in str(raised.value)
    assert "outcomes.csv row 3, column outcome" in str(raised.value)
    assert "'maybe'" in str(raised.value)
    file.write_text("event,came_true\np,1\n")
    with pytest.raises(co.PanelError, match="no outcome column"):
        outcomes(["p"], file)


@given(
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sets(st.sampled_from(["p", "q", "r", "p & q", "q | r", "p ^ r", "at_least(2; p, q, r)"])),
)
def test_derived_outcomes_are_true_in_the_world_they_come_from(values, told):
    world = dict(zip("pqr", values, strict=True))
    events = ["p", "q", "r", "p & q", "q | r", "p ^ r", "at_least(2; p, q, r)", "p given q"]
    truth = outcomes(events, world)
    found = outcomes(events, {event: truth[event] for event in told})
    assert all(found[event] in (UNRESOLVED, truth[event]) for event in events)
    assert all(found[event] == truth[event] for event in told)


def notes_of(outcomes, rows=(("Ann", "rain", 0.5), ("Ann", "wind", 0.4)), **options):
    return co.Panel.from_records(rows, outcomes=outcomes, **options).notes


def test_outcomes_of_misspelt_events_are_named():
    (note,) = notes_of({"rian": True, "rain": True, "snow": False})
    assert note == (
        "outcomes: outcomes of events that no forecast or law mentions: 'rian' (did you mean 'rain'?), 'snow'"
    )


def test_outcomes_that_settle_something_are_not_named():
    assert notes_of({"rain & wind": True}) == ()
    assert notes_of({"storm": True}, laws=["storm -> wind"]) == ()
    assert notes_of({"rain": None, "rian": None}) == ()


def test_the_first_ten_unused_outcomes_are_named_and_the_rest_counted():
    (note,) = notes_of({f"other_{i}": True for i in range(25)})
    assert "'other_9' and 15 more" in note
    assert "'other_10'" not in note


def test_misspelt_names_with_spaces_are_named():
    rows = [("Ann", '"Supplier delay"', 0.5)]
    (note,) = notes_of({'"Suplier delay"': True}, rows)
    assert "did you mean 'Supplier delay'?" in note
    (note,) = notes_of({"Suplier delay": True}, [("A", "Supplier delay", 0.5)], plain_events=True)
    assert "did you mean 'Supplier delay'?" in note


def test_the_nearest_name_is_looked_for_only_where_it_is_shown(monkeypatch):
    sought = []
    monkeypatch.setattr("coherently.panel.outcomes.suggest", lambda name, _: sought.append(name) or "")
    notes_of({f"other_{i}": True for i in range(3_000)})
    assert len(sought) == 10
