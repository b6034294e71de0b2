"""Labels reach inside compound events and conditionals, in a check, in a report and on a sheet in the browser."""

import coherently as co
from coherently.explain.event_names import EventNames, named_items
from coherently.explain.judge_sheet import Answered, Item, SheetSetting, feedback
from coherently.report.contradicting_judges import who_contradicts
from coherently.report.event_titles import EventTitles

LABELS = {"cut": "Rate cut", "r": "a recession", "w=a": "Anna wins", '"oil > 100?"': "dear oil"}
CASES = {
    "cut given r": "“Rate cut” given a recession",
    "cut & ~r | w = a": "(“Rate cut” and not a recession) or “Anna wins”",
    '"oil > 100?" & GDP': "dear oil and “GDP”",
    "exactly(1; cut, r)": "exactly 1 of “Rate cut”, a recession",
}
VALUES = {"r": 0.3, "cut given r": 0.45, "cut & r & x": 0.2}


def plain(sentences):
    return [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in sentences]


def finding(**more):
    rows = [("Ann", event, value) for event, value in (VALUES | more).items()]
    return co.check(co.Panel.from_records(rows, labels=LABELS))


def test_names_are_put_together_of_those_of_the_parts():
    names = EventNames.of(co.Panel.from_records([("A", "p & q", 0.5)], labels=LABELS))
    assert {text: names.composed(text) for text in CASES} == CASES
    assert names.composed("p & q") is None
    assert names.spoken("Q", None) == "“Q”"
    assert EventNames.of(co.Panel.from_records([("A", "p & q", 0.5)])).composed("cut & r") is None


def test_plain_events_are_names_and_not_formulas():
    panel = co.Panel.from_records([("A", "cut & r", 0.5)], plain_events=True, labels=LABELS)
    assert EventNames.of(panel).composed("cut & r") is None


END = "“Rate cut” and a recession and x at most 14 % likely, not 20 %"


def test_conditionals_are_named_in_a_check_and_in_a_report():
    found = finding()
    said = f"A recession (30 %) and “Rate cut” given a recession (45 %) make {END}: 45 % of 30 % make 14 %."
    assert plain(found.judges["Ann"].sentences("people")) == [said]
    assert plain(who_contradicts(found, EventTitles(found.panel)).judges[0].sentences) == [said]


def test_a_sheet_says_the_same():
    said = plain(finding(cut=0.5).judges["Ann"].sentences("people"))
    assert said == [f"A recession (30 %) with “Rate cut” in 45 % of the cases makes {END}."]
    values = VALUES | {"cut": 0.5}
    items = tuple(Item(event, event, LABELS.get(event, event), i + 1) for i, event in enumerate(values))
    told = feedback(SheetSetting(items), [Answered(*each) for each in values.items()], time_limit=60.0)
    assert plain(clash.sentence for clash in told.contradictions) == said


def test_the_least_change_is_named_too():
    found = finding()
    changes = who_contradicts(found, EventTitles(found.panel)).judges[0].changes
    assert ("Rate cut and a recession and x", 0.2) in [(one.title, one.old) for one in changes]


def test_quotes_are_named_too():
    rows = [{"event": "r", "lower": 0.2, "upper": 0.3}, {"event": "r & cut", "lower": 0.4, "upper": 0.5}]
    found = co.check(co.Panel.from_records(rows, labels=LABELS)).means
    assert plain(found.sentences("people")) == [
        "A recession (20 % to 30 %) and a recession and “Rate cut” (40 % to 50 %) do not fit together."
    ]


def test_a_title_of_its_own_stays():
    items = (
        Item("e1", "r", "a recession", 1),
        Item("e2", "r & cut", "a slump", 2),
        Item("e3", "r | cut", "r | cut", 3),
    )
    assert [item.title for item in named_items(items)] == ["a recession", "a slump", "a recession or cut"]
    topic = (Item("e1", "i < 2", "below 2 %", 1, "inflation"), Item("e2", "i<2 given r", "i<2 given r", 2))
    assert named_items(topic)[1].title == "inflation below 2 % given r"
