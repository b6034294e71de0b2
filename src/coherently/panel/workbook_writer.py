"""Columns into a workbook (.xlsx): one sheet, a bold header that stays, texts as texts and numbers as numbers."""

from __future__ import annotations

import math
import re
import zipfile
from html import escape
from typing import IO, TYPE_CHECKING, Any

from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHARES = frozenset({"probability", "raw", "lower", "upper", "adjustment"})
"""Columns whose numbers are shown with four decimals."""
PACKAGE = "http://schemas.openxmlformats.org/package/2006/"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml."
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}content-types"><Default Extension="rels" '
    f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{SHEET}sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{SHEET}styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{SHEET}worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}relationships"><Relationship Id="r1" '
    f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
    f'<sheet name="Coherently" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}relationships">'
    f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="0.0000"/>'
    f'</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/>'
    f'<name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill>'
    f'<patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/>'
    f'<diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
    f'</cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    f'<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
    f'<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>'
    f'<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
"""Every part but the sheet."""
UNWRITABLE = re.compile("[^\\t\\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot have."""
LONGEST_TEXT = 32_767
"""Maximum number of characters of a cell."""
LAST_ROW = 1_048_576
"""The last row of a sheet."""
PLAIN, BOLD, DECIMALS = 0, 1, 2
"""Numbers of the styles of cells."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of each part, so that the same table has the same bytes."""


def write_workbook(columns: Mapping[str, Sequence[Any]], file: IO[bytes]) -> None:
    """Write columns of plain values, None where one is missing."""
    count = max(map(len, columns.values()), default=0)
    if count >= LAST_ROW:
        raise PanelError(f"a sheet has {LAST_ROW:,} rows, and the table has {count:,}: write .csv or .parquet")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(_entry(name), HEAD + text)
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w") as sheet:
            sheet.write(_beginning(columns).encode())
            styles = [DECIMALS if name in SHARES else PLAIN for name in columns]
            for row in zip(*columns.values(), strict=True):
                cells = "".join(_cell(value, style) for value, style in zip(row, styles, strict=True))
                sheet.write(f"<row>{cells}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _beginning(columns: Mapping[str, Sequence[Any]]) -> str:
    """The header, which stays when one scrolls, and columns that are wide enough for events."""
    widths = "".join(
        f'<col min="{i}" max="{i}" width="{40 if name == "event" else 14}" customWidth="1"/>'
        for i, name in enumerate(columns, 1)
    )
    header = "".join(_cell(name, BOLD) for name in columns)
    view = '<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    return (
        f'{HEAD}<worksheet xmlns="{MAIN}"><sheetViews>{view}</sheetView></sheetViews><cols>{widths}</cols>'
        f"<sheetData><row>{header}</row>"
    )


def _cell(value: object, style: int) -> str:
    """A cell; a text is never a formula."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return f'<c s="{style}"><v>{value!r}</v></c>'
    kept = UNWRITABLE.sub("", str(value))
    if len(kept) > LONGEST_TEXT:
        most = f"a cell of a workbook has at most {LONGEST_TEXT:,} characters"
        raise PanelError(f"{most}, and one text has {len(kept):,}: write .csv or .parquet")
    shown = BOLD if style == BOLD else PLAIN
    return f'<c t="inlineStr" s="{shown}"><is><t xml:space="preserve">{escape(kept, quote=False)}</t></is></c>'
