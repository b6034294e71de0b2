"""Several forecasts by one judge of one event."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coherently.errors import KEPT, ListedProblem, PanelError
from coherently.panel.cells import check_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from coherently.errors import Where
    from coherently.panel.panel import Panel

Repeats: TypeAlias = Literal["keep", "last", "mean", "error"]


def settle_repeats(panel: Panel, repeats: Repeats, place: Callable[[int], Where]) -> Panel:
    """Keep repeats with a note, keep only the last (by time, else by row), average them, or refuse them."""
    key = panel.judge_index.astype(np.int64) * len(panel.written) + panel.event_index
    ascending = np.sort(key, kind="stable")  # panels often come judge by judge, so that little is to be sorted
    extra = int(np.count_nonzero(ascending[1:] == ascending[:-1]))
    if extra == 0:
        return panel
    order = np.lexsort((key,) if panel.time is None else (panel.time, key))
    new = np.r_[True, np.diff(key[order]) != 0]
    if repeats == "error":
        raise _refusal(panel, np.argsort(key, kind="stable"), new, extra, place=place)
    if repeats == "last":
        kept = np.sort(order[np.r_[new[1:], True]])
        return _with_note(panel.select(kept), f"earlier forecasts by the same judge left out: {extra:,}")
    if repeats == "mean":
        return _with_note(_mean(panel, order, new), f"repeated forecasts averaged into one: {extra:,}")
    return _with_note(
        panel,
        f"repeated forecasts by one judge of one event, all kept: {extra:,} (see --repeats)",
    )


def _mean(panel: Panel, order: NDArray[np.int64], new: NDArray[np.bool_]) -> Panel:
    """Make one forecast per judge and event: weighted mean probability, mean weight, at the row of the first."""
    group = np.empty(len(panel), np.int64)
    group[order] = np.cumsum(new) - 1
    count = np.bincount(group)

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        averaged: NDArray[np.float64] = np.bincount(group, values) / count
        return averaged

    def known_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        given = ~np.isnan(values)
        total = np.bincount(group, np.where(given, values, 0.0))
        known = np.bincount(group, given)
        averaged: NDArray[np.float64] = np.full(len(count), np.nan)
        return np.divide(total, known, out=averaged, where=known > 0)

    weight = mean(panel.weight)
    check_weights(weight, lambda i: f"the mean weight of {_name(panel, int(np.argmax(group == i)))}")
    pull = np.where(weight[group] > 0, panel.weight, 1.0)
    probability = np.bincount(group, pull * panel.probability) / np.bincount(group, pull)
    first = np.full(len(count), len(panel))
    np.minimum.at(first, group, np.arange(len(panel)))
    rows = np.argsort(first)
    merged = panel.select(first[rows])
    return replace(
        merged,
        probability=np.clip(probability[rows], 0.0, 1.0),
        weight=weight[rows],
        lower=None if panel.lower is None else known_mean(panel.lower)[rows],
        upper=None if panel.upper is None else known_mean(panel.upper)[rows],
        time=None if panel.time is None else panel.time[order[np.r_[new[1:], True]]][rows],
    )


def _refusal(
    panel: Panel, order: NDArray[np.int64], new: NDArray[np.bool_], extra: int, place: Callable[[int], Where]
) -> PanelError:
    remedy = "Delete the repeats, or choose --repeats keep, last or mean."
    problems = []
    for row in np.sort(order[~new])[:KEPT].tolist():
        where = replace(place(row), event=panel.written.text[panel.event_index[row]])
        found = f"{where.file} row {where.row}: {_name(panel, row, ' has already forecast ')}"
        problems.append(ListedProblem(found, "repeated-forecast", where, remedy))
    return PanelError.listing(problems, extra, [remedy])


def _name(panel: Panel, row: int, between: str = "'s forecasts of ") -> str:
    """The judge and the event of a forecast."""
    return f"{panel.judges[panel.judge_index[row]]}{between}'{panel.written.text[panel.event_index[row]]}'"


def _with_note(panel: Panel, note: str) -> Panel:
    return replace(panel, notes=(*panel.notes, note))
