"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Missing(StrEnum):
    """What a missing probability in a long table means."""

    ERROR = "error"
    ABSTAIN = "abstain"


class Repeats(StrEnum):
    """What to do with several forecasts by one judge of one event."""

    KEEP = "keep"
    LAST = "last"
    MEAN = "mean"
    ERROR = "error"


PanelFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="PANEL",
        show_default=False,
        help="The panel: a table in .xlsx, .ods, .csv, .tsv, .jsonl (each also in .gz or .zst) or .parquet; "
        "- reads a pipe. aggregate also takes a folder of .parquet files.",
    ),
]
LawsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--laws", metavar="FILE", help="Laws: declarations of variables, formulas, P(event) <= 0.1."),
]
OutcomesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--outcomes", metavar="FILE", help="What came true: columns event and outcome."),
]
LabelsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="Readable names of events: columns id and title."),
]
WeightsFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--weights", metavar="FILE", help="How much each judge counts: columns judge and weight."),
]
WithoutNames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="NAME",
        help="Leave out a judge, an event or a law, by its name or text; may be repeated. Where a name has two "
        "meanings, write judge:, event: or law: before it.",
        show_default=False,
    ),
]
WeightingWord: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--weighting",
        metavar="WORD",
        help="Weight judges, by their own coherence, by consensus with the means or by both: <weightings>.",
    ),
]
HistoryFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="Weight judges by past Brier scores, read from a panel with an outcome column.",
    ),
]
Percent: TypeAlias = Annotated[bool, typer.Option("--percent", help="Plain numbers are percentages.")]
MissingChoice: TypeAlias = Annotated[
    Missing, typer.Option("--missing", help="How to read a missing probability in a long table.")
]
RepeatsChoice: TypeAlias = Annotated[
    Repeats, typer.Option("--repeats", help="What to do with several forecasts by one judge of one event.")
]
ColumnRoles: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="ROLE=NAME,...",
        help="Which columns play which roles, such as event=Risk,judge=Name; the role ignore leaves one out.",
    ),
]
SheetName: TypeAlias = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="The sheet of a workbook that is read.")
]
HeaderRow: TypeAlias = Annotated[
    int | None, typer.Option("--header", metavar="ROW", help="The number of the row with the names of the columns.")
]
Separator: TypeAlias = Annotated[
    str | None, typer.Option("--separator", metavar="SIGN", help="What separates the cells of a text: , ; | or tab.")
]
Encoding: TypeAlias = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="The encoding of a text, such as windows-1252.")
]
PlainEvents: TypeAlias = Annotated[
    bool, typer.Option("--plain-events", help="Each event cell is one name, not a formula.")
]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write a table: .csv, .csv.gz, .tsv, .jsonl, .parquet or .xlsx."
    ),
]
ExcelCsv: TypeAlias = Annotated[
    bool,
    typer.Option("--excel-csv", help="Write .csv as Excel of this locale opens it: separator, decimals, encoding."),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the record as JSON; coherently schema describes it.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Suppress notes (results are still printed).")]

VoiceWord: TypeAlias = Annotated[
    str,
    typer.Option(
        "--voice", metavar="VOICE", help="How contradictions are said, exactly or in whole per cents: <voices>."
    ),
]
MethodWord: TypeAlias = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="How to aggregate: <methods>. auto and exact are globally coherent, dykstra and projections (the paper's "
        "algorithm) locally.",
    ),
]
Then: TypeAlias = Annotated[
    str | None,
    typer.Option("--then", metavar="METHOD", help="After a pool or recipe: make its numbers coherent, e.g. by exact."),
]
Trim: TypeAlias = Annotated[
    float | None, typer.Option("--trim", help="Pool trimmed: the share of the weight cut off each end (0.2).")
]
Exponent: TypeAlias = Annotated[
    float | None, typer.Option("--exponent", help="Pool extremised, recipe: factor by which log-odds are multiplied.")
]
Shift: TypeAlias = Annotated[float | None, typer.Option("--shift", help="Recipe: what is added to log-odds (0).")]
PoolWord: TypeAlias = Annotated[
    str | None,
    typer.Option("--pool", metavar="POOL", help="Recipe: <recipe pools> (log)."),
]
ClusterFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="FILE[:COLUMN]",
        help="Which events come true together without a law, by a date or a place: columns event and cluster.",
    ),
]
LiteratureRows: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--literature",
        help="Published rules that learn from outcomes, fitted on other events, alone and then exact.",
    ),
]
RecipeFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--recipe", metavar="FILE", help="Use the recipe that `coherently tune -o FILE` wrote."),
]
Shrink: TypeAlias = Annotated[
    float | None, typer.Option("--shrink", help="Pool shrunk: the number of forecasts that the prior counts for (1).")
]
Prior: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--prior",
        help="Pools extremised, neyman-roughgarden: the probability to move away from; shrunk: to move to (0.5).",
    ),
]
Reliability: TypeAlias = Annotated[
    float | None, typer.Option("--reliability", help="Dempster-Shafer: how much forecasts are trusted (0.8).")
]
CovarianceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--covariance", metavar="FILE", help="Lindley: names, with their variances or one column for each."),
]
Over: TypeAlias = Annotated[
    str | None, typer.Option("--over", help="Lindley: covariance of judges or of events (judges).")
]
Scale: TypeAlias = Annotated[
    str | None, typer.Option("--scale", help="Lindley: errors of the probability or of the log-odds (probability).")
]
GroupDesign: TypeAlias = Annotated[
    str | None,
    typer.Option("--groups", metavar="DESIGN", help="Which events are made coherent together: <designs>."),
]
LossWord: TypeAlias = Annotated[
    str, typer.Option("--loss", metavar="LOSS", help="Distance measure to minimise: <losses>.")
]
Clip: TypeAlias = Annotated[
    float | None, typer.Option("--clip", help="Log loss: clip probabilities to [CLIP, 1 - CLIP] (1e-4).")
]
Sweeps: TypeAlias = Annotated[int | None, typer.Option("--sweeps", help="Maximum number of passes over the groups.")]
Tolerance: TypeAlias = Annotated[
    float | None, typer.Option("--tolerance", help="Relative gap at which the method stops.")
]
TimeLimit: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Stop after this many seconds and return the best answer so far (auto: 10, exact: 60).",
    ),
]
EngineWord: TypeAlias = Annotated[
    str | None,
    typer.Option("--engine", metavar="WHERE", help="Where to solve: processes, processes:N or dask://HOST:PORT."),
]
KeepFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--keep", metavar="FILE", help="Keep finished components in a file, to go on after an interruption."),
]
Threads: TypeAlias = Annotated[int | None, typer.Option("--threads", help="Threads; 0 = one thread per CPU.")]
Columns: TypeAlias = Annotated[
    int | None, typer.Option("--worlds", help="Annealing: number of equally likely worlds (its columns).")
]
Steps: TypeAlias = Annotated[
    int | None, typer.Option("--steps", help="Annealing: number of random flips before the descent.")
]
Seed: TypeAlias = Annotated[int | None, typer.Option("--seed", help="The seed of the random numbers.")]
TraceFile: TypeAlias = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write a table with one row per sweep.")
]
ProofFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--proof", metavar="FILE", help="Write a proof that no coherent forecasts are nearer, for `verify --proof`."
    ),
]
ByRows: TypeAlias = Annotated[
    bool, typer.Option("--rows", help="Show one row per forecast of the panel, not per event.")
]
