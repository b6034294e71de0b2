"""Linear programs over the states of a piece: how far answers are from fitting, and what they allow for another event.

A mixture p of worlds gives every answer a its row, P(E & H) - a P(H) = 0; a plain event has P(H) = 1. With the sum of p
fixed at 1, the least and the greatest P(E) are linear programs. Those of P(E given H) are as well (Charnes and Cooper):
all rows are homogeneous, so that P(H) may be fixed at 1 instead, and P(E & H) is then the ratio.

Half a per cent of grace is meant of the sum of all misses of rows: an answer that is half a per cent more than another
that it may not exceed, two that exceed 100 % by half a per cent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.explain.fit.pieces import SheetPiece

    Vector = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Truths = NDArray[np.bool_]

MOST_ROWS = 150
"""Maximum number of rows of a program whose matrices are kept in full."""
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


class MixtureProgram(Protocol):
    """Mixtures of the worlds of a piece that meet answers, of which `value` has one per item."""

    def misses(self, values: Vector, active: Mask, enough: float = -1.0) -> Vector:
        """The least sum of misses of some answers for each row of values; infinite if even the laws do not fit.

        Past one that is at most `enough` they may be NaN: nobody looked.
        """

    def bounds(self, items: Sequence[int], value: Vector, active: Mask, slack: float) -> list[Enclosed | None]:
        """What the other active answers allow for each item; None if its condition is impossible, or they do not fit."""


def mixture_program(piece: SheetPiece) -> MixtureProgram:
    """The program of a piece: in the compiled core if it is small, else in HiGHS, which keeps matrices sparse."""
    assert piece.columns is not None
    rows = len(piece) + 2 * len(piece.pin_low) + len(piece.columns.ties)
    return SparseProgram(piece) if rows > MOST_ROWS else SmallProgram(piece)


class SmallProgram:
    """The compiled program; what rounding errors leave open there is asked of HiGHS."""

    def __init__(self, piece: SheetPiece) -> None:
        assert piece.columns is not None
        columns = piece.columns
        self._piece = piece
        self._core = _core.Answers(
            joint=_bytes(columns.joint),
            given=_bytes(columns.given),
            conditional=_bytes(piece.conditional),
            pin_joint=_bytes(columns.pin_joint),
            pin_given=_bytes(columns.pin_given),
            pin_low=np.ascontiguousarray(piece.pin_low),
            pin_high=np.ascontiguousarray(piece.pin_high),
            root=_bytes(columns.root),
            ties=np.ascontiguousarray(columns.ties),
        )

    def misses(self, values: Vector, active: Mask, enough: float = -1.0) -> Vector:
        """See `MixtureProgram`."""
        found = self._core.misses(np.ascontiguousarray(values), _bytes(active), enough)
        for k in np.flatnonzero(np.isnan(found)).tolist():
            if (found[:k] <= enough).any():
                break
            found[k] = SparseProgram(self._piece).misses(values[k : k + 1], active)[0]
        return found

    def bounds(self, items: Sequence[int], value: Vector, active: Mask, slack: float) -> list[Enclosed | None]:
        """See `MixtureProgram`."""
        asked = np.array(items, np.int64)
        ends = self._core.bounds(np.ascontiguousarray(value), _bytes(active), slack, asked).tolist()
        return [
            SparseProgram(self._piece).bounds([item], value, active, slack)[0]
            if math.isnan(low + high) and not math.isinf(low)
            else _enclosed(low, high)
            for item, (low, high) in zip(items, ends, strict=True)
        ]


class SparseProgram:
    """The program in HiGHS.

    There are two models: one where answers may be missed, at a cost, and one where they may not.
    """

    def __init__(self, piece: SheetPiece) -> None:
        assert piece.columns is not None
        self._piece, self._columns = piece, piece.columns
        self._homogeneous = bool(piece.conditional.any())
        self._models: dict[bool, tuple[bytes, Any]] = {}
        self._basis: tuple[bytes, Any] | None = None

    @property
    def _count(self) -> int:
        return len(self._piece)

    @property
    def _sum(self) -> int:
        """The row of the sum of all worlds; those of the conditions of conditional items come after it."""
        return self._count + 2 * len(self._piece.pin_low)

    def _model(self, value: Vector, *, elastic: bool) -> Any:
        """The model of some answers; without conditionals, other answers are other bounds of the same rows."""
        known = value.tobytes() if self._homogeneous else b""
        if elastic not in self._models or self._models[elastic][0] != known:
            worlds = _rows(self._piece, value)
            items = np.eye(len(worlds), self._count)
            matrix = np.hstack([worlds, items, -items]) if elastic else worlds
            self._models[elastic] = known, _solver(matrix, primal=not elastic)
        return self._models[elastic][1]

    def _hold(self, value: Vector, active: Mask, norm: int, slack: float, *, elastic: bool) -> Any:
        """Hold the rows of some answers and fix one sum at 1."""
        count, pins, ties = self._count, len(self._piece.pin_low), len(self._columns.ties)
        free = np.full(count, np.inf)
        endless, given = np.full(pins, np.inf), np.full(1 + int(self._piece.conditional.sum()), np.inf)
        low = np.concatenate([-free, np.zeros(pins), -endless, -given, np.zeros(ties)])
        high = np.concatenate([free, endless, np.zeros(pins), given, np.zeros(ties)])
        right = 0.0 if self._homogeneous else value[active]
        low[:count][active], high[:count][active] = right - slack, right + slack
        low[norm] = high[norm] = 1.0
        model = self._model(value, elastic=elastic)
        model.changeRowsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        return model

    def misses(self, values: Vector, active: Mask, enough: float = -1.0) -> Vector:
        """See `MixtureProgram`."""
        found = np.full(len(values), np.nan)
        cost = np.concatenate([np.zeros(len(self._columns)), np.tile(active.astype(np.float64), 2)])
        for k, value in enumerate(values):
            least = _minimise(self._hold(value, active, self._sum, 0.0, elastic=True), cost)
            found[k] = np.inf if least is None else max(0.0, least)
            if found[k] <= enough:
                break
        return found

    def bounds(self, items: Sequence[int], value: Vector, active: Mask, slack: float) -> list[Enclosed | None]:
        """See `MixtureProgram`."""
        return [self._bounds(item, value, active, slack) for item in items]

    def _bounds(self, item: int, value: Vector, active: Mask, slack: float) -> Enclosed | None:
        """If all answers fit, mixtures that meet all of them are where the search begins: few steps are left."""
        begin = None
        if active[item] and not self._piece.conditional[item]:
            begin = self._begin(value, active, slack)
        others = active.copy()
        others[item] = False
        norm = self._sum
        if self._piece.conditional[item]:
            norm += 1 + int(self._piece.conditional[:item].sum())
        model = self._hold(value, others, norm, slack, elastic=False)
        if begin is not None:
            model.setBasis(begin)
        cost = self._columns.joint[:, item].astype(np.float64)
        low = _minimise(model, cost)
        high = _minimise(model, -cost) if low is not None else None
        return None if low is None or high is None else _enclosed(low, -high)

    def _begin(self, value: Vector, held: Mask, slack: float) -> Any:
        """A basis of the program where some answers are met; None if there is none."""
        key = held.tobytes() + value.tobytes()
        if self._basis is None or self._basis[0] != key:
            model = self._hold(value, held, self._sum, slack, elastic=False)
            found = _minimise(model, np.zeros(len(self._columns)))
            self._basis = key, None if found is None else model.getBasis()
        return self._basis[1]


def _bytes(truth: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(truth).view(np.uint8)


def _enclosed(low: float, high: float) -> Enclosed | None:
    """The ends, less rounding errors; None if they are infinite: there is no mixture."""
    if math.isinf(low) or math.isinf(high):
        return None
    low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    return Enclosed(min(low, high), max(low, high))


def _minimise(model: Any, cost: Vector) -> float | None:
    import highspy

    model.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(model.getInfo().objective_function_value)


def bounds_on_face(truth: Truths, active: Mask, item: int, near: Vector) -> Enclosed | None:
    """The least and greatest probability of an item in mixtures of a few worlds that give the active items `near`."""
    worlds = len(truth)
    none = np.zeros((worlds, 0), np.uint8)
    program = _core.Answers(
        joint=_bytes(truth),
        given=np.ones(truth.shape, np.uint8),
        conditional=np.zeros(truth.shape[1], np.uint8),
        pin_joint=none,
        pin_given=none,
        pin_low=np.zeros(0),
        pin_high=np.zeros(0),
        root=np.ones(worlds, np.uint8),
        ties=np.zeros((0, worlds)),
    )
    low, high = program.bounds(near, _bytes(active), LOOSE, np.array([item])).tolist()[0]
    return None if math.isnan(low + high) else _enclosed(low, high)


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
