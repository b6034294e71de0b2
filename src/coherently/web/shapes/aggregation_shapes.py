"""Aggregations: versioned, run as jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.carried_records import (
    InfluenceBody,
    KeptRecipe,
    KeptResult,
    KeptScores,
    KeptTuned,
    NextQuestionsBody,
    WhyBody,
)
from coherently.web.shapes.shape import Id, Moment, Note, Shape, Time, Title, example
from coherently.web.shapes.stateless_shapes import MethodBody, Weight
from coherently.web.shapes.words import LossWord

Learned = Literal["nothing", "recipe", "weights"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class AggregationDraft(Shape):
    """How to aggregate the last answers of the judges, or those at an earlier time."""

    model_config = example(
        method="auto",
        loss="brier",
        weights={"j_7hTq1Wc5Rn8d": 2.0},
        without=["j_8hTq1Wc5Rn8e"],
        as_of=None,
        time_limit=60.0,
        note="Before the discussion",
    )

    method: MethodBody = "auto"
    loss: LossWord = "brier"
    weights: Annotated[dict[Id, Weight], Field(max_length=sizes.ROWS)] = Field(
        default_factory=dict,
        description="How much each judge counts, by id; others count 1, and 0 leaves a judge out.",
    )
    without: Annotated[list[Id], Field(max_length=sizes.ROWS)] = Field(
        default_factory=list, description="Judges, questions and laws to leave out, by id."
    )
    learn: Learned = Field(
        default="nothing",
        description="What to learn from past panels that have outcomes: a recipe, in place of the method, or how much "
        "each judge counts.",
    )
    past: Annotated[list[Id], Field(max_length=sizes.EVENTS_OF_QUESTION)] = Field(
        default_factory=list,
        description="The panels to learn from; all other panels of the account that have outcomes if none are named.",
    )
    as_of: Moment | None = None
    time_limit: Annotated[float, Field(gt=0, le=sizes.SECONDS)] | None = None
    note: Note = ""


class AggregationView(Shape):
    """An aggregation: how far it is, and what it found once it is done.

    `weights` are by the names of judges; who is not among them counts 1. `left_out` names judges, questions and laws.
    """

    id: Id
    version: int
    status: JobState
    progress: float
    progress_text: str
    method: str
    loss: str
    learn: Learned
    weights: dict[str, float]
    left_out: list[str]
    as_of: Time
    note: str
    requested: Time
    finished: Time | None
    error: str | None
    summary: dict[str, Any] | None


class AggregationList(Shape):
    """The aggregations of a panel, the newest first."""

    aggregations: list[AggregationView]


class EventResult(Shape):
    """One event: its title, the average of the judges before and the coherent probability after."""

    event: str
    title: str
    probability: float | None
    raw: float | None
    weight: float
    adjustment: float | None


class ResultView(Shape):
    """A whole result with what it is made from.

    In Python, `panel = co.Panel.from_records(forecasts, laws=laws, outcomes=outcomes)` and
    `result = co.Result.from_json(json.dumps(result))` give what `co.verify(panel, result)` checks. A forecast has a
    weight if judges count differently; `recipe` is the one that was given or learned.
    """

    aggregation: AggregationView
    events: list[EventResult]
    forecasts: list[dict[str, Any]]
    laws: list[str]
    outcomes: dict[str, Any]
    verified: bool
    problems: list[str]
    recipe: KeptRecipe | None
    result: KeptResult


class ComparedEvent(Shape):
    """One event in two versions."""

    event: str
    title: str
    before: float | None
    after: float | None


class ComparisonView(Shape):
    """An aggregation beside an earlier one."""

    before: AggregationView
    after: AggregationView
    events: list[ComparedEvent]


class LeftOutView(Shape):
    """A judge, a question or a law that is left out, and by how much each event moves then.

    `change` is the probability without it minus the one with it, null where nobody is asked then; `exact` is whether
    it was computed, not estimated.
    """

    kind: Literal["judge", "question", "law"]
    id: Id | None
    name: str
    exact: bool
    change: list[float | None]


class InfluenceView(Shape):
    """What each judge, question and law moves in a version, those that move most first among each.

    With something to leave out (`without`), `left_out` has one row for all of it together.
    """

    aggregation: AggregationView
    events: list[str]
    probability: list[float | None]
    raw: list[float | None]
    without: list[str]
    left_out: list[LeftOutView]
    sentences: list[str]
    note: str | None
    influence: InfluenceBody


class ReasonsView(Shape):
    """Why a version has its number for an event: who and what moves it, and by which relations."""

    aggregation: AggregationView
    event: Id
    sentences: list[str]
    why: WhyBody


class GainView(Shape):
    """A question that could be asked, or asked again: its title, and what its answer brings.

    `gain` is a part of `open`; `low` and `high` are the least and the greatest answer that is coherent with the
    version, null for contradictions.
    """

    event: str
    title: str
    gain: float
    low: float | None
    high: float | None


class NextQuestionsView(Shape):
    """The questions whose answers would say most, by the forecasts and laws of a version, the best first.

    `about` is all, contradictions or the id of an event; `open` is the width of what is open, or the squared distance
    of the averages from coherent numbers.
    """

    aggregation: AggregationView
    about: str
    open: float
    questions: list[GainView]
    sentences: list[str]
    notes: list[str]
    next_questions: NextQuestionsBody


class KnownScore(Shape):
    """Mean Brier scores once outcomes are known: lower is better.

    `per_answer` counts an event as often as it was answered, which is what a coherent aggregate promises not to worsen;
    `per_event` counts each event once. Both are the same for a single judge.
    """

    name: str
    per_answer: float
    per_event: float
    known: int


class PanelScores(Shape):
    """How good a panel was: its coherent version, the plain average, and its judges."""

    panel: Id
    title: str
    version: int
    coherent: KnownScore
    average: KnownScore
    judges: list[KnownScore]


class CalibrationStep(Shape):
    """Answers of about the same number: their mean, how many of them came true, and how many there are."""

    said: float
    came_true: float
    count: int


class JudgeRecordView(Shape):
    """A judge, by name, over all panels that have outcomes.

    `together` is how many judges of the account's panels have the name; `same` is whether they are known to be one
    person, by mail address or because the facilitator said so (`joined`), so that each sees the score over all panels.
    """

    name: str
    together: int
    same: bool
    joined: bool
    panels: int
    known: int
    brier: float
    calibration: list[CalibrationStep]


class JudgeHistory(Shape):
    """How much a judge would count by past scores: known answers, their mean Brier score, and the weight."""

    judge: Id
    name: str
    known: int
    brier: float | None
    weight: float


class PastWeights(Shape):
    """The weights that past panels teach, the greatest first; none while no past panel has outcomes."""

    weights: list[JudgeHistory]


class PersonDraft(Shape):
    """Whether all judges of a name, in the account's panels, are one person who sees their score over all of these."""

    model_config = example(name="Alice", same=True)

    name: Title
    same: bool = True


class TeamScores(Shape):
    """The scores of an account's panels and, over all of them, of its judges, the best first."""

    panels: list[PanelScores]
    judges: list[JudgeRecordView]


class AccuracyView(Shape):
    """How good the judges and the aggregate were, once events are resolved; null where nothing can be said."""

    scores: KeptScores | None
    replaced: KeptScores | None
    tuned: KeptTuned | None
    notes: list[str]
