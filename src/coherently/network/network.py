"""The door: a panel becomes a network, and a network runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.errors import MethodError, PanelError
from coherently.network.placing import Shares, choose_keepers, make_plans, shares_of
from coherently.network.protocol.plan import Agreement
from coherently.network.protocol.turns import exponential
from coherently.network.run import NetworkRun, measured
from coherently.network.simulated.conditions import NO_FAULTS, Channel
from coherently.network.simulated.recording import Recording
from coherently.network.simulated.simulator import Simulator
from coherently.network.topology import Topology
from coherently.panel import Panel
from coherently.problem import SHARING, find_design, pose, settled, unit_of
from coherently.solve import AlternatingProjections
from coherently.solve.relaxed.colours import in_colours
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.network.protocol.plan import NetworkCorrection, NodePlan, Schedule
    from coherently.network.simulated.conditions import Faults
    from coherently.problem import Design, Groups, Problem, Way

ROUND_TRIPS = 8
"""Number of mean round trips between the nodes farthest apart after which a message is sent again, unless told."""
PATIENT = 1_000
"""Number of sweeps of the central loop that a run is compared with: its limit, as a rule."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Value):
    """A panel whose judges are nodes of a network, each with its own forecasts.

    Each event has a keeper, one of the nodes that forecast it, which merges the forecasts of the event (and of its
    complement) and holds its current value. Each group of related events has a host, one of the keepers of its events,
    which projects their values on the group's coherent set. Nodes send each other probabilities of events, along
    shortest ways of the topology. `problem` has the events of the `whole` that have weight, `way` leads back to all of them.
    """

    panel: Panel
    topology: Topology
    whole: Problem
    problem: Problem
    way: Way
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
            raise MethodError(f"the design {groups} has events that nobody forecast; a network knows forecast ones only")
        nodes = len(panel.judges)
        topology = topology or Topology.complete(nodes)
        if topology.count != nodes:
            raise MethodError(f"the topology has {topology.count:,} nodes, the panel {nodes:,} judges; make them equal")
        whole = _posed(panel)
        problem, way = whole.keep(whole.merged.weight > 0)
        shares = shares_of(problem)
        keeper = choose_keepers(shares, len(problem.merged), nodes)
        return Network(panel, topology, whole.in_weights(), problem, way, find_design(groups)(problem.merged), shares, keeper)

    def __repr__(self) -> str:
        nodes, events, groups = self.topology.count, len(self.keeper), len(self.groups)
        said = f"{groups:,} group{'s' * (groups != 1)}"
        return f"<Network: {nodes:,} nodes ({self.topology.kind}) keep {events:,} events in {said}>"

    def ordered(self, schedule: Schedule) -> Groups:
        """The groups in the order of their turns."""
        return in_colours(self.groups, len(self.keeper))[0] if schedule == "colours" else self.groups

    def plans(self, schedule: Schedule) -> list[NodePlan]:
        """What each node must know: for the simulator, or for nodes elsewhere."""
        return make_plans(self.shares, self.ordered(schedule), self.keeper, self.topology.count)

    def central(self, schedule: Schedule, correction: NetworkCorrection, sweeps: int = PATIENT, seed: int = 0) -> Vector:
        """The answer to the same problem in one place, event by event as the nodes number them.

        Without correction it is the loop of `co.AlternatingProjections` in the order of the schedule after so many
        sweeps, with Dykstra's correction the nearest locally coherent forecasts.
        """
        if schedule == "gossip" and correction == "none":
            return self._in_random_order(sweeps, seed)
        order = "colours" if schedule == "colours" else "appearance"
        method = AlternatingProjections(self.groups.design, correction, sweeps, tolerance=1e-12, order=order)
        return self.by_event(method.solve(self.problem).value)

    def _in_random_order(self, sweeps: int, seed: int) -> Vector:
        """The loop over all groups in the order of gossip's clocks, as one long sweep."""
        groups, merged = self.groups, self.problem.merged
        gaps = [[exponential(seed, group, done) for done in range(sweeps)] for group in range(len(groups))]
        ticks = np.cumsum(np.array(gaps).reshape(len(groups), sweeps), axis=1)
        order = np.argsort(ticks.ravel(), kind="stable") // sweeps
        sizes = np.diff(groups.starts)[order]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        place = np.arange(starts[-1]) + np.repeat(groups.starts[order] - starts[:-1], sizes)
        x = merged.mean.copy()
        _core.GroupProjector(
            starts, groups.members[place], groups.pattern[order], list(groups.patterns), merged.weight
        ).sweep(x)
        return x

    def by_event(self, value: Vector) -> Vector:
        """One number per event of a value for each event as written."""
        problem = self.problem
        x = np.empty(len(self.keeper))
        x[problem.coordinate] = np.where(problem.complemented, 1.0 - value, value)
        return x

    def run(
        self,
        schedule: Schedule = "sequential",
        correction: NetworkCorrection = "none",
        *,
        sweeps: int = 10,
        faults: Faults = NO_FAULTS,
        channel: Channel | None = None,
        patience: float | None = None,
        until: float = math.inf,
        seed: int = 0,
        compare: bool = True,
    ) -> NetworkRun:
        """Simulate the network until each group was projected `sweeps` times; the same seed gives the same run.

        `schedule` is "sequential" (the paper's loop: the values are those of the central loop, though groups without a
        common event do not wait for each other), "colours" (disjoint groups at the same time, the loop of
        `order="colours"`) or "gossip" (groups in a random order by `seed`, each at the ticks of its own clock). With `correction="dykstra"` hosts keep corrections, and
        the limit is the nearest locally coherent answer. `faults` says what goes wrong, `channel` how fast messages
        are. What is not answered within `patience` seconds is sent again (8 mean round trips if not given). After
        `until` seconds the run ends unfinished. With `compare`, `trace` says how far the values are from the central
        answer.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.8), ("Bob", "q", 0.7), ("Eve", "p & q", 0.1), ("Eve", "p", 0.6)]
        >>> network = co.network.Network.from_panel(co.Panel.from_records(rows))
        >>> run = network.run(faults=co.network.Faults(loss=0.2), seed=1)
        >>> run.probability("p & q"), co.aggregate(network.panel, "projections").probability("p & q")
        (0.19999999999999996, 0.19999999999999996)
        """
        channel = channel or Channel()
        simulator, recording = self.simulator(
            schedule, correction, sweeps=sweeps, faults=faults, channel=channel, patience=patience, seed=seed,
            reference=self._reference(schedule, correction, sweeps, seed) if compare else None,
        )  # fmt: skip
        if until == math.inf and any(outage.seconds == math.inf for outage in faults.outages):
            raise MethodError("a node that never starts again keeps a run from ending; say until which second it goes")
        simulator.run(until)
        recording.note()
        return measured(self, simulator, recording)

    def simulator(
        self,
        schedule: Schedule,
        correction: NetworkCorrection,
        *,
        sweeps: int,
        faults: Faults,
        channel: Channel,
        patience: float | None,
        seed: int,
        reference: Vector | None = None,
    ) -> tuple[Simulator, Recording]:
        """The simulator of a run before its first step, and what it records."""
        plans = self.plans(schedule)
        if patience is None:
            patience = ROUND_TRIPS * 2 * channel.latency * self._longest(plans)
        agreement = Agreement(schedule, correction, sweeps, patience, seed)
        names = {name: node for node, name in enumerate(self.panel.judges)}
        numbered = tuple(replace(outage, node=_number(outage.node, names)) for outage in faults.outages)
        recording = Recording(self.problem.merged.mean, self.problem.merged.weight, reference, sweeps * len(self.groups))
        simulator = Simulator(
            *(plans, agreement, self.topology, channel, replace(faults, outages=numbered), seed), recording.decided
        )
        recording.simulator = simulator
        return simulator, recording

    def _reference(self, schedule: Schedule, correction: NetworkCorrection, sweeps: int, seed: int) -> Vector:
        """What a run is compared with: the limit, but for gossip without correction the end of the same random loop."""
        own = sweeps if schedule == "gossip" else PATIENT
        return self.central(schedule, correction, own, seed)

    def _longest(self, plans: list[NodePlan]) -> int:
        """An estimate of the most hops between two nodes that exchange messages: the most of a few."""
        if self.topology.everybody:
            return 1
        few = plans[:: max(1, len(plans) // 100)]
        return max((len(self.topology.route(p.node, other)) - 1 for p in few for other in p.neighbours()), default=1)


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


def _number(node: str | int, names: dict[str, int]) -> int:
    number = names.get(node, -1) if isinstance(node, str) else node
    if not 0 <= number < len(names):
        raise MethodError(f"an outage names the node {node!r}; nodes are the {len(names)} judges, or their numbers")
    return number
