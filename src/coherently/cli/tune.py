"""`coherently tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import AsJson, ClusterFile, EngineWord, LiteratureRows, OutcomesFile, WeightsFile
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import progress_bar, say, show, show_record


@gathered
def tune(
    *,
    outcomes: OutcomesFile = None,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history", metavar="FILE", help="A past panel with outcomes, to learn from instead; read as the panel is."
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            metavar="WHAT",
            help="How to fold: <folds>; by time, only the past teaches. By default by time where forecasts have times.",
        ),
    ] = None,
    cluster: ClusterFile = None,
    literature: LiteratureRows = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Time limit of each recipe that is tried.")
    ] = 60.0,
    engine: EngineWord = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the recipe, for `aggregate --recipe FILE`."),
    ] = None,
    as_json: AsJson = False,
    weights: WeightsFile = None,
    source: PanelSource,
) -> None:
    """Learn from resolved events how to pool, recalibrate and make coherent, and say what that is worth."""
    from coherently.errors import MethodError
    from coherently.panel import read_panel
    from coherently.report import comparison_table, judges_table
    from coherently.scoring import tune as run

    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise MethodError(f"{output} cannot be written: name a file in an existing folder")
    panel = source.read(outcomes=outcomes)
    past = None if history is None else read_panel(history, **source.options)
    with progress_bar("Tuning", quiet=source.quiet) as progress:
        tuned = run(
            panel,
            history=past,
            over=over,
            cluster=cluster,
            literature=literature,
            weights=weights,
            time_limit=time_limit,
            progress=progress,
            engine=engine,
        )
    for note in tuned.scores.notes:
        say(f"note: {note}", quiet=source.quiet)
    if output is not None:
        output.write_text(tuned.recipe.to_json() + "\n", "utf-8")
        say(f"{output}: recipe written", quiet=source.quiet or as_json)
    if as_json:
        show_record(tuned)
        return
    show(comparison_table(tuned.scores, "both"))
    if tuned.judges is not None:
        show(judges_table(tuned.judges))
    show(tuned.sentence)
