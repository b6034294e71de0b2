"""What is wrong with a message from outside: a node that heeds only messages without complaint cannot be misled by
numbers that are none, or about events and groups that are none of its business.
"""  # noqa: D205

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from coherently.network.protocol.messages import Message, MessageKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.network.protocol.node_plan import Agreement, NodePlan

SLACK = 1e-9
"""How far beyond 0 and 1 rounding may carry a probability."""


class Inspector:
    """Knows what may be said to a node, by its plan."""

    __slots__ = ("_events", "_forecasters", "_hosts", "_keepers", "_last", "_node", "_own")

    def __init__(self, plan: NodePlan, agreement: Agreement) -> None:
        self._node = plan.node
        self._last = agreement.sweeps
        self._own = {forecast.event for forecast in plan.forecasts}
        self._forecasters = {kept.event: frozenset(kept.forecasters) for kept in plan.events}
        self._hosts: Mapping[int, int] = dict(plan.hosts)
        counts = {group: 0 for group, _ in plan.hosts}
        for kept in plan.events:
            for group in kept.groups:
                counts[group] += 1
        self._events = counts
        self._keepers = {group.group: group.keepers for group in plan.groups}

    def complaint(self, message: Message) -> str | None:
        """What is wrong, as a sentence; None if the message may be handled."""
        if message.receiver != self._node:
            return f"the message is for node {message.receiver}, not for node {self._node}"
        if message.sender == self._node:
            return f"a message from outside claims to be from node {self._node} itself"
        wrong = _number_complaint(message)
        if wrong:
            return wrong
        if message.kind == MessageKind.CALL:
            return self._about(message, self._own, "forecasts")
        if message.kind == MessageKind.REPORT:
            return self._report_complaint(message)
        return self._group_complaint(message)

    def _about(self, message: Message, known: set[int], verb: str) -> str | None:
        strange = [event for event in message.events if event not in known]
        return f"node {self._node} {verb} no event {strange[0]}" if strange else None

    def _report_complaint(self, message: Message) -> str | None:
        if not len(message.events) == len(message.values) == len(message.weights):
            return "a report needs one probability and one weight per event"
        wrong = self._about(message, set(self._forecasters), "keeps")
        if wrong:
            return wrong
        strange = [e for e in message.events if message.sender not in self._forecasters[e]]
        return f"node {message.sender} does not forecast event {strange[0]}" if strange else None

    def _group_complaint(self, message: Message) -> str | None:
        group, lent = message.group, message.kind == MessageKind.VALUE
        if not 1 <= message.round <= self._last:
            return f"round {message.round} is not one of 1 to {self._last}"
        if lent and not self._keepers.get(group, ()).count(message.sender):
            return f"node {self._node} hosts no group {group} with events that node {message.sender} keeps"
        if not lent and self._hosts.get(group) != message.sender:
            return f"node {message.sender} hosts no group {group} with events that node {self._node} keeps"
        count = self._keepers[group].count(message.sender) if lent else self._events[group]
        if len(message.values) != count:
            return f"group {group} has {count} values here, found {len(message.values)}"
        if len(message.weights) != (count if lent and message.round == 1 else 0):
            return f"group {group} needs its weights with the values of round 1, and only then"
        return None


def _number_complaint(message: Message) -> str | None:
    if message.kind not in tuple(MessageKind):
        return f"the kind {message.kind} of a message is unknown"
    if not all(-SLACK <= value <= 1 + SLACK for value in message.values):
        return "a probability must lie between 0 and 1"
    if not all(0 < weight < math.inf for weight in message.weights):
        return "a weight must be a number above 0"
    return None
