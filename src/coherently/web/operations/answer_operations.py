"""Forecasts, outcomes and comments, as the facilitator sees and enters them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherently.web.access.request_keys import only_once
from coherently.web.operations.discussions import find_reason
from coherently.web.operations.open_panels import open_panel
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import privacy_of
from coherently.web.operations.questions import check_meaning, setting_of
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.judging_shapes import (
    CommentList,
    CommentView,
    ForecastPage,
    ForecastView,
    OutcomeList,
    OutcomeView,
    RecordedForecasts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.judging_shapes import CommentDraft, ForecastBatch, OutcomeDraft
    from coherently.web.store.store_records import CommentRecord, ForecastRecord, OutcomeRecord


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """That a judge answered or abstained, why and when; the number is not in it."""

    judge: str
    event: str
    is_abstention: bool
    reason: str
    time: str


def list_forecasts(
    bench: Workbench,
    caller: AccountCaller,
    panel: str,
    *,
    judge: str | None = None,
    event: str | None = None,
    as_of: str | None = None,
    after: int = 0,
    limit: int = 1000,
) -> ForecastPage:
    """All forecasts in the order of their time, or what stood at a time; without numbers that are still private."""
    own_panel(bench, caller, panel)
    store = bench.store
    if as_of is None:
        found = store.forecasts.history(panel, judge, event, after, limit)
    else:
        stood = store.forecasts.latest(panel, judge, as_of)
        found = tuple(each for each in stood if each.id > after and event in (None, each.event))[:limit]
    more = str(found[-1].id) if len(found) == limit else None
    privacy = privacy_of(bench, panel)
    shown = [replace(record, probability=None) if privacy.covers(record) else record for record in found]
    return ForecastPage(forecasts=[view_forecast(record) for record in shown], after=more)


def is_answered(bench: Workbench, caller: AccountCaller, panel: str) -> bool:
    """Whether anybody ever answered."""
    own_panel(bench, caller, panel)
    return bench.store.forecasts.count(panel) > 0


def list_marks(bench: Workbench, caller: AccountCaller, panel: str) -> list[AnswerMark]:
    """The answers that stand to questions that are asked, without their numbers."""
    own_panel(bench, caller, panel)
    now = open_panel(bench, panel).moment()
    asked = {item.id for item in now.setting.items}
    return [
        AnswerMark(each.judge, each.event, each.state == "abstained", each.reason, time=each.time)
        for each in now.records
        if each.event in asked
    ]


def record_forecasts(
    bench: Workbench, caller: AccountCaller, panel: str, batch: ForecastBatch, key: str | None = None
) -> RecordedForecasts:
    """Record forecasts for judges, in any phase, all or none; a repeated key records nothing again."""
    from coherently.web.store import AnswerGiven

    own_panel(bench, caller, panel)
    by_judge: dict[str, list[AnswerGiven]] = {}
    for row in batch.forecasts:
        by_judge.setdefault(row.judge, []).append(AnswerGiven(row.event, row.probability, reason=row.reason))
    for judge in by_judge:
        if bench.store.judges.get(judge).panel != panel:
            raise not_found("judge")

    def action() -> RecordedForecasts:
        records = [
            record
            for judge, answers in by_judge.items()
            for record in bench.store.forecasts.record(judge, answers, phases=None)
        ]
        return RecordedForecasts(forecasts=[view_forecast(record) for record in records])

    return only_once(bench, caller, f"forecasts {panel}", key, draft=batch, action=action)


def list_outcomes(bench: Workbench, caller: AccountCaller, panel: str) -> OutcomeList:
    """The outcomes that are known."""
    own_panel(bench, caller, panel)
    return OutcomeList(outcomes=[view_outcome(record) for record in bench.store.outcomes.latest(panel)])


def record_outcome(
    bench: Workbench, caller: AccountCaller, panel: str, draft: OutcomeDraft, key: str | None = None
) -> OutcomeView:
    """Record how an event came out; it must go together with the laws and the other outcomes."""
    own_panel(bench, caller, panel)
    (text,) = _checked_texts(bench, panel, [draft])

    def action() -> OutcomeView:
        return view_outcome(bench.store.outcomes.record(panel, text, draft.outcome, draft.note))

    return only_once(bench, caller, f"outcomes {panel}", key, draft=draft, action=action)


def record_outcomes(bench: Workbench, caller: AccountCaller, panel: str, drafts: Sequence[OutcomeDraft]) -> None:
    """Record how several events came out, all of it or nothing."""
    own_panel(bench, caller, panel)
    texts = _checked_texts(bench, panel, drafts)

    def action() -> None:
        for text, draft in zip(texts, drafts, strict=True):
            bench.store.outcomes.record(panel, text, draft.outcome, draft.note)

    bench.store.write(action)


def _checked_texts(bench: Workbench, panel: str, drafts: Sequence[OutcomeDraft]) -> list[str]:
    """The texts of events that came out, which must go together with the laws and the other outcomes."""
    from coherently.panel import Panel

    setting = setting_of(bench, panel)
    texts = [_resolved_text(bench, panel, draft.event) for draft in drafts]
    known = {record.event: record.outcome for record in bench.store.outcomes.latest(panel)}
    known |= {text: draft.outcome for text, draft in zip(texts, drafts, strict=True)}
    asked = [item.event for item in setting.items]
    new = [text for text in texts if known[text] is not None]
    if not new:
        check_meaning(asked, setting.laws)
        return texts
    outcomes = {each: value for each, value in known.items() if value is not None}
    made = Panel.from_records([("somebody", each, 0.5) for each in asked], laws=list(setting.laws), outcomes=outcomes)
    for text in new:
        _check_related(made, text)
    return texts


def _resolved_text(bench: Workbench, panel: str, event: str) -> str:
    """The text of the event that is meant: by its text, by its id, or by the id of a question about one event."""
    questions = bench.store.questions.list(panel)
    texts = {each.id: each.event for question in questions for each in question.events}
    asked = next((question for question in questions if question.id == event), None)
    if asked is None:
        return texts.get(event, event)
    if len(asked.events) == 1:
        return asked.events[0].event
    raise RefusedError(
        422,
        "several-events",
        f"The question {event!r} is about {len(asked.events)} events.",
        where="body.event",
        allowed=", ".join(each.id for each in asked.events),
        remedy="Send the outcome of one of its events.",
    )


def _check_related(panel: Panel, text: str) -> None:
    """Refuse an outcome that resolves nothing: its event shares no variable with a question or a law."""
    from coherently.panel import shares_variables

    if not shares_variables(panel, text):
        raise RefusedError(
            422,
            "unknown-event",
            f"No question and no law is about {text!r}, so its outcome would resolve nothing.",
            where="body.event",
            remedy="Send the text or the id of an event, or the id of a question about one event.",
        )


def list_comments(bench: Workbench, caller: AccountCaller, panel: str) -> CommentList:
    """All comments but replies to reasons, with the names of those who wrote them."""
    own_panel(bench, caller, panel)
    names = {record.id: record.name for record in bench.store.judges.list(panel)}
    found = [each for each in bench.store.comments.list(panel) if each.about is None]
    return CommentList(comments=[view_comment(each, names.get(each.judge or "")) for each in found])


def add_comment(
    bench: Workbench, caller: AccountCaller, panel: str, draft: CommentDraft, key: str | None = None
) -> CommentView:
    """Comment as the facilitator, or reply to a reason."""
    own_panel(bench, caller, panel)
    if bench.store.rounds.current(panel).phase == "closed":
        raise RefusedError(409, "round-closed", "The panel is closed, so that nothing more is said.")
    about, question = None, draft.question
    if draft.reason is not None:
        found = find_reason(bench, panel, draft.reason)
        about, question = found.author, found.question

    def action() -> CommentView:
        return view_comment(bench.store.comments.add(panel, draft.text, None, question, about), None)

    return only_once(bench, caller, f"comments {panel}", key, draft=draft, action=action)


def view_forecast(record: ForecastRecord) -> ForecastView:
    """A forecast as it is answered."""
    return ForecastView.of(record, id=str(record.id))


def view_outcome(record: OutcomeRecord) -> OutcomeView:
    """An outcome as it is answered."""
    return OutcomeView.of(record)


def view_comment(record: CommentRecord, author: str | None, reader: str | None = None) -> CommentView:
    """A comment as it is answered to a reader: a judge, or the facilitator, who is None."""
    written_by = "facilitator" if record.judge is None else author
    hidden = record.hidden_at is not None
    return CommentView.of(record, author=written_by, mine=record.judge == reader, hidden=hidden)
