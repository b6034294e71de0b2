"""Reading the panel that a command works on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from coherently.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.panel import Options, Panel


def read(panel_file: Path, *, quiet: bool, **options: Unpack[Options]) -> Panel:
    """Read a panel with a progress bar and say its notes."""
    from coherently.panel import read_panel

    with progress_bar("Reading", quiet=quiet) as progress:
        panel = read_panel(panel_file, progress=progress, **options)
    for note in panel.notes:
        say(f"note: {note}", quiet=quiet)
    return panel
