"""The pages of the panels without outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from coherently.explain.verdicts import CheckStatus
from experiments.evaluation.details import interval, relation_table
from experiments.evaluation.front import bullets
from experiments.evaluation.panels import experiments, read, true_probabilities
from experiments.evaluation.poker import nearness
from experiments.markdown import table

if TYPE_CHECKING:
    from coherently.explain import Check

BACK = "[All panels](../evaluation.md)."
PAIRS = (
    ("Individual (normalised)", "Raw"),
    ("Individual (exact)", "Raw"),
    ("Individual (exact)", "Individual (normalised)"),
    ("Linear average", "Individual (exact)"),
    ("Aggregate (exact)", "Linear average"),
    ("Aggregate (exact)", "Linear average (normalised)"),
)


def judgements() -> tuple[list[str], list[str]]:
    """The page of human_probjudg_mean, and its findings."""
    panels = experiments("human_probjudg_mean.csv")
    checks = {name: co.check(panel) for name, panel in panels.items()}
    notes = dict.fromkeys(note for found in checks.values() for note in found.notes)
    parts = [
        "# human_probjudg_mean: people on weather and politics",
        "Means of three answers of each person to each event (Zhu, Sanborn and Chater 2020; Sundh, Zhu, Chater and Sanborn 2023; "
        "CC BY 4.0). There are next to no outcomes, so nothing here is about accuracy.",
        BACK,
        table(
            ("experiment", "people", "events", "incoherent", "median distance", "root mean square change"),
            [_coherence_row(name, found) for name, found in checks.items()],
        ),
        *(["Distances: " + "; ".join(notes) + "."] if notes else []),
    ]
    for name, panel in panels.items():
        parts += [f"## Relations in {name}", relation_table(panel)]
    bad = sum(found.judges.count(CheckStatus.INCOHERENT) for found in checks.values())
    return parts, [f"{bad} of {sum(len(found.judges) for found in checks.values())} people are incoherent."]


def hands() -> tuple[list[str], list[str]]:
    """The page of human_poker, and its findings."""
    panel, truth = read("human_poker.csv", "human_poker.laws"), true_probabilities("human_poker.csv")
    found = nearness(panel, truth)
    said = [_near_sentence(*pair, *found.interval(*pair)) for pair in PAIRS]
    parts = [
        "# human_poker: people on poker hands, where the truth is known",
        f"Zhu, Newall, Sundh, Chater and Sanborn 2022 (CC BY 4.0): {panel.summary()}, six partitions of three. The meanings of the "
        f"questions are inferred; {len(truth)} events have a true probability. Scored is the mean squared distance from the true "
        "probability, for each judge, then averaged over judges; 95% intervals over judges, on these events; averages and "
        "aggregates are made anew in each draw.",
        BACK,
        relation_table(panel),
        table(
            ("method", "mean squared distance"),
            [[method, interval(*found.interval(method))] for method in found.methods],
        ),
        bullets(said),
    ]
    return parts, said[-2:]


def _coherence_row(name: str, found: Check) -> list[str]:
    columns = found.columns()
    distance, count = np.asarray(columns["distance"]), np.asarray(columns["forecasts"])
    bad = sum(coherent is False for coherent in columns["coherent"])
    return [
        name,
        str(len(distance)),
        str(len(found.panel.written)),
        f"{bad} of {len(distance)}",
        f"{np.median(distance):.2f}",
        f"{np.sqrt(np.sum(distance**2) / count.sum()):.3f}",
    ]


def _near_sentence(first: str, second: str, mean: float, low: float, high: float) -> str:
    side = "nearer to" if mean < 0 else "farther from"
    shown = "excludes 0" if low > 0 or high < 0 else "contains 0, so no difference is shown"
    return (
        f"{first} is {side} the truth than {second}, by {abs(mean):.4f} (95% interval over judges {low:+.4f} to "
        f"{high:+.4f}): the interval {shown}."
    )
