"""Rows of model output: one entry per row, with the task that it is about."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import listed
from coherently.conversion.hub.hub_cells import cell_number
from coherently.conversion.hub.hub_files import OUTPUT
from coherently.errors import PanelError, counted
from coherently.panel import ProblemList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coherently.conversion.draft import Draft
    from coherently.conversion.hub.hub_files import HubFiles, HubTable

ORIGINS: Final = ("reference_date", "origin_date", "forecast_date", "nowcast_date", "origin_epiweek")
"""Names of the column that says from when a forecast is, the usual ones first."""
DATES: Final = ("target_end_date", "target_date")
"""Names of the column that says which day or week a forecast is about."""
STANDARD: Final = ("target", "location", "age_group", "scenario_id", *ORIGINS, "horizon", *DATES)
"""The task ids that the hubverse documents, in the order of names of variables."""
READ: Final = frozenset({"quantile", "median", "cdf", "pmf", "sample"})
LEFT_OUT: Final = {"mean": "a mean is not a probability"}
DELETE: Final = "A model that makes no forecast has no row: correct the cell, or delete the row."


@dataclass(frozen=True, slots=True)
class HubLayout:
    """The columns of task ids in the order of names, and those of them that follow from the others."""

    columns: tuple[str, ...]
    derived: frozenset[str]

    @property
    def own(self) -> tuple[str, ...]:
        """The columns that tell tasks apart."""
        return tuple(name for name in self.columns if name not in self.derived)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a value of an output type, of a model, for a task; `task` is parallel to the layout's columns."""

    model: str
    task: tuple[str, ...]
    type: str
    id: str
    value: float
    table: HubTable
    index: int

    def place(self, column: str) -> str:
        """Where a cell of the row is, for messages."""
        return self.table.table.place(self.index, column)

    @property
    def row(self) -> str:
        """The number of the row, as a person counts it."""
        return f"row {self.table.table.rows[self.index]}"


def layout_of(hub: HubFiles, draft: Draft) -> HubLayout:
    """Decide which columns are task ids: those of tasks.json or, without it, all that are not output."""
    found = dict.fromkeys(name for table in hub.outputs for name in table.columns)
    others = [name for name in found if name not in (*OUTPUT, "model_id")]
    if hub.tasks is not None:
        known = hub.tasks.columns
        for table in hub.outputs:
            unknown = [name for name in table.columns if name in others and name not in known]
            draft.note_unknown(table.table.source, "columns", Counter(unknown))
        others = [name for name in others if name in known]
    elif extra := [name for name in others if name not in STANDARD]:
        draft.notes.append(f"columns that the hubverse does not document, taken as task ids: {listed(extra)}")
    order = {name: position for position, name in enumerate(STANDARD)}
    columns = tuple(sorted(others, key=lambda name: (order.get(name, 3.5), name)))
    derived = set() if hub.tasks is None else hub.tasks.derived & set(columns)
    if "horizon" in columns and any(name in columns for name in ORIGINS):
        derived |= set(DATES) & set(columns)
    return HubLayout(columns, frozenset(derived))


def read_entries(hub: HubFiles, layout: HubLayout, only: Mapping[str, Sequence[str]], draft: Draft) -> list[Entry]:
    """Read the rows that are asked for and can be used; those that cannot are counted in notes."""
    _check_only(hub, layout, only)
    left: Counter[str] = Counter()
    entries = [entry for table in hub.outputs for entry in _rows(hub, table, layout, only, left=left)]
    for kind, count in left.items():
        why = LEFT_OUT.get(kind, f"unknown output type; the types are {', '.join((*LEFT_OUT, *sorted(READ)))}")
        draft.notes.append(f"{counted(count, 'row')} of output type {kind} left out: {why}")
    _check_repeats(entries)
    return entries


def _check_only(hub: HubFiles, layout: HubLayout, only: Mapping[str, Sequence[str]]) -> None:
    for column, wanted in only.items():
        if column not in layout.columns:
            raise PanelError(f"--only {column}: no such column of task ids; there are {', '.join(layout.columns)}")
        present = {text for table in hub.outputs for text in table.texts(column)} - {""}
        for value in wanted:
            if value not in present:
                raise PanelError(f"--only {column}={value}: no row has this value; there are {listed(sorted(present))}")


def _rows(
    hub: HubFiles, table: HubTable, layout: HubLayout, only: Mapping[str, Sequence[str]], left: Counter[str]
) -> Iterator[Entry]:
    columns = {name: table.texts(name) for name in (*layout.columns, *OUTPUT)}
    models = table.texts("model_id") if "model_id" in table.columns else [table.model] * len(table.table.rows)
    problems = ProblemList()
    tasks = zip(*(columns[name] for name in layout.columns), strict=True)
    wanted = [(layout.columns.index(name), set(values)) for name, values in only.items()]
    for index, task in enumerate(tasks if layout.columns else [()] * len(models)):
        kind, id_, value = (columns[name][index] for name in OUTPUT)
        if any(task[position] not in values for position, values in wanted):
            continue
        if kind not in READ:
            left[kind or "(blank)"] += 1
            continue
        number = cell_number(value)
        if number is None:
            found = f"{value!r} is not a number" if value else "no value"
            _note(problems, table, index, "value", found=found, remedy=DELETE)
        elif not models[index]:
            _note(problems, table, index, "model_id", found="no model", remedy="Name the model.")
        else:
            _check_target(hub, table, layout, task, index=index, problems=problems)
            yield Entry(models[index], task, kind, id_, value=number, table=table, index=index)
    problems.check()


def _check_target(
    hub: HubFiles, table: HubTable, layout: HubLayout, task: tuple[str, ...], index: int, problems: ProblemList
) -> None:
    if hub.tasks is None or "target" not in layout.columns:
        return
    name = task[layout.columns.index("target")]
    if name not in hub.tasks.targets:
        close = difflib.get_close_matches(name, hub.tasks.targets, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        allowed = f"The targets of {hub.tasks.name} are {', '.join(hub.tasks.targets)}."
        found = f"unknown target {name!r}" if name else "no target"
        _note(problems, table, index, "target", found=f"{found}{hint}", remedy=allowed)


def _note(problems: ProblemList, table: HubTable, index: int, column: str, found: str, remedy: str) -> None:
    problems.add([index], lambda i: table.table.problem(i, column, "bad-cell", found, remedy), [remedy])


def _check_repeats(entries: Sequence[Entry]) -> None:
    """Refuse two rows of a model with the same task, output type and id."""
    first: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        level = cell_number(entry.id) if entry.type in {"quantile", "cdf"} else None
        key = (entry.model, entry.task, entry.type, entry.id if level is None else level)
        before = first.setdefault(key, entry)
        if before is not entry:
            there = before.row if before.table is entry.table else before.place("output_type_id")
            raise PanelError(
                f"{entry.place('output_type_id')}: {entry.model} has {entry.type} {entry.id} of this task already, "
                f"in {there}; delete one of the two rows"
            )
