"""Axes for papers on consistency: leaderboards, checks, joint against pairwise, accuracy, repairs, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.conversion.tuples import CHECK_NAMES
from coherently.errors import MethodError, unknown_word
from coherently.plot.axes import AFTER, BEFORE, RULE, axes_of, plain_text
from coherently.scoring.scoring_rules import CONSISTENCY_SCORES, RULES

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.scoring import Scores
    from coherently.scoring.consistency import Consistency
    from coherently.scoring.leaderboards import Leaderboard
    from coherently.scoring.monitors import Monitor

ALARM = "#b3541e"


def leaderboard(board: Leaderboard, count: int = 30, ax: Any = None) -> Any:
    """Draw the judges of a leaderboard, the best first, with their intervals and the ranks that these support.

    `board` is a `co.Leaderboard`; its first `count` judges are drawn.

    >>> import coherently as co
    >>> rows = [(f"j{k}", event, p) for i in range(9) for k in (1, 2)
    ...         for event, p in ((f"v{i}", 0.5), (f"~v{i}", 0.5 + k * i / 99))]
    >>> ax = leaderboard(co.consistency(co.Panel.from_records(rows)).leaderboard())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1  j1', '2  j2']
    """
    ax = axes_of(ax)
    columns = board.columns()
    row = np.arange(min(count, len(board.judges)))
    known = ~np.isnan(board.low[row])
    ax.hlines(row[known], board.low[row][known], board.high[row][known], color=RULE, linewidth=3, zorder=1)
    ax.scatter(board.value[row], row, color=AFTER, zorder=2)
    names = zip(columns["rank"], board.judges, strict=True)
    ax.set_yticks(row, [f"{rank}  {plain_text(name)}" for rank, name in list(names)[: len(row)]])
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel(f"{board.word} ({board.confidence:.0%} intervals over clusters)")
    return ax


def checks(scores: Consistency, score: str = "arbitrage", ax: Any = None) -> Any:
    """Draw a heat map: one row per judge, one column per check, the mean score of its tuples; empty without any.

    `scores` are those of `co.consistency`; `score` is "arbitrage" or "frequentist".

    >>> import coherently as co
    >>> answers = [("Ann", "Neg", {"P": 0.6, "not_P": 0.6}), ("Bob", "Paraphrase", {"P": 0.6, "para_P": 0.2})]
    >>> ax = checks(co.consistency(answers))
    >>> [label.get_text() for label in ax.get_xticklabels()], len(ax.texts)
    (['Neg', 'Paraphrase'], 2)
    """
    if score not in ("arbitrage", "frequentist"):
        raise unknown_word("score", score, ("arbitrage", "frequentist"))
    ax = axes_of(ax)
    columns = scores.check_columns()
    names = [name for name in CHECK_NAMES if name in columns["check"]]
    cells = np.full((len(scores.judges), len(names)), np.nan)
    for judge, check, value in zip(columns["judge"], columns["check"], columns[score], strict=True):
        cells[scores.judges.index(judge), names.index(check)] = value
    most = max(1e-9, float(np.nanmax(cells, initial=0.0)))
    ax.imshow(cells, cmap="Blues", vmin=0.0, vmax=most, aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        if not np.isnan(value):
            colour = "white" if value > 0.6 * most else "black"
            ax.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize=8, color=colour)
    ax.set_xticks(np.arange(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(np.arange(len(scores.judges)), [plain_text(name) for name in scores.judges])
    ax.set_title(f"{CONSISTENCY_SCORES[score].capitalize()} per check")
    return ax


def joint(scores: Consistency, ax: Any = None) -> Any:
    """Draw the joint score per answer of each judge against what its checks prove of it one at a time.

    `scores` are those of `co.consistency`. A judge is never below the line; the height above it is what no check shows.

    >>> import coherently as co
    >>> joint(co.consistency([("Ann", "Neg", {"P": 0.6, "not_P": 0.6})])).get_ylabel()
    'joint arbitrage per answer'
    """
    if np.isnan(scores.joint).all():
        raise MethodError("the joint scores were not asked for: co.consistency(..., joint=True)")
    ax = axes_of(ax)
    count = np.maximum(scores.answers, 1)
    x, y = scores.by_checks / count, scores.joint / count
    top = 1.05 * max(1e-9, float(np.nanmax(y)))
    ax.plot([0, top], [0, top], color=RULE, linestyle="--", zorder=1)
    ax.vlines(x, x, y, color=RULE, zorder=1)
    ax.scatter(x, y, color=AFTER, zorder=2)
    _name_points(ax, scores.judges, x, y)
    ax.set_xlabel("proved by checks one at a time, per answer")
    ax.set_ylabel(CONSISTENCY_SCORES["joint_per_answer"])
    return ax


def accuracy(scores: Consistency, found: Scores, rule: str = "brier", ax: Any = None) -> Any:
    """Draw how accurate each judge was against how incoherent its answers are; only judges that have both.

    `scores` are those of `co.consistency`, `found` those of `co.score`, of which `rule` names one ("brier").

    >>> import coherently as co
    >>> panel = co.simulate(judges=4, variables=8, basic=8, compound=6, seed=1)
    >>> ax = accuracy(co.consistency(panel), co.score(panel))
    >>> ax.get_ylabel(), len(ax.texts)
    ('mean Brier', 4)
    """
    every = {each.name: each for each in RULES}
    if rule not in every:
        raise unknown_word("score", rule, every)
    ax = axes_of(ax)
    value = dict(zip(found.judges, np.asarray(found.columns()[rule], np.float64), strict=True))
    both = [i for i, name in enumerate(scores.judges) if np.isfinite(value.get(name, np.nan))]
    if not both:
        raise MethodError("no judge has both scores: the consistency and the scores must be of the same judges")
    x = (scores.joint / np.maximum(scores.answers, 1))[both]
    y = np.array([value[scores.judges[i]] for i in both])
    ax.scatter(x, y, color=AFTER)
    _name_points(ax, [scores.judges[i] for i in both], x, y)
    ax.set_xlabel(CONSISTENCY_SCORES["joint_per_answer"])
    ax.set_ylabel(f"mean {every[rule].head}")
    return ax


def repairs(before: Scores, after: Scores, rule: str = "brier", count: int = 30, ax: Any = None) -> Any:
    """Draw the score of each judge before (a circle) and after repair (a dot), the best after repair first.

    `before` and `after` are those of `co.score`, of which `rule` names one; the first `count` judges are drawn.

    >>> import coherently as co
    >>> panel = co.simulate(judges=4, variables=8, basic=8, compound=6, seed=1)
    >>> repairs(co.score(panel), co.score(co.individual(panel))).get_xlabel()
    'mean Brier'
    """
    every = {each.name: each for each in RULES}
    if rule not in every:
        raise unknown_word("score", rule, every)
    if set(before.judges) != set(after.judges):
        raise MethodError("the scores before and after repair must be of the same judges")
    ax = axes_of(ax)
    old, new = (
        dict(zip(each.judges, np.asarray(each.columns()[rule], np.float64), strict=True)) for each in (before, after)
    )
    sign = -1.0 if every[rule].higher_is_better else 1.0
    names = sorted((name for name in new if np.isfinite(new[name] + old[name])), key=lambda name: sign * new[name])[
        :count
    ]
    row, x, y = np.arange(len(names)), [old[name] for name in names], [new[name] for name in names]
    ax.hlines(row, x, y, color=RULE, zorder=1)
    ax.scatter(x, row, facecolors="none", edgecolors=BEFORE, label="before", zorder=2)
    ax.scatter(y, row, color=AFTER, label="after repair", zorder=3)
    ax.set_yticks(row, [plain_text(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(f"mean {every[rule].head}")
    ax.legend()
    return ax


def monitor(watched: Monitor, ax: Any = None) -> Any:
    """Draw the distances of a stream, the tolerance, the confidence sequence of the mean, and the alarm.

    `watched` is a `co.Monitor`.

    >>> import coherently as co
    >>> monitor(co.monitor([0.01, 0.02, 0.01], tolerance=0.05)).get_ylabel()
    'joint arbitrage per answer'
    """
    ax = axes_of(ax)
    place = np.arange(1, len(watched.names) + 1)
    ax.fill_between(place, watched.low, watched.high, color=RULE, alpha=0.5, linewidth=0, label="mean, between")
    ax.scatter(place, watched.distance, 8, color=AFTER, label="answer set")
    ax.axhline(watched.tolerance, color=BEFORE, linestyle="--", label="tolerance")
    if watched.first:
        ax.axvline(watched.first + 0.5, color=BEFORE, linewidth=1)
    if watched.alarm is not None:
        ax.axvline(watched.names.index(watched.alarm) + 1, color=ALARM, label=f"alarm at {plain_text(watched.alarm)}")
    ax.set_ylim(0, 1.1 * max(float(watched.distance.max(initial=0.0)), watched.tolerance))
    ax.set_xlabel("answer set")
    ax.set_ylabel(CONSISTENCY_SCORES["joint_per_answer"])
    ax.legend()
    return ax


def _name_points(ax: Any, names: list[str] | tuple[str, ...], x: Vector, y: Vector) -> None:
    for name, place in zip(names, zip(x.tolist(), y.tolist(), strict=True), strict=True):
        if np.isfinite(place).all():
            ax.annotate(plain_text(name), place, (4, 4), textcoords="offset points", fontsize=8)
