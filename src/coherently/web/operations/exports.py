"""Tables "as CSV, as JSON, as Python"."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from coherently.web.operations.aggregation_operations import get_result, panel_inputs
from coherently.web.operations.panel_operations import own_panel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings that make a spreadsheet take a text for a formula."""
KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "py": "text/x-python; charset=utf-8"}
"""Content types by ending."""


def export_panel(bench: Workbench, caller: AccountCaller, panel: str, ending: str) -> str:
    """The answers that stand, with the laws."""
    own_panel(bench, caller, panel)
    inputs = panel_inputs(bench, panel)
    if ending == "csv":
        return as_csv(inputs["forecasts"], ("judge", "event", "probability"))
    if ending == "json":
        return as_json(inputs)
    return as_python(inputs)


def export_result(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str, ending: str) -> str:
    """The forecasts of an aggregation."""
    found = get_result(bench, caller, panel, aggregation)
    rows = [row.model_dump() for row in found.events]
    if ending == "csv":
        names = ("event", "title", "probability", "raw", "weight", "adjustment")
        return as_csv(rows, names)
    if ending == "json":
        return as_json({"forecasts": rows})
    inputs = {"forecasts": found.forecasts, "laws": found.laws, "outcomes": found.outcomes}
    return as_python(inputs, found.recipe or found.aggregation.method, found.aggregation.loss)


def as_csv(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    r"""Rows as CSV; a text that a spreadsheet would take for a formula gets an apostrophe before it.

    >>> as_csv([{"judge": "=cmd()", "probability": 0.5}], ("judge", "probability"))
    "judge,probability\r\n'=cmd(),0.5\r\n"
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(names)
    writer.writerows([guarded(row[name]) for name in names] for row in rows)
    return stream.getvalue()


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def as_json(value: Any) -> str:
    """Plain values as JSON with all decimals."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


def as_python(inputs: Mapping[str, Any], method: str | Mapping[str, Any] = "auto", loss: str = "brier") -> str:
    """A script that makes the same aggregate with the library; `method` is a word or the values of a recipe."""
    columns = [("judge", "event", "probability", "weight")[: len(row)] for row in inputs["forecasts"][:1]]
    rows = "\n".join(f"    ({', '.join(repr(row[name]) for name in columns[0])})," for row in inputs["forecasts"])
    chosen = repr(method) if isinstance(method, str) else f"co.Recipe.from_dict({method!r})"
    laws = "\n".join(f"    {law!r}," for law in inputs["laws"])
    return f"""import coherently as co

forecasts = [
{rows}
]
laws = [
{laws}
]
panel = co.Panel.from_records(forecasts, laws=laws, outcomes={inputs["outcomes"]!r})
result = co.aggregate(panel, {chosen}, {loss!r})
print(result.frame())
print(co.verify(panel, result))
"""
