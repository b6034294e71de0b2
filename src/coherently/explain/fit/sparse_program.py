"""Linear programs over the states of a large piece, by HiGHS, which keeps matrices sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.explain.fit.small_program import Enclosed, enclosed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Mask, Vector
    from coherently.explain.fit.pieces import SheetPiece

FEASIBLE = 1e-9
"""Feasibility tolerance of the programs."""
PRIMAL = 4
"""The number of the primal simplex method in HiGHS: it goes on from a mixture that meets all answers."""


class SparseProgram:
    """The program of a piece; each answer is asked of HiGHS.

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
        from scipy import sparse

        known = value.tobytes() if self._homogeneous else b""
        if elastic not in self._models or self._models[elastic][0] != known:
            matrix = _rows(self._piece, value)
            if elastic:
                items = sparse.eye_array(matrix.shape[0], self._count)
                matrix = sparse.hstack([matrix, items, -items], format="csc")
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
        return None if low is None or high is None else enclosed(low, -high)

    def _begin(self, value: Vector, held: Mask, slack: float) -> Any:
        """A basis of the program where some answers are met; None if there is none."""
        key = held.tobytes() + value.tobytes()
        if self._basis is None or self._basis[0] != key:
            model = self._hold(value, held, self._sum, slack, elastic=False)
            found = _minimise(model, np.zeros(len(self._columns)))
            self._basis = key, None if found is None else model.getBasis()
        return self._basis[1]


def _minimise(model: Any, cost: Vector) -> float | None:
    import highspy

    model.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(model.getInfo().objective_function_value)


def _rows(piece: SheetPiece, value: Vector) -> Any:
    """The rows of the items, two for each pin, the sum of all worlds, the sums of conditions of items, and ties."""
    from scipy import sparse

    columns = piece.columns
    assert columns is not None
    joint, given, pin_joint, pin_given = (
        sparse.csc_array(truth.T.astype(np.float64))
        for truth in (columns.joint, columns.given, columns.pin_joint, columns.pin_given)
    )
    asked = np.nan_to_num(value) if piece.conditional.any() else np.zeros(len(piece))
    blocks = [
        joint - sparse.diags_array(asked) @ given,
        pin_joint - sparse.diags_array(piece.pin_low) @ pin_given,
        pin_joint - sparse.diags_array(piece.pin_high) @ pin_given,
        sparse.csc_array(columns.root[None].astype(np.float64)),
        given[piece.conditional],
        sparse.csc_array(columns.ties),
    ]
    return sparse.vstack([block for block in blocks if block.shape[0]], format="csc")


def _solver(matrix: Any, *, primal: bool) -> Any:
    """A program with some rows, for columns that are not negative."""
    import highspy

    program = highspy.HighsLp()
    rows, columns = matrix.shape
    program.num_col_, program.num_row_ = columns, rows
    program.col_cost_, program.col_lower_ = np.zeros(columns), np.zeros(columns)
    program.col_upper_ = np.full(columns, highspy.kHighsInf)
    program.row_lower_, program.row_upper_ = np.full(rows, -np.inf), np.full(rows, np.inf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    program.a_matrix_.index_ = matrix.indices.astype(np.int32)
    program.a_matrix_.value_ = matrix.data
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
