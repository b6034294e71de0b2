"""`coherently aggregate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coherently.cli.options import (
    AsJson,
    ByRows,
    Clip,
    Columns,
    GroupDesign,
    LabelsFile,
    LawsFile,
    LossWord,
    MethodWord,
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
    Seed,
    Steps,
    Sweeps,
    Threads,
    TimeLimit,
    Tolerance,
    TraceFile,
)
from coherently.cli.reading import read
from coherently.cli.terminal import progress_bar, say, show, show_json

if TYPE_CHECKING:
    from coherently.problem import Loss
    from coherently.result import Result

INTERRUPTED = 130


def aggregate(
    panel_file: PanelFile,
    method: MethodWord = "auto",
    groups: GroupDesign = None,
    loss: LossWord = "brier",
    clip: Clip = None,
    sweeps: Sweeps = None,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    threads: Threads = None,
    columns: Columns = None,
    steps: Steps = None,
    seed: Seed = None,
    trace: TraceFile = None,
    output: Output = None,
    by_rows: ByRows = False,
    as_json: AsJson = False,
    laws: LawsFile = None,
    outcomes: OutcomesFile = None,
    labels: LabelsFile = None,
    percent: Percent = False,
    missing: MissingChoice = Missing.ERROR,
    repeats: RepeatsChoice = Repeats.KEEP,
    plain_events: PlainEvents = False,
    quiet: Quiet = False,
) -> None:
    """Make one set of forecasts of a panel's."""
    from coherently.panel import check_output
    from coherently.result import aggregate as run
    from coherently.result import choose

    chosen = choose(
        method,
        groups=groups,
        sweeps=sweeps,
        tolerance=tolerance,
        time_limit=time_limit,
        threads=threads,
        columns=columns,
        steps=steps,
        seed=seed,
        trace=True if trace else None,
    )
    measure = _find_loss(loss, clip)
    for file in filter(None, (output, trace)):
        check_output(file)
    panel = read(
        panel_file,
        quiet=quiet,
        laws=laws,
        outcomes=outcomes,
        labels=labels,
        percent=percent,
        missing=missing.value,
        repeats=repeats.value,
        plain_events=plain_events,
    )
    with progress_bar("Aggregating", quiet=quiet) as progress:
        result = run(panel, chosen, measure, progress=progress)
    _say_notes(result, quiet=quiet)
    _write(result, output, trace, by_rows=by_rows, quiet=quiet or as_json)
    if as_json:
        show_json(_as_json(result, by_rows=by_rows))
    elif output is None:
        _show(result, by_rows=by_rows, quiet=quiet)
    if result.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _say_notes(result: Result, *, quiet: bool) -> None:
    loss, given = result.problem.loss, result.panel.probability
    moved = int((loss.clipped(given) != given).sum())
    if moved:
        say(f"note: forecasts beyond the clip of the loss {loss.name}, moved to it: {moved:,}", quiet=quiet)
    if result.note:
        say(f"note: {result.note}", quiet=quiet)


def _write(result: Result, output: Path | None, trace: Path | None, *, by_rows: bool, quiet: bool) -> None:
    from coherently.panel import write_table

    if trace is not None:
        from coherently.scoring import trace_columns

        write_table(trace_columns(result.panel, result.problem, result.solution.trace), trace)
        say(f"{trace}: {result.sweeps} sweeps written", quiet=quiet)
    if output is not None:
        table = result.row_columns() if by_rows else result.columns()
        write_table(table, output)
        say(f"{output}: {len(table['event']):,} rows written", quiet=quiet)


def _show(result: Result, *, by_rows: bool, quiet: bool) -> None:
    from coherently.report import forecasts_table, row_table, summary

    show(row_table(result) if by_rows else forecasts_table(result))
    if not quiet:
        show(summary(result))


def _find_loss(loss: str, clip: float | None) -> Loss:
    from coherently.errors import MethodError
    from coherently.problem import Log, find_loss

    if clip is None:
        return find_loss(loss)
    if loss != "log":
        raise MethodError(f"--clip goes with --loss log, not with {loss}")
    return Log(clip)


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
        "groups": result.groups,
        "sweeps": result.sweeps,
        "violation": result.violation,
        "forecasts": records(columns),
    }
