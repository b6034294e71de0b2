"""The scores of a panel's methods on events that taught nothing, and what they show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from coherently.errors import PanelError
from coherently.problem import components_of, pose, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel import Panel
    from coherently.scoring import Comparison, Difference

POOLS = {
    "Linear average": "linear",
    "Median": "median",
    "Trimmed mean": "trimmed",
    "Log pool": "log",
    "Normalised average": "normalised",
}
"""The plain pools, by their rows, with their words."""
METHODS = ("Raw", *POOLS, "Tuned pool", "Exact", "Default recipe", "Tuned recipe")
"""The columns of the first table."""
SIMPLEST = (*POOLS, "Exact", "Default recipe", "Tuned pool", "Tuned recipe")
"""From the simplest method to the one that needs most."""
COHERENT = {"Exact": "Linear average", **{f"{pool}, then exact": pool for pool in [*POOLS][1:]}}
"""The pools made coherent, each with its pool."""
RIVALS = (*POOLS, *COHERENT, *(rival.name for rival in co.literature()))
"""What the tuned recipe must not be worse than: pools and the rules of the literature, each also made coherent."""
KEPT = dict.fromkeys(("Tuned pool", "Tuned recipe"), "Default recipe")
"""What stands for a tuned row where nothing could be learned."""

TIME_LIMIT = 600.0
"""Seconds for each answer of a candidate: none needs a tenth of that, so that figures do not hang on the clock."""
NEGLIGIBLE = 5e-5
"""A smaller difference of Brier scores counts as a tie, whatever its interval: the fourth decimal is the last shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The `scores` of a panel's methods, out of fold.

    `learned` is what was learned from all resolved events, in words; None if nothing can be learned from them, for
    the reason that `kept` gives. The resolved events lie in `groups` independent groups, the largest of which has the
    `share` of the forecasts; `tied` of the `events` resolved ones share their group with another event of the panel.
    `moved` is the largest change that coherence makes to a linear average, `incoherence` the root mean square of it over
    resolved events. What was learned was learned in folds of `clusters` that hang together, over time or not.
    """

    name: str
    of: str
    kin: str | None
    scores: Comparison
    learned: str | None
    kept: str | None
    groups: int
    share: float
    events: int
    tied: int
    moved: float
    incoherence: float = 0.0
    clusters: int = 0

    @property
    def rivals(self) -> tuple[str, ...]:
        """The rivals that have a row."""
        return tuple(method for method in RIVALS if method in self.scores.methods)

    @property
    def shown(self) -> tuple[str, ...]:
        """The methods that have a row of their own."""
        return tuple(method for method in METHODS if self.row(method) == method)

    def row(self, method: str) -> str:
        """The row in which a method's scores are."""
        return KEPT.get(method, method) if self.learned is None else method

    def brier(self, method: str) -> float:
        """The Brier score of a method."""
        return float(self.scores.value[self.scores.methods.index(self.row(method)), 0])

    def best(self, among: tuple[str, ...] | None = None) -> str:
        """The method with the least Brier score, the first of equally good ones."""
        return min(self.shown if among is None else among, key=self.brier)

    def difference(self, method: str, other: str) -> Difference:
        """The Brier score of a method less that of another, with its interval over judges and events."""
        return self.scores.difference(self.row(method), self.row(other))

    def verdict(self, method: str, other: str) -> str:
        """Whether a method is shown to be better than another, or worse; a tie; or no interval."""
        found = self.difference(method, other)
        if found.interval is None:
            return "no interval"
        if not found.excludes_zero or abs(found.difference) < NEGLIGIBLE:
            return "tie"
        return "better" if found.difference < 0 else "worse"

    @property
    def ties(self) -> tuple[str, ...]:
        """The methods that are not shown to be worse than the best, which is one of them."""
        best = self.best()
        return tuple(method for method in self.shown if method == best or self.verdict(method, best) == "tie")


def score(
    name: str,
    panel: Panel,
    *,
    of: str = "",
    kin: str | None = None,
    cluster: Callable[[str], str] | None = None,
    over: str | None = None,
) -> Scored:
    """Tune on a panel, and score what was learned on events that did not teach it beside all else."""
    learned = kept = None
    clusters = 0
    try:
        tuned = co.tune(panel, cluster=cluster, over=over, literature=True, time_limit=TIME_LIMIT)
    except PanelError as error:
        scores, kept = _untuned(panel), str(error)
    else:
        scores, clusters = tuned.scores, tuned.components
        learned = tuned.recipe.sentence
    plain = settled(panel)
    group = components_of(pose(plain))
    resolved = panel.written.outcome >= 0
    weight = np.bincount(panel.event_index, minlength=len(group)) * (resolved & (group >= 0))
    load = np.bincount(np.maximum(group, 0), weight)
    size = np.bincount(group[group >= 0])
    events = np.flatnonzero(weight)
    average, exact = (co.aggregate(panel, method).solution.value for method in ("linear", "exact"))
    apart = average - exact
    return Scored(
        name=name,
        of=of,
        kin=kin,
        scores=scores,
        learned=learned,
        kept=kept,
        groups=len(np.unique(group[events])),
        share=float(load.max() / load.sum()),
        events=len(events),
        tied=int(np.count_nonzero(size[group[events]] > 1)),
        moved=float(np.nanmax(np.abs(apart))),
        incoherence=float(np.sqrt(np.nanmean(np.square(apart[events])))),
        clusters=clusters or len(np.unique(group[events])),
    )


def _untuned(panel: Panel) -> Comparison:
    """The rows that need no learning, named as `co.tune` names them."""
    pools = {name: word for name, word in POOLS.items() if name != "Linear average"}
    then = {f"{name}, then exact": co.Pool(word, then=co.Exact()) for name, word in pools.items()}
    found = co.compare(panel, {**pools, **then, "Default recipe": "recipe"})
    rows = tuple(replace(row, name="Exact") if row.name == "Aggregate (exact)" else row for row in found.rows)
    return replace(found, rows=rows)
