"""Forces over clusters, and trees, about the checker's variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.proofcheck.language import read_event
from coherently.result.plain_tables import plain_tables
from coherently.result.touching_points import slope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.proofcheck.posed_panel import PosedPanel, PosedTerm
    from coherently.proofcheck.truth_functions import Literal
    from coherently.result.result import Result
    from coherently.solve.solution import BoundHints, ClusterForces, ClusterTree, SignTree

LARGEST_CLUSTER = 2**14
"""Maximum number of states of a cluster that is written."""
LARGEST_TABLE = 14
"""Maximum number of variables of a function of plain variables in such a cluster."""


@dataclass(frozen=True, slots=True)
class WrittenForces:
    """Clusters of the checker's variables, and forces on functions in them: cluster, scope, table of truth, force."""

    scopes: list[tuple[int, ...]]
    forces: list[tuple[int, tuple[int, ...], list[int], float]]

    def leaf(self, panel: PosedPanel, bits: int, other_sides: Sequence[tuple[PosedTerm, int]]) -> dict[str, Any]:
        """A function belongs to the first cluster that contains it; messages bring each other cluster its force.

        The checker may hold ~E & H where forces are about E & H. As [~E & H] = [H] - [E & H], its coefficient times [H]
        goes on to the cluster of H.
        """
        containing: dict[int, set[int]] = {}
        for number, scope in enumerate(self.scopes):
            for v in scope:
                containing.setdefault(v, set()).add(number)
        messages: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}

        @cache
        def home(scope: tuple[int, ...]) -> int:
            return min(set.intersection(*(containing[v] for v in scope)))

        def send(to: int, come: int, scope: tuple[int, ...], truth: Sequence[int], amount: int) -> None:
            if to != come:
                values = messages.setdefault((to, come, scope), [0] * panel.space.cells(scope))
                for place, holds in enumerate(truth):
                    values[place] += amount * holds

        for cluster, scope, truth, force in self.forces:
            send(cluster, home(scope), scope, truth, round(force * 2**bits))
        for term, hint in other_sides:
            scope, mask = term.condition.scope, term.condition.mask
            if mask is not None and set(scope) <= set(term.joint.scope):
                truth = [mask >> place & 1 for place in range(panel.space.cells(scope))]
                send(home(scope), home(term.joint.scope), scope, truth, slope(term, hint, bits))
        told = [[a, b, list(scope), values] for (a, b, scope), values in messages.items() if any(values)]
        return {"k": [list(scope) for scope in self.scopes], "m": told}


@dataclass(frozen=True, slots=True)
class WrittenTree:
    """A tree over signs or clusters, its variables as the checker's literals, and the unit of its numbers."""

    tree: SignTree | ClusterTree
    literals: list[Literal]
    unit: float


@dataclass(frozen=True, slots=True)
class WrittenForms:
    """Forces over clusters, and trees over signs, by each of the variables of their components."""

    forces: dict[int, WrittenForces] = field(default_factory=dict)
    trees: dict[int, WrittenTree] = field(default_factory=dict)


def written_forms(result: Result, panel: PosedPanel, hints: BoundHints | None) -> WrittenForms:
    """The forces and the trees of hints."""
    if hints is None:
        return WrittenForms()
    return WrittenForms(_forces(result, panel, hints), _trees(result, panel, hints))


def _trees(result: Result, panel: PosedPanel, hints: BoundHints) -> dict[int, WrittenTree]:
    """The trees over signs or clusters, by each of the variables of their components."""
    if not hints.trees or result.worlds is None:
        return {}
    names, found = result.worlds.names, dict[int, WrittenTree]()
    for tree in hints.trees:
        literals = [_literal(panel, names[v]) for v in tree.origin.tolist()]
        found |= dict.fromkeys((v for v, _ in literals), WrittenTree(tree, literals, hints.unit))
    return found


def _forces(result: Result, panel: PosedPanel, hints: BoundHints) -> dict[int, WrittenForces]:
    """The forces over clusters, by each of the variables of their components."""
    if not hints.forces or result.worlds is None:
        return {}
    names, found = result.worlds.names, dict[int, WrittenForces]()
    for forces in hints.forces:
        literals = [_literal(panel, names[v]) for v in forces.whole.origin.tolist()]
        written = _written(panel, forces, literals, hints.unit)
        if written is not None:
            found |= {literal[0]: written for literal in literals}
    return found


def _literal(panel: PosedPanel, text: str) -> Literal:
    """A Boolean variable of the solver, a name or a comparison, as a literal of the checker's variable."""
    if text.isidentifier() and text in panel.space.number:
        return panel.space.number[text], frozenset((1,))
    step = read_event(text)[0][0]
    variable = panel.space.number[str(step[1])]
    if step[0] == "variable":
        return variable, frozenset((1,))
    return variable, panel.space.variables[variable].states_where(step[2], step[3])


def _written(
    panel: PosedPanel, forces: ClusterForces, literals: Sequence[Literal], unit: float
) -> WrittenForces | None:
    """Forces on coordinates as forces on tables; None if a cluster is too large for that."""
    groups, tables = forces.groups, _tables(forces, literals)
    scopes, told = list[tuple[int, ...]](), list[tuple[int, tuple[int, ...], list[int], float]]()
    strength = unit * np.asarray(forces.forces)
    for group in range(len(groups)):
        members = range(int(groups.starts[group]), int(groups.starts[group + 1]))
        own = []
        for place in members:
            coordinate = int(groups.members[place])
            if coordinate not in tables:
                tables[coordinate] = _table(panel, forces, coordinate, literals)
            scope, truth = tables[coordinate]
            if scope:
                own.append((len(scopes), scope, truth, float(strength[place])))
        cluster = tuple(sorted({v for _, scope, _, _ in own for v in scope}))
        if panel.space.cells(cluster) > LARGEST_CLUSTER:
            return None
        scopes.append(cluster)
        told += own
    return WrittenForces(scopes, told)


def _tables(forces: ClusterForces, literals: Sequence[Literal]) -> dict[int, tuple[tuple[int, ...], list[int]]]:
    """The tables of coordinates of plain variables, all at once."""
    functions, wanted = forces.whole.functions, np.zeros(len(forces.whole), np.bool_)
    wanted[forces.groups.members] = True
    rows, sizes = np.arange(len(wanted)), functions.sizes()
    is_plain = len({v for v, _ in literals}) == len(literals)
    wanted &= (sizes <= LARGEST_TABLE) & is_plain
    for v in (i for i, (_, states) in enumerate(literals) if states != {1}):
        wanted[np.repeat(rows, sizes)[functions.variables == v]] = False
    numbers = np.array([v for v, _ in literals], np.int64)[functions.variables]
    return {
        row: (tuple(scope), truth)
        for some, scopes, table in plain_tables(functions, wanted, numbers)
        for row, scope, truth in zip(some.tolist(), scopes.tolist(), table.tolist(), strict=True)
    }


def _table(
    panel: PosedPanel, forces: ClusterForces, coordinate: int, literals: Sequence[Literal]
) -> tuple[tuple[int, ...], list[int]]:
    """A coordinate as a table over the checker's variables, the last one fastest."""
    functions = forces.whole.functions
    own = [literals[v] for v in functions.of(coordinate).tolist()]
    bits, scope = functions.decoded(coordinate)[1], tuple(sorted({v for v, _ in own}))
    worlds: list[dict[int, int]] = [{}]
    for v in scope:
        worlds = [{**world, v: state} for world in worlds for state in range(panel.space.variables[v].size)]
    places = [sum((world[v] in states) << i for i, (v, states) in enumerate(own)) for world in worlds]
    return scope, [int(bits[place]) for place in places]
