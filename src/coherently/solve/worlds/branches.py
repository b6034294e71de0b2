"""The lowest world by branch and bound over clusters of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coherently.solve.solution import ClusterTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.arrays import Truth, Vector
    from coherently.problem import Merged
    from coherently.solve.budget import Budget
    from coherently.solve.worlds.grounds import Grounds

MOST_BRANCHES = 2**62
"""No limit of branches."""


class LowestWorlds(NamedTuple):
    """Ever lower worlds than a known one, and a lower bound for all worlds; the tree that proves it, if it was kept."""

    better: Truth
    bound: float
    tree: ClusterTree | None


def lowest_worlds(
    grounds: Grounds,
    coefficients: Vector,
    known: Truth,
    slack: float,
    budget: Budget,
    *,
    scale: float = 1.0,
    hasty: bool = False,
) -> LowestWorlds:
    """Prove that no world's sum of coefficients is lower than that of the lowest one by more than the slack.

    The bound is lower if the budget is over before, or if a `hasty` search found lower worlds than the known one. A sum
    of 1 is a loss of `scale`.
    """
    core = grounds.branches
    core.start(np.ascontiguousarray(coefficients, np.float64), known, max(0.0, slack), keep=budget.hints)
    budget.watch(lambda: core.run(MOST_BRANCHES, hasty), core.stop)
    return LowestWorlds(core.better(), core.bound(), _kept_tree(grounds, scale * core.unit()))


def _kept_tree(grounds: Grounds, scale: float) -> ClusterTree | None:
    """The tree of the last proof, if it was kept and came to its end."""
    part, kept = grounds.part, grounds.branches.tree()
    if kept is None or grounds.reduced:
        return None
    sizes, clusters, branches, orders, messages, nodes, values = kept
    return ClusterTree(
        sizes=sizes,
        clusters=clusters,
        branches=branches,
        orders=orders,
        messages=messages,
        nodes=nodes,
        values=values,
        states=_node_states(part),
        origin=part.origin,
        scale=scale,
    )


def _node_states(part: Merged) -> tuple[tuple[NDArray[np.int32], NDArray[np.uint8]], ...]:
    """The nodes as the core has them: blocks, then each other variable by itself."""
    blocks = [(block.variables, block.states) for block in part.space.blocks]
    inside = {v for variables, _ in blocks for v in variables.tolist()}
    free = np.array([[0], [1]], np.uint8)
    alone = [(np.array([v], np.int32), free) for v in range(part.n_variables) if v not in inside]
    return (*blocks, *alone)
