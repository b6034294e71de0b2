"""The page of one panel with outcomes: who contradicts himself, what is broken, and how accurate each method is."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import coherently as co
from coherently.explain.verdicts import CheckStatus
from experiments.evaluation.front import bullets, signed
from experiments.evaluation.relations import SLACK, broken_relations
from experiments.evaluation.scored import METHODS
from experiments.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.panel import Panel
    from coherently.scoring import Comparison
    from coherently.solve import Method
    from experiments.evaluation.scored import Scored

TIME_LIMIT = 60.0
"""Seconds for each exact aggregate, and for checking all judges."""
MOST_JUDGES = 40
"""Panels with more judges show only some of them."""
ASKED: dict[str, Rival] = {
    "Aggregate (Dykstra)": "dykstra",
    "Extremised": "extremised",
    "Neyman-Roughgarden": "neyman-roughgarden",
    "Margin removed, power": "power",
    "Margin removed, Shin": "shin",
    "Median, then exact": co.Pool("median", then=co.Exact()),
}
PAIRS = (
    ("Individual", "Raw"),
    ("Linear average", "Raw"),
    ("Linear average", "Individual"),
    ("Aggregate (paper)", "Linear average"),
    ("Aggregate (exact)", "Linear average"),
    ("Aggregate (exact)", "Aggregate (paper)"),
    ("Aggregate (exact)", "Extremised"),
    ("Aggregate (exact)", "Neyman-Roughgarden"),
    ("Aggregate (exact)", "Margin removed, power"),
    ("Aggregate (exact)", "Margin removed, Shin"),
    ("Median, then exact", "Aggregate (exact)"),
)
READING = """\
Scores are means over judges, each judge scored on the resolved events that the judge forecast, with the method's
probabilities in place of the judge's (section 5.2 of the paper); lower Brier and log scores are better, higher slopes;
brackets are 95% intervals over judges and events. A star marks a difference whose interval excludes 0."""
MORE = """\
The paper's rows and pools that the first table does not have; the exact aggregate counts intervals and conditionals as they
were given. Where the status is `time_limit`, a faster machine gives a nearer answer: such figures are the only ones,
beside times, that a second run may change."""
Rival: TypeAlias = "str | Panel | Method"


def page(scored: Scored, about: str, every: Panel, panel: Panel, extra: Sequence[str] = ()) -> list[str]:
    """The parts of the page: `every` has all judges, `panel` those who count for accuracy; `extra` parts come last."""
    comparison = co.compare(panel, ASKED, time_limit=TIME_LIMIT)
    tied = f"{scored.tied:,} of {scored.events:,} resolved events share their group with another event"
    return [
        f"# {scored.name}: {scored.of}",
        about,
        f"{every.summary()[0].upper()}{every.summary()[1:]}. The resolved events lie in {_groups(scored)}; {tied}. Coherence moves "
        f"the linear average by at most {scored.moved:.2g} in any event.",
        "[All panels](../evaluation.md).",
        "## Accuracy on events that taught nothing",
        READING,
        scores_table(scored),
        *learned(scored),
        "## Coherence of the judges",
        *coherence(every),
        *contradictions(every),
        "## More methods",
        MORE,
        *accuracy(comparison),
        *extra,
    ]


def _groups(scored: Scored) -> str:
    if scored.groups == 1:
        return "1 group"
    return (
        f"{scored.groups:,} independent groups, the largest of which has {scored.share:.0%} of the resolved forecasts"
    )


def scores_table(scored: Scored) -> str:
    """Each method, out of fold, beside the best and beside the linear average."""
    best, columns = scored.best(), scored.scores.columns()
    rows = []
    for method in (*METHODS, *(rival for rival in scored.rivals if rival not in METHODS)):
        if method in METHODS and method not in scored.shown:
            rows.append([method, f"as {scored.row(method)}", "", "", "", ""])
            continue
        place = scored.scores.methods.index(method)
        cells = [
            interval(*(columns[name][place] for name in (rule, f"{rule}_low", f"{rule}_high")))
            for rule in ("brier", "log")
        ]
        name = f"**{method}**" if method == best else f"{method} (tie)" if method in scored.ties else method
        rows.append(
            [
                name,
                *cells,
                f"{columns['slope'][place]:.3f}",
                "" if method == best else signed(scored, method, best),
                "" if method == "Linear average" else signed(scored, method, "Linear average"),
            ]
        )
    return table(
        ("method", "Brier", "log score", "slope", f"Brier less that of {best}", "less that of Linear average"), rows
    )


def learned(scored: Scored) -> list[str]:
    """What was learned, or why nothing was, and what each step is worth."""
    what = scored.kept or f"Learned from all {scored.events:,} resolved events: {scored.learned}."
    pairs = [("Default recipe", "Linear average"), ("Exact", "Linear average")]
    if scored.learned is not None:
        pairs += [("Tuned recipe", other) for other in ("Linear average", "Tuned pool", "Default recipe")]
    told = [scored.difference(*pair).sentence for pair in pairs]
    if not scored.scores.has_intervals():
        told = [f"On these same events: {scored.scores.difference(*pair, over='judges').sentence}" for pair in pairs]
    notes = [f"Note: {note}." for note in scored.scores.notes if not note.startswith(("Aggregate", "Default"))]
    return [what, bullets([*told, *notes])]


def coherence(panel: Panel) -> list[str]:
    """How many judges contradict themselves, and how far they are from coherence."""
    found = co.check(panel, time_limit=TIME_LIMIT)
    columns = found.columns()
    distance, count = np.asarray(columns["distance"], np.float64), np.asarray(columns["forecasts"])
    change = distance / np.sqrt(count)
    verdicts = [(found.judges.count(status), status.value) for status in CheckStatus]
    said = ", ".join(f"{number:,} {word}" for number, word in verdicts if number)
    order = np.argsort(change, kind="stable").tolist()
    shown = order if len(order) <= MOST_JUDGES else [order[k * (len(order) - 1) // 4] for k in range(5)]
    rows = [
        [
            columns["judge"][i],
            f"{count[i]:,}",
            columns["status"][i],
            "-" if np.isnan(distance[i]) else f"{distance[i]:.2f}",
            "-" if np.isnan(change[i]) else f"{change[i]:.3f}",
        ]
        for i in shown
    ]
    few = "" if len(order) <= MOST_JUDGES else " Five of them, evenly spaced, from the nearest to the farthest:"
    return [
        f"Of {len(order):,} judges: {said}. *distance* is that from the nearest coherent forecasts (the best found, where a note "
        f"says that time was short), *change* its root mean square over the judge's forecasts.{few}",
        table(("judge", "forecasts", "status", "distance", "change"), rows),
        *([bullets(f"Note: {note}." for note in found.notes)] if found.notes else []),
    ]


def contradictions(panel: Panel) -> list[str]:
    """Which simple relations are broken, if the panel has cases of any."""
    kinds = broken_relations(panel)
    if not kinds:
        return []
    return [
        f"Simple relations only: a case is a judge and an instance of the relation; it counts as broken past {SLACK:g}.",
        relation_table(panel),
    ]


def relation_table(panel: Panel) -> str:
    """The simple relations, how often each is broken and by how much."""
    rows = [
        [f"`{kind.name}`", f"{len(kind.excess):,}", f"{kind.broken:.0%}", f"{kind.mean:.3f}", f"{kind.size:.3f}"]
        for kind in broken_relations(panel)
    ]
    return table(("relation", "cases", "broken", "by, where broken", "by, over all"), rows)


def accuracy(comparison: Comparison) -> list[str]:
    """Methods and differences, with notes."""
    notes = [f"Note: {note.rstrip('.')}." for note in comparison.notes]
    return [
        f"{comparison.scored:,} resolved forecasts of {comparison.judges:,} judges.",
        _comparison_table(comparison),
        _difference_table(comparison),
        *([bullets(notes)] if notes else []),
    ]


def _difference_table(comparison: Comparison) -> str:
    rows = []
    for first, second in PAIRS:
        if {first, second} <= set(comparison.methods):
            found = [comparison.difference(first, second, score) for score in ("brier", "log", "slope")]
            cells = [
                f"{one.difference:+.4f}"
                + (f" [{one.low:+.4f}, {one.high:+.4f}]" if one.interval else "")
                + ("*" if one.excludes_zero else "")
                for one in found
            ]
            rows.append([f"{first} - {second}", *cells])
    return table(("difference", "Brier", "log score", "slope"), rows)


def _comparison_table(comparison: Comparison) -> str:
    columns = comparison.columns()
    rows = []
    for i, row in enumerate(comparison.rows):
        cells = [
            interval(*(columns[name][i] for name in (score, f"{score}_low", f"{score}_high")))
            for score in ("brier", "log", "slope")
        ]
        gap = "-" if row.gap is None else f"{row.gap:.0e}"
        rows.append([row.name, *cells, f"{row.seconds:.2f}" if row.seconds else "-", row.status or "-", gap])
    return table(("method", "Brier", "log score", "slope", "seconds", "status", "gap"), rows)


def interval(value: float, low: float, high: float) -> str:
    """A figure with its interval, if it has one."""
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"
