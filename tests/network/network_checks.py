"""Random networks under random accidents, against loops in one place."""

import itertools

import numpy as np
import pandas as pd

import coherently as co
from coherently import _core
from coherently.network.protocol.turns import exponential
from coherently.network.run import measured, opened_simulator
from coherently.solve.relaxed.colours import in_colours

SCHEDULES = ("sequential", "colours", "gossip")
CLOSE = 1e-12


def draw_panel(rng):
    """Judges who share variables and forecast some events twice, with weights."""
    variables = int(rng.integers(3, 7))
    drawn = co.simulate(
        judges=int(rng.integers(2, 7)), variables=variables, basic=int(rng.integers(1, variables)),
        compound=int(rng.integers(2, 7)), seed=int(rng.integers(1 << 30)),
    )  # fmt: skip
    columns = {
        "judge": [drawn.judges[i] for i in drawn.judge_index.tolist()],
        "event": [drawn.written.text[i] for i in drawn.event_index.tolist()],
        "probability": drawn.probability,
        "weight": rng.choice([0.5, 1.0, 3.0], len(drawn)),
    }
    return co.Panel.from_frame(pd.DataFrame(columns))


def draw_topology(rng, count):
    kind = int(rng.integers(5))
    if kind == 0:
        return co.network.Topology.complete(count)
    if kind == 1:
        return co.network.Topology.star(count)
    if kind == 2:
        return co.network.Topology.tree(count, int(rng.integers(1, 4)))
    if kind == 3:
        return co.network.Topology.grid(1, count)
    return co.network.Topology.geometric(count, seed=int(rng.integers(100)))


def draw_network(rng, groups="logical"):
    panel = draw_panel(rng)
    return co.network.Network.from_panel(panel, draw_topology(rng, len(panel.judges)), groups)


def draw_mishaps(rng, judges):
    stops = rng.uniform(0, 3, int(rng.integers(0, 4))).tolist()
    names = rng.choice(judges, len(stops)).tolist()
    outages = [co.network.Outage(n, at, float(rng.uniform(0.05, 2))) for n, at in zip(names, stops, strict=True)]
    chances = rng.uniform(0, 0.3, 3).tolist()
    return co.network.Mishaps(*chances, outages=tuple(outages))


def loop(network, agreement):
    """The loop in one place, group by group in the order of turns, with Dykstra's correction or without."""
    merged = network.problem.merged
    groups = in_colours(network.groups, len(merged))[0] if agreement.schedule == "colours" else network.groups
    ticks = np.ones((len(groups), agreement.sweeps))
    if agreement.schedule == "gossip":
        ticks = np.array(
            [[exponential(agreement.seed, g, n) for n in range(agreement.sweeps)] for g in range(len(groups))]
        )
    ticks = np.cumsum(ticks, axis=1)
    turns = sorted((ticks[g, n], g) for g, n in itertools.product(range(len(groups)), range(agreement.sweeps)))
    x, increments = merged.mean.copy(), [np.zeros(size) for size in np.diff(groups.starts)]
    for _, g in turns:
        own = groups.members[groups.starts[g] : groups.starts[g + 1]]
        local = x[own]
        alone = _core.GroupProjector(
            np.array([0, len(own)]), np.arange(len(own), dtype=np.int32), np.zeros(1, np.int32),
            [groups.patterns[groups.pattern[g]]], merged.weight[own],
        )  # fmt: skip
        if agreement.correction == "dykstra":
            alone.dykstra(local, increments[g])
        else:
            alone.sweep(local)
        x[own] = local
    return x


def values_of(network, run):
    """One number per event of a run's result."""
    value = run.result.solution.value[network.way.units]
    x = np.empty(len(network.keeper))
    x[network.problem.coordinate] = np.where(network.problem.complemented, 1 - value, value)
    return x


def run_agreed(network, agreement, mishaps, seed, channel=None):
    channel = channel or co.network.Channel()
    simulator, recording = opened_simulator(
        network, network.plans(agreement.schedule), agreement, channel, mishaps, seed
    )
    simulator.run(until=100_000.0)
    assert simulator.is_finished
    return measured(network, simulator, recording)


def check_runs(seed, count):
    """Networks under accidents end where the loop in one place ends; the largest difference."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(count):
        network = draw_network(rng, str(rng.choice(["logical", "pairs"])))
        mishaps = draw_mishaps(rng, network.panel.judges)
        schedule, correction = str(rng.choice(SCHEDULES)), str(rng.choice(["none", "dykstra"]))
        agreement = co.network.Agreement(schedule, correction, int(rng.integers(1, 12)), 0.5, int(rng.integers(100)))
        run = run_agreed(network, agreement, mishaps, int(rng.integers(1 << 30)))
        apart = np.abs(values_of(network, run) - loop(network, agreement)).max()
        assert apart <= CLOSE, (schedule, correction, mishaps, apart)
        worst = max(worst, apart)
    return worst


def worlds_of(network):
    """The truth of each event, one row per world."""
    merged = network.problem.merged
    truth = [(np.arange(2**merged.n_variables) >> v) & 1 for v in range(merged.n_variables)]
    return merged.functions.hold(np.stack(truth, axis=1).astype(np.uint8)).astype(np.float64)


def scores(x, network, worlds):
    """The weighted Brier score in each world."""
    return ((worlds - x) ** 2) @ network.problem.merged.weight
