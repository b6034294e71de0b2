"""`coherently check`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    EngineWord,
    ExcelCsv,
    LabelsFile,
    Output,
    Threads,
    VoiceWord,
    WeightsFile,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.report_files import ReportChoice
from coherently.cli.terminal import progress_bar, save_proof, say, show, show_record
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.explain import Check
    from coherently.explain.findings import Voice
    from coherently.panel import Panel
    from coherently.report.dossier import Dossier

INCOHERENT = 1
LEAST_SECONDS = 1.0
"""What the nearest coherent forecasts of a page may take even if the check took all the time."""


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
    excel_csv: ExcelCsv = False,
    page: ReportChoice,
    as_json: AsJson = False,
    labels: LabelsFile = None,
    weights: WeightsFile = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", metavar="FILE", help="Write a proof of the distances, and of the book, for `verify --proof`."
        ),
    ] = None,
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
        check_output(output, excel_csv=excel_csv, prints_record=True)
    page.check()
    page.refuse_named(judge=judge)
    begun = time.monotonic()
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
        write_table(found.columns(), output, excel_csv=excel_csv)
        say(f"{output}: {counted(len(found.judges), 'row')} written", quiet=source.quiet or as_json)
    if proof is not None:
        save_proof(found.proof_file(panel, weights), proof, quiet=source.quiet or as_json)
    if page.is_asked:
        left = time_limit - (time.monotonic() - begun)
        dossier = _anonymous(panel, weights, left) if page.anonymous else _with_result(panel, found, weights, left)
        page.write(dossier, source, others={"weights": weights, "judge": judge}, quiet=source.quiet or as_json)
    if as_json:
        show_record(found if source.laws is None else _with_origins(found, source.laws))
    elif output is None:
        _show(found, panel, spoken, source.laws)
    if found.incoherent:
        raise typer.Exit(INCOHERENT)


def _anonymous(panel: Panel, weights: Path | None, seconds: float) -> Dossier:
    """The same of a panel whose judges are letters."""
    from coherently.explain import check
    from coherently.panel.weights import weighted

    lettered = (panel if weights is None else weighted(panel, weights)).anonymous()
    found = check(lettered, time_limit=max(seconds, LEAST_SECONDS) / 2)
    return _with_result(lettered, found, None, seconds / 2)


def _with_result(panel: Panel, found: Check, weights: Path | None, seconds: float) -> Dossier:
    """What the page of a check shows: also the nearest coherent forecasts, if they are found in the time left."""
    from coherently.errors import CoherentlyError
    from coherently.report.dossier import put_together
    from coherently.result import aggregate
    from coherently.solve.registry import choose

    seconds = max(seconds, LEAST_SECONDS)
    try:
        result = aggregate(panel, choose("auto", time_limit=seconds), weights=weights)
    except CoherentlyError as error:
        return put_together(found.panel, found, notes=(f"there is no table of before and after: {error}",))
    return put_together(result.panel, found, result, seconds=seconds)


def _with_origins(found: Check, laws: Path) -> Check:
    """The check with where its laws come from, as the comments of their file say."""
    from dataclasses import replace

    from coherently.proposals import read_origins

    return replace(found, origins=read_origins(laws))


def _show(found: Check, panel: Panel, voice: Voice, laws: Path | None) -> None:
    from coherently.explain.verdicts import CheckStatus
    from coherently.proposals import read_origins
    from coherently.report import book_table, contradictions_text, findings_summary, findings_table

    show(findings_table(found), findings_summary(found))
    if found.incoherent:
        show(contradictions_text(found, voice, None if laws is None else read_origins(laws)))
    if found.status is CheckStatus.ROUNDING:
        show("", f"The {'forecasts' if len(found.judges) == 1 else 'means'} are coherent up to rounding.")
        return
    show("", found.book.sentence())
    if found.book:
        show("", book_table(found.book, panel.labels))
