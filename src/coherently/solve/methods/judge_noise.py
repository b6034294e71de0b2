"""How much of what judges disagree about is noise: their contradictions with themselves tell."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import components_of, pose_again

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.problem import Problem
    from coherently.solve.methods.exact import Exact

MOST_JUDGES, MOST_EVENTS, LARGEST = 24, 800, 32
"""Maximum numbers of judges and of events that are looked at, and of events of one component."""
LEAST_SPREAD = 1e-9
"""Judges whose summed squared distances from their mean are below this agree, but for rounding."""
SEED, DIGITS = 0, 9
"""The seed of the noise that is made, and the digits of means by which forecasts are ordered for it."""
TOLERANCE = 1e-3
"""The tolerance of the nearest coherent forecasts of a judge: a rough share is all that is asked for."""


def noise_share(problem: Problem, exact: Exact) -> float:
    r"""The share of noise in what judges disagree about, from 0 to 1; 0 where nothing can show it.

    Judges whose answers vary by chance contradict themselves; judges with another view of the world do not. With x the
    nearest coherent forecasts to those p of one judge, and m the mean of all judges, it is the median over judges of

    $$\min\left(1, \frac{\sum (p - x)^2}{s \sum (p - m)^2}\right)$$

    for events that others answered, too, and whose components could show a contradiction. s is the part of noise that
    contradictions show: half of it in p and ~p, 1/k in a partition of k events. It is found by making noise: x plus
    normal numbers that vary as p varies around m, made coherent again, moves by the part s of what was added, for all
    judges together. (p - m)^2 counts n / (n - 1) times, if n judges answered: m has p in it. A median, since a few
    broken judges say nothing about the others. Judges and events are sampled; what is nearest is found as `exact`
    would, roughly, and within its time limit.
    """
    part = problem.keep(_sample(problem))[0]
    given, count = part.forecasts, len(part.weight)
    told = given.weight > 0
    answered = np.unique(given.judge[told].astype(np.int64) * max(count, 1) + given.unit[told])
    number = np.bincount(answered % max(count, 1), minlength=count)
    judges = _evenly(np.unique(given.judge[told]), MOST_JUDGES).tolist()
    rough = replace(exact, tolerance=TOLERANCE)
    every = [_of_judge(part, told & (given.judge == judge), number, rough) for judge in judges]
    contradicted, apart, shown, added = np.array([sums for sums in every if sums[1] > LEAST_SPREAD]).reshape(-1, 4).T
    if not shown.sum() > 0:
        return 0.0
    seen = shown.sum() / added.sum()
    return float(np.median(np.minimum(1.0, contradicted / (seen * apart))))


def _of_judge(part: Problem, rows: Mask, number: Indices, exact: Exact) -> tuple[float, float, float, float]:
    """The squared distances of a judge from coherence and from the mean of all; of noise from coherence; noise."""
    given, count = part.forecasts, len(part.weight)
    weight = np.bincount(given.unit[rows], given.weight[rows], count).astype(np.float64)
    sums = np.bincount(given.unit[rows], given.weight[rows] * given.probability[rows], count)
    p: Vector = np.divide(sums, weight, out=np.full(count, np.nan), where=weight > 0)
    own, seen = replace(part, weight=weight), _could_show(part, weight > 0, number)
    n = number[seen]
    apart = np.square(p - part.mean)[seen] * n / (n - 1.0)
    if not float(apart.sum()) > LEAST_SPREAD:
        return 0.0, 0.0, 0.0, 0.0
    x = exact.solve(pose_again(own, p)).value
    made = np.empty(count)
    # In the order of numbers, so that it does not matter in which order judges and events are read, nor whether a
    # forecast counts n times or is there n times: rounding of sums must not part what is equal.
    made[np.lexsort((part.mean.round(DIGITS), p.round(DIGITS)))] = np.random.default_rng(SEED).normal(
        0.0, np.sqrt(apart.mean()), count
    )
    noisy = np.where(weight > 0, np.clip(x + made, 0.0, 1.0), np.nan)
    again = exact.solve(pose_again(own, noisy)).value
    shown, added = (float(np.sum(np.square(noisy - y)[seen])) for y in (again, x))
    return float(np.sum(np.square(p - x)[seen])), float(apart.sum()), shown, added


def _could_show(part: Problem, told: Mask, number: Indices) -> Mask:
    """Which coordinates others answered, too, and lie in a component of several that the judge answered."""
    component = components_of(part)
    own = told & (component >= 0)
    size = np.bincount(component[own], minlength=int(component.max(initial=0)) + 1)
    return np.asarray(own & (number > 1) & (size[component] > 1))


def _sample(problem: Problem) -> Mask:
    """Which coordinates are looked at: an even sample of components, of large ones the events that come first.

    Some events of a component must be coherent as all of them must, so that cutting it hides contradictions and makes
    none.
    """
    label = problem.merged.components()
    order = np.argsort(label, kind="stable")
    size = np.bincount(label)
    place = np.empty(len(label), np.int64)
    place[order] = np.arange(len(label)) - np.repeat(np.cumsum(size) - size, size)
    step = math.ceil(max(1, np.minimum(size, LARGEST).sum()) / MOST_EVENTS)
    return np.asarray((place < LARGEST) & (label % step == 0))


def _evenly(items: Indices, most: int) -> Indices:
    return items[np.linspace(0, len(items) - 1, min(len(items), most)).astype(np.int64)]
