"""Aggregations: versioned, run as jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.carried_records import KeptResult, KeptScores, KeptTuned
from coherently.web.shapes.shape import Id, Moment, Note, Shape, Time, example
from coherently.web.shapes.words import LossWord, MethodWord

JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class AggregationDraft(Shape):
    """How to aggregate the last answers of the judges, or those at an earlier time."""

    model_config = example(method="auto", loss="brier", as_of=None, time_limit=60.0, note="Before the discussion")

    method: MethodWord = "auto"
    loss: LossWord = "brier"
    as_of: Moment | None = None
    time_limit: Annotated[float, Field(gt=0, le=sizes.SECONDS)] | None = None
    note: Note = ""


class AggregationView(Shape):
    """An aggregation: how far it is, and what it found once it is done."""

    id: Id
    version: int
    status: JobState
    progress: float
    progress_text: str
    method: str
    loss: str
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
    `result = co.Result.from_json(json.dumps(result))` give what `co.verify(panel, result)` checks.
    """

    aggregation: AggregationView
    events: list[EventResult]
    forecasts: list[dict[str, Any]]
    laws: list[str]
    outcomes: dict[str, Any]
    verified: bool
    problems: list[str]
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


class AccuracyView(Shape):
    """How good the judges and the aggregate were, once events are resolved; null where nothing can be said."""

    scores: KeptScores | None
    replaced: KeptScores | None
    tuned: KeptTuned | None
    notes: list[str]
