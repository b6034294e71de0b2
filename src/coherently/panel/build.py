"""From a table to a panel: columns get their roles, texts become events, outcomes and repeats are settled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, get_args

import numpy as np

from coherently.errors import SHOWN, MethodError, PanelError, Where
from coherently.events import CERTAIN, Events, PackedTexts, Reading
from coherently.note_log import notes_logged
from coherently.panel import cells
from coherently.panel.canonical_files import read_canonical
from coherently.panel.cell_table import ProblemList
from coherently.panel.columnar.coded import CodedCells
from coherently.panel.event_dictionary import look_alikes
from coherently.panel.frames import table_from_frame, table_from_records
from coherently.panel.laws import NO_LAWS, Laws, count_idle, impossible_conditions, read_laws
from coherently.panel.layout import (
    Long,
    Wide,
    is_market_word,
    is_quoted,
    listed_columns,
    pick,
    plan_columns,
    recognise,
    said_layout,
)
from coherently.panel.outcomes import Facts, read_outcomes, resolve, unused_outcomes
from coherently.panel.panel import Panel, WrittenEvents
from coherently.panel.readers import read_table
from coherently.panel.repeats import Repeats, settle_repeats
from coherently.panel.texts import by_appearance, compact_notes, name_some, number_texts, plain_notes, suggest
from coherently.panel.worksheets import ReadingChoices, local_file, plain_reading, read_real_table, summary_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from coherently.panel.canonical_files import CanonicalFile
    from coherently.panel.cell_table import Table
    from coherently.panel.layout import ColumnNames
    from coherently.panel.outcomes import Outcomes
    from coherently.panel.readers import Progress
    from coherently.panel.statements import LawsSource
    from coherently.panel.worksheets.file_source import TableSource

Labels: TypeAlias = Any
"""A file or a frame (id, title), or a mapping."""

MOST_COMPARED = 20_000
"""Maximum number of names that are compared with each other."""
ONLY_JUDGE = "panel"
"""The judge of a table without a judge column."""


class Options(TypedDict, total=False):
    """How a source is read."""

    laws: LawsSource | None
    """A file or a list of statements that hold in every possible world."""
    outcomes: Outcomes | None
    """A file, a mapping or a frame of events with their outcomes."""
    labels: Labels | None
    """A file or a frame (id, title) or a mapping, for readable names."""
    percent: bool
    """Plain numbers are percentages."""
    missing: cells.Missing
    """A missing probability in a long table is an error (`"error"`) or an abstention (`"abstain"`)."""
    repeats: Repeats
    """What to do with several forecasts by one judge of one event: `"keep"`, `"last"`, `"mean"` or `"error"`."""
    plain_events: bool
    """Each event cell is one name, not a formula."""
    columns: ColumnNames | None
    """Which columns play which roles: {"event": "Risk", "judge": "Name", "ignore": ["Owner", "Status"]}."""


class FileOptions(TypedDict, total=False):
    """How a file is read, beside `Options`; what is not said is found out, and told in notes."""

    sheet: str | None
    """The sheet of a workbook."""
    header: int | None
    """The number of the row with the names of the columns."""
    separator: str | None
    """What stands between the cells of a text file."""
    encoding: str | None
    """The encoding of a text file, such as "windows-1252"."""


@dataclass(frozen=True, slots=True)
class _ReadForecasts:
    """Forecasts whose event texts are not yet read; `row` is the row of each in the table."""

    judge: CodedCells
    row: NDArray[np.int64]
    probability: NDArray[np.float64]
    weight: NDArray[np.float64]
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None


@notes_logged(lambda panel: panel.notes, warn=True)
def read_panel(
    source: TableSource,
    *,
    progress: Progress | None = None,
    sheet: str | None = None,
    header: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    **options: Unpack[Options],
) -> Panel:
    r"""Read a panel from a file: a workbook (.xlsx, .ods), CSV, JSON lines or Parquet, also in .gz or .zst.

    `source` is a path, an open file or "-", the standard input; also a panel in its canonical form, which has its laws
    in it. The table may be long (one row per forecast) or wide (events in rows, judges in columns, or the other way
    round), with titles above it, means beside it and notes below it. `panel.reading` says how it was read, and
    `panel.notes` has everything that was guessed or left out. What is guessed wrongly is said: `columns` maps roles to
    names of columns ({"event": "Risk", "judge": "Name"}; the role "ignore" leaves columns out), `sheet` names a sheet,
    `header` is the number of the row with the names of the columns, `separator` stands between the cells of a text,
    and `encoding` is the encoding of a text.

    `laws` is a file or a list of statements: declarations of variables, formulas that are certainly true, and
    probabilities that are fixed or limited. `outcomes` is a file, a mapping or a frame of events with their
    outcomes. `labels` is a file or a frame (id, title), or a mapping, that gives readable names. `percent=True` says
    that plain numbers are percentages. With `missing="abstain"` a missing probability in a long table is an abstention.
    `repeats` ("keep", "last", "mean" or "error") says what to do with several forecasts by one judge of one event.
    With `plain_events=True` each event cell is one name, not a formula. `progress` is called with the fraction of the
    file that has been read.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "panel.csv"
    >>> _ = file.write_text("event,Ann,Bob\nrain,70%,60%\nrain & wind,NA,0.2\n")
    >>> read_panel(file)
    <Panel: 3 forecasts by 2 judges on 2 events over 2 variables>
    >>> _ = file.write_text("Risiken 2027;;\nRisiko;Ann;Mittelwert\nBrand im Werk;0,35;0,35\n")
    >>> panel = read_panel(file)
    >>> panel.reading.header_row, panel.reading.separator, panel.judges
    (2, ';', ('Ann',))
    """
    percent, columns = bool(options.get("percent")), options.get("columns")
    choices = ReadingChoices(
        listed_columns(columns), sheet, header, separator=separator, encoding=encoding, percent=percent
    )
    with local_file(source) as path:
        if (canonical := read_canonical(path)) is not None:
            return _from_canonical(path, canonical, options)
        read = read_real_table(path, choices)
        if read is None:
            planner = None if columns else partial(plan_columns, percent=percent)
            table = read_table(path, progress, planner)
            panel = build(table, names_with_spaces=True, **options)
            return replace(panel, reading=replace(plain_reading(table, columns), remarks=panel.notes))
    told: Options = {**options, "percent": False, "columns": None}  # shares are made already, and roles are known
    panel = build(read.table, layout=read.layout, names_with_spaces=True, **told)
    notes = (*read.reading.notes(), *panel.notes)
    return replace(panel, reading=replace(read.reading, remarks=notes), notes=notes)


def _from_canonical(path: Path, said: CanonicalFile, options: Options) -> Panel:
    """The panel of a file in the canonical form."""
    if options.get("laws") is not None:
        remedy = "leave the laws out"
        raise PanelError(
            f"{path.name} is a panel in its canonical form, which has its laws in it already: {remedy}", remedy=remedy
        )
    first = 2 + len(said.laws)
    table = replace(
        table_from_records(said.forecasts), source=path.name, rows=range(first, first + len(said.forecasts))
    )
    told: Options = {**options, "percent": False, "columns": None, "laws": said.laws, "plain_events": said.plain_events}
    panel = build(table, **told)
    return replace(panel, reading=replace(plain_reading(table, None), remarks=panel.notes))


def build(
    table: Table,
    *,
    laws: LawsSource | None = None,
    outcomes: Outcomes | None = None,
    labels: Labels | None = None,
    percent: bool = False,
    missing: cells.Missing = "error",
    repeats: Repeats = "keep",
    plain_events: bool = False,
    reduced: bool = False,
    columns: ColumnNames | None = None,
    layout: Long | Wide | None = None,
    names_with_spaces: bool = False,
    **unknown: object,
) -> Panel:
    """Make a panel from a table; see `Options`. A `reduced` one has the sums of many forecasts instead of forecasts.

    `layout` says which columns play which roles, where that is known; else their names tell. With `names_with_spaces`
    cells that are not formulas are names, as people write them.
    """
    for name in unknown:
        known = list(Options.__annotations__)
        raise MethodError(
            f"unknown option {name!r}{suggest(name, known)}; the options are {', '.join(known)}", code="unknown-option"
        )
    _check_choice("missing", missing, get_args(cells.Missing))
    _check_choice("repeats", repeats, get_args(Repeats))
    events = Events()
    rules = NO_LAWS if laws is None else read_laws(laws, events)
    layout = layout or (said_layout(table, columns) if columns else recognise(table))
    if isinstance(layout, Long):
        forecasts = _read_long(table, layout, percent=percent, missing=missing)
    else:
        forecasts = _read_wide(table, layout, percent=percent)
    titles = _read_labels(labels)
    numbered = number_texts(
        table,
        cells.names(table, layout.event),
        events,
        plain_events=plain_events,
        labels=(lambda: titles) if names_with_spaces else None,
    )
    texts, reading = numbered.texts, numbered.reading
    _check_conditions(table, texts, reading, rules, events=events)
    facts = []
    if layout.outcome is not None:
        outcome = cells.outcomes(table, layout.outcome)
        every = Reading(reading.sides[texts.codes], ())
        facts.append(Facts.gather(table, layout.event, layout.outcome, every, outcome=outcome))
    nothing_said = outcomes is None or (isinstance(outcomes, Mapping) and not outcomes)
    if not nothing_said:
        facts.append(read_outcomes(outcomes, events, plain_events=plain_events))
    asked = _assemble(forecasts, texts, reading, events, laws=rules, facts=facts)
    answered = np.flatnonzero(~np.isnan(asked.probability))
    if not len(answered):
        raise PanelError(
            f"{table.source} has no forecast: every probability is missing", code="no-rows", where=Where(table.source)
        )
    panel = asked if len(answered) == len(asked) else asked.select(answered)
    notes = [
        *([] if reduced else _notes(table, layout, asked, panel)),
        *numbered.notes,
        *(_alike_notes(table.source, panel) if names_with_spaces else ()),
        *_relation_notes(table, panel, plain_events=plain_events),
        *([] if nothing_said else unused_outcomes(facts[-1], asked)),
        *asked.notes,
    ]
    titles = {**numbered.titles, **titles}
    open_ones = () if reduced else _unanswered(asked, panel)
    panel = replace(
        panel, notes=tuple(notes), labels=titles, library=table.library, reduced=reduced, unanswered=open_ones
    )
    if reduced:
        return panel
    return settle_repeats(panel, repeats, lambda i: table.where(int(forecasts.row[answered[i]])))


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise MethodError(f"{option} is {value!r}; it must be one of {', '.join(allowed)}")


def _read_long(table: Table, layout: Long, *, percent: bool, missing: cells.Missing) -> _ReadForecasts:
    count = len(table.rows)
    lower, upper = cells.bounds(table, layout.lower, layout.upper, percent=percent)
    return _ReadForecasts(
        judge=CodedCells(np.zeros(count, np.int32), [ONLY_JUDGE])
        if layout.judge is None
        else cells.names(table, layout.judge),
        row=np.arange(count),
        probability=_read_probabilities(table, layout, lower, upper, percent=percent, missing=missing),
        weight=np.ones(count) if layout.weight is None else cells.weights(table, layout.weight),
        lower=lower,
        upper=upper,
        time=None if layout.time is None else cells.times(table, layout.time),
    )


def _read_probabilities(
    table: Table,
    layout: Long,
    lower: NDArray[np.float64] | None,
    upper: NDArray[np.float64] | None,
    *,
    percent: bool,
    missing: cells.Missing,
) -> NDArray[np.float64]:
    """Read probabilities; where there is only an interval, its middle is the probability."""
    if lower is None and upper is None:
        return cells.probabilities(table, str(layout.probability), percent=percent, missing=missing)
    absent = np.full(len(table.rows), np.nan)
    low, high = (absent if bound is None else bound for bound in (lower, upper))
    if layout.probability is None:
        given = absent
    else:
        given = cells.probabilities(table, layout.probability, percent=percent, missing="abstain")
        cells.check_inside(table, layout.probability, given, low, upper=high)
    middle = (np.where(np.isnan(low), 0.0, low) + np.where(np.isnan(high), 1.0, high)) / 2
    middle[np.isnan(low) & np.isnan(high)] = np.nan
    probability = np.where(np.isnan(given), middle, given)
    if missing == "error":
        cells.check_given(table, layout.probability, probability)
    return probability


def _read_wide(table: Table, layout: Wide, *, percent: bool) -> _ReadForecasts:
    """Read row by row, as a person does: all judges on the first event, then all on the second."""
    columns = [cells.probabilities(table, name, percent=percent, missing="abstain") for name in layout.judges]
    count = len(table.rows)
    return _ReadForecasts(
        judge=CodedCells(np.tile(np.arange(len(columns), dtype=np.int32), count), layout.judges),
        row=np.repeat(np.arange(count), len(columns)),
        probability=np.stack(columns, axis=1).ravel(),
        weight=np.ones(count * len(columns)),
    )


def _assemble(
    forecasts: _ReadForecasts, texts: CodedCells, reading: Reading, events: Events, laws: Laws, facts: list[Facts]
) -> Panel:
    """Number written events; `texts` has one entry per row of the table, `reading` one per distinct text."""
    plain = bool(np.all(reading.condition == CERTAIN))
    sides = reading.event if plain else reading.event.astype(np.int64) << 32 | reading.condition
    number, first = by_appearance(sides)
    asked = Reading(reading.sides[first], ())
    resolved = resolve(events, facts, asked, laws)
    words = texts.distinct
    kept = words.pick(first) if isinstance(words, PackedTexts) else tuple(map(words.__getitem__, first.tolist()))
    return Panel(
        events=events,
        judges=tuple(forecasts.judge.distinct),
        written=WrittenEvents(kept, asked.event, asked.condition, asked.rest, outcome=resolved.outcome),
        judge_index=forecasts.judge.codes,
        event_index=number[texts.codes[forecasts.row]],
        probability=forecasts.probability,
        weight=forecasts.weight,
        lower=forecasts.lower,
        upper=forecasts.upper,
        time=forecasts.time,
        laws=laws,
        notes=tuple(resolved.notes()),
    )


def _check_conditions(table: Table, texts: CodedCells, reading: Reading, laws: Laws, events: Events) -> None:
    """Refuse conditionals whose condition the laws rule out."""
    broken = impossible_conditions(laws, events, reading.condition)
    if not broken:
        return
    condition = reading.condition[texts.codes]
    problems = ProblemList()
    rows = np.flatnonzero(np.isin(condition, list(broken))).tolist()
    problems.add(rows, lambda row: table.problem(row, None, "impossible-condition", broken[int(condition[row])]))
    problems.check()


def _notes(table: Table, layout: Long | Wide, asked: Panel, panel: Panel) -> list[str]:
    """Say what the table has and the panel leaves out."""
    notes = []
    if table.blank:
        notes.append(f"{table.source}: blank rows, left out: {table.blank:,}")
    if isinstance(layout, Long):
        if layout.judge is None:
            notes.append(f"{table.source}: no judge column; every forecast is by one judge, {ONLY_JUDGE!r}")
        notes += _column_notes(table.source, layout)
        if len(panel) < len(asked):
            notes.append(f"{table.source}: rows without a probability, left out: {len(asked) - len(panel):,}")
    else:
        summaries = [name for name in (*panel.judges, *panel.written.text) if summary_of(name) not in (None, "extreme")]
        if summaries:
            notes.append(f"{table.source}: counted as a judge or an event like the others: {', '.join(summaries)}")
    heard = set(panel.judges)
    silent = [name for name in asked.judges if name not in heard]
    if silent:
        shown = ", ".join(silent[:SHOWN]) + (", ..." if len(silent) > SHOWN else "")
        notes.append(f"{table.source}: judges without a forecast: {shown}")
    if unanswered := _unanswered(asked, panel):
        notes.append(f"{table.source}: events without a forecast, not in the result: {name_some(list(unanswered))}")
    return notes


def _unanswered(asked: Panel, panel: Panel) -> tuple[str, ...]:
    """The events that are asked about and have no forecast."""
    if len(asked.written) == len(panel.written):
        return ()
    answered = set(panel.written.text)
    return tuple(text for text in asked.written.text if text not in answered)


def _alike_notes(source: str, panel: Panel) -> list[str]:
    """Say which names of judges or of variables a person may take for one."""
    if max(len(panel.judges), panel.events.n_variables) > MOST_COMPARED:
        return []
    found = [*look_alikes(panel.judges), *look_alikes(panel.events.variables)]
    return [f"{source}: {note}" for note in found]


def _column_notes(source: str, layout: Long) -> list[str]:
    """Say which columns are quotes, and which have no effect."""
    notes, beside = [], set()
    if is_quoted(layout):
        middle = "; the middle of the two is the probability" if layout.probability is None else ""
        notes.append(f"{source}: {layout.lower} and {layout.upper} are read as quotes (lower and upper bounds){middle}")
    if layout.lower is not None and layout.upper is not None:
        beside = {name for name in layout.ignored if is_market_word(name)}
    if beside:
        listed = ", ".join(name for name in layout.ignored if name in beside)
        notes.append(f"{source}: not used beside the quotes: {listed}")
    others = [name or "(the column without a name)" for name in layout.ignored if name not in beside]
    return [*notes, f"{source}: ignored columns: {', '.join(others)}"] if others else notes


def _relation_notes(table: Table, panel: Panel, *, plain_events: bool) -> list[str]:
    """Say which laws, and which names that look like formulas, have no effect."""
    laws, written = panel.laws, panel.written
    idle = count_idle(laws, panel.events, np.concatenate([written.event, written.condition]))
    notes = [f"laws on variables that no forecast uses: {idle:,}"] if idle else []
    if plain_events:
        return notes + plain_notes(table.source, written.text, related=len(laws) + len(laws.pins) > idle)
    return notes + compact_notes(table.source, written.text, panel.events, written.event)


def _read_labels(labels: Labels | None) -> Mapping[str, str]:
    if labels is None or isinstance(labels, Mapping):
        return labels or {}
    table = read_table(labels) if isinstance(labels, str | os.PathLike) else table_from_frame(labels, "labels")
    ids = cells.texts(table, pick(table, "id", ("id", "event", "variable", "question", "event_id")))
    titles = cells.texts(table, pick(table, "title", ("title", "label")))
    return dict(zip(ids, titles, strict=True))
