"""Trees over clusters of variables as the checker reads them: splits, messages and orders about its variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import frexp
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.proofcheck.truth_functions import Literal, StateSpace
    from coherently.solve.solution import ClusterTree

ELIMINATED = -2
"""What stands for an elimination among the nodes that branches split."""
LARGEST_CLUSTER, LARGEST_TABLE = 2**16, 2**22
"""Maximum number of states of a cluster, and of all clusters together, that the checker takes."""


@dataclass(frozen=True, slots=True)
class CheckedNode:
    """A node as one of the checker's variables; `place` has the node's state for each state of the variable."""

    variable: int
    place: NDArray[np.int64]
    states: int

    def of(self, state: int) -> list[int]:
        """The checker's states that are this state; what no possible world has may be in any of them."""
        return [int(one) for one in np.flatnonzero(self.place == state)]


def grid_digits(tree: ClusterTree, unit: float) -> int:
    """The number of binary digits after the point that the values of a tree need."""
    return max(0, 2 - frexp(tree.scale * unit)[1])


def cluster_nodes(
    space: StateSpace, tree: ClusterTree, literals: Sequence[Literal], factor: float
) -> list[dict[str, Any]] | None:
    """The lines of a tree; None if a node is not one of the checker's variables, or a cluster is too large.

    A value of 1 is `factor` on the grid of the record.
    """
    nodes = [_checked(space, [literals[v] for v in own.tolist()], states) for own, states in tree.states]
    known = [node for node in nodes if node is not None]
    if len(known) < len(nodes) or len({node.variable for node in known}) < len(known):
        return None
    ends = np.cumsum(tree.sizes)
    scopes = [[known[i].variable for i in one.tolist()] for one in np.split(tree.clusters, ends[:-1])]
    cells = [space.cells(tuple(scope)) for scope in scopes]
    if max(cells, default=0) > LARGEST_CLUSTER or sum(cells) > LARGEST_TABLE:
        return None
    lines = list(_lines(tree, known, factor))
    lines[0]["k"] = scopes
    return lines


def _checked(space: StateSpace, own: Sequence[Literal], states: NDArray[np.uint8]) -> CheckedNode | None:
    if len({variable for variable, _ in own}) != 1:
        return None
    variable = own[0][0]
    rows = {tuple(row): i for i, row in enumerate(states.tolist())}
    truth = [tuple(int(s in held) for _, held in own) for s in range(space.variables[variable].size)]
    return CheckedNode(variable, np.array([rows.get(row, 0) for row in truth]), len(states))


def _lines(tree: ClusterTree, nodes: Sequence[CheckedNode], factor: float) -> Iterator[dict[str, Any]]:
    messages, orders = _messages(tree, nodes), iter(tree.orders.tolist())
    fixed: list[list[int]] = [[]]  # for each branch that is still to come: the variables that are fixed there
    for split, shift, count, size in tree.branches.tolist():
        own = fixed.pop()
        step, digits = _step(factor, shift)
        sent = ([*head, np.rint(values * step).astype(np.int64)] for *head, values in islice(messages, count))
        told = [[*head, values.tolist()] for *head, values in sent if values.any()]
        line: dict[str, Any] = {"m": told, "u": digits} if told else {}
        if split >= 0:
            node = nodes[split]
            line |= {"v": node.variable, "c": [node.of(state) for state in range(node.states)]}
            fixed += [[*own, node.variable]] * node.states
        elif split == ELIMINATED:
            line = {"e": [nodes[i].variable for i in islice(orders, size)] + own}
        else:
            line.setdefault("m", [])
        yield line


def _step(factor: float, shift: int) -> tuple[float, int]:
    """What values are multiplied by, and the digits by which the checker shifts them: exact if the factor is 2^n."""
    fraction, power = frexp(factor)
    if fraction == 0.5 and power + shift > 0:
        return 1.0, power - 1 + shift
    return factor * 2.0**shift, 0


def _messages(
    tree: ClusterTree, nodes: Sequence[CheckedNode]
) -> Iterator[tuple[int, int, list[int], NDArray[np.int64]]]:
    """Each message: the cluster that it is added to, the one that it is taken from, variables and values."""
    at = place = 0
    for come, to, width, size in tree.messages.tolist():
        own = [nodes[i] for i in tree.nodes[at : at + width].tolist()]
        values = tree.values[place : place + size]
        at, place = at + width, place + size
        if any(node.place.tolist() != [0, 1] for node in own):
            values = values.reshape([node.states for node in own])[np.ix_(*(node.place for node in own))].ravel()
        yield to, come, [node.variable for node in own], values
