"""What came of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.errors import MethodError, counted
from coherently.network.central import central_method
from coherently.network.simulated.network_trace import Recording
from coherently.network.simulated.simulator import Simulator
from coherently.panel.texts import name_some
from coherently.result import Result
from coherently.solve import Local, Status
from coherently.values import Value

if TYPE_CHECKING:
    from coherently.arrays import Vector
    from coherently.network.network import Network
    from coherently.network.protocol.node_plan import Agreement, NodePlan
    from coherently.network.simulated.circumstances import Channel, Mishaps
    from coherently.network.simulated.network_trace import NetworkTrace


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NetworkRun(Value):
    """The values at the keepers when the run ended, and what it took.

    `finished` says whether every group was projected as often as agreed. A message counts once in `messages`, and once
    in `hops` for each time that a node sent it on; `bytes` are those of all hops. `time` is in simulated seconds.
    `result` has the values as a result of the panel, for `co.score` and its like; `trace` is the course of the run.
    """

    result: Result
    finished: bool
    messages: int
    hops: int
    bytes: int
    time: float
    projections: int
    trace: NetworkTrace

    def __repr__(self) -> str:
        end = "finished" if self.finished else "unfinished"
        sent = f"{counted(self.messages, 'message')}, {counted(self.bytes, 'byte')}"
        return f"<NetworkRun: {end}, {sent}, {self.time:.3g} s>"

    def probability(self, event: str) -> float:
        """Look up an event that was forecast, however it is written, or its complement, or a constant."""
        return self.result.probability(event)

    def frame(self) -> Any:
        """One row per event as written: event, probability, raw mean, weight, adjustment."""
        return self.result.frame()


def opened_simulator(
    network: Network,
    plans: list[NodePlan],
    agreement: Agreement,
    channel: Channel,
    mishaps: Mishaps,
    seed: int,
    reference: Vector | None = None,
) -> tuple[Simulator, Recording]:
    """The simulator of a run before its first step, and what it records."""
    names = {name: node for node, name in enumerate(network.panel.judges)}
    numbered = tuple(replace(outage, node=_number(outage.node, names)) for outage in mishaps.outages)
    merged = network.problem.merged
    recording = Recording(merged.mean, merged.weight, reference, agreement.sweeps * len(network.groups))
    mishaps = replace(mishaps, outages=numbered)
    simulator = Simulator(
        plans=plans,
        agreement=agreement,
        topology=network.topology,
        channel=channel,
        mishaps=mishaps,
        seed=seed,
        watcher=recording.decided,
    )
    recording.follow(simulator)
    return simulator, recording


def _number(node: str | int, names: dict[str, int]) -> int:
    number = names.get(node, -1) if isinstance(node, str) else node
    if not 0 <= number < len(names):
        raise MethodError(f"an outage names the node {node!r}; nodes are the {len(names)} judges, or their numbers")
    return number


def measured(network: Network, simulator: Simulator, recording: Recording) -> NetworkRun:
    """The outcome of a simulated run. The value of an event is NaN if some of its forecasts were never reported."""
    x = np.full(len(network.keeper), np.nan)
    for event, value in simulator.values().items():
        x[event] = value
    return NetworkRun(
        result=answer(network, x, simulator.agreement),
        finished=simulator.is_finished,
        messages=simulator.messages,
        hops=simulator.hops,
        bytes=simulator.bytes,
        time=simulator.now,
        projections=recording.projections,
        trace=recording.trace(),
    )


def answer(network: Network, x: Vector, agreement: Agreement) -> Result:
    """The values of events as a result of the panel."""
    problem, groups = network.problem, network.groups
    known = np.where(np.isnan(x), problem.merged.mean, x)
    projector = _core.GroupProjector(
        groups.starts, groups.members, groups.pattern, list(groups.patterns), problem.merged.weight
    )
    solution = Local(
        network.way.back(problem.as_written(x)),
        Status.SWEEP_LIMIT,
        objective=float(np.sum(problem.merged.weight * (known - problem.merged.mean) ** 2)),
        lower_bound=0.0 if agreement.correction == "dykstra" else None,  # nobody in the network proves more
        groups=groups.design,
        sweeps=agreement.sweeps,
        violation=float(projector.violation(known)),
        note=f"Projected by nodes of a network, schedule {agreement.schedule}.{_left_out(network, agreement)}",
    ).in_weights(problem.weight_unit)
    return Result(network.panel, central_method(network, agreement), network.whole, solution)


def _left_out(network: Network, agreement: Agreement) -> str:
    """Say which events have no value, and what that means for the others."""
    whole = network.whole
    texts = [whole.texts[place] for place in whole.written[~network.way.units].tolist()]
    if not texts:
        return ""
    said = f" Events whose forecasts all have weight 0 are left out and have no value: {name_some(texts)}."
    if agreement.correction != "dykstra":
        return said
    return f"{said} Solved in one place, dykstra keeps them in its groups, so its answers to other events may differ."
