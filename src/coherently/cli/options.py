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
LawsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--laws", metavar="FILE", help="What is certain: declarations, formulas, P(event) <= 0.1."),
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

MethodWord: TypeAlias = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="auto, exact, dykstra (locally coherent), projections (the paper's algorithm), annealing or linear.",
    ),
]
GroupDesign: TypeAlias = Annotated[
    str | None,
    typer.Option("--groups", metavar="DESIGN", help="Which events are made coherent together: logical, pairs ..."),
]
LossWord: TypeAlias = Annotated[
    str, typer.Option("--loss", metavar="LOSS", help="What near means: brier, log or spherical.")
]
Clip: TypeAlias = Annotated[
    float | None, typer.Option("--clip", help="The log loss takes probabilities below this for this (1e-4).")
]
Sweeps: TypeAlias = Annotated[int | None, typer.Option("--sweeps", help="The most passes over the groups.")]
Tolerance: TypeAlias = Annotated[
    float | None, typer.Option("--tolerance", help="The relative gap at which a method is done.")
]
TimeLimit: TypeAlias = Annotated[
    float | None, typer.Option("--time-limit", metavar="SECONDS", help="Then the best answer so far (auto: 10).")
]
Threads: TypeAlias = Annotated[int | None, typer.Option("--threads", help="Threads; 0 is one a processor.")]
Columns: TypeAlias = Annotated[int | None, typer.Option("--columns", help="Annealing: equally likely worlds.")]
Steps: TypeAlias = Annotated[int | None, typer.Option("--steps", help="Annealing: random flips before the descent.")]
Seed: TypeAlias = Annotated[int | None, typer.Option("--seed", help="The seed of the random numbers.")]
TraceFile: TypeAlias = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write a table of how each sweep did.")
]
ByRows: TypeAlias = Annotated[
    bool, typer.Option("--rows", help="A row for each forecast of the panel, not for each event.")
]
