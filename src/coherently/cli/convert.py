"""`coherently convert`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import Quiet
from coherently.cli.terminal import progress_bar, say
from coherently.errors import counted


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Scores of consistency checks, and their file."""

    scores: Annotated[
        Path | None,
        typer.Option("--scores", metavar="FILE", help="consistency: write the scores of each tuple."),
    ] = None
    clip: Annotated[float, typer.Option("--clip", help="Scores: clip probabilities to [CLIP, 1 - CLIP].")] = 1e-4
    joint: Annotated[bool, typer.Option("--joint/--no-joint", help="Score also all tuples of a judge together.")] = True


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What of an export becomes part of the panel."""

    thresholds: Annotated[
        int | None,
        typer.Option(
            help="Number of thresholds of each continuous question (metaculus, 9) or quantity (hubverse, 23; "
            "0 keeps the values as reported).",
            show_default=False,
        ),
    ] = None
    rules: Annotated[
        Path | None, typer.Option("--rules", metavar="FILE", help="hubverse: rules that relate targets.")
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="hubverse: only tasks with this value; may be repeated."),
    ] = None
    every: Annotated[
        bool, typer.Option("--every", help="metaculus: keep every forecast, not only each forecaster's last.")
    ] = False
    aggregates: Annotated[bool, typer.Option("--aggregates", help="metaculus: keep aggregates too.")] = False
    partition: Annotated[
        list[str] | None,
        typer.Option(metavar="POST", help="metaculus: exactly one question of this post's group comes true."),
    ] = None
    exclusive: Annotated[
        list[str] | None,
        typer.Option(metavar="POST", help="metaculus: at most one question of this post's group comes true."),
    ] = None


@gathered
def convert(
    *,
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE...", show_default=False, help="Files, folders or a .zip archive.")
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--from", metavar="FORMAT", show_default=False, help="metaculus, forecastbench, consistency or hubverse."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The folder for panel.csv, laws.txt and so on."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    scoring: ScoreOptions,
    kept: ExportOptions,
    quiet: Quiet = False,
) -> None:
    """Turn an export of Metaculus, ForecastBench, consistency checks or a forecasting hub into the files of a panel."""
    from coherently.conversion import convert as run

    _check(format_, output, scoring.scores, force=force)
    if output is not None:
        made = run(
            format_,
            sources,
            output,
            force=force,
            thresholds=kept.thresholds,
            every=kept.every,
            aggregates=kept.aggregates,
            partitions=kept.partition or (),
            exclusive=kept.exclusive or (),
            rules=kept.rules,
            only=_columns(kept.only or []),
        )
        for note in made.notes:
            say(f"note: {note}", quiet=quiet)
        say(str(made), quiet=quiet)
    if scoring.scores is not None:
        _write_scores(sources, scoring.scores, scoring.clip, joint=scoring.joint, quiet=quiet)


def _columns(only: list[str]) -> dict[str, list[str]]:
    from coherently.errors import MethodError

    wanted: dict[str, list[str]] = {}
    for text in only:
        column, sign, value = text.partition("=")
        if not sign or not column or not value:
            raise MethodError(f"--only {text}: expected COLUMN=VALUE, such as location=US")
        wanted.setdefault(column, []).append(value)
    return wanted


def _check(format_: str, output: Path | None, scores: Path | None, *, force: bool) -> None:
    """Refuse what cannot be written before any work is done for it."""
    from coherently.errors import MethodError
    from coherently.panel import check_output

    if output is None and scores is None:
        raise MethodError("nothing to write: give -o DIR for a panel, or --scores FILE for consistency scores")
    if scores is None:
        return
    if format_ != "consistency":
        raise MethodError(f"--scores goes with --from consistency, not with --from {format_}")
    check_output(scores)
    if scores.exists() and not force:
        raise MethodError(f"{scores} exists already: give another name, or --force to replace it")


def _write_scores(sources: list[Path], path: Path, clip: float, *, joint: bool, quiet: bool) -> None:
    from coherently.cli.terminal import show
    from coherently.panel import write_table
    from coherently.report import consistency_table
    from coherently.scoring.consistency import consistency

    with progress_bar("Scoring", quiet=quiet) as progress:
        found = consistency(sources, clip=clip, joint=joint, progress=progress)
    write_table(found.columns(), path)
    say(f"{path}: {counted(len(found.tuples), 'tuple')} scored", quiet=quiet)
    if not quiet:
        show(consistency_table(found))
