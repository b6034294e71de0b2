"""Reports that commands write beside their output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.report.dossier import Dossier
    from coherently.report.html_page import Origin
    from coherently.result import Result

SECONDS = 10.0
"""Time limit, in seconds, of the check of the panel that the report of a result shows."""


def check_report(path: Path | None) -> None:
    """Refuse a path that a report cannot be written to, before any work is done for it."""
    if path is not None:
        from coherently.report.html_page import check_page_path

        check_page_path(path)


def write_result(
    result: Result,
    path: Path,
    panel_file: Path,
    *,
    panel_code: str,
    time_limit: float | None,
    quiet: bool,
) -> None:
    """Write the page of a result; the method's time limit holds for the check too."""
    from coherently.report.dossier import make_dossier

    seconds = SECONDS if time_limit is None else time_limit
    with progress_bar("Checking", quiet=quiet) as progress:
        dossier = make_dossier(result.panel, result, time_limit=seconds, progress=progress)
    for note in dossier.notes:
        say(f"note: {note}", quiet=quiet)
    write_report(dossier, path, panel_file, panel_code=panel_code, quiet=quiet)


def write_report(
    dossier: Dossier, path: Path | None, panel_file: Path, *, panel_code: str | None = None, quiet: bool
) -> None:
    """Write the page of a dossier, if a path is given."""
    if path is None:
        return
    from coherently.report.html_page import write_dossier, write_page

    write_page(write_dossier(dossier, _origin(panel_file, panel_code)), path)
    say(f"{path}: report written", quiet=quiet)


def _origin(panel_file: Path, panel_code: str | None) -> Origin:
    from datetime import UTC, datetime

    from coherently.report.html_page import Origin

    return Origin(panel_file.name, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), panel_code)
