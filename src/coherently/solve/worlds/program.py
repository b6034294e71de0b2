"""The best world by a mixed-integer program over the clusters of variables of a relaxation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.problem import LARGEST_TABLE
from coherently.solve.relaxed.certificate import by_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Truth, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.relaxed.relaxation import Relaxation

ROUNDING = 1e-6
"""Minimum tolerance of sums."""

SECONDS_PER_ENTRY = 1e-6
"""What an entry of a program takes to be stated and presolved, about: neither can be stopped on the way."""


def best_world(
    relaxation: Relaxation, coefficients: Vector, budget: Budget, tolerance: float = 0.0, start: Truth | None = None
) -> tuple[Truth | None, float]:
    """The world found of the least sum of coefficients of events that hold, and a lower bound on that sum.

    The bound may be lower by the tolerance, or by more if the budget is over. A good world to `start` with saves the
    search for one, which may take longer than the bound.
    """
    import highspy

    lowest = -float(np.abs(coefficients).sum())
    if budget.left() < least_seconds(relaxation):
        return None, lowest
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", max(tolerance, ROUNDING))
    solver.passModel(_program(relaxation, coefficients))
    solver.setOptionValue("time_limit", budget.left())
    if start is not None:
        solver.setSolution(len(start), _singles(relaxation.part).astype(np.int32), start.astype(np.float64))
    solver.HandleUserInterrupt = True
    budget.watch(solver.run, solver.cancelSolve)
    info = solver.getInfo()
    bound = float(info.mip_dual_bound)
    if not info.valid or info.primal_solution_status == 0:
        return None, bound if np.isfinite(bound) else lowest
    x = np.array(solver.getSolution().col_value)
    world = (x[_singles(relaxation.part)] > 0.5).astype(np.uint8)
    return world if relaxation.space is None or relaxation.space.allows(world[None])[0] else None, bound


def least_seconds(relaxation: Relaxation) -> float:
    """About the time without which a program is not begun, by the entries of the mixtures of all clusters."""
    size = np.array([pattern.size for pattern in relaxation.groups.patterns], np.int64)
    return SECONDS_PER_ENTRY * float(size[relaxation.groups.pattern].sum())


def _singles(part: Merged) -> Indices:
    """The coordinate of each single variable: a forecast one or, for the others, the first auxiliary ones."""
    alone = np.flatnonzero(part.sizes() == 1)
    found = np.full(part.n_variables, -1, np.int64)
    found[part.functions.variables[part.functions.starts[alone]]] = alone
    missing = found < 0
    found[missing] = len(part) + np.arange(missing.sum())
    return found


def _program(relaxation: Relaxation, coefficients: Vector) -> Any:
    """Mixtures of each cluster's truth vectors that agree on their coordinates; variables are 0 or 1.

    Counts of many literals, which have no cluster, are by the number of true ones: one column for each number, 0 or 1.
    """
    import highspy

    numbers = _numbers(relaxation, coefficients)
    matrix, low, high = _with_numbers(relaxation, numbers, *_constraints(relaxation))
    told = np.concatenate([coefficients[relaxation.kept], np.zeros(len(relaxation.part) - relaxation.kept.sum())])
    last = np.concatenate([np.zeros(0), *(cost for _, _, cost in numbers)])
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.concatenate([told, np.zeros(program.num_col_ - len(told) - len(last)), last])
    program.col_lower_ = np.zeros(program.num_col_)
    program.col_upper_ = np.ones(program.num_col_)
    program.row_lower_, program.row_upper_ = low, high
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = matrix.indptr
    program.a_matrix_.index_ = matrix.indices
    program.a_matrix_.value_ = matrix.data
    kinds = [highspy.HighsVarType.kContinuous] * program.num_col_
    for i in _singles(relaxation.part).tolist():
        kinds[i] = highspy.HighsVarType.kInteger
    kinds[len(kinds) - len(last) :] = [highspy.HighsVarType.kInteger] * len(last)
    program.integrality_ = kinds
    return program


def _constraints(relaxation: Relaxation) -> tuple[Any, Vector, Vector]:
    """Columns: the coordinates, then the mixtures. Rows: sum of vertices = x, one per membership; then sums of 1.

    Last are the laws on how many of many variables hold, which have no cluster.
    """
    from scipy import sparse

    groups = relaxation.groups
    n_x, n_members = len(relaxation.part) + groups.auxiliary, len(groups.members)
    sizes = np.array([len(pattern) for pattern in groups.patterns], np.int64)[groups.pattern]
    starts = n_x + np.cumsum(sizes) - sizes
    rows, columns, values = [np.arange(n_members)], [groups.members.astype(np.int64)], [-np.ones(n_members)]
    for vertices, found, slots in by_shape(groups):
        mixture = starts[found][:, None] + np.arange(vertices.shape[1])
        rows.append(np.repeat(slots[:, None, :], vertices.shape[1], axis=1).ravel())
        columns.append(np.repeat(mixture, vertices.shape[2], axis=1).ravel())
        values.append(vertices.ravel())
        rows.append(np.repeat(n_members + found, vertices.shape[1]))
        columns.append(mixture.ravel())
        values.append(np.ones(mixture.size))
    low = high = np.concatenate([np.zeros(n_members), np.ones(len(groups))])
    single = _singles(relaxation.part)
    for variables, sign, least, most in _counts(relaxation.part):
        rows.append(np.full(len(variables), len(low)))
        columns.append(single[variables])
        values.append(sign)
        low, high = np.append(low, least), np.append(high, most)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sparse.coo_array(entries, shape=(len(low), int(n_x + sizes.sum()))).tocsc()
    matrix.eliminate_zeros()
    return matrix, low, high


def _numbers(relaxation: Relaxation, coefficients: Vector) -> list[tuple[NDArray[np.int32], Vector, Vector]]:
    """The sets of literals that events count: their variables and signs, and the cost of each number of true ones."""
    functions = relaxation.whole.functions
    found: dict[bytes, tuple[NDArray[np.int32], Vector, Vector]] = {}
    for i in np.flatnonzero(~relaxation.kept).tolist():
        own, (literals, numbers) = functions.of(i), functions.decoded(i)
        key = own.tobytes() + literals.tobytes()
        _, _, cost = found.setdefault(key, (own, np.where(literals, 1.0, -1.0), np.zeros(len(own) + 1)))
        cost += coefficients[i] * numbers
    return list(found.values())


def _with_numbers(
    relaxation: Relaxation, numbers: Sequence[tuple[NDArray[np.int32], Vector, Vector]], matrix: Any, *ends: Vector
) -> tuple[Any, Vector, Vector]:
    """The program with a column for each number k of true literals: one z_k is 1, and sum k z_k = sum sign x + turned.

    A literal with the sign -1 is true where its variable x is 0: `turned` counts these literals.
    """
    from scipy import sparse

    low, high = ends
    single = _singles(relaxation.part)
    for variables, sign, cost in numbers:
        (rows, width), count = matrix.shape, len(cost)
        new = width + np.arange(count)
        row = np.repeat([0, 1], [len(sign) + count, count])
        entries = np.concatenate([-sign, np.arange(count), np.ones(count)])
        below = (entries, (row, np.concatenate([single[variables], new, new])))
        above = sparse.hstack([matrix, sparse.csc_array((rows, count))])
        matrix = sparse.vstack([above, sparse.coo_array(below, shape=(2, width + count))]).tocsc()
        given = np.array([np.count_nonzero(sign < 0), 1.0])
        low, high = np.append(low, given), np.append(high, given)
    return matrix, low, high


def _counts(part: Merged) -> Iterator[tuple[NDArray[np.int32], Vector, float, float]]:
    """The laws on how many of many literals hold: variables, signs, and limits of their signed sum.

    If the allowed numbers have gaps, the limits allow the gaps, too.
    """
    laws = part.space.laws
    for i in np.flatnonzero(np.diff(laws.starts) > LARGEST_TABLE).tolist():
        own, (literals, numbers) = laws.of(i), laws.decoded(i)
        sign = np.where(literals, 1.0, -1.0)
        allowed = np.flatnonzero(numbers == laws.truth[i]) - np.count_nonzero(sign < 0)
        yield own, sign, float(allowed.min()), float(allowed.max())
