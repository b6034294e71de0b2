"""`coherently score`."""

from __future__ import annotations

from typing import Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    ClusterFile,
    ExcelCsv,
    OutcomesFile,
    Output,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import say, show, show_record
from coherently.errors import counted


@gathered
def score(
    *,
    outcomes: OutcomesFile = None,
    clip: Annotated[float, typer.Option("--clip", help="Log score: clip probabilities to [CLIP, 1 - CLIP].")] = 1e-4,
    cluster: ClusterFile = None,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", help="Confidence level of intervals over events (none; with --cluster 0.95)."),
    ] = None,
    output: Output = None,
    excel_csv: ExcelCsv = False,
    as_json: AsJson = False,
    source: PanelSource,
) -> None:
    """Score each judge against what came true: <scores>, calibration."""
    from coherently.panel import check_output, write_table
    from coherently.scoring import score as run

    if output is not None:
        check_output(output, excel_csv=excel_csv, prints_record=True)
    panel = source.read(outcomes=outcomes)
    scores = run(panel, clip=clip, cluster=cluster, confidence=confidence)
    if output is not None:
        write_table(scores.columns(), output, excel_csv=excel_csv)
        say(f"{output}: {counted(len(scores.judges), 'row')} written", quiet=source.quiet or as_json)
    if as_json:
        show_record(scores)
    elif output is None:
        from coherently.report import calibration_table, scores_table

        show(scores_table(scores), calibration_table(scores.calibration))
