"""A panel as the checker of proofs numbers it, without reading every forecast again.

Terms are numbered by their first lines in the canonical form, whose lines are sorted: by judge, then by event, then by
numbers. Variables are numbered by events, those of weight 0 among them. So one line of each event, and of each interval
on it, is enough, and one more if only some of its forecasts count. What these lines forecast are hints: that of a
conditional is what the solver has merged, that of an event does not matter.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.panel.canonical import is_plain
from coherently.proofcheck.forecast_files import Canonical, WrittenNumber, canonical
from coherently.proofcheck.language import normal
from coherently.proofcheck.posed_panel import PosedPanel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.result.result import Result


def written_panel(result: Result, digest: str) -> PosedPanel:
    """The panel of a result with the checker's numbers of terms, laws, pins and variables."""
    panel = result.panel
    texts = [normal(text) for text in panel.written.text]
    order = _order(panel, texts)
    if panel.lower is None and panel.upper is None:
        _, first = np.unique(2 * panel.event_index[order] + (panel.weight[order] > 0), return_index=True)
        rows = order[np.sort(first)]
        lines = [
            _point(result, texts[event], event, counts=counts)
            for event, counts in zip(panel.event_index[rows].tolist(), (panel.weight[rows] > 0).tolist(), strict=True)
        ]
    else:
        lines = _with_intervals(result, texts, order.tolist())
    head = canonical([], list(panel.laws.statements()), plain_events=is_plain(panel))
    return PosedPanel(Canonical(head.plain_events, head.laws, tuple(lines), digest))


def _order(panel: Panel, texts: Sequence[str]) -> NDArray[np.int64]:
    """The forecasts in the order of the canonical form; numbers only break ties where intervals are.

    Without intervals, ties are forecasts of one event by one judge, in any order.
    """
    judge = _ranks([normal(name) for name in panel.judges])[panel.judge_index]
    event = _ranks(texts)[panel.event_index]
    found: NDArray[np.int64] = np.lexsort((event, judge))
    if panel.lower is None and panel.upper is None:
        return found
    return np.array(sorted(found.tolist(), key=lambda row: (judge[row], event[row], _numbers(panel, row))), np.int64)


def _ranks(texts: Sequence[str]) -> NDArray[np.int64]:
    """The place of each text in the order of lines, which have it as JSON."""
    written = [json.dumps(text, ensure_ascii=False) for text in texts]
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=written.__getitem__)] = np.arange(len(texts))
    return ranks


def _numbers(panel: Panel, row: int) -> str:
    """The numbers of a forecast, as its line in the canonical form has them."""
    columns = {name: getattr(panel, name) for name in ("probability", "weight", "lower", "upper")}
    told = {name: float(values[row]) + 0.0 for name, values in columns.items() if values is not None}
    return "".join(f',"{name}":{value!r}' for name, value in told.items() if not np.isnan(value)) + "}"


def _point(result: Result, text: str, event: int, *, counts: bool) -> dict[str, Any]:
    """The line of an event; a conditional has its share of what was merged."""
    problem, given = result.problem, result.problem.merged.terms.conditionals
    mean, weight = 0.5, float(counts)
    if counts and problem.conditional[event]:
        at = problem.coordinate[event]
        alike = int(np.count_nonzero((problem.coordinate == at) & problem.conditional))
        if given.weight[at] > 0:
            mean, weight = float(given.mean[at]), float(given.weight[at]) * problem.weight_unit / alike
            mean = 1.0 - mean if problem.complemented[event] else mean
    return {"event": text, "probability": _written(mean), "weight": _written(weight)}


def _with_intervals(result: Result, texts: Sequence[str], order: Sequence[int]) -> list[dict[str, Any]]:
    """The lines of events and of intervals on them; forecasts of one interval have their sum of weights."""
    panel, found, weights = result.panel, dict[tuple[Any, ...], dict[str, Any]](), dict[tuple[Any, ...], float]()
    for row in order:
        event = int(panel.event_index[row])
        ends = {
            name: _written(float(values[row]))
            for name, values in (("lower", panel.lower), ("upper", panel.upper))
            if values is not None and not np.isnan(values[row])
        }
        counts = bool(panel.weight[row] > 0)
        key = (event, counts, *ends.items())
        weights[key] = weights.get(key, 0.0) + float(panel.weight[row])
        if key not in found:
            line = {"event": texts[event], "probability": _written(float(panel.probability[row])), **ends}
            found[key] = line if ends else _point(result, texts[event], event, counts=counts)
        if ends:
            found[key]["weight"] = _written(weights[key])
    return list(found.values())


def _written(value: float) -> WrittenNumber:
    return WrittenNumber(repr(value + 0.0))
