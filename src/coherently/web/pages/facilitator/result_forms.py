"""What the forms of the page of results do, and the files that belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.responses import Response

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import answer_operations as answers
from coherently.web.operations import questions
from coherently.web.operations.exports import KINDS, as_csv, as_json, as_python
from coherently.web.pages.facilitator.panel_accuracy import accuracy_of
from coherently.web.pages.facilitator.result_page import is_choice, show_results, word
from coherently.web.pages.facilitator.version_list import METHODS
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.typed_numbers import read_number
from coherently.web.pages.visits import wrong
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.shapes.judging_shapes import OutcomeDraft
from coherently.web.shapes.stateless_shapes import RecipeBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.pages.visits import SentFile, Visit
    from coherently.web.shapes.panel_shapes import QuestionView

LEARNED = {"learned": "recipe"}
"""Choices of the form that learn something from past panels."""
VALUES = {"yes": True, "no": False, "": None}
"""What the form for outcomes may send."""


def request(visit: Visit) -> Response:
    """Make a new version."""
    panel = visit.part("panel")
    try:
        aggregations.request_aggregation(visit.bench, visit.caller, panel, read_version(visit.form, visit.files))
    except CoherentlyError as error:
        return show_results(visit, wrong(error))
    return visit.go(f"/panels/{panel}/results")


def read_version(form: Mapping[str, str], files: Mapping[str, SentFile]) -> AggregationDraft:
    """How the next version is to be made, as the forms of results and influence say it."""
    method: Any = form.get("method", "auto")
    learn = LEARNED.get(form.get("method", ""), "weights" if form.get("weigh") == "past" else "nothing")
    if "recipe" in files:
        method = read_recipe(files["recipe"])
    elif method not in METHODS:
        method = "auto"
    without = [name.removeprefix("without-") for name in form if name.startswith("without-")]
    weights = {}
    if form.get("weigh") == "hand":
        weights = {
            name.removeprefix("weight-"): _weight(text) for name, text in form.items() if name.startswith("weight-")
        }
    return fill(
        AggregationDraft,
        method=method,
        learn=learn,
        without=without,
        weights={} if all(each == 1.0 for each in weights.values()) else weights,
        note=form.get("note", "").strip(),
    )


def _weight(text: str) -> float:
    """A weight as somebody typed it; an empty field counts 1."""
    number = read_number(text.strip() or "1")
    if number is None or float(number.text) < 0:
        raise RefusedError(422, "not-usable", plain("weights.wrong", value=text[:40]), where="weights")
    return float(number.text)


def read_recipe(file: SentFile) -> RecipeBody:
    """The recipe of a file that `coherently tune` or the workbench wrote."""
    try:
        return RecipeBody.model_validate_json(file.content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "JSON"
        words = plain("again.recipe.wrong", name=file.name[:60], place=place)
        raise RefusedError(422, "not-usable", words, where="recipe", remedy=plain("again.recipe.remedy")) from None


def cancel(visit: Visit) -> Response:
    """Stop a version that is being made."""
    panel = visit.part("panel")
    try:
        stopped = aggregations.cancel_aggregation(visit.bench, visit.caller, panel, visit.part("aggregation"))
    except CoherentlyError as error:
        return show_results(visit, wrong(error))
    return visit.go(f"/panels/{panel}/results", "work.cancelled", number=stopped.version)


def save_outcomes(visit: Visit) -> Response:
    """Record the outcomes that differ from what is known, all of them or none."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    try:
        listed = questions.list_questions(bench, caller, panel).questions
        known = {each.event: each.outcome for each in answers.list_outcomes(bench, caller, panel).outcomes}
        drafts = [draft for question in listed for draft in _drafts(question, visit.form, known)]
        answers.record_outcomes(bench, caller, panel, drafts)
    except CoherentlyError as error:
        return show_results(visit, wrong(error), typed=visit.form)
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


def recipe(visit: Visit) -> Response:
    """The recipe of a version, given or learned, as `coherently aggregate --recipe` reads it."""
    found = aggregations.get_result(visit.bench, visit.caller, visit.part("panel"), visit.part("aggregation"))
    if found.recipe is None:
        raise not_found("recipe")
    return _file(as_json(found.recipe), "json", "recipe.json")


def accuracy(visit: Visit) -> Response:
    """The table of accuracy as CSV, as JSON or as Python."""
    bench, caller, panel, ending = visit.bench, visit.caller, visit.part("panel"), visit.part("ending")
    found = aggregations.get_result(bench, caller, panel, visit.part("aggregation"))
    known = {each.event: each.outcome for each in answers.list_outcomes(bench, caller, panel).outcomes}
    table = accuracy_of(found, known)
    if table is None or ending not in KINDS:
        raise not_found("table")
    rows = [
        {"who": each.name, "per_answer": each.score, "per_event": each.per_event}
        for each in [*table.panel, *table.judges]
    ]
    if ending == "csv":
        names = ("who", "per_answer", "per_event")
        told = [{name: row[name] if name == "who" else round(row[name], 4) for name in names} for row in rows]
        return _file(as_csv(told, names), ending)
    if ending == "json":
        return _file(as_json({"scores": rows}), ending)
    outcomes = {event: value for event, value in known.items() if value is not None}
    inputs = {"forecasts": found.forecasts, "laws": found.laws, "outcomes": outcomes}
    script = as_python(inputs, found.recipe or found.aggregation.method, found.aggregation.loss)
    return _file(f"{script}print(co.score(panel).frame())\nprint(co.score(panel, result).frame())\n", ending)


def _file(text: str, ending: str, name: str | None = None) -> Response:
    disposition = f'attachment; filename="{name or f"accuracy.{ending}"}"'
    return Response(text, media_type=KINDS[ending], headers={"Content-Disposition": disposition})
