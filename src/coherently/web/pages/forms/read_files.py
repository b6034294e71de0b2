"""Files that forms send: tables of forecasts, which are shown before they are stored, and archives of panels."""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from coherently.web import sizes
from coherently.web.catalogue import plain
from coherently.web.operations.imports import add_table, import_archive, import_table, read_table_bytes
from coherently.web.operations.panel_operations import own_panel
from coherently.web.pages.visits import SentFile
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from coherently.web.operations.imports import ReadTable
    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.panel_shapes import PanelView

LARGEST_KEPT = 700_000
"""Maximum number of bytes of a file that a form keeps while people look at how it is read."""
ROLE = "role-"
"""How the names of fields begin that give a role to a column."""


def sent_file(visit: Visit) -> SentFile:
    """The file that a form sent, or kept from the one before."""
    sent = visit.files.get("file")
    kept = visit.form.get("kept", "")
    if (sent is None or not sent.content) and kept:
        try:
            return SentFile(visit.form.get("kept_name", ""), base64.b64decode(kept, validate=True))
        except binascii.Error:
            sent = None
    if sent is None or not sent.content:
        raise RefusedError(422, "not-usable", plain("import.no_file"))
    return sent


def kept_text(sent: SentFile) -> str | None:
    """A file as the text of a field; None if it is too large to be kept there."""
    return base64.b64encode(sent.content).decode() if len(sent.content) <= LARGEST_KEPT else None


def is_archive(sent: SentFile) -> bool:
    """Whether a file is the archive of a panel."""
    try:
        with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
            return not {"xl/workbook.xml", "content.xml"} & set(archive.namelist())
    except (zipfile.BadZipFile, ValueError):
        return sent.content.startswith(b"PK")


def panel_of_archive(visit: Visit, sent: SentFile) -> PanelView:
    """A new panel of an archive."""
    return import_archive(visit.bench, visit.caller, sent.content)


def panel_of_table(visit: Visit, sent: SentFile, table: ReadTable) -> PanelView:
    """A new panel of a table, called as its file."""
    title = PurePath(sent.name.replace("\\", "/")).stem.strip()[: sizes.TITLE] or "CSV"
    return import_table(visit.bench, visit.caller, table, title)


def table_into_panel(visit: Visit, panel: str, table: ReadTable) -> tuple[int, int]:
    """Ask what a table asks and is not asked yet, add its judges and numbers: how many questions and numbers."""
    own_panel(visit.bench, visit.caller, panel)
    return add_table(visit.bench, visit.caller, panel, table)


def read_table(visit: Visit, sent: SentFile) -> ReadTable:
    """Read a table in a process of its own, within limits, as the form says."""
    calculator = visit.request.app.state.calculator
    read: ReadTable = calculator.call(read_table_bytes, sent.content, sent.name, said_options(visit))
    return read


def said_options(visit: Visit) -> dict[str, Any]:
    """What the form says about how the file is read, as options of `read_panel`."""
    columns: dict[str, list[str]] = {}
    for name, role in visit.form.items():
        if name.startswith(ROLE) and role:
            columns.setdefault(role, []).append(name.removeprefix(ROLE))
    said: dict[str, Any] = {"columns": columns} if columns else {}
    if visit.form.get("sheet"):
        said["sheet"] = visit.form["sheet"]
    if visit.form.get("header", "").isdecimal():
        said["header"] = int(visit.form["header"])
    if visit.form.get("percent"):
        said["percent"] = True
    return said
