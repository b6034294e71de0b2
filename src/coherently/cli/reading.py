"""Reading the panel that a command works on."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from coherently.panel import Options, Panel

STANDARD_INPUT = Path("/dev/stdin")


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
