"""How much a mean over judges varies by chance: judges and variables are left out, one by one.

Let t be the mean over judges of their scores (or a difference of two such means), t(-g) the same without the
forecasts in g, and D_g = t(-g) - t. The variances are those of the jackknife of clusters, and so need no draws:

    V_judges = (J - 1) / J * sum over the J judges j of (D_j - their mean)^2
    V_events = (U - 1) / U * sum over the U units u of (D_u - their mean)^2
               - sum over sets S of units of (|S| - 1) D_S^2,  but at least the sum over S of D_S^2

where D_u leaves out all events about unit u (see `independent_units`) and D_S all events about exactly the units in
S, which the first sum counts |S| times instead of once (Aronow, Samii and Assenova 2015, Cluster-robust variance
estimation for dyadic data, Political Analysis 23). What a judge says about one unit is in both variances, so the
variance over both is

    V_judges + V_events - V_cells,  but at least (V_judges + V_events) / 2,

with V_cells made of the D_ju, each less its mean over the judges of unit u, as in an analysis of variance (Cameron,
Gelbach and Miller 2011, Robust inference with multiway clustering, Journal of Business and Economic Statistics 29;
MacKinnon, Nielsen and Webb 2024, Jackknife inference with two-way clustering, arXiv:2406.08880). The intervals are
those of Student's t: J - 1 degrees of freedom over judges; U' - 1 over events, where U' = (sum w)^2 / sum w^2 is the
number of units if all had the same weight w in the mean; over both those of a sum of variances (Satterthwaite 1946,
Biometrics Bulletin 2). These choices are the simplest that covered in simulations: see docs/reliability.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.scoring.scoring_rules import RULES, Mean, sum_of_means
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from coherently.scoring.intervals.independent_units import Units

Array: TypeAlias = "NDArray[np.float64]"
Indices: TypeAlias = "NDArray[np.int64]"

OVERS = ("both", "judges", "events")
"""What is left out: judges and events, only judges, only events."""
LEAST_JUDGES, LEAST_UNITS, LEAST_EFFECTIVE_UNITS = 2, 5, 2.0
"""Minimum numbers of judges, of units and of units of the same weight for intervals over them."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class RuleMeans:
    """The means of each rule, made for one method when they are asked for: those of all methods would fill the memory.

    `forecast` has one row per method and one column per scored forecast.
    """

    forecast: Array
    outcome: Array
    clip: float

    def of(self, rule: int, method: int) -> tuple[Mean, ...]:
        """The means of a method by a rule: one value per forecast."""
        return RULES[rule].means(self.forecast[method], self.outcome, self.clip)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Scored forecasts of several methods: for each rule its means.

    `judge` and `event` have the judge and the event of each forecast; `judge_sums` has, for each mean of each rule, the
    values and counts of each judge summed: one row of values per method.
    """

    means: RuleMeans
    judge: Indices
    event: Indices
    judges: int
    judge_sums: list[list[Mean]]

    @staticmethod
    def of(forecast: Array, outcome: Array, judge: Indices, event: Indices, judges: int, clip: float) -> Tally:
        """`forecast` has one row per method and one column per scored forecast."""
        means, table = RuleMeans(forecast, outcome, clip), _table(judge, np.arange(len(judge)), judges, len(judge))
        sums = [[_sums(means.of(rule, method), table) for method in range(len(forecast))] for rule in range(len(RULES))]
        return Tally(means, judge, event, judges, judge_sums=[_side_by_side(rule) for rule in sums])

    def judge_scores(self) -> Array:
        """Score each judge: rule, method, judge; NaN where a judge has no score."""
        return np.stack([_score(sums) for sums in self.judge_sums])

    def point(self, times: Array | None = None) -> Array:
        """The mean over judges of each method's scores: method, rule. Each judge counts `times` times."""
        scores = self.judge_scores()
        weight = ~np.isnan(scores) * (1.0 if times is None else times)
        with np.errstate(invalid="ignore"):
            return np.transpose((weight * np.nan_to_num(scores)).sum(axis=2) / weight.sum(axis=2))


@dataclass(frozen=True, slots=True, eq=False)
class Variation(Value):
    """The covariances of the methods' mean scores: arrays of rule, method, method; NaN where they are unknown.

    They are the sums of the module's formulas: `units` and `cells` over units and cells, `unit_sets` and `cell_sets`
    what is subtracted from these, `sets` the least of `units` less `unit_sets`. `judge_freedom` has the degrees of
    freedom of each rule, `event_freedom` those of events. `taught` is what luck that clusters share adds to the
    variance over events, at most as much as there is (see `shared_luck`); None where clusters do not teach each other.
    """

    judges: Array
    units: Array
    unit_sets: Array
    sets: Array
    cells: Array
    cell_sets: Array
    judge_freedom: Array
    event_freedom: float
    taught: Array | None = None

    def variances(self, contrast: Array) -> tuple[Array, Array, Array]:
        """The variances over judges, events and both of a sum of the methods' scores with weights `contrast`."""

        def form(covariance: Array) -> Array:
            value: Array = np.einsum("i,rij,j->r", contrast, covariance, contrast)
            scale = np.einsum("i,rii,i->r", contrast, covariance, contrast)
            return np.where(value <= _ROUNDING * scale, 0.0, value)

        judges = form(self.judges)
        events = np.maximum(form(self.units) - form(self.unit_sets), form(self.sets))
        if self.taught is not None:
            events = events + np.minimum(form(self.taught), events)
        cells = np.maximum(form(self.cells) - form(self.cell_sets), 0.0)
        return judges, events, judges + events - np.minimum(cells, (judges + events) / 2)

    def half_width(self, contrast: Array, over: str, confidence: float) -> Array:
        """Half the width of the interval of such a sum, one entry per rule; NaN where there is none."""
        from scipy.special import stdtrit

        judges, events, both = self.variances(contrast)
        known = both > 0
        shares = judges**2 / self.judge_freedom + events**2 / self.event_freedom
        sum_freedom = np.divide((judges + events) ** 2, shares, out=np.ones_like(both), where=known)
        variance, freedom = {
            "judges": (judges, self.judge_freedom),
            "events": (events, self.event_freedom),
            "both": (both, sum_freedom),
        }[over]
        half: Array = stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)
        return np.where(variance == 0, 0.0, half)


def variation(tally: Tally, units: Units) -> Variation:
    """Leave out judges, units, cells and sets, and see how far the means move."""
    by_unit = _Cells.of(tally.judge, *units.of(tally.event), units.count)
    number, size = units.sets()
    by_set, repeated = by_unit, np.zeros(units.count)
    if (size > 1).any():
        by_set = _Cells.of(tally.judge, np.arange(len(tally.judge)), number[tally.event], len(size))
        repeated = np.maximum(size - 1.0, 0.0)

    def covariances(rule: int) -> tuple[Array, ...]:
        cells, groups = _moves(tally, rule, by_unit)
        of_cells, sets = _cell_products(cells, by_unit, np.ones(units.count)), groups
        if by_set is not by_unit:
            del cells  # before as many numbers are made again
            cells, sets = _moves(tally, rule, by_set)
        return (
            _spread(_without_judges(_score(tally.judge_sums[rule]))),
            _spread(groups),
            _products(sets, repeated),
            _products(sets, np.ones_like(repeated)),
            of_cells,
            _cell_products(cells, by_set, repeated),
        )

    found = [covariances(rule) for rule in range(len(RULES))]
    judges = [np.sum(~np.isnan(_score(sums)[0])) for sums in tally.judge_sums]
    judge, unit, unit_set, one_set, cell, cell_set = (np.stack(kind) for kind in zip(*found, strict=True))
    effective = effective_units(tally, units)
    if units.count < LEAST_UNITS or effective < LEAST_EFFECTIVE_UNITS:
        unit = np.full_like(unit, np.nan)
    return Variation(
        judge,
        unit,
        unit_set,
        one_set,
        cells=cell,
        cell_sets=cell_set,
        judge_freedom=np.array(judges) - 1.0,
        event_freedom=effective - 1.0,
    )


def own_half_widths(tally: Tally, units: Units, confidence: float) -> Array:
    """Half the width of the interval over events of each judge's own score by the first method: rule, judge.

    The variance is V_events of the module's formulas with t the judge's score, and the units those that the judge
    forecast; NaN for a judge with too few of them.
    """
    from scipy.special import stdtrit

    by_unit = _Cells.of(tally.judge, *units.of(tally.event), units.count)
    number, size = units.sets()
    by_set = _Cells.of(tally.judge, np.arange(len(tally.judge)), number[tally.event], len(size))

    def total(values: Array, cells: _Cells) -> Array:
        return np.bincount(cells.judge, values, tally.judges).astype(np.float64)

    weight = by_unit.table @ np.ones(len(tally.judge))
    count = total(np.ones(len(weight)), by_unit)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total(weight, by_unit) ** 2 / total(weight**2, by_unit) - 1.0
        enough = (count >= LEAST_UNITS) & (freedom + 1.0 >= LEAST_EFFECTIVE_UNITS)
        halves = []
        for rule, sums in enumerate(tally.judge_sums):
            own = _score(sums)[0]
            moves, set_moves = (_left_scores(tally, rule, 0, cells) - own[cells.judge] for cells in (by_unit, by_set))
            middle = (total(moves, by_unit) / count)[by_unit.judge]
            spread = (count - 1.0) / count * total((moves - middle) ** 2, by_unit)
            repeated = total((size[by_set.group] - 1.0) * set_moves**2, by_set)
            variance = np.maximum(spread - repeated, total(set_moves**2, by_set))
            halves.append(np.where(enough, stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance), np.nan))
    return np.stack(halves)


def _left_scores(tally: Tally, rule: int, method: int, cells: _Cells) -> Array:
    """The score that a method leaves the judge of each cell without that cell, NaN for none."""
    judge, out = cells.judge, _sums(tally.means.of(rule, method), cells.table)
    return _score(
        [
            Mean(mean.values[method, judge] - own.values, mean.counts[judge] - own.counts)
            for mean, own in zip(tally.judge_sums[rule], out, strict=True)
        ]
    )


def effective_units(tally: Tally, units: Units) -> float:
    """The number of units, if all had the same weight in the mean over judges."""
    rows, unit = units.of(tally.event)
    share = 1 / np.bincount(tally.judge, minlength=tally.judges)[tally.judge]
    weight = np.bincount(unit, share[rows], units.count)
    return float(weight.sum() ** 2 / np.sum(weight**2)) if len(unit) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The forecasts of a judge in a group: one cell per pair that has any. `table` has one row per cell."""

    judge: Indices
    group: Indices
    groups: int
    table: csr_array

    @staticmethod
    def of(judge: Indices, rows: Indices, group: Indices, groups: int) -> _Cells:
        """`rows` are forecasts, each in the group beside it; a forecast may be in several groups."""
        key, cell = np.unique(judge[rows] * groups + group, return_inverse=True)
        table = _table(cell.ravel(), rows, len(key), len(judge))
        return _Cells(key // max(groups, 1), key % max(groups, 1), groups, table)


def _moves(tally: Tally, rule: int, cells: _Cells) -> tuple[Array, Array]:
    """How far each method's mean moves without a cell, and without a group: method, cell or group.

    Without a judge's last forecast, the mean is over the other judges.
    """
    own, judge = _score(tally.judge_sums[rule]), cells.judge
    change, lost = _empty(len(own), len(judge)), np.zeros(len(judge))
    there = ~np.isnan(own[0])
    for method, row in enumerate(change):
        rest = _left_scores(tally, rule, method, cells)
        row[:] = np.nan_to_num(rest) - np.nan_to_num(own[method, judge])
        lost = there[judge].astype(np.float64) - ~np.isnan(rest)  # the same for all methods
    count, total = there.sum(), np.nansum(own, axis=1, keepdims=True)
    group = _table(cells.group, np.arange(len(judge)), cells.groups, len(judge))
    with np.errstate(invalid="ignore", divide="ignore"):
        together = (total + (group @ change.T).T) / (count - group @ lost) - total / count
        change += total
        change /= count - lost
        change -= total / count
    return change, together


def _without_judges(own: Array) -> Array:
    """How far each method's mean moves without a judge: method, judge with a score."""
    scores = own[:, ~np.isnan(own[0])]
    count = scores.shape[1]
    mean = scores.mean(axis=1, keepdims=True) if count else scores
    return (mean - scores) / (count - 1) if count >= LEAST_JUDGES else scores[:, :0]


def _spread(moves: Array) -> Array:
    """The products of the moves around their means, times (n - 1) / n; NaN without moves."""
    count = moves.shape[1]
    if not count:
        return np.full((len(moves), len(moves)), np.nan)
    return _products(moves - moves.mean(axis=1, keepdims=True), np.full(count, (count - 1) / count))


def _cell_products(moves: Array, cells: _Cells, weight: Array) -> Array:
    """The products of the moves of cells, each less the mean of its group, with the weights of the groups.

    A judge's own cells vary around the judge's mean, those of a group around the group's: both lose one of n parts.
    """
    in_group = np.bincount(cells.group, minlength=cells.groups)[cells.group]
    of_judge = np.bincount(cells.judge)[cells.judge]
    group = _table(cells.group, np.arange(len(cells.group)), cells.groups, len(cells.group))
    centred = _empty(*moves.shape)
    for row, move, total in zip(centred, moves, (group @ moves.T).T, strict=True):
        row[:] = np.where(in_group > 1, move - total[cells.group] / in_group, move)
    factor = np.where(in_group > 1, in_group / np.maximum(in_group - 1, 1), 1.0)
    factor *= np.where(of_judge > 1, (of_judge - 1) / of_judge, 1.0)
    return _products(centred, factor * weight[cells.group])


def _products(moves: Array, weight: Array) -> Array:
    """The sums of weighted products of every two methods' moves: method, method."""
    if not (weight > 0).all():
        moves, weight = moves[:, weight > 0], weight[weight > 0]
    product: Array = (weight * moves) @ moves.T
    return np.where(np.isfinite(product), product, np.nan)


def _empty(methods: int, columns: int) -> Array:
    """A table with one row per method, to be filled; columns stand together in memory, as sparse products want it."""
    return np.empty((columns, methods)).T


def _sums(means: tuple[Mean, ...], table: csr_array) -> list[Mean]:
    """Sum values and counts of a method's forecasts over the rows of a table."""
    return [Mean(table @ mean.values, table @ mean.counts) for mean in means]


def _side_by_side(methods: list[list[Mean]]) -> list[Mean]:
    """The means of all methods together; their counts are the same."""
    return [
        Mean(np.stack([mean.values for mean in means], axis=1).T, means[0].counts)
        for means in zip(*methods, strict=True)
    ]


def _score(means: list[Mean]) -> Array:
    """The sum of values divided by counts, NaN where a count is 0."""
    known = np.all([mean.counts > 0 for mean in means], axis=0)
    return np.where(known, sum_of_means(means), np.nan)


def _table(row: Indices, column: Indices, rows: int, columns: int) -> csr_array:
    """A matrix of ones at these places."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(row)), (row, column)), (rows, columns))
