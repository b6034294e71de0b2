"""The judge's sheet as its page needs it: every field, band and note."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.web.catalogue import plain
from coherently.web.pages.figures import share, width
from coherently.web.pages.formats import listed, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.shapes.judging_shapes import CommentView
    from coherently.web.shapes.panel_shapes import EventView, QuestionView
    from coherently.web.shapes.sheet_shapes import AnswerView, SheetView

OPEN = ("private", "revision")
"""Phases in which answers may change."""
UNCHECKED = {"not-checked": "judge.live.unchecked", "too-much": "judge.live.too_much"}
"""What is said of answers of which it is not known whether they fit, by their state."""
MANY = 4
"""So many open questions are counted, not named."""


def typed(probability: float | None) -> str:
    """A probability as a person types it, in per cent.

    >>> typed(0.3), typed(0.125), typed(None)
    ('30', '12.5', '')
    """
    return "" if probability is None else f"{round(100 * probability, 2):g}"


def ranged(low: float, high: float) -> str:
    """What is allowed, in whole per cents."""
    first, last = whole(low), whole(high)
    return plain("judge.live.range", low=first, high=last) if first != last else plain("judge.live.point", high=last)


@dataclass(frozen=True, slots=True)
class EventField:
    """An event with its answer and its band."""

    id: str
    title: str
    label: str
    value: float | None
    abstained: bool
    locked: bool
    reason: str
    low: float | None
    high: float | None
    fits: bool
    blamed: bool
    state: str

    @property
    def typed(self) -> str:
        """What stands in the field."""
        return typed(self.value)

    @property
    def classes(self) -> str:
        """How the row looks."""
        marks = {
            "out": not self.fits,
            "meant": not self.fits and not self.blamed,
            "none": self.value is None,
            "locked": self.locked,
        }
        return " ".join(name for name, on in marks.items() if on)

    @property
    def band(self) -> SimpleNamespace | None:
        """Where the band is drawn."""
        if self.low is None or self.high is None:
            return None
        return SimpleNamespace(low=share(self.low), high=share(self.high), width=width(self.low, self.high))

    @property
    def gap(self) -> tuple[str, str] | None:
        """The dashed line from the answer to the band."""
        if self.fits or self.value is None or self.low is None or self.high is None:
            return None
        return share(self.value), share(self.low if self.value < self.low else self.high)


class SheetPage:
    """What the template shows of a sheet."""

    def __init__(self, sheet: SheetView, rises: Mapping[str, bool], comments: Sequence[CommentView]) -> None:
        self.sheet, self.rises = sheet, rises
        self.is_open = sheet.round.phase in OPEN
        self.answers = {answer.event: answer for answer in sheet.answers}
        self.bands = {band["event"]: band for band in sheet.feedback.get("bands", [])}
        self.clashes: list[dict[str, Any]] = list(sheet.feedback.get("contradictions", []))
        self.home = {event.id: each for each in sheet.questions for event in each.events}
        self.names = {event.id: event.title or each.title for each in sheet.questions for event in each.events}
        self.states: dict[str, str] = sheet.feedback.get("states", {})
        self.checked = bool(sheet.feedback.get("checked", True))
        self.reasons = {meant.key: meant.reason for meant in sheet.meant}
        self.blamed = {event for clash in self.clashes if not clash["meant"] for event in clash["events"]}
        self.comments = comments

    def questions(self) -> list[SimpleNamespace]:
        """The questions, each with its fields and its margin."""
        found, heading = [], ""
        for each in self.sheet.questions:
            fields = [self._field(each, event) for event in each.events]
            found.append(
                SimpleNamespace(
                    heading=each.group if each.group != heading else "",
                    view=each,
                    fields=fields,
                    locked=all(field.locked for field in fields),
                    abstained=all(field.abstained for field in fields),
                    reason=next((field.reason for field in fields if field.reason), ""),
                    state=self._state(fields, each),
                    bad=any(field.id in self.blamed for field in fields),
                    unchecked=any(field.state in UNCHECKED for field in fields),
                    left=self._left(fields),
                    rest=self._rest(each, fields),
                    rises=self.rises.get(each.id, True),
                    notes=self._notes(each, fields),
                    cards=[self._card(clash) for clash in self.clashes if clash["question"] == each.number],
                    comments=[comment for comment in self.comments if comment.question == each.id],
                )
            )
            heading = each.group
        return found

    def _field(self, question: QuestionView, event: EventView) -> EventField:
        answer: AnswerView | None = self.answers.get(event.id)
        band = self.bands.get(event.id)
        several = len(question.events) > 1
        return EventField(
            event.id,
            event.title or question.title,
            f"{question.title}: {event.title}" if several else question.title,
            answer.probability if answer else None,
            abstained=bool(answer and answer.abstained),
            locked=bool(answer and answer.locked),
            reason=answer.reason if answer else "",
            low=band["low"] if band else None,
            high=band["high"] if band else None,
            fits=band["fits"] if band else True,
            blamed=event.id in self.blamed,
            state=self.states.get(event.id, ""),
        )

    def _state(self, fields: Sequence[EventField], question: QuestionView) -> str:
        if all(field.abstained for field in fields):
            return "abst"
        given = [field for field in fields if field.value is not None]
        if len(given) == len(fields) and not (question.kind == "partition" and self._left(fields) != 0):
            return "done"
        return "part" if given or any(field.abstained for field in fields) else "open"

    @staticmethod
    def _left(fields: Sequence[EventField]) -> int:
        """What a partition has left to give, in whole per cents; less than 0 is too much."""
        left = 100 * (1 - sum(field.value or 0.0 for field in fields))
        return 0 if abs(left) <= 0.5 else round(left)

    def _rest(self, question: QuestionView, fields: Sequence[EventField]) -> int | None:
        """What the greatest step of a ladder leaves."""
        last = fields[-1 if self.rises.get(question.id, True) else 0].value
        return None if last is None else 100 - whole(last)

    def _notes(self, question: QuestionView, fields: Sequence[EventField]) -> list[SimpleNamespace]:
        """The sentences of the margin, but for contradictions."""
        own = {field.id for field in fields}
        here = [clash for clash in self.clashes if clash["question"] == question.number]
        away = sorted(
            {c["question"] for c in self.clashes if not c["meant"] and c not in here and own.intersection(c["events"])}
        )
        lines = [SimpleNamespace(kind="away", words="", number=number) for number in away]
        states = {field.state for field in fields}
        lines += [SimpleNamespace(kind="wait", words=plain(key)) for state, key in UNCHECKED.items() if state in states]
        if len(fields) > 1:
            if not here and any(field.band for field in fields):
                steps = f"judge.live.steps.{'yes' if self.rises.get(question.id, True) else 'no'}"
                key = "judge.live.each" if question.kind == "partition" else steps
                lines.append(SimpleNamespace(kind="band", words=plain(key, whole=plain("judge.live.point", high=100))))
            return lines
        field = fields[0]
        if field.abstained:
            lines.append(SimpleNamespace(kind="plain", words=plain("judge.live.gone")))
        elif field.value is None:
            return [*lines, SimpleNamespace(kind="plain", words=plain("judge.live.open"))]
        if field.low is not None and field.high is not None and not (here and not field.abstained):
            lines.append(SimpleNamespace(kind="band", words=self._allowed(field)))
        return lines

    @staticmethod
    def _allowed(field: EventField) -> str:
        assert field.low is not None
        assert field.high is not None
        one = whole(field.low) == whole(field.high)
        if field.abstained:
            key = "judge.live.imply" if one else "judge.live.leave"
        else:
            key = "judge.live.allow.one" if one else "judge.live.allow"
        return plain(key, range=ranged(field.low, field.high))

    def _card(self, clash: dict[str, Any]) -> SimpleNamespace:
        """A contradiction with its least change."""
        changes = [
            SimpleNamespace(name=self.name(each["event"]), old=typed(each["from"]), new=typed(each["to"]))
            for each in clash["changes"]
        ]
        stays = [SimpleNamespace(name=self.name(each), value=self._answer(each)) for each in clash["locked"]]
        reason = self.reasons.get(clash["key"], "")
        return SimpleNamespace(**{**clash, "changes": changes, "locked": stays, "reason": reason})

    def name(self, event: str) -> str:
        """An event in a table: the number of its question, and its title."""
        title = self.names[event]
        return f"{self.home[event].number} {title[:1].upper()}{title[1:]}"

    def _answer(self, event: str) -> str:
        answer = self.answers.get(event)
        return typed(answer.probability if answer else None)

    def todo(self, questions: Sequence[SimpleNamespace]) -> str:
        """What is not done yet, and that one may hand in all the same."""
        parts = []
        for each in questions:
            if each.view.kind == "partition" and each.left and each.state != "open":
                key = "judge.live.todo.left" if each.left > 0 else "judge.live.todo.over"
                parts.append(plain(key, number=each.view.number, left=abs(each.left)))
            elif each.view.kind == "partition" and each.state == "part":
                parts.append(plain("judge.live.todo.empty", number=each.view.number))
        unanswered = [str(each.view.number) for each in questions if each.state == "open"]
        if len(unanswered) >= MANY:
            parts.append(plain("judge.live.todo.many", count=len(unanswered)))
        elif unanswered:
            parts.append(plain("judge.live.todo.open", count=len(unanswered), numbers=listed(unanswered)))
        count = sum(1 for clash in self.clashes if not clash["meant"])
        if count:
            parts.append(plain("judge.live.todo.clash", count=count))
        unchecked = "" if self.checked else f" {plain('judge.live.todo.unchecked')}"
        if not parts:
            words = plain("judge.live.todo.all" if self.checked else "judge.live.todo.all.unchecked")
            return f"{words} {plain('judge.live.todo.come')}{unchecked}"
        words = listed(parts)
        return f"{words[:1].upper()}{words[1:]}. {plain('judge.live.todo.still')}{unchecked}"

    def done(self, questions: Sequence[SimpleNamespace]) -> int:
        """How many questions are answered or abstained from."""
        return sum(each.state in ("done", "abst") for each in questions)

    @property
    def open_clashes(self) -> int:
        """How many contradictions stand that were not meant."""
        return sum(1 for clash in self.clashes if not clash["meant"])

    @property
    def verdict(self) -> str:
        """How many contradictions there are, or that not all was checked."""
        count = self.open_clashes
        return plain(f"judge.live.{'clashes' if count else 'none'}{'' if self.checked else '.yet'}", count=count)
