"""What only the page of llm_panel_scraped has: what the laws add, other draws of judges, time, and the first figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from bench.measure import timed
from bench.runs import verified
from experiments.evaluation.front import bullets
from experiments.evaluation.panels import honest, read
from experiments.markdown import table

if TYPE_CHECKING:
    from coherently.panel import Panel
    from experiments.evaluation.scored import Scored

REMADE = 100
EXACT_SEEDS = 12
EXACT_TARGET = 3.0
EXACT_GAP = 1e-6
SECTION_14 = {
    "Linear average": 0.1329,
    "Exact": 0.1283,
    "Median, then exact": 0.1244,
    "Tuned pool": 0.1277,
    "Tuned recipe": 0.1229,
}
"""What the first, throw-away scripts gave: Brier scores over resolved forecasts, 5 folds."""


def sections(lawful: Panel, scored: Scored, time_and_gap: str) -> list[str]:
    """The parts that follow the generic ones; `lawful` has all judges."""
    judged, judged_lawful = honest(read("llm_panel_scraped.csv")), honest(lawful)
    free = co.aggregate(judged, "exact").solution.value[judged.event_index]
    comparison = co.compare(judged_lawful, {"Exact without laws": replace(judged_lawful, probability=free)})
    return [
        "## What the laws add",
        comparison.difference("Aggregate (exact)", "Exact without laws").sentence,
        *_remade(judged),
        "## Time and gap",
        time_and_gap,
        "## The first figures, reproduced and corrected",
        *section_14(judged_lawful, scored),
    ]


def _remade(panel: Panel) -> list[str]:
    """The differences that matter, with aggregates made anew."""
    comparison = co.compare(panel, bootstrap=REMADE, remake=True)
    pairs = (
        ("Aggregate (paper)", "Linear average"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Aggregate (paper)"),
    )
    return [
        f"With aggregates made anew by the judges of each draw ({REMADE} draws, so the ends are rough), without laws:",
        bullets(comparison.difference(*pair).sentence for pair in pairs),
    ]


def time_exact(panel: Panel) -> str:
    """Aggregate all judges' forecasts to a proved gap, with every seed of the search."""
    runs = []
    for seed in range(EXACT_SEEDS):
        method = co.Exact(tolerance=EXACT_GAP, seed=seed)
        runs.append(verified(panel, *timed(lambda: co.aggregate(panel, method))))  # noqa: B023
    worst, gap = max(run.clock for run in runs), max(run.gap for run in runs)
    met = worst <= EXACT_TARGET and gap <= EXACT_GAP
    return (
        f"Exact aggregation of all judges without laws, seeds 0 to {EXACT_SEEDS - 1}: at most {worst:.1f} s on the clock, at "
        f"most {max(run.seconds for run in runs):.1f} s of the processor, relative gap at most {gap:.0e}, every answer "
        f"verified. The target, {EXACT_GAP:g} within {EXACT_TARGET:g} s for every seed, was {'met' if met else 'missed'} in "
        "this run; times depend on what else the machine does."
    )


def section_14(panel: Panel, scored: Scored) -> list[str]:
    """The figures that throw-away scripts gave, beside ours, over forecasts as theirs."""
    pooled = replace(panel, judges=("all",), judge_index=np.zeros_like(panel.judge_index))
    own = co.tune(pooled).scores
    median = co.compare(pooled, {"Median, then exact": co.Pool("median", then=co.Exact())}, bootstrap=0)
    ours = {name: float(own.value[own.methods.index(name), 0]) for name in SECTION_14 if name in own.methods}
    ours["Median, then exact"] = float(median.value[median.methods.index("Median, then exact"), 0])
    rows = [[name, f"{then:.4f}", f"{ours[name]:.4f}"] for name, then in SECTION_14.items()]
    return [
        "Before the package could tune, throw-away scripts gave figures for this panel: Brier scores over all resolved forecasts, "
        "where this page has means over judges. The same, made by the package (one judge who has all forecasts):",
        table(("method", "first figures", "now, out of fold"), rows),
        *_explained(ours, scored),
    ]


def _explained(ours: dict[str, float], scored: Scored) -> list[str]:
    apart = {name: ours[name] - then for name, then in SECTION_14.items()}
    same = [name for name, gap in apart.items() if abs(gap) < 1e-4]
    lines = [f"Reproduced to the fourth decimal: {'; '.join(same) or 'none'}."]
    lines += [
        f"{name} is corrected: {ours[name]:.4f} in place of {SECTION_14[name]:.4f}."
        for name in SECTION_14
        if name not in same
    ]
    lines.append(
        f"One group of related events has {scored.share:.0%} of the forecasts. Whole groups are kept out of what teaches them, so "
        f"its recipe is learned from the other {1 - scored.share:.0%}. The scripts are not kept, so how they divided the large "
        "group cannot be said."
    )
    gain = 1 - ours["Tuned recipe"] / ours["Tuned pool"]
    lines.append(
        f"What coherence is worth on top of the tuned pool is {gain:.1%} of its score now, and was "
        f"{1 - SECTION_14['Tuned recipe'] / SECTION_14['Tuned pool']:.1%} in the first figures."
    )
    return [bullets(lines)]
