"""`coherently aggregate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coherently.cli import INTERRUPTED
from coherently.cli.method_options import MethodChoice
from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    ByRows,
    EngineWord,
    ExcelCsv,
    HistoryFile,
    KeepFile,
    LabelsFile,
    OutcomesFile,
    Output,
    ProofFile,
    TraceFile,
    WeightingWord,
    WeightsFile,
    WithoutNames,
)
from coherently.cli.panel_source import PanelSource, row_progress
from coherently.cli.report_files import ReportChoice, write_result
from coherently.cli.terminal import progress_bar, save_proof, say, show, show_record
from coherently.cli.weight_options import choose_weights
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.panel import Reduction
    from coherently.problem import Loss
    from coherently.result import Result
    from coherently.solve import Method


@gathered
def aggregate(
    *,
    choice: MethodChoice,
    engine: EngineWord = None,
    keep: KeepFile = None,
    trace: TraceFile = None,
    output: Output = None,
    excel_csv: ExcelCsv = False,
    page: ReportChoice,
    by_rows: ByRows = False,
    as_json: AsJson = False,
    outcomes: OutcomesFile = None,
    labels: LabelsFile = None,
    weights: WeightsFile = None,
    weighting: WeightingWord = None,
    history: HistoryFile = None,
    without: WithoutNames = None,
    proof: ProofFile = None,
    source: PanelSource,
) -> None:
    """Combine a panel's forecasts into one coherent set."""
    from coherently._core import keep_freed_memory
    from coherently.errors import MethodError
    from coherently.panel import check_output
    from coherently.result import aggregate as run
    from coherently.solve import Status

    keep_freed_memory()
    if as_json and by_rows and output is None:
        raise MethodError("--json prints the record of the result, which has one entry per event: leave out --rows")
    method, loss = choice.find_method(trace=trace is not None), choice.find_loss()
    for file in filter(None, (output, trace)):
        check_output(file, excel_csv=excel_csv and file == output, prints_record=file == output)
    page.check()
    page.refuse_named(without=without)
    judges = choose_weights(weights, weighting, history, **source.options)
    needs = {
        "proof": proof,
        "weights": weights,
        "weighting": weighting,
        "history": history,
        "report": page.report,
        "trace": trace,
    }
    single = _single(method, loss, without=without or None, **needs)
    reduction = source.reduce(single, tied=as_json, outcomes=outcomes, labels=labels)
    panel = source.read(outcomes=outcomes, labels=labels) if reduction is None else reduction.panel
    if without:
        panel = panel.without(*without)
        say(f"note: {panel.notes[-1]}", quiet=source.quiet)
    quiet = source.quiet
    with progress_bar("Aggregating", quiet=quiet) as progress:
        result = run(
            panel, method, loss, weights=judges, progress=progress, engine=engine, keep=keep, proof=proof is not None
        )
    _say_notes(result, quiet=quiet)
    if proof is not None:
        save_proof(result.proof(), proof, quiet=quiet or as_json)
    if reduction is not None and by_rows:
        _write_rows(result, reduction, output, quiet=quiet)
        as_json = by_rows = False
    else:
        _write(result, output, trace, by_rows=by_rows, excel_csv=excel_csv, quiet=quiet or as_json)
    if page.is_asked:
        others = {"weights": weights, "weighting": weighting, "history": history, "without": without or None}
        write_result(result, page, source, others=others, time_limit=choice.time_limit, quiet=quiet or as_json)
    if as_json:
        show_record(result)
    elif output is None:
        _show(result, by_rows=by_rows, quiet=quiet)
    if result.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _single(method: Method, loss: Loss, **options: object) -> list[str]:
    """The options in use that need the single forecasts, not only their means."""
    from coherently.solve.registry import needs_means_only

    found = [f"--{name}" for name, value in options.items() if value is not None]
    if not needs_means_only(method):
        found.append(f"--method {method.name}")
    if not loss.is_quadratic:
        found.append("--loss")
    return found


def _write_rows(result: Result, reduction: Reduction, output: Path | None, *, quiet: bool) -> None:
    """Write one row per forecast of files that are read in pieces, in a second pass over them."""
    from coherently.errors import PanelError
    from coherently.panel import write_batches

    if output is None:
        raise PanelError("--rows of forecasts that are read in pieces needs a file to write to: add -o FILE")
    value = result.solution.value[result.problem.forecasts.unit]
    with progress_bar("Writing", quiet=quiet) as progress:
        batches = reduction.row_batches(value, None if progress is None else row_progress(progress))
        rows = write_batches(batches, output)
    say(f"{output}: {counted(rows, 'row')} written", quiet=quiet)


def _say_notes(result: Result, *, quiet: bool) -> None:
    if result.note:
        say(f"note: {result.note}", quiet=quiet)


def _write(
    result: Result, output: Path | None, trace: Path | None, *, by_rows: bool, excel_csv: bool, quiet: bool
) -> None:
    from coherently.panel import write_table

    if trace is not None:
        from coherently.scoring import trace_columns

        write_table(trace_columns(result.panel, result.problem, result.trace), trace)
        say(f"{trace}: {counted(result.sweeps or 0, 'sweep')} written", quiet=quiet)
    if output is not None:
        table = result.row_columns() if by_rows else result.columns()
        write_table(table, output, excel_csv=excel_csv, labels=result.panel.labels)
        say(f"{output}: {counted(len(table['event']), 'row')} written", quiet=quiet)


def _show(result: Result, *, by_rows: bool, quiet: bool) -> None:
    from coherently.report import forecasts_table, row_table, summary

    show(row_table(result) if by_rows else forecasts_table(result))
    if not quiet:
        show(summary(result))
