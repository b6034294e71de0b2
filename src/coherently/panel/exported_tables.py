"""Values with tables, for papers, pages and spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coherently.errors import PanelError, Where
from coherently.table_views import html_table, latex_table

if TYPE_CHECKING:
    import os

    from coherently.panel.cell_table import Columns

WORKBOOK = ".xlsx"


class Tabled:
    """A base for values that have `columns`: the whole table in LaTeX, in HTML, or as a workbook."""

    __slots__ = ()

    def columns(self) -> Columns:
        """The columns of the table."""
        raise NotImplementedError

    def to_latex(self) -> str:
        r"""The table for a paper, as a tabular of the package booktabs; an interval stands beside its number.

        >>> import coherently as co
        >>> print(co.aggregate(co.Panel.from_records([("Ann", "p & q", 0.2)])).to_latex())
        \begin{tabular}{lrrrr}
        \toprule
        event & probability & raw & weight & adjustment \\
        \midrule
        p \& q & 0.2 & 0.2 & 1 & 0 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        return latex_table(self.columns())

    def to_html(self) -> str:
        """The table in HTML, without script and without a style of its own; names are escaped."""
        return html_table(self.columns())

    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a workbook (.xlsx), with all digits; an existing file is replaced whole or left alone.

        No cell is a formula. It needs no other package.
        """
        from coherently.panel.writers import write_table

        if Path(path).suffix.lower() != WORKBOOK:
            raise PanelError(
                f"{path} does not have the ending of a workbook: use {WORKBOOK}",
                code="unknown-ending",
                where=Where(str(path)),
            )
        write_table(self.columns(), path)
