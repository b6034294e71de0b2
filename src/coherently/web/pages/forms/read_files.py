"""Files that forms send: tables of forecasts, and archives of panels."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from coherently.web import sizes
from coherently.web.operations.imports import add_table, import_archive, import_table, read_table_bytes
from coherently.web.operations.panel_operations import own_panel

if TYPE_CHECKING:
    from coherently.web.operations.imports import ReadTable
    from coherently.web.pages.visits import SentFile, Visit
    from coherently.web.shapes.panel_shapes import PanelView

ZIP = b"PK"
"""How an archive begins."""


def panel_of_file(visit: Visit, sent: SentFile) -> PanelView:
    """A new panel of a table or an archive."""
    if sent.content.startswith(ZIP):
        return import_archive(visit.bench, visit.caller, sent.content)
    title = PurePath(sent.name.replace("\\", "/")).stem.strip()[: sizes.TITLE] or "CSV"
    return import_table(visit.bench, visit.caller, _table(visit, sent), title)


def file_into_panel(visit: Visit, panel: str, sent: SentFile) -> tuple[int, int]:
    """Ask what a table asks and is not asked yet, add its judges and numbers: how many questions and numbers."""
    own_panel(visit.bench, visit.caller, panel)
    return add_table(visit.bench, visit.caller, panel, _table(visit, sent))


def _table(visit: Visit, sent: SentFile) -> ReadTable:
    """Read a table in a process of its own, within limits."""
    read: ReadTable = visit.request.app.state.calculator.call(read_table_bytes, sent.content)
    return read
