"""`coherently compare`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli import INTERRUPTED
from coherently.cli.option_groups import gathered
from coherently.cli.options import (
    AsJson,
    ClusterFile,
    EngineWord,
    LiteratureRows,
    OutcomesFile,
    Threads,
    Tolerance,
    WeightsFile,
)
from coherently.cli.panel_source import PanelSource
from coherently.cli.terminal import progress_bar, say, show, show_record
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.scoring import Comparison
    from coherently.scoring.candidates import Asked


class Over(StrEnum):
    """What intervals are over."""

    BOTH = "both"
    JUDGES = "judges"
    EVENTS = "events"


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """How intervals are made."""

    over: Annotated[Over, typer.Option("--over", help="What intervals are over: judges, events or both.")] = Over.BOTH
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", help="Draws of the judges with --remake; 0 for no intervals at all.")
    ] = 1000
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence level of the intervals.")] = 0.95
    seed: Annotated[int, typer.Option("--seed", help="The seed of the draws with --remake.")] = 0
    remake: Annotated[
        bool, typer.Option("--remake", help="Make the aggregates again from the judges of each draw; slow.")
    ] = False


@dataclass(frozen=True, slots=True)
class ComparisonOutput:
    """Where the comparison goes, and in which form."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the rows (.csv, .jsonl ...), or the output of --latex or --html.",
        ),
    ] = None
    as_json: AsJson = False
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")] = False
    html: Annotated[bool, typer.Option("--html", help="Print a page in HTML.")] = False

    def check(self) -> None:
        """Refuse what cannot be written before any work is done for it."""
        from coherently.errors import MethodError, PanelError
        from coherently.panel import check_output

        if self.as_json + self.latex + self.html > 1:
            raise MethodError("--json, --latex and --html exclude each other; give one of them")
        if self.output is None:
            return
        if not (self.latex or self.html):
            check_output(self.output, prints_record=True)
        elif self.output.is_dir() or not self.output.parent.is_dir():
            raise PanelError(f"{self.output} cannot be written: name a file in an existing folder")

    def give(self, comparison: Comparison, over: str, *, quiet: bool) -> None:
        """Print the comparison, or write it to the file."""
        from coherently.panel import write_table
        from coherently.report import comparison_html, comparison_latex

        if self.latex or self.html:
            text = comparison_latex(comparison, over) if self.latex else comparison_html(comparison, over)
            if self.output is None:
                print(text, end="")
            else:
                self.output.write_text(text, "utf-8")
                say(f"{self.output}: written", quiet=quiet)
            return
        if self.output is not None:
            write_table(comparison.columns(over), self.output)
            say(f"{self.output}: {counted(len(comparison.rows), 'row')} written", quiet=quiet or self.as_json)
        if self.as_json:
            show_record(comparison)
        elif self.output is None:
            _show(comparison, over, quiet=quiet)


@gathered
def compare(
    *,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", metavar="METHOD", help="One more method to compare, of <methods>; may be given several times."
        ),
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="All pools, alone and then exact, and linear and exact by coherence weights."),
    ] = False,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            metavar="FILE",
            help="With --baselines: linear and exact by past Brier scores too, from a panel with an outcome column.",
        ),
    ] = None,
    literature: LiteratureRows = False,
    outcomes: OutcomesFile = None,
    intervals: IntervalOptions,
    cluster: ClusterFile = None,
    clip: Annotated[float, typer.Option("--clip", help="Log score: clip probabilities to [CLIP, 1 - CLIP].")] = 1e-4,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Time limit of each exact row (60)."),
    ] = None,
    tolerance: Tolerance = None,
    threads: Threads = None,
    engine: EngineWord = None,
    weights: WeightsFile = None,
    shown: ComparisonOutput,
    source: PanelSource,
) -> None:
    """Compare raw, individual, averaged and coherent forecasts with what came true, as the paper does."""
    from coherently.scoring import compare as run

    shown.check()
    usual = [*_baselines(source, history, time_limit, wanted=baselines), *_literature(time_limit, wanted=literature)]
    panel = source.read(outcomes=outcomes)
    with progress_bar("Comparing", quiet=source.quiet) as progress:
        comparison = run(
            panel,
            [*usual, *(methods or ())],
            bootstrap=intervals.bootstrap,
            seed=intervals.seed,
            confidence=intervals.confidence,
            remake=intervals.remake,
            clip=clip,
            over=intervals.over.value,
            cluster=cluster,
            weights=weights,
            time_limit=time_limit,
            tolerance=tolerance,
            threads=threads,
            progress=progress,
            engine=engine,
        )
    for note in comparison.notes:
        say(f"note: {note}", quiet=source.quiet)
    shown.give(comparison, intervals.over.value, quiet=source.quiet)
    if comparison.interrupted:
        raise typer.Exit(INTERRUPTED)


def _baselines(
    source: PanelSource, history: Path | None, time_limit: float | None, *, wanted: bool
) -> tuple[Asked, ...]:
    """The baselines if they are wanted; the history is read as the panel is."""
    from coherently.errors import MethodError

    if not wanted:
        if history is not None:
            raise MethodError("--history goes with --baselines; give both")
        return ()
    from coherently.panel import read_panel
    from coherently.rivals import baselines

    past = None if history is None else read_panel(history, **source.options)
    return baselines(history=past, time_limit=time_limit)


def _literature(time_limit: float | None, *, wanted: bool) -> tuple[Asked, ...]:
    """The rules of the literature if they are wanted."""
    from coherently.rivals import literature

    return literature(time_limit=time_limit) if wanted else ()


def _show(comparison: Comparison, over: str, *, quiet: bool) -> None:
    from coherently.report import comparison_table, comparison_text, differences_table

    show(comparison_table(comparison, over))
    if len(comparison.rows) > 1:
        show("", differences_table(comparison, over))
    if not quiet:
        show(comparison_text(comparison))
