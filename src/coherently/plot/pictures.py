"""Axes with adjustments, convergence, calibration, the graph of a panel and the course of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coherently.errors import MethodError, counted, unknown_word
from coherently.plot.axes import AFTER, BEFORE, RULE, axes_of, plain_text
from coherently.plot.data import graph_of, largest_adjustments, largest_moves
from coherently.scoring import RULES, Calibration, Scores
from coherently.scoring import calibration as bins_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.influence import Influence
    from coherently.network import NetworkRun
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.scoring import Tuned

COLOURED = 8
"""Maximum number of judges with a colour each."""
LARGEST_POINT = 220.0
"""The area, in square points, of the point of the fullest bin of a calibration diagram."""


def adjustments(result: Result, count: int = 20, ax: Any = None) -> Any:
    """Draw how far the `count` most adjusted events moved, from the panel's mean (a circle) to the answer (a dot)."""
    ax = axes_of(ax)
    moved = largest_adjustments(result, count)
    row = np.arange(len(moved.event))
    ax.hlines(row, moved.raw, moved.probability, color=RULE, zorder=1)
    ax.scatter(moved.raw, row, facecolors="none", edgecolors=BEFORE, label="panel's mean", zorder=2)
    ax.scatter(moved.probability, row, color=AFTER, label="coherent", zorder=3)
    ax.set_yticks(row, [plain_text(event) for event in moved.event])
    ax.invert_yaxis()
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("probability")
    ax.set_title(f"The {len(row)} largest of {moved.total:,} adjustments")
    ax.legend()
    return ax


def influence(table: Influence, kind: str = "judge", count: int = 20, ax: Any = None) -> Any:
    """Draw what each judge, event or law moves: one row each, one column per event, in points.

    `table` is `result.influence()`; `kind` is "judge", "event" or "law". Red means that the number is higher without
    it. The `count` events and rows that move most are drawn; what nobody is asked about then, or what is not known, is
    empty.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.3), ("Bob", "p", 0.4), ("Bob", "p & q", 0.45)]
    >>> influence(co.aggregate(co.Panel.from_records(rows)).influence()).get_title()
    'Points moved when left out'
    """
    drawn = largest_moves(table, kind, count)
    ax = axes_of(ax)
    most = max(1.0, float(np.nanmax(np.abs(drawn.points), initial=0.0)))
    ax.imshow(drawn.points, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    for (row, column), value in np.ndenumerate(drawn.points):
        if not np.isnan(value) and abs(value) >= 0.5:
            ax.text(column, row, f"{value:+.0f}", ha="center", va="center", fontsize=8)
    ax.set_xticks(np.arange(len(drawn.events)), [plain_text(event) for event in drawn.events], rotation=45, ha="right")
    ax.set_yticks(np.arange(len(drawn.names)), [plain_text(name) for name in drawn.names])
    ax.set_title("Points moved when left out")
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
    ax = axes_of(ax)
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
    """Draw how far the values of a `run` are from the central answer, `over` messages, bytes or simulated time.

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
    ax = axes_of(ax)
    at = getattr(run.trace, over)
    ax.plot(at, run.trace.largest, color=AFTER, label="largest difference")
    ax.plot(at, run.trace.typical, color=BEFORE, linestyle="--", label="typical difference")
    ax.set_xlabel(names[over])
    ax.set_ylabel("from the central answer")
    ax.set_yscale("symlog", linthresh=1e-12)
    ax.legend()
    return ax


def calibration(
    scores: Scores | Calibration | Panel,
    ax: Any = None,
    *,
    judges: Sequence[str] | None = None,
    intervals: bool | None = None,
) -> Any:
    """Draw how often events came true, by what was forecast; the area of a point shows the number of forecasts.

    `scores` is what `co.score` or `co.calibration` gives, or a panel. With a panel there is one colour per judge: of
    the `judges` that are named, or of the first eight. Bars (`intervals`) are intervals of 95%, as if the forecasts of
    a bin were independent; several judges on the same events are not, so that the bars of all judges together are drawn
    only if they are asked for.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "q", 0.1)], outcomes={"p": True, "q": False})
    >>> calibration(co.score(panel)).get_ylabel()
    'share that came true'
    >>> [text.get_text() for text in calibration(panel).get_legend().get_texts()]
    ['Ann']
    """
    ax = axes_of(ax)
    ax.plot([0, 1], [0, 1], color=RULE, linestyle="--", zorder=1)
    if isinstance(scores, Scores | Calibration):
        pooled = scores if isinstance(scores, Calibration) else scores.calibration
        _draw_bins(ax, pooled, AFTER, None, intervals=bool(intervals))
    else:
        names = list(scores.judges[:COLOURED] if judges is None else judges)
        for i, name in enumerate(names):
            _draw_bins(ax, bins_of(scores, name), f"C{i}", plain_text(name), intervals=intervals is not False)
        ax.legend()
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.set_xlabel("mean forecast")
    ax.set_ylabel("share that came true")
    return ax


def judges(tuned: Tuned, count: int = 30, ax: Any = None) -> Any:
    """Draw how much the `count` judges who count most do, 1 for a mean judge, with 95% intervals.

    `tuned` is what `co.tune` gives. A judge whose line shows a fault is marked: timid or bold, and whether the judge
    says yes too readily or too rarely.

    >>> import coherently as co
    >>> tuned = co.tune(co.simulate(judges=5, variables=40, compound=0, basic=20, seed=3))
    >>> judges(tuned).get_xlabel()
    'weight, 1 for a mean judge'
    """
    learned = tuned.judges
    if learned is None:
        raise MethodError("nothing is told about judges in this record of an earlier version; tune again")
    from matplotlib.ticker import LogFormatter

    ax = axes_of(ax)
    order = learned.order[:count]
    row, weight = np.arange(len(order)), learned.weight
    ax.axvline(1.0, color=RULE, linestyle="--", zorder=1)
    low, high = (np.nan_to_num(ends[order], nan=1e-9) for ends in (weight.low, weight.high))
    if not np.isnan(weight.low[order]).all():
        ax.hlines(row, low, high, color=BEFORE, zorder=2)
    ax.scatter(weight.value[order], row, color=AFTER, zorder=3)
    ax.set_yticks(row, [plain_text(learned.names[i] + learned.mark(i)) for i in order])
    ax.invert_yaxis()
    ax.set_xscale("log")
    plain = LogFormatter(minor_thresholds=(1, 0.5))  # 0.4 and 2, not powers of ten
    ax.xaxis.set_major_formatter(plain)
    ax.xaxis.set_minor_formatter(plain)
    ax.set_xlabel("weight, 1 for a mean judge")
    ax.set_title(f"{len(learned):,} judges, worth about {learned.effective:.1f} equal, independent ones")
    return ax


def _draw_bins(ax: Any, bins: Calibration, colour: str, label: str | None, *, intervals: bool) -> None:
    filled = bins.count > 0
    x, y = bins.mean_forecast[filled], bins.observed[filled]
    area = LARGEST_POINT * bins.count[filled] / bins.count.max()
    ax.scatter(x, y, area, color=colour, label=label, zorder=3)
    if intervals:
        ends = np.abs(np.array([bins.observed_low[filled], bins.observed_high[filled]]) - y)
        ax.errorbar(x, y, ends, fmt="none", ecolor=colour, alpha=0.5, zorder=2)


def scores(found: Scores, rule: str = "brier", count: int = 30, ax: Any = None) -> Any:
    """Draw the score of each judge, the best first, with its interval where the scores have one (`confidence=0.95`).

    `found` is what `co.score` gives, `rule` the name of one of its scores; the best `count` judges are drawn.

    >>> import coherently as co
    >>> panel = co.simulate(judges=5, variables=20, basic=15, compound=5, seed=1)
    >>> ax = scores(co.score(panel, confidence=0.95))
    >>> ax.get_xlabel(), len(ax.get_yticklabels())
    ('mean Brier', 5)
    """
    every = {each.name: each for each in RULES}
    if rule not in every:
        raise unknown_word("score", rule, every)
    ax = axes_of(ax)
    columns = found.columns()
    value = np.asarray(columns[rule], np.float64)
    known = np.flatnonzero(np.isfinite(value))
    order = known[np.argsort(-value[known] if every[rule].higher_is_better else value[known], kind="stable")][:count]
    row = np.arange(len(order))
    if f"{rule}_low" in columns:
        ends = [np.asarray(columns[f"{rule}{end}"], np.float64)[order] for end in ("_low", "_high")]
        ax.hlines(row, *ends, color=RULE, linewidth=3, zorder=1)
    ax.scatter(value[order], row, color=AFTER, zorder=2)
    ax.set_yticks(row, [plain_text(found.judges[i]) for i in order.tolist()])
    ax.invert_yaxis()
    ax.set_xlabel(f"mean {every[rule].head}")
    return ax


def graph(panel: Panel, ax: Any = None, *, around: str | None = None) -> Any:
    """Draw the variables of a panel and its groups: events and laws about the same variables.

    A panel about more than 24 variables cannot be drawn whole; `around` an event (its text, or its label) are its
    variables and up to 24 in all that share events and laws with them, the nearest first.

    A group of two variables is a line between them; a larger group is a square with a line to each of its variables.
    The more events and laws a group has, the thicker its lines.

    >>> import coherently as co
    >>> len(graph(co.Panel.from_records([("Ann", "p & q", 0.2), ("Ann", "p | r", 0.9)])).lines)
    2
    """
    drawn = graph_of(panel, around)
    ax = axes_of(ax)
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
        ax.annotate(plain_text(name), place, (0, 6), textcoords="offset points", ha="center")
    ax.set_aspect("equal")
    ax.margins(0.15)
    ax.set_axis_off()
    if around is not None:
        rest = f"; {drawn.more:,} more hang together with these" if drawn.more else ""
        ax.set_title(f"{counted(len(drawn.names), 'variable')} around {plain_text(around)}{rest}")
    return ax
