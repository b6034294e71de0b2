"""`make evaluate`: real panels of language models and of people, written to docs/evaluation.md."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import coherently as co
from bench.measure import timed
from bench.runs import verified
from coherently.checks.verdicts import CheckStatus
from experiments.baselines import averaged
from experiments.markdown import stamp, table, write_page
from experiments.panels import experiments, honest, read, require_data, true_probabilities
from experiments.poker import nearness
from experiments.relations import SLACK, broken_relations

if TYPE_CHECKING:
    from coherently.checks import Check
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.scoring import Comparison
    from coherently.solve import Method

ALONE = co.Exact(tolerance=1e-3, time_limit=300)
"""For each judge alone: the gap is small beside what is told, and met long before the time."""
TIME_LIMIT = 120.0
"""Seconds for each exact aggregate."""
REMADE = 100
EXACT_SEEDS = 12
EXACT_TARGET = 3.0
EXACT_GAP = 1e-6
PAIRS = (
    ("Individual", "Raw"),
    ("Linear average", "Raw"),
    ("Linear average", "Individual"),
    ("Aggregate (paper)", "Linear average"),
    ("Aggregate (exact)", "Linear average"),
    ("Aggregate (exact)", "Aggregate (paper)"),
    ("Individual (exact)", "Individual"),
    ("Normalised average", "Linear average"),
    ("Aggregate (exact)", "Normalised average"),
    ("Aggregate (exact)", "Median"),
    ("Aggregate (exact)", "Log pool"),
    ("Aggregate (exact)", "Extremised"),
    ("Aggregate (exact)", "Neyman-Roughgarden"),
    ("Median, then exact", "Aggregate (exact)"),
    ("Median, then exact", "Median"),
    ("Aggregate (exact)", "Mean of Individual (exact)"),
    ("Aggregate (exact)", "Exact without laws"),
)
INTRODUCTION = """\
What coherence does to forecasts that people and language models really made. The panels are read from a folder beside the
repository and are not part of it: licences differ, and some are not stated. Judges whose names begin with `Resolver_`
searched the web and may have seen outcomes: they count for coherence, and not for accuracy.

Scores are means over judges, each judge scored on the events that the judge forecast, with the method's probabilities in
place of the judge's (section 5.2 of the paper); lower Brier and log scores are better, higher slopes. *Normalised average*
to *Neyman-Roughgarden* are pools that look at each event alone (`co.Pool`), the first of them divided by the sum over each
partition; *Median, then exact* makes the medians coherent; *Mean of Individual (exact)* makes each judge coherent alone,
exactly, and then averages. A difference is called one only where its interval excludes 0; with so
many differences some do so by chance. Where the status is `time_limit`, a faster machine gives a nearer answer: such figures
are the only ones, beside times, that a second run may change."""
POOLS = {
    "Normalised average": "normalised",
    "Median": "median",
    "Log pool": "log",
    "Extremised": "extremised",
    "Neyman-Roughgarden": "neyman-roughgarden",
}
Rival: TypeAlias = "str | Panel | Method"
Section: TypeAlias = tuple[list[str], list[str]]
"""The parts of a section of the page, and the findings that head the page."""
LIMITS = """\
## What this does and does not show

- The intervals take other judges and other questions of the same kind into account. They do not know that questions hang
  together in ways that no law says (several questions about one election), nor that several judges are one model under
  different prompts; they are too narrow by as much.
- Aggregates are not made anew in each resample: the intervals are about these aggregates.
- Few judges make percentile intervals over judges too narrow.
- Language models may have been trained on texts about the outcomes. That flatters all methods, and need not change which
  is better.
- What is broken (the tables of relations) is counted on simple relations alone. Distances count everything.
- Coherence repairs contradictions; it adds no knowledge. Where averaging has already removed most contradictions, little
  is left to gain, and the tables show how little.
- People's panels without outcomes say nothing about accuracy."""


def main() -> None:
    """Evaluate every panel and write the page."""
    require_data()
    begun = time.perf_counter()
    parts, findings = [], []
    for section in (_resolved, _everything, _conditional, _people, _poker):
        print(f"{section.__name__.strip('_')} ...", flush=True)
        told, found = section()
        parts += told
        findings += found
    short = "## In short\n\n" + "\n".join(f"- {finding}" for finding in findings)
    head = ["# Real panels", stamp("make evaluate", time.perf_counter() - begun), INTRODUCTION, short]
    parts = [*head, *parts, LIMITS]
    print(f"{write_page('evaluation.md', parts)} written")


def _resolved() -> Section:
    panel = read("llm_panel_scraped.csv")
    lawful = read("llm_panel_scraped.csv", "llm_panel_scraped.laws")
    alone = {name: co.aggregate(panel.judge(name), ALONE) for name in panel.judges}
    judged = honest(panel)
    exact = _alone(judged, alone)
    free = co.aggregate(judged, "exact").solution.value[judged.event_index]
    judged_lawful = honest(lawful)
    told, comparison = _accuracy(
        judged,
        {
            "Median, then exact": co.Pool("median", then=co.Exact()),
            "Individual (exact)": exact,
            "Mean of Individual (exact)": averaged(exact),
        },
    )
    told_lawful, under_laws = _accuracy(judged_lawful, {"Exact without laws": replace(judged_lawful, probability=free)})
    parts = [
        "## Language models on resolved questions",
        f"`llm_panel_scraped.csv`: {panel.summary()}; every event is resolved, repeated elicitations are averaged. "
        "`llm_panel_scraped.laws` has implications between questions.",
        "### Coherence of each judge",
        *_coherence(alone),
        *_contradictions(lawful),
        "### Accuracy",
        *told,
        *_remade(judged),
        "### Accuracy under the laws",
        "The same, where a method must also respect the implications; *Exact without laws* is the exact aggregate from above.",
        *told_lawful,
        "### Time and gap",
        _time_exact(panel),
    ]
    shown = (
        ("Aggregate (exact)", "Raw"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Normalised average"),
        ("Aggregate (exact)", "Median"),
        ("Aggregate (exact)", "Aggregate (paper)"),
        ("Aggregate (exact)", "Mean of Individual (exact)"),
        ("Median, then exact", "Aggregate (exact)"),
        ("Median, then exact", "Median"),
    )
    return parts, [
        *(_finding("Models, resolved questions", comparison, *pair) for pair in shown),
        _finding("Models, under laws", under_laws, "Aggregate (exact)", "Exact without laws"),
    ]


def _finding(where: str, comparison: Comparison, first: str, second: str) -> str:
    if not {first, second} <= set(comparison.methods):
        return f"{where}: {first} and {second} could not both be run; see the note."
    return f"{where}: {comparison.difference(first, second).sentence}"


def _remade(panel: Panel) -> list[str]:
    """The differences that matter, with aggregates made anew."""
    comparison = co.compare(panel, bootstrap=REMADE, remake=True)
    pairs = (
        ("Aggregate (paper)", "Linear average"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Aggregate (paper)"),
    )
    return [
        f"With aggregates made anew by the judges of each draw ({REMADE} draws, so the ends are rough):",
        "\n".join(f"- {comparison.difference(*pair).sentence}" for pair in pairs),
    ]


def _alone(panel: Panel, results: dict[str, Result]) -> Panel:
    """The panel with each judge's forecasts replaced by those of the judge's own result."""
    value = panel.probability.copy()
    for i, name in enumerate(panel.judges):
        rows = results[name]
        value[panel.judge_index == i] = rows.solution.value[rows.panel.event_index]
    return replace(panel, probability=value)


def _everything() -> Section:
    panel = read("llm_scraped_all.csv", "llm_panel_scraped.laws")
    judged = honest(panel)
    told, comparison = _accuracy(judged, {})
    parts = [
        "## The same source with conditionals, repeats and unresolved events",
        f"`llm_scraped_all.csv` under `llm_panel_scraped.laws`: {panel.summary()}. Only resolved forecasts are scored; a "
        "conditional whose condition failed is called off.",
        *_contradictions(panel),
        "### Accuracy",
        *told,
    ]
    shown = (
        ("Aggregate (paper)", "Linear average"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Median"),
    )
    return parts, [_finding("Models, with conditionals", comparison, *pair) for pair in shown]


def _conditional() -> Section:
    panel = read("conditional_llm.csv")
    told, comparison = _accuracy(panel, {})
    parts = [
        "## Language models on conditionals",
        f"`conditional_llm.csv`: {panel.summary()}. Several judges are one model under different prompts, so the judges "
        "are less independent than their number says.",
        *_contradictions(panel),
        "### Accuracy",
        *told,
    ]
    shown = (
        ("Aggregate (paper)", "Linear average"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Median"),
    )
    return parts, [_finding("Models, conditionals alone", comparison, *pair) for pair in shown]


def _people() -> Section:
    panels = experiments("human_probjudg_mean.csv")
    checks = {name: co.check(panel) for name, panel in panels.items()}
    notes = dict.fromkeys(note for found in checks.values() for note in found.notes)
    parts = [
        "## People on weather and politics",
        "`human_probjudg_mean.csv` (Zhu, Sanborn and Chater 2020; Sundh, Zhu, Chater and Sanborn 2023): means of three "
        "answers a person and event. There are next to no outcomes, so nothing here is about accuracy.",
        table(
            ("experiment", "people", "events", "incoherent", "median distance", "root mean square change"),
            [_coherence_row(name, found) for name, found in checks.items()],
        ),
        *(["Distances: " + "; ".join(notes) + "."] if notes else []),
    ]
    for name, panel in panels.items():
        parts += [f"Relations in {name}:", _relation_table(panel)]
    bad, count = (
        sum(number)
        for number in zip(
            *((found.judges.count(CheckStatus.INCOHERENT), len(found.judges)) for found in checks.values()), strict=True
        )
    )
    return parts, [f"People: {bad} of {count} are incoherent about weather and politics."]


def _poker() -> Section:
    panel, truth = read("human_poker.csv", "human_poker.laws"), true_probabilities("human_poker.csv")
    found = nearness(panel, truth)
    rows = [[method, _interval(*found.interval(method))] for method in found.methods]
    pairs = (
        ("Individual (normalised)", "Raw"),
        ("Individual (exact)", "Raw"),
        ("Individual (exact)", "Individual (normalised)"),
        ("Linear average", "Individual (exact)"),
        ("Aggregate (exact)", "Linear average"),
        ("Aggregate (exact)", "Linear average (normalised)"),
    )
    said = {pair: _near_sentence(*pair, *found.interval(*pair)) for pair in pairs}
    parts = [
        "## People on poker hands, where the truth is known",
        f"`human_poker.csv` (Zhu, Newall, Sundh, Chater and Sanborn 2022): {panel.summary()}, six partitions of three. The "
        f"meanings of the questions are inferred; {len(truth)} events have a true probability. Scored is the mean squared "
        "distance from the true probability, for each judge, then averaged over judges; 95% intervals over judges, on these "
        "events; averages and aggregates are made anew in each draw.",
        _relation_table(panel),
        table(("method", "mean squared distance"), rows),
        "\n".join(f"- {sentence}" for sentence in said.values()),
    ]
    return parts, [f"People on poker hands: {sentence}" for sentence in list(said.values())[-2:]]


def _coherence(alone: dict[str, Result]) -> list[str]:
    rows = []
    for name, result in alone.items():
        given = result.panel.probability
        distance = float(np.linalg.norm(given - result.solution.value[result.panel.event_index]))
        sure = result.guaranteed_improvement
        rows.append((distance / np.sqrt(len(given)), name, len(given), distance, sure))
    told = [
        [name, f"{count:,}", f"{distance:.2f}", f"{change:.3f}", "-" if sure is None else f"{sure / count:.4f}"]
        for change, name, count, distance, sure in sorted(rows)
    ]
    bad = sum(distance > 1e-6 for _, _, _, distance, _ in rows)
    return [
        table(("judge", "forecasts", "distance", "root mean square change", "Brier saved for sure"), told),
        f"{bad} of {len(rows)} judges are incoherent. *distance*: from the nearest coherent forecasts (to 0.1% of its square, "
        "proved), over the forecasts as given; *root mean square change*: the same for each forecast; *Brier saved for sure*: "
        "what coherence saves in the judge's mean Brier score, whatever comes true.",
    ]


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


def _contradictions(panel: Panel) -> list[str]:
    return [
        "### Which contradictions are common",
        f"A case is a judge and an instance of the relation; it counts as broken past {SLACK:g}.",
        _relation_table(panel),
    ]


def _relation_table(panel: Panel) -> str:
    rows = [
        [f"`{kind.name}`", f"{len(kind.excess):,}", f"{kind.broken:.0%}", f"{kind.mean:.3f}", f"{kind.size:.3f}"]
        for kind in broken_relations(panel)
    ]
    return table(("relation", "cases", "broken", "by, where broken", "by, over all"), rows)


def _accuracy(panel: Panel, rivals: dict[str, Rival]) -> tuple[list[str], Comparison]:
    comparison = co.compare(panel, {"Aggregate (Dykstra)": "dykstra", **POOLS, **rivals}, time_limit=TIME_LIMIT)
    notes = "\n".join(f"- Note: {note.rstrip('.')}." for note in comparison.notes)
    parts = [
        f"{comparison.scored:,} resolved forecasts of {comparison.judges} judges; 95% intervals over judges and events at "
        "once, aggregates as they are. Then differences; a star where the interval excludes 0.",
        _comparison_table(comparison),
        _difference_table(comparison),
    ]
    return [*parts, *([notes] if notes else [])], comparison


def _difference_table(comparison: Comparison) -> str:
    rows = []
    for first, second in PAIRS:
        if {first, second} <= set(comparison.methods):
            found = [comparison.difference(first, second, score) for score in ("brier", "log", "slope")]
            cells = [
                f"{one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}]{'*' if one.excludes_zero else ''}"
                for one in found
            ]
            rows.append([f"{first} - {second}", *cells])
    return table(("difference", "Brier", "log score", "slope"), rows)


def _comparison_table(comparison: Comparison) -> str:
    columns = comparison.columns()
    rows = []
    for i, row in enumerate(comparison.rows):
        cells = [
            _interval(*(columns[name][i] for name in (score, f"{score}_low", f"{score}_high")))
            for score in ("brier", "log", "slope")
        ]
        gap = "-" if row.gap is None else f"{row.gap:.0e}"
        rows.append([row.name, *cells, f"{row.seconds:.2f}" if row.seconds else "-", row.status or "-", gap])
    return table(("method", "Brier", "log score", "slope", "seconds", "status", "gap"), rows)


def _time_exact(panel: Panel) -> str:
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


def _interval(value: float, low: float, high: float) -> str:
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _near_sentence(first: str, second: str, mean: float, low: float, high: float) -> str:
    side = "nearer to" if mean < 0 else "farther from"
    shown = "excludes 0" if low > 0 or high < 0 else "contains 0, so no difference is shown"
    return (
        f"{first} is {side} the truth than {second}, by {abs(mean):.4f} (95% interval over judges {low:+.4f} to "
        f"{high:+.4f}): the interval {shown}."
    )


if __name__ == "__main__":
    main()
