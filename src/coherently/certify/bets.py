"""Forecasts as bets: what can be traded at which price, and which bets hang together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import PanelError
from coherently.events import CERTAIN
from coherently.panel import Panel
from coherently.problem import pose, pose_individually, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.problem import Merged, Problem

Key: TypeAlias = str | tuple[str, str]
"""The name of a bet: its event, or its judge and its event; " #2" marks a second forecast of the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Bets:
    """Bets of one unit, an entry each: `panel` holds them as forecasts of weight 1, its probabilities are the prices.

    `source` is the panel whose weighted means they are, if they are means. `coordinate` and `complemented` lead to
    `merged`, the distinct events behind them.
    """

    panel: Panel
    source: Panel | None
    merged: Merged
    coordinate: NDArray[np.int32]
    complemented: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.panel)

    @property
    def price(self) -> NDArray[np.float64]:
        """What one unit costs: the forecast."""
        return self.panel.probability

    @property
    def side(self) -> NDArray[np.int32]:
        """The side of each bet's event."""
        return self.panel.written.event[self.panel.event_index]

    def text(self, bet: int) -> str:
        """The event of a bet, as first written."""
        return self.panel.written.text[int(self.panel.event_index[bet])]

    def keys(self, *, with_judges: bool) -> list[Key]:
        """Name the bets, apart from each other."""
        panel = self.panel
        seen: Counter[tuple[int, int]] = Counter()
        keys: list[Key] = []
        for judge, event in zip(panel.judge_index.tolist(), panel.event_index.tolist(), strict=True):
            same = (judge if with_judges else 0, event)
            seen[same] += 1
            text = panel.written.text[event] + (f" #{seen[same]}" if seen[same] > 1 else "")
            keys.append((panel.judges[judge], text) if with_judges else text)
        return keys

    def exact(self, values: NDArray[np.float64], bets: Sequence[int]) -> list[Fraction]:
        """The values of some bets as the decimal numbers that their forecasts were written as.

        `values` has an entry a forecast: of `source`, whose weighted means are taken, or of the bets themselves.
        """
        if self.source is None:
            return [decimal(values[bet]) for bet in bets]
        order = np.argsort(self.source.event_index, kind="stable")
        starts = np.searchsorted(self.source.event_index[order], np.arange(len(self.source.written) + 1))
        found = self.panel.event_index[np.asarray(bets, np.int64)].tolist()
        return [_exact_mean(values, self.source.weight, order[starts[event] : starts[event + 1]]) for event in found]

    def take(self, bets: NDArray[np.int64]) -> Bets:
        """Some of the bets alone, at their prices."""
        return _bets(replace(self.panel.select(bets), notes=()), None)


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Bets whose events share variables, directly or through others: `bets` are their numbers among all bets.

    `coordinate` and `complemented` lead from each bet to `part`; `variables` are the panel's variables behind those of
    `part`.
    """

    bets: NDArray[np.int64]
    part: Merged
    coordinate: NDArray[np.int64]
    complemented: NDArray[np.bool_]
    variables: NDArray[np.int32]

    def on_bets(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Carry values of coordinates to the bets."""
        value = x[self.coordinate]
        return np.where(self.complemented, 1.0 - value, value)

    def on_coordinates(self, stakes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the stakes on each coordinate, those on its complement taken off."""
        signed = np.where(self.complemented, -stakes, stakes)
        return np.bincount(self.coordinate, signed, len(self.part)).astype(np.float64)

    def only(self, kept: NDArray[np.bool_]) -> Cluster:
        """Some of the bets alone, over the same variables."""
        used = np.zeros(len(self.part), np.bool_)
        used[self.coordinate[kept]] = True
        number = np.cumsum(used) - 1
        return Cluster(
            self.bets[kept],
            self.part.keep(used),
            number[self.coordinate[kept]],
            self.complemented[kept],
            self.variables,
        )


def bets_at_forecasts(panel: Panel) -> Bets:
    """Each forecast of the panel, a bet."""
    return _bets(panel, None)


def bets_at_means(panel: Panel) -> Bets:
    """Each event as written, a bet at the weighted mean of its forecasts."""
    problem = pose(panel)
    count = len(panel.written)
    low, high = (_means(panel, problem, column) for column in (panel.lower, panel.upper))
    priced = replace(
        panel,
        judges=("panel",),
        judge_index=np.zeros(count, np.int32),
        event_index=np.arange(count, dtype=np.int32),
        probability=problem.mean,
        weight=np.ones(count),
        lower=low,
        upper=high,
        time=None,
    )
    return _bets(priced, panel)


def bets_of_judges(panel: Panel) -> Bets:
    """Each forecast of the panel, a bet; the bets of different judges have nothing to do with each other."""
    return _with(panel, None, pose_individually(replace(panel, weight=np.ones(len(panel)))))


def usable(panel: Panel) -> tuple[Panel, tuple[str, ...]]:
    """The forecasts that can be bet on, and notes about those that cannot."""
    if not isinstance(panel, Panel):
        raise PanelError(f"forecasts come in a Panel, not a {type(panel).__name__}; see Panel.from_records")
    conditional = panel.written.condition[panel.event_index] != CERTAIN
    weightless = ~conditional & (panel.weight == 0)
    notes = []
    if n := int(conditional.sum()):
        notes.append(f"conditional forecasts (E given H) left out, since they cannot be checked yet: {n:,}")
    if n := int(weightless.sum()):
        notes.append(f"forecasts of weight 0 left out: {n:,}")
    return (panel.select(~conditional & ~weightless) if notes else panel), tuple(notes)


def clusters_of(bets: Bets) -> list[Cluster]:
    """The clusters that could be incoherent: a single bet on an event that is neither certain nor impossible is not."""
    merged = bets.merged
    component = merged.components() if len(merged) else np.zeros(0, np.int32)
    constant = merged.sizes() == 0
    count = np.bincount(component[bets.coordinate], minlength=int(component.max(initial=-1)) + 1)
    kept = (count[component] > 1) | constant
    number = np.cumsum(kept) - 1
    parts = split(merged.keep(kept)) if kept.any() else []
    home = np.empty((int(kept.sum()), 2), np.int64)
    for c, part in enumerate(parts):
        home[part.coordinates, 0] = c
        home[part.coordinates, 1] = np.arange(len(part.coordinates))
    own = np.flatnonzero(kept[bets.coordinate])
    place = home[number[bets.coordinate[own]]]
    order = np.argsort(place[:, 0], kind="stable")
    cuts = np.searchsorted(place[order, 0], np.arange(len(parts) + 1)).tolist()
    return [
        Cluster(
            own[order[a:b]],
            part.merged,
            place[order[a:b], 1],
            bets.complemented[own[order[a:b]]],
            merged.origin[part.merged.origin],
        )
        for part, a, b in zip(parts, cuts[:-1], cuts[1:], strict=True)
    ]


def truth_of(bets: Bets, cluster: Cluster, worlds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which of the cluster's bets are won in worlds of its variables: a row a world."""
    full = np.zeros((len(worlds), len(bets.panel.events.variables)), np.bool_)
    full[:, cluster.variables] = worlds
    return bets.panel.events.evaluate(bets.side[cluster.bets], full)


def decimal(value: float) -> Fraction:
    """The shortest decimal number that reads as this float: what a person wrote.

    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(value)))


def _bets(panel: Panel, source: Panel | None) -> Bets:
    return _with(panel, source, pose(replace(panel, weight=np.ones(len(panel)))))


def _with(panel: Panel, source: Panel | None, problem: Problem) -> Bets:
    unit = problem.unit
    return Bets(panel, source, problem.merged, problem.coordinate[unit], problem.complemented[unit])


def _means(panel: Panel, problem: Problem, column: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The weighted mean of a column for each event, the forecast standing in where it is not given."""
    if column is None:
        return None
    values = np.where(np.isnan(column), panel.probability, column)
    total = np.bincount(panel.event_index, panel.weight * values, len(panel.written))
    mean: NDArray[np.float64] = total / problem.weight
    return mean


def _exact_mean(values: NDArray[np.float64], weight: NDArray[np.float64], rows: NDArray[np.int64]) -> Fraction:
    weights = [decimal(w) for w in weight[rows].tolist()]
    terms = (w * decimal(v) for w, v in zip(weights, values[rows].tolist(), strict=True))
    return sum(terms, Fraction(0)) / sum(weights, Fraction(0))
