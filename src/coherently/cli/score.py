"""`coherently score`."""

from __future__ import annotations

from typing import Annotated

import typer

from coherently.cli.options import (
    AsJson,
    LawsFile,
    Missing,
    MissingChoice,
    OutcomesFile,
    Output,
    PanelFile,
    Percent,
    PlainEvents,
    Quiet,
    Repeats,
    RepeatsChoice,
)
from coherently.cli.reading import read
from coherently.cli.terminal import say, show, show_json


def score(
    panel_file: PanelFile,
    laws: LawsFile = None,
    outcomes: OutcomesFile = None,
    clip: Annotated[
        float, typer.Option("--clip", help="The log score takes probabilities below this for this.")
    ] = 1e-4,
    output: Output = None,
    as_json: AsJson = False,
    percent: Percent = False,
    missing: MissingChoice = Missing.ERROR,
    repeats: RepeatsChoice = Repeats.KEEP,
    plain_events: PlainEvents = False,
    quiet: Quiet = False,
) -> None:
    """Score each judge against what came true: Brier, log score, slope, calibration."""
    from coherently.panel import check_output, write_table
    from coherently.scoring import score as run

    if output is not None:
        check_output(output)
    panel = read(
        panel_file,
        quiet=quiet,
        laws=laws,
        outcomes=outcomes,
        percent=percent,
        missing=missing.value,
        repeats=repeats.value,
        plain_events=plain_events,
    )
    scores = run(panel, clip=clip)
    if output is not None:
        write_table(scores.columns(), output)
        say(f"{output}: {len(scores.judges):,} rows written", quiet=quiet or as_json)
    if as_json:
        show_json(scores.as_json())
    elif output is None:
        from coherently.report import calibration_table, scores_table

        show(scores_table(scores), calibration_table(scores.calibration))
