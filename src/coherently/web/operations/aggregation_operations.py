"""Aggregations: asked for here, made by workers, read and compared here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.web.access.request_keys import only_once
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import privacy_of, refuse_private
from coherently.web.operations.version_choices import chosen_options, leave_out, method_of, past_inputs
from coherently.web.refusals import RefusedError, not_found, too_many
from coherently.web.shapes.aggregation_shapes import (
    AccuracyView,
    AggregationList,
    AggregationView,
    ComparedEvent,
    ComparisonView,
    EventResult,
    ResultView,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.aggregation_shapes import AggregationDraft
    from coherently.web.store import AggregationRecord

DEFAULT_SECONDS = 60.0
"""Time limit of an aggregation that does not ask for another, in seconds."""


def request_aggregation(
    bench: Workbench, caller: AccountCaller, panel: str, draft: AggregationDraft, key: str | None = None
) -> AggregationView:
    """Queue the next version: what stands now is put down, so that later answers do not change it."""
    own_panel(bench, caller, panel)
    limits = bench.settings.limits
    seconds = min(draft.time_limit or DEFAULT_SECONDS, limits.job_seconds)
    options = chosen_options(bench, panel, draft)
    inputs = leave_out(bench, panel, panel_inputs(bench, panel, draft.as_of), options.pop("without"))
    if draft.learn != "nothing":
        inputs["past"] = past_inputs(bench, caller, panel, draft.past, inputs_of=panel_inputs)
    if not inputs["forecasts"] and options["left_out"]:
        raise RefusedError(
            409, "no-answers", "Without all of these no answer is left.", where="body.without", remedy="Leave out less."
        )
    if not inputs["forecasts"]:
        raise RefusedError(409, "no-answers", "Nobody has answered yet.", remedy="Aggregate once there are answers.")

    def action() -> AggregationView:
        _check_queue(bench, panel)
        record = bench.store.aggregations.request(
            panel,
            options,
            {"seconds": seconds, "memory": limits.job_memory},
            draft.note,
            inputs,
            draft.as_of,
        )
        return view_aggregation(record)

    return only_once(bench, caller, f"aggregations {panel}", key, draft=draft, action=action)


def _check_queue(bench: Workbench, panel: str) -> None:
    limits = bench.settings.limits
    remedy = "Wait until one has ended, or cancel one."
    if bench.store.aggregations.waiting(panel) >= limits.queue_of_panel:
        raise too_many("aggregations of this panel under way", limits.queue_of_panel, remedy)
    if bench.store.aggregations.waiting() >= limits.queue:
        raise too_many("aggregations under way", limits.queue, remedy)


def panel_inputs(bench: Workbench, panel: str, as_of: str | None = None) -> dict[str, Any]:
    """The answers, laws and outcomes of a panel in plain values, from one moment.

    While numbers of an open round are among them this is refused: who answered what is known, so that made-up names
    would not hide whose they are.
    """

    def action() -> dict[str, Any]:
        store = bench.store
        questions = store.questions.list(panel)
        events = {event.id: event for question in questions for event in question.events}
        titles = {event.event: event.title or q.title for q in questions for event in q.events}
        records = [
            each
            for each in store.forecasts.latest(panel, as_of=as_of)
            if each.probability is not None and each.event in events
        ]
        refuse_private(records, privacy_of(bench, panel))
        names = {judge.id: judge.name for judge in store.judges.list(panel)}
        declared = [question.declaration for question in questions if question.declaration is not None]
        return {
            "forecasts": [
                {"judge": names[each.judge], "event": events[each.event].event, "probability": each.probability}
                for each in records
            ],
            "laws": [*declared, *(law.statement for law in store.laws.list(panel, as_of=as_of))],
            "outcomes": {each.event: each.outcome for each in store.outcomes.latest(panel)},
            "labels": titles,
        }

    return bench.store.read(action)


def list_aggregations(bench: Workbench, caller: AccountCaller, panel: str) -> AggregationList:
    """All versions, the newest first."""
    own_panel(bench, caller, panel)
    found = reversed(bench.store.aggregations.list(panel))
    return AggregationList(aggregations=[view_aggregation(record) for record in found])


def own_aggregation(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> AggregationRecord:
    """A version of the caller's panel."""
    own_panel(bench, caller, panel)
    record = bench.store.aggregations.get(aggregation)
    if record.panel != panel:
        raise not_found("aggregation")
    return record


def get_aggregation(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> AggregationView:
    """One version, and how far it is."""
    return view_aggregation(own_aggregation(bench, caller, panel, aggregation))


def cancel_aggregation(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> AggregationView:
    """Stop one that waits or runs."""
    own_aggregation(bench, caller, panel, aggregation)
    return view_aggregation(bench.store.aggregations.cancel(aggregation))


def get_result(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> ResultView:
    """The whole result of one that is done."""
    record = own_aggregation(bench, caller, panel, aggregation)
    kept, inputs = bench.store.aggregations.result(aggregation), bench.store.aggregations.inputs(aggregation)
    return ResultView(
        aggregation=view_aggregation(record),
        events=[EventResult(**row) for row in kept["events"]],
        forecasts=_weighted(inputs["forecasts"], kept.get("weights") or {}),
        laws=inputs["laws"],
        outcomes=inputs["outcomes"],
        verified=kept["verified"],
        problems=kept["problems"],
        recipe=kept.get("recipe"),
        result=kept["result"],
    )


def _weighted(rows: list[dict[str, Any]], weights: Mapping[str, float]) -> list[dict[str, Any]]:
    """Forecasts with their weights, if judges count differently."""
    return [row | {"weight": weights.get(row["judge"], 1.0)} for row in rows] if weights else rows


def get_report(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> str:
    """The report of one that is done, as one page."""
    own_aggregation(bench, caller, panel, aggregation)
    page: str = bench.store.aggregations.result(aggregation)["report"]
    return page


def get_accuracy(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> AccuracyView:
    """How good judges and aggregate were, as far as events were resolved when it was made."""
    own_aggregation(bench, caller, panel, aggregation)
    return AccuracyView(**bench.store.aggregations.result(aggregation)["accuracy"])


def compare_versions(
    bench: Workbench, caller: AccountCaller, panel: str, aggregation: str, other: str | None = None
) -> ComparisonView:
    """A version beside another, by default the last one before it that is done."""
    after = own_aggregation(bench, caller, panel, aggregation)
    if other is None:
        earlier = [each for each in bench.store.aggregations.list(panel) if each.version < after.version]
        before = next((each for each in reversed(earlier) if each.status == "done"), None)
        if before is None:
            raise RefusedError(404, "not-found", "There is no earlier version that is done.")
    else:
        before = own_aggregation(bench, caller, panel, other)
    old, new = (
        {row["event"]: row for row in bench.store.aggregations.result(each.id)["events"]} for each in (before, after)
    )
    rows = [
        ComparedEvent(
            event=event,
            title=(new.get(event) or old[event])["title"],
            before=old[event]["probability"] if event in old else None,
            after=new[event]["probability"] if event in new else None,
        )
        for event in dict.fromkeys([*new, *old])
    ]
    return ComparisonView(before=view_aggregation(before), after=view_aggregation(after), events=rows)


def view_aggregation(record: AggregationRecord) -> AggregationView:
    """A version as it is answered."""
    return AggregationView.of(
        record,
        method=method_of(record.options),
        loss=record.options.get("loss", "brier"),
        learn=record.options.get("learn", "nothing"),
        weights=(record.summary or {}).get("weights") or record.options.get("weights", {}),
        left_out=record.options.get("left_out", []),
        requested=record.requested_at,
        finished=record.ended_at,
        error=record.error or None,
        summary=record.summary or None,
    )
