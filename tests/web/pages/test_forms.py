"""Questions as forms describe them."""

import pytest

import coherently as co
from coherently.errors import CoherentlyError
from coherently.web.pages.forms.question_forms import name_of, quoted, read_question


def form(**fields):
    return {"title": "Who wins?", **fields}


def read_together(draft):
    """All events of a question, read by the library with its declaration."""
    rows = [("Ann", event.event, 0.5) for event in draft.events]
    return co.Panel.from_records(rows, laws=[draft.declaration] if draft.declaration else [])


def test_a_question_without_a_formula_gets_a_name_of_its_own():
    draft = read_question(form(title="The euro area is in recession in 2027"), {"euro_area_recession"})
    assert draft.kind == "yes-no"
    assert [event.event for event in draft.events] == ["euro_area_recession_2"]


def test_a_conditional_is_told_by_its_formula():
    assert read_question(form(event="a given b"), ()).kind == "conditional"
    assert read_question(form(event="givens & b"), ()).kind == "yes-no"


def test_named_options_share_everything():
    draft = read_question(form(kind="partition", shape="named", lines="Ann\n\nBob the Great\n", variable="winner"), ())
    assert draft.declaration == 'variable winner: Ann, "Bob the Great"'
    panel = read_together(draft)
    result = co.aggregate(panel)
    assert sum(result.probability(event.event) for event in draft.events) == pytest.approx(1)


def test_something_else_may_come_true():
    draft = read_question(form(kind="partition", shape="named", lines="Ann\nBob\n...", variable="winner"), ())
    assert [event.event for event in draft.events] == ["winner = Ann", "winner = Bob", "winner = other"]
    assert len(read_together(draft).written) == 3


def test_ranges_of_a_number_are_sorted_and_have_their_unit():
    draft = read_question(form(kind="partition", shape="ranges", lines="3,5 %\n1.5\n2.5", variable="inflation"), ())
    assert [event.title.replace("\u00a0", " ") for event in draft.events] == [
        "under 1.5 %",
        "1.5 to 2.5 %",
        "2.5 to 3.5 %",
        "3.5 % or more",
    ]
    result = co.aggregate(read_together(draft))
    assert sum(result.probability(event.event) for event in draft.events) == pytest.approx(1)


def test_a_ladder_of_dates_goes_up():
    draft = read_question(
        form(kind="ladder", shape="dates", lines="2027-06-30\n2027-03-31", title="Norvik misses it"), ()
    )
    assert [event.title for event in draft.events] == ["by 31 March", "by 30 June"]
    assert draft.declaration == "variable norvik_misses: date"
    result = co.aggregate(
        co.Panel.from_records(
            [("Ann", draft.events[0].event, 0.9), ("Ann", draft.events[1].event, 0.1)], laws=[draft.declaration]
        )
    )
    assert result.probability(draft.events[0].event) <= result.probability(draft.events[1].event) + 1e-9


@pytest.mark.parametrize("shape", ["at-most", "at-least"])
def test_a_ladder_of_numbers(shape):
    draft = read_question(form(kind="ladder", shape=shape, lines="1\n2 m", variable="x"), ())
    assert len(read_together(draft).written) == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "partition", "shape": "named", "lines": "Ann"}, "too few"),
        ({"kind": "partition", "shape": "ranges", "lines": "much"}, "not a number"),
        ({"kind": "ladder", "shape": "dates", "lines": "31.3.2027"}, "not a date"),
        ({"kind": "ladder", "shape": "at-most", "lines": ""}, "too few"),
        ({"title": " "}, "is empty"),
        ({"title": "x" * 301}, "too long"),
    ],
)
def test_a_refusal_says_what_is_wrong(fields, words):
    with pytest.raises(CoherentlyError, match=words):
        read_question(form(**fields), ())


@pytest.mark.parametrize("name", ["rain", "will it rain?", "given", 'a "b" \\ c', "été", "3M", "other"])
def test_any_name_can_be_quoted(name):
    panel = co.Panel.from_records([("Ann", quoted(name), 0.5)])
    assert panel.events.variables == [name]


@pytest.mark.parametrize("title", ["", "???", "2027", "The", "Given", "<script>alert(1)</script>", "عدد"])
def test_any_title_gives_a_name(title):
    assert len(co.Panel.from_records([("Ann", name_of(title), 0.5)]).events.variables) == 1
