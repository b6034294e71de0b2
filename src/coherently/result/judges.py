"""Each judge made coherent on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.engine import opened
from coherently.note_log import log_notes
from coherently.problem import KERNELS, find_loss, pose_individually, settled, unit_of
from coherently.result.notes import pins_in_conflict
from coherently.solve import Auto, Coherence, InfeasiblePinsError, Status, choose
from coherently.solve.budget import asked_budget
from coherently.solve.methods.auto import LARGEST, locally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.engine import Engine
    from coherently.panel import Panel, Progress
    from coherently.problem import Loss, Problem
    from coherently.solve import Component, Method, Signal, Solution

NEAREST, OPEN, FAR, LOCAL = range(4)
"""What is known about a component: proved to be nearest, perhaps not nearest, perhaps far, or coherent in groups."""
ROUNDING = 1e-6
"""Forecasts count as the nearest if the gap, relative to the objective or 1, is at most this, as in `co.Exact`."""
NEAR = 1.05
"""Locally coherent forecasts are preferred if coherent ones may be more than this many times as far as the nearest."""
SHOWN = 5
"""Maximum number of judges that a note names."""


def individual(
    panel: Panel,
    method: str | Method = "auto",
    loss: str | Loss = "brier",
    *,
    time_limit: float | None = None,
    tolerance: float | None = None,
    seed: int | None = None,
    over: str | None = None,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Panel:
    """Give the panel with each judge's forecasts replaced by coherent ones, made from that judge's forecasts only.

    By default they are the nearest coherent ones. If these are not found within 10 seconds, the panel's `notes` name
    the judges whose forecasts may not be the nearest, and those whose forecasts are coherent only within groups of
    events. The paper's algorithm is `individual(panel, "projections")`, the nearest locally coherent
    forecasts are `individual(panel, "dykstra")`; both may leave contradictions between groups, and a note says so.
    The other options are as in `co.aggregate`.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Chris", "p", 0.95), ("Chris", "q", 0.0), ("Chris", "p & q", 0.6)])
    >>> individual(panel).probability.round(6).tolist()
    [0.95, 0.3, 0.3]
    """
    chosen = choose(method, time_limit=time_limit, tolerance=tolerance, seed=seed, over=over)
    problem = pose_individually(settled(panel), find_loss(loss), unit_of(panel.weight))
    try:
        with opened(engine) as executor:
            solution = chosen.solve(problem, asked_budget(progress, cancel, executor))
    except InfeasiblePinsError as error:
        raise pins_in_conflict(panel, error.pins) from None
    label = problem.merged.components()
    known, value = _known(solution, label), solution.value
    far = known[label] == FAR
    if isinstance(chosen, Auto) and far.any() and _has_groups(problem):
        part, way = problem.keep(far)
        value = way.back(locally(part).value, value)
        known[known == FAR] = LOCAL
    notes = _notes(panel, known, _owners(problem, label))
    if solution.coherence is Coherence.NONE:
        notes = [f"averaged, not made coherent, by the method {chosen.name}: each event on its own"]
    log_notes(notes)
    return replace(panel, probability=value[problem.forecasts.unit], notes=(*panel.notes, *notes))


def _has_groups(problem: Problem) -> bool:
    """Whether the problem can be solved locally."""
    return problem.loss.is_quadratic or (type(problem.loss) in KERNELS and not len(problem.merged.terms))


def _known(solution: Solution, label: NDArray[np.int32]) -> NDArray[np.int64]:
    """What is known about each component."""
    # Globally coherent forecasts of a method that converged were not meant to be the nearest.
    own_way = solution.status is Status.CONVERGED and solution.coherence is Coherence.GLOBAL
    size, parts = np.bincount(label), () if own_way else solution.components
    known = np.full(len(size), LOCAL if solution.coherence is Coherence.LOCAL else NEAREST)
    if parts:
        # If some components are local (those beyond the limit of `Auto`), they come first.
        order = (
            np.argsort(size <= LARGEST, kind="stable")
            if solution.coherence is Coherence.LOCAL
            else np.arange(len(size))
        )
        known[order] = [_state(part) for part in parts]
    return known


def _state(part: Component) -> int:
    if part.coherence is Coherence.LOCAL:
        return LOCAL
    if part.objective - part.lower_bound <= ROUNDING * max(1.0, part.objective):
        return NEAREST
    return OPEN if part.objective <= NEAR * part.lower_bound else FAR


def _owners(problem: Problem, label: NDArray[np.int32]) -> NDArray[np.int64]:
    """The judge of each component: no two judges have one in common."""
    joint = problem.merged.terms.conditionals.joint.coordinate
    coordinate = problem.coordinate.astype(np.int64)
    coordinate[problem.conditional] = joint[coordinate[problem.conditional]]
    owner = np.zeros(int(label.max(initial=-1)) + 1, np.int64)
    owner[label[coordinate]] = problem.owner
    return owner


def _notes(panel: Panel, known: NDArray[np.int64], owner: NDArray[np.int64]) -> list[str]:
    local = np.unique(owner[known == LOCAL])
    unproved = np.setdiff1d(owner[(known == OPEN) | (known == FAR)], local)
    notes = []
    if len(local):
        notes.append(f"coherent only within groups of events, which may contradict each other: {_named(panel, local)}")
    if len(unproved):
        notes.append(
            f"coherent, but not proved to be the nearest within the time limit: {_named(panel, unproved)}; "
            "co.individual(panel, co.Exact(time_limit=...)) may take longer"
        )
    return notes


def _named(panel: Panel, judges: NDArray[np.int64]) -> str:
    more = f" and {len(judges) - SHOWN:,} more" if len(judges) > SHOWN else ""
    return ", ".join(panel.judges[i] for i in judges[:SHOWN].tolist()) + more
