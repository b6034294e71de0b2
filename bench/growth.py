"""How the time of the method exact grows with the variables and with the events."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coherently as co
from bench.draw import sparse_panel
from bench.runs import Run, solve_and_verify

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 5.0
TOLERANCE = 1e-6
SEEDS = 3
EVENTS_A_VARIABLE = 12
VARIABLES = (10, 14, 20, 28, 40, 56, 80)
FIXED_VARIABLES = 30
EVENTS = (60, 90, 120, 180, 240, 480, 960)
PLOT = Path(__file__).parents[1] / "docs" / "images" / "exact-growth.svg"
TITLES = (
    f"Variables grow, {EVENTS_A_VARIABLE} events a variable",
    f"Events grow, {FIXED_VARIABLES} variables",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A size with its runs, one a seed; fewer where one did not end in time."""

    variables: int
    events: int
    runs: Sequence[Run]

    @property
    def clock(self) -> float:
        """The median time."""
        return statistics.median(run.clock for run in self.runs)

    @property
    def gap(self) -> float:
        """The largest gap."""
        return max(run.gap for run in self.runs)

    @property
    def is_proved(self) -> bool:
        """Whether every run proved its answer."""
        return self.gap <= TOLERANCE


def measure_growth() -> tuple[list[Point], list[Point]]:
    """Simulated forecasts, as the variables grow and as the events grow."""
    return (
        [_measure(variables, EVENTS_A_VARIABLE * variables) for variables in VARIABLES],
        [_measure(FIXED_VARIABLES, events) for events in EVENTS],
    )


def _measure(variables: int, events: int) -> Point:
    method = co.Exact(tolerance=TOLERANCE, time_limit=LIMIT)
    runs: list[Run] = []
    for seed in range(SEEDS):
        runs.append(solve_and_verify(sparse_panel(variables, events, "simulated", seed), method))
        if runs[-1].gap > TOLERANCE:
            break
    return Point(variables, events, runs)


def print_growth(growth: tuple[list[Point], list[Point]]) -> None:
    """Print a table in Markdown for each of the two."""
    for title, points in zip(TITLES, growth, strict=True):
        print(f"{title}:\n\n| variables | events | time to {TOLERANCE:g}, median | gap after {LIMIT:g} s |")
        print("|---|---|---|---|")
        for point in points:
            time = f"{1e3 * point.clock:.1f} ms" if point.is_proved else "-"
            gap = "-" if point.is_proved else f"{point.gap:.2%}"
            print(f"| {point.variables} | {point.events} | {time} | {gap} |")
        print(flush=True)


def plot_growth(growth: tuple[list[Point], list[Point]]) -> Path:
    """Draw both on logarithmic axes, to the same bytes for the same figures."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "coherently", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True, layout="constrained")
    sizes = ([point.variables for point in growth[0]], [point.events for point in growth[1]])
    for ax, title, points, size in zip(axes, TITLES, growth, sizes, strict=True):
        _draw(ax, points, size)
        ax.set_title(title, fontsize=9)
    axes[0].set_xlabel("variables")
    axes[1].set_xlabel("events")
    axes[0].set_ylabel(f"seconds to a proved gap of {TOLERANCE:g}")
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, metadata={"Date": None, "Creator": None})
    return PLOT


def _draw(ax: Any, points: Sequence[Point], size: Sequence[int]) -> None:
    """Times as points; where there was no proof in time, the gap that was left."""
    proved = [(x, point.clock) for x, point in zip(size, points, strict=True) if point.is_proved]
    ax.loglog(*zip(*proved, strict=True), "o-", color="C0", markersize=4)
    ax.axhline(LIMIT, color="0.7", linewidth=0.8)
    left = [(x, point.gap) for x, point in zip(size, points, strict=True) if not point.is_proved]
    for x, gap in left:
        ax.annotate(f"{gap:.1%}", (x, LIMIT), (0, -8), textcoords="offset points", ha="center", va="top")
    if left:
        label = f"the gap left after {LIMIT:g} s"
        ax.plot([x for x, _ in left], [LIMIT] * len(left), "o", color="C1", markerfacecolor="white", label=label)
        ax.legend(loc="lower right", frameon=False)
    ax.margins(x=0.1)
    ax.minorticks_off()
    ax.set_xticks(size, [str(x) for x in size])
    ax.set_ylim(top=2 * LIMIT)
