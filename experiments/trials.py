"""What the methods do to many draws of a stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from coherently.problem import pose, pose_individually
from coherently.scoring import trace_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from experiments.standins import StandIn

SAPA = co.Annealing(columns=1000, steps=20_000_000, time_limit=3600)
"""The schedule for all judges at once; that of Osherson and Vardi is not known."""
Z = 1.96


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Mean scores over judges: `value` has panel, method and score (Brier, log, slope)."""

    standin: StandIn
    methods: tuple[str, ...]
    value: NDArray[np.float64]
    events: NDArray[np.int64]

    def of(self, method: str, score: int = 0) -> NDArray[np.float64]:
        """A score of a method, an entry a panel."""
        return self.value[:, self.methods.index(method), score]

    def difference(self, method: str, other: str, score: int = 0) -> tuple[int, float, float, float]:
        """In how many panels the method's score is lower; the mean difference, and its 95% interval over panels."""
        between = self.of(method, score) - self.of(other, score)
        half = Z * between.std(ddof=1) / np.sqrt(len(between))
        return (
            int((between < 0).sum()),
            float(between.mean()),
            float(between.mean() - half),
            float(between.mean() + half),
        )


def run_trials(standin: StandIn, panels: int, *, sapa: bool) -> Trials:
    """Compare the methods on the panels of seeds 0, 1, ..."""
    values, events = [], []
    methods: tuple[str, ...] = ()
    for seed in range(panels):
        panel = standin.panel(seed)
        more: dict[str, str | Panel] = {
            "Individual (exact)": co.individual(panel, "exact"),
            "Aggregate (Dykstra)": "dykstra",
        }
        if sapa:
            more["Individual (SAPA)"] = co.individual(panel, SAPA)
        found = co.compare(panel, more, bootstrap=0)
        if found.notes:
            raise RuntimeError(f"{standin}, seed {seed}: {found.notes}")
        values.append(found.value)
        events.append(len(panel.written))
        methods = found.methods
    return Trials(standin, methods, np.stack(values), np.array(events))


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The paper's algorithm sweep by sweep: the mean over judges of their Brier scores, and all penalties' sum."""

    name: str
    mean: NDArray[np.float64]
    pooled: NDArray[np.float64]

    @property
    def settled(self) -> int:
        """Sweeps until the mean is within 0.001 of where it ends."""
        return int(np.flatnonzero(np.abs(self.mean - self.mean[-1]) > 1e-3).max(initial=-1)) + 1

    @property
    def rises(self) -> tuple[float, float]:
        """The largest rises from one sweep to the next, of the mean and of the pooled sum; 0 if they only fall."""
        mean, pooled = (max(0.0, float(np.diff(values).max(initial=0.0))) for values in (self.mean, self.pooled))
        return mean, pooled


def curve(name: str, panel: Panel, *, alone: bool) -> Curve:
    """Run the paper's algorithm on each judge alone, or on the panel, and keep every sweep."""
    problem = pose_individually(panel) if alone else pose(panel)
    trace = co.AlternatingProjections(trace=True).solve(problem).trace
    if trace is None:
        raise RuntimeError("the method kept no trace")
    outcome = panel.written.outcome[panel.event_index]
    pooled = np.sum((trace.value[:, problem.forecasts.unit] - outcome) ** 2, axis=1)
    return Curve(name, np.asarray(trace_columns(panel, problem, trace)["brier"]), pooled)
