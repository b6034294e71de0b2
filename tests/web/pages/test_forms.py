"""Questions as forms describe them."""

import re
from dataclasses import replace
from datetime import date
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.errors import CoherentlyError
from coherently.web.pages.forms.joined_events import JOINS, EventChip, join
from coherently.web.pages.forms.joined_laws import RELATIONS, relate
from coherently.web.pages.forms.question_forms import name_of, quoted, read_question
from coherently.web.pages.forms.typed_dates import one_day, read_days
from coherently.web.pages.forms.typed_numbers import one_number, read_number
from coherently.web.pages.judge_forms import read_per_cent
from coherently.web.refusals import RefusedError


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
        ({"kind": "ladder", "shape": "dates", "lines": "31.2.2027"}, "not a date"),
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


NUMBERS = {
    "40000": "40000",
    "40 000": "40000",
    "40\u00a0000": "40000",
    "40\u202f000": "40000",
    "40'000": "40000",
    "40’000": "40000",
    "1,234,567": "1234567",
    "1.234.567": "1234567",
    "1,234.5": "1234.5",
    "1.234,5": "1234.5",
    "1 234,5": "1234.5",
    "0,35": "0.35",
    "0.350": "0.350",
    "0,125": "0.125",
    "1,5": "1.5",
    "12.5": "12.5",
    "-2.5": "-2.5",
    "−2,5": "-2.5",
    "+3": "3",
    "1234,567": "1234.567",
    "40.0": "40.0",
    "007": "007",
}
TWO = {"40,000": ("40", "40000"), "40.000": ("40", "40000"), "1,125": ("1.125", "1125"), "-1.250": ("-1.25", "-1250")}
NONE = (
    "",
    "much",
    "1 2",
    "1 23",
    "1,23,456",
    "1.2.3",
    "1,,5",
    "1,5,5",
    "4 0000",
    "1e5",
    "nan",
    "inf",
    "0x1",
    "1'000 000,0,0",
)


@pytest.mark.parametrize("typed", NUMBERS)
def test_a_number_is_read_as_it_is_meant(typed):
    assert read_number(typed) == (NUMBERS[typed], None)
    assert one_number(typed).text == NUMBERS[typed]


@pytest.mark.parametrize("typed", TWO)
def test_a_number_with_two_readings(typed):
    """Thousands or a fraction: both are offered, and what is offered has one reading."""
    assert read_number(typed) == TWO[typed]
    with pytest.raises(RefusedError, match=re.escape(typed)) as refusal:
        one_number(typed)
    large, small = re.fullmatch(r"Write (\S+) or (\S+)\.", refusal.value.remedy).groups()
    assert [float(one_number(text).text) for text in (small, large)] == [float(text) for text in TWO[typed]]


@pytest.mark.parametrize("typed", NONE)
def test_what_is_no_number(typed):
    assert read_number(typed) is None


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4))
def test_any_number_is_read_back(number):
    assert float(one_number(str(number)).text) == float(number)
    european = str(number).replace(".", ",")
    assert float(one_number(european).text) == float(number)
    assert float(one_number(f"{number:,}").text) == float(number)


@pytest.mark.parametrize(
    ("typed", "value"), [("40,000", 0.4), ("12,5 %", 0.125), ("0,35", 0.0035), ("5.", 0.05), (",5", 0.005), (" ", None)]
)
def test_per_cents_have_no_thousands(typed, value):
    assert read_per_cent(typed) == pytest.approx(value)


@pytest.mark.parametrize("typed", ["1 000", "1.2.3", "nan", "1e1", "1_0"])
def test_what_is_no_per_cent(typed):
    with pytest.raises(RefusedError):
        read_per_cent(typed)


@pytest.mark.parametrize("typed", ["40,000", "40.000 €"])
def test_a_bound_of_two_readings_is_refused_with_both(typed):
    with pytest.raises(RefusedError, match="40000 or as 40"):
        read_question(form(kind="ladder", shape="at-least", lines=typed), ())


def test_a_bound_of_thousands():
    draft = read_question(form(kind="ladder", shape="at-least", lines="40 000 €\n1,250,000 €", variable="sales"), ())
    assert [event.event for event in draft.events] == ["sales >= 40000", "sales >= 1250000"]
    assert [event.title.replace("\u00a0", " ") for event in draft.events] == ["40,000 € or more", "1,250,000 € or more"]


def test_a_number_that_a_formula_compares_is_declared_by_the_form():
    draft = read_question(form(title="Sales", event="sales > 40000"), ())
    assert (draft.kind, draft.declaration) == ("yes-no", "variable sales: number")
    assert read_question(form(title="Due", event="due <= 2027-03-31"), ()).declaration == "variable due: date"
    assert read_question(form(title="Sales", event="sales > 40000"), (), {"sales"}).declaration is None
    assert read_question(form(title="Rain", event="rain & wind"), ()).declaration is None


OFFERED = [
    EventChip(f"e_{name}", text, f"{name} comes", number, False)
    for number, (name, text) in enumerate((("a", "a"), ("b", "b | c"), ("c", "~c"), ("d", "at_least(1; a, b)")), 1)
]
MEANINGS = {
    "e_a": lambda world: world["a"],
    "e_b": lambda world: world["b"] or world["c"],
    "e_c": lambda world: not world["c"],
    "e_d": lambda world: world["a"] or world["b"],
}


def outcome_of(formula, world):
    """How the library says that a formula comes out in a world: true, false, or None if its condition fails."""
    rows = [("somebody", text, 0.5) for text in (formula, *world)]
    panel = co.Panel.from_records(rows, outcomes=world)
    return {1: True, 0: False, -2: None}[int(panel.written.outcome[0])]


@pytest.mark.parametrize("seed", range(40))
def test_what_chips_join_means_what_it_says(seed):
    random = Random(seed)
    way = random.choice(JOINS)
    count = {"not": 1, "if": 1}.get(way) or random.randint(2, 4)
    chosen = sorted(random.sample([chip.id for chip in OFFERED], count))
    turned = {name for name in chosen if random.random() < 0.5}
    least, given, given_turned = random.randint(1, count), "", random.random() < 0.5
    sent = {"join": way, "least": str(least), "given-turn": "not" if given_turned else ""}
    sent |= {f"pick-{name}": "1" for name in chosen} | {f"turn-{name}": "not" for name in turned}
    if way == "if":
        given = random.choice([chip.id for chip in OFFERED if chip.id not in chosen])
        sent["given"] = given
    made = join(sent, OFFERED)
    for values in product((False, True), repeat=3):
        world = dict(zip("abc", values, strict=True))
        parts = [MEANINGS[name](world) != (name in turned) for name in chosen]
        expected = {
            "both": all(parts),
            "either": any(parts),
            "at-least": sum(parts) >= least,
            "not": not parts[0],
            "if": parts[0] if way == "if" and MEANINGS[given](world) != given_turned else None,
        }[way]
        assert outcome_of(made.formula, world) == expected, (made.formula, world)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"join": "both", "pick-e_a": "1"}, "two questions or more"),
        ({"join": "not", "pick-e_a": "1", "pick-e_b": "1"}, "exactly one"),
        ({"join": "if", "pick-e_a": "1"}, "choose the condition"),
        ({"join": "if", "pick-e_a": "1", "given": "e_a"}, "choose the condition"),
        ({"join": "at-least", "least": "3", "pick-e_a": "1", "pick-e_b": "1"}, "from 1 to 2"),
        ({"join": "at-least", "least": "two", "pick-e_a": "1", "pick-e_b": "1"}, "from 1 to 2"),
    ],
)
def test_too_few_or_too_many_chips_are_refused_with_what_is_needed(sent, told):
    with pytest.raises(RefusedError, match=told):
        join(sent, OFFERED)


@pytest.mark.parametrize("seed", range(40))
def test_a_law_of_chips_holds_in_the_worlds_that_it_says(seed):
    random = Random(seed)
    way = RELATIONS[seed % len(RELATIONS)]
    count = {"if": 1, "not-both": 2, "same": 2}.get(way) or random.randint(2, 3)
    chosen = sorted(random.sample([chip.id for chip in OFFERED], count))
    turned = {name for name in chosen if random.random() < 0.5}
    sent = {"relation": way, "given-turn": random.choice(["", "not"])}
    sent |= {f"pick-{name}": "1" for name in chosen} | {f"turn-{name}": "not" for name in turned}
    given = random.choice([chip.id for chip in OFFERED if chip.id not in chosen])
    sent |= {"given": given} if way == "if" else {}
    law = relate(sent, OFFERED)
    for values in product((False, True), repeat=3):
        world = dict(zip("abc", values, strict=True))
        parts = [MEANINGS[name](world) != (name in turned) for name in chosen]
        condition = MEANINGS[given](world) != (sent["given-turn"] == "not")
        expected = {
            "if": parts[0] or not condition,
            "not-both": not all(parts),
            "same": len(set(parts)) == 1,
            "exactly-one": sum(parts) == 1,
            "at-most-one": sum(parts) <= 1,
            "at-least-one": sum(parts) >= 1,
        }[way]
        assert outcome_of(law.statement, world) == expected, (law.statement, world)
    titles = {chip.id: chip.title for chip in OFFERED}
    assert all(f"“{titles[name]}”" in law.title for name in chosen)
    assert law.title.count("not “") == len(turned) + (way == "if" and sent["given-turn"] == "not")


def test_a_law_whose_words_are_too_long_for_a_title_is_its_formula():
    many = [replace(OFFERED[0], id=f"e_{i}", event=f"a{i}", title="A long title " * 5) for i in range(8)]
    law = relate({"relation": "exactly-one", **{f"pick-{chip.id}": "1" for chip in many}}, many)
    assert (law.title, law.statement) == ("", "exactly(1; a0, a1, a2, a3, a4, a5, a6, a7)")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"relation": "not-both", "pick-e_a": "1"}, "exactly two"),
        ({"relation": "same", "pick-e_a": "1", "pick-e_b": "1", "pick-e_c": "1"}, "exactly two"),
        ({"relation": "at-most-one", "pick-e_a": "1"}, "two questions or more"),
        ({"relation": "if", "pick-e_a": "1"}, "choose the condition"),
        ({"relation": "if", "pick-e_a": "1", "given": "e_a"}, "choose the condition"),
        ({"relation": "nonsense", "pick-e_a": "1"}, "choose the condition"),
    ],
)
def test_a_law_of_too_few_or_too_many_chips_is_refused_with_what_is_needed(sent, told):
    with pytest.raises(RefusedError, match=told):
        relate(sent, OFFERED)


def texts_of_a_day(day):
    """The ways in which people write a day, each of which says which number is the month."""
    name = f"{day:%B}"
    yield from (day.isoformat(), f"{day.day}.{day.month}.{day.year}", f"{day:%d.%m.%Y}", f"{day:%Y/%m/%d}")
    yield from (
        f"{day.day} {name} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{day.day} {name[:3].upper()} {day.year}",
    )
    yield from (
        f"{name[:3]}. {day.day} {day.year}",
        f"{day.day}th of {name} {day.year}",
        f" {day.day}. {day.month}. {day.year} ",
    )


@given(st.dates(min_value=date(1900, 1, 1)))
def test_a_day_is_read_as_people_write_it(day):
    for text in texts_of_a_day(day):
        assert read_days(text) == [day], text


@given(st.dates(min_value=date(1900, 1, 1)), st.sampled_from("/-"))
def test_a_day_between_slashes_that_could_be_two_is_asked_about(day, mark):
    text = f"{day.day}{mark}{day.month}{mark}{day.year}"
    other = date(day.year, day.day, day.month) if day.day <= 12 else day
    assert set(read_days(text)) == {day, other}
    if other == day:
        assert one_day(text) == day
        return
    with pytest.raises(RefusedError, match="can be read as") as refused:
        one_day(text)
    assert {day.isoformat(), other.isoformat()} == set(re.findall(r"\d{4}-\d\d-\d\d", refused.value.remedy))


@pytest.mark.parametrize(
    "text", ["", "soon", "2027-02-30", "31.2.2027", "2027", "30/30/2027", "1.2.27", "5 Smarch 2027"]
)
def test_what_is_no_day_is_not_read_as_one(text):
    assert read_days(text) == []


def test_a_ladder_of_days_is_ordered_however_they_are_written():
    lines = "31 August 2027\n30.4.2027\n6/30/2027"
    draft = read_question(form(kind="ladder", shape="dates", lines=lines, variable="launch"), ())
    assert [event.event for event in draft.events] == [
        "launch <= 2027-04-30",
        "launch <= 2027-06-30",
        "launch <= 2027-08-31",
    ]
    assert [event.title for event in draft.events] == ["by 30 April", "by 30 June", "by 31 August"]
