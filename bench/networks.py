"""Networks of sensors in the simulator: time, memory and messages, as a table in Markdown."""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING

import numpy as np

import coherently as co
from bench.measure import timed, with_one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.network import Network, Topology
    from coherently.panel import Panel

FORMS = ("{0} & {1}", "{0} & ~{1}", "{0} | {1}", "{0} | ~{1}")
CASES = ((1_000, 12, 10), (10_000, 12, 2), (10_000, 12, 10), (100_000, 2, 3))
"""Nodes, forecasts per node, and sweeps."""
LOSS = 0.05


def draw_sensors(topology: Topology, per_node: int, seed: int = 0) -> Panel:
    """Each sensor forecasts whether a target is in its cell, and events about its cell and those of its neighbours.

    A forecast is the truth, a chance that is the same for all sensors of a cell, plus normal noise.
    """
    rng = np.random.default_rng(seed)
    chance = rng.random(topology.count)
    rows = []
    for node in range(topology.count):
        near = topology.of(node).tolist()
        own = [(f"c{node}", chance[node])]
        pairs = [(form, other) for other in near for form in FORMS]
        for place in rng.permutation(len(pairs))[: per_node - 1].tolist():
            form, other = pairs[place]
            second = 1 - chance[other] if "~" in form else chance[other]
            both = chance[node] * second
            own.append((form.format(f"c{node}", f"c{other}"), both if "&" in form else chance[node] + second - both))
        noise = rng.normal(0, 0.15, len(own))
        rows += [(f"s{node}", event, float(np.clip(p + e, 0, 1))) for (event, p), e in zip(own, noise, strict=True)]
    return co.Panel.from_records(rows)


def sensors(nodes: int, per_node: int, seed: int = 0) -> Network:
    """A network of sensors at random places."""
    topology = co.network.Topology.geometric(nodes, seed=seed)
    return co.network.Network.from_panel(draw_sensors(topology, per_node, seed), topology)


def row(network: Network, sweeps: int, loss: float) -> tuple[str, ...]:
    """Run a network: its size, sweeps and loss; messages, bytes, simulated and real seconds, error and memory.

    The error is the largest difference from the loop in one place after as many sweeps.
    """
    mishaps = co.network.Mishaps(loss=loss)
    run, processor, _ = timed(lambda: network.run("colours", sweeps=sweeps, mishaps=mishaps, seed=1, compare=False))
    assert run.finished
    order = co.AlternatingProjections(sweeps=sweeps, tolerance=0.0, order="colours", threads=1)
    error = np.abs(run.result.solution.value - order.solve(network.problem).value).max()
    return (
        *(f"{network.topology.count:,}", f"{len(network.keeper):,}", str(sweeps), f"{loss:.0%}"),
        *(f"{run.messages:,}", f"{run.bytes / 1e6:.0f} MB", f"{run.time:.1f} s", f"{processor:.1f} s"),
        *(f"{1e6 * processor / run.messages:.0f}", f"{error:.0e}", f"{peak():.1f} GB"),
    )


def peak() -> float:
    """The most memory of this process so far, in GB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def rows(cases: tuple[tuple[int, int, int], ...]) -> Iterator[tuple[str, ...]]:
    """Measure, row by row."""
    network = None
    for nodes, per_node, sweeps in cases:
        if network is None or network.topology.count != nodes:
            network = sensors(nodes, per_node)
        for loss in (0.0, LOSS):
            yield row(network, sweeps, loss)


def run() -> None:
    """Print the table, from a process of its own with one thread."""
    with_one_thread("bench.networks")


def main() -> None:
    """Measure everything."""
    head = ["nodes", "events", "sweeps", "loss", "messages", "bytes", "simulated", "processor"]
    head += ["µs per message", "error", "memory"]
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in rows(CASES):
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
