"""Outcomes of a hub's tasks, from its oracle output or, without one, from its time series."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from coherently.conversion.hub.entries import DATES, ORIGINS
from coherently.conversion.hub.hub_cells import cell_day, cell_number, plain_number
from coherently.conversion.hub.quantities import Category, Quantity
from coherently.errors import PanelError, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.conversion.draft import Draft
    from coherently.conversion.hub.entries import HubLayout
    from coherently.conversion.hub.hub_files import HubFiles, HubTable
    from coherently.conversion.hub.hub_tasks import HubTasks
    from coherently.conversion.hub.quantities import HubVariables

DAYS: Final = {"day": 1, "week": 7}
"""Units of a horizon by their number of days; without tasks.json a horizon counts weeks, as the hubverse suggests."""
KNOWN: Final = frozenset({"output_type", "output_type_id", "oracle_value", "observation", "as_of", "date", *DATES})


def add_outcomes(draft: Draft, hub: HubFiles, layout: HubLayout, found: HubVariables) -> None:
    """Resolve the variables of the draft."""
    if hub.oracles and hub.series:
        draft.notes.append(
            f"{counted(len(hub.series), 'time series', 'time series')} not used: the oracle output has the outcomes"
        )
    tables, column = (hub.oracles, "oracle_value") if hub.oracles else (hub.series, "observation")
    said: dict[tuple[str, str], tuple[str, str, str]] = {}
    unused = 0
    for table in tables:
        unused += _read(said, draft, table, column, tasks=hub.tasks, layout=layout, found=found)
    for (name, _), (_, value, _) in said.items():
        event, _, outcome = value.rpartition("\n")
        draft.outcomes[event or name] = outcome
    if unused:
        draft.notes.append(f"{counted(unused, 'row')} of target data on tasks that were not converted, left out")


def _read(
    said: dict[tuple[str, str], tuple[str, str, str]],
    draft: Draft,
    table: HubTable,
    column: str,
    tasks: HubTasks | None,
    layout: HubLayout,
    found: HubVariables,
) -> int:
    """Read one table; of several versions (`as_of`) the last counts. Returns the number of rows without a task."""
    unknown = [name for name in table.columns if name not in KNOWN and name not in layout.columns]
    draft.note_unknown(table.table.source, "columns", Counter(unknown))
    shared = [name for name in table.columns if name in layout.columns or name in (*DATES, "date")]
    index = _index(found, shared, tasks)
    targets = {item.ids.get("target", "") for item in found}
    if "target" not in shared and len(targets) > 1:
        draft.notes.append(f"{table.table.source} not used: without a column target its rows may be about any target")
        return 0
    cells = {name: table.texts(name) for name in (*shared, "output_type", "output_type_id", "as_of", column)}
    unused = 0
    for row in range(len(table.table.rows)):
        items = index.get(tuple(cells[name][row] for name in shared), [])
        unused += not items
        value, kind, id_ = (cells[name][row] for name in (column, "output_type", "output_type_id"))
        if not value:
            continue
        place = table.table.place(row, column)
        number = cell_number(value)
        if items and number is None:
            raise PanelError(f"{place}: {value!r} is not a number; leave the cell empty if nothing is known yet")
        for item in items:
            outcome = _outcome(item, kind, id_, number or 0.0, place=place)
            if outcome is not None:
                _keep(said, (item.name, outcome[0]), (cells["as_of"][row], "\n".join(outcome), place))
    return unused


def _keep(said: dict[tuple[str, str], tuple[str, str, str]], key: tuple[str, str], new: tuple[str, str, str]) -> None:
    before = said.get(key)
    if before is not None and before[0] == new[0] and before[1] != new[1]:
        raise PanelError(f"{new[2]}: another outcome than in {before[2]} for the same task; delete one of the two rows")
    if before is None or before[0] < new[0]:
        said[key] = new


def _outcome(item: Quantity | Category, kind: str, id_: str, number: float, place: str) -> tuple[str, str] | None:
    """The event that a row resolves, empty for the variable itself, and its outcome; None if it resolves nothing."""
    if kind in {"pmf", "cdf"} and number not in {0.0, 1.0}:
        raise PanelError(f"{place}: {number:g}; the oracle value of a {kind} is 0 or 1")
    if isinstance(item, Category):
        if kind == "pmf" and number == 1.0 and id_ in item.levels:
            return "", id_
        return None
    if kind == "cdf":
        limit = cell_day(id_) if item.dates else cell_number(id_)
        if limit is None:
            return None
        return f"{item.name} <= {plain_number(limit) if isinstance(limit, float) else limit}", str(int(number))
    if kind == "pmf" or item.dates:
        return None
    return "", plain_number(number)


def _index(
    found: HubVariables, shared: list[str], tasks: HubTasks | None
) -> dict[tuple[str, ...], list[Quantity | Category]]:
    index: dict[tuple[str, ...], list[Quantity | Category]] = {}
    for item in found:
        key = tuple(item.ids.get(name) or _day(item.ids, name, tasks) for name in shared)
        index.setdefault(key, []).append(item)
    return index


def _day(ids: Mapping[str, str], column: str, tasks: HubTasks | None) -> str:
    """The day that a task is about: its origin and as many units as its horizon says."""
    if column not in (*DATES, "date"):
        return ""
    if named := [ids[name] for name in DATES if name in ids]:
        return named[0]
    origin = next((cell_day(ids[name]) for name in ORIGINS if name in ids), None)
    horizon = cell_number(ids.get("horizon", ""))
    target = None if tasks is None else tasks.targets.get(ids.get("target", ""))
    days = DAYS.get((target.unit if target is not None else "") or "week")
    if origin is None or horizon is None or days is None:
        return ""
    return (origin + timedelta(days=horizon * days)).isoformat()
