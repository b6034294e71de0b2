"""The sentences that close the first paragraph of a page, and those on laws and method in its appendix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.events import words_or_none
from coherently.explain.people_sentences import number_word, opened, percent
from coherently.report.headline import counted_word
from coherently.solve import Coherence, Status

if TYPE_CHECKING:
    from coherently.panel import Panel
    from coherently.report.contradicting_judges import WhoContradicts
    from coherently.report.event_titles import EventTitles
    from coherently.result import Result

LAWS = 60
"""Maximum number of laws that are listed."""


def answers_sentence(panel: Panel, who: WhoContradicts | None, *, moved: bool) -> str:
    """Who answered, and who contradicts what; only what the page shows is called a contradiction."""
    count = counted(len(panel), "answer")
    if len(panel.judges) == 1:
        fits = (
            "" if who is None or who.open else ", which contradict each other" if who.count else ", which fit together"
        )
        return f"{panel.judges[0]} gave {count}{fits}."
    begun = opened(f"{number_word(len(panel.judges))} judges gave {count}")
    if who is None:
        return f"{begun}."
    averages = who.averages is not None and moved
    if not who.count:
        said = "nobody is known to contradict themselves" if who.open else "nobody contradicts themselves"
        return f"{begun}; {said}, {'but' if averages else 'and'} the averages {_averages(who, averages=averages)}."
    verb = "contradicts itself" if who.count == 1 else "contradict themselves"
    ending = "and so do the averages" if averages else f"but the averages {_averages(who, averages=averages)}"
    open_ = f" {opened(number_word(who.open))} could not be decided in time." if who.open else ""
    return f"{begun}; {counted_word(who.count, who.total)} {verb}, {ending}.{open_}"


def _averages(who: WhoContradicts, *, averages: bool) -> str:
    if averages:
        return "contradict each other"
    return "were not decided in time" if who.averages_open else "fit together"


def proof_sentence(result: Result, *, moved: bool) -> str:
    """What the numbers are, and what is proved of them."""
    if result.coherence is Coherence.NONE:
        plain = result.method.name == "linear"
        return (
            "The numbers here are plain averages, which were not made to fit together."
            if plain
            else "Each number here was pooled on its own; the numbers may contradict each other."
        )
    if result.coherence is Coherence.LOCAL:
        return "The numbers here fit together within each group of questions; across groups they may not."
    if result.status is Status.OPTIMAL:
        if not moved:
            return "Nothing had to change: the numbers here are the averages, and they contradict nothing."
        return "The numbers here are the nearest ones that contradict nothing, and that is proved."
    apart = _apart(result)
    if apart is None:
        return "The numbers here contradict nothing; they are the nearest that were found, which is not proved."
    return f"The numbers here contradict nothing and are the nearest that were found, within {apart} points."


def _apart(result: Result) -> str | None:
    """How far any number is from that of the nearest answer, at most, in per cents; None if that does not follow.

    The objective is the sum of w (x - m)^2 over a convex set, so that an answer whose gap is g has for every event
    w (x - x*)^2 <= g: each number is within sqrt(g / w) of the nearest.
    """
    weight = np.asarray(result.columns()["weight"], np.float64)
    if not result.loss.is_quadratic or result.conditionals is not None or result.gap is None or not (weight > 0).any():
        return None
    points = 100.0 * math.sqrt(max(result.gap, 0.0) / float(weight[weight > 0].min()))
    return f"{points:.1g}" if points < 1.0 else f"{points:.0f}" if points < 50.0 else None


def law_sentences(panel: Panel, titles: EventTitles) -> tuple[tuple[str, str | None], ...]:
    """Each law in words, and as it is written if that is something else; declarations as they are written."""
    laws = panel.laws
    formulas = set(laws.text)
    found: list[tuple[str, str | None]] = []
    for text in laws.statements()[:LAWS]:
        words = words_or_none(text, titles.inside) if text in formulas else None
        found.append((text, None) if words is None or words == text else (opened(words), text))
    return tuple(found)


def method_sentences(result: Result) -> tuple[str, ...]:
    """What was done, step by step."""
    weights = np.unique(result.panel.weight.round(9))
    by_weight = "" if len(weights) <= 1 else ", each counted by its weight"
    steps = [f"Answers to the same question are averaged{by_weight}."]
    if result.coherence is Coherence.NONE:
        name = "" if result.method.name == "linear" else f", by the method {result.method.name}"
        steps[0] = f"Answers to the same question are pooled, question by question{name}."
    elif result.coherence is Coherence.LOCAL:
        steps.append(
            "The averages move as little as they must until they fit together within each group of questions "
            f"({result.groups or 'groups'})."
        )
    else:
        least = "is the least possible" if result.status is Status.OPTIMAL else "is the least that was found"
        what = (
            "the sum of squared differences"
            if result.loss.name == "brier"
            else f"the distance (loss {result.loss.name})"
        )
        steps.append(
            f"Of all numbers that can be true together, those are taken that lie nearest to the averages: {what}, each "
            f"counted as often as the question was answered, {least}."
        )
    steps.append(
        f"Per cents are rounded so that they still fit: what makes up everything makes {percent(1.0)}, and nothing is "
        "shown above what it implies."
    )
    return tuple(steps)
