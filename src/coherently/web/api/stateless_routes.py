"""`/check` and `/aggregate`: for platforms that keep their own store."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from coherently.web.api.dependencies import Calculating, json_only, this_machine_or_account
from coherently.web.operations.stateless import aggregate_forecasts, check_forecasts
from coherently.web.shapes.stateless_shapes import AggregateAnswer, AggregateDraft, CheckAnswer, CheckDraft

router = APIRouter(tags=["stateless"], dependencies=[Depends(json_only), Depends(this_machine_or_account)])


@router.post("/check")
def check(draft: CheckDraft, calculator: Calculating) -> CheckAnswer:
    """Say who contradicts what; nothing is saved."""
    return calculator.call(check_forecasts, draft)


@router.post("/aggregate")
def aggregate(draft: AggregateDraft, calculator: Calculating) -> AggregateAnswer:
    """Make forecasts coherent; nothing is saved."""
    return calculator.call(aggregate_forecasts, draft)
