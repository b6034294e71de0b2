"""A lower bound on the nearest forecasts of a dense component: its semidefinite relaxation, raised by branching."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.solve.lower_bounds.descent import descend

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget


@dataclass(frozen=True, slots=True)
class SemidefiniteTuning:
    """How the time for the bound is shared, and how far branching aims."""

    ambition: float = 0.6
    """Branching aims to close this part of the distance between the bound and the known answer."""
    near: float = 1e-3
    """Vectors of more entries are tried if the relative gap of the relaxed problem is larger than this."""
    looking: float = 0.5
    """The part of the time that is kept for the bound at the nearest point."""
    least: float = 0.01
    """The minimum number of seconds for that bound."""
    first_share: float = 0.3
    """The part of the time that the first bound may take."""
    close: float = 1e-12
    """The relative fall of the objective at which a descent ends."""
    coarse: float = 1e-7
    """The same for the first bound."""


TUNING = SemidefiniteTuning()


class SpectralBound:
    """Bounds by the forecasts' distance from the relaxed set, which contains every coherent point.

    If <c, v> >= b for the truth vector v of every world, the coherent points lie beyond a hyperplane, whose distance
    from the forecasts is a bound. The semidefinite relaxation gives such a b, and the point of the relaxed set nearest
    to the forecasts gives the best direction c for it. Laws are ignored: the set of all truth assignments contains
    that of possible worlds.
    """

    # Let |d|^2 = sum N d^2, q the forecasts, x a point, c = N (x - q) and b a lower bound on <c, v> over all worlds v.
    # A coherent y is a mixture of worlds, so b <= <c, y>, and by Cauchy and Schwarz
    #
    #     b - <c, q> <= <c, y - q> <= |x - q| |y - q|,
    #
    # hence |y - q|^2 >= (b - <c, q>)^2 / |x - q|^2 if b > <c, q>. `_note` computes this: `reach` is b - <c, q> and
    # `square` is |x - q|^2. If x is nearest to q in the relaxed set, then <c, .> is least there at x, so b = <c, x> and
    # the bound is |x - q|^2, the optimum of the relaxation. Branching raises b further: to prove the bound t^2 it must
    # reach b = <c, q> + t |x - q| = <c, x> + t |x - q| - |x - q|^2.

    def __init__(self, part: Merged) -> None:
        self.part = part
        self.target = np.nan_to_num(part.mean)
        self.oracle = _core.WorldOracle(part.handle, 0)
        self.bound = 0.0

    def begin(self, budget: Budget) -> float:
        """A first bound, the same on a busy machine unless the time is over."""
        x = RelaxedNearest(self.part).settle(budget.share(TUNING.first_share), TUNING.coarse)
        if not budget.is_over():
            self._look(x, 0.0)
        return self.bound

    def raise_within(self, budget: Budget, objective: float) -> float:
        """The best bound found within the budget, given the objective of a known answer."""
        relaxed = RelaxedNearest(self.part)
        while not budget.is_over():
            x = relaxed.settle(budget.share(1.0 - TUNING.looking))
            self._look(x, 0.0, seconds=max(TUNING.least, 0.5 * budget.left()))
            if self.bound >= (1 - TUNING.near) * relaxed.objective(x) or not relaxed.widen():
                self._branch(x, budget, objective)
                break
        return self.bound

    def _look(self, x: Vector, raised: float, *, seconds: float = 0.0) -> None:
        """Bound along the direction from the forecasts to x; proofs aim at the level of x plus `raised`.

        `seconds` sharpen the first bound, for use where no proof follows.
        """
        gradient = self.part.weight * (x - self.target)
        self.oracle.set(gradient)
        self.oracle.start_proof(float(gradient @ x) + raised, seconds)
        self._note(gradient, x)

    def _note(self, gradient: Vector, x: Vector) -> None:
        square = float(gradient @ (x - self.target))
        reach = self.oracle.bound() - float(gradient @ self.target)
        if reach > 0:
            self.bound = max(self.bound, reach**2 / square)

    def _branch(self, x: Vector, budget: Budget, objective: float) -> None:
        gradient = self.part.weight * (x - self.target)
        square = float(gradient @ (x - self.target))
        outcome = "proved"
        while outcome != "better" and self.bound < objective and (seconds := budget.slice()) > 0:
            if outcome == "proved":
                aim = math.sqrt(self.bound) + TUNING.ambition * (math.sqrt(objective) - math.sqrt(self.bound))
                self._look(x, math.sqrt(square) * aim - square)
            outcome = self.oracle.prove(seconds)
            self._note(gradient, x)


class RelaxedNearest:
    """The point of the semidefinite relaxation nearest to the forecasts, for events about one or two variables.

    There is one unit vector for each variable, and one more for truth: their cosines stand for the correlations of
    signs (Goemans and Williamson 1995). With enough entries per vector, local minima of this problem are global (Burer
    and Monteiro 2005).
    """

    # With signs s_0 = 1 and s_i = 2 v_i - 1, an event about a and b is a constant plus multiples of s_a, s_b and s_a
    # s_b. Its probability is linear in the moments E[s_i s_j]. These form a positive semidefinite matrix with a unit
    # diagonal, which is the relaxation: any such matrix is U U' with unit rows u_i. Worlds w with shares p_w are the
    # case of one entry sqrt(p_w) s_i(w) per world, so every coherent point is in the relaxed set. The objective sum N
    # (x(U U') - q)^2 has the gradient (M + M') U, M being its derivative by the entries of U U'; `_value` removes the
    # part along each u_i, since lengths do not matter. Products of matrices are plain sums, on one thread (see
    # `descend`). Only the direction to the point is used for proofs, so an unfinished descent weakens the bound but
    # keeps it valid.

    def __init__(self, part: Merged) -> None:
        self.weight, self.target = part.weight, np.nan_to_num(part.mean)
        self.size = part.n_variables + 1
        self.constant, self.matrix = _expectations(part)
        self.transposed = self.matrix.T.tocsr()
        self.random = np.random.default_rng(0)
        self.vectors = self._normal(self.size // 4 + 8)

    def settle(self, budget: Budget, close: float = TUNING.close) -> Vector:
        """Descend until the objective hardly falls, or until the budget is over; returns the point."""
        flat = descend(self._value, self.vectors.ravel(), close, budget.is_over)
        self.vectors = _unit(flat.reshape(self.vectors.shape))
        return self._point()

    def widen(self) -> bool:
        """Give the vectors twice as many entries, up to the number that can be useful; false if they have that."""
        width = self.vectors.shape[1]
        if width >= self.size:
            return False
        more = 0.01 * self._normal(min(width, self.size - width))
        self.vectors = _unit(np.hstack([self.vectors, more]))
        return True

    def objective(self, x: Vector) -> float:
        """The weighted squared distance from the merged forecasts."""
        return float(np.sum(self.weight * (x - self.target) ** 2))

    def _normal(self, width: int) -> Vector:
        return _unit(self.random.normal(size=(self.size, width)))

    def _point(self) -> Vector:
        cosines = np.einsum("ik,jk->ij", self.vectors, self.vectors)
        point: Vector = self.constant + self.matrix @ cosines.ravel()
        return point

    def _value(self, flat: Vector) -> tuple[float, Vector]:
        """The objective and its gradient by vectors of any length, of which only the directions matter."""
        raw = flat.reshape(self.vectors.shape)
        self.vectors = _unit(raw)
        away = self._point() - self.target
        pull = (self.transposed @ (2 * self.weight * away)).reshape(self.size, self.size)
        slope = np.einsum("ij,jk->ik", pull + pull.T, self.vectors)
        slope -= np.sum(slope * self.vectors, axis=1, keepdims=True) * self.vectors
        return float(np.sum(self.weight * away**2)), (slope / np.linalg.norm(raw, axis=1, keepdims=True)).ravel()


def _unit(vectors: Vector) -> Vector:
    units: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _expectations(part: Merged) -> tuple[Vector, Any]:
    """The events' probabilities as a constant and a sparse matrix for cosines; the vector of truth is the first."""
    # Of a table with the entries t00, t10, t01, t11 (the first variable turns fastest), the multiple of a product of
    # signs is a quarter of the sum of t times that product.
    from scipy import sparse

    size = part.n_variables + 1
    event, functions = np.arange(len(part)), part.functions
    first, last = functions.starts[:-1], functions.starts[1:] - 1
    two = part.sizes() == 2
    a = functions.variables[first].astype(np.int64) + 1
    b = np.where(two, functions.variables[last].astype(np.int64) + 1, 0)
    row = (functions.tables[functions.table_starts[:-1]].astype(np.int64)[:, None] >> np.arange(4) & 1).astype(
        np.float64
    )
    row[~two, 2:] = row[~two, :2]
    signs = np.array([[1, 1, 1, 1], [-1, 1, -1, 1], [-1, -1, 1, 1], [1, -1, -1, 1]])
    constant, first, second, both = 0.25 * signs @ row.T
    entries = np.concatenate([first, second, both])
    places = np.concatenate([a, b, a * size + b])
    shape = (len(part), size * size)
    return constant, sparse.coo_array((entries, (np.tile(event, 3), places)), shape=shape).tocsr()
