"""Outcomes of declared variables: `winner` came out as Ann, `rate` as 3.2."""

from __future__ import annotations

import math
import reprlib
from datetime import date, datetime
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import EventError, PanelError
from coherently.panel.cell_table import ProblemList
from coherently.panel.columnar.cell_values import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events import Choice, Events
    from coherently.panel.cell_table import Table

ALLOWED = "The outcome of a declared variable is one of its values, a number or an ISO date; empty means unresolved."


def declared_rows(texts: Sequence[str], events: Events) -> dict[int, str]:
    """Find the rows whose event is just the name of a declared variable."""
    spelt = {text: name for name in events.declared for text in (name, f'"{name}"')}
    return {row: spelt[text] for row, text in enumerate(texts) if text in spelt} if spelt else {}


def value_facts(
    table: Table, column: str, rows: dict[int, str], events: Events
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give the sides that the values make true, each with its row; refuse impossible values and conflicting repeats."""
    declared = {choice.name: choice for choice in events.declarations()}
    problems = ProblemList()
    sides: list[int] = []
    origin: list[int] = []
    seen: dict[str, tuple[object, int]] = {}
    for row, name in rows.items():
        cell = table.columns[column][row]
        if is_missing(cell):
            continue
        try:
            value = _value(declared[name], cell)
            truths = declared[name].encode(value)
        except EventError as error:
            problems.add(
                [row],
                lambda row, error=error: table.problem(row, column, "bad-outcome", str(error), ALLOWED),  # type: ignore[misc]
                [ALLOWED],
            )
            continue
        before = seen.setdefault(name, (value, row))
        if before[0] != value:
            first = table.place(before[1])
            message = f"{table.place(row)}: {name} is {reprlib.repr(cell)}, but {first} says otherwise"
            raise PanelError(message, code="contradictory-outcomes", where=table.where(row, column))
        literals = _literal_sides(events, declared[name], truths)
        sides += literals
        origin += [row] * len(literals)
    problems.check()
    return np.array(sides, np.int32), np.array(origin, np.int64)


def _value(choice: Choice, cell: object) -> object:
    """Turn a cell into a value of the variable: "other" is the unnamed other, numbers and dates may be texts."""
    if choice.kind == "number":
        try:
            return float(str(cell)) if not isinstance(cell, bool) else cell
        except ValueError:
            return cell
    if choice.kind == "date":
        return cell.date().isoformat() if isinstance(cell, datetime) else str(cell).strip()
    text = _text(cell)
    return None if text == "other" and None in choice.values else text


def _text(cell: object) -> str:
    if isinstance(cell, float) and math.isfinite(cell) and cell == int(cell):
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()


def _literal_sides(events: Events, choice: Choice, truths: NDArray[np.bool_]) -> list[int]:
    written = events.written_variables
    sides = events.add([written[atom] for atom in choice.atoms.tolist()]).event
    found: list[int] = np.where(truths, sides, sides ^ 1).tolist()
    return found
