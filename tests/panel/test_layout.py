from __future__ import annotations

import pytest

from coherently.errors import PanelError
from coherently.panel.cell_table import Table
from coherently.panel.layout import ROLES, SHAPES, Long, Wide, find_roles, pick, recognise


def table(header):
    return Table("panel.csv", {name: ["x"] for name in header.split(",")}, range(1, 2))


def refusal(header):
    with pytest.raises(PanelError) as caught:
        recognise(table(header))
    return str(caught.value)


@pytest.mark.parametrize(
    ("header", "layout"),
    [
        ("judge,event,probability", Long("event", "probability", "judge")),
        ("event,probability", Long("event", "probability")),
        ("Forecaster,QUESTION,Prob", Long("QUESTION", "Prob", "Forecaster")),
        (
            "p,lower,upper,model,event_id,weight,resolution,time",
            Long("event_id", "p", "model", "weight", "lower", "upper", "resolution", "time"),
        ),
        (",judge,event,p,comment", Long("event", "p", "judge", ignored=("", "comment"))),
        ("event,jugde,probability", Long("event", "probability", ignored=("jugde",))),
    ],
)
def test_long(header, layout):
    assert recognise(table(header)) == layout


@pytest.mark.parametrize(
    ("header", "layout"),
    [
        (",Alice,Bob", Wide("", ("Alice", "Bob"))),
        ("event,Alice,Bob", Wide("event", ("Alice", "Bob"))),
        ("Question,Jude", Wide("Question", ("Jude",))),
        ("event,model_1,model_2", Wide("event", ("model_1", "model_2"))),
    ],
)
def test_wide(header, layout):
    assert recognise(table(header)) == layout


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in ROLES.items() for name in names])
def test_every_alias_plays_its_role(role, name):
    assert find_roles(table(f"x,{name.upper()}")) == {role: name.upper()}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("event,p,prob", "panel.csv has 2 probability columns, 'p', 'prob': rename all but one"),
        ("judge,user,model,event,p", "panel.csv has 3 judge columns, 'judge', 'user', 'model': rename"),
    ],
)
def test_two_names_of_one_role_are_refused(header, message):
    assert message in refusal(header)


@pytest.mark.parametrize(
    ("header", "guesses"),
    [
        ("evnt,judge,probability", {"event": "evnt"}),
        ("event,judge,probabilty", {"probability": "probabilty"}),
        ("event,jugde,probabilty", {"judge": "jugde", "probability": "probabilty"}),
        ("evnt,jugde,probability", {"event": "evnt", "judge": "jugde"}),
        ("Evnt,Alice,Bob", {"event": "Evnt"}),
        ("event,judge,Forcast", {"probability": "Forcast"}),
    ],
)
def test_a_misspelt_column_is_guessed(header, guesses):
    message = refusal(header)
    for role, guess in guesses.items():
        names = ", ".join(ROLES[role])
        hint = f"Did you mean {guess!r}? Rename it to {role!r}."
        assert f"There is no {role} column (accepted names: {names}). {hint}\n" in message
    assert message.count("Did you mean") == len(guesses)


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("event,judge", ["probability"]),
        ("judge,probability", ["event"]),
        (",judge,probability", ["event"]),
        ("judge,colour", ["event", "probability"]),
        ("Alice,event,Bob", ["probability"]),
        ("name,Alice,Bob", []),
    ],
)
def test_a_missing_column_is_named_without_a_guess(header, missing):
    message = refusal(header)
    columns = ", ".join(map(repr, header.split(",")))
    assert message.startswith(f"panel.csv is neither a long nor a wide table; its columns are {columns}.\n")
    for role in ("event", "judge", "probability"):
        assert (f"There is no {role} column" in message) == (role in missing)
    assert "Did you mean" not in message
    assert message.endswith(SHAPES)


def test_a_judge_may_not_have_the_name_of_a_column():
    message = refusal("event,Alice,Time")
    assert "none may be called 'Time': rename such a judge" in message
    assert "--outcomes" in message


@pytest.mark.parametrize("header", ["event", ""])
def test_events_alone_are_refused(header):
    assert refusal(header) == f"panel.csv has events but no column for any judge.\n{SHAPES}"


def test_pick_finds_the_one_column():
    assert pick(table("Label,id"), "title", ("title", "label")) == "Label"


@pytest.mark.parametrize(
    ("header", "wrong"),
    [("a,b", "no title column"), ("title,label", "2 title columns ('title', 'label')")],
)
def test_pick_refuses_none_and_two(header, wrong):
    with pytest.raises(PanelError) as caught:
        pick(table(header), "title", ("title", "label"))
    assert f"panel.csv has {wrong} among" in str(caught.value)
    assert "name exactly one of them 'title' (also accepted: label)" in str(caught.value)


def test_columns_of_a_market_are_suggested_as_quotes():
    message = refusal("ticker,yes_bid,yes_ask,last_price")
    assert "Perhaps rename 'ticker' to 'event', 'yes_bid' to 'lower', 'yes_ask' to 'upper'; prices in cents" in message
    assert "'last_price' to" not in message
    assert "Perhaps rename 'Risk' to 'event'.\n" in refusal("Risk,Ann,Bob")
    assert "Perhaps rename 'price' to 'probability'; prices in cents need --percent" in refusal("event,price,judge")


def test_the_first_column_may_hold_the_events():
    assert "If the first column, 'Ereignis', holds the events, rename it to 'event'." in refusal("Ereignis,Ann")
    assert "holds the events" not in refusal("judge,event,probabilty")
