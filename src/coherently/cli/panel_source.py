"""Reading the panel that a command works on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coherently.cli.options import (
    LawsFile,
    Missing,
    MissingChoice,
    PanelFile,
    Percent,
    PlainEvents,
    Quiet,
    Repeats,
    RepeatsChoice,
)
from coherently.cli.terminal import progress_bar, say
from coherently.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coherently.panel import Options, Panel, Progress, Reduction

STANDARD_INPUT = Path("/dev/stdin")
LARGE = 5_000_000
"""Number of rows from which on a Parquet file is reduced while it is read, where the options allow it."""


@dataclass(frozen=True, slots=True)
class PanelSource:
    """The panel's file, and how it is read."""

    panel_file: PanelFile
    laws: LawsFile = None
    percent: Percent = False
    missing: MissingChoice = Missing.ERROR
    repeats: RepeatsChoice = Repeats.KEEP
    plain_events: PlainEvents = False
    quiet: Quiet = False

    @property
    def options(self) -> Options:
        """How the panel and its files are read."""
        return {
            "laws": self.laws,
            "percent": self.percent,
            "missing": self.missing.value,
            "repeats": self.repeats.value,
            "plain_events": self.plain_events,
        }

    def reduce(self, obstacles: Sequence[str], **more: Unpack[Options]) -> Reduction | None:
        """Read a folder, or a large Parquet file, in pieces, and show its notes; None for any other source.

        `obstacles` are the options that need the single forecasts.
        """
        path = self.panel_file
        if not path.is_dir() and not self._is_large(path, obstacles):
            return None
        from coherently.errors import PanelError
        from coherently.panel import reduce_parquet

        if obstacles:
            raise PanelError(
                f"{path} is a folder, whose forecasts are added up while they are read; "
                f"{', '.join(obstacles)} needs the single forecasts: leave it out, or name a file"
            )
        options: Options = {**self.options, **more}
        with progress_bar("Reading", quiet=self.quiet) as progress:
            found = reduce_parquet(path, None if progress is None else row_progress(progress), **options)
        rate = found.forecasts / max(found.seconds, 1e-9)
        told = (
            f"{path.name}: {counted(found.forecasts, 'forecast')} with {counted(len(found.panel), 'distinct text')}, "
            f"read in pieces ({rate:,.0f} rows per second); repeated forecasts are kept and not counted; "
            f"averaging the forecasts of each text lowers the summed Brier penalty by {found.scatter:,.4g} "
            f"in every outcome"
        )
        for note in (told, *found.panel.notes):
            say(f"note: {note}", quiet=self.quiet)
        return found

    def _is_large(self, path: Path, obstacles: Sequence[str]) -> bool:
        if path.suffix.lower() != ".parquet" or obstacles or self.repeats is not Repeats.KEEP or not path.is_file():
            return False
        from coherently.panel import can_reduce, count_rows

        return count_rows(path) >= LARGE and can_reduce(path)

    def read(self, **more: Unpack[Options]) -> Panel:
        """Read the panel with a progress bar and show its notes."""
        from coherently.panel import read_panel

        options: Options = {**self.options, **more}
        with progress_bar("Reading", quiet=self.quiet) as progress:
            panel = read_panel(
                STANDARD_INPUT if str(self.panel_file) == "-" else self.panel_file, progress=progress, **options
            )
        for note in panel.notes:
            say(f"note: {note}", quiet=self.quiet)
        return panel


def row_progress(progress: Progress) -> Callable[[int, int], None]:
    """Show the share of rows that are done, and how many there are per second."""
    begun = time.monotonic()

    def show(done: int, total: int) -> None:
        progress(done / total)
        describe = getattr(progress, "describe", None)
        if describe is not None:
            describe(f"{done / max(time.monotonic() - begun, 1e-9):,.0f} rows per second")

    return show
