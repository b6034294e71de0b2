"""How accurate judges and panel were, and what other recipes would have done, once outcomes are known."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from statistics import mean
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain
from coherently.web.operations.known_scores import (
    answers_of,
    averages_of,
    judge_scores,
    known_score,
    resolved_panel,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel
    from coherently.web.shapes.aggregation_shapes import KnownScore, ResultView

LARGEST = 2_000
"""Maximum number of forecasts for which other recipes are tried while the page waits."""
SECONDS = 1.0
"""Time limit of each recipe, in seconds."""
BOLDER = 1.5
"""The exponent of the recipe that makes log odds bolder."""
EVEN = 5e-4
"""Scores that differ by less look the same."""
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
    pooled = SimpleNamespace(**vars(first) | {"name": plain("accuracy.pooled")})
    return SimpleNamespace(**{**vars(scores), "panel": [pooled, *others]})


@lru_cache(maxsize=32)
def _accuracy(rows: str, laws: str, outcomes: str, after: str) -> SimpleNamespace | None:
    given = [dict(zip(("judge", "event", "probability"), row, strict=True)) for row in json.loads(rows)]
    resolved = resolved_panel(given, json.loads(laws), json.loads(outcomes))
    if resolved is None:
        return None
    made = {event: value for event, value in json.loads(after).items() if value is not None}
    answers = [each for each in answers_of(resolved) if each[1] in made]
    coherent, average = known_score("coherent", answers, made), known_score("average", answers, averages_of(answers))
    if coherent is None or average is None:
        return None
    recipes = _recipes(resolved, answers) if len(resolved) <= LARGEST else []
    called_off = int((resolved.written.outcome == CALLED_OFF).sum())
    return _view(coherent, average, judge_scores(answers), recipes, called_off=called_off)


def _view(
    coherent: KnownScore,
    average: KnownScore,
    judges: list[KnownScore],
    recipes: list[SimpleNamespace],
    called_off: int,
) -> SimpleNamespace:
    usual = {name: mean(getattr(each, name) for each in judges) for name in ("per_answer", "per_event")}
    top = [_row("coherent", coherent), _row("average", average)]
    top.append(SimpleNamespace(kind="judges", score=usual["per_answer"], per_event=usual["per_event"]))
    panel = [SimpleNamespace(**vars(each), name=plain(f"accuracy.{each.kind}")) for each in top]
    people = [SimpleNamespace(**vars(_row("judge", each)), name=each.name) for each in judges]
    every = [each.score for each in (*panel, *people)]
    low, high = max(0.0, 0.9 * min(every)), min(1.0, 1.1 * max(every) + 0.01)
    others = [each for each in recipes if each.key not in ("auto", "linear")]
    return SimpleNamespace(
        panel=panel,
        judges=people,
        low=low,
        high=high,
        axis=axis(low, high),
        called_off=called_off,
        worse=coherent.per_answer > average.per_answer + EVEN,
        recipes=recipes,
        best=min(others, key=lambda each: each.score) if others else None,
    )


def _row(kind: str, found: KnownScore) -> SimpleNamespace:
    return SimpleNamespace(kind=kind, score=found.per_answer, per_event=found.per_event)


def axis(low: float, high: float) -> list[tuple[str, float]]:
    """Round numbers between two ends, three at most or so.

    >>> axis(0.09, 0.23)
    [('0.10', 0.1), ('0.15', 0.15), ('0.20', 0.2)]
    """
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / step <= 3)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(f"{step * place:.2f}", round(step * place, 2)) for place in range(first, last + 1)]


def _recipes(panel: Panel, answers: Sequence[tuple[str, str, float, int]]) -> list[SimpleNamespace]:
    """The recipes that took part, by their scores per answer."""
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
            columns = aggregate(panel, method).columns()
        except CoherentlyError:
            continue
        made = {event: float(value) for event, value in zip(columns["event"], columns["probability"], strict=True)}
        score = known_score(key, answers, made)
        if score is not None:
            named = {"name": plain(f"recipe.{key}"), "score": score.per_answer}
            found.append(SimpleNamespace(key=key, used=key == "auto", **named))
    return sorted(found, key=lambda each: each.score)
