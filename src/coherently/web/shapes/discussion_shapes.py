"""What is said about the answers: reasons, whose mind they changed, replies, and what moved."""

from __future__ import annotations

from coherently.web.shapes.shape import Id, Shape, Time, example


class ReplyView(Shape):
    """A reply to a reason, without a name; `author` is told to the facilitator only."""

    id: Id
    text: str
    author: str | None
    mine: bool
    hidden: bool


class VoiceView(Shape):
    """A reason for the answer to a question, without a name, as a judge reads it once the round opens it.

    `key` is of this judge and this question, so that nobody can be followed from one question to another.
    `probability` is the author's number for `event`, null while numbers are hidden or too few. `minds` counts whose
    mind it changed, `changed` says whether it changed the reader's. `hidden` reasons are seen by their author only.
    """

    key: Id
    question: Id
    text: str
    event: Id | None
    probability: float | None
    mine: bool
    minds: int
    changed: bool
    hidden: bool
    replies: list[ReplyView]


class EarlierAnswer(Shape):
    """The judge's own number when the revision began."""

    event: Id
    probability: float


class MindDraft(Shape):
    """The reason that changed the judge's mind."""

    model_config = example(reason="r_9c1e07ab52d84f6633aa")

    reason: Id


class ReasonView(Shape):
    """A reason as the facilitator reads it, with the name of its author and without a number."""

    key: Id
    question: Id
    author: str
    text: str
    time: Time
    minds: int
    hidden: bool
    replies: list[ReplyView]


class ReasonList(Shape):
    """The reasons beside the answers that stand."""

    reasons: list[ReasonView]


class MoveView(Shape):
    """How the answers to an event moved from the beginning of the last revision to its end."""

    event: Id
    before: list[float]
    after: list[float]
    changed: int


class MoveList(Shape):
    """What the last revision moved; `known` once it is closed."""

    known: bool
    moves: list[MoveView]
