"""What the simulator does to messages and nodes."""

import math

import pytest

import coherently as co
from coherently.network import Agreement, Channel, MessageKind, Mishaps, Network, Outage, Topology
from coherently.network.run import opened_simulator

LINE = Topology.grid(1, 4)
ROWS = [("A", "p", 0.9), ("B", "s", 0.4), ("C", "t", 0.4), ("D", "p & q", 0.95)]
"""The keepers of the one group of two events are the ends of a line of four nodes."""


def opened(mishaps=None, channel=None, sweeps=3, seed=0, rows=ROWS):
    network = Network.from_panel(co.Panel.from_records(rows), LINE)
    agreement = Agreement("colours", "none", sweeps, patience=1.0)
    channel = channel or Channel(0.01, "constant")
    return opened_simulator(network, network.plans("colours"), agreement, channel, mishaps or Mishaps(), seed)[0]


def finished(**options):
    simulator = opened(**options)
    simulator.run(until=10_000.0)
    assert simulator.is_finished
    return simulator


def test_messages_travel_along_the_line():
    simulator = finished()
    assert simulator.messages == 6  # three loans
    assert simulator.hops == 18
    assert simulator.now == pytest.approx(0.18)
    assert simulator.bytes == 18 * 72 + 3 * 8  # the first loan has a weight


def test_a_busy_node_sends_one_message_after_the_other():
    slow = finished(channel=Channel(0.01, "constant", bandwidth=720.0))
    assert slow.now == pytest.approx(0.18 + 18 * 0.1 + 3 * 8 / 720)
    assert slow.bytes == finished().bytes


@pytest.mark.parametrize("distribution", ["uniform", "exponential"])
def test_latencies_have_the_mean_that_was_asked_for(distribution):
    times = [finished(channel=Channel(0.01, distribution), sweeps=40, seed=seed).now for seed in range(10)]
    assert sum(times) / 10 == pytest.approx(40 * 6 * 0.01, rel=0.1)


def test_a_relay_that_is_down_passes_nothing_on():
    simulator = opened(Mishaps(outages=(Outage(1, 0.0, 2.5),)))
    while simulator.now < 2.0 and simulator.step():
        assert simulator.values().get(simulator.plans[3].events[0].event, 0.95) == 0.95
    simulator.run()
    assert simulator.is_finished
    assert simulator.now > 2.5


def test_a_node_that_stops_forgets_what_it_has_not_stored_and_goes_on():
    calm = finished(sweeps=6)
    stopped = finished(
        sweeps=6, mishaps=Mishaps(outages=(Outage(3, 0.10, 0.5), Outage(0, 0.9, 0.5), Outage(0, 1.0, 0.1)))
    )
    assert stopped.values() == calm.values()
    assert stopped.now > calm.now


def test_what_is_lost_is_sent_again_and_what_comes_twice_is_heeded_once():
    for mishaps in (Mishaps(loss=0.4), Mishaps(duplication=0.5), Mishaps(reordering=0.5, held=500.0)):
        simulator = finished(mishaps=mishaps, sweeps=10, seed=3)
        assert simulator.values() == finished(sweeps=10).values()
        assert simulator.hops != finished(sweeps=10).hops


def test_forecasts_of_one_event_are_called_for_and_averaged():
    rows = [("A", "p", 0.9), ("B", "p", 0.6), ("C", "~p", 0.7), ("D", "q", 0.1)]
    simulator = finished(rows=rows)
    assert simulator.messages == 4
    assert simulator.values()[0] == pytest.approx(0.6, abs=1e-15)


def test_messages_have_no_forecasts_of_one_node_but_those_called_for():
    simulator = opened(rows=[("A", "p", 0.9), ("B", "p", 0.6), ("C", "r", 0.7), ("D", "p & r", 0.8)], sweeps=1)
    said = []
    while not simulator.is_finished:
        said += [entry[4] for entry in simulator._queue if entry[4] is not None]
        simulator.step()
    reports = {message for message in said if message.kind == MessageKind.REPORT}
    assert {(report.sender, report.values) for report in reports} == {(1, (0.6,))}


def test_a_node_that_stays_down_keeps_its_stored_values():
    simulator = opened(Mishaps(outages=(Outage(0, 0.05),)))
    simulator.run(until=20.0)
    assert not simulator.is_finished
    assert simulator.values()[0] == pytest.approx(0.925)  # it had projected once
    assert simulator.now <= 20.0 < math.inf
