"""Components whose worlds are few for their size: an interior point method on the shares of listed worlds.

With the shares s of the worlds, x = A s the probabilities of the terms' events and H the second derivatives of the
terms, the matrix of a step is A' H A + diag(r), with the sum of the shares held. By the identity of Woodbury,

    ds = T (g - A' v),   (H^-1 + A T A') v = A T g,   T = 1 / r,

which is a system with one row per event. It is sparse if events hold in few worlds, as those of values and bins do. A
threshold does not, but it is nearly the one before: in the differences B x of neighbouring events the matrix is
B H^-1 B' + (B A) T (B A)', and B A is sparse. An event that is true in most worlds counts by its complement. So k
values, rungs or bins, with a few variables beside them, cost about k steps of elimination.

In the end, worlds whose share is small beside its multiplier have none. Newton's method on the shares of the others,
without any inequality, finds the last digits; where many shares have the same probabilities, it moves them little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.solve.component.objective import sides_at
from coherently.solve.component.structure.barrier_path import minimised
from coherently.solve.component.structure.certified_levels import CLOSE, certified
from coherently.solve.component.structure.listed_worlds import listed_worlds
from coherently.solve.facts import Route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Planes, Squares
    from coherently.solve.component.structure.barrier_path import BarrierPoint
    from coherently.solve.component.structure.listed_worlds import ListedWorlds


@dataclass(frozen=True, slots=True)
class ShareTuning:
    """Which components are solved by the shares of their worlds, and how the last digits are found."""

    most_worlds: int = 2**16
    """Maximum number of worlds."""
    used: tuple[float, ...] = (1e-3, 1.0, 1e-6, 1e-9)
    """Ratios of share and multiplier, in units of weight, below which a world may have no share."""
    finished: float = 1e-10
    """The largest gap, relative to the objective or the weights, that is not left to the general solver."""
    likely: float = 1e-4
    """The least probability of a condition."""
    unsettled: float = 1e-6
    """The least probability that a condition does not hold."""
    damping: float = 1e-6
    """What holds shares where they have a choice, in units of weight."""
    last_steps: int = 12
    """Maximum number of steps for the last digits."""
    settled: float = 1e-16
    """A change of shares below this is rounding."""
    rounds: int = 10
    """How often worlds change sides at most."""
    negligible: float = 1e-12
    """A slope below this, in units of weight, is rounding."""


TUNING = ShareTuning()


def solve_shares(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest mixture of listed worlds.

    None if there are too many, if there are pins or intervals, if a condition all but vanishes,
    or if rounding leaves a gap.
    """
    terms = objective.terms(part)
    if len(part.terms.intervals) or len(part.terms.limits) or not len(terms):
        return None
    listed = listed_worlds(part, TUNING.most_worlds)
    if listed is None or not len(listed):
        return None
    program = world_shares(part, terms, listed)
    point, steps = minimised(program, np.full(len(listed), 1.0 / len(listed)), budget)
    best = None
    for share in [point.z] if budget.is_over() else _candidates(program, point):
        kept = np.flatnonzero(share > 0)
        own = share[kept] / share[kept].sum()
        mixture = own, listed.worlds[kept], np.clip(own @ listed.truth[kept], 0.0, 1.0)
        if not _are_open(terms, mixture[2]):
            return None
        answer = certified(
            part, objective, budget, mixture=mixture, least=listed.least, route=Route.NEWTON, steps=steps
        )
        if answer is not None and (best is None or answer.gap < best.gap):
            best = answer
        if budget.is_over() or (best is not None and best.gap <= CLOSE * terms.total):
            break
    is_near = best is not None and best.gap <= TUNING.finished * max(best.objective, terms.total)
    return best if is_near or budget.is_over() else None


def _are_open(terms: Objective, x: Vector) -> bool:
    """Whether no condition vanishes, or is so likely that its ratio may be settled: that is for the general solver."""
    likely = sides_at(x)[terms.condition[~terms.certain]]
    return bool(((likely >= TUNING.likely) & (likely <= 1.0 - TUNING.unsettled)).all())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListedShares:
    """Losses as a function of the shares of worlds, which are at least 0 and sum to 1.

    `events` has the events of terms so that neighbours are alike. Row i of `rows` has the truth of `events[i]` in each
    world, less `turned[i]`, and less that of the event before it if it is in one of the `runs` and not the first there.
    The first events are those of terms without a condition: `differences` leads from `plain` terms to `own` rows. The
    terms `given` have a condition; `joint` and `condition` have the truth of their sides.
    """

    objective: Objective
    events: Indices
    runs: tuple[tuple[int, int], ...]
    turned: Vector
    rows: Any
    plain: Indices
    own: Any
    differences: Any
    given: Indices
    joint: Any
    condition: Any

    @property
    def unit(self) -> float:
        """The mean weight of a term."""
        return self.total / max(1, len(self.objective))

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.objective.total

    def sides(self, z: Vector) -> Vector:
        """The probabilities of the terms' events, by sums of differences, and of their complements."""
        found = self.rows @ z + self.turned
        for first, end in self.runs:
            np.cumsum(found[first:end], out=found[first:end])
        x = np.zeros(self.objective.size)
        x[self.events] = np.clip(found, 0.0, 1.0)
        return sides_at(x)

    def by_world(self, by_event: Vector) -> Vector:
        """The sum of coefficients of events in each world, less a constant."""
        sums = by_event[self.events]
        for first, end in self.runs:
            sums[first:end] = np.cumsum(sums[first:end][::-1])[::-1]
        found: Vector = self.rows.T @ sums
        return found

    def lost(self, z: Vector) -> float:
        """What the terms lose."""
        return self.objective.value(self.sides(z))

    def slacks(self, z: Vector) -> Vector:
        """The shares themselves."""
        return z

    def changes(self, dz: Vector) -> Vector:
        """Those of the shares."""
        return dz

    def pull(self, y: Vector) -> Vector:
        """The gradient of the sum of shares times y."""
        return y

    def model(self, z: Vector) -> tuple[Vector, Planes]:
        """The gradient, of which the mean over the shares is 0, and the planes of the terms."""
        planes = self.objective.planes(self.sides(z), 0.0)
        gradient = self.by_world(self.objective.coefficients(planes.by_joint, planes.by_condition)[0])
        return gradient - z @ gradient, planes

    def factor(self, planes: Planes, ratio: Vector, raised: float) -> ShareFactor:
        """The factor of the second derivative of f plus `ratio` on the diagonal, with the sum of shares held."""
        return ShareFactor(self, planes, 1.0 / ratio, raised)


class ShareFactor:
    """Solves for changes of shares that sum to 0; `give` is what shares give way by, 0 where they stay.

    A term with a condition bends in the direction of its joint event less `bent` times its condition.
    """

    def __init__(self, program: ListedShares, planes: Planes, give: Vector, raised: float = 0.0) -> None:
        from scipy.sparse import block_diag, csc_array, diags_array, vstack
        from scipy.sparse.linalg import splu

        plain, given = program.plain, program.given
        self.rows, self.give = program.own, give
        bend = program.differences @ diags_array(1.0 / planes.curvature[plain]) @ program.differences.T
        if len(given):
            bent = program.joint - diags_array(planes.bent[given]) @ program.condition
            self.rows = vstack([self.rows, bent], format="csr")
            bend = block_diag([bend, diags_array(1.0 / planes.curvature[given])])
        matrix = bend + self.rows @ diags_array(give) @ self.rows.T
        if raised > 0:
            matrix = matrix + diags_array(raised * matrix.diagonal())
        self.is_positive = False
        try:
            self._core = splu(
                csc_array(matrix), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:  # singular
            return
        self.even = self._free(np.ones_like(give))
        self.is_positive = bool((self._core.U.diagonal() > 0).all() and self.even.sum() > 0)

    def solve(self, right: Vector) -> Vector:
        """The changes for a right side."""
        found = self._free(right)
        changes: Vector = found - found.sum() / self.even.sum() * self.even
        return changes

    def _free(self, right: Vector) -> Vector:
        """The same without the sum held."""
        found: Vector = self.give * (right - self.rows.T @ self._core.solve(self.rows @ (self.give * right)))
        return found


def world_shares(part: Merged, objective: Objective, listed: ListedWorlds) -> ListedShares:
    """The program of listed worlds."""
    from scipy.sparse import csr_array

    plain, given = np.flatnonzero(objective.certain), np.flatnonzero(~objective.certain)
    count = np.count_nonzero(listed.truth, axis=0)
    about = objective.joint[plain]
    plain = plain[np.lexsort([count[about], _families(part)[about]])]
    about, size = objective.joint[plain], len(plain)
    places = np.concatenate([objective.joint[given], objective.condition[given]])
    events = np.concatenate([about, np.setdiff1d(places % objective.size, about)])
    rows, follows, turned = _compared(listed.truth[:, events], size)
    later = np.flatnonzero(follows)
    entries = np.concatenate([np.ones(size), np.full(len(later), -1.0)])
    ends = np.concatenate([np.arange(size), later]), np.concatenate([np.arange(size), later - 1])
    return ListedShares(
        objective=objective,
        events=events,
        runs=_runs(follows),
        turned=turned.astype(np.float64),
        rows=rows,
        plain=plain,
        own=rows[:size],
        differences=csr_array((entries, ends), shape=(size, size)),
        given=given,
        joint=_truth_of(objective.joint[given], listed, objective.size),
        condition=_truth_of(objective.condition[given], listed, objective.size),
    )


def _compared(truth: Mask, size: int) -> tuple[Any, Mask, Mask]:
    """The truth of events as sparse rows: which of the first ones go by the difference, and which by the complement."""
    from scipy.sparse import csr_array

    count = np.count_nonzero(truth, axis=0)
    apart = np.append(len(truth), np.count_nonzero(truth[:, 1:] != truth[:, :-1], axis=0))[: len(count)]
    follows = (apart < np.minimum(count, len(truth) - count)) & (np.arange(len(count)) < size)
    turned = ~follows & (2 * count > len(truth))
    later = np.flatnonzero(follows)
    rows = truth.astype(np.int8)
    rows[:, turned] -= 1
    rows[:, later] -= truth[:, later - 1]
    world, row = np.nonzero(rows)
    entries = rows[world, row].astype(np.float64)
    return csr_array((entries, (row, world)), shape=(len(count), len(truth))), follows, turned


def _truth_of(sides: Indices, listed: ListedWorlds, size: int) -> Any:
    """The truth of sides in each world, as sparse rows."""
    from scipy.sparse import csr_array

    return csr_array((listed.truth[:, sides % size] != (sides >= size)).T.astype(np.float64))


def _families(part: Merged) -> Indices:
    """A number for each event: that of the block of its first variable, or one for all that begin beside blocks."""
    home = np.zeros(part.n_variables + 1, np.int64)
    for number, block in enumerate(part.space.blocks):
        home[block.variables] = 1 + number
    functions = part.functions
    found: Indices = home[np.append(functions.variables, part.n_variables)[functions.starts[:-1]]]
    return found


def _runs(follows: Mask) -> tuple[tuple[int, int], ...]:
    """Where rows that follow each other begin and end, the first one included."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], follows.view(np.int8), [0]])))
    return tuple(zip((edges[0::2] - 1).tolist(), edges[1::2].tolist(), strict=True))


def _candidates(program: ListedShares, point: BarrierPoint) -> Iterator[Vector]:
    """Shares: with the last digits, for several guesses of which worlds have one, then as they are."""
    ratio = program.unit * point.z / point.multipliers
    known: set[bytes] = set()
    for least in TUNING.used:
        used = ratio >= least
        if (key := used.tobytes()) not in known and (share := _last_digits(program, point.z, used)) is not None:
            yield share
        known.add(key)
    yield point.z


def _last_digits(program: ListedShares, z: Vector, used: Mask) -> Vector | None:
    """The best shares of some worlds; a world on the wrong side changes sides. None if a share stays below 0."""
    for _ in range(TUNING.rounds):
        if not used.any():
            return None
        z = np.where(used, np.maximum(z, 0.0), 0.0)
        found = _on_face(program, z / max(z.sum(), TUNING.settled), used)
        if found is None:
            return None
        z, gradient = found
        wrong = (z < 0) | (~used & (gradient < -TUNING.negligible * program.unit))
        if not wrong.any():
            return z
        used = used ^ wrong
    return None if (z < 0).any() else z


def _on_face(program: ListedShares, z: Vector, used: Mask) -> tuple[Vector, Vector] | None:
    """The best shares of some worlds, be they below 0, and the gradient there; None if a matrix is singular."""
    moved = np.inf
    give = np.where(used, 1.0 / (TUNING.damping * program.unit), 0.0)
    for _ in range(TUNING.last_steps):
        gradient, planes = program.model(z)
        factor = ShareFactor(program, planes, give)
        if not factor.is_positive:
            return None
        change = factor.solve(-gradient)
        if not (length := float(np.abs(change).max())) < moved:
            break
        z, moved = z + change, length
        if moved <= TUNING.settled:
            break
    return z, program.model(z)[0]
