"""Derivatives of an answer by its forecasts, where the active worlds stay the same (see `answer_response`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.solve.component.objective import objective_of, sides_at
from coherently.solve.implied.answer_response import FREE

if TYPE_CHECKING:
    from coherently.arrays import Mask, Vector
    from coherently.explain.influence.changed_answers import ChangedAnswers
    from coherently.problem import Loss, Merged, Problem


def force_left(part: Merged, loss: Loss, x: Vector, *, linearised: bool) -> Vector:
    """What pulls at the events of a component at x: minus the gradient of what its forecasts lose."""
    objective = objective_of(part, loss, linearised=linearised)
    planes = objective.planes(sides_at(x), 0.0)
    return -objective.coefficients(planes.by_joint, planes.by_condition)[0]


def unit_moves(problem: Problem, x: Vector, moved: Vector) -> Vector:
    """The changes of written events from those of coordinates, to first order, one column per change.

    A conditional r = u / h moves by (du - r dh) / h.
    """
    given = problem.merged.terms.conditionals
    every = moved
    if len(given):
        signed = np.vstack([moved, np.zeros((1, moved.shape[1]))])
        joint, condition = (
            np.where(side.turned, -1.0, 1.0)[:, None] * signed[side.coordinate]
            for side in (given.joint, given.condition)
        )
        ratio, chance = given.ratio(x)[:, None], given.condition.probability(x)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            turned = np.where(given.standing(x)[:, None], np.nan, (joint - ratio * condition) / chance)
        every = np.vstack([moved, turned])
    found: Vector = every[problem.coordinate + len(x) * problem.conditional]
    return np.where(problem.complemented[:, None], -found, found)


def answer_moves(answers: ChangedAnswers, component: int, force: Vector) -> Vector | None:
    """How written events move under forces on the coordinates of a component, one column per force.

    NaN where that is not determined: where an event also moves in a direction that no forecast holds. None if the
    response of the component is not known.
    """
    response = answers.response(component)
    if response is None:
        return None
    at, count = answers.index.coordinates.all([component]), len(answers.problem.merged)

    def written(moves: Vector) -> Vector:
        whole = np.zeros((count, moves.shape[1]))
        whole[at] = moves
        return unit_moves(answers.problem, answers.x, whole)

    found = written(response.to(force))
    if len(response.loose):
        found[np.abs(written(response.loose.T)).max(axis=1) > FREE] = np.nan
    return found


def mean_forces(answers: ChangedAnswers) -> tuple[Vector, Mask]:
    """For each written event, the force on the coordinates that a change of its merged forecast is, and which have one.

    A merged forecast t of weight N pulls with N phi''(t) at its event; one of E given H at u - t h; a linearised one
    with 2 N (h (1, -t) + (u - t h) (0, 1)) at (u, h).
    """
    problem, x, loss = answers.problem, answers.x, answers.problem.loss
    merged, given = problem.merged, problem.merged.terms.conditionals
    force, known = np.zeros((len(problem.written), len(merged) + 1)), np.zeros(len(problem.written), np.bool_)
    for unit in range(len(problem.written)):
        sign, k = -1.0 if problem.complemented[unit] else 1.0, int(problem.coordinate[unit])
        if not problem.conditional[unit]:
            known[unit] = merged.weight[k] > 0
            if known[unit]:
                force[unit, k] = sign * merged.weight[k] * float(loss.curvature(merged.mean[k : k + 1])[0])
            continue
        known[unit] = given.weight[k] > 0
        if not known[unit]:
            continue
        weight, t = float(given.weight[k]), float(given.mean[k])
        u, h = given.joint.probability(x)[k], given.condition.probability(x)[k]
        by_joint, by_condition = (weight * float(loss.curvature(np.array([t]))[0]) * part for part in (1.0, -t))
        if answers.method.conditionals == "linearised":
            by_joint, by_condition = 2.0 * weight * h, 2.0 * weight * (u - 2.0 * t * h)
        for side, by in ((given.joint, by_joint), (given.condition, by_condition)):
            force[unit, side.coordinate[k]] += sign * by * (-1.0 if side.turned[k] else 1.0)
    return force[:, :-1], known


def mean_derivatives(answers: ChangedAnswers) -> Vector:
    """The derivative of each written event (columns) by the merged forecast of each (rows); NaN where unknown."""
    force, known = mean_forces(answers)
    count = len(force)
    found = np.full((count, count), np.nan)
    home = answers.unit_components()
    for component in np.unique(home[known]).tolist():
        mine, at = np.flatnonzero((home == component) & known), answers.index.coordinates.all([component])
        moved = answer_moves(answers, component, force[np.ix_(mine, at)].T)
        if moved is not None:
            found[mine] = np.where(home == component, moved.T, 0.0)
    return found


def mean_derivatives_to(answers: ChangedAnswers, unit: int) -> Vector:
    """The derivative of one written event by the merged forecast of each; NaN where unknown."""
    force, known = mean_forces(answers)
    home, found = answers.unit_components(), np.where(known, 0.0, np.nan)
    mine, at = np.flatnonzero((home == home[unit]) & known), answers.index.coordinates.all([int(home[unit])])
    moved = answer_moves(answers, int(home[unit]), force[np.ix_(mine, at)].T)
    found[mine] = np.nan if moved is None else moved[unit]
    return found


def forecast_shares(answers: ChangedAnswers) -> Vector:
    """How the merged forecast of its event moves with each forecast: w phi''(p) / (N phi''(t)), under Brier w / N.

    A forecast that the loss clips, an interval and a forecast without weight move nothing.
    """
    problem, loss = answers.problem, answers.problem.loss
    merged, given, forecasts = problem.merged, problem.merged.terms.conditionals, problem.forecasts
    total, mean = np.append(merged.weight, given.weight), np.append(merged.mean, given.mean)
    place = (problem.coordinate + len(merged) * problem.conditional)[forecasts.unit]
    p = forecasts.probability
    counts = (forecasts.weight > 0) & ~forecasts.interval & (loss.clipped(p) == p)
    share = np.zeros(len(p))
    some = np.flatnonzero(counts)
    own = loss.curvature(p[some]) * forecasts.weight[some]
    share[some] = own / (total[place[some]] * loss.curvature(mean[place[some]]))
    return share
