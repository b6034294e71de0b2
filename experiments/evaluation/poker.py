"""Judgements whose true probability is known: how near each method brings them to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import coherently as co

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel

RESAMPLES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """The mean squared distance from the true probabilities, a row a method: now, and when judges are drawn again.

    Averages and aggregates are made anew in each of the draws.
    """

    methods: tuple[str, ...]
    value: NDArray[np.float64]
    draws: NDArray[np.float64]

    def interval(self, method: str, other: str | None = None) -> tuple[float, float, float]:
        """The mean over judges, or that of a difference, with its 95% interval over judges."""
        i = self.methods.index(method)
        value, draws = self.value[i], self.draws[i]
        if other is not None:
            j = self.methods.index(other)
            value, draws = value - self.value[j], draws - self.draws[j]
        low, high = np.quantile(draws, (0.025, 0.975))
        return float(value), float(low), float(high)


def nearness(panel: Panel, truth: dict[str, float]) -> Nearness:
    """Compare methods by their distance from the truth.

    The panel has laws that make its events partitions, and every judge has forecast every event once.
    """
    given, groups = _matrix(panel), _partitions(panel)
    known = np.array([truth.get(text, np.nan) for text in panel.written.text])
    alone = {
        "Raw": given,
        "Individual (normalised)": _normalised(given, groups),
        "Individual (exact)": _matrix(co.individual(panel, "exact")),
    }
    judges = len(given)
    times = np.random.default_rng(0).multinomial(judges, np.full(judges, 1 / judges), RESAMPLES) / judges
    weights = np.concatenate([np.full((1, judges), 1 / judges), times])
    mean = weights @ given
    together = {
        "Linear average": mean,
        "Linear average (normalised)": _normalised(mean, groups),
        "Aggregate (exact)": _nearest(mean, groups),
    }
    if not np.allclose(together["Aggregate (exact)"][0], co.aggregate(panel, "exact").solution.value, atol=1e-7):
        raise RuntimeError("the exact aggregate is not the projection of the means on the simplex")
    scores = [weights @ np.nanmean((value - known) ** 2, axis=1) for value in alone.values()]
    scores += [np.nanmean((value - known) ** 2, axis=1) for value in together.values()]
    found = np.stack(scores)
    return Nearness((*alone, *together), found[:, 0], found[:, 1:])


def _matrix(panel: Panel) -> NDArray[np.float64]:
    """The forecasts, a row a judge, a column an event."""
    cells = np.full((len(panel.judges), len(panel.written)), np.nan)
    cells[panel.judge_index, panel.event_index] = panel.probability
    if np.isnan(cells).any():
        raise RuntimeError("a judge has not forecast every event")
    return cells


def _partitions(panel: Panel) -> list[list[int]]:
    """The events of each law, of which exactly one comes true."""
    place = {text: i for i, text in enumerate(panel.written.text)}
    members = (text.removeprefix("exactly(1;").removesuffix(")").split(",") for text in panel.laws.text)
    return [[place[member.strip()] for member in group] for group in members]


def _normalised(value: NDArray[np.float64], groups: list[list[int]]) -> NDArray[np.float64]:
    """Divide each partition by its sum; a sum of 0 leaves it alone."""
    scaled = value.copy()
    for group in groups:
        total = value[:, group].sum(axis=1, keepdims=True)
        scaled[:, group] = np.where(total > 0, value[:, group] / np.where(total > 0, total, 1.0), value[:, group])
    return scaled


def _nearest(value: NDArray[np.float64], groups: list[list[int]]) -> NDArray[np.float64]:
    """The nearest probabilities that are not negative and add up to 1, for each partition: a threshold is taken off."""
    nearest = value.copy()
    for group in groups:
        own = value[:, group]
        falling = -np.sort(-own, axis=1)
        excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, len(group) + 1)
        last = np.sum(falling > excess, axis=1, keepdims=True) - 1
        nearest[:, group] = np.maximum(own - np.take_along_axis(excess, last, axis=1), 0.0)
    return nearest
