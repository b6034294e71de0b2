"""`coherently check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    EngineWord,
    LabelsFile,
    Output,
    ReportFile,
    Threads,
    VoiceWord,
    WeightsFile,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.report_files import check_report, write_report
from coherently.cli.terminal import progress_bar, say, show, show_record
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.explain import Check
    from coherently.explain.findings import Voice
    from coherently.panel import Panel

INCOHERENT = 1


@gathered
def check(
    *,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME", help="Check only the forecasts of this judge.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", help="Time limit for the whole check, including the report."),
    ] = 20.0,
    voice: VoiceWord = "symbols",
    threads: Threads = None,
    engine: EngineWord = None,
    output: Output = None,
    report: ReportFile = None,
    as_json: AsJson = False,
    labels: LabelsFile = None,
    weights: WeightsFile = None,
    source: PanelSource,
) -> None:
    """Find who contradicts what: each judge and the panel's means.

    The exit code is 1 if anything is incoherent by more than rounding of the numbers explains.
    """
    from coherently.explain.findings import voice_of
    from coherently.panel import check_output, write_table
    from coherently.report.dossier import make_dossier

    spoken = voice_of(voice)
    if output is not None:
        check_output(output)
    check_report(report)
    panel = source.read(labels=labels)
    if judge is not None:
        panel = panel.judge(judge)
    with progress_bar("Checking", quiet=source.quiet) as progress:
        dossier = make_dossier(
            panel, weights=weights, time_limit=time_limit, threads=threads, progress=progress, engine=engine
        )
    found = dossier.check
    assert found is not None
    for note in found.notes:
        say(f"note: {note}", quiet=source.quiet)
    if output is not None:
        write_table(found.columns(), output)
        say(f"{output}: {counted(len(found.judges), 'row')} written", quiet=source.quiet or as_json)
    write_report(dossier, report, source.panel_file, quiet=source.quiet or as_json)
    if as_json:
        show_record(found)
    elif output is None:
        _show(found, panel, spoken)
    if found.incoherent:
        raise typer.Exit(INCOHERENT)


def _show(found: Check, panel: Panel, voice: Voice) -> None:
    from coherently.explain.verdicts import CheckStatus
    from coherently.report import book_table, contradictions_text, findings_summary, findings_table

    show(findings_table(found), findings_summary(found))
    if found.incoherent:
        show(contradictions_text(found, voice))
    if found.status is CheckStatus.ROUNDING:
        show("", f"The {'forecasts' if len(found.judges) == 1 else 'means'} are coherent up to rounding.")
        return
    show("", found.book.sentence())
    if found.book:
        show("", book_table(found.book, panel.labels))
