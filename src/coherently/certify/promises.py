"""What a result says in words and single numbers, held against the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.nearness import CLOSE
from coherently.errors import SHOWN
from coherently.events import NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.panel import Panel
    from coherently.result import Result

WEAKEST_FIRST = ("none", "local", "global")
STATUSES = {
    "none": ("averaged",),
    "local": ("converged", "sweep_limit", "interrupted", "time_limit"),
    "global": ("optimal", "time_limit", "interrupted", "converged", "pass_limit"),
}
"""The ways to end that go with each coherence."""
TOLERANCE = 1e-6
"""What optimal means where the method names no tolerance."""


def match(panel: Panel, events: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Find the result's row of each event of the panel, by its text or its meaning; or say what is amiss."""
    number = {text: i for i, text in enumerate(panel.written.text)}
    strange = [text for text in events if text not in number]
    number |= _by_meaning(panel, strange)
    rows = np.full(len(panel.written), -1, np.int64)
    problems = []
    for row, text in enumerate(events):
        at = number.get(text)
        if at is None:
            problems.append(f"nobody in the panel forecast {text!r}")
        elif rows[at] >= 0:
            problems.append(f"the result has {text!r} twice")
        else:
            rows[at] = row
    absent = np.flatnonzero(rows < 0)
    problems += [f"the result has no probability for {panel.written.text[i]!r}" for i in absent.tolist()]
    return rows, cut(problems)


def _by_meaning(panel: Panel, texts: Sequence[str]) -> dict[str, int]:
    if not texts:
        return {}
    written = panel.written
    known = {pair: i for i, pair in enumerate(zip(written.event.tolist(), written.condition.tolist(), strict=True))}
    sides = panel.events.find(texts).sides.tolist()
    found = {text: known.get((event, condition)) for text, (event, condition, _) in zip(texts, sides, strict=True)}
    return {text: i for text, i in found.items() if i is not None}


def check_means(
    panel: Panel, stated: dict[str, NDArray[np.float64]], means: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> list[str]:
    """Hold the raw means and weights, an entry an event of the panel, against the forecasts."""
    problems = []
    for name, expected in zip(("weight", "raw"), means, strict=True):
        bad = np.flatnonzero(~np.isclose(stated[name], expected, rtol=CLOSE, atol=CLOSE, equal_nan=True))
        problems += [
            f"the {name} of {panel.written.text[i]!r} is {stated[name][i]:.12g}, in the panel {expected[i]:.12g}"
            for i in bad.tolist()
        ]
    return cut(problems)


def check_probabilities(panel: Panel, result: Result, value: NDArray[np.float64], distinct: Distinct) -> list[str]:
    """Probabilities lie in [0, 1]; those of an event and its complement sum to 1, unless they are plain averages."""
    text = panel.written.text
    own = np.bincount(panel.event_index, panel.weight, len(text))
    weightless = (own if result.coherence == "none" else distinct.weight[distinct.home]) == 0
    out = np.flatnonzero(~((value >= -CLOSE) & (value <= 1 + CLOSE) | (np.isnan(value) & weightless)))
    problems = [f"the probability of {text[i]!r} is {value[i]:.12g}" for i in out.tolist()]
    if result.coherence == "none":
        return cut(problems)
    agreed = distinct.at_home(value)[distinct.home]
    expected = np.where(distinct.turned, 1.0 - agreed, agreed)
    apart = np.flatnonzero(np.abs(value - expected) > CLOSE)
    problems += [f"the probabilities of {text[i]!r} and its complement do not sum to 1" for i in apart.tolist()]
    violation = max(CLOSE, result.violation or 0.0)
    impossible = np.flatnonzero(distinct.side == NEVER)
    x = distinct.at_home(value)[impossible]
    problems += [f"an event that cannot happen has the probability {p:.12g}" for p in x[x > violation].tolist()]
    return cut(problems)


def check_words(result: Result) -> list[str]:
    """Status and coherence must be words for what the numbers and worlds show."""
    words = {component.coherence for component in result.components} | {result.coherence}
    if not words <= set(WEAKEST_FIRST):
        return [f"the coherence of the result or of a component is none of {', '.join(WEAKEST_FIRST)}"]
    problems = []
    weakest = min((c.coherence for c in result.components), key=WEAKEST_FIRST.index, default=result.coherence)
    if result.coherence != weakest:
        problems.append(f"the coherence is {result.coherence}, the weakest of its components {weakest}")
    if (result.worlds is None) == (result.coherence == "global") or (result.worlds and "global" not in words):
        problems.append(f"the coherence is {result.coherence}, {'without' if result.worlds is None else 'with'} worlds")
    if (result.objective is None) != (result.coherence == "none"):
        problems.append(
            f"the coherence is {result.coherence}, {'without' if result.objective is None else 'with'} an objective"
        )
    if result.status not in STATUSES[result.coherence]:
        problems.append(f"the status {result.status} does not go with the coherence {result.coherence}")
    gap = None
    if result.objective is not None and result.lower_bound is not None:
        gap = result.objective - result.lower_bound
    if result.gap != gap:
        problems.append(f"the gap is {result.gap}; the objective less the lower bound is {gap}")
    return problems + _check_status(result, gap)


def _check_status(result: Result, gap: float | None) -> list[str]:
    """Optimal means that the gap is at most the tolerance, and a limit that it is not; of local answers, converged."""
    tolerance = getattr(result.method, "tolerance", None)
    scale = max(1.0, result.objective or 0.0)
    if result.status == "optimal":
        most = (TOLERANCE if tolerance is None else tolerance) * scale
        if gap is None or gap > most + 1e-12:
            return [f"the status is optimal, but the gap is {gap}, not within {most:.6g}"]
    elif gap is not None and tolerance is not None:
        if result.coherence == "global" and gap <= tolerance * scale:
            return [f"the status is {result.status}, but the gap is {gap:.6g}, within the tolerance"]
        if result.coherence == "local" and result.status == "converged" and gap > 2 * max(tolerance, 1e-7) * scale:
            return [f"the status is converged, but the gap is {gap:.6g}"]
    return []


def cut(problems: list[str]) -> list[str]:
    """Give the first problems of a kind, and how many there are."""
    if len(problems) <= SHOWN:
        return problems
    return [*problems[:SHOWN], f"... and {len(problems) - SHOWN:,} more of this kind"]
