"""The answer to a network's problem in one place: what its nodes together are compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.network.protocol.turns import exponential
from coherently.solve import AlternatingProjections

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.network.network import Network
    from coherently.network.protocol.node_plan import Agreement
    from coherently.solve.relaxed.colours import Order

PATIENT = 1_000
"""Number of sweeps of the loop whose end counts as its limit."""
EXACT = 1e-12
"""The loop ends where no probability moves by more than this."""


def central_answer(network: Network, agreement: Agreement) -> Vector:
    """What the nodes must arrive at, event by event: by the loop in the order of their turns, or Dykstra's limit."""
    if agreement.schedule == "gossip" and agreement.correction == "none":
        return _in_random_order(network, agreement)
    problem = network.problem
    value = replace(central_method(network, agreement), tolerance=EXACT).solve(problem).value
    x = np.empty(len(problem.merged))
    x[problem.coordinate] = np.where(problem.complemented, 1.0 - value, value)
    return x


def central_method(network: Network, agreement: Agreement) -> AlternatingProjections:
    """The method in one place that the nodes together come nearest to."""
    order: Order = "colours" if agreement.schedule == "colours" else "appearance"
    return AlternatingProjections(network.design, agreement.correction, agreement.sweeps, order=order)


def _in_random_order(network: Network, agreement: Agreement) -> Vector:
    """The loop over all groups in the order of gossip's clocks, as one long sweep."""
    groups, merged, sweeps = network.groups, network.problem.merged, agreement.sweeps
    gaps = [[exponential(agreement.seed, group, done) for done in range(sweeps)] for group in range(len(groups))]
    ticks = np.cumsum(np.array(gaps).reshape(len(groups), sweeps), axis=1)
    order = np.argsort(ticks.ravel(), kind="stable") // sweeps
    sizes = np.diff(groups.starts)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    place = np.arange(starts[-1]) + np.repeat(groups.starts[order] - starts[:-1], sizes)
    pattern = groups.pattern[order]
    x = merged.mean.copy()
    _core.GroupProjector(starts, groups.members[place], pattern, list(groups.patterns), merged.weight).sweep(x)
    return x
