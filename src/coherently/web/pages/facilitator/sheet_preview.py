"""The sheet of a panel as a judge would see it, before anybody is invited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.explain import judge_sheet as desk
from coherently.web.catalogue import plain
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.pages.judge_pages import preview_page
from coherently.web.shapes.sheet_shapes import JudgeName, SheetName, SheetView

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Visit


def preview(visit: Visit) -> Response:
    """An empty sheet; nothing that is typed there is kept."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    record = panels.get_panel(bench, caller, panel)
    sheet = SheetView(
        panel=SheetName(id=panel, title=record.title, time_zone=record.time_zone),
        judge=JudgeName(name=plain("preview.name")),
        round=record.round,
        questions=questions.list_questions(bench, caller, panel).questions,
        answers=[],
        others=None,
        voices=[],
        earlier=[],
        meant=[],
        drawn=[],
        feedback=desk.Feedback().as_dict(),
        handed_in=None,
        saved=None,
    )
    return preview_page(bench, panel, sheet, caller.csrf)
