"""Questions that join others, picked as chips: both, either, not, at least so many of them, or one if another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.pages.formats import listed
from coherently.web.pages.forms.filled import fill
from coherently.web.refusals import RefusedError
from coherently.web.shapes.panel_shapes import EventDraft, QuestionDraft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.shapes.panel_shapes import QuestionView

JOINS = ("both", "either", "at-least", "not", "if")
"""The ways to join, in the order of the form."""
GIVEN = re.compile(r"\bgiven\b")
SIMPLE = re.compile(r'[^\W\d]\w*|"(?:[^"\\]|\\.)*"|\w+\([^()]*\)')
"""A formula that needs no parentheses beside others."""


@dataclass(frozen=True, slots=True)
class EventChip:
    """An event that can be picked: its id, formula, words, and the number of its question."""

    id: str
    event: str
    title: str
    number: int
    is_joined: bool


@dataclass(frozen=True, slots=True)
class PickedEvent:
    """An event that was picked, and whether it is turned round."""

    chip: EventChip
    is_turned: bool

    @property
    def formula(self) -> str:
        """The part in a formula beside others."""
        text = self.chip.event if SIMPLE.fullmatch(self.chip.event) else f"({self.chip.event})"
        return f"~{text}" if self.is_turned else text

    @property
    def words(self) -> str:
        """The part in a sentence."""
        return plain("join.turned" if self.is_turned else "join.part", title=self.chip.title)


@dataclass(frozen=True, slots=True)
class JoinedEvent:
    """What the chips make: the formula, and what judges are asked."""

    parts: tuple[PickedEvent, ...]
    formula: str
    sentence: str


def chips(questions: Sequence[QuestionView]) -> list[EventChip]:
    """All events that can be joined; one that has a condition cannot."""
    found = []
    for question in questions:
        for event in question.events:
            if GIVEN.search(event.event):
                continue
            own = event.title or question.title
            title = f"{question.title}: {own}" if len(question.events) > 1 else own
            names = set(re.findall(r"[^\W\d]\w*", event.event))
            found.append(EventChip(event.id, event.event, title, question.number, is_joined=len(names) > 1))
    return found


def picked(form: Mapping[str, str], offered: Sequence[EventChip]) -> list[PickedEvent]:
    """The chips that a form picks, in the order of the questions."""
    return [PickedEvent(chip, form.get(f"turn-{chip.id}") == "not") for chip in offered if form.get(f"pick-{chip.id}")]


def join(form: Mapping[str, str], offered: Sequence[EventChip]) -> JoinedEvent:
    """What a form joins, or a refusal that says how many are needed."""
    way, parts = form.get("join", "both"), picked(form, offered)
    if way == "if":
        wanted, condition = conditional(form, offered)
        sentence = plain("join.asks.if", condition=condition.words, what=wanted.words)
        return JoinedEvent((wanted, condition), f"{wanted.formula} given {condition.formula}", sentence)
    if way == "not":
        need(len(parts) == 1, "join.need.one")
        turned = PickedEvent(parts[0].chip, not parts[0].is_turned)
        return JoinedEvent(tuple(parts), turned.formula, plain("join.asks", what=turned.words))
    need(len(parts) >= 2, "join.need.two")
    texts, words = [part.formula for part in parts], [part.words for part in parts]
    if way == "at-least":
        least = form.get("least", "2")
        need(least.isdecimal() and 1 <= int(least) <= len(parts), "join.need.least", most=len(parts))
        sentence = plain("join.asks.least", count=int(least), events=listed(words))
        return JoinedEvent(tuple(parts), f"at_least({int(least)}; {', '.join(texts)})", sentence)
    sign, key = (" | ", "join.or") if way == "either" else (" & ", "join.and")
    return JoinedEvent(tuple(parts), sign.join(texts), plain("join.asks", what=plain(key).join(words)))


def conditional(form: Mapping[str, str], offered: Sequence[EventChip]) -> tuple[PickedEvent, PickedEvent]:
    """The event and its condition that a form picks for “if”, or a refusal."""
    given = next((chip for chip in offered if chip.id == form.get("given")), None)
    wanted = [part for part in picked(form, offered) if given is None or part.chip.id != given.id]
    need(given is not None and len(wanted) == 1, "join.need.if")
    assert given is not None
    return wanted[0], PickedEvent(given, form.get("given-turn") == "not")


def need(is_met: object, key: str, **values: object) -> None:
    """Refuse what was picked unless a condition is met, in the words of a key."""
    if not is_met:
        raise RefusedError(422, "not-usable", plain(key, **values), where="pick")


def read_joined(form: Mapping[str, str], offered: Sequence[EventChip]) -> QuestionDraft:
    """The question that a form of chips describes; without a title of its own it has the words of its parts."""
    made = join(form, offered)
    title = form.get("title", "").strip() or made.sentence
    return fill(
        QuestionDraft,
        kind="conditional" if GIVEN.search(made.formula) else "yes-no",
        title=title,
        definition=form.get("definition", "").strip(),
        group=form.get("group", "").strip(),
        events=[fill(EventDraft, event=made.formula, title=form.get("short", "").strip())],
    )
