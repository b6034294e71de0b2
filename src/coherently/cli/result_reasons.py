"""`coherently explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    HistoryFile,
    LabelsFile,
    LossWord,
    MethodWord,
    Output,
    WeightingWord,
    WeightsFile,
    WithoutNames,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import progress_bar, say, show, show_record
from coherently.cli.weight_options import choose_weights
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.explain.influence import Influence, Why


@gathered
def explain(
    source: PanelSource,
    event: Annotated[
        str | None,
        typer.Argument(metavar="EVENT", show_default=False, help="The event whose probability is to be explained."),
    ] = None,
    without: WithoutNames = None,
    method: MethodWord = "auto",
    loss: LossWord = "brier",
    largest: Annotated[
        int,
        typer.Option(
            "--largest", metavar="NUMBER", help="How many judges, questions and laws to leave out exactly, of each."
        ),
    ] = 24,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Time limit for what is left out.")
    ] = 60.0,
    weights: WeightsFile = None,
    weighting: WeightingWord = None,
    history: HistoryFile = None,
    labels: LabelsFile = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Say what moves the result: each judge, question and law, left out one by one.

    With EVENT, say why that number is what it is. With --without, say what changes if these are left out together.
    """
    from coherently.errors import MethodError
    from coherently.panel import check_output, write_table
    from coherently.result import aggregate

    if event is not None and without:
        raise MethodError(
            "EVENT and --without ask for two different things: `explain PANEL EVENT` says why a number is what it is, "
            "`explain PANEL --without NAME` what changes; `aggregate PANEL --without NAME` gives the whole result"
        )
    if output is not None:
        check_output(output, prints_record=True)
    judges = choose_weights(weights, weighting, history, **source.options)
    panel = source.read(labels=labels)
    with progress_bar("Aggregating", quiet=source.quiet) as progress:
        result = aggregate(panel, method, loss, weights=judges, progress=progress)
    found: Influence | Why
    with progress_bar("Explaining", quiet=source.quiet) as progress:
        if event is None:
            found = result.influence(largest, without=without or (), time_limit=time_limit, progress=progress)
        else:
            found = result.why(event, largest, time_limit=time_limit, progress=progress)
    if found.note:
        say(f"note: {found.note}", quiet=source.quiet)
    if output is not None:
        columns = found.columns()
        write_table(columns, output)
        say(f"{output}: {counted(len(columns['kind']), 'row')} written", quiet=source.quiet or as_json)
    if as_json:
        show_record(found)
    elif output is None:
        _show(found)


def _show(found: Influence | Why) -> None:
    from coherently.explain.influence import Influence
    from coherently.report import influence_table, pulls_table, without_table

    show(*found.sentences, "")
    if not isinstance(found, Influence):
        show(pulls_table(found))
    elif len(found.left) == 1:
        show(without_table(found))
    else:
        show(influence_table(found))
