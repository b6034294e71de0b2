"""A node: a pure state machine that takes messages and gives messages, for the simulator and for sockets alike."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from coherently.network.protocol.complaints import Inspector
from coherently.network.protocol.host import GroupHost
from coherently.network.protocol.keeper import EventKeeper
from coherently.network.protocol.messages import Message, MessageKind
from coherently.network.protocol.retries import Retries
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.network.protocol.host import Watcher
    from coherently.network.protocol.node_plan import Agreement, NodePlan


class Node(Viewed):
    """One node of a network: its forecasts, the events that it keeps and the groups that it hosts.

    It has no clock and no sockets. Whoever carries messages, a *transport*, calls `begin` once, `handle` for each
    message that arrives, and `wake` when `deadline()` has come; each returns the messages to be sent. Times are
    seconds of any clock that does not go back while the node lives; another clock may count after a restart.

    A transport need **not** guarantee that a message arrives, arrives once, or arrives in order: what is not
    answered is sent again, and what comes twice or late changes nothing. It **must** guarantee that

    1. a message that arrives is the one that its sender sent (use `complaint` against strangers' mistakes, and proof
       of origin against lies), and reaches the node of the same run: same plan, same `Agreement`;
    2. the node's `state()` is on the disk *before* any message that a call returned is sent; a node that restarts is
       `Node(plan, agreement, state)` with the last state that was stored, and then `begin`. If messages were sent
       and the state behind them is lost, a correction may be applied twice;
    3. messages between two nodes get through sooner or later if they are repeated often enough;
    4. it goes on serving after the node `is_finished`, until all are: others may still need a result again.

    Calls are atomic: one at a time, none from within another. A call that raises has not been heard of: drop the node
    and restore it. What is volatile, and may be lost in a restart, is who waits for what; `begin` asks again.
    """

    __slots__ = ("_forecasts", "_host", "_inspector", "_keeper", "_node", "_retries", "agreement", "plan")

    def __init__(self, plan: NodePlan, agreement: Agreement, state: Mapping[str, Any] | None = None) -> None:
        self.plan, self.agreement, self._node = plan, agreement, plan.node
        self._retries = Retries(agreement.patience)
        self._keeper = EventKeeper(plan, agreement, self._retries)
        self._host = GroupHost(plan, agreement)
        self._inspector: Inspector | None = None
        self._forecasts = {own.event: (own.weight, own.probability) for own in plan.forecasts}
        if state is not None:
            self._keeper.restore(state["keeper"])
            self._host.restore(state["host"])

    def begin(self, now: float) -> list[Message]:
        """Start, or go on after a restart."""
        return self._settle(self._keeper.begin(now), now)

    def handle(self, message: Message, now: float) -> list[Message]:
        """Take a message that arrived; whether it came before does not matter."""
        return self._settle(self._take(message, now), now)

    def wake(self, now: float) -> list[Message]:
        """Send again what is due; too early a call does no harm."""
        return self._settle(self._retries.take(now), now)

    def deadline(self) -> float:
        """When to call `wake` at the latest; infinite if nothing is to be repeated."""
        return self._retries.deadline()

    def complaint(self, message: Message) -> str | None:
        """Why a message from outside must not be handled, as a sentence; None if it may be."""
        if self._inspector is None:
            self._inspector = Inspector(self.plan, self.agreement)
        return self._inspector.complaint(message)

    @property
    def is_finished(self) -> bool:
        """Whether all sweeps of all groups of the kept events are done, so that `values` are final."""
        return not self._keeper.open and len(self._keeper.value) == len(self.plan.events)

    @property
    def rounds(self) -> int:
        """The number of projections that this node has made as a host."""
        return sum(group.number for group in self._host.groups.values())

    def values(self) -> dict[int, float]:
        """The current value of each kept event whose forecasts have all been reported."""
        return dict(self._keeper.value)

    def watch(self, watcher: Watcher) -> None:
        """Tell `watcher` of each projection that this node decides from now on; it must not call the node."""
        self._host.watch(watcher)

    def state(self) -> dict[str, Any]:
        """All that must outlive a restart, in plain values: JSON keeps every digit."""
        return {"keeper": self._keeper.state(), "host": self._host.state()}

    def _take(self, message: Message, now: float) -> list[Message]:
        kind = message.kind
        if kind == MessageKind.VALUE:
            return self._host.on_value(message)
        if kind == MessageKind.RESULT:
            return self._keeper.on_result(message, now)
        if kind == MessageKind.REPORT:
            return self._keeper.on_report(message, now)
        return [self._report(message)]

    def _report(self, call: Message) -> Message:
        told = [self._forecasts[event] for event in call.events]
        weights, values = tuple(weight for weight, _ in told), tuple(value for _, value in told)
        return Message(
            kind=MessageKind.REPORT,
            sender=self._node,
            receiver=call.sender,
            group=-1,
            round=0,
            events=call.events,
            values=values,
            weights=weights,
        )

    def _settle(self, messages: Iterable[Message], now: float) -> list[Message]:
        """Handle what the node says to itself; the rest is for others."""
        outside = []
        inside = deque(messages)
        while inside:
            message = inside.popleft()
            if message.receiver == self._node:
                inside.extend(self._take(message, now))
            else:
                outside.append(message)
        return outside
