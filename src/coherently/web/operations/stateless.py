"""A whole panel in, an answer out, nothing kept: what worker processes do for the stateless calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.web.shapes.stateless_shapes import AggregateAnswer, CheckAnswer

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.web.shapes.stateless_shapes import AggregateDraft, CheckDraft


def check_forecasts(draft: CheckDraft, seconds: float) -> CheckAnswer:
    """Who contradicts what."""
    from coherently.explain import check

    found = check(_panel(draft), time_limit=seconds, threads=1)
    told = plain(found.as_dict())
    return CheckAnswer(
        coherent=found.coherent, status=str(found.status), contradictions=list(found.contradictions), check=told
    )


def aggregate_forecasts(draft: AggregateDraft, seconds: float) -> AggregateAnswer:
    """The coherent forecasts, verified."""
    from coherently.result import aggregate

    panel = _panel(draft)
    return answered(panel, aggregate(panel, timed_method(draft.method, seconds), draft.loss))


def timed_method(word: str, seconds: float) -> Any:
    """The method that a word stands for, with a time limit where it has one."""
    from dataclasses import fields

    from coherently.solve.registry import METHODS, choose

    kind, _ = METHODS[word]
    limited = any(field.name == "time_limit" for field in fields(kind))  # type: ignore[arg-type]
    return choose(word, time_limit=seconds) if limited else choose(word)


def answered(panel: Panel, result: Result) -> AggregateAnswer:
    """A result in the shape that is sent, with what the verifier says about it."""
    from coherently.panel import records
    from coherently.verifier import verify

    verification = verify(panel, result)
    columns = {name: cells for name, cells in result.columns().items() if name != "adjustment"}
    return AggregateAnswer(
        status=str(result.status),
        coherence=str(result.coherence),
        method=result.method.name,
        **plain({name: getattr(result, name) for name in ("objective", "lower_bound", "gap")}),
        forecasts=plain(records(columns)),
        note=result.note,
        verified=bool(verification),
        problems=list(verification.problems),
        result=plain(result.as_dict()),
    )


def plain(value: Any) -> Any:
    """The value as JSON can write it: a number that is not finite is None."""
    import json

    from coherently.values import json_text

    return json.loads(json_text(value))


def _panel(draft: CheckDraft) -> Panel:
    from coherently.panel import Panel

    return Panel.from_records([(row.judge, row.event, row.probability) for row in draft.forecasts], laws=draft.laws)
