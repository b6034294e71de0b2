"""The simulator: a queue of what happens when, and nodes that do not know that they are simulated."""

from __future__ import annotations

import heapq
import json
import math
import random
from typing import TYPE_CHECKING

from coherently.network.protocol.messages import message_bytes
from coherently.network.protocol.node import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.network.protocol.host import Watcher
    from coherently.network.protocol.messages import Message
    from coherently.network.protocol.node_plan import Agreement, NodePlan
    from coherently.network.simulated.circumstances import Channel, Mishaps
    from coherently.network.topology import Topology

_BEGIN, _WAKE, _STOP, _START = -1, -2, -3, -4


class Simulator:
    """Runs nodes until all have finished.

    The queue has tuples: a time, a ticket (what was queued first happens first), a node, a place and a message. The
    place is how far the message has come on its way, or one of the words begin, wake, stop and start.
    """

    def __init__(
        self,
        plans: Sequence[NodePlan],
        agreement: Agreement,
        topology: Topology,
        channel: Channel,
        mishaps: Mishaps,
        seed: int,
        watcher: Watcher | None = None,
    ) -> None:
        self.plans, self.agreement, self.topology = plans, agreement, topology
        self.channel, self.mishaps, self.watcher = channel, mishaps, watcher
        self.now, self.messages, self.hops, self.bytes = 0.0, 0, 0, 0
        self._random = random.Random(seed).random
        self._queue: list[tuple[float, int, int, int, Message | None]] = []
        self._ticket = 0
        self._routes: dict[tuple[int, int], tuple[int, ...]] = {}
        self._free = [0.0] * len(plans)
        self._woken = [math.inf] * len(plans)
        self._stored: dict[int, str] = {}
        self.nodes: list[Node | None] = [Node(plan, agreement) for plan in plans]
        self._unfinished = set(range(len(plans)))
        for node in range(len(plans)):
            self._push(0.0, node, _BEGIN)
        for outage in mishaps.outages:
            assert isinstance(outage.node, int)  # names are numbers by now
            self._push(outage.at, outage.node, _STOP)
            if outage.seconds < math.inf:
                self._push(outage.at + outage.seconds, outage.node, _START)

    @property
    def is_finished(self) -> bool:
        """Whether every node has final values."""
        return not self._unfinished

    def step(self) -> bool:
        """Let the next thing happen; False if nothing is left to happen."""
        if not self._queue:
            return False
        self.now, _, node, place, message = heapq.heappop(self._queue)
        if message is not None:
            self._arrive(message, node, place)
        elif place == _WAKE:
            self._wake(node)
        elif place == _BEGIN:
            self._begin(node)
        elif place == _STOP:
            self._stop(node)
        else:
            self._start(node)
        return True

    def run(self, until: float = math.inf) -> None:
        """Go on until all nodes have finished or the time is over."""
        queue = self._queue
        while self._unfinished and queue and queue[0][0] <= until:
            self.step()

    def values(self) -> dict[int, float]:
        """The value of each event at its keeper; that of a node that is down is the stored one."""
        found: dict[int, float] = {}
        for node in self.nodes:
            if node is not None:
                found.update(node.values())
        for stored in self._stored.values():
            found.update((event, value) for event, value, _ in json.loads(stored)["keeper"]["value"])
        return found

    def _push(self, time: float, node: int, place: int, message: Message | None = None) -> None:
        self._ticket += 1
        heapq.heappush(self._queue, (time, self._ticket, node, place, message))

    def _begin(self, number: int) -> None:
        node = self.nodes[number]
        assert node is not None
        if self.watcher is not None:
            node.watch(self.watcher)
        self._after(number, node, node.begin(self.now))

    def _after(self, number: int, node: Node, messages: list[Message]) -> None:
        """Send what a node wants to send, and see when it wants to be woken."""
        for message in messages:
            self.messages += 1
            self._hop(message, number, 0)
        deadline = node.deadline()
        if deadline < self._woken[number]:
            self._woken[number] = deadline
            self._push(deadline, number, _WAKE)
        if node.is_finished:
            self._unfinished.discard(number)

    def _route(self, message: Message) -> tuple[int, ...]:
        ends = message.sender, message.receiver
        found = self._routes.get(ends)
        if found is None:
            found = self.topology.route(*ends)
            self._routes[ends], self._routes[ends[::-1]] = found, found[::-1]
        return found

    def _hop(self, message: Message, node: int, place: int) -> None:
        """Send a message from one node to the next on its way."""
        target = self._route(message)[place + 1]
        size = message_bytes(message)
        self.hops += 1
        self.bytes += size
        mishaps, chance, departure = self.mishaps, self._random, self.now
        if self.channel.bandwidth < math.inf:
            departure = max(departure, self._free[node]) + size / self.channel.bandwidth
            self._free[node] = departure
        if not (mishaps.loss and chance() < mishaps.loss):
            self._push(departure + self._delay(), target, place + 1, message)
        if mishaps.duplication and chance() < mishaps.duplication:
            self._push(departure + self._delay(), target, place + 1, message)

    def _delay(self) -> float:
        kind, mean, chance, mishaps = self.channel.distribution, self.channel.latency, self._random, self.mishaps
        if kind == "exponential":
            delay = -mean * math.log(1.0 - chance())
        else:
            delay = mean if kind == "constant" else 2 * mean * chance()
        if mishaps.reordering and chance() < mishaps.reordering:
            delay += mishaps.held * mean * chance()
        return delay

    def _arrive(self, message: Message, number: int, place: int) -> None:
        node = self.nodes[number]
        if node is None:
            return
        if number == message.receiver:
            self._after(number, node, node.handle(message, self.now))
        else:
            self._hop(message, number, place)

    def _wake(self, number: int) -> None:
        node = self.nodes[number]
        if self.now < self._woken[number]:
            return
        self._woken[number] = math.inf
        if node is not None:
            self._after(number, node, node.wake(self.now))

    def _stop(self, number: int) -> None:
        node = self.nodes[number]
        if node is not None:
            self._stored[number] = json.dumps(node.state())
            self.nodes[number] = None
            self._woken[number] = math.inf

    def _start(self, number: int) -> None:
        if self.nodes[number] is None:
            self.nodes[number] = Node(self.plans[number], self.agreement, json.loads(self._stored.pop(number)))
            self._begin(number)
