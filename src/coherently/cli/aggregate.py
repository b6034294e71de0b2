"""`coherently aggregate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from coherently.cli.options import (
    AsJson,
    LabelsFile,
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

if TYPE_CHECKING:
    from coherently.result import Result


def aggregate(
    panel_file: PanelFile,
    method: Annotated[str, typer.Option("--method", metavar="METHOD", help="How to aggregate: linear.")] = "linear",
    output: Output = None,
    by_rows: Annotated[
        bool, typer.Option("--rows", help="A row for each forecast of the panel, not for each event.")
    ] = False,
    as_json: AsJson = False,
    outcomes: OutcomesFile = None,
    labels: LabelsFile = None,
    percent: Percent = False,
    missing: MissingChoice = Missing.ERROR,
    repeats: RepeatsChoice = Repeats.KEEP,
    plain_events: PlainEvents = False,
    quiet: Quiet = False,
) -> None:
    """Make one set of forecasts of a panel's."""
    from coherently.panel import check_output, write_table
    from coherently.result import aggregate as run
    from coherently.result import choose

    chosen = choose(method)
    if output is not None:
        check_output(output)
    panel = read(
        panel_file,
        quiet=quiet,
        outcomes=outcomes,
        labels=labels,
        percent=percent,
        missing=missing.value,
        repeats=repeats.value,
        plain_events=plain_events,
    )
    result = run(panel, chosen)
    if output is not None:
        columns = result.row_columns() if by_rows else result.columns()
        write_table(columns, output)
        say(f"{output}: {len(columns['event']):,} rows written", quiet=quiet or as_json)
    if as_json:
        show_json(_as_json(result, by_rows=by_rows))
    elif output is None:
        from coherently.report import forecasts_table, row_table, summary

        show(row_table(result) if by_rows else forecasts_table(result))
        if not quiet:
            show(summary(result))


def _as_json(result: Result, *, by_rows: bool) -> dict[str, Any]:
    from coherently.panel import records

    columns = dict(result.row_columns() if by_rows else result.columns())
    del columns["adjustment"]
    return {
        "status": result.status,
        "coherence": result.coherence,
        "method": result.method.name,
        "objective": result.objective,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "guaranteed_improvement": result.guaranteed_improvement,
        "forecasts": records(columns),
    }
