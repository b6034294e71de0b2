"""What each judge, question and law moves: the whole table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    Described,
    KnownText,
    ListOf,
    ObjectOf,
    OneWord,
    OrNull,
    Record,
    RecordField,
    fact,
    numbers,
    plain,
)
from coherently.errors import MethodError, ResultError, counted
from coherently.explain.event_names import EventNames
from coherently.explain.influence.changed_answers import ChangedAnswers
from coherently.explain.influence.derivatives import mean_derivatives
from coherently.explain.influence.influence_sentences import headline
from coherently.explain.influence.plain_answers import PlainAnswers
from coherently.panel import to_frame
from coherently.panel.left_out import SINGLE, PanelPart, PartKind, find_part
from coherently.panel.texts import name_some
from coherently.problem import LOSSES
from coherently.solve import METHODS, Exact, Global
from coherently.solve.budget import asked_budget, check_time_limit
from coherently.solve.methods.auto import Auto
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Vector
    from coherently.explain.influence.changed_answers import Changed
    from coherently.panel import Columns, Panel, Progress
    from coherently.result import Result
    from coherently.solve import Signal
    from coherently.solve.budget import Budget

LARGEST = 24
"""The number of judges, of questions and of laws that are left out exactly, unless told otherwise."""
TIME_LIMIT = 60.0
"""Seconds for all of it."""
MOST_EVENTS = 2_000
"""Maximum number of events for a table of derivatives: it has as many rows as columns."""
TOLD_EVENTS = 200
"""Maximum number of events for derivatives in the record."""

_CHANGES = ListOf(OrNull(NUMBER))
INFLUENCE = Record(
    "influence",
    1,
    "What each judge, question and law moves in a result (`Result.influence`, `coherently explain --json`).",
    (
        RecordField("method", KnownText(lambda: METHODS), "the name of the method"),
        RecordField("loss", KnownText(lambda: LOSSES), "the name of the loss"),
        RecordField("events", ListOf(TEXT), "the events, as first written"),
        RecordField("names", ListOf(TEXT), "what the events are called in sentences"),
        RecordField("probability", _CHANGES, "the result for each event"),
        RecordField("raw", _CHANGES, "the mean of the forecasts of each event; null if none has weight"),
        RecordField(
            "left_out",
            ListOf(
                ObjectOf(
                    "what is left out",
                    (
                        RecordField(
                            "kind",
                            OneWord(lambda: PartKind),
                            "a judge, an event (a question), a law, or several of them together",
                        ),
                        RecordField("name", TEXT, "its name or text"),
                        RecordField("exact", FLAG, "whether the answer without it was computed"),
                        RecordField("proved", FLAG, "whether that answer is proved to the tolerance of the method"),
                        RecordField(
                            "change",
                            _CHANGES,
                            "for each event, the probability without it minus the probability with it; null if that "
                            "was not computed, or if nobody is asked about the event then",
                        ),
                        RecordField("estimate", _CHANGES, "the same to first order; null where it is not known"),
                    ),
                )
            ),
            "judges, then questions, then laws; those that move most come first among each",
        ),
        RecordField(
            "derivatives",
            OrNull(ListOf(_CHANGES)),
            f"the derivative of each event (columns) by the merged forecasts of each (rows); null beyond "
            f"{TOLD_EVENTS} events, and where it is not known",
        ),
        RecordField("note", OrNull(TEXT), "what a reader should know"),
        RecordField("sentences", ListOf(TEXT), "what matters most, in words", derived=True),
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Left(Value):
    """A judge, question or law that is left out, and what that moves: one entry per event of the result.

    `change` is the probability without it minus the probability with it: 0.03 means that the event would be 3 points
    likelier. It is NaN where nobody is asked about the event then, and everywhere if it is not `exact`. `estimate` is
    the same to first order, NaN where it is not known.
    """

    kind: PartKind
    name: str
    exact: bool
    proved: bool
    change: Vector
    estimate: Vector

    @property
    def moved(self) -> Vector:
        """The change, or the estimate where the change was not computed."""
        return self.change if self.exact else self.estimate

    @property
    def largest(self) -> float:
        """The largest change of an event, up or down; NaN if nothing is known."""
        known = np.abs(self.moved[~np.isnan(self.moved)])
        return float(known.max()) if len(known) else np.nan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Influence(Value, Described):
    """What each judge, question and law moves in a result.

    `left` has judges, then questions, then laws, those that move most first. `derivatives` has the derivative of each
    event (columns) by the merged forecasts of each (rows), as long as no world comes to the answer or leaves it; None
    if there are too many events, or if the method has none. `names` is what events are called in sentences.
    """

    record: ClassVar[Record] = INFLUENCE

    method: str
    loss: str
    events: tuple[str, ...]
    names: tuple[str, ...]
    probability: Vector
    raw: Vector
    left: tuple[Left, ...]
    derivatives: Vector | None
    note: str | None = None

    @staticmethod
    def of(
        result: Result,
        *,
        largest: int | None = LARGEST,
        without: Sequence[str] = (),
        time_limit: float = TIME_LIMIT,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> Influence:
        """Leave out each judge, question and law, or some of them together; see `Result.influence`."""
        check_result(result)
        check_time_limit(time_limit)
        if without:
            parts = tuple(dict.fromkeys(find_part(result.panel, word) for word in without))
            return _together(result, parts, asked_budget(progress, cancel).within(time_limit))
        if largest is not None and largest < 0:
            raise MethodError(f"largest is {largest}; it must be a whole number of 0 or more, or None for all")
        most = sys.maxsize if largest is None else largest
        budget = asked_budget(progress, cancel).within(time_limit)
        with budget.heeding_interrupts():
            return _Work(result, most, budget, answers_of(result, budget)).table()

    def __repr__(self) -> str:
        kinds = ", ".join(counted(len(self.of_kind(kind)), str(kind)) for kind in SINGLE)
        return f"<Influence: {kinds} on {counted(len(self.events), 'event')}>"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def of_kind(self, kind: str) -> tuple[Left, ...]:
        """Only judges, events or laws."""
        return tuple(one for one in self.left if one.kind == kind)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What matters most, in words."""
        return tuple(headline(self))

    def columns(self) -> Columns:
        """The columns of `frame`."""
        count, rows = len(self.events), self.left
        change = np.concatenate([np.empty(0), *(one.change for one in rows)])
        probability = np.tile(self.probability, len(rows))
        return {
            "kind": [str(one.kind) for one in rows for _ in range(count)],
            "left_out": [one.name for one in rows for _ in range(count)],
            "event": list(self.events) * len(rows),
            "probability": probability,
            "without": probability + change,
            "change": change,
            "estimate": np.concatenate([np.empty(0), *(one.estimate for one in rows)]),
            "exact": np.repeat([one.exact for one in rows], count),
        }

    def frame(self) -> Any:
        """One row for each thing left out and each event: the probability without it, the change and its estimate."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        told = self.derivatives if len(self.events) <= TOLD_EVENTS else None
        left = [
            {name: plain(getattr(one, name)) for name in ("kind", "name", "exact", "proved", "change", "estimate")}
            for one in self.left
        ]
        return {
            "method": self.method,
            "loss": self.loss,
            "events": list(self.events),
            "names": list(self.names),
            "probability": plain(self.probability),
            "raw": plain(self.raw),
            "left_out": left,
            "derivatives": plain(told),
            "note": self.note,
            "sentences": list(self.sentences),
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Influence:
        left = tuple(
            Left(
                fact(PartKind, one["kind"]),
                one["name"],
                one["exact"],
                one["proved"],
                change=numbers(one["change"]),
                estimate=numbers(one["estimate"]),
            )
            for one in values["left_out"]
        )
        told = values["derivatives"]
        return cls(
            values["method"],
            values["loss"],
            tuple(values["events"]),
            tuple(values["names"]),
            probability=numbers(values["probability"]),
            raw=numbers(values["raw"]),
            left=left,
            derivatives=None if told is None else numbers(told),
            note=values["note"],
        )


def parts_of(panel: Panel) -> list[PanelPart]:
    """All judges, questions and laws of a panel: an event and its complement are one question."""
    judges = [PanelPart(PartKind.JUDGE, name, i) for i, name in enumerate(panel.judges)]
    written = panel.written
    asked: dict[tuple[int, int], int] = {}
    for i in range(len(written)):
        asked.setdefault((int(min(written.event[i], written.rest[i])), int(written.condition[i])), i)
    questions = [PanelPart(PartKind.EVENT, written.text[i], i) for i in asked.values()]
    texts = (*panel.laws.text, *panel.laws.pins.text)
    return [*judges, *questions, *(PanelPart(PartKind.LAW, text, i) for i, text in enumerate(texts))]


def check_result(result: Result) -> None:
    """Refuse results in which nobody can be left out."""
    if result.claimed is not None or result.panel.reduced:
        raise ResultError(
            "this result has the means of the forecasts, not the forecasts themselves, so nobody can be left out of "
            "it: aggregate the panel again, in this program and from a file that is read as a whole",
            code="no-forecasts",
        )


def answers_of(result: Result, budget: Budget) -> ChangedAnswers | PlainAnswers:
    """Answers to the panel without something: component by component for exact results, else by the same method."""
    method = result.method
    if isinstance(result.solution, Global) and isinstance(method, Exact | Auto):
        exact = method if isinstance(method, Exact) else Exact(method.tolerance, method.time_limit, method.seed)
        return ChangedAnswers.of(result, exact, budget)
    return PlainAnswers(result, budget)


def _together(result: Result, parts: tuple[PanelPart, ...], budget: Budget) -> Influence:
    """The table of one row: what moves without some parts at once, by the method itself, with all its proofs."""
    panel, answers = result.panel, PlainAnswers(result, budget)
    kind = parts[0].kind if len(parts) == 1 else PartKind.TOGETHER
    one = PanelPart(kind, ", ".join(part.name for part in parts), 0)
    left = [_left(one, result.solution.value, np.full(len(panel.written), np.nan), answers.without_all(parts))]
    return Influence(
        result.method.name,
        result.loss.name,
        tuple(panel.written.text),
        event_names(panel),
        probability=result.solution.value,
        raw=result.problem.mean,
        left=tuple(left),
        derivatives=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """The way from a result to its table."""

    result: Result
    largest: int
    budget: Budget
    answers: ChangedAnswers | PlainAnswers

    def table(self) -> Influence:
        result, panel, answers = self.result, self.result.panel, self.answers
        every = parts_of(panel)
        left = [one for kind in SINGLE for one in self._of_kind([part for part in every if part.kind is kind])]
        known = isinstance(answers, ChangedAnswers) and len(panel.written) <= MOST_EVENTS
        return Influence(
            result.method.name,
            result.loss.name,
            tuple(panel.written.text),
            event_names(panel),
            probability=result.solution.value,
            raw=result.problem.mean,
            left=tuple(left),
            derivatives=mean_derivatives(answers) if known and isinstance(answers, ChangedAnswers) else None,
            note=_note(left, result, is_over=self.budget.is_over()),
        )

    def _of_kind(self, parts: list[PanelPart]) -> list[Left]:
        """The parts of one kind, the largest of them exactly."""
        estimates = [self.answers.estimate(part) for part in parts]
        ranks = [_rank(self.answers, *pair) for pair in zip(parts, estimates, strict=True)]
        order = sorted(range(len(parts)), key=lambda i: (-ranks[i], parts[i].number))
        found = []
        for place, i in enumerate(order):
            is_free = self.answers.is_still(parts[i])
            exact = is_free or (place < self.largest and not self.budget.is_over())
            known = self.answers.without(parts[i]) if exact else None
            found.append(_left(parts[i], self.result.solution.value, estimates[i], known))
            self.budget.tell((place + 1) / len(order))
        return sorted(found, key=lambda one: -np.nan_to_num(one.largest, nan=-1.0))


def _rank(answers: ChangedAnswers | PlainAnswers, part: PanelPart, estimate: Vector) -> float:
    """What is left out exactly first: what has no estimate, by how much is at stake; then what has a large one."""
    if np.isnan(estimate).all():
        return 1.0 + answers.pull(part)
    return float(np.nanmax(np.abs(estimate)))


def _left(part: PanelPart, value: Vector, estimate: Vector, known: Changed | None) -> Left:
    change = np.full(len(value), np.nan) if known is None else known.value - value
    proved = known is not None and known.proved
    return Left(part.kind, part.name, known is not None, proved, change=change, estimate=estimate)


def event_names(panel: Panel) -> tuple[str, ...]:
    """What the events of a panel are called in sentences."""
    names = EventNames.of(panel)
    return tuple(names.spoken(text, panel.labels.get(text)) for text in panel.written.text)


def _note(left: list[Left], result: Result, *, is_over: bool) -> str | None:
    notes = []
    silent = [name for name, factor in _judge_weights(result.panel).items() if factor == 0]
    if silent:
        notes.append(f"Left out already, by a weight of 0: {name_some(silent)}.")
    rest = sum(not one.exact for one in left)
    if rest:
        why = "the time was over" if is_over else "they are not among the largest"
        notes.append(f"{rest:,} of {len(left):,} were not left out exactly, since {why}; their changes are estimates.")
    if loose := sum(one.exact and not one.proved for one in left):
        notes.append(
            f"The answers without {loose:,} of {len(left):,} are not proved: a large component was solved over "
            f"clusters of its variables. Aggregate without one of them for a proof."
        )
    return " ".join(notes) or None


def _judge_weights(panel: Panel) -> dict[str, float]:
    """The total weight of each judge."""
    total = np.bincount(panel.judge_index, panel.weight, len(panel.judges))
    return dict(zip(panel.judges, total.tolist(), strict=True))
