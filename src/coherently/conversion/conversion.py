"""The public `convert`: an export in, the files of a panel out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coherently.conversion.download import ConversionOptions
from coherently.conversion.forecastbench import read_forecastbench
from coherently.conversion.hub import HubOptions, read_hubverse
from coherently.conversion.metaculus import FILES, read_metaculus
from coherently.conversion.sources import open_sources
from coherently.conversion.tuple_files import read_tuples
from coherently.conversion.tuples import tuples_draft
from coherently.errors import PanelError, counted, unknown_word
from coherently.note_log import notes_logged
from coherently.panel import write_table
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.conversion.draft import Draft
    from coherently.panel import Columns

FORMATS: Final = ("metaculus", "forecastbench", "consistency", "hubverse")
"""The formats that can be read, by name."""
PANEL, LAWS, OUTCOMES, LABELS = "panel.csv", "laws.txt", "outcomes.csv", "labels.csv"


@dataclass(frozen=True, slots=True)
class Conversion(Viewed):
    """What was written: the number of rows (for laws, of statements) by path, and what a reader should know."""

    files: Mapping[Path, int]
    judges: int
    events: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        things = {PANEL: "forecast", LAWS: "law", OUTCOMES: "outcome", LABELS: "label"}
        lines = [f"{path}: {counted(count, things[path.name])}" for path, count in self.files.items()]
        lines[0] += f" by {counted(self.judges, 'judge')} on {counted(self.events, 'event')}"
        return "\n".join(lines)


@notes_logged(lambda made: made.notes)
def convert(
    format: str,  # noqa: A002 - the word that the command line has
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    force: bool = False,
    thresholds: int | None = None,
    every: bool = False,
    aggregates: bool = False,
    partitions: Sequence[str | int] = (),
    exclusive: Sequence[str | int] = (),
    rules: str | os.PathLike[str] | None = None,
    only: Mapping[str, str | Sequence[str]] | None = None,
) -> Conversion:
    """Turn an export of `format` ("metaculus", "forecastbench", "consistency" or "hubverse") into a panel's files.

    `sources` are files, folders or .zip archives. The folder `output` gets panel.csv, and laws.txt, outcomes.csv and
    labels.csv if there is anything to write in them. Existing files are replaced only with `force`. `thresholds` is the
    number of thresholds of each continuous question (Metaculus, 9) or quantity (hubverse, 23; 0 keeps the values as
    reported). For Metaculus `every` keeps all forecasts of a forecaster instead of the last one, `aggregates` keeps
    aggregates beside forecasters, and `partitions` and `exclusive` name posts of which exactly one, or at most one,
    question comes true. For hubverse `rules` is a file of rules that relate targets, and `only` limits the conversion
    to values of task ids, such as {"location": ["US"]}.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> line = '{"line": {"P": {"question": {"title": "Rain?"}, "forecast": {"prob": 0.7}}, "not_P": '
    >>> line += '{"question": {"title": "No rain?"}, "forecast": {"prob": 0.4}}}}'
    >>> _ = (folder / "NegChecker.jsonl").write_text(line)
    >>> made = convert("consistency", folder, folder / "panel")
    >>> print((folder / "panel" / "panel.csv").read_text().replace(folder.name, "Ann"))
    judge,event,probability
    Ann,q7a22c7a8d8,0.7
    Ann,~q7a22c7a8d8,0.4
    <BLANKLINE>
    """
    if format not in FORMATS:
        raise unknown_word("format", format, FORMATS, error=PanelError)
    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if format == "hubverse":
        kept = {
            column: [values] if isinstance(values, str) else list(values) for column, values in (only or {}).items()
        }
        draft = read_hubverse(paths, HubOptions(23 if thresholds is None else thresholds, rules, kept))
    elif rules is not None or only:
        raise PanelError(
            f"--{'only' if rules is None else 'rules'} goes with --from hubverse, not with --from {format}"
        )
    else:
        posts = tuple(map(str, partitions)), tuple(map(str, exclusive))
        options = ConversionOptions(9 if thresholds is None else thresholds, every, aggregates, *posts)
        draft = _read(format, paths, options)
    if not draft.forecasts:
        raise PanelError("the sources have no forecast that can be used" + "".join(f"\n{note}" for note in draft.notes))
    return _write(draft, Path(output), force=force)


def _read(format_: str, paths: Sequence[str | os.PathLike[str]], options: ConversionOptions) -> Draft:
    if format_ == "metaculus":
        return read_metaculus(open_sources(paths, FILES.__contains__, " and ".join(FILES)), options)
    if format_ == "forecastbench":
        wanted = "the .json files of question, forecast and resolution sets"
        return read_forecastbench(open_sources(paths, lambda name: name.endswith(".json"), wanted))
    return tuples_draft(*read_tuples(paths))


def _write(draft: Draft, folder: Path, *, force: bool) -> Conversion:
    tables: dict[str, Columns] = {PANEL: draft.forecast_columns()}
    if draft.outcomes:
        tables[OUTCOMES] = {"event": list(draft.outcomes), "outcome": list(draft.outcomes.values())}
    if draft.labels:
        tables[LABELS] = {"id": list(draft.labels), "title": list(draft.labels.values())}
    stale = [folder / name for name in (PANEL, LAWS, OUTCOMES, LABELS) if (folder / name).exists()]
    if stale and not force:
        raise PanelError(f"{stale[0]} exists already: give another folder, or --force to replace it")
    files: dict[Path, int] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in stale:
            path.unlink()
        if draft.laws:
            (folder / LAWS).write_text("\n".join(draft.laws) + "\n", encoding="utf-8")
    except OSError as error:
        raise PanelError(f"{folder} cannot be written to: {error.strerror or error}") from error
    counts = {
        PANEL: len(draft.forecasts),
        LAWS: len(draft.laws),
        OUTCOMES: len(draft.outcomes),
        LABELS: len(draft.labels),
    }
    for name, columns in tables.items():
        write_table(columns, folder / name)
    files = {folder / name: count for name, count in counts.items() if count}
    judges = len({forecast.judge for forecast in draft.forecasts})
    events = len({forecast.event for forecast in draft.forecasts})
    return Conversion(files, judges, events, tuple(draft.notes))
