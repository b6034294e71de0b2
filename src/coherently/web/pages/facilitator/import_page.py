"""How a file is read, shown before anything is stored, with the questions that its table leaves open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.panel.worksheets.column_roles import SAID_ROLES
from coherently.panel.worksheets.delimited_text import SEPARATORS
from coherently.web.catalogue import plain
from coherently.web.operations import related_questions
from coherently.web.operations.imports import AskedTable
from coherently.web.pages.facilitator.question_page import show_questions
from coherently.web.pages.facilitator.start_page import show_start
from coherently.web.pages.forms import read_files as files
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.visits import wrong
from coherently.web.shapes.relation_shapes import RelationDraft

if TYPE_CHECKING:
    from starlette.responses import Response

    from coherently.panel.worksheets import TableReading
    from coherently.web.operations.imports import ReadTable
    from coherently.web.pages.visits import SentFile, Visit
    from coherently.web.shapes.relation_shapes import FamilyView

USE = "use"
"""What the form says when the file is to be stored as it was shown."""
RELATED = "related-"
"""How the names of fields begin that decide about a relation."""
NAMES = 20
"""Number of names that are shown."""


def read_file(visit: Visit) -> Response:
    """Make a panel of a file; how a table is read is shown first."""
    try:
        sent = files.sent_file(visit)
        if files.is_archive(sent):
            return visit.go(f"/panels/{files.panel_of_archive(visit, sent).id}")
        table = files.read_table(visit, sent)
        if isinstance(table, AskedTable) or visit.form.get("do") != USE:
            return show_table(visit, sent, table, "/panels/import")
        made = files.panel_of_table(visit, sent, table).id
        _decide(visit, made)
    except CoherentlyError as error:
        return show_start(visit, wrong(error))
    return visit.go(f"/panels/{made}")


def read_file_into(visit: Visit) -> Response:
    """Add what a file has to a panel; how a table is read is shown first."""
    panel = visit.part("panel")
    try:
        sent = files.sent_file(visit)
        table = files.read_table(visit, sent)
        if isinstance(table, AskedTable) or visit.form.get("do") != USE:
            return show_table(visit, sent, table, f"/panels/{panel}/import")
        added, numbers = files.table_into_panel(visit, panel, table)
        _decide(visit, panel)
    except CoherentlyError as error:
        return show_questions(visit, wrong(error))
    said = {"questions": plain("questions.count", count=added), "forecasts": plain("forecasts.count", count=numbers)}
    return visit.go(f"/panels/{panel}/questions", "import.done", **said)


def _decide(visit: Visit, panel: str) -> None:
    """Keep what was decided about relations beside the table."""
    by = visit.form.get("by", "").strip() or None
    for name, word in visit.form.items():
        if name.startswith(RELATED) and word in ("accept", "reject"):
            draft = fill(RelationDraft, decision=word, family=name.removeprefix(RELATED), by=by)
            related_questions.decide_relation(visit.bench, visit.caller, panel, draft)


def show_table(visit: Visit, sent: SentFile, table: ReadTable | AskedTable, action: str) -> Response:
    """The page "This is how I read it": what is asked, columns with their roles, what is not read and why."""
    asked = table if isinstance(table, AskedTable) else None
    read = None if isinstance(table, AskedTable) else table
    reading = table.reading
    assert reading is not None
    related = [] if read is None else related_questions.relations_of_table(visit.bench, read)
    return visit.show(
        "import.html",
        name=sent.name,
        kept=files.kept_text(sent),
        action=action,
        reading=reading,
        asked=asked,
        answers=[] if asked is None else [(each, files.answer_value(each)) for each in asked.answers],
        table=read,
        roles=SAID_ROLES,
        role_field=files.ROLE,
        skipped={each.row: each.why for each in reading.skipped},
        not_read=_not_read(reading),
        separators=SEPARATORS,
        chosen=visit.form,
        names=[] if read is None else sorted(read.names, key=lambda each: -each[1])[:NAMES],
        more_names=0 if read is None else len(read.names[NAMES:]),
        related=[(each, _decided(visit, each)) for each in related],
        related_field=RELATED,
        open_relations=sum(not _decided(visit, each) for each in related),
        by=visit.form.get("by", "" if visit.caller.is_local else visit.caller.name),
        command=files.command_options(visit.form) if visit.form.get("do") else "",
    )


def _decided(visit: Visit, family: FamilyView) -> str:
    """What is chosen about a relation: as the form said, else yes if it is certain."""
    said = visit.form.get(f"{RELATED}{family.family}")
    return said if said is not None else "accept" if family.strength == "certain" else ""


def _not_read(reading: TableReading) -> list[SimpleNamespace]:
    """Rows and columns that are not read, those of one reason together."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in reading.skipped:
        by_reason.setdefault((row.why, ""), []).append(str(row.row))
    for column in reading.columns:
        if column.role == "left out":
            by_reason.setdefault((column.why, column.name), []).append(column.place)
    return [SimpleNamespace(where=", ".join(places), name=name, why=why) for (why, name), places in by_reason.items()]
