"""Components whose worlds are few for their size: an interior point method on the shares of listed worlds.

With the shares s of the worlds, x = A s the probabilities of the terms' events and H the second derivatives of the
terms, the matrix of a step is A' H A + diag(r), with the sum of the shares held. By the identity of Woodbury,

    ds = T (g - A' v),   (H^-1 + A T A') v = A T g,   T = 1 / r,

which is a system with one row per event (see `share_factor`). It is a narrow band if events hold in few worlds, as
those of values and bins do. A threshold does not, but it is nearly the one before: in the differences B x of
neighbouring events the matrix is B H^-1 B' + (B A) T (B A)', and B A is sparse. An event that is true in most worlds
counts by its complement. So k values, rungs or bins, with a few variables beside them, cost about k steps of
elimination, and no table of worlds and events is made (see `event_runs`).

Where a share is large, r is small, and T is more than doubles can hold beside H^-1. A little damping of such shares
keeps the system solvable; it costs a step no more than a millionth of its length.

In the end, worlds whose share is small beside its multiplier have none. Newton's method on the shares of the others,
without any inequality, finds the last digits; where many shares have the same probabilities, it moves them little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.objective import STEEPEST, Planes, sides_at
from coherently.solve.component.structure.barrier_path import minimised
from coherently.solve.component.structure.certified_levels import CLOSE, certified, plane_at
from coherently.solve.component.structure.event_runs import EventRuns
from coherently.solve.component.structure.listed_worlds import listed_worlds
from coherently.solve.component.structure.share_factor import ShareFactor, SparseRows, bordered
from coherently.solve.facts import Route
from coherently.solve.lazy_table import LazyTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.answer import Answer
    from coherently.solve.component.objective import Objective, Squares
    from coherently.solve.component.structure.barrier_path import BarrierPoint
    from coherently.solve.component.structure.listed_worlds import ListedWorlds
    from coherently.solve.component.structure.share_factor import BorderedRows


@dataclass(frozen=True, slots=True)
class ShareTuning:
    """Which components are solved by the shares of their worlds, and how the last digits are found."""

    most_worlds: int = 2**16
    """Maximum number of worlds of a component of few variables."""
    worlds_a_variable: int = 8
    """Maximum number of worlds per variable of a component of many."""
    used: tuple[float, ...] = (1e-3, 1.0, 1e-6, 1e-9)
    """Ratios of share and multiplier, in units of weight, below which a world may have no share."""
    finished: float = 1e-9
    """The largest gap, relative to the objective, that is not left to the general solver."""
    least_lost: float = 1e-3
    """The least objective to which gaps are compared, relative to all weights."""
    likely: float = 1e-4
    """The least probability of a condition."""
    unsettled: float = 1e-6
    """The least probability that a condition does not hold."""
    damping: float = 1e-6
    """What holds shares that are large or have a choice, in units of weight."""
    last_steps: int = 12
    """Maximum number of steps for the last digits."""
    settled: float = 1e-16
    """A change of shares below this is rounding."""
    rounds: int = 10
    """How often worlds change sides at most."""
    negligible: float = 1e-12
    """A slope below this, in units of weight, is rounding."""
    rarest: float = 1e-300
    """The least probability at which a loss is asked for its slope."""
    most_entries: int = 2**22
    """Maximum number of entries of the rows of events."""


TUNING = ShareTuning()


def solve_shares(part: Merged, objective: Objective | Squares, budget: Budget) -> Answer | None:
    """The nearest mixture of listed worlds.

    None if there are too many, if there are pins or intervals, if a condition all but vanishes,
    or if rounding leaves a gap.
    """
    terms = objective.terms(part)
    if len(part.terms.intervals) or len(part.terms.limits) or not len(terms):
        return None
    listed = listed_worlds(part, max(TUNING.most_worlds, TUNING.worlds_a_variable * part.n_variables))
    program = None if listed is None or not len(listed) else world_shares(part, terms, listed)
    if program is None:
        return None
    size = len(program.listed)
    point, steps = minimised(program, np.full(size, 1.0 / size), budget)
    best = None
    for share in [point.z] if budget.is_over() else _candidates(program, point):
        answer = _answer(part, objective, budget, program=program, share=share, steps=steps)
        if answer is not None and (best is None or answer.gap < best.gap):
            best = answer
        if budget.is_over() or (best is not None and best.gap <= CLOSE * terms.total):
            break
    is_near = best is not None and best.gap <= TUNING.finished * max(best.objective, TUNING.least_lost * terms.total)
    return best if is_near or budget.is_over() else None


def _answer(
    part: Merged, objective: Objective | Squares, budget: Budget, *, program: ListedShares, share: Vector, steps: int
) -> Answer | None:
    """The answer of these shares, with its bound; None if a condition may vanish, or if rounding leaves a gap."""
    listed, share = program.listed, np.maximum(share, 0.0)
    share = share / share.sum()
    kept, sides = np.flatnonzero(share > 0), program.sides(share)
    x, rows = sides[: len(part)], LazyTable(partial(listed.worlds, kept), len(kept), part.n_variables)
    if not _are_open(program.objective, x):
        return None
    return certified(
        part,
        objective,
        budget,
        mixture=(share[kept], rows, x),
        least=listed.events.least,
        plane=plane_at(program.objective, program.slopes(sides)[0]) if program.is_precise else None,
        route=Route.NEWTON,
        steps=steps,
    )


def _are_open(terms: Objective, x: Vector) -> bool:
    """Whether no condition vanishes, or is so likely that its ratio may be settled: that is for the general solver."""
    likely = sides_at(x)[terms.condition[~terms.certain]]
    return bool(((likely >= TUNING.likely) & (likely <= 1.0 - TUNING.unsettled)).all())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListedShares:
    """Losses as a function of the shares of worlds, which are at least 0 and sum to 1.

    The terms `plain` have no condition, and are in an order in which neighbours are alike. Row i of `rows` has the
    truth of the event of `plain[i]` in each world, less 1 if it goes by its complement, and less that of the event
    before it if it is in one of the `runs` and not the first there. The terms `given` have a condition; `joint` and
    `condition` have the truth of their sides in the worlds where the condition holds. `arranged` are the rows of plain
    terms and then of others, as the system of a step has them.
    """

    objective: Objective
    listed: ListedWorlds
    plain: Indices
    runs: tuple[tuple[int, int], ...]
    rows: SparseRows
    arranged: BorderedRows
    given: Indices
    joint: SparseRows
    condition: SparseRows

    @property
    def unit(self) -> float:
        """The mean weight of a term."""
        return self.total / max(1, len(self.objective))

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self.objective.total

    @property
    def is_precise(self) -> bool:
        """Whether digits of x do not say where the loss of an event is, and there are no conditions to ask for."""
        return self.objective.is_steep and not len(self.given)

    def sides(self, z: Vector) -> Vector:
        """The probabilities of the events and of their complements, each with all its digits."""
        return np.concatenate([*self.listed.events.probabilities(z), [1.0]])

    def slopes(self, sides: Vector) -> tuple[Vector, Vector]:
        """The first and second derivative of phi at the probability of each event, from its rarer side.

        A loss is symmetric: phi' of an event is that of its complement with the other sign.
        """
        x, other = np.split(sides[:-1], 2)
        rarer, loss = np.maximum(np.minimum(x, other), TUNING.rarest), self.objective.loss
        slope = loss.gradient(rarer)
        return np.where(x <= other, slope, -slope), loss.curvature(rarer)

    def by_world(self, planes: Planes) -> Vector:
        """The sum of the terms' planes in each world, less a constant."""
        sums = planes.by_joint[self.plain]
        for first, end in self.runs:
            sums[first:end] = np.cumsum(sums[first:end][::-1])[::-1]
        found, count = self.rows.transposed_times(sums, len(self.listed)), len(self.listed)
        if len(self.given):
            found += self.joint.transposed_times(planes.by_joint[self.given], count)
            found += self.condition.transposed_times(planes.by_condition[self.given], count)
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
        sides, terms = self.sides(z), self.objective
        planes = terms.planes(sides, 0.0)
        if terms.is_steep:
            planes = self._steep(planes, sides)
        gradient = self.by_world(planes)
        return gradient - z @ gradient, planes

    def _steep(self, planes: Planes, sides: Vector) -> Planes:
        """The planes, with plain terms by their rarer side: near 1, the digits of x do not say where it is."""
        terms, (slope, curvature) = self.objective, self.slopes(sides)
        event = terms.joint[self.plain]
        by_joint, bend = planes.by_joint.copy(), planes.curvature.copy()
        by_joint[self.plain] = terms.weight[self.plain] * (slope[event] - terms.loss.gradient(terms.middle[self.plain]))
        bend[self.plain] = terms.weight[self.plain] * np.minimum(curvature[event], STEEPEST)
        return Planes(
            ratio=planes.ratio,
            bent=planes.bent,
            by_joint=by_joint,
            by_condition=planes.by_condition,
            curvature=bend,
            constant=planes.constant,
        )

    def factor(self, planes: Planes, ratio: Vector, raised: float) -> ShareFactor:
        """The factor of the second derivative of f plus `ratio` on the diagonal, with the sum of shares held."""
        return self.softened(planes, 1.0 / np.maximum(ratio, TUNING.damping * self.unit), raised)

    def softened(self, planes: Planes, give: Vector, raised: float = 0.0) -> ShareFactor:
        """The same, by what shares give way by."""
        soft, arranged = 1.0 / planes.curvature[np.concatenate([self.plain, self.given])], self.arranged
        if len(self.given):
            arranged = arranged.revalued(_stacked(self.rows, self._bent(planes.bent[self.given])))
        return ShareFactor(arranged, give, soft, raised)

    def _bent(self, ratio: Vector) -> SparseRows:
        """The directions in which terms with a condition bend: the joint event less the ratio times the condition."""
        return self.joint.with_values(self.joint.value - ratio[self.joint.row] * self.condition.value)


def _stacked(first: SparseRows, second: SparseRows) -> SparseRows:
    """All rows of one and then of the other."""
    row = np.concatenate([first.row, first.n_rows + second.row])
    place, value = np.concatenate([first.place, second.place]), np.concatenate([first.value, second.value])
    return SparseRows(row, place, value, first.n_rows + second.n_rows)


def world_shares(part: Merged, objective: Objective, listed: ListedWorlds) -> ListedShares | None:
    """The program of listed worlds; None if too many events meet in them."""
    plain, given = np.flatnonzero(objective.certain), np.flatnonzero(~objective.certain)
    count, about = listed.events.counts(), objective.joint[plain]
    plain = plain[np.lexsort([count[about], _families(part)[about]])]
    made = _compared(listed.events.take(objective.joint[plain]))
    conditions = _conditions(objective, listed, given)
    if made is None or conditions is None:
        return None
    rows, follows = made
    size, later = len(objective), np.flatnonzero(follows)
    differences = SparseRows(
        np.concatenate([np.arange(size), later]),
        np.concatenate([np.arange(size), later - 1]),
        np.concatenate([np.ones(size), np.full(len(later), -1.0)]),
        size,
    )
    arranged = bordered(_stacked(rows, conditions[1]), differences, len(listed))
    if arranged is None:
        return None
    return ListedShares(
        objective=objective,
        listed=listed,
        plain=plain,
        runs=_runs(follows),
        rows=rows,
        arranged=arranged,
        given=given,
        joint=conditions[0],
        condition=conditions[1],
    )


def _conditions(objective: Objective, listed: ListedWorlds, given: Indices) -> tuple[SparseRows, SparseRows] | None:
    """The truth of joint events and of conditions where conditions hold; None if that is in too many worlds."""
    joint, condition = (_side_runs(listed.events, sides[given]) for sides in (objective.joint, objective.condition))
    if int(condition.counts().sum()) > TUNING.most_entries:
        return None
    row, place, value = condition.stretches().entries()
    own, world, _ = joint.stretches().entries()
    both = np.isin(row * len(listed) + place, own * len(listed) + world)
    return SparseRows(row, place, both.astype(np.float64), len(given)), SparseRows(row, place, value, len(given))


def _side_runs(events: EventRuns, sides: Indices) -> EventRuns:
    """The runs of events, of complements of events, or of certainty."""
    zero, end = np.zeros(1, np.int64), np.full(1, events.n_worlds)
    every = EventRuns(zero, zero, end, n_events=1, n_worlds=events.n_worlds)
    return events.beside(events.complement()).beside(every).take(sides)


def _compared(events: EventRuns) -> tuple[SparseRows, Mask] | None:
    """The truth of events as rows, and which of them go by the difference from the one before.

    Of the others, those that mostly hold go by their complement. None if the rows have too many entries.
    """
    count, differences = events.counts(), events.compared()
    apart = differences.lengths(events.n_events)
    follows = apart < np.minimum(count, events.n_worlds - count)
    follows[:1] = False
    turned = ~follows & (2 * count > events.n_worlds)
    if int(np.where(follows, apart, np.minimum(count, events.n_worlds - count)).sum()) > TUNING.most_entries:
        return None
    others = events.complement().stretches()
    parts = [
        differences.kept(follows).entries(),
        events.stretches().kept(~follows & ~turned).entries(),
        others.negated().kept(turned).entries(),
    ]
    row, place, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return SparseRows(row, place, value, events.n_events), follows


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
        factor = program.softened(planes, give)
        if not factor.is_positive:
            return None
        change = factor.solve(-gradient)
        if not (length := float(np.abs(change).max())) < moved:
            break
        z, moved = z + change, length
        if moved <= TUNING.settled:
            break
    return z, program.model(z)[0]
