"""What the forms of the page of results do, and the files that belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from coherently.errors import CoherentlyError
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import questions
from coherently.web.operations.exports import KINDS, as_csv, as_json, as_python
from coherently.web.pages.facilitator.panel_accuracy import accuracy_of
from coherently.web.pages.facilitator.result_page import METHODS, is_choice, show_results, word
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.refusals import not_found
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.shapes.judging_shapes import OutcomeDraft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.panel_shapes import QuestionView

VALUES = {"yes": True, "no": False, "": None}
"""What the form for outcomes may send."""


def request(visit: Visit) -> Response:
    """Make a new version."""
    panel, method = visit.part("panel"), visit.form.get("method", "auto")
    try:
        draft = fill(
            AggregationDraft, method=method if method in METHODS else "auto", note=visit.form.get("note", "").strip()
        )
        aggregations.request_aggregation(visit.bench, visit.caller, panel, draft)
    except CoherentlyError as error:
        return show_results(visit, wrong(error))
    return visit.go(f"/panels/{panel}/results")


def cancel(visit: Visit) -> Response:
    """Stop a version that is being made."""
    panel = visit.part("panel")
    try:
        stopped = aggregations.cancel_aggregation(visit.bench, visit.caller, panel, visit.part("aggregation"))
    except CoherentlyError as error:
        return show_results(visit, wrong(error))
    return visit.go(f"/panels/{panel}/results", "work.cancelled", number=stopped.version)


def save_outcomes(visit: Visit) -> Response:
    """Record the outcomes that differ from what is known."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    try:
        listed = questions.list_questions(bench, caller, panel).questions
        known = {each.event: each.outcome for each in answers.list_outcomes(bench, caller, panel).outcomes}
        drafts = [draft for question in listed for draft in _drafts(question, visit.form, known)]
        for draft in drafts:
            answers.record_outcome(bench, caller, panel, draft)
    except CoherentlyError as error:
        return show_results(visit, wrong(error))
    return visit.go(f"/panels/{panel}/results", "outcomes.saved", count=len(drafts))


def _drafts(question: QuestionView, form: Mapping[str, str], known: Mapping[str, Any]) -> list[OutcomeDraft]:
    """What a form says anew about a question; what is taken back comes first, so that nothing contradicts it."""
    if is_choice(question) and question.id in form:
        chosen = form[question.id]
        gone = [each for each in question.events if known.get(each.event) is True and each.id != chosen]
        new = [each for each in question.events if each.id == chosen and known.get(each.event) is not True]
        drafts = [fill(OutcomeDraft, event=each.event, outcome=None) for each in gone]
        return [*drafts, *(fill(OutcomeDraft, event=each.event, outcome=True) for each in new)]
    return [
        fill(OutcomeDraft, event=each.event, outcome=VALUES[form[each.id]])
        for each in question.events
        if form.get(each.id) in VALUES and form[each.id] != word(known.get(each.event))
    ]


def certificate(visit: Visit) -> Response:
    """The result with its proof, as the library reads it."""
    found = aggregations.get_result(visit.bench, visit.caller, visit.part("panel"), visit.part("aggregation"))
    return _file(as_json(found.result), "json", "certificate.json")


def accuracy(visit: Visit) -> Response:
    """The table of accuracy as CSV, as JSON or as Python."""
    bench, caller, panel, ending = visit.bench, visit.caller, visit.part("panel"), visit.part("ending")
    found = aggregations.get_result(bench, caller, panel, visit.part("aggregation"))
    known = {each.event: each.outcome for each in answers.list_outcomes(bench, caller, panel).outcomes}
    table = accuracy_of(found, known)
    if table is None or ending not in KINDS:
        raise not_found("table")
    rows = [{"who": each.name, "brier": each.score} for each in [*table.panel, *table.judges]]
    if ending == "csv":
        return _file(as_csv([row | {"brier": round(row["brier"], 4)} for row in rows], ("who", "brier")), ending)
    if ending == "json":
        return _file(as_json({"scores": rows}), ending)
    outcomes = {event: value for event, value in known.items() if value is not None}
    inputs = {"forecasts": found.forecasts, "laws": found.laws, "outcomes": outcomes}
    script = as_python(inputs, found.aggregation.method, found.aggregation.loss)
    return _file(f"{script}print(co.score(panel).frame())\nprint(co.score(panel, result).frame())\n", ending)


def _file(text: str, ending: str, name: str | None = None) -> Response:
    disposition = f'attachment; filename="{name or f"accuracy.{ending}"}"'
    return Response(text, media_type=KINDS[ending], headers={"Content-Disposition": disposition})
