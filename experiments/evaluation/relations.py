"""Which simple relations between forecasts are broken, how often and by how much."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.events import CERTAIN, quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.panel import Panel

SLACK = 0.01
"""A relation counts as broken past this: forecasts are rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Cases of one relation, a judge and an instance each: by how much each is broken (0 or less: it holds)."""

    name: str
    excess: NDArray[np.float64]

    @property
    def broken(self) -> float:
        """The share of the cases that are broken."""
        return float((self.excess > SLACK).mean())

    @property
    def mean(self) -> float:
        """By how much a broken case is broken, on average."""
        bad = self.excess[self.excess > SLACK]
        return float(bad.mean()) if len(bad) else 0.0

    @property
    def size(self) -> float:
        """By how much cases are broken, those that hold counting 0."""
        return float(np.maximum(self.excess, 0.0).mean())


class Parts(NamedTuple):
    """An event that is the conjunction (or disjunction) of literals, given as sides."""

    is_and: bool
    literals: tuple[int, ...]


def broken_relations(panel: Panel) -> list[Kind]:
    """The kinds of relations that the panel has cases of, the most often broken first."""
    forecasts = Forecasts(panel)
    cases: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for find in (_negations, _compounds, _implications, _partitions, _conditionals):
        for name, excess in find(forecasts):
            cases[name].append(excess[~np.isnan(excess)])
    kinds = [Kind(name, np.concatenate(parts)) for name, parts in cases.items()]
    return sorted((kind for kind in kinds if len(kind.excess)), key=lambda kind: -kind.broken)


class Forecasts:
    """A panel as a matrix, judges by events, repeats averaged, and a way to look a side up."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        shape = (len(panel.judges), len(panel.written))
        cell = panel.judge_index.astype(np.int64) * shape[1] + panel.event_index
        total = np.bincount(cell, panel.probability, shape[0] * shape[1])
        count = np.bincount(cell, minlength=shape[0] * shape[1])
        self.matrix = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0).reshape(shape)
        written = panel.written
        plain = np.flatnonzero(written.condition == CERTAIN).tolist()
        self.column = {int(written.event[i]): i for i in plain}

    def of(self, side: int) -> NDArray[np.float64] | None:
        """Each judge's probability of a side: as forecast, else one less that of the complement."""
        found: NDArray[np.float64] | None = None
        if side in self.column:
            found = self.matrix[:, self.column[side]]
        elif side ^ 1 in self.column:
            found = 1.0 - self.matrix[:, self.column[side ^ 1]]
        return found

    def find(self, texts: list[str]) -> list[int]:
        """The sides of texts; -1 for what the panel's table of events does not have."""
        found: list[int] = self.panel.events.find(texts).event.tolist()
        return found

    def compounds(self) -> Iterator[tuple[int, Parts]]:
        """The forecast events that are a conjunction or a disjunction of two or more literals."""
        events = self.panel.events
        found = np.array(self.find([quote_name(name) for name in events.variables]))
        # A variable that never stands alone has no side yet; it gets one that nobody forecast.
        variable = np.where(found < 0, 2 * (len(events) + np.arange(len(found))), found)
        sides = np.array(list(self.column), np.int32)
        starts, members = events.supports(sides // 2)
        places, words = events.tables(sides // 2)
        for i, side in enumerate(sides.tolist()):
            own = members[starts[i] : starts[i + 1]]
            if not 2 <= len(own) <= 6:
                continue
            rows = [int(words[places[i]]) >> row & 1 for row in range(1 << len(own))]
            truth = [bit ^ (side & 1) for bit in rows]
            for wanted, is_and in ((1, True), (0, False)):
                if truth.count(wanted) == 1:
                    row = truth.index(wanted)
                    signs = [(row >> j & 1) == wanted for j in range(len(own))]
                    literals = (int(v) ^ (not sign) for v, sign in zip(variable[own].tolist(), signs, strict=True))
                    yield side, Parts(is_and, tuple(literals))


def _negations(forecasts: Forecasts) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for side, i in forecasts.column.items():
        j = forecasts.column.get(side ^ 1)
        if j is not None and i < j:
            yield "P(e) + P(~e) is not 1", np.abs(forecasts.matrix[:, i] + forecasts.matrix[:, j] - 1.0)


def _compounds(forecasts: Forecasts) -> Iterator[tuple[str, NDArray[np.float64]]]:
    whole: dict[tuple[bool, frozenset[int]], NDArray[np.float64]] = {}
    for side, (is_and, literals) in forecasts.compounds():
        compound = forecasts.matrix[:, forecasts.column[side]]
        whole[is_and, frozenset(literals)] = compound
        parts = [part for part in map(forecasts.of, literals) if part is not None]
        if len(parts) < len(literals):
            continue
        total, several = np.sum(parts, axis=0), "" if len(parts) == 2 else ", three parts or more"
        if is_and:
            yield f"P(a & b) is above P(a) or P(b){several}", compound - np.min(parts, axis=0)
            yield f"P(a & b) is below P(a) + P(b) - 1{several}", total - (len(parts) - 1) - compound
        else:
            yield f"P(a | b) is below P(a) or P(b){several}", np.max(parts, axis=0) - compound
            yield f"P(a | b) is above P(a) + P(b){several}", compound - total
    for (is_and, members), both in whole.items():
        either = whole.get((False, members))
        parts = [part for part in map(forecasts.of, members) if part is not None]
        if is_and and either is not None and len(parts) == len(members) == 2:
            yield "P(a & b) + P(a | b) is not P(a) + P(b)", np.abs(both + either - parts[0] - parts[1])


def _implications(forecasts: Forecasts) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for text in forecasts.panel.laws.text:
        if text.count("->") != 1 or "<" in text:
            continue
        first, second = map(forecasts.of, forecasts.find([part.strip() for part in text.split("->")]))
        if first is not None and second is not None:
            yield "a -> b is a law, and P(a) is above P(b)", first - second


def _partitions(forecasts: Forecasts) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for text in forecasts.panel.laws.text:
        if text.startswith("exactly(1;"):
            members = [part.strip() for part in text.removeprefix("exactly(1;").removesuffix(")").split(",")]
            found = [part for part in map(forecasts.of, forecasts.find(members)) if part is not None]
            if len(found) == len(members):
                yield "exactly one is a law, and the sum is not 1", np.abs(np.sum(found, axis=0) - 1.0)


def _conditionals(forecasts: Forecasts) -> Iterator[tuple[str, NDArray[np.float64]]]:
    written = forecasts.panel.written
    given = np.flatnonzero(written.condition != CERTAIN).tolist()
    events = forecasts.find([written.text[i].split(" given ")[0] for i in given])
    place = {(event, int(written.condition[i])): i for event, i in zip(events, given, strict=True)}
    for (event, condition), i in place.items():
        ratio, both, prior = forecasts.matrix[:, i], forecasts.of(int(written.event[i])), forecasts.of(condition)
        if both is not None and prior is not None:
            yield "P(a given b) P(b) is not P(a & b)", np.abs(ratio * prior - both)
        turned = place.get((event ^ 1, condition))
        if turned is not None and turned > i:
            yield "P(a given b) + P(~a given b) is not 1", np.abs(ratio + forecasts.matrix[:, turned] - 1.0)
        other, alone = place.get((event, condition ^ 1)), forecasts.of(event)
        if other is None or other < i or alone is None:
            continue
        rest = forecasts.matrix[:, other]
        outside = np.maximum(alone - np.maximum(ratio, rest), np.minimum(ratio, rest) - alone)
        yield "P(a) is outside P(a given b) and P(a given ~b)", outside
        if prior is not None:
            yield (
                "P(a) is not P(a given b) P(b) + P(a given ~b) P(~b)",
                np.abs(alone - ratio * prior - rest * (1 - prior)),
            )
