"""How questions and events are called on the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.pages.formats import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.web.shapes.panel_shapes import QuestionView


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event with its words: `title` in a row of its own, `within` under the heading of its question.

    `short` and `topic` are for sentences, as the desk takes them.
    """

    id: str
    event: str
    title: str
    within: str
    question: str
    number: int
    heading: str
    short: str
    topic: str


def capital(text: str) -> str:
    """A title as the beginning of a row.

    >>> capital("a recession")
    'A recession'
    """
    return text[:1].upper() + text[1:]


def name_events(questions: Iterable[QuestionView]) -> dict[str, NamedEvent]:
    """All events by their ids, in the order of the sheet."""
    found = {}
    for question in questions:
        several = len(question.events) > 1
        for event in question.events:
            own = event.title or (event.event if several else question.title)
            title = f"{question.title}: {own}" if several else capital(own)
            heading = question.title if several else question.group
            within = capital(own) if not several else own
            words = {"title": title, "within": within, "heading": heading, "short": own}
            topic = question.title if several else ""
            found[event.id] = NamedEvent(
                event.id, event.event, question=question.id, number=question.number, topic=topic, **words
            )
    return found


def about(events: Iterable[str], named: Mapping[str, NamedEvent]) -> str:
    """Which questions some events are of, in one sentence: what may be said while numbers are hidden."""
    numbers = sorted({named[event].number for event in events if event in named})
    return plain("board.about", count=len(numbers), numbers=listed(map(str, numbers))) if numbers else ""
