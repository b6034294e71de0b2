"""Resolved events in blocks, each a component or cluster, and blocks in folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem import components_of
from coherently.scoring.event_clusters import joined

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.panel import Panel
    from coherently.problem import Problem

FOLDS = 5
"""Number of folds."""
NO_TIME = FOLDS
"""The fold, over time, of components that are neither before nor after others: the time of a forecast is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedEvents:
    """The resolved events as written, by index, with their outcomes, weights, and places.

    The `weight` of an event is its part of the mean over judges of their mean scores; the weights sum to 1. `component`
    has the component of every event as written (those of one cluster together), `block` the place of each resolved
    one among the components with resolved events; `fold` has the fold of each block. With `by_time`, folds are in
    the order of last forecasts, and equal times are in one fold.
    """

    event: Indices
    outcome: Vector
    weight: Vector
    component: Indices
    block: Indices
    fold: Indices
    by_time: bool = False

    @property
    def folds(self) -> tuple[int, ...]:
        """The folds that have events."""
        return tuple(np.unique(self.fold).tolist())

    def teachers(self, fold: int) -> tuple[int, ...]:
        """The folds that may teach for a fold: the others or, over time, the earlier ones."""
        if self.by_time:
            return tuple(k for k in self.folds if k < fold and fold != NO_TIME)
        return tuple(k for k in self.folds if k != fold)

    @property
    def untaught(self) -> int:
        """Number of resolved events for which no fold may teach."""
        alone = [k for k in self.folds if not self.teachers(k)]
        return int(np.count_nonzero(np.isin(self.fold[self.block], alone)))

    def fold_of_events(self, count: int) -> Indices:
        """The fold of each of `count` events as written, -1 for those whose component has no resolved event."""
        fold = np.full(max(count, int(self.component.max()) + 1), -1, np.int64)
        fold[self.component[self.event]] = self.fold[self.block]
        return np.where(self.component < 0, -1, fold[self.component])

    def sums(self, lost: Vector) -> Vector:
        """The weighted sum of something over the resolved events of each block."""
        return np.bincount(self.block, self.weight * lost, len(self.fold)).astype(np.float64)

    def loss(self, value: Vector) -> Vector:
        """The Brier score of probabilities of all events as written, as one sum per block."""
        return self.sums(np.square(value[self.event] - self.outcome))

    @property
    def components(self) -> int:
        """Number of components with resolved events."""
        return len(np.unique(self.component[self.event]))


def lies_in_time(panel: Panel, problem: Problem) -> bool:
    """Whether every resolved event has times, and components differ in that of their last forecast."""
    if panel.time is None:
        return False
    component = components_of(problem)
    known = (panel.written.outcome >= 0) & (component >= 0)
    labels = np.unique(component[known])
    when = last_times(panel, component, labels)
    return bool(len(labels) and np.isfinite(when).all() and len(np.unique(when)) > 1)


def make_blocks(panel: Panel, problem: Problem, *, by_time: bool, label: Indices | None = None) -> ResolvedEvents:
    """Put the components with resolved events into folds of about equal weight, or into folds in order of time.

    `label` has the cluster of each event as written, -1 for none; components that share one count as one. So do, over
    time, those of the same time: a shock of that day is in all of them.
    """
    component, outcome = joined(components_of(problem), label), panel.written.outcome
    if by_time:
        component = joined(component, time_labels(panel, component))
    known = (outcome >= 0) & (component >= 0) & (problem.weight > 0)
    weight = _weights(panel, known)
    event = np.flatnonzero(weight > 0)
    labels, number = np.unique(component[event], return_inverse=True)
    load = np.bincount(number, weight[event]).astype(np.float64)
    fold = _in_order(last_times(panel, component, labels), load) if by_time else _balanced(load, FOLDS)
    truth = outcome[event].astype(np.float64)
    return ResolvedEvents(event, truth, weight[event], component, block=number.ravel(), fold=fold, by_time=by_time)


def time_labels(panel: Panel, component: Indices) -> Indices:
    """The number of the time of the last forecast of each event's component, -1 where it is unknown."""
    labels = np.unique(component[component >= 0])
    when = last_times(panel, component, labels)
    number = np.where(np.isfinite(when), np.unique(when, return_inverse=True)[1].ravel(), -1)
    return np.where(component < 0, -1, number[np.searchsorted(labels, np.maximum(component, labels[0]))])


def _weights(panel: Panel, known: Mask) -> Vector:
    rows = known[panel.event_index] & (panel.weight > 0)
    each = np.bincount(panel.judge_index[rows], minlength=len(panel.judges))
    share = 1.0 / (each[panel.judge_index[rows]] * np.count_nonzero(each))
    return np.bincount(panel.event_index[rows], share, len(known)).astype(np.float64)


def _balanced(load: Vector, count: int) -> Indices:
    """Heaviest first, each to the place that has the least so far."""
    place, total = np.empty(len(load), np.int64), np.zeros(count)
    for i in np.argsort(-load, kind="stable"):
        place[i] = np.argmin(total)
        total[place[i]] += load[i] + 1e-12  # components of weight 0 are spread, too
    return place


def _in_order(when: Vector, load: Vector) -> Indices:
    """The fold of each component in the order of time: cut between times, never through equal ones."""
    _, number = np.unique(when, return_inverse=True)
    fold = _middles(np.bincount(number, load).astype(np.float64), FOLDS)[number]
    fold[when == np.inf] = NO_TIME
    return fold


def _middles(load: Vector, count: int) -> Indices:
    """Which of `count` equal parts of the whole load has the middle of each entry, in order."""
    middle = (np.cumsum(load) - 0.5 * load) / load.sum()
    return np.asarray(np.minimum((middle * count).astype(np.int64), count - 1))


def last_times(panel: Panel, component: Indices, labels: Indices) -> Vector:
    """The time of the last forecast of each component, infinite where that of any of its forecasts is missing."""
    assert panel.time is not None
    last = np.full(len(labels), -np.inf)
    own = component[panel.event_index]
    rows = np.isin(own, labels)
    times = np.where(np.isnan(panel.time[rows]), np.inf, panel.time[rows])
    np.maximum.at(last, np.searchsorted(labels, own[rows]), times)
    return last
