"""Panels with their questions and laws."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.shape import EventText, Id, Note, Shape, Short, Statement, Time, Title, Zone, example

Tag = Annotated[Short, Field(title="Tag", description="A short text by which to find the panel.")]
TimeZone = Annotated[Zone, Field(title="Time zone", description="The time zone in which deadlines are told.")]
Kind = Literal["yes-no", "conditional", "partition", "ladder"]
Phase = Literal["private", "discussion", "revision", "closed"]


class PanelDraft(Shape):
    """A panel to create."""

    model_config = example(title="Economy 2026", description="Ten questions on growth and prices.", tag="economy")

    title: Title
    description: Note = ""
    tag: Tag = ""
    time_zone: TimeZone | None = None


class PanelEdit(Shape):
    """What to change about a panel; what is left out stays."""

    model_config = example(title="Economy 2026 and 2027")

    title: Title | None = None
    description: Note | None = None
    tag: Tag | None = None
    time_zone: TimeZone | None = None
    aside: Annotated[bool, Field(description="Whether it is listed apart; nothing else changes.")] | None = None


class RoundView(Shape):
    """The round that a panel is in."""

    model_config = example(
        number=1,
        phase="private",
        closes_at="2026-03-31T12:00:00.000Z",
        hide_numbers=True,
        time="2026-03-01T09:00:00.000Z",
    )

    number: int
    phase: Phase
    closes_at: Time | None
    hide_numbers: bool
    time: Time


class PanelView(Shape):
    """A panel, with what there is of it in numbers."""

    id: Id
    title: str
    description: str
    tag: str
    time_zone: str
    aside: bool
    created: Time
    questions: int
    laws: int
    judges: int
    round: RoundView


class PanelList(Shape):
    """The panels of an account, the newest first."""

    panels: list[PanelView]


class EventDraft(Shape):
    """An event of a question: its formula, and words for people."""

    model_config = example(event="recession", title="A recession begins in 2026")

    event: EventText
    title: Annotated[str, Field(max_length=sizes.TITLE)] = ""


class QuestionDraft(Shape):
    """A question to ask; a partition or a ladder has several events and may declare its variable."""

    model_config = example(
        kind="partition",
        title="Who wins?",
        definition="As the commission announces it.",
        group="Election",
        declaration="variable winner: Ann, Bob, Cid",
        events=[{"event": "winner = Ann", "title": "Ann"}, {"event": "winner = Bob", "title": "Bob"}],
    )

    kind: Kind = "yes-no"
    title: Title
    definition: Note = ""
    group: Annotated[str, Field(max_length=sizes.TITLE)] = ""
    declaration: Statement | None = None
    events: Annotated[list[EventDraft], Field(min_length=1, max_length=sizes.EVENTS_OF_QUESTION)]


class EventEdit(Shape):
    """An event of a question as it is to be; without an id it is a new one."""

    model_config = example(id="e_7hTq1Wc5Rn8d", event="recession", title="a recession")

    id: Id | None = None
    event: EventText
    title: Annotated[str, Field(max_length=sizes.TITLE)] = ""


class QuestionEdit(Shape):
    """What to change about a question; formulas that were answered stay what they are.

    `events` are all events of the question anew, those that are left out go.
    """

    model_config = example(title="Who wins the election?")

    title: Title | None = None
    definition: Note | None = None
    group: Annotated[str, Field(max_length=sizes.TITLE)] | None = None
    declaration: Statement | None = None
    events: Annotated[list[EventEdit], Field(min_length=1, max_length=sizes.EVENTS_OF_QUESTION)] | None = None


class PlaceDraft(Shape):
    """The place among the questions that a question is to have, from 1."""

    model_config = example(number=1)

    number: Annotated[int, Field(ge=1, le=1_000_000)]


class NameDraft(Shape):
    """A name in formulas."""

    model_config = example(name="recession")

    name: Title


class LooseName(Shape):
    """A name that one question alone uses, and no law: `near` is another that is spelt alike, or null.

    If nothing else has to do with the question (`alone`), its answers can contradict no others.
    """

    name: str
    question: int
    near: str | None
    alone: bool


class EventView(Shape):
    """An event of a question."""

    id: Id
    event: str
    title: str


class QuestionView(Shape):
    """A question, with its number on the sheet."""

    id: Id
    number: int
    kind: Kind
    group: str
    title: str
    definition: str
    declaration: str | None
    events: list[EventView]


class QuestionList(Shape):
    """The questions of a panel, in their order."""

    questions: list[QuestionView]


class LooseNameList(Shape):
    """Names that may be slips, until they are used elsewhere or kept."""

    names: list[LooseName]


class LawDraft(Shape):
    """A law: a formula that is certainly true, a declaration, or a fixed probability."""

    model_config = example(statement="recession -> growth < 1", title="A recession means growth below 1 %")

    statement: Statement
    title: Annotated[str, Field(max_length=sizes.TITLE)] = ""


class LawView(Shape):
    """A law of a panel."""

    id: Id
    statement: str
    title: str
    time: Time
    origin: str = Field(description="Who accepted it and by which rule it was found, if words suggested it.")


class LawList(Shape):
    """The laws of a panel, and what follows without any law; null while that is being worked out."""

    laws: list[LawView]
    follows: list[str] | None


class ReadDraft(Shape):
    """A text that somebody is still typing."""

    model_config = example(text="recession & rate cut", kind="event")

    text: Annotated[str, Field(max_length=sizes.STATEMENT)]
    kind: Literal["event", "law"] = "event"
