"""How a file is read, shown before anything is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.panel.worksheets.column_roles import SAID_ROLES
from coherently.web.catalogue import plain
from coherently.web.pages.facilitator.question_page import show_questions
from coherently.web.pages.facilitator.start_page import show_start
from coherently.web.pages.forms import read_files as files
from coherently.web.pages.visits import wrong

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.web.operations.imports import ReadTable
    from coherently.web.pages.visits import SentFile, Visit

USE = "use"
"""What the form says when the file is to be stored as it was shown."""


def read_file(visit: Visit) -> Response:
    """Make a panel of a file; how a table was read with care is shown first."""
    try:
        sent = files.sent_file(visit)
        if files.is_archive(sent):
            return visit.go(f"/panels/{files.panel_of_archive(visit, sent).id}")
        table = files.read_table(visit, sent)
        if _is_to_be_shown(visit, sent, table):
            return show_table(visit, sent, table, "/panels/import")
        made = files.panel_of_table(visit, sent, table)
    except CoherentlyError as error:
        return show_start(visit, wrong(error))
    return visit.go(f"/panels/{made.id}")


def read_file_into(visit: Visit) -> Response:
    """Add what a file has to a panel; how a table was read with care is shown first."""
    panel = visit.part("panel")
    try:
        sent = files.sent_file(visit)
        table = files.read_table(visit, sent)
        if _is_to_be_shown(visit, sent, table):
            return show_table(visit, sent, table, f"/panels/{panel}/import")
        added, numbers = files.table_into_panel(visit, panel, table)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    said = {"questions": plain("questions.count", count=added), "forecasts": plain("forecasts.count", count=numbers)}
    return visit.go(f"/panels/{panel}/questions", "import.done", **said)


def _is_to_be_shown(visit: Visit, sent: SentFile, table: ReadTable) -> bool:
    """Whether people look first: something was guessed or left out, and the form can keep the file."""
    careful = table.reading is not None and table.reading.careful
    return careful and visit.form.get("do") != USE and files.kept_text(sent) is not None


def show_table(visit: Visit, sent: SentFile, table: ReadTable, action: str) -> Response:
    """The page "This is how I read it": columns with their roles, rows with why they are not read, notes."""
    reading = table.reading
    assert reading is not None
    return visit.show(
        "import.html",
        name=sent.name,
        kept=files.kept_text(sent),
        action=action,
        reading=reading,
        table=table,
        roles=SAID_ROLES,
        role_field=files.ROLE,
        skipped={each.row: each.why for each in reading.skipped},
        percent=visit.form.get("percent", ""),
    )
