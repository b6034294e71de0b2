"""`coherently watch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.options import AsJson, LawsFile, Output, Percent, PlainEvents, Quiet
from coherently.cli.terminal import say, show, show_record
from coherently.errors import MethodError, counted

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.scoring.monitors import Monitor

ALARM = 1
"""The exit code after an alarm."""


def watch(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Panels in the order of time, one per answer set of the model."),
    ],
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="The mean distance per answer that is tolerated.")
    ] = None,
    first: Annotated[
        int, typer.Option("--first", metavar="N", help="Estimate the tolerance from the first N sets instead.")
    ] = 0,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="Largest probability of a false alarm, over all time (0.05).")
    ] = None,
    most: Annotated[float | None, typer.Option("--most", help="Larger distances per answer count as this (1).")] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME", help="The model that is watched, if files have several.")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FILE", help="Go on from this record, if it exists, and write it again."),
    ] = None,
    laws: LawsFile = None,
    percent: Percent = False,
    plain_events: PlainEvents = False,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Watch a model over time: raise an alarm if its answers have become less coherent than tolerated.

    The exit code is 1 after an alarm. Without a rise the probability of one, at any time, is at most --alpha.
    """
    from coherently.live.kept.whole_file import write_whole
    from coherently.panel import check_output, read_panel, write_table

    if output is not None:
        check_output(output, prints_record=True)
    sets = {path.name: read_panel(path, laws=laws, percent=percent, plain_events=plain_events) for path in files}
    if len(sets) < len(files):
        raise MethodError("two of the files have one name, and a set is named by its file: give each a name of its own")
    found = _watched(sets, judge, state, tolerance=tolerance, first=first, alpha=alpha, most=most)
    for note in found.notes:
        say(f"note: {note}", quiet=quiet)
    if state is not None:
        write_whole(state, found.to_json().encode(), "the state")
        say(f"{state}: {counted(len(found.names), 'answer set')} written", quiet=quiet or as_json)
    if output is not None:
        write_table(found.columns(), output)
        say(f"{output}: {counted(len(found.names), 'row')} written", quiet=quiet or as_json)
    if as_json:
        show_record(found)
    elif output is None:
        from coherently.report import monitor_table

        show(monitor_table(found), found.sentence)
    if found.alarm is not None:
        raise typer.Exit(ALARM)


def _watched(
    sets: dict[str, Panel],
    judge: str | None,
    state: Path | None,
    *,
    tolerance: float | None,
    first: int,
    alpha: float | None,
    most: float | None,
) -> Monitor:
    from coherently.scoring.monitors import Monitor, monitor

    if state is None or not state.exists():
        said = {name: value for name, value in (("alpha", alpha), ("most", most)) if value is not None}
        return monitor(sets, tolerance=tolerance, first=first, judge=judge, **said)
    if first or any(value is not None for value in (tolerance, alpha, most)):
        raise MethodError(
            f"{state} has a tolerance, alpha and most already, which must not change while one watches: leave "
            "--tolerance, --first, --alpha and --most out, or begin with another --state"
        )
    return Monitor.from_json(state).after(sets, judge=judge)
