"""Reports that commands write on the side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.checks import Check
    from coherently.report.page import Origin
    from coherently.result import Result

SECONDS = 10.0
"""For the check of a result's panel that a report shows."""


def check_report(path: Path | None) -> None:
    """Refuse a path that a report cannot be written to, before any work is done for it."""
    if path is not None:
        from coherently.report.page import check_page_path

        check_page_path(path)


def write_result(result: Result, path: Path | None, panel_file: Path, *, time_limit: float | None, quiet: bool) -> None:
    """Write the page of a result; a time limit of the method's holds for the check too."""
    if path is None:
        return
    from coherently.checks import check
    from coherently.errors import PanelError
    from coherently.report.page import result_page, write_page

    with progress_bar("Checking", quiet=quiet) as progress:
        try:
            found = check(result.panel, time_limit=SECONDS if time_limit is None else time_limit, progress=progress)
        except PanelError as error:
            say(f"note: the report has no judges by incoherence: {error}", quiet=quiet)
            found = None
    write_page(result_page(result, found, _origin(panel_file)), path)
    say(f"{path}: report written", quiet=quiet)


def write_check(found: Check, path: Path | None, panel_file: Path, *, quiet: bool) -> None:
    """Write the page of a check."""
    if path is None:
        return
    from coherently.report.page import check_page, write_page

    write_page(check_page(found, _origin(panel_file)), path)
    say(f"{path}: report written", quiet=quiet)


def _origin(panel_file: Path) -> Origin:
    from datetime import UTC, datetime

    from coherently.report.page import Origin

    return Origin(panel_file.name, datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
