"""Drafts of events and laws, as they are typed."""

import pytest

from coherently.explain.judge_sheet import Item, SheetSetting, read_draft
from tests.explain.judge_sheet.sheet_examples import NORVIK


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("cut & recession", ("Means the same as question 3.",)),
        ("~recession", ("Is the opposite of question 1.",)),
        ("~insolvency given recession", ("Is the opposite of question 8.",)),
        ("recesion & cut", ("“recesion” is new here. Did you mean recession?",)),
        ("flood", ("“flood” is new here.",)),
        ("recession & ~recession", ("Can never come true.",)),
        ("stop & missed > 2027-12-31", ("Can never come true, by the laws.",)),
        ("insolvency -> missed < 2028-01-01", ("Is always true, by the laws.",)),
        ("cut given stop & missed > 2027-12-31", ("The laws rule its condition out.",)),
        ("recession | cut", ()),
    ],
)
def test_events(text, remarks):
    read = read_draft(NORVIK, text)
    assert read.fault is None
    assert read.remarks == remarks


def test_the_parsers_own_sentence_with_the_column():
    read = read_draft(NORVIK, "recession &")
    assert read.fault == "expected an event after '&' (column 12)"
    assert read.column == 12
    read = read_draft(NORVIK, "inflaton = low")
    assert read.column == 1
    assert read.suggestions == (("inflaton", "inflation"),)
    assert read.remarks == ("Did you mean inflation?",)
    assert read.as_dict()["suggestions"] == [{"name": "inflaton", "known": "inflation"}]


def test_a_panel_that_asks_nothing_yet():
    assert read_draft(SheetSetting(()), "rain &").column == 7
    assert read_draft(SheetSetting(()), "rain").remarks == ()
    assert read_draft(SheetSetting((), ("rain -> wet",)), "wet -> rain", "law").fault is None


@pytest.mark.parametrize(
    ("text", "kind", "remarks"),
    [
        ("stop -> insolvency", "law", ()),
        ("stop -> missed <= 2027-12-31", "law", ("This law is there already.",)),
        ("stop -> missed <= 2028-06-30", "law", ("This follows from the other laws: you need no law for it.",)),
        ("recession & cut -> cut", "law", ("This is always true: you need no law for it.",)),
        (
            "~cut",
            "law",
            ("With this law, question 2 can never come true.", "With this law, question 3 can never come true."),
        ),
        ("P(recession) <= 40%", "probability", ()),
        ("variable winner: Ann, Bob", "declaration", ()),
        (
            "variable cut: small, large",
            "declaration",
            ("cut is used as an event that comes true or not; a declared one needs another name.",),
        ),
    ],
)
def test_laws(text, kind, remarks):
    read = read_draft(NORVIK, text, "law")
    assert (read.kind, read.fault, read.remarks) == (kind, None, remarks)


@pytest.mark.parametrize(
    ("text", "fault", "column"),
    [
        ("stop & missed > 2027-12-31", "This contradicts “stop -> missed <= 2027-12-31”.", 0),
        ("a given b", "A law has no 'given': write a -> b, or P(a given b) = 0.9 for a probability.", 0),
        ("P(cut &) = 0.3", "expected an event after '&' (column 8)", 8),
        ("P(stop & missed > 2027-12-31) >= 0.2", "No probabilities fit this together with the other laws.", 0),
        (
            "variable winner: A",
            "a variable has two values or more; a final ', ...' admits an unnamed other (column 18)",
            18,
        ),
    ],
)
def test_faults_of_laws(text, fault, column):
    read = read_draft(NORVIK, text, "law")
    assert (read.fault, read.column) == (fault, column)


def test_probabilities_that_contradict_each_other():
    setting = SheetSetting((Item("e", "p & q", "both", 1),), ("P(p) <= 0.2",))
    assert (
        read_draft(setting, "P(p & q) >= 0.3", "law").fault == "No probabilities fit this together with the other laws."
    )
    assert read_draft(setting, "P(p & q) >= 0.1", "law").fault is None


def test_long_drafts_and_empty_ones():
    assert "at most 10,000 characters" in read_draft(NORVIK, "x" * 20_000, "law").fault
    assert read_draft(NORVIK, "  ", "law").fault is None
    assert read_draft(NORVIK, "(" * 5_000).fault is not None
