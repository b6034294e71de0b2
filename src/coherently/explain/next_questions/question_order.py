"""The events whose answers would say most, the best first, and the call that finds them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import NUMBER, TEXT, Described, ListOf, ObjectOf, OneWord, OrNull, Record, RecordField, fact
from coherently.errors import MethodError, PanelError
from coherently.explain.next_questions.candidate_events import suggested
from coherently.explain.next_questions.contradiction_gains import contradiction_gains
from coherently.explain.next_questions.width_gains import NARROW, OpenRanges
from coherently.note_log import notes_logged
from coherently.panel import Panel, Tabled, to_frame
from coherently.result import aggregate
from coherently.solve.budget import asked_budget, check_time_limit
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.next_questions.width_gains import OpenEvent
    from coherently.panel import Columns, Progress
    from coherently.solve import Signal
    from coherently.solve.budget import Budget

AGGREGATED = 0.4
"""The part of the time for the coherent answer that the ranges are about."""


class QuestionAim(StrEnum):
    """What answers should say most about."""

    ALL = "all"
    EVENT = "event"
    CONTRADICTIONS = "contradictions"


QUESTION_FIELDS = (
    RecordField("event", TEXT, "the event to ask about"),
    RecordField("gain", NUMBER, "by how much its answer narrows what is open, or how much of the distance it removes"),
    RecordField("low", OrNull(NUMBER), "the least answer that is coherent with the panel; null for contradictions"),
    RecordField("high", OrNull(NUMBER), "the greatest"),
)
NEXT_QUESTIONS = Record(
    "next-questions",
    1,
    "The events whose answers would say most (`co.ask_next`).",
    (
        RecordField("aim", OneWord(lambda: QuestionAim), "what the answers should say most about"),
        RecordField("about", OrNull(TEXT), "the event that they should say most about, for the aim event"),
        RecordField(
            "open", NUMBER, "the width of what is open, or the squared distance of the means from coherent ones"
        ),
        RecordField("questions", ListOf(ObjectOf("a question", QUESTION_FIELDS)), "the best first"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, slots=True)
class OpenQuestion(Viewed):
    """An event to ask about, the gain of its answer, and the least and greatest answer that is coherent."""

    event: str
    gain: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class NextQuestions(Tabled, Described):
    """The events to ask about next, the best first.

    `aim` says what the answers should say most about, and `about` is the event for the aim "event". `open` is how much
    is open now: the width of the range of that event, the sum of the widths of all candidates, or the squared
    distance of the panel's means from coherent numbers. A `gain` is a part of it; gains do not add up, since answers
    may say the same.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.7), ("Ann", "q", 0.6)])
    >>> found = co.ask_next(panel, about="p | q", candidates=["p & q", "r"])
    >>> print(found)
    The range that the panel implies for [p | q] is 0.30 wide.
    Ask about [p & q] (0.30 to 0.60): on average, its answer narrows that by 0.30.
    """

    record: ClassVar[Record] = NEXT_QUESTIONS

    aim: QuestionAim
    about: str | None
    open: float
    questions: tuple[OpenQuestion, ...]
    notes: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """What is open, and what to ask, in words."""
        if self.aim is QuestionAim.CONTRADICTIONS:
            first = f"The squared distance of the panel's means from coherent numbers is {self.open:.4f}."
            said = [
                f"Ask again about [{one.event}]: another answer removes up to {one.gain:.4f}." for one in self.questions
            ]
        else:
            what = "all candidates" if self.about is None else f"[{self.about}]"
            first = f"The range that the panel implies for {what} is {self.open:.2f} wide{self._in_all()}."
            said = [
                f"Ask about [{one.event}] ({one.low:.2f} to {one.high:.2f}): on average, its answer narrows that by "
                f"{one.gain:.2f}."
                for one in self.questions
            ]
        return [first, *(said or ["No answer that was looked at would say more."]), *self.notes]

    def _in_all(self) -> str:
        return "" if self.about is not None else " in all"

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return {field.name: [getattr(one, field.name) for one in self.questions] for field in QUESTION_FIELDS}

    def frame(self) -> Any:
        """One row per event: event, gain, low, high."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        rows = [{field.name: getattr(one, field.name) for field in QUESTION_FIELDS} for one in self.questions]
        head = {"aim": str(self.aim), "about": self.about, "open": self.open}
        return {**head, "questions": rows, "notes": list(self.notes)}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> NextQuestions:
        return cls(
            aim=fact(QuestionAim, values["aim"]),
            about=values["about"],
            open=float(values["open"]),
            questions=tuple(OpenQuestion(**row) for row in values["questions"]),
            notes=tuple(values["notes"]),
        )


@notes_logged(lambda found: found.notes)
def ask_next(
    panel: Panel,
    k: int = 5,
    *,
    about: str | None = None,
    candidates: Sequence[str] | None = None,
    time_limit: float = 10.0,
    progress: Progress | None = None,
    cancel: Signal | None = None,
) -> NextQuestions:
    """The `k` events whose answers would say most: about one event, about all, or about where contradictions are.

    The panel's coherent answer leaves a range to events that nobody forecast (`Result.bounds`). An answer about one
    event narrows the ranges of others. The gain of a question is by how much on average, if every answer that is
    coherent with the panel is as likely as any other: docs/explanation/what-to-ask.md has the formula. With `about`
    an event, the gain is that of the range of this event, whose own forecasts are set aside; without it, the gain is
    the sum over all candidates. With `about="contradictions"`, the panel's own events are ranked by how much of the
    squared distance of its means from coherent numbers goes if the event gets the best other answer.

    `candidates` are the events that could be asked. By default these are up to 24: variables that nobody forecast,
    then pairs of variables that occur together in an event or in a law. `time_limit` is in seconds; what was not
    proved in time is left out, and a note says so. `progress` and `cancel` are as in `co.aggregate`. Candidates, and
    the event of `about`, may be conditionals if the panel fixes the probability of their condition.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "flood", 0.3), ("Ann", "strike", 0.4), ("Ann", "delay", 0.5)])
    >>> found = co.ask_next(panel, about="flood | strike", candidates=["flood & delay", "flood & strike"])
    >>> [(one.event, round(one.gain, 3)) for one in found.questions]
    [('flood & strike', 0.3)]
    """
    if not isinstance(panel, Panel):
        raise PanelError(f"ask_next takes a Panel, not a {type(panel).__name__}; see co.read_panel")
    if k < 1:
        raise MethodError(f"k is {k}; ask for at least one event", code="bad-option")
    check_time_limit(time_limit)
    budget = asked_budget(progress, cancel).within(time_limit)
    if about == QuestionAim.CONTRADICTIONS:
        distance, told, notes = contradiction_gains(panel, budget)
        rows = [OpenQuestion(event, gain) for event, gain in told]
        return _ranked(NextQuestions(QuestionAim.CONTRADICTIONS, None, distance, tuple(rows), notes=tuple(notes)), k)
    return _ranked(_by_widths(panel, about, candidates, budget), k)


def _ranked(found: NextQuestions, k: int) -> NextQuestions:
    """The best k of the questions; those without a gain are left out, and equal gains keep their order."""
    order = sorted((one for one in found.questions if one.gain > NARROW), key=lambda one: -round(one.gain, 9))
    return NextQuestions(found.aim, found.about, found.open, tuple(order[:k]), notes=found.notes)


def _by_widths(panel: Panel, about: str | None, candidates: Sequence[str] | None, budget: Budget) -> NextQuestions:
    told, notes = (list(candidates), []) if candidates is not None else suggested(panel)
    about = None if about is None else panel.text_of(about)
    if about is not None:
        panel = _without(panel, about)
    result = aggregate(panel, "exact", time_limit=AGGREGATED * budget.left(), cancel=budget.cancel)
    # The target comes first: of two texts of one event the first is kept, and it is found by its own.
    events = OpenRanges(result, [*([] if about is None else [about]), *told], budget)
    if about is None:
        aim, (width, rows) = QuestionAim.ALL, _about_all(events, budget)
    else:
        aim, (width, rows) = QuestionAim.EVENT, _about_one(events, about, budget)
    if events.unproved:
        notes.append(f"ranges that were not proved in time, and are left out: {events.unproved:,}")
    if events.leaves_out:
        notes.append(
            "forecasts conditional on events that are impossible in the answer are left out: with them, ranges and "
            "gains may be smaller"
        )
    return NextQuestions(aim, about, width, tuple(rows), notes=tuple(notes))


def _without(panel: Panel, about: str) -> Panel:
    """The panel without the forecasts of an event and its complement."""
    side = panel.events.find([about])
    if side.faults:
        return panel
    joint, condition, rest = map(int, side.sides[0])
    own = np.isin(panel.written.event, [joint, rest]) & (panel.written.condition == condition)
    if not own.any():
        return panel
    if own.all():
        raise PanelError(f"nobody forecast anything but {about!r}, so that nothing is implied for it", code="no-rows")
    return panel.select(~own[panel.event_index])


def _about_one(events: OpenRanges, about: str, budget: Budget) -> tuple[float, list[OpenQuestion]]:
    every = events.measured()
    target = next((one for one in every if one.text == about), None)
    if target is None:
        return 0.0, []
    others = [one for one in every if one is not target]
    rows = []
    for number, one in enumerate(others, 1):
        rows.append(_question(one, events.gains(one, target)[0]))
        budget.tell(number / len(others))
    return target.width, rows


def _about_all(events: OpenRanges, budget: Budget) -> tuple[float, list[OpenQuestion]]:
    every = events.measured()
    gain = {one.text: one.width for one in every}
    pairs = list(combinations(every, 2))
    for number, (one, other) in enumerate(pairs, 1):
        of_other, of_one = events.gains(one, other)
        gain[one.text] += of_other
        gain[other.text] += of_one
        budget.tell(number / len(pairs))
    return sum(one.width for one in every), [_question(one, gain[one.text]) for one in every]


def _question(one: OpenEvent, gain: float) -> OpenQuestion:
    return OpenQuestion(one.text, gain, one.low, one.high)
