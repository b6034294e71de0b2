"""Declared variables as the Boolean variables that stand for them, and the way back to their values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coherently.errors import EventError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Value: TypeAlias = bool | str | float | None
"""A variable's value in one world: true or false, a named value (None: the unnamed other), a number or an ISO date."""

EPOCH = date(1970, 1, 1)


def _none() -> NDArray[np.float64]:
    return np.empty(0)


def _no_bits() -> NDArray[np.bool_]:
    return np.empty(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A declared variable with several values, or a quantity, as the Boolean variables ("atoms") that stand for it.

    The atoms of a named variable are those of its values that events mention, in the order of its declaration: at
    most one is true, and exactly one if `complete`. The atoms of a quantity (`ordered`) are its thresholds,
    ascending: each is "less than" a threshold, so each implies the next.

    `values` are all values of a named variable, None for the unnamed other. `at` has one entry per atom: the number of
    its value, or its threshold (for a date, in days since 1970). `inclusive` says whether the atom is "at most" that
    threshold.
    """

    name: str
    atoms: NDArray[np.int32]
    ordered: bool
    complete: bool
    kind: Literal["named", "number", "date"] = "named"
    values: tuple[str | None, ...] = ()
    at: NDArray[np.float64] = field(default_factory=_none)
    inclusive: NDArray[np.bool_] = field(default_factory=_no_bits)

    def decode(self, truths: NDArray[np.bool_]) -> str | float | None:
        """Give a value for which the atoms have these truths.

        Where no atom is true, a named variable has the first value without an atom; if every value has an atom, this
        is an error. A quantity gets a number, or an ISO date, inside the cell between its thresholds; without
        thresholds it gets any number or date.
        """
        found = np.flatnonzero(truths)
        if not self.ordered:
            if len(found):
                return self.values[int(self.at[found[0]])]
            if self.complete:
                raise EventError(f"{self.name} has no value in this world: the comparison with each value is false")
            taken = set(self.at.astype(np.int64).tolist())
            return next(value for number, value in enumerate(self.values) if number not in taken)
        if not len(self.at):
            return EPOCH.isoformat() if self.kind == "date" else 0.0
        cell = int(found[0]) if len(found) else len(self.at)
        inside = self._inside_date(cell) if self.kind == "date" else self._inside_number(cell)
        return (EPOCH + timedelta(days=inside)).isoformat() if self.kind == "date" else inside

    def _inside_number(self, cell: int) -> float:
        if cell == 0:
            high = float(self.at[0])
            return high if self.inclusive[0] else _beyond(high, -math.inf)
        low = float(self.at[cell - 1])
        if cell == len(self.at):
            return _beyond(low, math.inf) if self.inclusive[cell - 1] else low
        high = float(self.at[cell])
        return low if low == high else low / 2 + high / 2

    def _inside_date(self, cell: int) -> float:
        return float(self.at[0]) - 1 if cell == 0 else float(self.at[cell - 1])

    def encode(self, value: object) -> NDArray[np.bool_]:
        """Give the truths of the atoms for a value."""
        if self.kind == "named":
            if value not in self.values:
                listed = ", ".join(str(one) if one is not None else "None (other)" for one in self.values)
                raise EventError(f"{value!r} is not a value of {self.name}; allowed are {listed}")
            return np.asarray(self.at == self.values.index(value))
        number = self._day(value) if self.kind == "date" else self._number(value)
        return np.asarray((number < self.at) | (self.inclusive & (number == self.at)))

    def _number(self, value: object) -> float:
        if isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        raise EventError(f"{value!r} is not a value of {self.name}; it must be a finite number")

    def _day(self, value: object) -> float:
        try:
            return float((date.fromisoformat(str(value)) - EPOCH).days)
        except ValueError:
            raise EventError(
                f"{value!r} is not a value of {self.name}; it must be an ISO date, such as 2027-01-31"
            ) from None


def _beyond(number: float, direction: float) -> float:
    """Give a number beyond another: by 1, by its own size, or by the smallest step that a float allows."""
    step = math.copysign(max(1.0, abs(number)), direction)
    further = number + math.copysign(1.0, direction) if abs(number) < 1e15 else number + step
    return further if math.isfinite(further) else math.nextafter(number, direction)


def make_choices(
    rows: Sequence[tuple[str, str, list[str], bool, NDArray[np.int32], NDArray[np.float64], NDArray[np.uint8]]],
    *,
    used: bool = True,
) -> tuple[Choice, ...]:
    """Describe declared variables as the compiled table lists them; if `used`, only those with an atom."""
    return tuple(
        Choice(
            name,
            atoms,
            ordered=kind != "named",
            complete=kind == "named" and len(atoms) == len(values),
            kind=kind,  # type: ignore[arg-type]
            values=(*values[:-1], None) if is_open else tuple(values),
            at=at,
            inclusive=inclusive.astype(np.bool_),
        )
        for name, kind, values, is_open, atoms, at, inclusive in rows
        if len(atoms) or not used
    )
