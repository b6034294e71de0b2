"""Forecasts as bets: what can be traded at which price, and which bets are connected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import PanelError
from coherently.panel import Panel, Pins
from coherently.problem import in_units, pose, pose_individually, split, unit_of
from coherently.problem.settled import settled
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Truth, Vector
    from coherently.panel.panel import WrittenEvents
    from coherently.problem import Merged, Part, Problem

Key: TypeAlias = str | tuple[str, str]
"""The name of a bet: its event, or its judge and its event; " #2" marks a second forecast of the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Bets(Value):
    """Bets of one unit each: `panel` holds them as forecasts of weight 1, and its probabilities are the prices.

    A forecast with a quote, in the columns lower and upper, is sold at its bid and bought at its ask; a side that the
    quote does not have cannot be traded. A bet on "E given H" is called off, and its price returned, where H fails.
    If the bets are weighted means, `source` is the panel that they are means of. `coordinate`, `complemented` and
    `conditional` lead to `merged`, as in `coherently.problem.Problem`. If conditionals that logic settles are among
    them as constant events (see `stated`), `offered` has the events as they are traded.
    """

    panel: Panel
    source: Panel | None
    merged: Merged
    coordinate: NDArray[np.int32]
    complemented: Mask
    conditional: Mask
    offered: WrittenEvents | None = None

    def __len__(self) -> int:
        return len(self.panel)

    def as_offered(self) -> Bets:
        """The bets as they are traded: those on "E given H" are called off where H fails, though H settles E."""
        if self.offered is None:
            return self
        return bets_at_forecasts(replace(self.panel, written=self.offered), self.source)

    @property
    def settled(self) -> Mask:
        """Which bets are on constant events here, but are offered as conditionals."""
        if self.offered is None:
            return np.zeros(len(self), np.bool_)
        changed: Mask = self.offered.condition != self.panel.written.condition
        return changed[self.panel.event_index]

    @property
    def price(self) -> Vector:
        """The forecast: what one unit costs where there is no quote."""
        return self.panel.probability

    @property
    def quoted(self) -> Mask:
        """Which bets have a quote."""
        return quoted(self.panel)

    @property
    def bid(self) -> Vector:
        """The price of a unit that is sold; 0, at which nothing can be won, if it cannot be sold."""
        return np.nan_to_num(bids(self.panel), nan=0.0)

    @property
    def ask(self) -> Vector:
        """The price of a unit that is bought; 1, at which nothing can be won, if it cannot be bought."""
        return np.nan_to_num(asks(self.panel), nan=1.0)

    def sides_of(self, own: Indices) -> tuple[Vector, Vector]:
        """The bid and the ask of some bets, without a look at the others."""
        price, low, high = (None if column is None else column[own] for column in self._columns)
        assert price is not None
        missing = np.full(len(price), np.nan)
        low, high = missing if low is None else low, missing if high is None else high
        points = np.isnan(low) & np.isnan(high)
        bid, ask = np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)
        return np.where(points, price, bid), np.where(points, price, ask)

    def has_quotes(self, own: Indices) -> bool:
        """Whether any of some bets has a quote."""
        return any(not np.isnan(column[own]).all() for column in self._columns[1:] if column is not None)

    @property
    def _columns(self) -> tuple[Vector | None, Vector | None, Vector | None]:
        return self.panel.probability, self.panel.lower, self.panel.upper

    @property
    def side(self) -> NDArray[np.int32]:
        """The side of each bet's event; of E & H if it is conditional."""
        return self.panel.written.event[self.panel.event_index]

    @property
    def condition(self) -> NDArray[np.int32]:
        """The side of each bet's condition; certain if it has none."""
        return self.panel.written.condition[self.panel.event_index]

    def text(self, bet: int) -> str:
        """The event of a bet, as first written."""
        return self.panel.written.text[int(self.panel.event_index[bet])]

    def keys(self, *, with_judges: bool) -> list[Key]:
        """Distinct names of the bets."""
        panel = self.panel
        seen: Counter[tuple[int, int]] = Counter()
        keys: list[Key] = []
        for judge, event in zip(panel.judge_index.tolist(), panel.event_index.tolist(), strict=True):
            same = (judge if with_judges else 0, event)
            seen[same] += 1
            text = panel.written.text[event] + (f" #{seen[same]}" if seen[same] > 1 else "")
            keys.append((panel.judges[judge], text) if with_judges else text)
        return keys

    def exact(self, values: Vector, bets: Sequence[int]) -> list[Fraction]:
        """The values of some bets as the decimal numbers in which their forecasts were written.

        `values` has one entry per forecast: of `source`, whose weighted means are taken, or of the bets themselves.
        """
        if self.source is None:
            return [decimal(values[bet]) for bet in bets]
        order = np.argsort(self.source.event_index, kind="stable")
        starts = np.searchsorted(self.source.event_index[order], np.arange(len(self.source.written) + 1))
        found = self.panel.event_index[np.asarray(bets, np.int64)].tolist()
        return [_exact_mean(values, self.source.weight, order[starts[event] : starts[event + 1]]) for event in found]

    def take(self, bets: Indices) -> Bets:
        """Only some of the bets, at their prices."""
        return bets_at_forecasts(replace(self.panel.select(bets), notes=()))


@dataclass(frozen=True, slots=True, eq=False)
class Cluster(Value):
    """Bets that are connected: `bets` are their numbers among all bets.

    `coordinate`, `complemented` and `conditional` lead from each bet to `part`; `variables` are the panel's variables
    behind those of `part`.
    """

    bets: Indices
    part: Merged
    coordinate: Indices
    complemented: Mask
    conditional: Mask
    variables: NDArray[np.int32]

    def on_bets(self, x: Vector) -> Vector:
        """The probabilities of bets that are never called off, from those of coordinates."""
        value = x[self.coordinate]
        return np.where(self.complemented, 1.0 - value, value)

    def payouts(self, stakes: Vector, returned: Vector) -> tuple[Vector, float]:
        """The payout of sold stakes minus `returned` where a bet stands, as a sum over coordinates and a constant.

        A bet stands unless it is called off; only conditional bets return anything here.
        """
        given = self.part.terms.conditionals
        own = self.coordinate[self.conditional]
        turned = self.complemented[self.conditional]
        on_joint = np.where(turned, -1.0, 1.0) * stakes[self.conditional]
        on_condition = np.where(turned, stakes[self.conditional], 0.0) - returned[self.conditional]
        plain = self.coordinate[~self.conditional]
        sides: list[tuple[Indices, Mask, Vector]] = [
            (plain, self.complemented[~self.conditional], stakes[~self.conditional]),
            (given.joint.coordinate[own].astype(np.int64), given.joint.turned[own], on_joint),
            (given.condition.coordinate[own].astype(np.int64), given.condition.turned[own], on_condition),
        ]
        sums = np.zeros(len(self.part))
        for coordinate, flipped, amount in sides:
            np.add.at(sums, coordinate, np.where(flipped, -amount, amount))
        return sums, float(sum(amount[flipped].sum() for _, flipped, amount in sides))

    def only(self, kept: Mask) -> Cluster:
        """Only some of the bets, over the same variables."""
        given, conditional = self.part.terms.conditionals, self.conditional[kept]
        coordinate = self.coordinate[kept]
        plain, own = coordinate[~conditional], coordinate[conditional]
        used = np.zeros(len(self.part), np.bool_)
        for coordinates in (plain, given.joint.coordinate[own], given.condition.coordinate[own]):
            used[coordinates] = True
        still = given.joint.are_on(used) & given.condition.are_on(used)
        coordinate[~conditional] = (np.cumsum(used) - 1)[plain]
        coordinate[conditional] = (np.cumsum(still) - 1)[own]
        part, turned = self.part.keep(used), self.complemented[kept]
        return Cluster(
            bets=self.bets[kept],
            part=part,
            coordinate=coordinate,
            complemented=turned,
            conditional=conditional,
            variables=self.variables,
        )


def stated(panel: Panel, make: Callable[[Panel], Bets]) -> Bets:
    """The bets that a function makes of a panel, with conditionals that logic settles as constant events.

    That is what the forecasts say, and what their distance from coherent ones is about: "p given p" is 1. Trades are
    another matter (`Bets.as_offered`).
    """
    plain = settled(panel)
    return make(panel) if plain is panel else replace(make(plain), offered=panel.written)


def bets_at_forecasts(panel: Panel, source: Panel | None = None) -> Bets:
    """One bet per forecast of the panel; if these are means, `source` is the panel that they are means of."""
    return _with(panel, source, pose(replace(panel, weight=np.ones(len(panel)))))


def bets_at_means(panel: Panel) -> Bets:
    """One bet per event as written, at the weighted mean of its forecasts, with the means of bids and asks.

    If one of the quotes lacks a side, the mean lacks it, too.
    """
    panel = replace(panel, weight=in_units(panel.weight, unit_of(panel.weight)))
    count = len(panel.written)
    points = np.bincount(panel.event_index, quoted(panel), count) == 0
    low, high = (
        np.where(points, np.nan, np.nan_to_num(event_means(panel, side), nan=nothing))
        for side, nothing in ((bids(panel), 0.0), (asks(panel), 1.0))
    )
    priced = replace(
        panel,
        judges=("panel",),
        judge_index=np.zeros(count, np.int32),
        event_index=np.arange(count, dtype=np.int32),
        probability=np.clip(event_means(panel, panel.probability), 0.0, 1.0),
        weight=np.ones(count),
        lower=low,
        upper=high,
        time=None,
    )
    return bets_at_forecasts(priced, panel)


def event_means(panel: Panel, values: Vector) -> Vector:
    """The weighted mean, for each event as written, of values that have one entry per forecast."""
    weight = in_units(panel.weight, unit_of(panel.weight))
    total = np.bincount(panel.event_index, weight * values, len(panel.written))
    mean: Vector = total / np.bincount(panel.event_index, weight, len(panel.written))
    return mean


def bets_of_judges(panel: Panel) -> Bets:
    """One bet per forecast of the panel; the bets of different judges are not connected."""
    return _with(panel, None, pose_individually(replace(panel, weight=np.ones(len(panel)))))


def quoted(panel: Panel) -> Mask:
    """Which forecasts have a quote: a bid, an ask or both."""
    found = np.zeros(len(panel), np.bool_)
    for side in (panel.lower, panel.upper):
        if side is not None:
            found |= ~np.isnan(side)
    return found


def bids(panel: Panel) -> Vector:
    """The selling price of each forecast: its bid, NaN if the quote has none, or its price without a quote."""
    return _side(panel, panel.lower)


def asks(panel: Panel) -> Vector:
    """The buying price of each forecast: its ask, NaN if the quote has none, or its price without a quote."""
    return _side(panel, panel.upper)


def _side(panel: Panel, column: Vector | None) -> Vector:
    return np.where(quoted(panel), np.nan if column is None else column, panel.probability)


def usable(panel: Panel) -> tuple[Panel, tuple[str, ...]]:
    """The forecasts that can be bet on, and notes about those that cannot."""
    if not isinstance(panel, Panel):
        raise PanelError(f"forecasts come in a Panel, not a {type(panel).__name__}; see Panel.from_records")
    weightless = panel.weight == 0
    notes = []
    if n := len(panel.laws.pins):
        notes.append(f"pins left out, since nobody offers bets at them: {n:,}")
        panel = replace(panel, laws=replace(panel.laws, pins=Pins()))
    if n := int(weightless.sum()):
        notes.append(f"forecasts of weight 0 left out: {n:,}")
    return (panel.select(~weightless) if weightless.any() else panel), tuple(notes)


def clusters_of(bets: Bets) -> list[Cluster]:
    """The clusters that could be incoherent: a single bet on an event without a law could not."""
    merged, given = bets.merged, bets.merged.terms.conditionals
    anchor = bets.coordinate.astype(np.int64)
    anchor[bets.conditional] = given.joint.coordinate[anchor[bets.conditional]]
    tied = merged.tied() if len(merged) else np.zeros(0, np.int32)
    component = tied[: len(merged)]
    components = int(component.max(initial=-1)) + 1
    suspicious = np.bincount(component[anchor], minlength=components) > 1
    suspicious[component[merged.sizes() == 0]] = True
    ruled = tied[len(merged) :]
    suspicious[ruled[ruled < components]] = True
    suspicious[component[merged.terms.limits.joint.coordinate]] = True
    kept = suspicious[component]
    parts = split(merged.keep(kept)) if kept.any() else []
    place = _places(parts, kept)
    own = np.flatnonzero(kept[anchor])
    homes = place[anchor[own], 0]
    order = np.argsort(homes, kind="stable")
    cuts = np.searchsorted(homes[order], np.arange(len(parts) + 1)).tolist()
    coordinate = place[anchor, 1]
    coordinate[bets.conditional] = _given_numbers(merged, place)[bets.coordinate[bets.conditional]]
    return [
        Cluster(
            bets=mine,
            part=part.merged,
            coordinate=coordinate[mine],
            complemented=bets.complemented[mine],
            conditional=bets.conditional[mine],
            variables=merged.origin[part.merged.origin],
        )
        for part, mine in zip(parts, (own[order[a:b]] for a, b in pairwise(cuts)), strict=True)
    ]


def _places(parts: Sequence[Part], kept: Mask) -> Indices:
    """For each coordinate its part and its place there, -1 where it was not kept."""
    place = np.full((len(kept), 2), -1, np.int64)
    index = np.flatnonzero(kept)
    for c, part in enumerate(parts):
        place[index[part.coordinates], 0] = c
        place[index[part.coordinates], 1] = np.arange(len(part.coordinates))
    return place


def _given_numbers(merged: Merged, place: Indices) -> Indices:
    """The number of each conditional in its part; parts keep the order."""
    home = place[merged.terms.conditionals.joint.coordinate, 0]
    order = np.argsort(home, kind="stable")
    number = np.empty(len(home), np.int64)
    number[order] = np.arange(len(home)) - np.searchsorted(home[order], home[order])
    return number


def truth_of(bets: Bets, cluster: Cluster, worlds: Truth) -> tuple[Mask, Mask]:
    """Which of the cluster's bets are won, and which stand, in worlds of its variables: one row per world."""
    full = np.zeros((len(worlds), len(bets.panel.events.variables)), np.bool_)
    full[:, cluster.variables] = worlds
    events = bets.panel.events
    return events.evaluate(bets.side[cluster.bets], full), events.evaluate(bets.condition[cluster.bets], full)


def decimal(value: float) -> Fraction:
    """The shortest decimal number that reads as this float: what a person wrote.

    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(value)))


def _with(panel: Panel, source: Panel | None, problem: Problem) -> Bets:
    unit = problem.forecasts.unit
    return Bets(
        panel=panel,
        source=source,
        merged=problem.merged,
        coordinate=problem.coordinate[unit],
        complemented=problem.complemented[unit],
        conditional=problem.conditional[unit],
    )


def _exact_mean(values: Vector, weight: Vector, rows: Indices) -> Fraction:
    weights = [decimal(w) for w in weight[rows].tolist()]
    terms = (w * decimal(v) for w, v in zip(weights, values[rows].tolist(), strict=True))
    return sum(terms, Fraction(0)) / sum(weights, Fraction(0))
