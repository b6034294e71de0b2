"""The host of groups: it projects the values of a group's events on their coherent set and keeps the correction."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently import _core
from coherently.network.protocol.messages import Message, MessageKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.network.protocol.plan import Agreement, HostedGroup, NodePlan
    from coherently.network.protocol.retries import Retries

SHARED = 4096
"""Maximum number of kernels that are kept for groups with equal truth vectors and weights."""
_MASK, _GOLDEN = (1 << 64) - 1, 0x9E3779B97F4A7C15


@lru_cache(SHARED)
def _projector(vectors: tuple[tuple[float, ...], ...], weights: tuple[float, ...]) -> _core.GroupProjector:
    """The compiled projection on the hull of truth vectors."""
    size = len(weights)
    return _core.GroupProjector(
        np.array([0, size], np.int64),
        np.arange(size, dtype=np.int32),
        np.zeros(1, np.int32),
        [np.array(vectors, np.float64)],
        np.array(weights),
    )


class GroupState:
    """A group at its host: the rounds that are decided, the last result, and Dykstra's correction."""

    __slots__ = ("arrived", "correction", "number", "places", "plan", "projector", "result", "weights")

    def __init__(self, plan: HostedGroup, *, corrected: bool) -> None:
        size = len(plan.events)
        self.plan, self.number, self.result = plan, 0, [0.0] * size
        self.correction = [0.0] * size if corrected else []
        self.weights, self.projector = [0.0] * size, None
        places: dict[int, list[int]] = {}
        for place in sorted(range(size), key=plan.events.__getitem__):
            places.setdefault(plan.keepers[place], []).append(place)
        self.places = dict(sorted(places.items()))
        self.arrived: dict[int, tuple[float, ...]] = {}

    def project(self) -> None:
        """Decide the next round: x <- P(x + c), c <- x + c - P(x + c), with c = 0 if nothing is corrected."""
        x = np.empty(len(self.result))
        for keeper, places in self.places.items():
            x[places] = self.arrived[keeper]
        if self.projector is None:
            self.projector = _projector(self.plan.vectors, tuple(self.weights))
        if self.correction:
            correction = np.array(self.correction)
            self.projector.dykstra(x, correction)
            self.correction = correction.tolist()
        else:
            self.projector.sweep(x)
        self.result = x.tolist()
        self.number += 1
        self.arrived = {}


class GroupHost:
    """The groups that a node hosts.

    A round is decided when the values of all keepers are there, once; whoever says a value of that round again gets the
    same result again.
    """

    __slots__ = ("_agreement", "_node", "_retries", "groups")

    def __init__(self, plan: NodePlan, agreement: Agreement, retries: Retries) -> None:
        self._node, self._agreement, self._retries = plan.node, agreement, retries
        corrected = agreement.correction == "dykstra"
        self.groups = {hosted.group: GroupState(hosted, corrected=corrected) for hosted in plan.groups}

    def begin(self, now: float) -> None:
        """In gossip, ask for events after a pause."""
        if self._agreement.schedule == "gossip":
            for group in self.groups:
                self._pause(group, now)

    def on_value(self, message: Message, now: float) -> list[Message]:
        """Take values; decide the round if they are the last, and repeat its result if it is decided already."""
        group = self.groups[message.group]
        if message.round == group.number:
            return [self._result(group, message.sender)]
        if message.round != group.number + 1 or message.sender in group.arrived:
            return []
        group.arrived[message.sender] = message.values
        for place, weight in zip(group.places[message.sender], message.weights, strict=False):
            group.weights[place] = weight
        if len(group.arrived) < len(group.places):
            return self._ask_next(group, now) if self._agreement.schedule == "gossip" else []
        group.project()
        if self._agreement.schedule == "gossip":
            self._pause(message.group, now)
        return [self._result(group, keeper) for keeper in group.places]

    def _result(self, group: GroupState, keeper: int) -> Message:
        values = tuple([group.result[place] for place in group.places[keeper]])
        return Message(MessageKind.RESULT, self._node, keeper, group.plan.group, group.number, (), values)

    def _ask(self, group: GroupState) -> Message:
        """The question to the first keeper, in the order of numbers, whose values are missing."""
        keeper = next(keeper for keeper in group.places if keeper not in group.arrived)
        return Message(MessageKind.ASK, self._node, keeper, group.plan.group, group.number + 1)

    def _ask_next(self, group: GroupState, now: float) -> list[Message]:
        ask = self._ask(group)
        self._retries.sent(("ask", group.plan.group), ask, now)
        return [ask]

    def _pause(self, number: int, now: float) -> None:
        group = self.groups[number]
        self._retries.drop(("ask", number))
        if group.number < self._agreement.sweeps:
            pause = self._agreement.pause * _exponential(self._agreement.seed, number, group.number)
            self._retries.add(("ask", number), self._ask(group), now + pause)

    def state(self) -> list[list[Any]]:
        """What must outlive a restart, in plain values: one row per group that was projected."""
        begun = [group for group in self.groups.values() if group.number]
        return [[group.plan.group, group.number, group.result, group.correction, group.weights] for group in begun]

    def restore(self, state: list[list[Any]]) -> None:
        """Take over what `state` told; to be called before `begin`."""
        for number, count, result, correction, weights in state:
            group = self.groups[number]
            group.number, group.result = count, list(result)
            group.correction, group.weights = list(correction), list(weights)


def _exponential(seed: int, group: int, number: int) -> float:
    """A random time of mean 1 that depends on nothing but its arguments (SplitMix64)."""
    mixed = (seed * 0xD1B54A32D192ED03 + group * _GOLDEN + number * 0x2545F4914F6CDD1D + _GOLDEN) & _MASK
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = ((mixed ^ mixed >> shift) * factor) & _MASK
    return -math.log(((mixed ^ mixed >> 31) + 1) / (_MASK + 2))
