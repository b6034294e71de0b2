"""Reports that commands write beside their output."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.cli.panel_source import PanelSource
    from coherently.report.dossier import Dossier
    from coherently.result import Result

OPTION_NAMES = {"column_roles": "columns"}
"""Options whose fields have other names."""
SECONDS = 10.0
"""Time limit, in seconds, of the check of the panel that the report of a result shows."""


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """The page that a command writes, and what it is called."""

    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a page to read and share: .html.")
    ] = None
    pdf: Annotated[
        Path | None,
        typer.Option("--pdf", metavar="FILE", help="Print the page to a PDF file, by a browser of this machine."),
    ] = None
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.")] = None
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="EVENT", help="Event that the page is about, as written or by its label."),
    ] = None

    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Judges are letters on the page: Judge A, Judge B.")
    ] = False

    @property
    def is_asked(self) -> bool:
        """Whether there is a page to write."""
        return self.report is not None or self.pdf is not None

    def check(self) -> None:
        """Refuse what cannot be written, before any work is done for it."""
        from coherently.errors import MethodError

        if not self.is_asked and (self.title is not None or self.about is not None or self.anonymous):
            raise MethodError(
                "--title, --about and --anonymous are for the page: add --report FILE.html or --pdf FILE.pdf"
            )
        if self.report is not None:
            from coherently.report.html_page import check_page_path

            check_page_path(self.report)
        if self.pdf is not None:
            from coherently.report.pdf_files import check_pdf_path

            check_pdf_path(self.pdf)

    def refuse_named(self, **named: object) -> None:
        """Refuse options that name somebody beside an anonymous page: its recipe would have the name."""
        from coherently.errors import MethodError

        given = [f"--{option}" for option, value in named.items() if value]
        if self.anonymous and given:
            raise MethodError(
                f"--anonymous cannot be combined with {given[0]}: the page says how to check it, and would have the "
                f"name in it. Leave out the judge in the file, or write the page without --anonymous"
            )

    def write(self, dossier: Dossier, source: PanelSource, *, others: Mapping[str, object], quiet: bool) -> None:
        """Write the page of a dossier; `others` are the options, beside those of the source, that say what it means."""
        from datetime import UTC, datetime

        from coherently.report.html_page import Origin, write_dossier, write_page
        from coherently.report.verification_code import panel_code

        known = {name: others.get(name) for name in ("weights", "weighting", "history", "judge")}
        known["without"] = others.get("without") or ()
        known["anonymous"] = self.anonymous
        told = {**others, "anonymous": self.anonymous or None}
        now = datetime.now(UTC)
        origin = Origin(
            name=source.panel_file.name,
            made=f"{now.day} {now:%B} {now.year}, {now:%H:%M} UTC",
            panel_code=panel_code(source.panel_file, source.all_options, **known),  # type: ignore[arg-type]
            title=self.title,
            about=self.about,
            anonymous=self.anonymous,
            command=None if others.get("judge") or known["without"] else verifying_command(source, told),
        )
        page = write_dossier(dossier, origin)
        if self.report is not None:
            write_page(page, self.report)
            say(f"{self.report}: report written", quiet=quiet)
        if self.pdf is not None:
            from coherently.report.pdf_files import write_pdf

            write_pdf(page, self.pdf)
            say(f"{self.pdf}: report printed", quiet=quiet)


def verifying_command(source: PanelSource, others: Mapping[str, object]) -> str:
    """The command that verifies a result of a panel, with all options that say what the panel means.

    All files are in one folder, so that only their names are told.
    """
    from coherently.report.verification_code import CERTIFICATE, file_name

    words = ["coherently", "verify", file_name(source.panel_file), CERTIFICATE]
    usual = {each.name: each.default for each in fields(source)}
    own = {name: getattr(source, name) for name in usual if name not in ("panel_file", "quiet")}
    given = {name: value for name, value in own.items() if value != usual[name]}
    given |= {name: value for name, value in others.items() if value is not None}
    for name, value in given.items():
        words.append(f"--{OPTION_NAMES.get(name, name).replace('_', '-')}")
        if not isinstance(value, bool):
            words.append(file_name(value) if isinstance(value, Path) else str(getattr(value, "value", value)))
    return shlex.join(words)


def write_result(
    result: Result,
    choice: ReportChoice,
    source: PanelSource,
    *,
    others: Mapping[str, object],
    time_limit: float | None,
    quiet: bool,
) -> None:
    """Write the page of a result; the method's time limit holds for the check too."""
    from coherently.report.dossier import make_dossier

    seconds = SECONDS if time_limit is None else time_limit
    if choice.anonymous:
        result = result.anonymous()
    with progress_bar("Checking", quiet=source.quiet) as progress:
        dossier = make_dossier(result.panel, result, time_limit=seconds, progress=progress)
    for note in dossier.notes:
        say(f"note: {note}", quiet=source.quiet)
    choice.write(dossier, source, others=others, quiet=quiet)
