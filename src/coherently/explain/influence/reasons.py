"""Why one event has the probability that it has: who and what pulled, and through which relations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    Described,
    ListOf,
    ObjectOf,
    OneWord,
    OrNull,
    Record,
    RecordField,
    fact,
    number_or_nan,
    plain,
)
from coherently.errors import EventError, PanelError, Where
from coherently.explain.bets.bets import bets_at_means, stated
from coherently.explain.explanation import sheet_of
from coherently.explain.fit.piece_check import in_sheet_order, looked_at
from coherently.explain.influence.changed_answers import ChangedAnswers
from coherently.explain.influence.derivatives import forecast_shares, mean_derivatives_to
from coherently.explain.influence.influence_table import (
    LARGEST,
    TIME_LIMIT,
    answers_of,
    check_result,
    event_names,
    parts_of,
)
from coherently.explain.influence.reason_sentences import told
from coherently.panel import to_frame
from coherently.panel.left_out import SINGLE, PartKind, find_part
from coherently.solve.budget import asked_budget, check_time_limit
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.explain.influence.plain_answers import PlainAnswers
    from coherently.panel import Columns, Panel, Progress
    from coherently.panel.left_out import PanelPart
    from coherently.result import Result
    from coherently.solve import Signal
    from coherently.solve.budget import Budget

PULL_FIELDS = (
    RecordField("kind", OneWord(lambda: SINGLE), "a judge, an event (a question) or a law"),
    RecordField("name", TEXT, "its name or text"),
    RecordField("spoken", TEXT, "what it is called in sentences"),
    RecordField("said", OrNull(NUMBER), "the judge's forecast of the event, or the mean of the question; null if none"),
    RecordField("others", OrNull(NUMBER), "the mean of the other judges' forecasts of the event"),
    RecordField(
        "change", OrNull(NUMBER), "the probability without it minus the probability with it; null if not known"
    ),
    RecordField("exact", FLAG, "whether the change was computed, and is no estimate"),
    RecordField("derivative", OrNull(NUMBER), "how the probability moves with `said`; null if not known"),
)
WHY = Record(
    "why",
    1,
    "Why an event has its probability (`Result.why`, `coherently explain PANEL EVENT --json`).",
    (
        RecordField("event", TEXT, "the event, as it was asked for"),
        RecordField("name", TEXT, "what it is called in sentences"),
        RecordField("probability", OrNull(NUMBER), "the result"),
        RecordField("raw", OrNull(NUMBER), "the mean of its forecasts"),
        RecordField("pulls", ListOf(ObjectOf("a pull", PULL_FIELDS)), "judges, then questions, then laws"),
        RecordField(
            "sum_of_parts", OrNull(NUMBER), "what the other questions move, each by itself, added up", derived=True
        ),
        RecordField("remainder", OrNull(NUMBER), "the adjustment minus that: nobody's alone", derived=True),
        RecordField("relations", ListOf(TEXT), "what cannot stand together in the means, in people's words"),
        RecordField("note", OrNull(TEXT), "what a reader should know"),
        RecordField("sentences", ListOf(TEXT), "the answer in words", derived=True),
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Pull(Value):
    """What one judge, question or law does to an event; `spoken` is what it is called in sentences."""

    kind: PartKind
    name: str
    spoken: str
    said: float
    others: float
    change: float
    exact: bool
    derivative: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Why(Value, Described):
    """Why an event has the probability that it has.

    `pulls` are the judges, questions and laws of the events that hang together with it, those that move it most first;
    a `change` of 0.03 means that without it the event would be 3 points likelier. The adjustment is the probability
    minus the raw mean; `sum_of_parts` is what the other questions move, each left out by itself, and the remainder is
    what they do only together.
    """

    record: ClassVar[Record] = WHY

    event: str
    name: str
    probability: float
    raw: float
    pulls: tuple[Pull, ...]
    relations: tuple[str, ...]
    note: str | None = None

    @staticmethod
    def of(
        result: Result,
        event: str,
        *,
        largest: int = LARGEST,
        time_limit: float = TIME_LIMIT,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> Why:
        """Ask about one event of a result; see `Result.why`."""
        check_result(result)
        check_time_limit(time_limit)
        budget = asked_budget(progress, cancel).within(time_limit)
        unit, turned = _unit(result, event)
        found = _Inquiry(result, unit, largest, budget, answers=answers_of(result, budget)).answer()
        return replace(found, event=event) if not turned else _turned(found, event)

    def __repr__(self) -> str:
        return f"<Why: {self.event!r} is {self.probability:.4g}, the mean of its forecasts {self.raw:.4g}>"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def adjustment(self) -> float:
        """The probability minus the mean of the forecasts."""
        return self.probability - self.raw

    @property
    def sum_of_parts(self) -> float:
        """What the other questions move, each by itself: with them minus without them."""
        found = [one.change for one in self.pulls if one.kind is PartKind.EVENT and not np.isnan(one.change)]
        return -float(np.sum(found)) if found else 0.0

    @property
    def remainder(self) -> float:
        """The adjustment minus the sum of the parts."""
        return self.adjustment - self.sum_of_parts

    def of_kind(self, kind: str) -> tuple[Pull, ...]:
        """Only judges, events or laws."""
        return tuple(one for one in self.pulls if one.kind == kind)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in words."""
        return tuple(told(self))

    def columns(self) -> Columns:
        """The columns of `frame`."""
        names = [each.name for each in PULL_FIELDS]
        columns: dict[str, Any] = {name: [getattr(one, name) for one in self.pulls] for name in names}
        return columns | {"kind": [str(one.kind) for one in self.pulls]}

    def frame(self) -> Any:
        """One row per judge, question and law: what it said, the change without it, and the derivative."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        numbers = {name: plain(getattr(self, name)) for name in ("probability", "raw", "sum_of_parts", "remainder")}
        pulls = [{each.name: plain(getattr(one, each.name)) for each in PULL_FIELDS} for one in self.pulls]
        words = {"relations": list(self.relations), "note": self.note, "sentences": list(self.sentences)}
        return {"event": self.event, "name": self.name, **numbers, "pulls": pulls, **words}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Why:
        counted = ("said", "others", "change", "derivative")
        pulls = (
            Pull(**row | {"kind": fact(PartKind, row["kind"])} | {name: number_or_nan(row[name]) for name in counted})
            for row in values["pulls"]
        )
        return cls(
            values["event"],
            values["name"],
            number_or_nan(values["probability"]),
            number_or_nan(values["raw"]),
            pulls=tuple(pulls),
            relations=tuple(values["relations"]),
            note=values["note"],
        )


def _unit(result: Result, event: str) -> tuple[int, bool]:
    """The written event that a text means, and whether the text is its complement."""
    text = result.panel.text_of(event)
    try:
        found = find_part(result.panel, f"event:{text}")
    except PanelError:
        result.probability(event)  # says what is wrong with the text, or that nobody forecast it
        raise EventError(
            f"{event!r} is a constant: nothing moves it", code="unknown-event", where=Where(event=event)
        ) from None
    side = result.panel.events.find([text]).sides[0][0]
    return found.number, bool(side != result.panel.written.event[found.number])


def _turned(found: Why, event: str) -> Why:
    """The same about the complement."""
    pulls = tuple(
        replace(one, change=-one.change)
        if one.kind is not PartKind.JUDGE
        else replace(one, change=-one.change, said=1.0 - one.said, others=1.0 - one.others)
        for one in found.pulls
    )
    name = f"not {found.name}"
    return replace(found, event=event, probability=1.0 - found.probability, raw=1.0 - found.raw, pulls=pulls, name=name)


@dataclass(frozen=True, slots=True, eq=False)
class _Inquiry:
    """One written event of a result, by its number."""

    result: Result
    unit: int
    largest: int
    budget: Budget
    answers: ChangedAnswers | PlainAnswers

    def answer(self) -> Why:
        result, panel = self.result, self.result.panel
        near = self._near()
        names = event_names(panel)
        every = [part for part in parts_of(panel) if self._is_near(part, near)]
        by_unit = self._derivatives()
        pulls = [
            one for kind in SINGLE for one in self._pulls([part for part in every if part.kind is kind], names, by_unit)
        ]
        return Why(
            panel.written.text[self.unit],
            names[self.unit],
            float(result.solution.value[self.unit]),
            float(result.problem.mean[self.unit]),
            pulls=tuple(pulls),
            relations=relations_about(panel, near, self.unit, self.budget),
            note=_note(pulls),
        )

    def _near(self) -> Mask:
        """The events that hang together with this one; all of them where the method does not say."""
        if isinstance(self.answers, ChangedAnswers):
            home = self.answers.unit_components()
            found: Mask = home == home[self.unit]
            return found
        return np.ones(len(self.result.panel.written), np.bool_)

    def _is_near(self, part: PanelPart, near: Mask) -> bool:
        panel, answers = self.result.panel, self.answers
        if part.kind is PartKind.EVENT:
            return bool(near[part.number]) and not self._is_same(part)
        if part.kind is PartKind.LAW:
            if not isinstance(answers, ChangedAnswers):
                return True
            return int(answers.unit_components()[self.unit]) in answers.components_of(part)
        return bool(near[panel.event_index[(panel.judge_index == part.number) & (panel.weight > 0)]].any())

    def _is_same(self, part: PanelPart) -> bool:
        """Whether a question is this event or its complement."""
        written, i = self.result.panel.written, part.number
        sides = (int(written.event[self.unit]), int(written.rest[self.unit]))
        return int(written.event[i]) in sides and written.condition[i] == written.condition[self.unit]

    def _derivatives(self) -> Vector:
        """The derivative of the event by the merged forecasts of each."""
        if not isinstance(self.answers, ChangedAnswers):
            return np.full(len(self.result.panel.written), np.nan)
        return mean_derivatives_to(self.answers, self.unit)

    def _pulls(self, parts: list[PanelPart], names: tuple[str, ...], by_unit: Vector) -> list[Pull]:
        """The parts of one kind; the largest by their estimates exactly."""
        estimates = {part: float(self.answers.estimate(part)[self.unit]) for part in parts}
        ranks = {
            part: abs(guess) if not np.isnan(guess) else 1.0 + self.answers.pull(part)
            for part, guess in estimates.items()
        }
        found = []
        for place, part in enumerate(sorted(parts, key=lambda one: -ranks[one])):
            exact = place < self.largest and not self.budget.is_over()
            change = estimates[part]
            if exact:
                without = self.answers.without(part).value[self.unit]
                change = float(without - self.result.solution.value[self.unit])
            found.append(self._pull(part, change, names, by_unit, exact=exact))
            self.budget.tell((place + 1) / len(parts))
        return sorted(found, key=lambda one: -np.nan_to_num(abs(one.change), nan=np.inf))

    def _pull(self, part: PanelPart, change: float, names: tuple[str, ...], by_unit: Vector, *, exact: bool) -> Pull:
        said, others, derivative, spoken = np.nan, np.nan, np.nan, part.name
        if part.kind is PartKind.EVENT:
            said, spoken = float(self.result.problem.mean[part.number]), names[part.number]
            derivative = float(by_unit[part.number])
        elif part.kind is PartKind.JUDGE:
            said, others = self._said(part.number)
            derivative = self._by_judge(part.number, by_unit)
        return Pull(
            part.kind, part.name, spoken, said, others=others, change=change, exact=exact, derivative=derivative
        )

    def _said(self, judge: int) -> tuple[float, float]:
        """The judge's own mean for the event, or its complement, and that of the others; NaN if there is none."""
        problem = self.result.problem
        same = (problem.coordinate == problem.coordinate[self.unit]) & (
            problem.conditional == problem.conditional[self.unit]
        )
        rows = same[problem.forecasts.unit] & (problem.forecasts.weight > 0)
        p = problem.turned()
        if problem.complemented[self.unit]:
            p = 1.0 - p
        mine = problem.forecasts.judge == judge
        return _mean(p, problem.forecasts.weight, rows & mine), _mean(p, problem.forecasts.weight, rows & ~mine)

    def _by_judge(self, judge: int, by_unit: Vector) -> float:
        """How the event moves if the judge raises the own forecast of it: 0 if there is none."""
        if not isinstance(self.answers, ChangedAnswers):
            return np.nan
        problem, shares = self.answers.problem, forecast_shares(self.answers)
        rows = (problem.forecasts.judge == judge) & (problem.forecasts.unit == self.unit)
        return float(shares[rows].sum() * by_unit[self.unit])


def _mean(p: Vector, weight: Vector, rows: Mask) -> float:
    total = float(weight[rows].sum())
    return float((weight * p)[rows].sum() / total) if total > 0 else np.nan


def relations_about(panel: Panel, near: Mask, unit: int, budget: Budget) -> tuple[str, ...]:
    """What the means of the events near one say that cannot hold together and is about it, in people's words."""
    rows = np.flatnonzero(near[panel.event_index] & (panel.weight > 0))
    own = panel.select(rows)
    place = np.flatnonzero(
        (own.written.event == panel.written.event[unit]) & (own.written.condition == panel.written.condition[unit])
    )
    sheet = sheet_of(stated(own, bets_at_means)) if len(place) else None
    if sheet is None:
        return ()
    checks = looked_at(sheet, frozenset(), budget)
    return tuple(
        check.sentence(relation)
        for check, relation in in_sheet_order(checks)
        if place[0] in check.piece.items[list(relation.forecasts)]
    )


def _note(pulls: list[Pull]) -> str | None:
    rest = sum(not one.exact for one in pulls)
    return f"{rest:,} of {len(pulls):,} changes are estimates." if rest else None
