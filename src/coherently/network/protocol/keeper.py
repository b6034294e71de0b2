"""The keeper of events: it merges the forecasts of each, holds its current value, and lends it to groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherently.network.protocol.messages import Message, MessageKind
from coherently.network.protocol.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.network.protocol.node_plan import Agreement, NodePlan
    from coherently.network.protocol.retries import Retries


class EventKeeper:
    """The values of the events that a node keeps.

    A group's events are lent to its host by a VALUE and come back by a RESULT. In between nobody changes them, so every
    copy of a VALUE says the same, and a RESULT is heeded only for the round that is lent: once.

    An event goes through these states; a message that does not fit the state changes nothing:

        unknown --(the last REPORT)--> at home --(its turn: VALUE sent)--> lent --(RESULT of that round)--> at home

    `done` counts the rounds of each group that have come back, and `lent` has the groups that are out. Values, `done`
    and the reports so far outlive a restart; what was lent and is not yet back is lent again, with round and values as
    before.
    """

    __slots__ = (
        *("_host", "_node", "_reports", "_retries", "_sweeps", "_turns"),
        *("done", "events", "lent", "open", "value", "weight"),
    )

    def __init__(self, plan: NodePlan, agreement: Agreement, retries: Retries) -> None:
        self._node, self._sweeps, self._retries = plan.node, agreement.sweeps, retries
        groups = {kept.event: kept.groups for kept in plan.events}
        events: dict[int, list[int]] = {group: [] for group, _ in plan.hosts}
        for event in sorted(groups):
            for group in groups[event]:
                events[group].append(event)
        self.events = {group: tuple(own) for group, own in events.items()}
        self._host = dict(plan.hosts)
        self._turns = Turns(groups, self.events, agreement)
        self.done = dict.fromkeys(self.events, 0)
        self.open = len(self.events)
        self.lent: set[int] = set()
        self.value: dict[int, float] = {}
        self.weight: dict[int, float] = {}
        self._reports: dict[int, dict[int, tuple[float, float] | None]] = {
            kept.event: dict.fromkeys(kept.forecasters) for kept in plan.events
        }

    def begin(self, now: float) -> list[Message]:
        """Call for the forecasts that are still unknown, and lend what was lent before a restart."""
        wanted: dict[int, list[int]] = {}
        for event, reports in self._reports.items():
            for node, report in reports.items():
                if report is None:
                    wanted.setdefault(node, []).append(event)
        calls = [Message(MessageKind.CALL, self._node, node, events=tuple(own)) for node, own in wanted.items()]
        for call in calls:
            if call.receiver != self._node:
                self._retries.sent(("call", call.receiver), call, now)
        return calls + self._lend([group for event in self.value for group in self._turns.known(event)], now)

    def on_report(self, message: Message, now: float) -> list[Message]:
        """Take a node's forecasts; an event has a value when all of its forecasts are there."""
        self._retries.drop(("call", message.sender))
        granted = []
        for event, weight, probability in zip(message.events, message.weights, message.values, strict=True):
            reports = self._reports.get(event)
            if reports is None:
                continue
            reports[message.sender] = weight, probability
            if None not in reports.values():
                self._merge(event)
                granted += self._turns.known(event)
        return self._lend(granted, now)

    def on_result(self, message: Message, now: float) -> list[Message]:
        """Take the values of a lent group back, once."""
        group = message.group
        # A repeated RESULT is of a round that is done, or of a group that is at home: either would count twice.
        if group not in self.lent or message.round != self.done[group] + 1:
            return []
        self._retries.drop(group)
        self.value.update(zip(self.events[group], message.values, strict=True))
        self.lent.discard(group)
        self.done[group] = message.round
        self.open -= message.round == self._sweeps
        return self._lend(self._turns.freed(group, message.round), now)

    def _merge(self, event: int) -> None:
        """The weighted mean, summed in the order of nodes, so that it does not depend on who reported first."""
        found = self._reports.pop(event)
        reports = [report for node in sorted(found) if (report := found[node])]
        self.weight[event] = total = sum(weight for weight, _ in reports)
        mean = sum(weight * probability for weight, probability in reports) / total
        self.value[event] = min(max(mean, 0.0), 1.0)

    def _lend(self, groups: Iterable[int], now: float) -> list[Message]:
        found = []
        for group in groups:
            if self.done[group] < self._sweeps:
                self.lent.add(group)
                loan = self._loan(group)
                found.append(loan)
                if loan.receiver != self._node:
                    self._retries.sent(group, loan, now)
        return found

    def _loan(self, group: int) -> Message:
        own, number = self.events[group], self.done[group] + 1
        values = tuple([self.value[event] for event in own])
        weights = tuple([self.weight[event] for event in own]) if number == 1 else ()
        return Message(
            kind=MessageKind.VALUE,
            sender=self._node,
            receiver=self._host[group],
            group=group,
            round=number,
            events=(),
            values=values,
            weights=weights,
        )

    def state(self) -> dict[str, Any]:
        """What must outlive a restart, in plain values."""
        waiting = [[e, node, *r] for e, reports in self._reports.items() for node, r in reports.items() if r]
        return {
            "value": [[event, value, self.weight[event]] for event, value in self.value.items()],
            "done": [[group, number] for group, number in self.done.items() if number],
            "reports": waiting,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` told; to be called before `begin`."""
        for event, value, weight in state["value"]:
            self.value[event], self.weight[event] = value, weight
            del self._reports[event]
        for event, node, weight, probability in state["reports"]:
            self._reports[event][node] = weight, probability
        self.done.update((group, number) for group, number in state["done"])
        self.open = sum(number < self._sweeps for number in self.done.values())
        self._turns.restore(self.done)
