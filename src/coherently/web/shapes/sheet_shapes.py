"""What a judge sees and sends."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from coherently.web import sizes
from coherently.web.shapes.discussion_shapes import EarlierAnswer, VoiceView
from coherently.web.shapes.drawn_shapes import DrawnView
from coherently.web.shapes.panel_shapes import QuestionView, RoundView
from coherently.web.shapes.shape import Id, Note, Probability, Shape, Time, example


class AnswerDraft(Shape):
    """An answer to one event: a probability, an abstention, or neither, which takes the answer back."""

    model_config = example(event="e_7hTq1Wc5Rn8d", probability=0.3, abstained=False, locked=False, reason="Base rate.")

    event: Id
    probability: Probability | None = None
    abstained: bool = False
    locked: bool = False
    reason: Note = ""


class AnswerBatch(Shape):
    """Answers to keep, or to try out."""

    answers: Annotated[list[AnswerDraft], Field(min_length=1, max_length=sizes.ROWS)]


class FitDraft(Shape):
    """The contradiction to resolve."""

    model_config = example(key="k7f3")

    key: Annotated[str, Field(min_length=1, max_length=200)]


class MeantDraft(Shape):
    """A contradiction that the judge means, and why."""

    model_config = example(key="k7f3", reason="The law does not hold in a war economy.")

    key: Annotated[str, Field(min_length=1, max_length=200)]
    reason: Note = ""


class SheetName(Shape):
    """The panel of the sheet."""

    id: Id
    title: str
    time_zone: str


class JudgeName(Shape):
    """Whose sheet it is."""

    name: str


class AnswerView(Shape):
    """The judge's own last answer to an event."""

    event: Id
    probability: float | None
    abstained: bool
    locked: bool
    reason: str
    time: Time


class OthersView(Shape):
    """The answers of the others to one event, without names, once the round opens them and three judges gave some."""

    event: Id
    probabilities: list[float]


class MeantView(Shape):
    """A contradiction that the judge means."""

    key: str
    sentence: str
    reason: str
    time: Time


class SheetView(Shape):
    """The whole sheet of a judge.

    `voices` are the reasons that the round opens, and `earlier` are the judge's own numbers when the revision began.
    """

    panel: SheetName
    judge: JudgeName
    round: RoundView
    questions: list[QuestionView]
    answers: list[AnswerView]
    others: list[OthersView] | None
    voices: list[VoiceView]
    earlier: list[EarlierAnswer]
    meant: list[MeantView]
    drawn: list[DrawnView]
    feedback: dict[str, Any]
    handed_in: Time | None
    saved: Time | None


class SavedView(Shape):
    """When the answers reached the disk, and what they mean together."""

    saved: Time
    feedback: dict[str, Any]


class FeedbackView(Shape):
    """What answers allow and contradict; nothing was kept."""

    feedback: dict[str, Any]


class ChangeOfAnswer(Shape):
    """One number that moves."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    event: Id
    before: float = Field(alias="from")
    after: float = Field(alias="to")


class FitView(Shape):
    """The smallest change that resolves one contradiction; nothing was saved."""

    changes: list[ChangeOfAnswer]


class HandedIn(Shape):
    """When the sheet was handed in."""

    handed_in: Time
