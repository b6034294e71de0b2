"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Missing(StrEnum):
    """What a missing probability in a long table is."""

    ERROR = "error"
    ABSTAIN = "abstain"


class Repeats(StrEnum):
    """What becomes of several forecasts by one judge of one event."""

    KEEP = "keep"
    LAST = "last"
    MEAN = "mean"
    ERROR = "error"


PanelFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="PANEL",
        show_default=False,
        help="The panel: a long or a wide table in .csv, .csv.gz, .tsv, .jsonl or .parquet.",
    ),
]
OutcomesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--outcomes", metavar="FILE", help="Events with what came true: columns event and outcome."),
]
LabelsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="Readable names of events: columns id and title."),
]
Percent: TypeAlias = Annotated[bool, typer.Option("--percent", help="Plain numbers are percentages.")]
MissingChoice: TypeAlias = Annotated[
    Missing, typer.Option("--missing", help="What a missing probability in a long table is.")
]
RepeatsChoice: TypeAlias = Annotated[
    Repeats, typer.Option("--repeats", help="What becomes of several forecasts by one judge of one event.")
]
PlainEvents: TypeAlias = Annotated[
    bool, typer.Option("--plain-events", help="Each event cell is one name, not a formula.")
]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write a table: .csv, .csv.gz, .tsv, .jsonl or .parquet."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors and what was asked for.")
]
