"""The panel's forecasts by distinct event, merged for the verifier alone: no room that solves is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.problem import Loss


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """Distinct events, an event and its complement being one, by first appearance in the panel.

    `side` and `condition` are as in `coherently.events.Reading`, of the smaller side; `weight` is the sum N of the
    weights and `mean` the mean q (of the loss) of the forecasts of both sides, turned to this one, NaN where N is 0.
    `scatter` is the sum of w (p - q)^2 with plain means q. `home` and `turned` give, for each event as written, its
    place here and whether it is the complement. The variables of event i are `variables[starts[i]:starts[i + 1]]`, and
    `component` numbers the sets of events that share no variable with others.
    """

    side: NDArray[np.int32]
    condition: NDArray[np.int32]
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: float
    home: NDArray[np.int64]
    turned: NDArray[np.bool_]
    starts: NDArray[np.int64]
    variables: NDArray[np.int32]
    component: NDArray[np.int64]

    @property
    def n_components(self) -> int:
        """The number of components."""
        return int(self.component.max(initial=-1)) + 1

    def at_home(self, written: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the events as written, turned to the sides here; the first written counts."""
        turned = np.where(self.turned, 1.0 - written, written)
        value = np.empty(len(self.side))
        value[self.home[::-1]] = turned[::-1]
        return value

    def by_component(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum an entry an event over each component."""
        return np.bincount(self.component, values, self.n_components).astype(np.float64)


def means_as_written(panel: Panel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The total weight of each event as written, and its weighted mean (NaN without weight)."""
    count = len(panel.written)
    weight = np.bincount(panel.event_index, panel.weight, count).astype(np.float64)
    return weight, _divide(np.bincount(panel.event_index, panel.weight * panel.probability, count), weight)


def merge(panel: Panel, loss: Loss) -> Distinct:
    """Merge equal events, and events with their complements.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import BRIER
    >>> found = merge(Panel.from_records([("Ann", "p", 0.6), ("Ann", "~p", 0.6), ("Bob", "q", 0.8)]), BRIER)
    >>> found.mean.tolist(), found.weight.tolist(), found.component.tolist()
    ([0.5, 0.8], [2.0, 1.0], [0, 1])
    """
    written = panel.written
    turned = written.rest < written.event
    pairs = np.stack([np.where(turned, written.rest, written.event), written.condition], axis=1)
    sorted_pairs, first, number = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    home = np.argsort(np.argsort(first))[number.ravel()]
    side, condition = sorted_pairs[np.argsort(first)].T
    own = home[panel.event_index]
    probability = np.where(turned[panel.event_index], 1.0 - panel.probability, panel.probability)
    weight = np.bincount(own, panel.weight, len(side)).astype(np.float64)
    plain = _divide(np.bincount(own, panel.weight * probability, len(side)), weight)
    mean = plain
    if loss.name != "brier":
        duals = panel.weight * loss.gradient(loss.clipped(probability))
        mean = loss.inverse(_divide(np.bincount(own, duals, len(side)), weight))
    scatter = float(np.sum(panel.weight * (probability - np.nan_to_num(plain)[own]) ** 2))
    starts, variables = panel.events.supports(side // 2)
    component = _components(starts, variables)
    return Distinct(side, condition, weight, mean, scatter, home, turned, starts, variables, component)


def _divide(sums: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    quotient: NDArray[np.float64] = np.divide(sums, weight, out=np.full(len(weight), np.nan), where=weight > 0)
    return quotient


def _components(starts: NDArray[np.int64], variables: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the components of events that share variables, by first appearance."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(starts) - 1
    nodes = count + int(variables.max(initial=-1)) + 1
    event = np.repeat(np.arange(count), np.diff(starts))
    links = coo_array((np.ones(len(event), np.int8), (event, count + variables)), shape=(nodes, nodes))
    label = connected_components(links, directed=False)[1][:count]
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    found: NDArray[np.int64] = np.argsort(np.argsort(first))[number]
    return found
