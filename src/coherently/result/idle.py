"""Worlds of the variables that no forecast is connected to: laws and pins about them hold too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.events import CERTAIN, find_world
from coherently.problem import pose, split
from coherently.solve import Global, Worlds
from coherently.solve.budget import Budget
from coherently.solve.worlds.oracle import Oracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem import Merged, Problem
    from coherently.solve import Solution


def with_idle(panel: Panel, problem: Problem, solution: Solution) -> tuple[Problem, Solution]:
    """Add parts to a solution's worlds for the variables that they do not assign, and these variables to the problem.

    Each connected component with pins is one part, a mixture that satisfies them; all other variables together are one
    part with a single world.
    """
    if not isinstance(solution, Global):
        return problem, solution
    used, count = problem.merged.origin, panel.events.n_variables
    told = solution.assigned()
    if len(told) == count:
        return problem, solution
    assigned = used[told]
    idle = np.setdiff1d(np.arange(count), assigned)
    if not len(idle):
        return problem, solution
    origin = np.concatenate([used, np.setdiff1d(idle, used)]).astype(np.int32)
    place = np.empty(count, np.int32)
    place[origin] = np.arange(len(origin))
    parts = _pinned(panel, idle)
    rest = np.setdiff1d(idle, np.concatenate([np.empty(0, np.int32), *(part.variables for part in parts)]))
    if len(rest):
        parts.append(Worlds(rest.astype(np.int32), np.ones(1), _lawful(panel, rest)[None]))
    added = [replace(part, variables=place[part.variables]) for part in parts]
    problem = replace(problem, merged=replace(problem.merged, origin=origin))
    return problem, replace(solution, worlds=(*solution.worlds, *added))


def _pinned(panel: Panel, idle: NDArray[np.integer]) -> list[Worlds]:
    """Mixtures that satisfy the pins about idle variables; their variables are those of the panel."""
    pins = panel.laws.pins
    if not len(pins):
        return []
    sides = np.stack([pins.event, pins.condition], axis=1)
    starts, members = panel.events.supports(sides.ravel() // 2)
    inside = np.append(0, np.cumsum(np.isin(members, idle)))[starts[::2]]
    about = np.unique(sides[np.diff(inside) > 0])
    about = about[about > CERTAIN]
    if not len(about):
        return []
    merged = pose(panel.select(np.empty(0, np.int64)), asking=about).merged
    return [_mixture(part.merged, merged.origin[part.merged.origin]) for part in split(merged)]


def _mixture(part: Merged, variables: NDArray[np.int32]) -> Worlds:
    """Some worlds of a component whose mixture satisfies its limits."""
    from coherently.solve.component.newton.feasible import feasible_mixture
    from coherently.solve.worlds.examples import example_worlds

    oracle = Oracle(part)
    share, worlds = feasible_mixture(part, oracle, example_worlds(part, oracle, Budget()).worlds).distinct()
    return Worlds(variables, share, worlds.astype(np.bool_))


def _lawful(panel: Panel, variables: NDArray[np.integer]) -> NDArray[np.bool_]:
    """A world of some variables; no law or declaration ties these to others."""
    events, side = panel.events, panel.laws.side
    starts, members = events.supports(side // 2)
    inside = np.append(0, np.cumsum(np.isin(members, variables)))[starts]
    choices = [choice for choice in events.choices() if np.isin(choice.atoms, variables).any()]
    world = find_world(events, side[np.diff(inside) > 0], choices)
    assert world is not None  # a panel's laws do not contradict each other
    return np.asarray(world[variables])
