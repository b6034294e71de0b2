"""Nodes alone, with a post office that loses, doubles, shuffles and restarts at will."""

import json
import math
import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.network import Message, MessageKind, Node, NodePlan
from coherently.network.protocol.messages import message_bytes
from coherently.network.protocol.retries import LONGEST, Retries

ROWS = [
    ("A", "p", 0.2), ("B", "q", 0.3), ("C", "p & q", 0.5), ("B", "p | q", 0.9), ("A", "r", 0.6), ("C", "r & q", 0.5),
    ("C", "p", 0.4), ("A", "~q", 0.1),
]  # fmt: skip
ENOUGH = 3_000
"""Number of steps of the post office within which a run ends; a tenth is usual."""
NETWORK = co.network.Network.from_panel(co.Panel.from_records(ROWS))


def agreed(schedule="sequential", correction="dykstra", sweeps=10):
    return co.network.Agreement(schedule, correction, sweeps, patience=1.0, seed=3)


class PostOffice:
    """Carries messages as `chance` likes; time passes when nothing is under way."""

    def __init__(self, plans, agreement, chance):
        self.plans, self.agreement, self.chance = plans, agreement, chance
        self.now, self.under_way = 0.0, []
        self.nodes = [Node(plan, agreement) for plan in plans]
        for node in self.nodes:
            self.under_way += node.begin(self.now)

    def restart(self, number):
        stored = json.loads(json.dumps(self.nodes[number].state()))
        plan = NodePlan.from_dict(json.loads(json.dumps(self.plans[number].as_dict())))
        self.nodes[number] = Node(plan, self.agreement, stored)
        self.under_way += self.nodes[number].begin(self.now)

    def step(self):
        if not self.under_way:
            self.now = min(node.deadline() for node in self.nodes)
            for node in self.nodes:
                self.under_way += node.wake(self.now)
            return
        place = self.chance.randrange(len(self.under_way))
        message = self.under_way[place]
        fate = self.chance.random()
        if fate > 0.15:  # else it stays under way, and may come again much later
            self.under_way.pop(place)
        if fate < 0.3 or fate > 0.45:
            node = self.nodes[message.receiver]
            assert node.complaint(message) is None
            self.under_way += node.handle(message, self.now)
        if self.chance.random() < 0.05:
            self.restart(self.chance.randrange(len(self.nodes)))

    def run(self):
        for _ in range(ENOUGH):
            if all(node.is_finished for node in self.nodes):
                break
            self.step()
        else:
            pytest.fail("the run does not end")
        return {event: value for node in self.nodes for event, value in node.values().items()}


def undisturbed(agreement):
    chance = random.Random(0)
    chance.random = lambda: 0.5
    return PostOffice(NETWORK.plans(agreement.schedule), agreement, chance).run()


@settings(max_examples=60, deadline=None, phases=[Phase.generate])  # a smaller seed is no simpler case
@given(
    seed=st.integers(0, 1 << 30),
    schedule=st.sampled_from(["sequential", "colours", "gossip"]),
    correction=st.sampled_from(["none", "dykstra"]),
)
def test_whatever_the_post_does_the_values_are_the_same_to_the_last_bit(seed, schedule, correction):
    agreement = agreed(schedule, correction)
    plans = NETWORK.plans(schedule)
    assert PostOffice(plans, agreement, random.Random(seed)).run() == undisturbed(agreement)


def test_a_message_that_comes_again_changes_nothing():
    office = PostOffice(NETWORK.plans("sequential"), agreed(), random.Random(1))
    office.chance.random = lambda: 0.5
    heard = []
    for _ in range(40):
        heard += office.under_way
        office.step()
    states = [node.state() for node in office.nodes]
    for message in heard:
        if message not in office.under_way:
            office.nodes[message.receiver].handle(message, office.now)
    assert [node.state() for node in office.nodes] == states


def test_a_value_of_a_decided_round_is_answered_with_the_same_result():
    host, keeper, group = lonely_host()
    value = Message(MessageKind.VALUE, keeper, 0, group, 1, (), (0.9,), (1.0,))
    first = host.handle(value, 0.0)
    assert [message.kind for message in first] == [MessageKind.RESULT]
    state = host.state()
    assert host.handle(value, 5.0) == first
    assert host.state() == state


def lonely_host():
    """Node 0 keeps p and hosts the group of p and the event p & q, which node 1 keeps."""
    network = co.network.Network.from_panel(co.Panel.from_records([("A", "p", 0.5), ("B", "p & q", 0.9)]))
    plans = network.plans("sequential")
    host = Node(plans[0], agreed(sweeps=2))
    host.begin(0.0)
    assert plans[0].groups
    return host, 1, plans[0].groups[0].group


def test_nothing_is_due_before_its_time_and_the_time_between_grows():
    retries = Retries(1.0)
    message = Message(MessageKind.CALL, 0, 1)
    retries.sent("a", message, 0.0)
    assert retries.take(0.5) == []
    due, times = retries.deadline(), []
    for _ in range(5):
        assert retries.take(due) == [message]
        times.append(retries.deadline() - due)
        due = retries.deadline()
    assert times == [2.0, LONGEST, LONGEST, LONGEST, LONGEST]
    retries.drop("a")
    assert retries.deadline() == math.inf
    assert retries.take(1e9) == []


def test_waking_too_early_does_no_harm():
    node = Node(NETWORK.plans("sequential")[0], agreed())
    node.begin(0.0)
    assert node.wake(0.1) == []
    assert node.deadline() == 1.0
    assert node.wake(1.0)


def test_bytes_grow_with_what_is_said():
    small = Message(MessageKind.VALUE, 0, 1, 2, 3, (), (0.5,))
    assert message_bytes(small._replace(values=(0.5, 0.5))) == message_bytes(small) + 8
    assert message_bytes(small._replace(events=(1,))) == message_bytes(small) + 4


def complaints():
    host, keeper, group = lonely_host()
    good = Message(MessageKind.VALUE, keeper, 0, group, 1, (), (0.9,), (1.0,))
    yield host, good, None
    for change, words in [
        ({"receiver": 5}, "for node 5"),
        ({"sender": 0}, "itself"),
        ({"kind": 9}, "kind 9"),
        ({"values": (math.nan,)}, "between 0 and 1"),
        ({"values": (math.inf,)}, "between 0 and 1"),
        ({"values": (1.1,)}, "between 0 and 1"),
        ({"values": (0.5, 0.5)}, "1 values here, found 2"),
        ({"weights": (0.0,)}, "above 0"),
        ({"weights": (math.nan,)}, "above 0"),
        ({"weights": ()}, "weights with the values of round 1"),
        ({"round": 0}, "round 0"),
        ({"round": 3}, "round 3"),
        ({"group": 7}, "no group 7"),
        ({"sender": 9}, "hosts no group"),
        ({"kind": MessageKind.RESULT}, "hosts no group"),
        ({"kind": MessageKind.CALL, "events": (44,)}, "forecasts no event 44"),
    ]:
        yield host, good._replace(**change), words
    other = Node(NETWORK.plans("sequential")[0], agreed())
    kept = next(kept for kept in other.plan.events if len(kept.forecasters) > 1)
    another = next(node for node in kept.forecasters if node != 0)
    report = Message(MessageKind.REPORT, another, 0, -1, 0, (kept.event,), (0.5,), (1.0,))
    yield other, report, None
    yield other, report._replace(events=(99,)), "keeps no event 99"
    yield other, report._replace(sender=77), "node 77 does not forecast"
    yield other, report._replace(weights=()), "one probability and one weight"


@pytest.mark.parametrize("case", list(complaints()), ids=lambda case: str(case[2]))
def test_messages_that_must_not_be_handled(case):
    node, message, words = case
    found = node.complaint(message)
    assert found is None if words is None else words in found


def test_plans_say_with_whom_a_node_speaks():
    for plan in NETWORK.plans("colours"):
        assert plan.node not in plan.partners()
        assert plan.partners() <= {0, 1, 2}
