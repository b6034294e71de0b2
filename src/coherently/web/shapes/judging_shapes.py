"""Judges, rounds, forecasts, outcomes and comments, as the facilitator sees them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.panel_shapes import Phase, RoundView
from coherently.web.shapes.shape import Address, EventText, Id, Moment, Note, Probability, Shape, Time, Title, example


class JudgeDraft(Shape):
    """A judge to invite."""

    model_config = example(name="Ann", address="ann@example.org")

    name: Title
    address: Address = ""


class JudgeEdit(Shape):
    """What to change about a judge."""

    model_config = example(address="ann@example.org")

    address: Address


class JudgeView(Shape):
    """A judge of a panel, and how far they are."""

    id: Id
    name: str
    address: str
    invited: Time
    opened: Time | None
    handed_in: Time | None
    revoked: Time | None
    answered: int


class JudgeList(Shape):
    """The judges of a panel."""

    judges: list[JudgeView]


class InvitedJudge(JudgeView):
    """A judge with a new link; its secret is shown this once and cannot be found out later.

    Both are null if the request came before under the same key: the link of then holds, and a new one can be made.
    """

    secret: str | None
    link: str | None


class RoundDraft(Shape):
    """The phase to go to."""

    model_config = example(phase="discussion", closes_at="2026-03-31T12:00:00Z", hide_numbers=True)

    phase: Phase
    closes_at: Moment | None = None
    hide_numbers: bool = True


class RoundList(Shape):
    """The rounds of a panel, in their order; the last is the current one."""

    rounds: list[RoundView]


class ForecastDraft(Shape):
    """A forecast that the facilitator enters for a judge; no probability is an abstention."""

    model_config = example(judge="j_3kX9aQ2LmZ0b", event="e_7hTq1Wc5Rn8d", probability=0.3, reason="Base rate.")

    judge: Id
    event: Id
    probability: Probability | None
    reason: Note = ""


class ForecastBatch(Shape):
    """Forecasts to record, all or none."""

    forecasts: Annotated[list[ForecastDraft], Field(min_length=1, max_length=sizes.ROWS)]


class ForecastView(Shape):
    """A recorded forecast: a later one of the same judge and event follows it, nothing replaces it.

    One that is `given` without a probability is hidden until the round closes in which the judge gave it.
    """

    id: str
    judge: Id
    event: Id
    probability: float | None
    state: Literal["given", "abstained", "withdrawn"]
    locked: bool
    reason: str
    round: int
    time: Time


class ForecastPage(Shape):
    """Forecasts in the order of their time; `after` is where the next page begins, null at the end."""

    forecasts: list[ForecastView]
    after: str | None


class RecordedForecasts(Shape):
    """What was recorded."""

    forecasts: list[ForecastView]


class OutcomeDraft(Shape):
    """How an event came out, or which value a declared variable took; null takes an outcome back.

    `event` is a text, the id of an event, or the id of a question about one event. An outcome that would resolve
    nothing is refused.
    """

    model_config = example(event="recession", outcome=True)

    event: EventText
    outcome: bool | float | Title | None
    note: Note = ""


class OutcomeView(Shape):
    """How an event came out, as was last recorded."""

    event: str
    outcome: bool | float | str | None
    note: str
    time: Time


class OutcomeList(Shape):
    """The outcomes that are known."""

    outcomes: list[OutcomeView]


class CommentDraft(Shape):
    """A comment on a question, or on the panel; with the key of a `reason`, a judge's reply to that."""

    model_config = example(question="q_5Fs0Yk2VbN1a", text="The last three cuts came in autumn.")

    question: Id | None = None
    reason: Id | None = None
    text: Annotated[Note, Field(min_length=1)]


class CommentView(Shape):
    """A comment; who wrote it is told to the facilitator only."""

    id: Id
    question: Id | None
    author: str | None
    text: str
    time: Time
    mine: bool
    hidden: bool


class CommentList(Shape):
    """The comments that may be seen in this phase."""

    comments: list[CommentView]
