"""Relations among events about one declared variable, by its states: any number of values, in polynomial time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.relations.literals import bits_of, relation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.explain.relations.literals import PricedEvent, Relation

MOST_EVENTS = 3_000
"""Maximum number of events about one variable that are compared pairwise."""
WORST = 1_000
"""Maximum number of pairs of each kind; those with the largest violation are kept."""


def relations_within(
    events: Sequence[PricedEvent], variables: NDArray[np.int32], states: NDArray[np.uint8], tolerance: float
) -> Iterator[Relation]:
    """The relations that events break if their variables, all in one block, have some joint states."""
    place = {variable: i for i, variable in enumerate(variables.tolist())}
    truth = np.array([_truth(event, place, states) for event in events[:MOST_EVENTS]], np.bool_)
    yield from _pairs(events, truth, tolerance)
    if len(events) > 2:
        yield from _disjoint(events, truth)


def _truth(event: PricedEvent, place: dict[int, int], states: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """In which states the event holds."""
    own = states[:, [place[v] for v in event.variables]].astype(np.int64)
    return bits_of(event.table, len(event.variables))[own @ (1 << np.arange(len(event.variables)))]


def _pairs(events: Sequence[PricedEvent], truth: NDArray[np.bool_], tolerance: float) -> Iterator[Relation]:
    """Two events of which one implies the other, that exclude each other, or of which one must happen."""
    holds, fails = truth.astype(np.float32), (~truth).astype(np.float32)
    high = np.array([event.high for event in events[: len(truth)]])
    low = np.array([event.low for event in events[: len(truth)]])
    for first, second, signs in (
        (holds, holds, (False, False)),
        (holds, fails, (False, True)),
        (fails, fails, (True, True)),
    ):
        ends = [1.0 - low if negated else high for negated in signs]
        excess = np.where(first @ second.T == 0, np.add.outer(*ends) - 1.0, 0.0)
        np.fill_diagonal(excess, 0.0)
        if signs[0] == signs[1]:
            excess = np.triu(excess)
        rows, columns = np.nonzero(excess > tolerance)
        worst = np.argsort(-excess[rows, columns], kind="stable")[:WORST]
        for i, j in zip(rows[worst].tolist(), columns[worst].tolist(), strict=True):
            yield relation_of("all", (events[i], events[j]), signs)


def _disjoint(events: Sequence[PricedEvent], truth: NDArray[np.bool_]) -> Iterator[Relation]:
    """Events of which no two can happen, the narrowest first; one must happen if they cover all states.

    An event may be replaced by its complement if that is narrower.
    """
    sizes, count = truth.sum(axis=1), truth.shape[1]
    turned = 2 * sizes > count
    narrow = np.where(turned[:, None], ~truth, truth)
    likely = [-event.most(negated)[0] for event, negated in zip(events, turned.tolist(), strict=False)]
    covered, chosen = np.zeros(count, np.bool_), []
    for i in np.lexsort((likely, narrow.sum(axis=1))).tolist():
        if narrow[i].any() and not (covered & narrow[i]).any():
            covered |= narrow[i]
            chosen.append(i)
    if len(chosen) < 3:
        return
    members, signs = [events[i] for i in chosen], [bool(turned[i]) for i in chosen]
    yield relation_of("one", members, signs)
    if covered.all():
        yield relation_of("all", members, [not sign for sign in signs])
