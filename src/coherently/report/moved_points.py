"""What moves a result, as tables on a terminal: points, rounded for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from coherently.explain.influence import Influence, Why

MOST_EVENTS, MOST_ROWS = 12, 12
"""Maximum numbers of events, and of judges, questions and laws, in the table; a file has them all."""
NOTHING, NOBODY = "·", "–"
"""No change; nobody is asked then, or it is not known."""
KINDS = {"judge": "judge", "event": "question", "law": "law", "together": "together"}


def points_between(now: float, then: float, *, exact: bool = True) -> str:
    """The difference of two whole per cents as they are shown, with its sign; an estimate after a tilde.

    >>> [points_between(0.5, then) for then in (0.534, 0.494, 0.504, float("nan"))]
    ['+3', '−1', '·', '–']
    >>> points_between(0.5, 0.53, exact=False)
    '~+3'
    """
    if np.isnan(now) or np.isnan(then):
        return NOBODY
    from coherently.explain.people_sentences import whole_percent

    whole = whole_percent(then) - whole_percent(now)
    if not whole:
        return NOTHING
    return f"{'' if exact else '~'}{'+' if whole > 0 else '−'}{abs(whole)}"


def influence_table(table: Influence) -> Table:
    """What each judge, question and law moves, in points: the events that move most, or all if they are few."""
    moved = np.array([one.moved for one in table.left])
    reach = np.nan_to_num(np.abs(moved)).max(axis=0) if len(moved) else np.zeros(len(table.events))
    shown = np.sort(np.argsort(-reach, kind="stable")[:MOST_EVENTS]).tolist()
    cut = f"the {len(shown)} of {len(table.events):,} events that move most; " if len(shown) < len(table.events) else ""
    signs = f"{NOTHING} no change; {NOBODY} nobody is asked then, or not known"
    caption = f"{cut}+3: without it the number is 3 points higher; {signs}"
    found = Table(box=None, pad_edge=False, caption=caption, caption_justify="left")
    found.add_column("left out")
    for i in shown:
        found.add_column(Text(table.events[i]), justify="right", overflow="fold")
    found.add_row("nothing", *(_percent(table.probability[i]) for i in shown), style="bold")
    for kind in ("judge", "event", "law"):
        rows = table.of_kind(kind)
        for one in rows[:MOST_ROWS]:
            cells = (_moved(table.probability[i], one.moved[i], exact=one.exact) for i in shown)
            found.add_row(Text(f"{KINDS[kind]} {one.name}"), *cells)
        if len(rows) > MOST_ROWS:
            found.add_row(f"{len(rows) - MOST_ROWS:,} more")
    return found


def without_table(table: Influence) -> Table:
    """Each event with its probability now and without what is left out; those that move most first."""
    (one,) = table.left
    found = Table(box=None, pad_edge=False)
    for name in ("event", "all", "without", "change"):
        found.add_column(name, justify="left" if name == "event" else "right")
    order = np.argsort(-np.nan_to_num(np.abs(one.change)), kind="stable")
    for i in order[: MOST_EVENTS + MOST_ROWS].tolist():
        now = table.probability[i]
        found.add_row(Text(table.events[i]), _percent(now), _percent(now + one.change[i]), _moved(now, one.change[i]))
    return found


def pulls_table(why: Why) -> Table:
    """What each judge, question and law does to one event."""
    found = Table(box=None, pad_edge=False)
    for name in ("left out", "said", "without it", "change", "derivative"):
        found.add_column(name, justify="left" if name == "left out" else "right")
    for kind in ("judge", "event", "law"):
        for one in why.of_kind(kind)[:MOST_ROWS]:
            slope = NOBODY if np.isnan(one.derivative) else f"{one.derivative + 0.0:.2f}".replace("-0.00", "0.00")
            at = _percent(why.probability + one.change)
            cells = (_percent(one.said), at, _moved(why.probability, one.change, exact=one.exact), slope)
            found.add_row(Text(f"{KINDS[kind]} {one.name}"), *cells)
    for name, part in (("adjustment", why.adjustment), ("sum of the questions", why.sum_of_parts)):
        found.add_row(name, "", "", f"{100 * part:+.1f}", "")
    found.add_row("what only several do", "", "", f"{100 * why.remainder:+.1f}", "")
    return found


def _moved(now: float, change: float, *, exact: bool = True) -> str:
    return points_between(now, now + change, exact=exact)


def _percent(value: float) -> str:
    from coherently.explain.people_sentences import percent

    return NOBODY if np.isnan(value) else percent(value)
