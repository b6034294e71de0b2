"""Where everything begins: a new panel, a file, the demo; and the login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web import sizes
from coherently.web.catalogue import plain
from coherently.web.operations import panel_operations as panels
from coherently.web.operations import questions
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.question_forms import read_question
from coherently.web.pages.visits import wrong
from coherently.web.shapes.panel_shapes import PanelDraft, PanelEdit

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.shape import Shape

TABS = ("questions", "people", "board", "discussion", "results", "influence")
"""The pages of one panel."""


def show_start(visit: Visit, note: Notice | None = None) -> Response:
    """The start."""
    listed = panels.list_panels(visit.bench, visit.caller).panels
    return visit.show(
        "start.html",
        422 if note else 200,
        note=note or visit.notice(),
        panels=[each for each in listed if not each.aside],
        aside=[each for each in listed if each.aside],
        sent=visit.form,
        is_local=visit.bench.settings.is_local,
        undo=visit.asked_id("undo", "p"),
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
    """Change what the form says of a panel, such as its name, and go back to where it was sent from."""
    panel = visit.part("panel")
    panels.edit_panel(visit.bench, visit.caller, panel, fill(PanelEdit, **_said(visit, PanelEdit)))
    tab = visit.form.get("tab", "")
    return visit.go(f"/panels/{panel}/{tab}" if tab in TABS else f"/panels/{panel}")


def copy(visit: Visit) -> Response:
    """Make a panel with the same questions and laws."""
    panel = visit.part("panel")
    old = panels.get_panel(visit.bench, visit.caller, panel)
    title = visit.form.get("title", "").strip() or plain("panel.copy.of", title=old.title)[: sizes.TITLE]
    made = panels.copy_panel(visit.bench, visit.caller, panel, fill(PanelDraft, title=title))
    return visit.go(f"/panels/{made.id}/questions", "panel.copied")


def put_aside(visit: Visit) -> Response:
    """List a panel apart; the start page can take it back."""
    panel = visit.part("panel")
    panels.edit_panel(visit.bench, visit.caller, panel, PanelEdit(aside=True))
    return visit.go(f"/?undo={panel}", "panel.put_aside")


def delete(visit: Visit) -> Response:
    """Hide a panel; the start page can bring it back."""
    panel = visit.part("panel")
    panels.delete_panel(visit.bench, visit.caller, panel)
    return visit.go(f"/?undo={panel}", "panel.deleted")


def restore(visit: Visit) -> Response:
    """Bring back a panel that was deleted or put aside."""
    made = panels.restore_panel(visit.bench, visit.caller, visit.part("panel"))
    return visit.go(f"/panels/{made.id}/questions", "panel.restored")


def _said(visit: Visit, shape: type[Shape]) -> dict[str, str]:
    """The fields of a shape that the form sent."""
    return {name: visit.form[name].strip() for name in shape.model_fields if name in visit.form}


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
