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
PRIMAL = 4
"""The number of the primal simplex method in HiGHS: it goes on from a mixture that meets all answers."""
LOOSE = 1e-8
"""Rounding errors of answers that were made coherent, by which their rows may be missed."""


class Enclosed(NamedTuple):
    """The least and the greatest probability."""

    low: float
    high: float


class MixtureProgram:
    """Mixtures of the worlds of a piece that meet some answers.

    `value` has one entry per item, NaN where there is no answer. `loose` says that the answers come from a mixture,
    whose rounding errors are to be allowed for. There are two models: one where answers may be missed, at a cost, and
    one where they may not.
    """

    def __init__(self, piece: SheetPiece, value: Vector, *, loose: bool = False) -> None:
        assert piece.columns is not None
        self._piece, self._columns, self._value = piece, piece.columns, value
        self._answered = ~np.isnan(value)
        self._slack = LOOSE if loose else 0.0
        self._models: dict[bool, Any] = {}
        self._basis: tuple[bytes, Any] | None = None

    def at(self, value: Vector, *, loose: bool = False) -> MixtureProgram:
        """The program of other answers on the same items; without conditionals, only bounds of rows differ."""
        found = MixtureProgram(self._piece, value, loose=loose)
        if not self._piece.conditional.any():
            found._models = self._models
        return found

    @property
    def _count(self) -> int:
        return len(self._piece)

    @property
    def _sum(self) -> int:
        """The row of the sum of all worlds; those of the conditions of conditional items come after it."""
        return self._count + 2 * len(self._piece.pin_low)

    def _model(self, *, elastic: bool) -> Any:
        if elastic not in self._models:
            worlds = _rows(self._piece, self._value)
            items = np.eye(len(worlds), self._count)
            matrix = np.hstack([worlds, items, -items]) if elastic else worlds
            self._models[elastic] = _solver(matrix, primal=not elastic)
        return self._models[elastic]

    def _hold(self, active: Mask, norm: int, *, elastic: bool) -> Any:
        """Hold the rows of some answers and fix one sum at 1."""
        count, pins, ties = self._count, len(self._piece.pin_low), len(self._columns.ties)
        free = np.full(count, np.inf)
        endless, given = np.full(pins, np.inf), np.full(1 + int(self._piece.conditional.sum()), np.inf)
        low = np.concatenate([-free, np.zeros(pins), -endless, -given, np.zeros(ties)])
        high = np.concatenate([free, endless, np.zeros(pins), given, np.zeros(ties)])
        # Without conditionals a row is P(E) = a, so that other answers need no other matrix.
        right = 0.0 if self._piece.conditional.any() else self._value[active]
        low[:count][active], high[:count][active] = right - self._slack, right + self._slack
        low[norm] = high[norm] = 1.0
        model = self._model(elastic=elastic)
        model.changeRowsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        return model

    def _minimise(self, model: Any, cost: Vector) -> float | None:
        import highspy

        model.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        model.run()
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return float(model.getInfo().objective_function_value)

    def miss(self, active: Mask | None = None) -> float:
        """The least sum of misses of some answers, by default of all; infinite if even the laws do not fit."""
        held = self._answered if active is None else active & self._answered
        model = self._hold(held, self._sum, elastic=True)
        found = self._minimise(
            model, np.concatenate([np.zeros(len(self._columns)), np.tile(held.astype(np.float64), 2)])
        )
        return np.inf if found is None else max(0.0, found)

    def bounds(self, item: int, active: Mask) -> Enclosed | None:
        """What some answers allow for an item; None if no mixture meets them while its condition is possible.

        If all answers fit, mixtures that meet all of them are where the search begins: few steps are left from there.
        """
        held = active & self._answered
        begin = self._begin(held) if held[item] and not self._piece.conditional[item] else None
        held[item] = False
        norm = self._sum
        if self._piece.conditional[item]:
            norm += 1 + int(self._piece.conditional[:item].sum())
        model = self._hold(held, norm, elastic=False)
        if begin is not None:
            model.setBasis(begin)
        cost = self._columns.joint[:, item].astype(np.float64)
        low = self._minimise(model, cost)
        high = self._minimise(model, -cost) if low is not None else None
        if low is None or high is None:
            return None
        low, high = min(max(low, 0.0), 1.0), min(max(-high, 0.0), 1.0)
        return Enclosed(min(low, high), max(low, high))

    def _begin(self, held: Mask) -> Any:
        """A basis of the program where some answers are met; None if there is none."""
        if self._basis is None or self._basis[0] != held.tobytes():
            model = self._hold(held, self._sum, elastic=False)
            found = self._minimise(model, np.zeros(len(self._columns)))
            self._basis = held.tobytes(), None if found is None else model.getBasis()
        return self._basis[1]


def bounds_on_face(truth: Vector, active: Mask, item: int, near: Vector) -> Enclosed | None:
    """The least and greatest probability of an item in mixtures of a few worlds that give the active items `near`.

    If the worlds are independent in these, there is one such mixture.
    """
    rows = np.vstack([truth[:, active].T, np.ones(len(truth))])
    if np.linalg.matrix_rank(rows) == len(truth):
        return Enclosed(float(near[item]), float(near[item]))
    import highspy

    model, right = _solver(rows, primal=False), np.append(near[active], 1.0)
    model.changeRowsBounds(len(right), np.arange(len(right), dtype=np.int32), right - LOOSE, right + LOOSE)
    ends = []
    for sign in (1.0, -1.0):
        model.changeColsCost(len(truth), np.arange(len(truth), dtype=np.int32), sign * truth[:, item])
        model.run()
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        ends.append(sign * float(model.getInfo().objective_function_value))
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return Enclosed(min(low, high), max(low, high))


def _rows(piece: SheetPiece, value: Vector) -> Vector:
    """The rows of the items, two for each pin, the sum of all worlds, the sums of conditions of items, and ties."""
    columns = piece.columns
    assert columns is not None
    joint, given, pin_joint, pin_given = (
        truth.T.astype(np.float64) for truth in (columns.joint, columns.given, columns.pin_joint, columns.pin_given)
    )
    asked = np.nan_to_num(value) if piece.conditional.any() else np.zeros(len(piece))
    blocks = [
        joint - asked[:, None] * given,
        pin_joint - piece.pin_low[:, None] * pin_given,
        pin_joint - piece.pin_high[:, None] * pin_given,
        columns.root[None].astype(np.float64),
        given[piece.conditional],
        columns.ties,
    ]
    return np.vstack(blocks)


def _solver(matrix: Vector, *, primal: bool) -> Any:
    """A program with some rows, for columns that are not negative."""
    import highspy

    program = highspy.HighsLp()
    columns = matrix.shape[1]
    program.num_col_, program.num_row_ = columns, len(matrix)
    program.col_cost_, program.col_lower_ = np.zeros(columns), np.zeros(columns)
    program.col_upper_ = np.full(columns, highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = np.full(len(matrix), -np.inf), np.full(len(matrix), np.inf)
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
    if primal:
        solver.setOptionValue("simplex_strategy", PRIMAL)
    solver.passModel(program)
    return solver
