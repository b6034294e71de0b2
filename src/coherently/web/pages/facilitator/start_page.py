"""Where everything begins: a new panel, a file, the demo; and the login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.pages.facilitator.question_page import show_questions
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.question_forms import read_question
from coherently.web.pages.forms.read_files import file_into_panel, panel_of_file
from coherently.web.pages.visits import wrong
from coherently.web.refusals import RefusedError
from coherently.web.shapes.panel_shapes import PanelDraft, PanelEdit

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, SentFile, Visit
    from coherently.web.shapes.shape import Shape

TABS = ("questions", "board", "discussion", "results")
"""The pages of one panel."""


def show_start(visit: Visit, note: Notice | None = None) -> Response:
    """The start."""
    return visit.show(
        "start.html",
        422 if note else 200,
        note=note or visit.notice(),
        panels=panels.list_panels(visit.bench, visit.caller).panels,
        sent=visit.form,
        is_local=visit.bench.settings.is_local,
    )


def create(visit: Visit) -> Response:
    """Make a panel, and its first question if there is one."""
    try:
        draft = fill(PanelDraft, **{"title": "", **_said(visit, PanelDraft)})
        first = visit.form.get("first", "").strip()
        question = read_question({"title": first}, ()) if first else None  # refused before there is a panel
        made = panels.create_panel(visit.bench, visit.caller, draft)
        if question is not None:
            questions.add_question(visit.bench, visit.caller, made.id, question)
    except CoherentlyError as error:
        return show_start(visit, wrong(error))
    return visit.go(f"/panels/{made.id}/questions")


def edit(visit: Visit) -> Response:
    """Change what the form says of a panel, and go back to where it was sent from."""
    panel = visit.part("panel")
    panels.edit_panel(visit.bench, visit.caller, panel, fill(PanelEdit, **_said(visit, PanelEdit)))
    tab = visit.form.get("tab", "")
    return visit.go(f"/panels/{panel}/{tab}" if tab in TABS else f"/panels/{panel}")


def _said(visit: Visit, shape: type[Shape]) -> dict[str, str]:
    """The fields of a shape that the form sent."""
    return {name: visit.form[name].strip() for name in shape.model_fields if name in visit.form}


def read_file(visit: Visit) -> Response:
    """Make a panel of a file."""
    try:
        made = panel_of_file(visit, _sent(visit))
    except CoherentlyError as error:
        return show_start(visit, wrong(error))
    return visit.go(f"/panels/{made.id}")


def read_file_into(visit: Visit) -> Response:
    """Add what a file has to a panel."""
    panel = visit.part("panel")
    try:
        added, numbers = file_into_panel(visit, panel, _sent(visit))
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    said = {"questions": plain("questions.count", count=added), "forecasts": plain("forecasts.count", count=numbers)}
    return visit.go(f"/panels/{panel}/questions", "import.done", **said)


def _sent(visit: Visit) -> SentFile:
    sent = visit.files.get("file")
    if sent is None or not sent.content:
        raise RefusedError(422, "not-usable", plain("import.no_file"))
    return sent


def open_demo(visit: Visit) -> Response:
    """Make the worked panel, for its own browser to play with."""
    from coherently.web.demo_panel import make_demo

    return visit.go(f"/panels/{make_demo(visit.bench, visit.caller)}/board")


def open_panel(visit: Visit) -> Response:
    """The page of a panel on which most happens now."""
    found = panels.get_panel(visit.bench, visit.caller, visit.part("panel"))
    phase = found.round.phase
    tab = "results" if phase == "closed" else "board" if found.judges else "questions"
    return visit.go(f"/panels/{found.id}/{tab}")
