"""Resolved events in blocks, none of which shares a component with another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coherently.arrays import Indices, Mask, Vector
    from coherently.panel import Panel
    from coherently.problem import Problem

FOLDS, BLOCKS = 5, 20
"""Number of folds, and number of blocks of which they are made: inside a fold's training set, blocks are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedEvents:
    """The resolved events as written, by index, with their outcomes, weights, and places.

    The `weight` of an event is its part of the mean over judges of their mean scores; the weights sum to 1.
    `component` has the component of every event as written, `block` the block of each resolved one; `fold` has the fold
    of each block.
    """

    event: Indices
    outcome: Vector
    weight: Vector
    component: Indices
    block: Indices
    fold: Indices

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


def components_of(problem: Problem) -> Indices:
    """The component of each event as written, -1 where its truth is settled by logic.

    Events are tied by shared variables, laws, declared variables, conditionals and pins.
    """
    tied, given = problem.merged.tied()[: len(problem.merged)], problem.merged.terms.conditionals
    coordinate = problem.coordinate.astype(np.int64)
    coordinate[problem.conditional] = given.joint.coordinate[coordinate[problem.conditional]]
    return np.where(coordinate < 0, -1, tied[coordinate] if len(tied) else -1)


def make_blocks(panel: Panel, problem: Problem, *, by_time: bool) -> ResolvedEvents:
    """Put the components with resolved events into blocks of about equal weight, or into blocks in order of time."""
    component, outcome = components_of(problem), panel.written.outcome
    known = (outcome >= 0) & (component >= 0) & (problem.weight > 0)
    weight = _weights(panel, known)
    event = np.flatnonzero(weight > 0)
    labels, number = np.unique(component[event], return_inverse=True)
    load = np.bincount(number, weight[event]).astype(np.float64)
    if by_time:
        block = _in_order(_last_times(panel, component, labels), load)
        fold = np.arange(BLOCKS) * FOLDS // BLOCKS
    else:
        block = _balanced(load, BLOCKS)
        fold = _balanced(np.bincount(block, load, BLOCKS).astype(np.float64), FOLDS)
    return ResolvedEvents(event, outcome[event].astype(np.float64), weight[event], component, block[number], fold)


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
    order = np.argsort(when, kind="stable")
    before = np.cumsum(load[order]) - 0.5 * load[order]
    place = np.empty(len(load), np.int64)
    place[order] = np.minimum((before * BLOCKS / load.sum()).astype(np.int64), BLOCKS - 1)
    return place


def _last_times(panel: Panel, component: Indices, labels: Indices) -> Vector:
    """The time of the last forecast of each component."""
    assert panel.time is not None
    last = np.full(len(labels), -np.inf)
    own = component[panel.event_index]
    rows = np.isin(own, labels) & ~np.isnan(panel.time)
    np.maximum.at(last, np.searchsorted(labels, own[rows]), panel.time[rows])
    return last
