"""Drafts of groups, also if not every truth assignment is a world, or if forecasts are conditional.

Each block, each law, and each conditional is a *scope*: its variables belong together, and a group has all events
about them. A group's truth vectors are those that its blocks and the laws inside it allow, so a law
between groups affects them only through the coordinates that they share.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.problem.spaces.states import States, TruthVectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from coherently.problem.problem import Merged

Variables: TypeAlias = tuple[int, ...]
"""The numbers of some variables, or of some nodes, ascending."""


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """A future group: its members, and the variables whose joint states give its truth vectors."""

    members: list[int]
    variables: Variables


class Setting:
    """A problem's coordinates by variables, and the scopes of its blocks, laws and conditionals."""

    def __init__(self, merged: Merged) -> None:
        self.merged = merged
        self.states = States(merged.space, merged.n_variables)
        self.about: defaultdict[int, list[int]] = defaultdict(list)
        self.truth = TruthVectors(merged)
        self.own: list[Variables] = self.truth.own
        for i, own in enumerate(self.own):
            for v in own:
                self.about[v].append(i)
        self.single = {own[0]: i for i, own in enumerate(self.own) if len(own) == 1}
        self.ties = self._ties()
        self.scopes = [tie for tie in self.ties if tie.members]
        self.absorbed = {i for scope in self.scopes for i in scope.members}

    def inside(self, variables: Iterable[int]) -> list[int]:
        """The coordinates about only these variables, without constants."""
        count = Counter(chain.from_iterable(self.about.get(v, ()) for v in variables))
        return sorted(i for i, met in count.items() if met == len(self.own[i]))

    def draft(self, members: list[int]) -> GroupDraft:
        """A group of coordinates, over all of their variables."""
        return GroupDraft(members, tuple(sorted({v for i in members for v in self.own[i]})))

    def group(self, draft: GroupDraft) -> tuple[list[int], NDArray[np.float64]]:
        """The members of a draft and their truth vectors, one row each."""
        states = self.states.of(np.array(draft.variables, np.int64))
        return draft.members, self.truth.of(draft.members, draft.variables, states)

    def with_variables(self, coordinates: Sequence[int]) -> GroupDraft:
        """Coordinates with those of their variables that are coordinates."""
        variables = sorted({v for i in coordinates for v in self.own[i]})
        singles = [self.single[v] for v in variables if v in self.single]
        return GroupDraft([i for i in singles if i not in coordinates] + list(coordinates), tuple(variables))

    def _ties(self) -> list[GroupDraft]:
        """The scopes that are in no other, each with all coordinates about it; a law may have none."""
        space, terms = self.merged.space, self.merged.terms
        asked: dict[Variables, set[int]] = defaultdict(set)
        known = set(self.about) | set(self.states.laws)
        for block in space.blocks:
            asked[tuple(sorted(known.intersection(block.variables.tolist())))] |= set()
        for own in space.laws.variable_sets():
            asked[own] |= set()
        for sides in (terms.conditionals, terms.limits):
            pairs = zip(sides.joint.coordinate.tolist(), sides.condition.coordinate.tolist(), strict=True)
            for joint, condition in pairs:
                if condition >= 0:
                    asked[tuple(sorted({*self.own[joint], *self.own[condition]}))] |= {joint, condition}
        found = [GroupDraft(sorted(set(self.inside(s)) | extra), s) for s, extra in asked.items()]
        others = _by_variable(found)
        return [draft for draft in found if draft.variables and not _covered(draft, others)]


def _by_variable(drafts: Iterable[GroupDraft]) -> dict[int, list[GroupDraft]]:
    found = defaultdict[int, list[GroupDraft]](list)
    for draft in drafts:
        for v in draft.variables:
            found[v].append(draft)
    return found


def _covered(draft: GroupDraft, others: dict[int, list[GroupDraft]]) -> bool:
    """Whether another group contains a group."""
    own, members = set(draft.variables), set(draft.members)
    near = min((others.get(v, []) for v in own), key=len, default=[])
    return any(
        other is not draft and own.issubset(other.variables) and members.issubset(other.members) for other in near
    )


def logical_drafts(setting: Setting) -> list[GroupDraft]:
    """Each complex event with its variables, unless a scope has it; and the scopes."""
    alone = [i for i, own in enumerate(setting.own) if len(own) != 1 and i not in setting.absorbed]
    return [setting.with_variables([i]) for i in alone] + setting.scopes


def pair_drafts(setting: Setting) -> list[GroupDraft]:
    """All events about the same two variables together; larger ones and scopes as in `logical_drafts`."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, own in enumerate(setting.own):
        if len(own) != 1 and i not in setting.absorbed:
            alike.setdefault(own if len(own) == 2 else (*own, -1 - i), []).append(i)
    return [setting.with_variables(events) for events in alike.values()] + setting.scopes


def component_drafts(setting: Setting) -> list[GroupDraft]:
    """All events that are connected, by shared variables, blocks, laws, conditionals or limits."""
    merged = setting.merged
    label = merged.tied()
    members, variables = defaultdict[int, list[int]](list), defaultdict[int, set[int]](set)
    for i in range(len(merged)):
        members[int(label[i])].append(i)
        variables[int(label[i])].update(setting.own[i])
    starts, tied = merged.space.rows()
    for i, home in enumerate(label[len(merged) :].tolist()):
        variables[home].update(tied[starts[i] : starts[i + 1]].tolist())
    return [GroupDraft(own, tuple(sorted(variables[c]))) for c, own in members.items()]


class BlockGraph:
    """Blocks and free variables as the nodes of a graph; a block has the atoms that an event or a law is about."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        states = setting.states
        used = sorted(set(setting.about) | set(states.laws))
        self.node = {
            v: int(b) if b >= 0 else len(states.space.blocks) + v for v, b in zip(used, states.block[used], strict=True)
        }
        atoms = defaultdict[int, list[int]](list)
        for v, node in self.node.items():
            atoms[node].append(v)
        self.atoms = dict(atoms)
        self.count = {node: states.count(own) for node, own in atoms.items()}
        # If exactly one atom is true, one of them follows from the others.
        self.basis = {node: own[: self.count[node] - 1] for node, own in atoms.items()}

    def edges(self) -> set[Variables]:
        """The nodes that each event and each scope connects."""
        rows = [*self.setting.own, *(tie.variables for tie in self.setting.ties)]
        return {tuple(sorted({self.node[v] for v in own if v in self.node})) for own in rows} - {()}

    def variables(self, nodes: Iterable[int]) -> Variables:
        """The atoms of nodes."""
        return tuple(sorted(v for node in nodes for v in self.atoms[node]))

    def conjunctions(self, nodes: Sequence[int]) -> Iterable[Variables]:
        """The conjunctions of one atom per node; with those of fewer nodes, they determine the joint distribution."""
        return (tuple(sorted(atoms)) for atoms in product(*(self.basis[node] for node in nodes)))

    def states(self, nodes: Iterable[int]) -> int:
        """The number of joint states, ignoring laws."""
        return math.prod(self.count[node] for node in nodes)


def node_drafts(setting: Setting, nodes: BlockGraph, sets: Iterable[Variables]) -> list[GroupDraft]:
    """All events about some nodes together; constants, and scopes in no set of nodes, separately."""
    chosen = [nodes.variables(own) for own in sets]
    drafts = [GroupDraft(setting.inside(variables), variables) for variables in chosen]
    constant = [GroupDraft([i], ()) for i, own in enumerate(setting.own) if not own and i not in setting.absorbed]
    drafts = [draft for draft in drafts if draft.members]
    others = _by_variable(drafts)
    return constant + drafts + [scope for scope in setting.scopes if not _covered(scope, others)]


def ordered(setting: Setting, drafts: Iterable[GroupDraft]) -> list[GroupDraft]:
    """By first complex event; groups without one last."""

    def first(draft: GroupDraft) -> int:
        return min((i for i in draft.members if len(setting.own[i]) != 1), default=len(setting.own))

    return sorted(drafts, key=first)
