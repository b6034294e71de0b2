"""Calls without a store, for platforms that keep their own: a whole panel in, a record out."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from coherently.web.api.dependencies import Calculating, json_only, this_machine_or_account
from coherently.web.operations import stateless
from coherently.web.shapes.stateless_shapes import (
    AggregateAnswer,
    AggregateDraft,
    BoundsAnswer,
    BoundsDraft,
    CheckAnswer,
    CheckDraft,
    CompareAnswer,
    CompareDraft,
    InfluenceAnswer,
    InfluenceDraft,
    ScoreAnswer,
    ScoreDraft,
    TuneAnswer,
    TuneDraft,
    VerifyAnswer,
    VerifyDraft,
    WhyAnswer,
    WhyDraft,
)

router = APIRouter(tags=["stateless"], dependencies=[Depends(json_only), Depends(this_machine_or_account)])


@router.post("/check")
def check(draft: CheckDraft, calculator: Calculating) -> CheckAnswer:
    """Say who contradicts what; nothing is saved."""
    return calculator.call(stateless.check_forecasts, draft)


@router.post("/aggregate")
def aggregate(draft: AggregateDraft, calculator: Calculating) -> AggregateAnswer:
    """Make forecasts coherent; nothing is saved."""
    return calculator.call(stateless.aggregate_forecasts, draft)


@router.post("/influence")
def influence(draft: InfluenceDraft, calculator: Calculating) -> InfluenceAnswer:
    """Say what each judge, question and law moves; nothing is saved."""
    return calculator.call(stateless.find_influence, draft)


@router.post("/why")
def why(draft: WhyDraft, calculator: Calculating) -> WhyAnswer:
    """Say why an event has its probability; nothing is saved."""
    return calculator.call(stateless.explain_event, draft)


@router.post("/bounds")
def bounds(draft: BoundsDraft, calculator: Calculating) -> BoundsAnswer:
    """Bound any events by the coherent forecasts; nothing is saved."""
    return calculator.call(stateless.bound_events, draft)


@router.post("/score")
def score(draft: ScoreDraft, calculator: Calculating) -> ScoreAnswer:
    """Score each judge by the outcomes; nothing is saved."""
    return calculator.call(stateless.score_forecasts, draft)


@router.post("/compare")
def compare(draft: CompareDraft, calculator: Calculating) -> CompareAnswer:
    """Compare methods by the outcomes, with intervals; nothing is saved."""
    return calculator.call(stateless.compare_methods, draft)


@router.post("/tune")
def tune(draft: TuneDraft, calculator: Calculating) -> TuneAnswer:
    """Learn a recipe from the outcomes; nothing is saved."""
    return calculator.call(stateless.tune_recipe, draft)


@router.post("/verify")
def verify(draft: VerifyDraft, calculator: Calculating) -> VerifyAnswer:
    """Check that a result keeps its promises about a panel; nothing is saved."""
    return calculator.call(stateless.verify_result, draft)
