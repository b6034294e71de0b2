"""Aggregations and files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import StringConstraints

from coherently.web.access.report_policy import report_policy
from coherently.web.api.dependencies import (
    AggregationId,
    Bench,
    Calculating,
    Facilitating,
    Key,
    PanelId,
    content_type,
    json_only,
    unknown_kind,
)
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import (
    exports,
    imports,
    judge_drawings,
    known_scores,
    same_people,
    version_influence,
    version_proofs,
    version_questions,
)
from coherently.web.shapes.aggregation_shapes import (
    AccuracyView,
    AggregationDraft,
    AggregationList,
    AggregationView,
    ComparisonView,
    InfluenceView,
    NextQuestionsView,
    PanelScores,
    PastWeights,
    PersonDraft,
    ReasonsView,
    ResultView,
    TeamScores,
)
from coherently.web.shapes.drawn_shapes import DistributionList, DrawingList
from coherently.web.shapes.panel_shapes import PanelView
from coherently.web.shapes.shape import Id, Title

router = APIRouter(tags=["aggregations"])
ARCHIVE, CSV = "application/zip", "text/csv"
VERSIONS, VERSION = "/panels/{panel}/aggregations", "/panels/{panel}/aggregations/{aggregation}"
Ending = Literal["csv", "json", "py"]
Other = Annotated[str | None, Query(alias="with", pattern="^a_[0-9A-Za-z]{1,40}$", description="The earlier version.")]
Without = Annotated[
    tuple[Annotated[str, StringConstraints(pattern="^[jql]_[0-9A-Za-z]{1,40}$")], ...],
    Query(max_length=200, description="Judges, questions and laws to leave out together; each by itself if none."),
]

About = Annotated[
    str,
    Query(
        pattern="^(all|contradictions|e_[0-9A-Za-z]{1,40})$",
        description="What answers should say most about: all that is open, contradictions, or an event by its id.",
    ),
]


def _files(*kinds: str) -> dict[int | str, dict[str, Any]]:
    shapes = {kind: {"schema": {"type": "object" if kind == "application/json" else "string"}} for kind in kinds}
    return {200: {"description": "The file.", "content": shapes}}


def _download(content: str | bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Type": kind}
    return Response(content, headers=headers)


@router.get(VERSIONS)
def list_aggregations(bench: Bench, caller: Facilitating, panel: PanelId) -> AggregationList:
    """List all versions, the newest first."""
    return aggregations.list_aggregations(bench, caller, panel)


@router.post(VERSIONS, status_code=202, dependencies=[Depends(json_only)])
def request_aggregation(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: AggregationDraft, key: Key = None
) -> AggregationView:
    """Ask for the next version; it runs as a job."""
    return aggregations.request_aggregation(bench, caller, panel, draft, key=key)


@router.get(VERSION)
def get_aggregation(bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId) -> AggregationView:
    """Show a version, and how far it is."""
    return aggregations.get_aggregation(bench, caller, panel, aggregation)


@router.post(f"{VERSION}/cancel")
def cancel_aggregation(
    bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId
) -> AggregationView:
    """Stop a version that waits or runs."""
    return aggregations.cancel_aggregation(bench, caller, panel, aggregation)


@router.get(f"{VERSION}/result")
def get_result(bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId) -> ResultView:
    """Give the whole result with what it is made from, for `co.Result.from_json` and `co.verify`."""
    return aggregations.get_result(bench, caller, panel, aggregation)


@router.get(f"{VERSION}/proof", responses=_files(ARCHIVE), response_class=Response)
def get_proof(bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId) -> Response:
    """Give panel, result and proof as files for `python -m coherently.proofcheck`."""
    return _download(version_proofs.get_proof(bench, caller, panel, aggregation), ARCHIVE, "proof.zip")


@router.get(f"{VERSION}/accuracy")
def get_accuracy(bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId) -> AccuracyView:
    """Say how good judges and aggregate were, as far as events are resolved."""
    return aggregations.get_accuracy(bench, caller, panel, aggregation)


@router.get(f"{VERSION}/scores")
def get_scores(bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId) -> PanelScores:
    """Score a version and its judges with the outcomes that are known now, per answer and per event."""
    return known_scores.get_scores(bench, caller, panel, aggregation)


@router.get(f"{VERSION}/influence")
def get_influence(
    bench: Bench,
    caller: Facilitating,
    panel: PanelId,
    aggregation: AggregationId,
    calculator: Calculating,
    without: Without = (),
) -> InfluenceView:
    """Show what each judge, question and law moves, or what some of them move together."""
    return version_influence.get_influence(bench, caller, panel, aggregation, calls=calculator, without=without)


@router.get(f"{VERSION}/why")
def get_reasons(
    bench: Bench,
    caller: Facilitating,
    panel: PanelId,
    aggregation: AggregationId,
    calculator: Calculating,
    event: Annotated[Id, Query(description="The id of the event.")],
) -> ReasonsView:
    """Say why a version has its number for an event."""
    return version_influence.get_reasons(bench, caller, panel, aggregation, calls=calculator, event=event)


@router.get(f"{VERSION}/next-questions")
def get_next_questions(
    bench: Bench,
    caller: Facilitating,
    panel: PanelId,
    aggregation: AggregationId,
    calculator: Calculating,
    about: About = "all",
) -> NextQuestionsView:
    """Show the questions whose answers would say most about what a version leaves open, or where it had to mend."""
    return version_questions.get_next_questions(bench, caller, panel, aggregation, calls=calculator, about=about)


@router.get("/panels/{panel}/past-weights")
def get_past_weights(bench: Bench, caller: Facilitating, panel: PanelId) -> PastWeights:
    """Show how much each judge would count by the outcomes of the account's other panels."""
    return PastWeights(weights=known_scores.past_weights(bench, caller, panel))


@router.get("/scores")
def get_team_scores(bench: Bench, caller: Facilitating) -> TeamScores:
    """Show the scores of the account's panels that have outcomes, and of their judges over all of them."""
    return known_scores.team_scores(bench, caller)


@router.post("/scores/people")
def join_people(bench: Bench, caller: Facilitating, draft: PersonDraft) -> TeamScores:
    """Say that the judges of a name are one person in all panels, so that they see their score over all of them."""
    same_people.join_people(bench, caller, draft.name, same=draft.same)
    return known_scores.team_scores(bench, caller)


@router.get(f"{VERSION}/distributions")
def get_distributions(
    bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId
) -> DistributionList:
    """Show what a version says about each number and date, as a distribution."""
    return judge_drawings.version_distributions(bench, caller, panel, aggregation)


@router.get("/panels/{panel}/drawings")
def list_drawings(bench: Bench, caller: Facilitating, panel: PanelId) -> DrawingList:
    """List the distributions that judges drew, with all their knots, once no round is open."""
    return judge_drawings.list_drawings(bench, caller, panel)


@router.get(f"{VERSION}/comparison")
def compare_versions(
    bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId, other: Other = None
) -> ComparisonView:
    """Show a version beside an earlier one."""
    return aggregations.compare_versions(bench, caller, panel, aggregation, other=other)


@router.get(f"{VERSION}/forecasts.{{ending}}", responses=_files(*exports.KINDS.values()), response_class=Response)
def export_result(
    bench: Bench, caller: Facilitating, panel: PanelId, aggregation: AggregationId, ending: Ending
) -> Response:
    """Give the aggregate as CSV, as JSON, as Python."""
    text = exports.export_result(bench, caller, panel, aggregation, ending=ending)
    return _download(text, exports.KINDS[ending], f"forecasts.{ending}")


@router.get(f"{VERSION}/report", responses=_files("text/html; charset=utf-8"), response_class=Response)
def get_report(
    bench: Bench,
    caller: Facilitating,
    panel: PanelId,
    aggregation: AggregationId,
    view: Annotated[bool, Query(description="To read in the browser, not to keep.")] = False,
) -> Response:
    """Give the report as one file."""
    page = aggregations.get_report(bench, caller, panel, aggregation)
    answer = _download(page, "text/html; charset=utf-8", "report.html")
    if view:
        answer.headers["Content-Disposition"] = "inline"
        answer.headers["Content-Security-Policy"] = report_policy(page)
    return answer


@router.get(
    "/panels/{panel}/export.{ending}",
    tags=["files"],
    responses=_files(*exports.KINDS.values()),
    response_class=Response,
)
def export_panel(bench: Bench, caller: Facilitating, panel: PanelId, ending: Ending) -> Response:
    """Give the answers that stand as CSV, as JSON, as Python."""
    text = exports.export_panel(bench, caller, panel, ending)
    return _download(text, exports.KINDS[ending], f"panel.{ending}")


@router.get("/panels/{panel}/archive", tags=["files"], responses=_files(ARCHIVE), response_class=Response)
def export_archive(bench: Bench, caller: Facilitating, panel: PanelId) -> Response:
    """Give the whole panel as one archive."""
    return _download(imports.export_archive(bench, caller, panel), ARCHIVE, "panel.zip")


WORKBOOKS = {
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "panel.xlsx",
    "application/vnd.oasis.opendocument.spreadsheet": "panel.ods",
}
"""Types of workbooks, and names for their files."""
IMPORTED = {
    "required": True,
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in (CSV, *WORKBOOKS, ARCHIVE)},
}


@router.post("/panels/import", tags=["files"], status_code=201, openapi_extra={"requestBody": IMPORTED})
async def import_panel(
    request: Request,
    bench: Bench,
    caller: Facilitating,
    calculator: Calculating,
    title: Annotated[Title, Query(description="Title of the panel of a CSV.")] = "Imported panel",
) -> PanelView:
    """Make a panel of a table of forecasts, CSV or a workbook, or of an archive."""
    from starlette.concurrency import run_in_threadpool

    kind = content_type(request)
    data = await request.body()
    if kind == ARCHIVE:
        return await run_in_threadpool(imports.import_archive, bench, caller, data)
    if kind != CSV and kind not in WORKBOOKS:
        raise unknown_kind(kind, f"{', '.join([CSV, *WORKBOOKS])} or {ARCHIVE}")
    name = WORKBOOKS.get(kind, "panel.csv")
    table = await run_in_threadpool(calculator.call, imports.read_table_bytes, data, name, {})
    return await run_in_threadpool(imports.import_table, bench, caller, table, title)
