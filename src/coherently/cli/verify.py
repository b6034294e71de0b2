"""`coherently verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coherently.cli import BROKEN
from coherently.cli.option_groups import gathered
from coherently.cli.options import AsJson, HistoryFile, LabelsFile, OutcomesFile, WeightingWord, WeightsFile
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import show, show_record
from coherently.cli.weight_options import choose_weights


@gathered
def verify(
    source: PanelSource,
    result_file: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT", show_default=False, help="The result, as `aggregate --json` or to_json() wrote it."
        ),
    ],
    *,
    as_json: AsJson = False,
    outcomes: OutcomesFile = None,
    labels: LabelsFile = None,
    weights: WeightsFile = None,
    weighting: WeightingWord = None,
    history: HistoryFile = None,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="The result is that of an anonymous page: judges are letters.")
    ] = False,
) -> None:
    """Check whether a result keeps its promises, with its panel and without any solver.

    Read the panel as it was read for the result: with the same laws, weights and options. The exit code is 0 if every
    promise that could be checked is kept, and 1 if one is broken.
    """
    from coherently.panel.weights import weighted
    from coherently.report import verification_text
    from coherently.result import Result
    from coherently.verifier import verify as run

    result = Result.from_json(result_file)
    judges = choose_weights(weights, weighting, history, **source.options)
    panel = source.read(outcomes=outcomes, labels=labels)
    if anonymous:
        panel, judges = (panel if judges is None else weighted(panel, judges)).anonymous(), None
    found = run(panel, result, weights=judges)
    if as_json:
        show_record(found)
    else:
        show(verification_text(found))
    if not found:
        raise typer.Exit(BROKEN)
