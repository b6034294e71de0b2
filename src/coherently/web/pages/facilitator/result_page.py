"""The results: before and after, the certificate, versions, accuracy, outcomes, and the work in progress."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.explain import judge_sheet as desk
from coherently.panel import Panel
from coherently.report.verification_code import checking_command, verifying_code
from coherently.web.catalogue import plain
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.operations.judge_drawings import version_distributions
from coherently.web.operations.privacy import has_private, is_private
from coherently.web.operations.sheets import ask_feedback
from coherently.web.operations.version_choices import past_panels
from coherently.web.pages.drawing_fields import shown_distribution
from coherently.web.pages.facilitator.panel_accuracy import accuracy_of
from coherently.web.pages.facilitator.shown_result import shown_result
from coherently.web.pages.facilitator.titles import name_events
from coherently.web.pages.facilitator.version_list import METHODS, choices_words, compared, describe
from coherently.web.pages.formats import change, percent
from coherently.web.refusals import not_found

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from coherently.web.access.workbench import Workbench
    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.aggregation_shapes import AggregationView, ResultView
    from coherently.web.shapes.panel_shapes import QuestionView

WORDS = {1: "yes", 0: "no", -2: "off"}
"""How an event of a panel came out: a conditional whose condition did not come true is called off."""
MOST = 4
"""How many events the list of the greatest changes has."""


def show_results(visit: Visit, note: Notice | None = None, typed: Mapping[str, str] | None = None) -> Response:
    """The page, of the newest version or of the one that is asked for; `typed` are outcomes that were refused."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    found = panels.get_panel(bench, caller, panel)
    asked = questions.list_questions(bench, caller, panel).questions
    events = name_events(asked)
    known = {each.event: each.outcome for each in answers.list_outcomes(bench, caller, panel).outcomes}
    versions = aggregations.list_aggregations(bench, caller, panel).aggregations
    current = chosen(versions, visit.asked("version"))
    result = None if current is None else aggregations.get_result(bench, caller, panel, current.id)
    rows = [] if result is None else forecast_rows(result, events, known)
    accuracy = None if result is None else accuracy_of(result, known)
    return visit.show(
        "results.html",
        422 if note is not None and note.tone == "wrong" else 200,
        note=note or failed(versions) or visit.notice(),
        panel=found,
        archive=not is_private(bench, panel),
        current=current,
        running=next((working(each) for each in versions if each.status in ("queued", "running")), None),
        versions=describe(visit, panel, versions, events),
        compared=compared(visit, panel, versions, events),
        lead=lead_of(current, rows),
        certificate=certificate_of(current) if current else None,
        verifying_code=verifying_code(),
        checking_command=checking_command(),
        proof=current is not None and bool((current.summary or {}).get("proof")),
        groups=by_heading(rows),
        most=sorted((each for each in rows if each.change != "0"), key=_distance)[:MOST],
        reasons=contradicted(bench, panel, rows, result.laws) if result else (),
        coherence=(current.summary or {}).get("coherence", "none") if current else "none",
        accuracy=accuracy,
        distributions=[] if current is None else shown_distributions(visit, panel, current.id),
        outcomes=outcome_rows(asked, events, known, rows, typed=typed or {}),
        outcomes_open=visit.asked("outcomes") == "1" or typed is not None,
        answered=answers.is_answered(bench, caller, panel),
        private=has_private(bench, panel),
        methods=METHODS,
        learnable=bool(past_panels(bench, caller, panel)),
        learned=(current.summary or {}).get("learned", "") if current else "",
        recipe=result is not None and result.recipe is not None,
    )


def shown_distributions(visit: Visit, panel: str, version: str) -> list[SimpleNamespace]:
    """What a version says about each number and date."""
    found = version_distributions(visit.bench, visit.caller, panel, version).distributions
    return [shown_distribution(each) for each in found]


def chosen(versions: Sequence[AggregationView], asked: str) -> AggregationView | None:
    """The version that is asked for, or the newest that is done."""
    done = [each for each in versions if each.status == "done"]
    if asked:
        found = next((each for each in done if str(each.version) == asked), None)
        if found is None:
            raise not_found("version")
        return found
    return done[0] if done else None


def failed(versions: Sequence[AggregationView]) -> Notice | None:
    """What to say if the newest version could not be made."""
    from coherently.web.pages.visits import Notice

    if not versions or versions[0].status != "failed":
        return None
    words = plain("work.failed", version=versions[0].version, why=versions[0].error or "")
    return Notice(plain("refused"), words, "wrong")


def working(job: AggregationView) -> SimpleNamespace:
    """A version that is being made."""
    words = plain("work.queued") if job.status == "queued" else f"{job.progress_text}." if job.progress_text else ""
    return SimpleNamespace(id=job.id, version=job.version, progress=job.progress, words=words)


def forecast_rows(
    result: ResultView, events: Mapping[str, NamedEvent], known: Mapping[str, Any]
) -> list[SimpleNamespace]:
    """One row per event of the version, in the order of the sheet."""
    by_text = {each.event: each for each in events.values()}
    place = {text: order for order, text in enumerate(by_text)}
    came = resolutions([row.event for row in result.events], result.laws, known)
    shown = shown_result(result.events, result.laws)
    rows = []
    for row in sorted(result.events, key=lambda each: place.get(each.event, len(place))):
        if row.probability is None:
            continue
        named = by_text.get(row.event)
        before, after = shown.before[row.event], shown.after[row.event]
        rows.append(
            SimpleNamespace(
                id=named.id if named else row.event,
                event=row.event,
                title=named.within if named else row.title or row.event,
                whole=named.title if named else row.title or row.event,
                heading=named.heading if named else "",
                short=named.short if named else row.title or row.event,
                number=named.number if named else 0,
                topic=named.topic if named else "",
                before=row.raw,
                after=row.probability,
                before_words=percent(before, shown.digits),
                after_words=percent(after, shown.digits),
                change="0" if before is None or after is None else change(before, after, shown.digits),
                moved=0.0 if before is None or after is None else abs(after - before),
                outcome=came.get(row.event, ""),
            )
        )
    return rows


def resolutions(texts: Sequence[str], laws: Sequence[str], known: Mapping[str, Any]) -> dict[str, str]:
    """How events came out, as keys of the catalogue, with all that follows from the outcomes that are known."""
    outcomes = {event: value for event, value in known.items() if value is not None}
    if not outcomes or not texts:
        return {}
    try:
        panel = Panel.from_records([("somebody", text, 0.5) for text in texts], laws=list(laws), outcomes=outcomes)
    except CoherentlyError:
        return {}
    found = dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))
    return {text: WORDS[outcome] for text, outcome in found.items() if outcome in WORDS}


def word(outcome: Any) -> str:
    """How an event came out, as a key of the catalogue."""
    return {True: "yes", False: "no"}.get(outcome, "") if isinstance(outcome, bool) else ""


def by_heading(rows: Sequence[SimpleNamespace]) -> list[SimpleNamespace]:
    """Rows under their headings, as long as they follow each other."""
    groups: list[SimpleNamespace] = []
    for row in rows:
        if not groups or groups[-1].title != row.heading:
            groups.append(SimpleNamespace(title=row.heading, rows=[]))
        groups[-1].rows.append(row)
    return groups


def contradicted(bench: Workbench, panel: str, rows: Sequence[SimpleNamespace], laws: Sequence[str]) -> tuple[str, ...]:
    """Where the averages contradict each other, in sentences, as far as they are known in time."""
    asked = [row for row in rows if row.before is not None]
    items = tuple(desk.Item(row.event, row.event, row.short, row.number, topic=row.topic) for row in asked)
    averages = tuple(desk.Answered(row.event, row.before) for row in asked)
    found = ask_feedback(bench, panel, desk.SheetSetting(items, tuple(laws)), averages, meant=frozenset())
    return tuple(each.sentence for each in found.contradictions[:MOST])


def _distance(row: SimpleNamespace) -> tuple[float, float]:
    return -round(row.moved, 9), -abs(row.after - row.before)


def lead_of(current: AggregationView | None, rows: Sequence[SimpleNamespace]) -> str:
    """The one paragraph that says it all."""
    if current is None or not current.summary:
        return plain("results.lead.none")
    summary = current.summary
    resolved = sum(bool(row.outcome) for row in rows)
    if resolved == len(rows):
        tail = plain("results.lead.resolved")
    else:
        tail = plain("results.lead.resolved.some", count=resolved, of=len(rows)) if resolved else ""
    return plain(
        "results.lead",
        forecasts=plain("forecasts.count", count=summary["forecasts"]),
        judges=plain("judges.count", count=summary["judges"]),
        events=plain("events.count", count=summary["events"]),
        averages=averages_words(current, rows),
        resolved=tail,
    ) + "".join(f" {each}" for each in choices_words(current))


def averages_words(current: AggregationView, rows: Sequence[SimpleNamespace]) -> str:
    """What the check of the averages found; never concluded from what moved."""
    summary = current.summary or {}
    coherence, pooled = summary.get("coherence"), summary.get("coherence") == "none"
    if pooled and current.method != "linear":
        return plain("results.lead.pooled")
    # Versions of earlier programs have the contradictions alone.
    status = summary.get("averages") or ("incoherent" if summary.get("contradictions") else "undecided")
    if status == "undecided":
        return plain("results.lead.undecided.none" if pooled else "results.lead.undecided")
    if status != "incoherent":
        return plain(f"results.lead.{status}")
    nearest = coherence == "global" and summary.get("status") == "optimal"
    slightly = "" if pooled or any(row.change != "0" for row in rows) else plain("results.lead.slightly")
    return plain(f"results.lead.incoherent.{'optimal' if nearest else coherence}") + slightly


def certificate_of(current: AggregationView) -> SimpleNamespace:
    """What is proved of a version, and when it was checked."""
    return SimpleNamespace(**vars(certified(current.summary or {})), checked=current.finished)


def certified(summary: Mapping[str, Any]) -> SimpleNamespace:
    """What is proved; never more than the check has shown."""
    coherence, status = summary.get("coherence"), summary.get("status")
    if coherence == "global":
        key = "cert.optimal" if status == "optimal" else "cert.coherent"
    else:
        key = "cert.local" if coherence == "local" else "cert.none"
    return SimpleNamespace(words=plain(key), holds=bool(summary.get("verified")))


def outcome_rows(
    listed: Sequence[QuestionView],
    events: Mapping[str, NamedEvent],
    known: Mapping[str, Any],
    rows: Sequence[SimpleNamespace],
    *,
    typed: Mapping[str, str],
) -> list[SimpleNamespace]:
    """The form for outcomes: what was entered or typed for each event, and what follows for it from the others.

    Of options that share 100 per cent one comes true, so that they are one choice.
    """
    follows = {row.event: row.outcome for row in rows}
    made = []
    for question in listed:
        if is_choice(question):
            chosen = [each for each in question.events if known.get(each.event) is True]
            came = [each.title or each.event for each in question.events if follows.get(each.event) == "yes"]
            options = [(each.id, each.title or each.event) for each in question.events]
            own = typed.get(question.id, chosen[0].id if chosen else "")
            row = {"id": question.id, "title": question.title, "options": options, "outcome": own}
            made.append(SimpleNamespace(**row, follows=came[0] if came else ""))
            continue
        for event in question.events:
            named, entered = events[event.id], typed.get(event.id, word(known.get(event.event)))
            came_out = plain(f"outcome.{follows[event.event]}") if follows.get(event.event) else ""
            row = {"id": event.id, "title": named.title, "options": [], "outcome": entered}
            made.append(SimpleNamespace(**row, follows=came_out))
    return made


def is_choice(question: QuestionView) -> bool:
    """Whether one of a question's events comes true, and no other."""
    return question.kind == "partition" and len(question.events) > 1
