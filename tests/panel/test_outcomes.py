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


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"p": 1, "~p": 1}, "'p' is given as true and as false"),
        ({"p & q": 1, "p": 0}, "'p & q' contradicts the other outcomes, which imply that p is false"),
        ({"p ^ q": 1, "p <-> q": 1}, "'p ^ q' is given as true and as false"),
        ({"p given q": 1, "q": 0}, "'p given q' contradicts the other outcomes, which imply that q is false"),
        ({"p | ~p": 0}, "'p | ~p' contradicts the other outcomes"),
    ],
)
def test_contradictions_are_refused(known, words):
    with pytest.raises(co.PanelError) as raised:
        outcomes(["p", "q"], known)
    assert words in str(raised.value)
    assert "outcomes row" in str(raised.value)


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
