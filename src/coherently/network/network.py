"""The door: a panel becomes a network, and a network runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherently.errors import MethodError, PanelError, counted
from coherently.network.central import PATIENT, central_answer
from coherently.network.placement import Shares, choose_keepers, make_plans, shares_of
from coherently.network.protocol.node_plan import Agreement
from coherently.network.run import measured, opened_simulator
from coherently.network.simulated.circumstances import NO_MISHAPS, Channel
from coherently.network.topology import Topology
from coherently.panel import Panel
from coherently.problem import SHARING, find_design, pose, settled, unit_of
from coherently.solve.relaxed.colours import in_colours
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Indices
    from coherently.network.protocol.node_plan import NetworkCorrection, NodePlan, Schedule
    from coherently.network.run import NetworkRun
    from coherently.network.simulated.circumstances import Mishaps
    from coherently.problem import Design, Groups, Problem, Way

ROUND_TRIPS = 8
"""Number of mean round trips between the nodes farthest apart after which a message is sent again, unless told."""
SAMPLE = 100
"""Number of nodes whose longest way to another is looked for."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Value):
    """A panel whose judges are nodes of a network, each with its own forecasts.

    Each event has a keeper, one of the nodes that forecast it, which merges the forecasts of the event (and of its
    complement) and holds its current value. Each group of related events has a host, one of the keepers of its events,
    which projects their values on the group's coherent set. Nodes send each other probabilities of events, along
    shortest ways of the topology. Events go by their coordinates in `problem`, which has those events of the `whole`
    that have weight; `way` leads back to all of them.
    """

    panel: Panel
    topology: Topology
    whole: Problem
    problem: Problem
    way: Way
    design: Design
    groups: Groups
    shares: Shares
    keeper: Indices

    @staticmethod
    def from_panel(panel: Panel, topology: Topology | None = None, groups: Design = "logical") -> Network:
        """Make the network of a panel: node i is judge i of `panel.judges`.

        Without a topology everybody hears everybody. `groups` is a design of `co.AlternatingProjections` whose groups
        have forecast events only. Conditional forecasts, intervals and pins are refused.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.8), ("Bob", "q", 0.7), ("Eve", "p & q", 0.1), ("Eve", "p", 0.6)]
        >>> network = co.network.Network.from_panel(co.Panel.from_records(rows), co.network.Topology.star(3))
        >>> network
        <Network: 3 nodes (star) keep 3 events in 1 group>
        """
        if not isinstance(panel, Panel):
            raise PanelError(f"a network needs a Panel, found {type(panel).__name__}")
        if groups in SHARING:
            raise MethodError(f"the design {groups} has events that nobody forecast; nodes know forecast events only")
        nodes = len(panel.judges)
        topology = topology or Topology.complete(nodes)
        if topology.count != nodes:
            raise MethodError(f"the topology has {topology.count:,} nodes, the panel {nodes:,} judges; make them equal")
        whole = _posed(panel)
        problem, way = whole.keep(whole.merged.weight > 0)
        found, shares = find_design(groups)(problem.merged), shares_of(problem)
        keeper = choose_keepers(shares, len(problem.merged), nodes)
        return Network(
            panel=panel,
            topology=topology,
            whole=whole.in_weights(),
            problem=problem,
            way=way,
            design=groups,
            groups=found,
            shares=shares,
            keeper=keeper,
        )

    def __repr__(self) -> str:
        nodes, events, groups = self.topology.count, len(self.keeper), len(self.groups)
        said = f"{groups:,} group{'s' * (groups != 1)}"
        return f"<Network: {counted(nodes, 'node')} ({self.topology.kind}) keep {counted(events, 'event')} in {said}>"

    def plans(self, schedule: Schedule) -> list[NodePlan]:
        """What each node must know: for the simulator, or for nodes elsewhere."""
        groups = in_colours(self.groups, len(self.keeper))[0] if schedule == "colours" else self.groups
        return make_plans(self.shares, groups, self.keeper, self.topology.count)

    def run(
        self,
        schedule: Schedule = "sequential",
        correction: NetworkCorrection = "none",
        *,
        sweeps: int = 10,
        mishaps: Mishaps = NO_MISHAPS,
        channel: Channel | None = None,
        patience: float | None = None,
        until: float = math.inf,
        seed: int = 0,
        compare: bool = True,
    ) -> NetworkRun:
        """Simulate the network until each group was projected `sweeps` times; the same seed gives the same run.

        `schedule` is "sequential" (the paper's loop: the values are those of the central loop, though groups without a
        common event do not wait for each other), "colours" (disjoint groups at the same time, the loop of
        `order="colours"`) or "gossip" (a random order, in which each group goes by its own random clock). With
        `correction="dykstra"` hosts keep corrections, and the limit is the nearest locally coherent answer. `mishaps`
        says what goes wrong, `channel` how fast messages are. What is not answered within `patience` seconds is sent
        again (8 mean round trips if not given). After `until` seconds the run ends unfinished. With `compare`, `trace`
        says how far the values are from the central answer: the loop's limit (the end of the same random loop for
        gossip), or the nearest locally coherent answer.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.8), ("Bob", "q", 0.7), ("Eve", "p & q", 0.1), ("Eve", "p", 0.6)]
        >>> network = co.network.Network.from_panel(co.Panel.from_records(rows))
        >>> run = network.run(mishaps=co.network.Mishaps(loss=0.2), seed=1)
        >>> run.probability("p & q") == co.aggregate(network.panel, "projections").probability("p & q")
        True
        """
        if until == math.inf and any(outage.seconds == math.inf for outage in mishaps.outages):
            raise MethodError("a node that never starts again keeps a run from ending; say until which second it goes")
        channel, plans = channel or Channel(), self.plans(schedule)
        patience = patience or ROUND_TRIPS * 2 * channel.latency * self._longest(plans)
        agreement = Agreement(schedule=schedule, correction=correction, sweeps=sweeps, patience=patience, seed=seed)
        limit = agreement if schedule == "gossip" else replace(agreement, sweeps=PATIENT)
        reference = central_answer(self, limit) if compare else None
        simulator, recording = opened_simulator(
            self, plans, agreement, channel, mishaps=mishaps, seed=seed, reference=reference
        )
        simulator.run(until)
        recording.note()
        return measured(self, simulator, recording)

    def _longest(self, plans: list[NodePlan]) -> int:
        """The most hops between some nodes and those that they exchange messages with."""
        if self.topology.everybody:
            return 1
        few = plans[:: -(-len(plans) // SAMPLE)]
        return max((len(self.topology.route(p.node, other)) - 1 for p in few for other in p.partners()), default=1)


def _posed(panel: Panel) -> Problem:
    """The problem of all forecasts, in which there must be forecasts of events only."""
    problem = pose(settled(panel), weight_unit=unit_of(panel.weight))
    terms = problem.merged.terms
    kinds = {"conditional forecasts": terms.conditionals, "intervals": terms.intervals, "pins": terms.limits}
    found = [kind for kind, rows in kinds.items() if len(rows)]
    if found:
        raise MethodError(
            f"a network of nodes knows forecasts of events, not {' or '.join(found)}; leave them out, or solve the "
            f"panel in one place with co.aggregate"
        )
    return problem
