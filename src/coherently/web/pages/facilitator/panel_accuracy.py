"""How accurate judges and panel were, and what other recipes would have done, once outcomes are known."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.web.shapes.aggregation_shapes import ResultView

LARGEST = 2_000
"""Maximum number of forecasts for which other recipes are tried while the page waits."""
SECONDS = 1.0
"""Time limit of each recipe, in seconds."""
BOLDER = 1.5
"""The exponent of the recipe that makes log odds bolder."""
CALLED_OFF = -2
"""The outcome of a conditional whose condition did not come true."""


def accuracy_of(found: ResultView, outcomes: dict[str, Any]) -> SimpleNamespace | None:
    """Scores with the outcomes that are known now; None while there are none."""
    known = {event: value for event, value in outcomes.items() if value is not None}
    if not known:
        return None
    rows = json.dumps([[row["judge"], row["event"], row["probability"]] for row in found.forecasts])
    after = json.dumps({row.event: row.probability for row in found.events})
    scores = _accuracy(rows, json.dumps(found.laws), json.dumps(known, sort_keys=True), after)
    if scores is None or found.result.get("coherence") != "none":
        return scores
    first, *others = scores.panel
    pooled = SimpleNamespace(kind=first.kind, name=plain("accuracy.pooled"), score=first.score)
    return SimpleNamespace(**{**vars(scores), "panel": [pooled, *others]})


@lru_cache(maxsize=32)
def _accuracy(rows: str, laws: str, outcomes: str, after: str) -> SimpleNamespace | None:
    from coherently.panel import Panel
    from coherently.scoring import score

    try:
        given = [tuple(row) for row in json.loads(rows)]
        panel = Panel.from_records(given, laws=json.loads(laws), outcomes=json.loads(outcomes))
    except CoherentlyError:
        return None
    values = json.loads(after)
    coherent = _brier(panel, [values.get(text) for text in panel.written.text])
    if coherent is None:
        return None
    scores = score(panel).as_dict()
    judges = [each for each in scores["judges"] if each["scored"]]
    recipes = _recipes(panel) if len(panel) <= LARGEST else []
    average = next((each.score for each in recipes if each.key == "linear"), None)
    if average is None:
        average = _brier(panel, _averages(panel))
    return _view(
        coherent, average or coherent, judges, recipes, called_off=int((panel.written.outcome == CALLED_OFF).sum())
    )


def _view(
    coherent: float, average: float, judges: list[dict[str, Any]], recipes: list[SimpleNamespace], called_off: int
) -> SimpleNamespace:
    mean = sum(each["brier"] for each in judges) / len(judges)
    top = [("coherent", coherent), ("average", average), ("judges", mean)]
    people = sorted((each["brier"], each["judge"]) for each in judges)
    every = [value for _, value in top] + [value for value, _ in people]
    low, high = max(0.0, 0.9 * min(every)), min(1.0, 1.1 * max(every) + 0.01)
    others = [each for each in recipes if each.key not in ("auto", "linear")]
    return SimpleNamespace(
        panel=[SimpleNamespace(kind=kind, name=plain(f"accuracy.{kind}"), score=value) for kind, value in top],
        judges=[SimpleNamespace(kind="judge", name=name, score=value) for value, name in people],
        low=low,
        high=high,
        axis=axis(low, high),
        called_off=called_off,
        recipes=recipes,
        best=min(others, key=lambda each: each.score) if others else None,
    )


def axis(low: float, high: float) -> list[tuple[str, float]]:
    """Round numbers between two ends, three at most or so.

    >>> axis(0.09, 0.23)
    [('0.10', 0.1), ('0.15', 0.15), ('0.20', 0.2)]
    """
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / step <= 3)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(f"{step * place:.2f}", round(step * place, 2)) for place in range(first, last + 1)]


def _brier(panel: Panel, values: list[float | None]) -> float | None:
    """The mean Brier score of one number for each event as written, over the events that are resolved."""
    pairs = [
        (value, float(outcome))
        for value, outcome in zip(values, panel.written.outcome.tolist(), strict=True)
        if outcome >= 0 and value is not None
    ]
    return sum((value - outcome) ** 2 for value, outcome in pairs) / len(pairs) if pairs else None


def _averages(panel: Panel) -> list[float | None]:
    sums: dict[int, list[float]] = {}
    for event, value in zip(panel.event_index.tolist(), panel.probability.tolist(), strict=True):
        sums.setdefault(event, []).append(value)
    return [sum(sums[event]) / len(sums[event]) if event in sums else None for event in range(len(panel.written))]


def _recipes(panel: Panel) -> list[SimpleNamespace]:
    """The recipes that took part, by their scores."""
    from coherently.result import aggregate
    from coherently.solve.methods.exact import Exact
    from coherently.solve.methods.recipe import Recipe

    then = Exact(time_limit=SECONDS)
    tried: dict[str, Any] = {
        "auto": then,
        "linear": "linear",
        "median": Recipe(pool="median", then=then),
        "logarithmic": Recipe(pool="log", then=then),
        "bolder": Recipe(pool="log", exponent=BOLDER, then=then),
    }
    found = []
    for key, method in tried.items():
        try:
            value = _brier(panel, [float(each) for each in aggregate(panel, method).columns()["probability"]])
        except CoherentlyError:
            continue
        if value is not None:
            found.append(SimpleNamespace(key=key, name=plain(f"recipe.{key}"), score=value, used=key == "auto"))
    return sorted(found, key=lambda each: each.score)
