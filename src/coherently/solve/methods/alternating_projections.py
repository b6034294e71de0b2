"""Alternating projections: the paper's algorithm, and the solution of the relaxed problem that it approximates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from coherently import _core
from coherently.engine.threads import count_threads
from coherently.errors import MethodError
from coherently.problem import (
    KERNELS,
    SHARING,
    attach,
    distance,
    find_design,
    with_auxiliary,
    with_points,
    without_weightless,
)
from coherently.solve.budget import Budget
from coherently.solve.facts import Promise, Status
from coherently.solve.measure import UNMOVED
from coherently.solve.relaxed.bregman import BregmanRun
from coherently.solve.relaxed.certificate import relaxed_bound
from coherently.solve.relaxed.colours import Colours, Order, by_order
from coherently.solve.relaxed.interior import interior_point
from coherently.solve.relaxed.pairs import Relaxed, fits, solve_pairwise
from coherently.solve.relaxed.recovered import remark, written
from coherently.solve.solution import Local, Trace, promised
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.problem import Attached, Design, Problem

Correction: TypeAlias = Literal["none", "dykstra"]


@dataclass(frozen=True, slots=True)
class ProjectionTuning:
    """When alternating projections count as done, and which way Dykstra's answer is found."""

    coherent: float = 1e-7
    """Violations of a group up to this count as none, even if the tolerance is smaller."""
    patience: int = 200
    """Number of sweeps of Dykstra's algorithm before the interior point method takes over."""
    largest_interior: int = 300_000
    """Maximum number of truth vectors, over all groups, for which the interior point method finishes the work."""
    few: int = 20_000
    """Maximum number of truth vectors for which it does all of it."""
    wide: int = 64
    """If a group has at least this many events, closed forms, or one projection if groups are disjoint, come first: the
    interior point method solves dense systems of this size."""
    small: int = 5_000
    """Up to this many coordinates the fast answer is accepted only at rounding accuracy, because a gap g leaves errors
    of sqrt(g)."""
    exact: float = 1e-13
    """Relative gaps below this are rounding."""


TUNING = ProjectionTuning()


@dataclass(frozen=True, slots=True)
class AlternatingProjections(Viewed):
    """Projects the forecasts on one group's coherent set after the other.

    Without correction this is Table 4 of Predd, Kulkarni, Poor and Osherson (2006): its limit is locally
    coherent and no worse in any possible world, but depends on the order of the groups, which is that in which
    their complex events first appear. With `correction="dykstra"` the answer is *the* nearest locally coherent
    one, with a lower bound that proves it: found by Dykstra's algorithm, or faster by other means.

    `groups` names the design (singletons, logical, pairs, triples, cliques or global) or is a function that makes
    one; with `auxiliary` groups also share the variables that nobody forecast. `sweeps` limits the passes over the
    groups. The loop ends when no probability moves by more than `tolerance`, Dykstra's when the gap between objective
    and bound is at most `tolerance` relative to the objective. An event whose forecasts all have weight 0 is in
    no group and gets no number (NaN), except in Dykstra's answer under the Brier loss, which gives it a probability
    that is coherent with the others.

    Groups know the possible worlds: each law and each declared variable is a group of its own in every design but
    `singletons`, and a law binds the groups that have all of its variables. A conditional forecast p of E given H
    counts by the linearised distance, N (P(E & H) - p P(H))^2; it belongs to a group with all events about its
    variables, and its answer is P(E & H) / P(H). Pins are groups too. The loop leaves out pins of unforecast
    events, and replaces an interval by its point nearest to the other forecasts; with correction an interval loses
    nothing inside. With any of these there is no guaranteed improvement.

    `trace` keeps the answer after every sweep. Independent components are solved on `threads` threads (0: one per
    processor), with the same answer. With `order="colours"` a sweep projects sets of disjoint groups at the same time,
    one set after the other; without correction that order has its own limit, which no number of threads changes.

    >>> import coherently as co
    >>> rows = [("A", "p", 0.2), ("A", "q", 0.3), ("A", "p & q", 0.5), ("A", "p | q", 0.9)]
    >>> paper = co.aggregate(co.Panel.from_records(rows), co.AlternatingProjections(sweeps=1000))
    >>> [round(paper.probability(event), 6) for event in ("p", "q", "p & q", "p | q")]
    [0.411111, 0.411111, 0.333333, 0.822222]
    >>> nearest = co.aggregate(co.Panel.from_records(rows), co.AlternatingProjections(correction="dykstra"))
    >>> [round(nearest.probability(event), 6) for event in ("p", "q", "p & q", "p | q")]
    [0.4, 0.4, 0.4, 0.8]
    """

    from_means: ClassVar[bool] = True

    groups: Design = "logical"
    correction: Correction = "none"
    sweeps: int = 1000
    tolerance: float = 1e-9
    auxiliary: bool = False
    trace: bool = False
    threads: int = 0
    order: Order = "appearance"

    def __post_init__(self) -> None:
        find_design(self.groups)
        if self.order not in ("appearance", "colours"):
            raise MethodError(f"order is {self.order!r}; it may be appearance or colours")
        if self.correction not in ("none", "dykstra"):
            raise MethodError(f"correction is {self.correction!r}; it may be none or dykstra")
        if self.correction == "none" and (self.auxiliary or self.groups in SHARING):
            what = "auxiliary" if self.auxiliary else f"the design {self.groups}"
            raise MethodError(
                f"{what} needs correction='dykstra' (the method dykstra): the loop knows forecast events only"
            )
        if self.sweeps < 1:
            raise MethodError(f"sweeps is {self.sweeps}; it must be 1 or more")
        count_threads(self.threads)
        if not 0 <= self.tolerance < math.inf:
            raise MethodError(f"tolerance is {self.tolerance}; it must be a number of 0 or more")

    @property
    def name(self) -> str:
        """The name of the method."""
        return "projections" if self.correction == "none" else "dykstra"

    @property
    def exceptions(self) -> frozenset[Promise]:
        """The loop without correction depends on the order of its groups."""
        return frozenset({Promise.IGNORES_ORDER}) if self.correction == "none" else frozenset()

    def traced(self) -> AlternatingProjections:
        """The same with a trace, if keeping one changes nothing else: without correction."""
        return replace(self, trace=self.trace or self.correction == "none")

    def solve(self, problem: Problem, budget: Budget | None = None) -> Local:
        """Answer the problem; a stop gives the answer so far."""
        merged, budget = problem.merged, budget or Budget()
        brier, corrected = problem.loss.is_quadratic, self.correction == "dykstra"
        if not brier:
            _require_known_loss(problem)
        if brier and corrected and not self.trace and fits(merged, self.groups):
            found = solve_pairwise(
                merged, self.groups, self.tolerance, self.threads, auxiliary=self.auxiliary, budget=budget
            )
            found = _without_rounding(found, merged.weight, merged.mean)
            enough = TUNING.exact if len(merged) <= TUNING.small else max(TUNING.exact, self.tolerance)
            if _is_close(found, enough) or budget.is_over():
                value, stopped = problem.as_written(found.x), budget.is_over()
                return _wrap(
                    problem, found, str(self.groups), 0.0, value=value, tolerance=self.tolerance, interrupted=stopped
                )
        if not (corrected and brier) and np.any(merged.weight == 0) and not len(merged.terms):
            return self._without_weightless(problem, budget)
        if not corrected:
            merged = with_points(merged)
        design = find_design(self.groups)
        groups = with_auxiliary(design, merged) if self.auxiliary else design(merged)
        if not brier:
            if groups.auxiliary:
                raise MethodError(f"events that nobody forecast need the loss brier, not {problem.loss.name}")
            ordered = by_order(self.order, groups, len(merged), self.threads)
            run = BregmanRun(problem, *ordered, corrected=corrected, tolerance=self.tolerance)
            return run.solve(self.sweeps, budget, traced=self.trace)
        attached = attach(merged, groups)
        if not corrected:
            attached = without_weightless(attached)
        groups, colours = by_order(self.order, attached.groups, len(attached.weight), self.threads)
        sweeps = _Sweeps(problem, replace(attached, groups=groups), colours, traced=self.trace, corrected=corrected)
        return self._dykstra(sweeps, budget) if corrected else self._loop(sweeps, budget)

    def _without_weightless(self, problem: Problem, budget: Budget) -> Local:
        """The loop ignores events whose forecasts have weight 0: they stay NaN and are in no group."""
        part, way = problem.keep(problem.merged.weight > 0)
        solution = self.solve(part, budget)
        trace = solution.trace and replace(solution.trace, value=way.back(solution.trace.value))
        return replace(solution, value=way.back(solution.value), trace=trace)

    def _loop(self, run: _Sweeps, budget: Budget) -> Local:
        moved, violation, status = 0.0, math.inf, Status.SWEEP_LIMIT
        x = run.start()
        for sweep in range(self.sweeps):
            if budget.is_stopped:
                status = Status.INTERRUPTED
                break
            before = x.copy()
            moved += run.projector.sweep(x)
            run.note(x)
            budget.tell((sweep + 1) / self.sweeps)
            if np.abs(x - before).max(initial=0.0) > self.tolerance:
                continue
            # Groups that pins keep from ever agreeing stop moving too, so the violation decides.
            violation = run.projector.violation(x)
            if violation <= max(self.tolerance, TUNING.coherent):
                status = Status.CONVERGED
                break
        return Local(
            run.written(x),
            status,
            objective=run.objective(x),
            guaranteed_improvement=None if len(run.problem.merged.terms) else run.problem.scatter + moved,
            groups=run.groups.design,
            sweeps=run.sweeps,
            violation=violation if status is Status.CONVERGED else run.projector.violation(x),
            trace=run.trace(),
            note=run.note_for(x),
            conditionals=run.form(),
        )

    def _dykstra(self, run: _Sweeps, budget: Budget) -> Local:
        groups = run.groups
        x, increments = run.start(), np.zeros(len(groups.members))
        vectors = sum(len(groups.patterns[i]) for i in groups.pattern.tolist())
        small = vectors <= TUNING.largest_interior
        weightless = bool(np.any(run.weight[groups.members] == 0))
        if weightless and not small:
            raise MethodError(
                f"the design {groups.design} makes {vectors:,} truth vectors with events of no weight; "
                f"{TUNING.largest_interior:,} is the maximum: choose the groups logical or pairs, without auxiliary"
            )
        if not weightless and not self.trace and run.projector.violation(x) <= TUNING.exact:
            return self._finish(run, Relaxed(x, run.objective(x), 0.0, 0), 0.0)
        disjoint = len(np.unique(groups.members)) == len(groups.members)
        wide = int(np.diff(groups.starts).max(initial=0)) > TUNING.wide and (disjoint or run.projector.is_quick())
        direct = weightless or (vectors <= TUNING.few and not self.trace and not wide)
        limit = 0 if direct else min(self.sweeps, TUNING.patience) if small else self.sweeps
        for sweep in range(1, limit + 1):
            if budget.is_stopped:
                break
            run.projector.dykstra(x, increments)
            run.note(x)
            budget.tell(sweep / self.sweeps)
            if sweep % 10 == 0 or sweep == 1:
                found, violation = run.judge(x, increments), run.projector.violation(x)
                if _is_close(found, TUNING.exact) and violation <= TUNING.exact:
                    return self._finish(run, found, violation)
                strict = 0.1 * self.tolerance
                if _is_close(found, strict) and violation <= strict and sweep > 1:
                    break
        if small and not budget.is_stopped:
            return self._interior(run, budget)
        found = run.judge(x, increments)
        if budget.is_stopped:
            # Before the sweeps have settled, coordinates of intervals and conditionals do not follow their events'.
            x = run.attached.completed(x)
            found = replace(found, x=x, objective=run.objective(x))
        return self._finish(run, found, run.projector.violation(x), interrupted=budget.is_stopped)

    def _interior(self, run: _Sweeps, budget: Budget) -> Local:
        inner = interior_point(run.weight, run.target, run.groups, budget)
        bound = relaxed_bound(run.weight, run.target, run.groups, inner.forces)
        x = run.attached.completed(inner.x)
        found = Relaxed(x, run.objective(x), bound, run.sweeps + inner.iterations)
        return self._finish(run, found, run.projector.violation(x), interrupted=budget.is_stopped)

    def _finish(self, run: _Sweeps, found: Relaxed, violation: float, *, interrupted: bool = False) -> Local:
        found = _without_rounding(found, run.weight, run.target)
        what = run.problem, found, run.groups.design, violation, run.written(found.x), self.tolerance
        solution = _wrap(*what, interrupted=interrupted)
        return replace(solution, trace=run.trace(), note=run.note_for(found.x), conditionals=run.form())


def _require_known_loss(problem: Problem) -> None:
    """Refuse a loss other than Brier's for which there are no projections."""
    if type(problem.loss) not in KERNELS:
        known = ", ".join(kind.name for kind in KERNELS)
        raise MethodError(f"projections know the losses {known}, not {problem.loss.name}; use the method exact")
    if len(problem.merged.terms):
        raise MethodError(
            f"projections know conditionals, intervals and pins under the loss brier, not {problem.loss.name}; use "
            f"the method exact"
        )


class _Sweeps:
    """The projector of a problem's groups, auxiliary coordinates included, and the notes of a run."""

    def __init__(
        self, problem: Problem, attached: Attached, colours: Colours | None, *, traced: bool, corrected: bool
    ) -> None:
        self.problem, self.attached, self.traced, self.corrected = problem, attached, traced, corrected
        self.groups, self.weight, self.target = attached.groups, attached.weight, attached.target
        groups = self.groups
        self.projector = _core.GroupProjector(
            *(groups.starts, groups.members, groups.pattern, list(groups.patterns), self.weight),
            *(() if colours is None else (colours.starts, colours.threads)),
        )
        self.sweeps = -1
        self.noted: list[Vector] = []
        self.violations: list[float] = []
        self.note(self.start())

    def start(self) -> Vector:
        return np.where(self.weight > 0, self.target, 0.5)

    def objective(self, x: Vector) -> float:
        return self.attached.objective(x) if self.corrected else distance(self.problem.merged, self.attached, x)

    def known(self, x: Vector) -> Vector:
        """The answer without the coordinates that the loop ignores."""
        return x if self.corrected else np.where(self.weight > 0, x, np.nan)

    def written(self, x: Vector) -> Vector:
        return written(self.problem, self.attached, self.known(x))

    def form(self) -> str | None:
        """What conditional forecasts lose."""
        return "linearised" if len(self.problem.merged.terms.conditionals) else None

    def note_for(self, x: Vector) -> str | None:
        said = remark(self.attached, self.known(x), corrected=self.corrected)
        if self.corrected or not len(self.problem.merged.terms.intervals):
            return said
        points = "Intervals entered as points: of each, the one nearest to the mean of the other forecasts."
        return f"{said} {points}" if said else points

    def note(self, x: Vector) -> None:
        self.sweeps += 1
        if self.traced:
            self.noted.append(x.copy())
            self.violations.append(self.projector.violation(x))

    def trace(self) -> Trace | None:
        if not self.traced:
            return None
        return Trace(
            np.stack([self.written(x) for x in self.noted]),
            np.array([self.objective(x) for x in self.noted]),
            np.array(self.violations),
        )

    def judge(self, x: Vector, increments: Vector) -> Relaxed:
        """How good Dykstra's x is, by the bound that its increments give."""
        forces = -2 * self.weight[self.groups.members] * increments
        return Relaxed(x, self.objective(x), relaxed_bound(self.weight, self.target, self.groups, forces), self.sweeps)


def _wrap(
    problem: Problem,
    found: Relaxed,
    design: str,
    violation: float,
    value: Vector,
    tolerance: float,
    *,
    interrupted: bool = False,
) -> Local:
    """An answer of the relaxed problem, and what it promises."""
    bound = min(found.lower_bound, found.objective)
    gap = found.objective - bound
    slack = 2 * math.sqrt(gap * problem.merged.weight.sum()) + gap
    close = _is_close(found, max(tolerance, TUNING.coherent)) and violation <= max(tolerance, TUNING.coherent)
    status = Status.CONVERGED if close else Status.INTERRUPTED if interrupted else Status.SWEEP_LIMIT
    promise = promised(problem.scatter + (0.0 if found.objective == 0 else bound - slack))
    return Local(
        value,
        status,
        objective=found.objective,
        lower_bound=bound,
        guaranteed_improvement=None if len(problem.merged.terms) else promise,
        groups=design,
        sweeps=found.sweeps,
        violation=violation,
    )


def _without_rounding(found: Relaxed, weight: Vector, target: Vector) -> Relaxed:
    """The answer, or the forecasts themselves if it differs from them only by rounding: these lose in no world."""
    known = weight > 0
    if np.abs(found.x - target)[known].max(initial=0.0) > UNMOVED:
        return found
    return replace(found, x=np.where(known, target, found.x), objective=0.0, lower_bound=0.0)


def _is_close(found: Relaxed, tolerance: float) -> bool:
    """Whether the bound proves the objective; an objective below its bound is not better but infeasible."""
    return abs(found.objective - found.lower_bound) <= tolerance * max(1.0, found.objective)
