"""`coherently read`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import AsJson, LabelsFile
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import say, show, show_record
from coherently.errors import counted

SHOWN = 12
"""Number of names that are shown of each kind."""


@gathered
def read(
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every name, not only the first ones.")] = False,
    as_json: AsJson = False,
    labels: LabelsFile = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the panel in its canonical form, as JSON lines."),
    ] = None,
    source: PanelSource,
) -> None:
    """Show how a file is read: its sheet, header, columns, names, and what is left out and why.

    Nothing is computed. What is read wrongly is changed with --columns, --sheet, --header, --separator, --encoding or
    --percent, here and in every other command.
    """
    from coherently.panel.canonical import canonical_text
    from coherently.panel.writers import replacing

    panel = source.load(labels=labels)
    reading = panel.reading
    assert reading is not None
    if output is not None:
        with replacing(output) as draft:
            draft.write(canonical_text(panel))
        say(f"{output}: {counted(len(panel), 'forecast')} written", quiet=source.quiet or as_json)
    if as_json:
        show_record(reading)
        return
    show(str(reading), "")
    told = set(reading.notes())
    most = None if every else SHOWN
    texts = [panel.labels.get(text, text) for text in panel.written.text[:most]]
    show(
        f"{counted(len(panel), 'answer')} by {counted(len(panel.judges), 'judge')} on "
        f"{counted(len(panel.written), 'event')}",
        _names("judges", list(panel.judges[:most]), len(panel.judges)),
        _names("events", texts, len(panel.written)),
        _names("variables", panel.events.variables[:most], panel.events.n_variables),
    )
    for note in panel.notes:
        if note not in told:
            say(f"note: {note}", quiet=source.quiet)


def _names(kind: str, names: list[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{kind}: {', '.join(names)}{more}"
