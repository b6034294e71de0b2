"""General solvers of quadratic programs, on the facet form of the relaxed problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.problem import Merged

TIME_LIMIT = 10.0
"""Seconds after which OSQP gives up."""

# Truth table of an event about a and b -> the coefficients of P(a & b), P(a) and P(b) in its probability.
_AFFINE = np.zeros((16, 3))
_AFFINE[0b1000] = 1, 0, 0
_AFFINE[0b0010] = -1, 1, 0
_AFFINE[0b0100] = -1, 0, 1
_AFFINE[0b1110] = -1, 1, 1
_AFFINE[0b0110] = -2, 1, 1
_NOT_FIRST = np.isin(np.arange(16), (0b0100, 0b1110))
_NOT_SECOND = np.isin(np.arange(16), (0b0010, 0b1110))

Solve: TypeAlias = Callable[[float], "NDArray[np.float64]"]
"""Tolerance -> the solver's variables."""


@dataclass(frozen=True, slots=True, eq=False)
class Facets:
    """Minimise 1/2 y'Py + c'y subject to Gy <= h and y >= lower.

    y lists the variables' probabilities, then for each group that of a conjunction of its two literals.
    The coordinates of the merged problem are events y + shift; `first` gives an entry of y the first of its own.
    """

    quadratic: sparse.csc_matrix
    linear: NDArray[np.float64]
    rows: sparse.csc_matrix
    limits: NDArray[np.float64]
    lower: NDArray[np.float64]
    events: sparse.csc_matrix
    shift: NDArray[np.float64]
    first: NDArray[np.int64]
    weight: NDArray[np.float64]
    target: NDArray[np.float64]

    def answer(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry a solution back to the coordinates."""
        x: NDArray[np.float64] = self.events @ y + self.shift
        return x

    def objective(self, x: NDArray[np.float64]) -> float:
        """The weighted squared distance of the coordinates from the forecasts."""
        return float(np.sum(self.weight * (x - self.target) ** 2))

    def violation(self, y: NDArray[np.float64]) -> float:
        """How far the worst facet is violated."""
        return max(0.0, float((self.rows @ y - self.limits).max()), float((self.lower - y).max()))

    def recovered(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The y of an answer, read off the variables' own coordinates and each group's first event."""
        n = int(np.sum(self.lower == -np.inf))
        leads = self.events.tocsr()[self.first]
        y = (x - self.shift)[self.first]
        y[n:] -= leads[n:, :n] @ y[:n]
        y[n:] /= leads.diagonal()[n:]
        return y


def facet_form(merged: Merged, design: str) -> Facets:
    """Write down a problem with the groups `logical` or `pairs`.

    Every variable must be forecast by itself, and every other event be about two.
    """
    n, size = merged.n_variables, merged.sizes()
    alone, double = np.flatnonzero(size == 1), np.flatnonzero(size == 2)
    ends = merged.functions.variables[merged.functions.starts[double][:, None] + np.arange(2)].astype(np.int64)
    truth = merged.functions.stacked_words(double)[:, 0].astype(np.int64)
    shift = np.zeros(len(merged))
    if design == "logical":
        group = lead = np.arange(len(double))
        not_first, not_second = _NOT_FIRST[truth], _NOT_SECOND[truth]
        negated = not_first & not_second
        shift[double] = negated
        affine = np.zeros((len(double), 3))
        affine[:, 0] = np.where(negated, -1.0, 1.0)
    else:
        _, lead, group = np.unique(ends @ [n, 1], return_index=True, return_inverse=True)
        not_first = not_second = np.zeros(len(lead), bool)
        affine = _AFFINE[truth]
    count = len(not_first)
    events = _matrix(
        np.concatenate([alone, double, double, double]),
        np.concatenate([merged.functions.variables[merged.functions.starts[alone]], n + group, ends[:, 0], ends[:, 1]]),
        np.concatenate([np.ones(len(alone)), *affine.T]),
        (len(merged), n + count),
    )
    rows, limits = _bounds(n, ends[lead], not_first, not_second)
    weight, target = merged.weight, np.nan_to_num(merged.mean)
    quadratic = (events.T @ sparse.diags(2 * weight) @ events).tocsc()
    quadratic.sort_indices()
    linear = -2 * (events.T @ (weight * (target - shift)))
    lower = np.concatenate([np.full(n, -np.inf), np.zeros(count)])
    first = np.full(n + count, -1)
    first[merged.functions.variables[merged.functions.starts[alone]]] = alone
    first[n:] = double[lead]
    return Facets(quadratic, linear, rows, limits, lower, events, shift, first, weight, target)


def _bounds(
    n: int, ends: NDArray[np.int64], not_first: NDArray[np.bool_], not_second: NDArray[np.bool_]
) -> tuple[sparse.csc_matrix, NDArray[np.float64]]:
    """Bound the conjunction m of two literals: m <= a, m <= b and m >= a + b - 1."""
    count = len(ends)
    one, i = np.ones(count), np.arange(count)
    (a, b), m = ends.T, n + i
    on_a, on_b = np.where(not_first, -1.0, 1.0), np.where(not_second, -1.0, 1.0)
    rows = _matrix(
        np.concatenate([i, i, count + i, count + i, 2 * count + i, 2 * count + i, 2 * count + i]),
        np.concatenate([m, a, m, b, m, a, b]),
        np.concatenate([one, -on_a, one, -on_b, -one, on_a, on_b]),
        (3 * count, n + count),
    )
    return rows, np.concatenate([not_first, not_second, one - not_first - not_second]).astype(np.float64)


def _matrix(
    rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64], shape: tuple[int, int]
) -> sparse.csc_matrix:
    matrix = sparse.csc_matrix((values, (rows, columns)), shape=shape)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _all_rows(problem: Facets) -> tuple[sparse.csc_matrix, NDArray[np.float64]]:
    """The lower bounds as rows too, for solvers that know no others."""
    bounded = np.flatnonzero(problem.lower > -np.inf)
    signs = sparse.csc_matrix(
        (-np.ones(len(bounded)), (np.arange(len(bounded)), bounded)), shape=(len(bounded), len(problem.lower))
    )
    rows = sparse.vstack([problem.rows, signs]).tocsc()
    rows.sort_indices()
    return rows, np.concatenate([problem.limits, -problem.lower[bounded]])


def piqp(problem: Facets) -> Solve:
    """PIQP, with the solver of its linear systems that is fastest here."""
    import piqp

    def solve(tolerance: float) -> NDArray[np.float64]:
        solver: Any = piqp.SparseSolver()
        solver.settings.kkt_solver = piqp.sparse_ldlt_ineq_cond
        solver.settings.eps_abs = solver.settings.eps_rel = tolerance
        solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
        solver.setup(
            problem.quadratic, problem.linear, None, None, problem.rows, None, problem.limits, problem.lower, None
        )
        solver.solve()
        return np.array(solver.result.x)

    return solve


def osqp(problem: Facets) -> Solve:
    """OSQP, with polishing and a limit of time."""
    import osqp

    rows, limits = _all_rows(problem)
    upper = sparse.triu(problem.quadratic).tocsc()

    def solve(tolerance: float) -> NDArray[np.float64]:
        solver: Any = osqp.OSQP()
        solver.setup(
            upper,
            problem.linear,
            rows,
            np.full(len(limits), -np.inf),
            limits,
            eps_abs=tolerance,
            eps_rel=tolerance,
            max_iter=1_000_000,
            time_limit=TIME_LIMIT,
            polishing=True,
            verbose=False,
        )
        return np.array(solver.solve(raise_error=False).x)

    return solve


def clarabel(problem: Facets) -> Solve:
    """Clarabel."""
    import clarabel

    rows, limits = _all_rows(problem)
    upper = sparse.triu(problem.quadratic).tocsc()

    def solve(tolerance: float) -> NDArray[np.float64]:
        settings: Any = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        cones = [clarabel.NonnegativeConeT(len(limits))]
        solver: Any = clarabel.DefaultSolver(upper, problem.linear, rows, limits, cones, settings)
        return np.array(solver.solve().x)

    return solve


def cvxpy(problem: Facets) -> Solve:
    """CVXPY, which hands over to Clarabel."""
    import cvxpy

    bounded = np.flatnonzero(problem.lower > -np.inf)
    root, wanted = np.sqrt(problem.weight), problem.target - problem.shift

    def solve(tolerance: float) -> NDArray[np.float64]:
        y: Any = cvxpy.Variable(len(problem.lower))
        distance = cvxpy.sum_squares(cvxpy.multiply(root, problem.events @ y - wanted))
        model: Any = cvxpy.Problem(cvxpy.Minimize(distance), [problem.rows @ y <= problem.limits, y[bounded] >= 0])
        settings = {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance, "max_threads": 1}
        model.solve(solver=cvxpy.CLARABEL, **settings)
        return np.array(y.value)

    return solve


PEERS: dict[str, Callable[[Facets], Solve]] = {"PIQP": piqp, "Clarabel": clarabel, "OSQP": osqp, "CVXPY": cvxpy}
