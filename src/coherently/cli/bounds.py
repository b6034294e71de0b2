"""`coherently bounds`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    EngineWord,
    ExcelCsv,
    Output,
    Seed,
    Tolerance,
    WeightsFile,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import progress_bar, save_proof, say, show, show_record
from coherently.errors import counted


@gathered
def bounds(
    source: PanelSource,
    events: Annotated[
        list[str], typer.Argument(metavar="EVENT...", show_default=False, help="Events, whether forecast or not.")
    ],
    method: Annotated[
        str, typer.Option("--method", metavar="METHOD", help="auto, exact or annealing: globally coherent forecasts.")
    ] = "auto",
    tolerance: Tolerance = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="SECONDS", help="Time limit for the forecasts, and for each event (10 each)."
        ),
    ] = None,
    seed: Seed = None,
    weights: WeightsFile = None,
    engine: EngineWord = None,
    output: Output = None,
    excel_csv: ExcelCsv = False,
    as_json: AsJson = False,
    proof: Annotated[
        Path | None,
        typer.Option("--proof", metavar="FILE", help="Write a proof of the bounds, for `verify --proof`."),
    ] = None,
    result_file: Annotated[
        Path | None,
        typer.Option("--result", metavar="FILE", help="Write the coherent forecasts that a proof is about, as JSON."),
    ] = None,
) -> None:
    """Bound any events: the least and the greatest probability that the coherent forecasts allow."""
    from coherently.panel import check_output, write_table
    from coherently.result import aggregate, read_event
    from coherently.result.bounds import TIME_LIMIT
    from coherently.solve import choose

    if (proof is None) != (result_file is None):
        raise typer.BadParameter("--proof and --result belong together: bounds are proved of a result")
    chosen = choose(method, tolerance=tolerance, time_limit=time_limit, seed=seed)
    if output is not None:
        check_output(output, excel_csv=excel_csv, prints_record=True)
    panel = source.read()
    for event in events:
        read_event(panel.text_of(event), panel.events.fresh())
    with progress_bar("Aggregating", quiet=source.quiet) as progress:
        result = aggregate(panel, chosen, weights=weights, progress=progress, engine=engine)
    with progress_bar("Bounding", quiet=source.quiet) as progress:
        table = result.bounds_table(events, TIME_LIMIT if time_limit is None else time_limit, progress=progress)
    if proof is not None and result_file is not None:
        data = result.implied_proof(events, saving=False, time_limit=len(events) * (time_limit or TIME_LIMIT))
        save_proof(data, proof, quiet=source.quiet or as_json)
        result_file.write_text(result.to_json(), "utf-8")
    if output is not None:
        write_table(table.columns(), output, excel_csv=excel_csv)
        say(f"{output}: {counted(len(events), 'row')} written", quiet=source.quiet or as_json)
    if as_json:
        show_record(table)
    elif output is None:
        from coherently.report import bounds_table

        show(bounds_table(table.columns()))
