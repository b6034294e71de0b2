"""Calls for platforms that keep their own store: a whole panel in, an answer out, nothing kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from coherently.web import sizes
from coherently.web.shapes.judging_shapes import StatelessForecast
from coherently.web.shapes.shape import Shape, Statement, example

MethodWord = Literal[
    "auto", "exact", "recipe", "dykstra", "projections", "annealing", "linear", "log", "median", "trimmed",
    "extremised", "shrunk", "neyman-roughgarden", "normalised", "power", "shin", "lindley", "dempster-shafer",
]  # fmt: skip
LossWord = Literal["brier", "log", "spherical"]
FORECASTS = [
    {"judge": "Ann", "event": "rain", "probability": 0.75},
    {"judge": "Ann", "event": "wind", "probability": 0.2},
    {"judge": "Bob", "event": "rain & wind", "probability": 0.4},
]


class CheckDraft(Shape):
    """Forecasts to check, and laws that are certainly true."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"])

    forecasts: Annotated[list[StatelessForecast], Field(min_length=1, max_length=sizes.ROWS)]
    laws: Annotated[list[Statement], Field(max_length=sizes.LAWS)] = Field(default_factory=list)


class AggregateDraft(CheckDraft):
    """Forecasts to make coherent."""

    model_config = example(forecasts=FORECASTS, laws=["storm -> wind"], method="auto", loss="brier")

    method: MethodWord = "auto"
    loss: LossWord = "brier"


class CheckAnswer(Shape):
    """Who contradicts what, as `co.check(...).as_dict()` tells it."""

    model_config = example(
        coherent=False, status="incoherent", contradictions=["P(rain & wind) = 0.40 is above P(wind) = 0.20"], check={}
    )

    coherent: bool | None
    status: str
    contradictions: list[str]
    check: dict[str, Any]


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
    result: dict[str, Any]
