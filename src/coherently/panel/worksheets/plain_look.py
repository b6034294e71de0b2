"""Whether a text file is a plain table, by a bounded look at its head: then it is read column by column, fast."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from coherently.errors import PanelError
from coherently.panel.cell_table import Table, check_header
from coherently.panel.columnar.cell_values import Refusal, to_probability
from coherently.panel.columnar.text_files import QUOTED
from coherently.panel.layout import ROLES, Long, Wide, recognise, said_layout
from coherently.panel.worksheets.judge_bounds import bounded_judges
from coherently.panel.worksheets.reading_record import ColumnReading, TableReading
from coherently.panel.worksheets.role_words import ROLE_OF, role_of, spelt, summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel.layout import ColumnNames
    from coherently.panel.worksheets.sheet_grid import SheetGrid

HEAD = 1 << 17
"""Number of bytes that are looked at."""
ROWS = 300
"""Number of rows that are looked at."""
BESIDE = frozenset({"comment", "odds", "size", "fee", "outcome", "event", "judge", "probability"})
"""Roles of columns that a plain table ignores."""


def is_plain_text(head: bytes, *, whole: bool, separator: str | None, percent: bool) -> bool:
    r"""Whether the head of a file is that of a plain table; `whole` if it is the whole file.

    >>> is_plain_text(b"event,Ann\nrain,0.7\n", whole=True, separator=None, percent=False)
    True
    >>> is_plain_text(b"Risiko;Ann\nBrand;0,7\n", whole=True, separator=None, percent=False)
    False
    """
    if not whole:
        head = head[: head.rfind(b"\n") + 1] or head
    if b"\0" in head[2:] and not head.startswith((b"\xff\xfe", b"\xfe\xff")) and head.count(b"\0") < len(head) // 4:
        return True  # neither text nor UTF-16: the scanner says what is wrong
    try:
        text = head.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return False
    first = next((line for line in text.splitlines() if line.strip()), "")
    mark = separator or max(",\t;", key=QUOTED.sub("", first).count)
    try:
        rows = _rows(text, mark)
    except csv.Error:
        return False
    layout = _layout(rows[0]) if len(rows) > 1 else None
    return layout is not None and _is_plain(layout, _header(rows[0]), rows, scale=100 if percent else 1)


def is_strict_header(cells: Sequence[object]) -> bool:
    """Whether a row is the header of a plain table.

    >>> is_strict_header(["judge", "event", "probability"]), is_strict_header(["Risk", "Ann"])
    (True, False)
    """
    return all(isinstance(cell, str) for cell in cells) and _layout(cells) is not None  # type: ignore[arg-type]


def first_row(grid: SheetGrid) -> list[object]:
    """The cells of the first row that has any; an empty text where one is empty."""
    cells = next(iter(grid.rows.values()), {})
    return [cells.get(column, "") for column in range(max(cells, default=-1) + 1)]


def _header(cells: Sequence[str]) -> list[str]:
    """The names of columns, without the empty columns to the right."""
    width = max([1, *(number for number, name in enumerate(cells, 1) if name.strip())])
    return [name.strip() for name in cells[:width]]


def _layout(cells: Sequence[str]) -> Long | Wide | None:
    try:
        header = check_header("", _header(cells))
        return recognise(Table("", {name: [] for name in header}, range(1)))
    except PanelError:
        return None


def _rows(text: str, mark: str) -> list[list[str]]:
    found = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark):
        if any(map(str.strip, row)):
            found.append(row)
        if len(found) > ROWS:
            break
    return found


def _is_plain(layout: Long | Wide, header: Sequence[str], rows: list[list[str]], scale: int) -> bool:
    place = {name: i for i, name in enumerate(header)}
    if any(len(row) != len(rows[0]) for row in rows[1:]):
        return False
    if isinstance(layout, Wide):
        if any(summary_of(name) or spelt(name) in ROLE_OF for name in layout.judges):
            return False
        if bounded_judges(dict(enumerate(layout.judges))):
            return False
        if any(summary_of(row[place[layout.event]]) for row in rows[1:]):
            return False
        answers = list(layout.judges)
    else:
        if any(role_of(name) in BESIDE for name in layout.ignored):
            return False
        answers = [name for name in (layout.probability, layout.lower, layout.upper) if name is not None]
    cells = {row[place[name]] for row in rows[1:] for name in answers}
    return not any(isinstance(to_probability(cell, scale, abstain=True), Refusal) for cell in cells)


def plain_reading(table: Table, columns: ColumnNames | None = None) -> TableReading:
    """How a plain table was read: the roles of its columns."""
    layout = said_layout(table, columns) if columns else recognise(table)
    roles = (
        {layout.event: "event", **dict.fromkeys(layout.judges, "judge")}
        if isinstance(layout, Wide)
        else {str(getattr(layout, role)): role for role in ROLES if getattr(layout, role) is not None}
    )
    told = tuple(
        ColumnReading(str(number), name, roles.get(name, "left out"), "" if name in roles else "ignored")
        for number, name in enumerate(table.columns, 1)
    )
    first: Any = table.rows[0]
    return TableReading(
        source=table.source,
        kind="plain table",
        header_row=0 if isinstance(first, str) else int(first) - 1,
        shape="wide" if isinstance(layout, Wide) else "long",
        columns=told,
        blank=table.blank,
    )
