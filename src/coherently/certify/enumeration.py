"""Evaluation of many independent parts at once, for the verifier: row j has world j of every part side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.events import Events

CELLS = 2**25
"""Worlds times variables or events that are held at a time."""
MOST_VARIABLES = 16
"""Variables of a component up to which all its worlds are looked at."""
MOST_CELLS = 2**27
"""Worlds times events of a component up to which they are."""
STEPS = 200
"""Steps towards nearer coherent forecasts, in search of one that refutes a bound."""
STEP_CELLS = 2**31
"""Worlds times events looked at in all steps together."""


class Part(Protocol):
    """Worlds of some variables, as `coherently.solve.Worlds`."""

    @property
    def weight(self) -> NDArray[np.float64]:
        """The probability of each world."""

    @property
    def truth(self) -> NDArray[np.bool_]:
        """A row a world, a column a variable."""


def mixed(
    events: Events,
    sides: NDArray[np.int32],
    part_of: NDArray[np.int64],
    parts: Sequence[Part],
    variables: Sequence[NDArray[np.int64]],
) -> NDArray[np.float64]:
    """The probability of each side in the mixture of its part; `variables` are the table's for each part's columns."""
    probability = np.zeros(len(sides))
    counts = np.array([len(part.weight) for part in parts], np.int64)
    n_variables = len(events.variables)
    for begin, end in _blocks(counts, n_variables + len(sides)):
        active = np.flatnonzero(counts > begin)
        worlds = np.zeros((end - begin, n_variables), np.bool_)
        weight = np.zeros((end - begin, len(parts)))
        for k in active.tolist():
            rows = parts[k].truth[begin:end]
            worlds[: len(rows), variables[k]] = rows
            weight[: len(rows), k] = parts[k].weight[begin:end]
        mine = np.flatnonzero(counts[part_of] > begin)
        holds = events.evaluate(sides[mine], worlds)
        probability[mine] += np.einsum("ij,ij->j", weight[:, part_of[mine]], holds)
    return probability


def enumerable(distinct: Distinct) -> NDArray[np.bool_]:
    """Which components have so few variables and events that all their worlds can be looked at."""
    count = _variable_counts(distinct)
    events = np.bincount(distinct.component, minlength=distinct.n_components)
    few = count <= MOST_VARIABLES
    return few & (events * 2.0 ** np.minimum(count, MOST_VARIABLES) <= MOST_CELLS)


def least_sums(events: Events, distinct: Distinct, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least sum of coefficients of events that hold in a world of each component; NaN where not enumerated."""
    least = np.where(enumerable(distinct), np.inf, np.nan)
    order = np.argsort(distinct.component, kind="stable")
    order = order[np.isinf(least)[distinct.component[order]]]
    number, home = _numbered(distinct)
    counts = np.where(np.isinf(least), 2 ** np.minimum(_variable_counts(distinct), MOST_VARIABLES), 0)
    n_variables = len(events.variables)
    for begin, end in _blocks(counts, n_variables + len(order)):
        mine = order[counts[distinct.component[order]] > begin]
        used = np.flatnonzero((home >= 0) & (np.append(counts, 0)[home] > begin))
        worlds = np.zeros((end - begin, n_variables), np.bool_)
        worlds[:, used] = (np.arange(begin, end)[:, None] >> number[used]) & 1
        holds = events.evaluate(distinct.side[mine], worlds)
        found, starts = np.unique(distinct.component[mine], return_index=True)
        sums = np.add.reduceat(holds * coefficients[mine], starts, axis=1)
        least[found] = np.minimum(least[found], sums.min(axis=0))
    return least


def squeeze(
    events: Events, distinct: Distinct, component: int, start: NDArray[np.float64], claim: float
) -> tuple[float, float]:
    """Bounds on the least objective of an enumerated component, from coherent forecasts `start` of its events.

    Each step goes from coherent forecasts y towards the world that promises most (Frank and Wolfe 1956). Their
    objective f is an upper bound, and with g = max <N(y - q), y - s> over worlds s, max(0, f - g)^2 / f a lower one. It
    ends when the claim lies below the lower bound or above the upper one.
    """
    mine = np.flatnonzero((distinct.component == component) & (distinct.weight > 0))
    weight, mean, y = distinct.weight[mine], distinct.mean[mine], start[mine].copy()
    holds = _all_worlds(events, distinct, component, mine)
    low, high = 0.0, np.inf
    for _ in range(max(1, min(STEPS, STEP_CELLS // max(1, holds.size)))):
        force = weight * (y - mean)
        objective = float(force @ (y - mean))
        sums = _product(holds, force)
        best = int(np.argmin(sums))
        shortfall = max(0.0, float(force @ y - sums[best]))
        low, high = max(low, proved(objective, shortfall)), min(high, objective)
        step = holds[best] - y
        length = float(weight @ step**2)
        if claim <= low or claim > high or length == 0:
            break
        y += min(1.0, shortfall / length) * step
    return low, high


def proved(objective: float, shortfall: float) -> float:
    """The lower bound that the greatest <N(x - q), x - s> over worlds s proves: max(0, f - g)^2 / f.

    >>> round(proved(1.21, 0.11), 6)
    1.0
    """
    return max(0.0, objective - max(0.0, shortfall)) ** 2 / objective if objective > 0 else 0.0


def _blocks(counts: NDArray[np.int64], width: int) -> Iterator[tuple[int, int]]:
    """Cut rows into blocks that fit; they grow as the parts with few worlds are done with."""
    begin, most = 0, int(counts.max(initial=0))
    largest = max(64, CELLS // max(1, width) // 64 * 64)
    while begin < most:
        end = min(most, begin + min(largest, max(64, begin)))
        yield begin, end
        begin = end


def _variable_counts(distinct: Distinct) -> NDArray[np.int64]:
    _, home = _numbered(distinct)
    return np.bincount(home[home >= 0], minlength=distinct.n_components)


def _numbered(distinct: Distinct) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each variable its number within its component, and that component (-1 where there is none)."""
    home = np.full(int(distinct.variables.max(initial=-1)) + 1, -1, np.int64)
    home[distinct.variables] = np.repeat(distinct.component, np.diff(distinct.starts))
    order = np.argsort(home, kind="stable")
    number = np.zeros(len(home), np.int64)
    number[order] = np.arange(len(home)) - np.searchsorted(home[order], home[order])
    return number, home


def _all_worlds(events: Events, distinct: Distinct, component: int, mine: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The truth of a component's events in each of its worlds."""
    number, home = _numbered(distinct)
    used = np.flatnonzero(home == component)
    n_variables, count = len(events.variables), 2 ** len(used)
    holds = np.empty((count, len(mine)), np.bool_)
    for begin, end in _blocks(np.array([count]), n_variables + len(mine)):
        worlds = np.zeros((end - begin, n_variables), np.bool_)
        worlds[:, used] = (np.arange(begin, end)[:, None] >> number[used]) & 1
        holds[begin:end] = events.evaluate(distinct.side[mine], worlds)
    return holds


def _product(holds: NDArray[np.bool_], force: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = max(1, CELLS // max(1, holds.shape[1]))
    return np.concatenate([holds[a : a + rows] @ force for a in range(0, len(holds), rows)])
