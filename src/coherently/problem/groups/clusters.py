"""The clusters of a component whose worlds are restricted: what blocks and laws allow of a few variables at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem.groups.shared import _extend, cluster_sets, never, until
from coherently.problem.groups.simple import number_patterns
from coherently.problem.spaces.states import States, TruthVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from coherently.problem.groups.junction import Variables
    from coherently.problem.groups.simple import Group, Groups
    from coherently.problem.problem import Merged
    from coherently.problem.spaces.space import Block

MOST_STATES = 1024
"""Maximum number of joint states of a cluster's variables."""
SMALL_BLOCK = 4
"""Maximum number of variables of a block that is in a cluster as a whole."""


def lawful_clusters(merged: Merged, is_over: Callable[[], bool] = never) -> Groups:
    """All events about a triangle of variables together, as in `clusters`, in the states that laws and blocks allow.

    Each block is a separate group, with the events inside; each law is a cluster, too, unless its variables have too
    many joint states: such a law is left out, so that the clusters allow more than possible. Clusters share every
    variable and every pair. An error ends the work once it `is_over`.
    """
    sets = _sets(merged, States(merged.space, merged.n_variables), is_over)
    uses = Counter(two for variables in until(sets, is_over) for two in combinations(variables, 2))
    return _gathered(merged, sets, [two for two, count in uses.items() if count > 1], is_over)[0]


def wider_clusters(
    merged: Merged, more: Collection[Variables], is_over: Callable[[], bool] = never
) -> tuple[Groups, Merged]:
    """The clusters of `lawful_clusters` and `more`, and the coordinates that they share: every pair has one.

    What a wider cluster covers is left out, and so is a wider cluster with too many joint states. An error ends the
    work once it `is_over`.
    """
    states = States(merged.space, merged.n_variables)
    wide = [set(variables) for variables in sorted(more) if states.count(variables) <= MOST_STATES]
    usual = _sets(merged, states, is_over)
    sets = {tuple(sorted(variables)) for variables in wide}
    sets |= {own for own in until(usual, is_over) if not any(other.issuperset(own) for other in wide)}
    shared = {two for variables in until(usual, is_over) for two in combinations(variables, 2)}
    uses = Counter(two for variables in until(sets, is_over) for two in combinations(variables, 2))
    return _gathered(merged, sorted(sets), shared | {two for two, count in uses.items() if count > 1}, is_over)


def _gathered(
    merged: Merged, sets: Sequence[Variables], pairs: Iterable[Variables], is_over: Callable[[], bool]
) -> tuple[Groups, Merged]:
    """One cluster per set and per block; they share every variable and these pairs, which are coordinates."""
    told = set(merged.functions.variable_sets())
    missing: list[Variables] = [(v,) for v in range(merged.n_variables) if (v,) not in told]
    missing += sorted(two for two in pairs if two not in told)
    whole = _extend(merged, missing)
    maker = _Maker(whole)
    for coordinate in np.flatnonzero(merged.sizes() == 0).tolist():
        maker.groups.append(([coordinate], np.zeros((1, 1))))
    for block in merged.space.blocks:
        maker.add_block(block)
    for variables in until(sets, is_over):
        maker.add_cluster(variables)
    return replace(number_patterns("clusters", maker.groups), auxiliary=len(missing)), whole


def _sets(merged: Merged, states: States, is_over: Callable[[], bool]) -> list[Variables]:
    """The variables of each cluster: triangles, larger events and laws, then pairs and single variables."""
    known = set(merged.functions.variable_sets()) - {()}
    for variables in known:
        if not states.is_inside(variables) and states.count(variables) > MOST_STATES:
            raise MethodError(
                f"an event is about {len(variables)} variables with more than {MOST_STATES:,} joint states, "
                "the maximum of a cluster: leave such events out or choose another method"
            )
    known |= {own for own in merged.space.laws.variable_sets() if states.count(own) <= MOST_STATES}
    known = {variables for variables in known if not states.is_inside(variables)}
    return sorted({_widened(states, variables) for variables in until(cluster_sets(known, is_over), is_over)})


def _widened(states: States, variables: Variables) -> Variables:
    """The same with the rest of the small blocks that it overlaps, if that is not too much."""
    if not states.space.blocks:
        return variables
    blocks = (states.space.blocks[h].variables.tolist() for h in np.unique(states.block[list(variables)]) if h >= 0)
    more = tuple(sorted(set(variables).union(*(own for own in blocks if len(own) <= SMALL_BLOCK))))
    return more if states.count(more) <= MOST_STATES else variables


class _Maker:
    """Collects groups."""

    def __init__(self, merged: Merged) -> None:
        self.states, self.truth = States(merged.space, merged.n_variables), TruthVectors(merged)
        self.own = self.truth.own
        self.first: defaultdict[int, list[int]] = defaultdict(list)
        for i, variables in enumerate(self.own):
            if variables:
                self.first[variables[0]].append(i)
        self.groups: list[Group] = []

    def add_block(self, block: Block) -> None:
        """Add a block with the events about only its variables."""
        order = np.argsort(block.variables)
        variables = tuple(block.variables[order].tolist())
        states = self.states.lawful(block.variables[order], block.states[:, order])
        members = self._about(variables)
        self.groups.append((members, self.truth.of(members, variables, states)))

    def add_cluster(self, variables: Variables) -> None:
        """Add a cluster; later ones with the same pair need only one of the events about it."""
        members = self._about(variables)
        self.groups.append((members, self.truth.of(members, variables, self.states.of(np.array(variables)))))
        uses = Counter(self.own[i] for i in members if len(self.own[i]) == 2)
        for pair in (pair for pair, count in uses.items() if count > 1):
            kept = next(i for i in members if self.own[i] == pair)
            self.first[pair[0]] = [i for i in self.first[pair[0]] if self.own[i] != pair or i == kept]

    def _about(self, variables: Variables) -> list[int]:
        inside = set(variables)
        return [i for v in variables for i in self.first[v] if inside.issuperset(self.own[i])]
