"""What tools take and give, in the words of the contract: every field with its meaning and its limits.

Texts are in one line and have no characters that do not show, so that a name is what a reader sees; they are as long as
a question may be, and lists are as long as the time for a call allows.
"""

from __future__ import annotations

import unicodedata
from typing import Any

from coherently.contract import FLAG, NUMBER, TEXT, WHOLE, ListOf, ObjectOf, OrNull, RecordField
from coherently.contract.description import PlainKind

NAME, EVENT, LAW = 200, 10_000, 20_000
"""Maximum number of characters of a name, of an event and of a law."""
FORECASTS, LAWS, QUESTIONS, EVENTS = 5_000, 1_000, 2_000, 200
"""Maximum number of items of lists."""
SECONDS = 60.0
"""Maximum time limit of a call, in seconds."""
SHOWN_ROWS = 200
"""Maximum number of rows of a list in an answer; the record has all."""
HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that do not show, or break a line."""


def is_line(value: Any, most: int) -> bool:
    r"""Whether a value is a text of one line, not longer than that, in which every character shows.

    >>> is_line("rain & wind", 20), is_line("rain\nwind", 20), is_line("ra\u200bin", 20), is_line("r" * 21, 20)
    (True, False, False, False)
    """
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.strip():
        return False
    return (value.isascii() and value.isprintable()) or not any(unicodedata.category(each) in HIDDEN for each in value)


def _line(noun: str, most: int) -> PlainKind:
    return PlainKind(
        f"{noun} of 1 to {most:,} characters, in one line, without characters that do not show",
        (("type", "string"), ("minLength", 1), ("maxLength", most)),
        lambda value: is_line(value, most),
    )


def _between(low: float, high: float) -> PlainKind:
    def fits(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    told = (("type", "number"), ("minimum", low), ("maximum", high))
    return PlainKind(f"a number from {low:g} to {high:g}", told, fits)


def _whole(low: int, high: int) -> PlainKind:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    told = (("type", "integer"), ("minimum", low), ("maximum", high))
    return PlainKind(f"a whole number from {low} to {high}", told, fits)


JUDGE, EVENT_TEXT, LAW_TEXT = _line("a name", NAME), _line("an event", EVENT), _line("a law", LAW)
PROBABILITY = _between(0.0, 1.0)

FORECAST = ObjectOf(
    "a forecast",
    (
        RecordField("judge", JUDGE, "who forecasts, such as the name of a model; 'panel' if left out", optional=True),
        RecordField(
            "event", EVENT_TEXT, 'a formula such as "a & ~b", "a -> b", "a given b", or any quoted text as one variable'
        ),
        RecordField("probability", PROBABILITY, "the probability that the judge gives it, from 0 to 1"),
        RecordField("weight", _between(0.0, 1e6), "how much this forecast counts; 1 if left out", optional=True),
    ),
)
FORECASTS_FIELD = RecordField(
    "forecasts", ListOf(FORECAST, 1, FORECASTS), "one object for each answer: judge, event and probability"
)
LAWS_FIELD = RecordField(
    "laws",
    ListOf(LAW_TEXT, 0, LAWS),
    'formulas that are certainly true, such as "june -> december", or declarations such as "variable winner: Ann, Bob"',
    optional=True,
)
SECONDS_FIELD = RecordField(
    "time_limit", _between(0.001, SECONDS), "maximum number of seconds for the call; 10 if left out", optional=True
)
PANEL_FIELDS = (FORECASTS_FIELD, LAWS_FIELD)
EVENTS_FIELD = RecordField("events", ListOf(EVENT_TEXT, 1, EVENTS), "the events to bound, forecast or not")
QUESTIONS_FIELD = RecordField(
    "questions", ListOf(_line("a question", 2_000), 1, QUESTIONS), "the questions in words, one text each"
)
RESULT_FIELD = RecordField("result", JUDGE, "the address that repair gave as its record, coherently://records/...")
ABOUT_FIELD = RecordField(
    "about",
    EVENT_TEXT,
    'the event that answers should say most about, or "contradictions"; all candidates if left out',
    optional=True,
)
CANDIDATES_FIELD = RecordField(
    "candidates", ListOf(EVENT_TEXT, 1, EVENTS), "the events that could be asked; chosen by the logic if left out",
    optional=True,
)  # fmt: skip
COUNT_FIELD = RecordField("k", _whole(1, 50), "how many events to name; 5 if left out", optional=True)

SENTENCES = RecordField("sentences", ListOf(TEXT), "the answer in words")
RECORD = RecordField("record", TEXT, "the address of the resource that has the whole answer as a record")
NOTES = RecordField("notes", ListOf(TEXT), "what a reader should know")
ANSWER_FIELDS = (SENTENCES, NOTES, RECORD)

CHECKED_JUDGE = ObjectOf(
    "a judge",
    (
        RecordField("judge", TEXT, "the name"),
        RecordField("coherent", OrNull(FLAG), "whether the answers fit together; null if not decided in time"),
        RecordField("distance", NUMBER, "how far the answers are from the nearest that fit together"),
        RecordField("contradictions", ListOf(TEXT), "which answers cannot all be right, in words"),
    ),
)
CHECK_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("coherent", OrNull(FLAG), "whether the means of all judges fit together; null if not decided"),
        RecordField("distance", NUMBER, "the distance of the means from the nearest coherent numbers"),
        RecordField("incoherent_judges", WHOLE, "how many judges contradict themselves"),
        RecordField("judges", ListOf(CHECKED_JUDGE), "the judges with contradictions, the worst first, at most 10"),
        *ANSWER_FIELDS,
    ),
)
REPAIRED = ObjectOf(
    "a forecast",
    (
        RecordField("event", TEXT, "the event as it was written first"),
        RecordField("given", OrNull(NUMBER), "the mean of what was given"),
        RecordField("repaired", OrNull(NUMBER), "the coherent probability, rounded so that the list is coherent"),
    ),
)
REPAIR_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("status", TEXT, "how the method ended: optimal, converged, time_limit and so on"),
        RecordField("coherence", TEXT, "how far the numbers are coherent: global, local or none"),
        RecordField("moved", WHOLE, "how many events have another probability than the mean that was given"),
        RecordField(
            "forecasts", ListOf(REPAIRED), f"one object per event, at most {SHOWN_ROWS}; the record has all of them"
        ),
        *ANSWER_FIELDS,
    ),
)
BOUND = ObjectOf(
    "bounds",
    (
        RecordField("event", TEXT, "the event"),
        RecordField("low", NUMBER, "the least probability that is coherent with the forecasts"),
        RecordField("high", NUMBER, "the greatest"),
        RecordField("certified", FLAG, "whether both are proved to be the tightest"),
    ),
)
BOUNDS_ANSWER = ObjectOf("the answer", (RecordField("bounds", ListOf(BOUND), "one object per event"), *ANSWER_FIELDS))
PROPOSAL = ObjectOf(
    "a proposal",
    (
        RecordField("law", TEXT, "the law, for the field laws of other tools"),
        RecordField("strength", TEXT, "certain, likely or ask: how sure the words make it"),
        RecordField("assumes", ListOf(TEXT), "what it takes for granted"),
        RecordField("counterexample", TEXT, "what would refute it, if that is known"),
    ),
)
RELATE_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("proposals", ListOf(PROPOSAL), f"at most {SHOWN_ROWS}, none of which is in use until you pass it"),
        RecordField("unread", ListOf(TEXT), "questions about which nothing was found"),
        *ANSWER_FIELDS,
    ),
)
STAKE = ObjectOf(
    "a bet",
    (
        RecordField("event", TEXT, "the event"),
        RecordField("trade", TEXT, "buy or sell"),
        RecordField("stake", NUMBER, "how many units"),
        RecordField("price", NUMBER, "the price of a unit, which is the probability that was given"),
    ),
)
BOOK_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("exists", FLAG, "whether there are bets that win whatever happens"),
        RecordField("sure_profit", NUMBER, "what they win at least"),
        RecordField("bets", ListOf(STAKE), f"the bets, at most {SHOWN_ROWS}"),
        *ANSWER_FIELDS,
    ),
)
VERIFY_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("verified", FLAG, "whether every promise that could be checked is kept"),
        RecordField("problems", ListOf(TEXT), "the broken promises, in words"),
        *ANSWER_FIELDS,
    ),
)
ASKED = ObjectOf(
    "a question",
    (
        RecordField("event", TEXT, "the event to ask about"),
        RecordField("gain", NUMBER, "by how much its answer narrows what is open, or removes of the contradiction"),
        RecordField("low", OrNull(NUMBER), "the least answer that is coherent; null for contradictions"),
        RecordField("high", OrNull(NUMBER), "the greatest"),
    ),
)
ASK_ANSWER = ObjectOf(
    "the answer",
    (
        RecordField("open", NUMBER, "how much is open: a width, or a squared distance"),
        RecordField("questions", ListOf(ASKED), "the events to ask about, the best first"),
        *ANSWER_FIELDS,
    ),
)
