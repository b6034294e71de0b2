"""Axes with adjustments, convergence, calibration, the graph of a panel and the course of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coherently.errors import MethodError, MissingDependencyError
from coherently.plot.data import graph_of, largest_adjustments
from coherently.scoring import Calibration

if TYPE_CHECKING:
    from coherently.network import NetworkRun
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.scoring import Scores

BEFORE, AFTER, RULE = "#767b85", "#1f5fbf", "#b9bec7"
LARGEST_POINT = 220.0
"""The area, in square points, of the point of the fullest bin of a calibration diagram."""


def adjustments(result: Result, count: int = 20, ax: Any = None) -> Any:
    """Draw how far the most adjusted events moved, from the panel's mean (a circle) to the answer (a dot)."""
    ax = _axes(ax)
    moved = largest_adjustments(result, count)
    row = np.arange(len(moved.event))
    ax.hlines(row, moved.raw, moved.probability, color=RULE, zorder=1)
    ax.scatter(moved.raw, row, facecolors="none", edgecolors=BEFORE, label="panel's mean", zorder=2)
    ax.scatter(moved.probability, row, color=AFTER, label="coherent", zorder=3)
    ax.set_yticks(row, [_plain(event) for event in moved.event])
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("probability")
    ax.set_title(f"The {len(row)} largest of {moved.total:,} adjustments")
    ax.legend()
    return ax


def convergence(result: Result, ax: Any = None) -> Any:
    """Draw the objective and the largest violation sweep by sweep; the method must have kept a trace.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
    >>> result = co.aggregate(panel, co.AlternatingProjections(trace=True))
    >>> convergence(result).get_xlabel()
    'sweep'
    """
    trace = result.trace
    if trace is None:
        raise MethodError("the method kept no trace; ask for one: AlternatingProjections(trace=True)")
    ax = _axes(ax)
    sweep = np.arange(len(trace.objective))
    ax.plot(sweep, trace.objective, color=AFTER, marker=".", label="objective")
    if result.lower_bound:
        ax.axhline(result.lower_bound, color=BEFORE, linestyle="--", label="lower bound")
    ax.plot(sweep, trace.violation, color="#b3541e", marker=".", label="largest violation")
    ax.set_xlabel("sweep")
    ax.set_yscale("symlog", linthresh=1e-9)
    ax.legend()
    return ax


def fusion(run: NetworkRun, over: Literal["messages", "time", "bytes"] = "messages", ax: Any = None) -> Any:
    """Draw how far a network's values are from the central answer, over messages, bytes or simulated seconds.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Eve", "p & q", 0.9), ("Bob", "q", 0.4)])
    >>> fusion(co.network.Network.from_panel(panel).run(), over="time").get_xlabel()
    'simulated seconds'
    """
    names = {"messages": "messages", "bytes": "bytes", "time": "simulated seconds"}
    if over not in names:
        raise MethodError(f"over is {over!r}; it may be {', '.join(names)}")
    if np.isnan(run.trace.largest).any():
        raise MethodError("the run was not compared with the central answer; run it with compare=True")
    ax = _axes(ax)
    at = getattr(run.trace, over)
    ax.plot(at, run.trace.largest, color=AFTER, label="largest difference")
    ax.plot(at, run.trace.typical, color=BEFORE, linestyle="--", label="typical difference")
    ax.set_xlabel(names[over])
    ax.set_ylabel("from the central answer")
    ax.set_yscale("symlog", linthresh=1e-12)
    ax.legend()
    return ax


def calibration(scores: Scores | Calibration, ax: Any = None) -> Any:
    """Draw how often events came true, by what was forecast; the area of a point shows the number of forecasts.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "q", 0.1)], outcomes={"p": True, "q": False})
    >>> calibration(co.score(panel)).get_ylabel()
    'share that came true'
    """
    bins = scores if isinstance(scores, Calibration) else scores.calibration
    ax = _axes(ax)
    filled = bins.count > 0
    ax.plot([0, 1], [0, 1], color=RULE, linestyle="--", zorder=1)
    area = LARGEST_POINT * bins.count[filled] / bins.count.max()
    ax.scatter(bins.mean_forecast[filled], bins.observed[filled], area, color=AFTER, zorder=2)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel("mean forecast")
    ax.set_ylabel("share that came true")
    return ax


def graph(panel: Panel, ax: Any = None) -> Any:
    """Draw the variables of a panel and its groups: events and laws about the same variables.

    A group of two variables is a line between them; a larger group is a square with a line to each of its variables.
    The more events and laws a group has, the thicker its lines.

    >>> import coherently as co
    >>> len(graph(co.Panel.from_records([("Ann", "p & q", 0.2), ("Ann", "p | r", 0.9)])).lines)
    2
    """
    drawn = graph_of(panel)
    ax = _axes(ax)
    for group, (members, events) in enumerate(zip(drawn.members, drawn.events, strict=True)):
        ends = drawn.place[list(members)]
        width = 1.0 + np.log2(max(len(events), 1))
        if len(members) == 2:
            ax.plot(*ends.T, color=RULE, linewidth=width, zorder=1)
            continue
        middle = drawn.centre(group)
        for end in ends:
            ax.plot(*np.array([middle, end]).T, color=RULE, linewidth=width, zorder=1)
        ax.plot(*middle, marker="s", color=BEFORE, zorder=2)
    ax.scatter(*drawn.place.T, color=AFTER, zorder=3)
    for name, place in zip(drawn.names, drawn.place, strict=True):
        ax.annotate(_plain(name), place, (0, 6), textcoords="offset points", ha="center")
    ax.set_aspect("equal")
    ax.margins(0.15)
    ax.set_axis_off()
    return ax


def _plain(text: str) -> str:
    """Text that matplotlib shows as it is, with control characters and dollar signs (which begin a formula) escaped."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown.replace("$", r"\$")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install matplotlib") from error
    return plt.subplots(layout="constrained")[1]
