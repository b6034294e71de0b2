"""Which node keeps which event and hosts which group, and what each node must know of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.network.protocol.node_plan import HostedGroup, KeptEvent, NodePlan, OwnForecast

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.problem import Groups, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What each node says of each event, sorted by event, then node: sums over the node's forecasts of the event."""

    event: Indices
    node: Indices
    weight: Vector
    probability: Vector


def shares_of(problem: Problem) -> Shares:
    """The forecasts of each judge, merged by event; those of weight 0 are left out."""
    forecasts = problem.forecasts
    event, node = problem.coordinate[forecasts.unit].astype(np.int64), forecasts.judge.astype(np.int64)
    judges = len(forecasts.judges)
    told = forecasts.weight > 0
    pair, place = np.unique((event * judges + node)[told], return_inverse=True)
    weight = np.bincount(place, forecasts.weight[told], len(pair)).astype(np.float64)
    mean = np.bincount(place, (forecasts.weight * problem.turned())[told], len(pair)) / weight
    return Shares(pair // judges, pair % judges, weight, np.clip(mean, 0.0, 1.0))


def choose_keepers(shares: Shares, events: int, nodes: int) -> Indices:
    """The keeper of each event: of those who forecast it the one that keeps least so far, the first of equals."""
    load = [0] * nodes
    starts = np.searchsorted(shares.event, np.arange(events + 1)).tolist()
    known = shares.node.tolist()
    keeper = np.empty(events, np.int64)
    for event in range(events):
        chosen = min(known[starts[event] : starts[event + 1]], key=load.__getitem__)
        load[chosen] += 1
        keeper[event] = chosen
    return keeper


def choose_hosts(groups: Groups, keeper: Indices, nodes: int) -> list[int]:
    """The host of each group: the keeper of most of its events, of equals the one that hosts least so far."""
    load = [0] * nodes
    keepers = keeper[groups.members].tolist()
    found = []
    for first, end in zip(groups.starts[:-1].tolist(), groups.starts[1:].tolist(), strict=True):
        own = keepers[first:end]
        chosen = min(own, key=lambda node: (-own.count(node), load[node], node))
        load[chosen] += 1
        found.append(chosen)
    return found


def make_plans(shares: Shares, groups: Groups, keeper: Indices, nodes: int) -> list[NodePlan]:
    """The plan of each node; groups are numbered in the order of their turns."""
    host = choose_hosts(groups, keeper, nodes)
    keepers, members, starts = keeper.tolist(), groups.members.tolist(), groups.starts.tolist()
    vectors = [tuple(map(tuple, rows.tolist())) for rows in groups.patterns]
    hosted: list[list[HostedGroup]] = [[] for _ in range(nodes)]
    turns: list[list[int]] = [[] for _ in keepers]
    for group, pattern in enumerate(groups.pattern.tolist()):
        own = members[starts[group] : starts[group + 1]]
        held = HostedGroup(group, tuple(own), tuple(keepers[event] for event in own), vectors[pattern])
        hosted[host[group]].append(held)
        for event in own:
            turns[event].append(group)
    forecasts: list[list[OwnForecast]] = [[] for _ in range(nodes)]
    forecasters: list[list[int]] = [[] for _ in keepers]
    columns = (shares.event, shares.node, shares.probability, shares.weight)
    for event, node, probability, weight in zip(*(column.tolist() for column in columns), strict=True):
        forecasts[node].append(OwnForecast(event, probability, weight))
        forecasters[event].append(node)
    kept: list[list[KeptEvent]] = [[] for _ in range(nodes)]
    for event, node in enumerate(keepers):
        kept[node].append(KeptEvent(event, tuple(turns[event]), tuple(forecasters[event])))
    plans = []
    for node in range(nodes):
        about = sorted({group for event in kept[node] for group in event.groups})
        hosts = tuple((group, host[group]) for group in about)
        plans.append(
            NodePlan(
                node=node,
                forecasts=tuple(forecasts[node]),
                events=tuple(kept[node]),
                hosts=hosts,
                groups=tuple(hosted[node]),
            )
        )
    return plans
