"""Numbers and dates as people write them: the same meaning is read alike, and another meaning is not."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherently.proposals.date_phrases import find_dates
from coherently.proposals.number_phrases import INFINITE, NumberKind, ValueRange, find_numbers
from coherently.proposals.question_rows import QuestionRow
from coherently.proposals.row_readings import read_row

ALIKE = [
    ["above $70k", "over $70,000", "more than $70 thousand", "> $70k", "exceeds $70000", "higher than $0.07m"],
    ["at least 5 million", "5m or more", "5 million+", ">= 5,000,000", "no less than 5m", "at or above 5 million"],
    ["less than 3%", "below 3 percent", "under 3 per cent", "< 3%", "fewer than 3%"],
    ["at most 7", "7 or less", "no more than 7", "<= 7", "up to 7", "7 or fewer", "at or below 7"],
    ["between 10 and 20", "10-20", "10 to 20", "from 10 to 20", "between 10-20"],
    ["$50-100b", "$50b-100b", "between $50 billion and $100 billion", "$50 to $100bn"],
    ["more than 2 and less than or equal to 4", "above 2 and at most 4", "more than 2 but not exceeding 4"],
    ["exactly 3", "equal to 3"],
    ["by 25+ bps", "by at least 25 basis points", "by 25 bps or more"],
]
SIGNS = {
    "above $70k": ValueRange(low=Decimal(70000)),
    "at least 5 million": ValueRange(low=Decimal(5000000), has_low=True),
    "less than 3%": ValueRange(high=Decimal(3)),
    "at most 7": ValueRange(high=Decimal(7), has_high=True),
    "between 10 and 20": ValueRange(Decimal(10), Decimal(20), has_low=True, has_high=True),
    "more than 2 and less than or equal to 4": ValueRange(Decimal(2), Decimal(4), has_high=True),
}


@pytest.mark.parametrize("texts", ALIKE, ids=lambda texts: texts[0])
def test_the_same_number_is_read_alike(texts):
    found = {text: tuple((one.values, one.unit, one.kind) for one in find_numbers(text)) for text in texts}
    assert len(set(found.values())) == 1, found
    assert all(len(one) == 1 for one in found.values())


@pytest.mark.parametrize(("text", "values"), SIGNS.items())
def test_open_and_closed_ends(text, values):
    assert [one.values for one in find_numbers(text)] == [values]


@pytest.mark.parametrize("text", ["H5N1", "Covid-19", "the 25th of them", "S2E8", "at 4am", "D23"])
def test_parts_of_names_are_not_numbers(text):
    assert find_numbers(text.lower()) == []


def test_what_is_outside_of_a_range():
    (found,) = find_numbers("less than or equal to 75k or greater than 76k")
    assert found.kind is NumberKind.OUTSIDE
    assert found.values == ValueRange(Decimal(75000), Decimal(76000), has_high=True)


def test_units_are_kept_apart():
    units = [find_numbers(text)[0].unit for text in ("above $5", "above 5%", "above 5 bps", "above 5", "above €5")]
    assert len(set(units)) == 5


def ranges():
    ends = st.integers(-3, 3).map(Decimal)
    return st.builds(
        lambda a, b, low, high: ValueRange(min(a, b), max(a, b), low or a == b, high or a == b),
        ends,
        ends,
        st.booleans(),
        st.booleans(),
    ) | st.builds(lambda a, low: ValueRange(low=a, has_low=low), ends, st.booleans())


def holds(values, x):
    above = x > values.low or (x == values.low and values.has_low)
    return above and (x < values.high or (x == values.high and values.has_high))


@given(ranges(), ranges())
def test_ranges_are_compared_as_sets_of_numbers(one, other):
    """All numbers that matter are tried: ends, and one between any two of them."""
    points = [Decimal(n) / 2 for n in range(-9, 10)]
    mine, others = {x for x in points if holds(one, x)}, {x for x in points if holds(other, x)}
    assert one.is_within(other) == (mine <= others)
    assert one.is_apart(other) == (not mine & others)
    if one.touches(other):
        assert len(mine & others) == 1
        assert not mine <= others
    assert one.is_nearly_within(other) or not one.is_within(other)
    assert max(points) < INFINITE


DATES = [
    [
        "by December 31, 2026",
        "by 31 December 2026",
        "by Dec 31st, 2026",
        "by 31.12.2026",
        "by 2026-12-31",
        "by 12/31/2026",
    ],
    ["in Q1 2026", "in the first quarter of 2026", "in 2026 Q1", "in the 1st quarter of 2026"],
    ["before July 2026", "before Jul 2026", "before july, 2026"],
    ["on 7/13", "on July 13", "on July 13th", "on 13 July"],
]


@pytest.mark.parametrize("texts", DATES, ids=lambda texts: texts[0])
def test_the_same_date_is_read_alike(texts):
    found = {text: [one.canonical for one in find_dates(text.lower())] for text in texts}
    assert len({str(one) for one in found.values()}) == 1, found
    assert all(len(one) == 1 for one in found.values())


ROLES = {
    "by June 2026": "deadline",
    "before June 2026": "deadline",
    "through June 2026": "until",
    "until June 30, 2026": "until",
    "on June 30, 2026": "at",
    "in June 2026": "period",
    "within 3 years": "within",
    "between June 1 and June 9, 2026": "window",
    "Jan 3-Jan 10": "window",
    "the 2026 World Cup": "literal",
    "in the 2026 World Cup": "literal",
}


@pytest.mark.parametrize(("text", "role"), ROLES.items())
def test_a_preposition_gives_the_role(text, role):
    assert [one.role.value for one in find_dates(text.lower())] == [role]


def test_a_year_that_is_not_stated_is_not_filled_in():
    assert [one.has_year for one in find_dates("before march, on 7/13 and by june 3, 2026")] == [False, False, True]


def test_words_that_are_months_too_are_words():
    assert find_dates("may the march go on") == []


@pytest.mark.parametrize("text", ["a river of 2000 to 2600 miles", "the 2024-25 season"])
def test_numbers_that_look_like_years_are_no_dates(text):
    assert find_dates(text) == []


ORDERED = [
    "before 2026",
    "by March 1, 2026",
    "by June 2026",
    "before July 2, 2026",
    "by the end of 2026",
    "before 2028",
]


def test_limits_are_in_order_and_by_a_year_may_be_its_beginning_or_its_end():
    dates = [find_dates(text.lower())[0] for text in ORDERED]
    for i, one in enumerate(dates):
        assert not any(one.is_before(other) for other in dates[: i + 1])
        assert all(one.is_before(other) for other in dates[i + 2 :])
    year, summer = find_dates("by 2026")[0], find_dates("by june 30, 2026")[0]
    assert not year.is_before(summer)
    assert not summer.is_before(year)


@given(st.text(max_size=80))
def test_any_text_is_read_and_spans_lie_in_it(text):
    reading = read_row(QuestionRow("q", text))
    assert len(reading.masked) == len(reading.plain) == len(text)
    for one in (*reading.numbers, *reading.dates):
        assert 0 <= one.span[0] <= one.span[1] <= len(text)
