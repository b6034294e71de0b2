"""The report of a result, as a value: to look at in a notebook, to save as a page or as a PDF file."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.report.dossier import make_dossier
from coherently.report.html_page import Origin, write_dossier, write_page
from coherently.report.pdf_files import ENDING, write_pdf

if TYPE_CHECKING:
    import os

    from coherently.result import Result

SECONDS = 10.0
"""Time limit, in seconds, of the check of the panel that a report shows."""


@dataclass(frozen=True, slots=True)
class Report:
    """One page about a result, without script and without anything from elsewhere; `page` is its HTML.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
    >>> report = co.aggregate(panel).report(title="Two questions")
    >>> report
    <Report: Two questions>
    >>> "Who contradicts what" in report.page
    True
    """

    page: str
    title: str

    def __repr__(self) -> str:
        return f"<Report: {self.title}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file: .html, or .pdf where a browser is installed that can print."""
        if Path(path).suffix.lower() == ENDING:
            write_pdf(self.page, path)
        else:
            write_page(self.page, path)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, in which nothing can run, so that its style stays its own."""
        source = html.escape(self.page, quote=True)
        return (
            f'<iframe srcdoc="{source}" sandbox title="{html.escape(self.title)}" width="100%" height="640"></iframe>'
        )

    @staticmethod
    def of(
        result: Result,
        *,
        title: str | None = None,
        about: str | None = None,
        anonymous: bool = False,
        time_limit: float = SECONDS,
    ) -> Report:
        """The report of a result; `Result.report` says what the arguments are."""
        if anonymous:
            result = result.anonymous()
        dossier = make_dossier(result.panel, result, time_limit=time_limit)
        name = title or "Forecasts"
        return Report(write_dossier(dossier, Origin(title=name, about=about, anonymous=anonymous)), name)
