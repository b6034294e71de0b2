"""Files that forms send: tables of forecasts, which are shown before they are stored, and archives of panels."""

from __future__ import annotations

import base64
import binascii
import io
import json
import shlex
import zipfile
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from coherently.panel.worksheets.delimited_text import SEPARATORS
from coherently.web import sizes
from coherently.web.catalogue import plain
from coherently.web.operations.imports import add_table, import_archive, import_table, read_or_ask_bytes
from coherently.web.operations.panel_operations import own_panel
from coherently.web.pages.visits import SentFile
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.panel.worksheets import ReadingAnswer
    from coherently.web.operations.imports import AskedTable, ReadTable
    from coherently.web.pages.visits import Visit
    from coherently.web.shapes.panel_shapes import PanelView

LARGEST_KEPT = 14_000_000
"""Maximum number of bytes of a file that a form keeps while people look at it: in base64 less than an upload."""
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


def kept_text(sent: SentFile) -> str:
    """A file as the text of a field; one that is too large to be kept there is refused."""
    if len(sent.content) > LARGEST_KEPT:
        raise RefusedError(
            413,
            "too-large",
            plain("import.too_large"),
            allowed=f"at most {LARGEST_KEPT:,} bytes",
            remedy=plain("import.too_large.remedy"),
        )
    return base64.b64encode(sent.content).decode()


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


def read_table(visit: Visit, sent: SentFile) -> ReadTable | AskedTable:
    """Read a table in a process of its own, within limits, as the form says; or say what must be answered first."""
    calculator = visit.request.app.state.calculator
    read: ReadTable | AskedTable = calculator.call(read_or_ask_bytes, sent.content, sent.name, said_options(visit.form))
    return read


def said_options(form: Mapping[str, str]) -> dict[str, Any]:
    r"""What a form says about how a file is read, as options of `read_panel`.

    >>> said_options({"role-Risk": "event", "header": "3", "answer": '{"columns": {"judge": ["Name"]}}'})
    {'columns': {'event': ['Risk'], 'judge': ['Name']}, 'header': 3}
    """
    answer = _answer(form.get("answer", ""))
    columns: dict[str, list[str]] = {}
    for name, role in form.items():
        if name.startswith(ROLE) and role:
            columns.setdefault(role, []).append(name.removeprefix(ROLE))
    for role, names in answer.get("columns", {}).items():
        columns = {known: [each for each in given if each not in names] for known, given in columns.items()}
        columns[role] = [*columns.get(role, []), *names]
    columns = {role: names for role, names in columns.items() if names}
    said: dict[str, Any] = {"columns": columns} if columns else {}
    sheet = answer.get("sheet") or form.get("sheet")
    if sheet:
        said["sheet"] = sheet
    if form.get("header", "").isdecimal() and int(form["header"]):
        said["header"] = int(form["header"])
    if form.get("separator") in SEPARATORS:
        said["separator"] = form["separator"]
    if form.get("percent"):
        said["percent"] = True
    return said


def _answer(text: str) -> dict[str, Any]:
    """What the answer to a question says; nothing if the form was not one of this page."""
    try:
        told = json.loads(text)
        columns = {str(role): [str(name) for name in names] for role, names in told.get("columns", {}).items()}
        return {"columns": columns, "sheet": str(told["sheet"]) if told.get("sheet") else None}
    except (ValueError, AttributeError, TypeError):
        return {}


def answer_value(answer: ReadingAnswer) -> str:
    """An answer as the value of a field."""
    return json.dumps({"columns": {role: list(names) for role, names in answer.columns}, "sheet": answer.sheet})


def command_options(form: Mapping[str, str]) -> str:
    """The options by which the command line reads the file in the same way.

    >>> command_options({"role-Who?": "judge", "header": "3"})
    "--columns 'judge=Who?' --header 3"
    """
    said = said_options(form)
    told = [f"{role}={name}" for role, names in said.pop("columns", {}).items() for name in names]
    parts = ["--columns", ",".join(told)] if told else []
    for option, value in said.items():
        parts += ["--percent"] if option == "percent" else [f"--{option}", str(value)]
    return shlex.join(parts)
