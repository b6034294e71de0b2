"""The connected components of a problem, each a separate problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from coherently.problem.problem import Merged
from coherently.problem.spaces.space import FREE
from coherently.problem.terms import NO_TERMS
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Indices
    from coherently.problem.problem import Problem
    from coherently.problem.spaces.space import Space
    from coherently.problem.terms import Terms


@dataclass(frozen=True, slots=True, eq=False)
class Part(Value):
    """A component: its coordinates in the whole, and itself with variables numbered from 0.

    The `origin` of `merged` is the whole problem's variable behind each of its variables.
    """

    coordinates: NDArray[np.int64]
    merged: Merged


def components_of(problem: Problem) -> Indices:
    """The component of each unit, -1 where its truth is settled by logic.

    Units are tied by shared variables, laws, declared variables, conditionals and pins.
    """
    tied, given = problem.merged.tied()[: len(problem.merged)], problem.merged.terms.conditionals
    coordinate = problem.coordinate.astype(np.int64)
    coordinate[problem.conditional] = given.joint.coordinate[coordinate[problem.conditional]]
    return np.where(coordinate < 0, -1, tied[coordinate] if len(tied) else -1)


def split(merged: Merged, tied: NDArray[np.int32] | None = None) -> list[Part]:
    """Take the components apart: events that share no variable, directly or through others, are independent.

    `tied` are the labels of `Merged.tied`, if they are known already.

    >>> from coherently.panel import Panel
    >>> from coherently.problem import pose
    >>> panel = Panel.from_records([("Ann", "p & q", 0.2), ("Ann", "r", 0.5), ("Ann", "q", 0.1)])
    >>> [part.coordinates.tolist() for part in split(pose(panel).merged)]
    [[0, 2], [1]]
    """
    tied = merged.tied() if tied is None else tied
    home = homes(merged, tied)
    if len(merged) and not tied.any() and not home.any():  # one component of all variables
        every = np.arange(merged.n_variables, dtype=np.int32)
        return [Part(np.arange(len(merged)), replace(merged, origin=every))]
    component = tied[: len(merged)]
    order = np.argsort(component, kind="stable")
    cuts = np.concatenate([[0], np.cumsum(np.bincount(component))])
    used = np.argsort(home, kind="stable")[np.count_nonzero(home < 0) :]
    own_cuts = np.concatenate([[0], np.cumsum(np.bincount(home[used], minlength=len(cuts) - 1))]).astype(np.int64)
    number = np.zeros(merged.n_variables, np.int64)
    number[used] = np.arange(len(used)) - own_cuts[home[used]]
    functions = merged.functions.take(order)
    functions = functions.renumbered(number[functions.variables].astype(np.int32))
    place = np.empty(len(merged), np.int64)
    place[order] = np.arange(len(merged)) - np.repeat(cuts[:-1], np.diff(cuts))
    count = len(cuts) - 1
    terms = merged.terms.split(component, place, count) if len(merged.terms) else repeat(NO_TERMS, count)
    spaces = repeat(FREE, count) if merged.space.is_free else merged.space.split(tied[len(merged) :], number, count)

    def part(c: int, space: Space, own: Terms) -> Part:
        a, b = cuts[c], cuts[c + 1]
        mine = order[a:b]
        local = Merged(
            event=merged.event[mine],
            weight=merged.weight[mine],
            mean=merged.mean[mine],
            functions=functions.part(a, b),
            origin=used[own_cuts[c] : own_cuts[c + 1]].astype(np.int32),
            space=space,
            terms=own,
        )
        return Part(mine, local)

    return [part(*one) for one in zip(range(count), spaces, terms, strict=True)]


def split_some(merged: Merged, tied: NDArray[np.int32], some: NDArray[np.bool_]) -> list[Part]:
    """Some of the components, by a mask over their labels, as `split` would give them."""
    if some.all():
        return split(merged, tied)
    kept = some[tied[: len(merged)]]
    places = np.flatnonzero(kept)
    return (
        [replace(part, coordinates=places[part.coordinates]) for part in split(merged.keep(kept))]
        if len(places)
        else []
    )


def homes(merged: Merged, tied: NDArray[np.int32]) -> NDArray[np.int64]:
    """The component of each variable, -1 if nothing is about it."""
    home = np.full(merged.n_variables, -1, np.int64)
    if not merged.space.is_free:
        starts, members = merged.space.rows()
        home[members] = np.repeat(tied[len(merged) :], np.diff(starts))
    home[merged.functions.variables] = np.repeat(tied[: len(merged)], merged.sizes())
    return home
