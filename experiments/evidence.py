"""`make evidence`: the run of docs/evaluation-plan.md, written to docs/evidence.md with its figure.

`make evaluate` writes the same page beside its own. `python -m experiments.evidence NAME...` runs some panels only.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import spearmanr

from experiments.evaluation.front import bullets, names, signed
from experiments.evaluation.panels import honest, require_data
from experiments.evaluation.scored import NEGLIGIBLE, score
from experiments.evaluation.sources import PLANNED, by_pattern
from experiments.figures import new_figure, save_figure
from experiments.markdown import stamp, table, write_page

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from coherently.scoring import Comparison
    from experiments.evaluation.scored import Scored
    from experiments.evaluation.sources import Source

WITH, WITHOUT = "Tuned recipe", "Tuned pool"
"""The two rows of the primary contrast."""
LEVEL = 0.05
PROCESSES = 2
"""Panels at a time; each of them uses little more than one processor."""
FEWEST = 8
"""Minimum number of clusters with resolved events for the contrast with the best rival."""
OTHER_CLUSTERS = (
    ("flusight_2017", "component", None),
    ("flusight_2017", "region", by_pattern(r"^[a-z0-9]+(?=_ew)")),
    ("flusight_2526_peak", "state", by_pattern(r"^[a-z]+(?=_)")),
)
"""Other ways to keep events together, to see what the choice matters."""
FIGURE = "evidence-incoherence.svg"


@dataclass(frozen=True, slots=True)
class Contrast:
    """The primary contrast on a panel: its p-value, and that of Holm's correction; None without an interval."""

    one: Scored
    p: float | None
    corrected: float | None

    @property
    def verdict(self) -> str:
        """Whether the coherent step is shown to help, or to hurt, with Holm's correction."""
        found = self.one.difference(WITH, WITHOUT)
        if self.corrected is None:
            return "undecided: no interval"
        if self.corrected >= LEVEL:
            return "no difference shown"
        if abs(found.difference) < NEGLIGIBLE:
            return f"moves the score by less than {NEGLIGIBLE:.5f}"
        return "helps" if found.difference < 0 else "hurts"


def p_value(scores: Comparison, method: str, other: str) -> float | None:
    """1 less the confidence level at which the interval of a difference of Brier scores touches 0."""
    found = scores.difference(method, other)
    if found.interval is None or scores.variation is None:
        return None
    size, contrast = abs(found.difference), np.zeros(len(scores.rows))
    contrast[[scores.methods.index(method), scores.methods.index(other)]] = 1.0, -1.0

    def beyond(log_p: float) -> float:
        half = scores.variation.half_width(contrast, scores.over, 1.0 - 10.0**log_p)  # type: ignore[union-attr]
        return float(half[0] - size)

    if beyond(-1e-12) >= 0:
        return 1.0
    if beyond(-15.0) <= 0:
        return 1e-15
    return float(10.0 ** brentq(beyond, -15.0, -1e-12, xtol=1e-10))


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: the p-values in ascending order times n, n - 1, ..., 1, never below the one before.

    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
    """
    order = np.argsort(values, kind="stable")
    corrected, most = np.empty(len(values)), 0.0
    for rank, place in enumerate(order.tolist()):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = most
    return [float(value) for value in corrected]


def contrasts(found: Iterable[Scored]) -> list[Contrast]:
    """The primary contrast of every panel that is not another form of one; Holm's correction over those with intervals."""
    panels = [one for one in found if one.kin is None]
    raw = [p_value(one.scores, one.row(WITH), one.row(WITHOUT)) for one in panels]
    known = iter(holm([p for p in raw if p is not None]))
    return [Contrast(one, p, None if p is None else next(known)) for one, p in zip(panels, raw, strict=True)]


def primary(found: Sequence[Contrast], sources: Iterable[Source]) -> list[str]:
    """The table of the primary contrast, and what it shows."""
    apart = {source.name: source.apart for source in sources}
    rows = [
        [
            each.one.name,
            apart.get(each.one.name, "component"),
            f"{each.one.clusters:,}",
            f"{each.one.brier(WITHOUT):.4f}",
            f"{each.one.brier(WITH):.4f}",
            _plain(each.one, WITH, WITHOUT),
            _p(each.p),
            _p(each.corrected),
            each.verdict,
        ]
        for each in found
    ]
    head = ("panel", "cluster", "clusters", "without", "with", "difference", "p", "p, Holm", "the coherent step")
    helps, hurts = ([each.one.name for each in found if each.verdict.startswith(word)] for word in ("helps", "hurts"))
    undecided = [each.one.name for each in found if each.p is None]
    failed = "**The contrast fails**: " if hurts or not helps else ""
    said = (
        f"{failed}The coherent step is shown to help on {names(helps)}, to hurt on {names(hurts)}; "
        f"undecided, for want of clusters, on {names(undecided)}."
    )
    return [
        "Brier scores of the tuned recipe without and with its coherent step, out of fold; the difference with its 95% interval over "
        "judges and clusters (below 0: the step helps).",
        table(head, rows),
        said,
    ]


def _p(value: float | None) -> str:
    return "-" if value is None else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _plain(one: Scored, method: str, other: str) -> str:
    found = one.difference(method, other)
    ends = "" if found.interval is None else f" [{found.interval[0]:+.4f}, {found.interval[1]:+.4f}]"
    return f"{found.difference:+.4f}{ends}"


def against_rivals(found: Iterable[Scored]) -> list[str]:
    """The tuned recipe beside the best rival, on panels with enough clusters, and where it fails."""
    among = [one for one in found if one.clusters >= FEWEST and one.learned is not None]
    rows, worse = [], []
    for one in among:
        rival = one.best(one.rivals)
        verdict = one.verdict(WITH, rival)
        worse += [one.name] if verdict == "worse" else []
        rows.append(
            [
                one.name,
                f"{one.clusters:,}",
                f"{rival} {one.brier(rival):.4f}",
                f"{one.brier(WITH):.4f}",
                signed(one, WITH, rival),
                f"{one.brier(WITH) / one.brier(rival) - 1:+.1%}",
                verdict,
            ]
        )
    head = ("panel", "clusters", "best rival", "tuned", "difference", "of its score", "tuned is")
    failed = (
        f"**Fails** on {names(worse)}." if worse else "Holds on all of them: nowhere worse by more than the interval."
    )
    return [table(head, rows), failed]


def against_linear(found: Iterable[Scored]) -> list[str]:
    """The tuned and the default recipe beside the linear average, on panels with related events."""
    among = [one for one in found if one.tied]
    rows = [
        [
            one.name,
            f"{one.clusters:,}",
            f"{one.brier('Linear average'):.4f}",
            *(cell for method in (WITH, "Default recipe") for cell in _beside_linear(one, method)),
        ]
        for one in among
    ]
    head = (
        "panel",
        "clusters",
        "linear",
        "tuned - linear",
        "tuned",
        "tuned is",
        "default - linear",
        "default",
        "default is",
    )
    said = []
    for method, word in ((WITH, "tuned"), ("Default recipe", "default")):
        by = {
            verdict: [one.name for one in among if one.verdict(method, "Linear average") == verdict]
            for verdict in ("better", "worse", "tie", "no interval")
        }
        known = len(among) - len(by["no interval"])
        gain = np.mean([one.brier(method) / one.brier("Linear average") - 1 for one in among if one.kin is None])
        enough = ""
        if word == "tuned":
            enough = (
                " **Holds** (two thirds)."
                if 3 * len(by["better"]) >= 2 * known
                else " **Fails**: two thirds were wanted."
            )
        said.append(
            f"The {word} recipe is shown to be better than linear on {len(by['better'])} of {known} panels with an interval, "
            f"worse on {names(by['worse'])}; mean change of the score, forms of one panel counted once, {gain:+.1%}.{enough}"
        )
    return [table(head, rows), bullets(said)]


def _beside_linear(one: Scored, method: str) -> list[str]:
    change = one.brier(method) / one.brier("Linear average") - 1
    return [signed(one, method, "Linear average"), f"{change:+.1%}", one.verdict(method, "Linear average")]


def incoherence(found: Sequence[Contrast]) -> list[str]:
    """The gain of the coherent step beside how incoherent the linear average is, with a figure."""
    panels = [each.one for each in found]
    gain = [-one.difference(WITH, WITHOUT).difference for one in panels]
    rank = spearmanr([one.incoherence for one in panels], gain)
    draw(panels)
    order = sorted(panels, key=lambda one: one.incoherence)
    rows = [[one.name, f"{one.incoherence:.4f}", _plain(one, WITH, WITHOUT)] for one in order]
    return [
        f"![The gain of the coherent step against incoherence](images/{FIGURE})",
        table(("panel", "incoherence of the linear average", "with less without the coherent step"), rows),
        f"Spearman's rank correlation of incoherence and gain over {len(panels)} panels: {rank.statistic:+.2f} "
        f"(p {_p(float(rank.pvalue))}). Incoherence is the root mean square change that makes the linear average coherent, over resolved "
        "events; no outcome is in it.",
    ]


def draw(panels: Iterable[Scored]) -> Path:
    """Each panel as a point, with the interval of its gain."""
    figure, ax = new_figure()
    ax.axhline(0, color="0.7", linewidth=0.8)
    for i, one in enumerate(panels):
        found = one.difference(WITH, WITHOUT)
        low, high = found.interval or (found.difference, found.difference)
        error = [[high - found.difference], [found.difference - low]]
        ax.errorbar(
            one.incoherence, -found.difference, error, fmt="o", markersize=4, capsize=2, color=f"C{i}", label=one.name
        )
    ax.set_xlabel("incoherence of the linear average (root mean square)")
    ax.set_ylabel("gain in Brier score by the coherent step")
    ax.legend(frameon=False, fontsize=6)
    return save_figure(figure, FIGURE)


def other_clusters(panels: Collection[str]) -> list[str]:
    """The same panels with events kept together in other ways."""
    named = {source.name: source for source in PLANNED}
    rows = []
    for name, apart, cluster in (each for each in OTHER_CLUSTERS if each[0] in panels):
        one = score(name, honest(named[name].read()), cluster=cluster, over="components")
        gains = [_plain(one, WITH, other) for other in (WITHOUT, "Linear average")]
        rows.append([name, apart, f"{one.clusters:,}", f"{one.brier(WITH):.4f}", *gains])
    return [
        table(("panel", "cluster", "clusters", "tuned", "with - without the coherent step", "tuned - linear"), rows)
    ]


def _not_run(found: Sequence[Scored]) -> list[str]:
    there = {one.name for one in found}
    absent = [source.name for source in PLANNED if source.name not in there]
    said = "Holm's correction, means and ranks are over the others: `make evidence` runs all of them"
    return [f"**Not in this run**: {names(absent)}. {said}."] if absent else []


def write_evidence(found: Sequence[Scored], command: str, seconds: float) -> Path:
    """Write the page from the scores of all panels."""
    tested = contrasts(found)
    parts = [
        "# The evidence",
        stamp(command, seconds),
        "What [the plan](evaluation-plan.md) asks, answered. What failed stays here.",
        *_not_run(found),
        "## Does the coherent step help?",
        *primary(tested, PLANNED),
        "## Against the best rival",
        f"On every panel with at least {FEWEST} resolved clusters: the tuned recipe less the best of linear, median, trimmed, log, normalised "
        "and five rules of the literature, each also with the coherent step, all fitted in the same folds. The rival is chosen by "
        "the same outcomes, which favours it.",
        *against_rivals(found),
        "## Against the linear average",
        *against_linear(found),
        "## Gain against incoherence",
        *incoherence(tested),
        "## Other clusters",
        *other_clusters({one.name for one in found}),
    ]
    return write_page("evidence.md", parts)


def planned(source: Source) -> Scored:
    """The scores of a panel by the clusters of the plan."""
    panel = honest(source.read())
    return score(source.name, panel, of=source.of, kin=source.kin, cluster=source.cluster, over=source.over)


def _timed(source: Source) -> tuple[Scored, float]:
    begun = time.process_time()
    return planned(source), time.process_time() - begun


def main(chosen: Sequence[str]) -> None:
    """Score the named panels as planned, or all of them, and write the page."""
    sources = [source for source in PLANNED if not chosen or source.name in chosen]
    require_data([source.name for source in sources])
    begun, found = time.perf_counter(), []
    with ProcessPoolExecutor(PROCESSES) as processes:
        for source, (scored, used) in zip(sources, processes.map(_timed, sources), strict=True):
            found.append(scored)
            print(f"{source.name}: {used:.0f} s of the processor, {time.perf_counter() - begun:.0f} s", flush=True)
    command = " ".join(["python -m experiments.evidence", *chosen])
    print(f"{write_evidence(found, command, time.perf_counter() - begun)} written")


if __name__ == "__main__":
    main(sys.argv[1:])
