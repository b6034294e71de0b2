"""`coherently verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli import BROKEN
from coherently.cli.option_groups import gathered
from coherently.cli.options import AsJson, HistoryFile, LabelsFile, OutcomesFile, WeightingWord, WeightsFile
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import show, show_record
from coherently.cli.weight_options import choose_weights

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.panel.weights import Weights
    from coherently.verifier.proof_check import ProofCheck


@gathered
def verify(
    source: PanelSource,
    result_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="RESULT",
            show_default=False,
            help="The result, as `aggregate --json` or to_json() wrote it; a proof of a check needs none.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
    outcomes: OutcomesFile = None,
    labels: LabelsFile = None,
    weights: WeightsFile = None,
    weighting: WeightingWord = None,
    history: HistoryFile = None,
    proof: Annotated[
        Path | None,
        typer.Option(show_default=False, help="A proof, as `aggregate --proof` wrote it, for the independent checker."),
    ] = None,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="The result is that of an anonymous page: judges are letters.")
    ] = False,
) -> None:
    """Check whether a result keeps its promises, with its panel and without any solver.

    Read the panel as it was read for the result: with the same laws, weights and options. The exit code is 0 if every
    promise that could be checked is kept, and 1 if one is broken. With --proof, the first line begins with the verdict
    on the proof: proved, weak or refused; the exit code is 0 only if it is proved.
    """
    from coherently.panel.weights import weighted
    from coherently.report import verification_text
    from coherently.result import Result
    from coherently.verifier import verify as run
    from coherently.verifier.verification import Verification, with_proof

    if result_file is None and proof is None:
        raise typer.BadParameter("verify needs the file of a result, or --proof with the proof of a check")
    result = None if result_file is None else Result.from_json(result_file)
    judges = choose_weights(weights, weighting, history, **source.options)
    panel = source.read(outcomes=outcomes, labels=labels)
    if anonymous:
        panel, judges = (panel if judges is None else weighted(panel, judges)).anonymous(), None
    found = Verification() if result is None else run(panel, result, weights=judges)
    checked = None if proof is None else _checked(source, panel, judges, result_file, proof=proof)
    if checked is not None:
        found = with_proof(found, checked)
    if as_json:
        show_record(found)
    else:
        if checked is not None:
            show(checked.sentence)
        if result is not None:
            show(verification_text(found))
    if not found:
        raise typer.Exit(BROKEN)


def _checked(source: PanelSource, panel: Panel, judges: Weights | None, result: Path | None, proof: Path) -> ProofCheck:
    """What the independent checker says of a proof; it reads the panel by itself where it can."""
    from coherently.panel.weights import with_weights
    from coherently.proofcheck.forecast_files import ReadingOptions
    from coherently.verifier.proof_check import check_proof_files

    panel, _ = with_weights(panel, judges)
    options = ReadingOptions(
        percent=source.percent,
        missing=source.missing.value,
        repeats=source.repeats.value,
        plain_events=source.plain_events,
    )
    said = source.column_roles is not None or bool(source.file_options) or judges is not None
    return check_proof_files(
        panel, source.panel_file, source.laws, None if said else options, result=result, proof=proof
    )
