"""Theorem 2 of the paper along the way: per projection the weighted Brier score falls in every world.

It holds in the order in which hosts decide, mishaps included, because an event is lent to one group at a time. It does
not hold for whoever reads the keepers while results are on their way, nor for groups that have an event at the same
time.
"""

import itertools

import numpy as np
import pytest

import coherently as co
from coherently import _core
from coherently.network.run import opened_simulator
from tests.network.network_checks import SCHEDULES, draw_mishaps, draw_network, scores, worlds_of

ROUNDING = 1e-12


def start(network, schedule, mishaps, seed, sweeps=4, correction="none"):
    agreement = co.network.Agreement(schedule, correction, sweeps, 0.5, seed)
    plans = network.plans(schedule)
    return opened_simulator(network, plans, agreement, co.network.Channel(), mishaps, seed)[0]


def follow(network, simulator):
    """The values after each decided projection, in the order of decisions."""
    x = network.problem.merged.mean.copy()
    course = [x.copy()]

    def watch(_, events, values):
        x[list(events)] = values
        course.append(x.copy())

    simulator.watcher = watch
    return course


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(5))
def test_every_decided_projection_lowers_the_score_in_every_world(schedule, seed):
    rng = np.random.default_rng(100 + seed)
    network = draw_network(rng)
    simulator = start(network, schedule, draw_mishaps(rng, range(network.topology.count)), seed)
    course = follow(network, simulator)
    simulator.run()
    assert len(course) == 4 * len(network.groups) + 1
    worlds, weight = worlds_of(network), network.problem.merged.weight
    for before, after in itertools.pairwise(course):
        moved = weight @ (after - before) ** 2
        assert (scores(after, network, worlds) <= scores(before, network, worlds) - moved + ROUNDING).all()


def test_what_a_reader_sees_while_results_are_on_their_way_may_be_worse():
    """Colours do not help here: a projection is one step, but its values reach their keepers one after the other."""
    rows = [("A", "p", 0.9), ("B", "q", 0.8), ("C", "p & q", 0.2)]
    network = co.network.Network.from_panel(co.Panel.from_records(rows))
    worlds, x = worlds_of(network), network.problem.merged.mean.copy()
    simulator = start(network, "colours", co.network.Mishaps(), 0, sweeps=1)
    seen = [scores(x, network, worlds)]
    while not simulator.is_finished:
        simulator.step()
        for event, value in simulator.values().items():
            x[event] = value
        seen.append(scores(x, network, worlds))
    steps = np.diff(seen, axis=0)
    assert steps.max() > 0.09  # somewhere, in some world, it rose
    assert (seen[-1] < seen[0]).all()  # but not when all is done


def test_groups_that_have_an_event_at_the_same_time_may_make_it_worse():
    """Why an event is lent to one group at a time: both read p and q, and the later result overwrites the earlier."""
    rows = [("A", "p", 0.5), ("A", "q", 0.1), ("B", "p & q", 0.9), ("C", "p | q", 0.9)]
    network = co.network.Network.from_panel(co.Panel.from_records(rows))
    groups, merged = network.groups, network.problem.merged
    worlds, x = worlds_of(network), merged.mean
    at_once = x.copy()
    for g in range(2):
        own = groups.members[groups.starts[g] : groups.starts[g + 1]]
        local = x[own]
        _core.GroupProjector(
            np.array([0, 3]), np.arange(3, dtype=np.int32), np.zeros(1, np.int32),
            [groups.patterns[groups.pattern[g]]], merged.weight[own],
        ).sweep(local)  # fmt: skip
        at_once[own] = local
    before = scores(x, network, worlds)
    assert (scores(at_once, network, worlds) - before).max() > 0.01
    turns = network.run("colours", sweeps=1)
    x = np.array([turns.probability(text) for _, text, _ in rows])
    assert (scores(x, network, worlds) <= before + ROUNDING).all()
