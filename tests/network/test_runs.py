"""What comes of runs: the answer of the loop in one place, whatever messages and nodes meet with."""

import numpy as np
import pandas as pd
import pytest

import coherently as co
from tests.network.network_checks import CLOSE, check_runs, draw_network, values_of

STORMY = {"loss": 0.05, "duplication": 0.1, "reordering": 0.1}


@pytest.fixture(scope="module")
def network():
    panel = co.simulate(judges=8, variables=8, basic=4, compound=8, seed=3)
    return co.network.Network.from_panel(panel, co.network.Topology.geometric(8, seed=2))


@pytest.fixture
def mishaps():
    outages = (co.network.Outage("j2", 0.5, 2.0), co.network.Outage(4, 1.5, 0.7), co.network.Outage("j2", 4.0, 1.0))
    return co.network.Mishaps(**STORMY, outages=outages)


@pytest.mark.parametrize("seed", range(4))
def test_random_networks_under_accidents_end_where_the_loop_in_one_place_ends(seed):
    assert check_runs(seed, 25) <= CLOSE


@pytest.mark.parametrize(("schedule", "order"), [("sequential", "appearance"), ("colours", "colours")])
def test_a_run_with_losses_and_restarts_equals_the_central_loop(network, mishaps, schedule, order):
    run = network.run(schedule, sweeps=7, mishaps=mishaps, seed=5)
    central = co.aggregate(network.panel, co.AlternatingProjections(sweeps=7, tolerance=0, order=order))
    assert run.finished
    assert np.abs(run.result.solution.value - central.solution.value).max() <= 1e-12


@pytest.mark.parametrize("schedule", ["sequential", "colours", "gossip"])
def test_with_corrections_at_the_hosts_the_limit_is_the_relaxed_optimum(network, mishaps, schedule):
    run = network.run(schedule, "dykstra", sweeps=150, mishaps=mishaps, seed=6)
    optimum = co.aggregate(network.panel, co.AlternatingProjections(correction="dykstra"))
    assert np.abs(run.result.solution.value - optimum.solution.value).max() <= 1e-6
    assert run.trace.largest[-1] <= 1e-6
    assert run.result.violation <= 1e-6


def test_without_corrections_the_limit_is_another(network):
    run = network.run(sweeps=150)
    optimum = co.aggregate(network.panel, co.AlternatingProjections(correction="dykstra"))
    assert np.abs(run.result.solution.value - optimum.solution.value).max() > 1e-3


def test_the_same_seed_gives_the_same_run_and_another_seed_the_same_answer(network, mishaps):
    one, again, other = (network.run("colours", sweeps=4, mishaps=mishaps, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert (one.messages, one.time) != (other.messages, other.time)
    assert one.result.solution == other.result.solution


def test_gossip_has_an_order_of_its_own_by_seed(network):
    one, other = (network.run("gossip", sweeps=4, until=10_000.0, seed=seed) for seed in (1, 2))
    assert one.finished
    assert other.finished
    assert not np.allclose(one.result.solution.value, other.result.solution.value, atol=1e-3)


def test_without_accidents_each_loan_takes_two_messages(network):
    run = network.run("colours", sweeps=5, patience=1e6)
    plans = network.plans("colours")
    loans = sum(host != plan.node for plan in plans for _, host in plan.hosts)
    calls = sum(len({n for kept in plan.events for n in kept.forecasters} - {plan.node}) for plan in plans)
    assert run.messages == 2 * calls + 2 * 5 * loans
    assert run.projections == 5 * len(network.groups)


def test_losses_cost_messages_and_time(network):
    calm, stormy = network.run(sweeps=3), network.run(sweeps=3, mishaps=co.network.Mishaps(loss=0.2))
    assert stormy.messages > calm.messages
    assert stormy.time > calm.time


def test_the_trace_approaches_the_central_answer(network):
    run = network.run("colours", "dykstra", sweeps=60)
    trace = run.trace
    for column in (trace.time, trace.messages, trace.bytes, trace.projections):
        assert (np.diff(column) >= 0).all()
    assert trace.largest[0] > 0.01
    assert trace.largest[-1] < 1e-3
    assert (trace.typical <= trace.largest + 1e-15).all()
    assert list(trace.frame().columns) == ["time", "messages", "bytes", "projections", "largest", "typical"]
    assert (trace.messages[-1], trace.bytes[-1], trace.projections[-1]) == (run.messages, run.bytes, run.projections)


def test_a_run_that_is_not_compared_says_so(network):
    assert np.isnan(network.run(sweeps=1, compare=False).trace.largest).all()


def test_a_run_that_time_cuts_short_is_unfinished(network):
    run = network.run(sweeps=10, until=0.2)
    assert not run.finished
    assert run.time <= 0.2
    assert "unfinished" in repr(run)


def test_a_node_that_never_comes_back_stops_only_its_neighbourhood():
    rows = [
        ("A", "p", 0.8),
        ("B", "q", 0.7),
        ("B", "p & q", 0.9),
        ("C", "r", 0.6),
        ("D", "r & s", 0.8),
        ("D", "s", 0.9),
    ]
    network = co.network.Network.from_panel(co.Panel.from_records(rows))
    gone = co.network.Mishaps(outages=(co.network.Outage("A", 0.0),))
    with pytest.raises(co.MethodError, match="until"):
        network.run(mishaps=gone)
    run = network.run(mishaps=gone, until=30.0)
    central = co.aggregate(network.panel, "projections")
    assert not run.finished
    assert run.probability("r & s") == pytest.approx(central.probability("r & s"), abs=1e-12)
    assert run.probability("p") == 0.8
    assert run.projections == 10 + 1


def test_words_of_the_result_are_those_of_the_panel(network):
    run = network.run(sweeps=3)
    text = network.panel.written.text[0]
    assert run.probability(f"~({text})") == pytest.approx(1 - run.probability(text))
    assert list(run.frame()["event"]) == list(network.panel.written.text)
    assert co.score(network.panel, run.result).brier > 0
    assert run.result.note == "Projected by nodes of a network, schedule sequential."


def test_events_without_weight_take_no_part():
    rows = [("A", "p", 0.2, 1.0), ("A", "q", 0.9, 0.0), ("B", "p & q", 0.6, 1.0)]
    panel = co.Panel.from_frame(pd.DataFrame(rows, columns=["judge", "event", "probability", "weight"]))
    run = co.network.Network.from_panel(panel).run()
    central = co.aggregate(panel, "projections")
    assert np.isnan(run.probability("q"))
    assert run.probability("p") == pytest.approx(central.probability("p"), abs=1e-12)


def test_laws_bind_the_groups():
    panel = co.Panel.from_records([("A", "p", 0.8), ("B", "q", 0.5), ("C", "r", 0.4)], laws=["p -> q", "q -> r"])
    run = co.network.Network.from_panel(panel).run(sweeps=60)
    central = co.aggregate(panel, co.AlternatingProjections(sweeps=60, tolerance=0))
    assert np.abs(run.result.solution.value - central.solution.value).max() <= 1e-12
    assert run.probability("p") <= run.probability("q") + 1e-6


def test_a_design_of_the_users_own():
    rng = np.random.default_rng(3)
    network = draw_network(rng, groups=lambda events: [list(range(min(3, len(events))))])
    run = network.run(sweeps=2)
    assert run.trace.largest[-1] <= CLOSE
    assert values_of(network, run).shape == network.keeper.shape


@pytest.mark.parametrize(
    ("rows", "laws", "word"),
    [
        ([("A", "p given q", 0.2)], [], "conditional forecasts"),
        ([("A", "p", 0.2)], ["P(p) = 0.3"], "pins"),
    ],
)
def test_what_nodes_do_not_know_is_refused(rows, laws, word):
    with pytest.raises(co.MethodError, match=word):
        co.network.Network.from_panel(co.Panel.from_records(rows, laws=laws))


def test_wrong_options_are_refused(network):
    cases = [
        (lambda: co.network.Network.from_panel([]), co.PanelError, "needs a Panel"),
        (lambda: co.network.Network.from_panel(network.panel, groups="cliques"), co.MethodError, "nobody forecast"),
        (lambda: co.network.Network.from_panel(network.panel, co.network.Topology.star(3)), co.MethodError, "3 nodes"),
        (lambda: network.run("never"), co.MethodError, "schedule is 'never'"),
        (lambda: network.run(correction="some"), co.MethodError, "correction is 'some'"),
        (lambda: network.run(sweeps=0), co.MethodError, "sweeps is 0"),
        (lambda: network.run(patience=-1.0), co.MethodError, "patience is -1"),
        (lambda: network.run(seed=-1), co.MethodError, "seed is -1"),
        (
            lambda: network.run(mishaps=co.network.Mishaps(outages=(co.network.Outage("x", 1, 1),))),
            co.MethodError,
            "'x'",
        ),
        (lambda: co.network.Mishaps(loss=1.0), co.MethodError, "loss is 1.0"),
        (lambda: co.network.Mishaps(held=-1), co.MethodError, "held is -1"),
        (lambda: co.network.Outage(0, -1), co.MethodError, "outage at -1"),
        (lambda: co.network.Channel(latency=0), co.MethodError, "latency is 0"),
        (lambda: co.network.Channel(distribution="normal"), co.MethodError, "distribution is 'normal'"),
        (lambda: co.network.Channel(bandwidth=0), co.MethodError, "bandwidth is 0"),
    ]
    for work, error, words in cases:
        with pytest.raises(error, match=words):
            work()


def test_every_name_of_the_room_is_documented():
    assert sorted(co.network.__all__) == co.network.__all__
    for name in co.network.__all__:
        assert getattr(co.network, name).__doc__, name


@pytest.mark.parametrize("correction", ["none", "dykstra"])
def test_events_of_weight_0_are_left_out_and_the_note_says_so(correction):
    """In one place dykstra ties the others together through them: r .54 there, .46 here."""
    rows = [
        ("A", "p", 0.47, 0.0),
        ("B", "p | r", 0.16, 1.0),
        ("A", "(p & q) | r", 0.46, 1.0),
        ("C", "q & r", 0.99, 1.0),
    ]
    rows += [("C", "p -> q", 0.64, 0.0), ("C", "r", 0.2, 0.0)]
    panel = co.Panel.from_records(rows, laws=["p -> q"])
    run = co.network.Network.from_panel(panel).run(correction=correction, sweeps=50)
    weighty = panel.weight > 0
    assert np.isnan(run.result.solution.value[~weighty]).all()
    heavy = panel.select(np.flatnonzero(weighty))
    alone = co.network.Network.from_panel(heavy).run(correction=correction, sweeps=50)
    np.testing.assert_array_equal(run.result.solution.value[weighty], alone.result.solution.value)
    assert "weight 0 are left out and have no value: p, p -> q, r." in run.result.note
    assert "weight 0" not in alone.result.note
    assert ("may differ" in run.result.note) == (correction == "dykstra")
    central = co.aggregate(panel, co.AlternatingProjections(correction=correction, sweeps=50)).solution.value[weighty]
    apart = np.abs(central - run.result.solution.value[weighty]).max()
    assert apart > 0.4 if correction == "dykstra" else apart < 1e-12
    assert co.verify(panel, run.result)
    assert co.verify(heavy, alone.result)
