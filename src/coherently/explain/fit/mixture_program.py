"""Linear programs over the states of a piece: how far answers are from fitting, and what they allow for another event.

A mixture p of worlds gives every answer a its row, P(E & H) - a P(H) = 0; a plain event has P(H) = 1. With the sum of p
fixed at 1, the least and the greatest P(E) are linear programs. Those of P(E given H) are as well (Charnes and Cooper):
all rows are homogeneous, so that P(H) may be fixed at 1 instead, and P(E & H) is then the ratio.

Half a per cent of grace is meant of the sum of all misses of rows: an answer that is half a per cent more than another
that it may not exceed, two that exceed 100 % by half a per cent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.explain.fit.pieces import SheetPiece

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]

GRACE = 0.005 + 1e-9
"""Answers fit if they miss by at most this in all: half a per cent, but for rounding errors."""
FEASIBLE = 1e-9
"""Feasibility tolerance of the programs."""
LOOSE = 1e-8
"""Rounding errors of answers that were made coherent, by which their rows may be missed."""


class Enclosed(NamedTuple):
    """The least and the greatest probability."""

    low: float
    high: float


class MixtureProgram:
    """Mixtures of the worlds of a piece that meet some answers.

    `value` has one entry per item, NaN where there is no answer. `loose` says that the answers come from a mixture,
    whose rounding errors are to be allowed for.
    """

    def __init__(self, piece: SheetPiece, value: Vector, *, loose: bool = False) -> None:
        import highspy

        assert piece.columns is not None
        self._columns, self._answered, self._conditional = piece.columns, ~np.isnan(value), piece.conditional
        self._count, self._size, pins = len(piece), len(piece.columns), len(piece.pin_low)
        self._slack = LOOSE if loose else 0.0
        self._sum = self._count + 2 * pins
        endless, zero = np.full(self._count, np.inf), np.zeros(len(piece.columns.ties))
        self._low = np.concatenate([-endless, np.zeros(pins), np.full(pins, -np.inf), [-np.inf], -endless, zero])
        self._high = np.concatenate([endless, np.full(pins, np.inf), np.zeros(pins), [np.inf], endless, zero])
        self._solver = _solver(_rows(piece, value), self._low, self._high)
        self._optimal = highspy.HighsModelStatus.kOptimal

    def _hold(self, active: Mask, norm: int, *, elastic: bool) -> None:
        """Hold the rows of some answers, fix one sum at 1, and allow misses or not."""
        low, high = self._low.copy(), self._high.copy()
        low[: self._count][active], high[: self._count][active] = -self._slack, self._slack
        low[norm] = high[norm] = 1.0
        self._solver.changeRowsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        count = 2 * self._count
        missing, most = self._size + np.arange(count, dtype=np.int32), np.full(count, np.inf if elastic else 0.0)
        self._solver.changeColsBounds(count, missing, np.zeros(count), most)

    def _minimise(self, cost: Vector) -> float | None:
        self._solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        self._solver.run()
        if self._solver.getModelStatus() != self._optimal:
            return None
        return float(self._solver.getInfo().objective_function_value)

    def miss(self, active: Mask | None = None) -> float:
        """The least sum of misses of some answers, by default of all; infinite if even the laws do not fit."""
        held = self._answered if active is None else active & self._answered
        self._hold(held, self._sum, elastic=True)
        found = self._minimise(np.concatenate([np.zeros(self._size), np.tile(held.astype(np.float64), 2)]))
        return np.inf if found is None else max(0.0, found)

    def bounds(self, item: int, active: Mask) -> Enclosed | None:
        """What some answers allow for an item; None if no mixture meets them while its condition is possible."""
        held = active & self._answered
        held[item] = False
        self._hold(held, self._sum + 1 + item if self._conditional[item] else self._sum, elastic=False)
        cost = np.zeros(self._size + 2 * self._count)
        cost[: self._size] = self._columns.joint[:, item]
        low = self._minimise(cost)
        high = self._minimise(-cost) if low is not None else None
        if low is None or high is None:
            return None
        low, high = min(max(low, 0.0), 1.0), min(max(-high, 0.0), 1.0)
        return Enclosed(min(low, high), max(low, high))


def _rows(piece: SheetPiece, value: Vector) -> Vector:
    """The rows of the items, two for each pin, the sum of all worlds, the sum of each item's condition, and ties.

    After the columns of states come those of what is missing, and of what is too much, in the rows of items.
    """
    columns = piece.columns
    assert columns is not None
    joint, given, pin_joint, pin_given = (
        truth.T.astype(np.float64) for truth in (columns.joint, columns.given, columns.pin_joint, columns.pin_given)
    )
    blocks = [
        joint - np.nan_to_num(value)[:, None] * given,
        pin_joint - piece.pin_low[:, None] * pin_given,
        pin_joint - piece.pin_high[:, None] * pin_given,
        columns.root[None].astype(np.float64),
        given,
        columns.ties,
    ]
    worlds, items = np.vstack(blocks), np.eye(sum(map(len, blocks)), len(piece))
    return np.hstack([worlds, items, -items])


def _solver(matrix: Vector, low: Vector, high: Vector) -> Any:
    """A program with some rows, for columns that are not negative."""
    import highspy

    program = highspy.HighsLp()
    columns = matrix.shape[1]
    program.num_col_, program.num_row_ = columns, len(matrix)
    program.col_cost_, program.col_lower_ = np.zeros(columns), np.zeros(columns)
    program.col_upper_ = np.full(columns, highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = low, high
    entry = matrix.T != 0
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(entry.sum(axis=1))]).astype(np.int32)
    program.a_matrix_.index_ = np.nonzero(entry)[1].astype(np.int32)
    program.a_matrix_.value_ = matrix.T[entry]
    solver: Any = highspy.Highs()
    solver.silent()
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(option, FEASIBLE)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("presolve", "off")
    solver.passModel(program)
    return solver
