"""Calls for platforms that keep their own store: a whole panel in, an answer out, nothing kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from coherently.solve.methods.pools import CLIP
from coherently.solve.methods.recipe import RECIPE
from coherently.web import sizes
from coherently.web.shapes.carried_records import (
    CheckBody,
    ComparisonBody,
    InfluenceBody,
    ResultBody,
    ScoresBody,
    TunedBody,
    TunedRecipeBody,
    VerificationBody,
    WhyBody,
)
from coherently.web.shapes.shape import EventText, Probability, Shape, Statement, Title, example
from coherently.web.shapes.words import DesignWord, LossWord, MethodWord, RecipePool, VoiceWord

FORECASTS = [
    {"judge": "Ann", "event": "rain", "probability": 0.75},
    {"judge": "Ann", "event": "wind", "probability": 0.2},
    {"judge": "Bob", "event": "rain & wind", "probability": 0.4},
]
OUTCOMES = {"rain": True, "wind": False}
Weight = Annotated[float, Field(ge=0, le=1e50, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=sizes.SECONDS)]
Tolerance = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


class StatelessForecast(Shape):
    """A forecast: a judge by name, an event by its text, and a probability, an interval or both."""

    model_config = example(**FORECASTS[0])

    judge: Title
    event: EventText
    probability: Probability | None = None
    weight: Weight = 1.0
    lower: Probability | None = None
    upper: Probability | None = None


class StatelessPanel(Shape):
    """A whole panel: forecasts, laws that are certainly true, outcomes by event, and how much each judge counts."""

    forecasts: Annotated[list[StatelessForecast], Field(min_length=1, max_length=sizes.ROWS)]
    laws: Annotated[list[Statement], Field(max_length=sizes.LAWS)] = Field(default_factory=list)
    outcomes: Annotated[dict[EventText, bool | float | Title], Field(max_length=sizes.ROWS)] = Field(
        default_factory=dict
    )
    weights: Annotated[dict[Title, Weight], Field(max_length=sizes.ROWS)] = Field(
        default_factory=dict,
        description="How much each judge counts, by name; others count 1, and 0 leaves a judge out.",
    )
    time_limit: Seconds | None = Field(
        default=None, description="Seconds; the limit of the service holds if it is less or none is given."
    )


Labels = Annotated[
    dict[EventText, Title],
    Field(default_factory=dict, max_length=sizes.ROWS, description="Readable names of events, for sentences."),
]


class CheckDraft(StatelessPanel):
    """Forecasts to check, and laws that are certainly true."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"])

    voice: VoiceWord = Field(
        default="symbols", description="How `contradictions` says what the panel's means contradict."
    )
    labels: Labels


ClusterMap = Annotated[
    dict[EventText, Title],
    Field(
        default_factory=dict,
        max_length=sizes.ROWS,
        description="Which events come true together without a law, by a date or a place: the cluster of each event.",
    ),
]


LiteratureFlag = Annotated[
    bool,
    Field(
        description="Whether to add published rules that learn from outcomes, fitted on other events, alone and then "
        "exact."
    ),
]


class NextMethod(Shape):
    """The method that makes the numbers of a recipe coherent, with its options."""

    method: MethodWord
    tolerance: Tolerance | None = None
    time_limit: Seconds | None = None
    seed: Seed | None = None
    threads: Annotated[int, Field(ge=0, le=1024)] | None = None
    conditionals: Literal["called_off", "linearised"] | None = None
    groups: DesignWord | None = None


class RecipeLine(Shape):
    """A pool of the forecasts of each event, and the line in log-odds on which it is recalibrated."""

    pool: RecipePool = "mixed"
    exponent: Annotated[float, Field(gt=0)] = 1.0
    shift: float = 0.0
    clip: Annotated[float, Field(gt=0, lt=0.5)] = CLIP
    consensus: Annotated[float, Field(ge=0, le=100)] = 0.0
    signal: Annotated[float, Field(ge=0, le=100)] | None = None
    log_share: Annotated[float, Field(ge=0, le=1)] | None = None
    judges: Annotated[dict[Title, Weight], Field(max_length=sizes.ROWS)] = Field(
        default_factory=dict, description="How much each judge counts in the pool, by name."
    )


class RecipePart(RecipeLine):
    """A part of a blend."""

    share: Annotated[float, Field(gt=0)]


class RecipeBody(RecipeLine):
    """A recipe as `coherently tune`, `/tune` and `co.Recipe.as_dict()` write it."""

    format: Literal["coherently-recipe"] = "coherently-recipe"
    version: Annotated[int, Field(ge=2, le=RECIPE.version)] = RECIPE.version
    recipe: Annotated[Literal[1] | None, Field(description="In place of format and version, in version 1.")] = None
    loss: LossWord = "brier"
    parts: Annotated[list[RecipePart], Field(max_length=100)] = Field(
        default_factory=list, description="With the pool blend: what is averaged in log-odds."
    )
    steps: Annotated[list[str], Field(max_length=1000)] = Field(
        default_factory=list, description="What to do, in words; not read back."
    )
    then: NextMethod | None = None


MethodBody = Annotated[
    MethodWord | RecipeBody,
    Field(description='The word for a method, or a recipe. "recipe" alone is the default recipe, as in Python.'),
]


class AggregateDraft(StatelessPanel):
    """Forecasts to make coherent."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"], method="auto", loss="brier")

    method: MethodBody = "auto"
    loss: LossWord = "brier"
    tolerance: Tolerance | None = None
    seed: Seed | None = None


class BoundsDraft(AggregateDraft):
    """Forecasts to make coherent, and events to bound by them, forecast or not."""

    model_config = example(forecasts=FORECASTS, events=["rain | wind"])

    events: Annotated[list[EventText], Field(min_length=1, max_length=sizes.EVENTS_OF_QUESTION)]


class InfluenceDraft(AggregateDraft):
    """Forecasts to make coherent, and what to leave out: each judge, question and law, or some of them together."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"], without=["Bob"])

    without: Annotated[list[Statement], Field(max_length=sizes.EVENTS_OF_QUESTION)] = Field(
        default_factory=list,
        description="Judges, events and laws to leave out together, by name or text; each by itself if none are named.",
    )
    largest: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=24,
        description="How many judges, questions and laws are left out exactly, of each; the rest is estimated.",
    )
    labels: Labels


class WhyDraft(AggregateDraft):
    """Forecasts to make coherent, and the event whose probability is to be explained."""

    model_config = example(forecasts=FORECASTS, event="wind")

    event: EventText
    largest: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=24,
        description="How many judges, questions and laws are left out exactly, of each; the rest is estimated.",
    )
    labels: Labels


class ScoreDraft(StatelessPanel):
    """Forecasts to score by the outcomes; probabilities are clipped to [clip, 1 - clip] for the log score."""

    model_config = example(forecasts=FORECASTS, outcomes=OUTCOMES)

    clip: Annotated[float, Field(ge=0, lt=0.5)] = 1e-4
    cluster: ClusterMap
    confidence: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="The confidence level of intervals over events: none; with clusters 0.95."
    )


class CompareDraft(StatelessPanel):
    """Forecasts, outcomes, and methods to compare beside the usual ones."""

    model_config = example(forecasts=FORECASTS, outcomes=OUTCOMES, methods=["median"])

    methods: Annotated[list[MethodBody], Field(max_length=20)] = Field(default_factory=list)
    over: Literal["both", "judges", "events"] = "both"
    cluster: ClusterMap
    literature: LiteratureFlag = False
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    tolerance: Tolerance | None = None


class TuneDraft(StatelessPanel):
    """Forecasts and outcomes to learn a recipe from."""

    model_config = example(forecasts=FORECASTS, outcomes=OUTCOMES)

    cluster: ClusterMap
    literature: LiteratureFlag = False


class VerifyDraft(StatelessPanel):
    """A panel, and a result to hold against it: `result` of `/aggregate`, or `co.Result.to_json()`."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"], result={})

    result: dict[str, Any]


class CheckAnswer(Shape):
    """Who contradicts what, as `co.check(...).as_dict()` tells it."""

    model_config = example(
        coherent=False, status="incoherent", contradictions=["P(rain & wind) = 0.40 is above P(wind) = 0.20"], check={}
    )

    coherent: bool | None
    status: str
    contradictions: list[str]
    check: CheckBody


class AnsweredForecast(Shape):
    """The coherent probability of an event, and the average before."""

    event: str
    probability: float | None
    raw: float | None
    weight: float


class AggregateAnswer(Shape):
    """The coherent forecasts; `result` is the whole result, which `co.Result.from_json` reads."""

    model_config = example(
        status="optimal", coherence="global", method="auto", objective=0.02, lower_bound=0.02, gap=0.0,
        forecasts=[{"event": "rain", "probability": 0.75, "raw": 0.75, "weight": 1.0}], note=None, verified=True,
        problems=[], result={},
    )  # fmt: skip

    status: str
    coherence: str
    method: str
    objective: float | None
    lower_bound: float | None
    gap: float | None
    forecasts: list[AnsweredForecast]
    note: str | None
    verified: bool
    problems: list[str]
    result: ResultBody


class EventBounds(Shape):
    """The least and the greatest probability of an event that the coherent forecasts allow."""

    event: str
    low: float
    high: float
    certified: bool
    note: str | None


class BoundsAnswer(Shape):
    """What the coherent forecasts imply for each event; `result` is the whole result."""

    status: str
    coherence: str
    method: str
    bounds: list[EventBounds]
    result: ResultBody


class InfluenceAnswer(Shape):
    """What moves the result, as `co.aggregate(...).influence().as_dict()` tells it."""

    sentences: list[str]
    influence: InfluenceBody


class WhyAnswer(Shape):
    """Why an event has its probability, as `co.aggregate(...).why(event).as_dict()` tells it."""

    sentences: list[str]
    why: WhyBody


class ScoreAnswer(Shape):
    """How good each judge was, as `co.score(...).as_dict()` tells it."""

    scores: ScoresBody


class CompareAnswer(Shape):
    """Methods side by side, as `co.compare(...).as_dict()` tells it."""

    notes: list[str]
    comparison: ComparisonBody


class TuneAnswer(Shape):
    """The recipe that the outcomes teach, ready for `method`; `tuned` is `co.tune(...).as_dict()`."""

    learned: bool
    sentence: str
    recipe: TunedRecipeBody
    tuned: TunedBody


class VerifyAnswer(Shape):
    """Whether the result keeps its promises, as `co.verify(...).as_dict()` tells it."""

    verified: bool
    problems: list[str]
    verification: VerificationBody
