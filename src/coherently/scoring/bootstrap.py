"""How much a mean over judges varies by chance: judges and variables are drawn again.

Events that share variables come true together, so variables are drawn: Owen (2007), The pigeonhole bootstrap, Annals of
Applied Statistics 1; Davezies, D'Haultfoeuille and Guyonvarch (2021), Empirical process results for exchangeable
arrays, Annals of Statistics 49. Percentiles of such draws are too close to each other if there are few variables, so
the draws are used only for variances, and the intervals are Student's t intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.scoring.scoring_rules import RULES, Mean, sum_of_means

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from scipy import sparse

    from coherently.panel import Panel

OVERS = ("both", "judges", "events")
"""What is drawn again: judges and events together, only judges, only events."""
LEAST_JUDGES, LEAST_UNITS = 2, 5
"""Minimum numbers of judges and of variables for intervals over them."""
LEAST_DRAWS = 20
"""Minimum number of draws for a variance."""
_NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn again instead of events: variables. Those that laws or a declaration tie together are one unit.

    `starts` and `members` list the units of each event as written; `count` is their number.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    count: int

    def event_weights(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count each event as often as the product of the `times` of its units; `times` has one row per resample."""
        weights = np.ones((len(times), len(self.starts) - 1))
        filled = np.flatnonzero(np.diff(self.starts))
        if len(filled):
            weights[:, filled] = np.multiply.reduceat(times[:, self.members], self.starts[filled], axis=1)
        return weights


def units_of(panel: Panel) -> Units:
    """The units that the panel's events mention.

    >>> from coherently.panel import Panel
    >>> units = units_of(Panel.from_records([("Ann", "p", 0.5), ("Ann", "p & q", 0.2), ("Ann", "p & ~q", 0.2)]))
    >>> units.event_weights(np.array([[2.0, 1.0], [2.0, 0.0]])).tolist()
    [[2.0, 2.0, 2.0], [2.0, 0.0, 0.0]]
    """
    written, events = panel.written, panel.events
    starts, variables = events.supports(np.stack([written.event, written.condition], axis=1).ravel() // 2)
    event = np.repeat(np.arange(len(written)), np.diff(starts[::2]))
    unit = _tied(panel)[variables]
    pairs = np.unique(np.stack([event, unit]), axis=1)
    used, members = np.unique(pairs[1], return_inverse=True)
    ends = np.cumsum(np.bincount(pairs[0], minlength=len(written)))
    return Units(np.concatenate([[0], ends]), members.ravel(), len(used))


def _tied(panel: Panel) -> NDArray[np.int64]:
    """Label each variable with the set that laws and declarations tie it to."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    starts, members = panel.events.supports(panel.laws.side // 2)
    rows = [members[a:b] for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    rows += [choice.atoms for choice in panel.events.choices()]
    count = len(panel.events.variables)
    none = np.empty(0, np.int64)
    first = np.concatenate([none, *(np.broadcast_to(row[:1], max(len(row) - 1, 0)) for row in rows)])
    other = np.concatenate([none, *(row[1:] for row in rows)])
    ties = coo_array((np.ones(len(first)), (first, other)), (count, count))
    label: NDArray[np.int64] = connected_components(ties, directed=False)[1]
    return label.astype(np.int64)


class Counts(NamedTuple):
    """The numbers of judges and of units from which draws are made."""

    judges: int
    units: int


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Forecasts by several methods of the same rows, ready to be scored under any weights of judges and events.

    `sums` has one column per event. Its rows are each judge's counts for each mean of each rule, then for each method
    each judge's sums of the values; `parts` has the number of means of each rule.
    """

    sums: sparse.csr_array
    judges: int
    methods: int
    parts: tuple[int, ...]

    @staticmethod
    def of(
        forecast: NDArray[np.float64],
        outcome: NDArray[np.integer],
        judge: NDArray[np.integer],
        event: NDArray[np.integer],
        shape: tuple[int, int],
        clip: float,
    ) -> Tally:
        """`forecast` has one row per method and one column per scored forecast; `shape` is judges, events."""
        from scipy.sparse import coo_array

        told = outcome.astype(np.float64)
        means = [[rule.means(own, told, clip) for rule in RULES] for own in forecast]
        kinds = [mean.counts for rule in means[0] for mean in rule]
        kinds += [mean.values for own in means for rule in own for mean in rule]
        judges, events = shape
        row = np.concatenate([kind * judges + judge for kind in range(len(kinds))])
        column = np.tile(event, len(kinds))
        sums = coo_array((np.concatenate(kinds), (row, column)), (len(kinds) * judges, events))
        return Tally(sums.tocsr(), judges, len(forecast), tuple(map(len, means[0])))

    def judge_scores(self, event_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score each judge: resample, method, score, judge; NaN where a judge has no score."""
        sums = (self.sums @ event_weights.T).reshape(-1, self.judges, len(event_weights))
        counts, values = sums[: sum(self.parts)], sums[sum(self.parts) :]
        values = values.reshape(self.methods, sum(self.parts), self.judges, len(event_weights))
        ends = np.cumsum(self.parts).tolist()
        rules = [range(end - size, end) for size, end in zip(self.parts, ends, strict=True)]
        scores = np.stack([sum_of_means([Mean(values[:, k], counts[k]) for k in rule]) for rule in rules], axis=1)
        return np.moveaxis(scores, 3, 0)

    def means(self, scores: NDArray[np.float64], judge_weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weighted mean over judges: resample, method, score; judges without a score are left out.

        Either argument may have a single resample, which is then combined with every resample of the other.
        """
        there = ~np.isnan(scores)
        weights = judge_weights[:, None, None, :]
        total = np.sum(weights * np.where(there, scores, 0.0), axis=3)
        with np.errstate(invalid="ignore"):
            mean: NDArray[np.float64] = total / np.sum(weights * there, axis=3)
        return mean

    def point(self) -> NDArray[np.float64]:
        """The mean over judges of each method's scores: method, score."""
        everything = self.judge_scores(np.ones((1, self.sums.shape[1])))
        mean: NDArray[np.float64] = self.means(everything, np.ones((1, self.judges)))[0]
        return mean


def resample(
    tally: Tally,
    units: Units,
    count: int,
    seed: int,
    progress: Callable[[float], None],
    remake: Callable[[NDArray[np.float64]], Tally] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Draw judges and units again, `count` times, and score the methods each time.

    Gives, for each of OVERS, an array of resample, method, score, which is shorter if the work is interrupted. The
    draws depend on the seed and the panel, not on the methods. `remake` runs the methods again on judges that count as
    often as they were drawn, and gives the tally; without it the forecasts stay as they are.
    """
    judge_rng, unit_rng = np.random.default_rng(seed).spawn(2)
    whole, alike = np.ones((1, tally.sums.shape[1])), np.ones((1, tally.judges))
    still = tally.judge_scores(whole)
    size = max(1, _NUMBERS_AT_ONCE // max(tally.sums.shape[0], len(units.members), tally.sums.shape[1], 1))
    size = 1 if remake else size
    parts: dict[str, list[NDArray[np.float64]]] = {over: [] for over in OVERS}
    try:
        for first in range(0, count, size):
            block = min(size, count - first)
            judge_times = _times(judge_rng, tally.judges, block)
            events = units.event_weights(_times(unit_rng, units.count, block))
            moved = tally.judge_scores(events)
            made = remake(judge_times[0]) if remake else None
            parts["both"].append(tally.means(made.judge_scores(events) if made else moved, judge_times))
            parts["judges"].append(tally.means(made.judge_scores(whole) if made else still, judge_times))
            parts["events"].append(tally.means(moved, alike))
            progress(min(1.0, (first + block) / count))
    except KeyboardInterrupt:
        pass
    done = min(map(len, parts.values()))
    empty = np.empty((0, tally.methods, len(RULES)))
    return {over: np.concatenate([empty, *part[:done]]) for over, part in parts.items()}


def ends(
    point: NDArray[np.float64], draws: Mapping[str, NDArray[np.float64]], over: str, counts: Counts, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of an interval around a score or a difference of scores; NaN where there is none.

    `draws` has the same number for each resample, for each of OVERS, along the first axis; a resample without a score
    is left out. V is the variance of the draws over judges or over events, times n / (n - 1) for n judges or variables;
    the interval is that of Student's t with n - 1 degrees of freedom. The variation of a judge on a variable is in both
    variances, and three times in that of the draws over both, so the variance over both is (Cameron, Gelbach and Miller
    2011, Robust inference with multiway clustering, Journal of Business and Economic Statistics 29)

        V_judges + V_events - (V_both - V_judges - V_events), but at least the larger of V_judges and V_events,

    with the degrees of freedom of a sum of variances (Satterthwaite 1946, Biometrics Bulletin 2).
    """
    from scipy.special import stdtrit

    if len(draws[over]) < LEAST_DRAWS:
        return np.full_like(point, np.nan), np.full_like(point, np.nan)
    sizes = {one: size for one, size in (("judges", counts.judges), ("events", counts.units)) if over in (one, "both")}
    apart = {one: size / (size - 1) * _variance(draws[one]) for one, size in sizes.items()}
    total = np.sum(list(apart.values()), axis=0)
    variance = total
    if over == "both":
        variance = np.maximum(2 * total - _variance(draws["both"]), np.max(list(apart.values()), axis=0))
    shares = np.sum([apart[one] ** 2 / (size - 1) for one, size in sizes.items()], axis=0)
    some = total > 0
    freedom = np.divide(total**2, shares, out=np.ones_like(total), where=some)
    half = np.where(some | np.isnan(total), stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance), 0.0)
    return point - half, point + half


def _variance(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The variance along the first axis, NaN where no draw has a score."""
    known = ~np.isnan(draws)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, draws, 0.0).sum(axis=0) / count
        found: NDArray[np.float64] = np.where(known, (draws - mean) ** 2, 0.0).sum(axis=0) / count
    return found


def _times(rng: np.random.Generator, count: int, resamples: int) -> NDArray[np.float64]:
    """How often each of `count` things is drawn in `count` draws with replacement; one row per resample."""
    chance = np.full(max(count, 1), 1 / max(count, 1))
    return rng.multinomial(count, chance, resamples)[:, :count].astype(np.float64)
