"""The host of groups: it projects the values of a group's events on their coherent set and keeps the correction."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently import _core
from coherently.network.protocol.messages import Message, MessageKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.network.protocol.node_plan import Agreement, HostedGroup, NodePlan

SHARED = 4096
"""Maximum number of kernels that are kept for groups with equal truth vectors and weights."""
Watcher: TypeAlias = "Callable[[int, tuple[int, ...], list[float]], None]"
"""Hears of each projection when it is decided: the group, its events and their new values."""


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
        self.weights = [0.0] * size
        self.projector: _core.GroupProjector | None = None
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

    __slots__ = ("_node", "_watcher", "groups")

    def __init__(self, plan: NodePlan, agreement: Agreement) -> None:
        self._node = plan.node
        self._watcher: Watcher | None = None
        corrected = agreement.correction == "dykstra"
        self.groups = {hosted.group: GroupState(hosted, corrected=corrected) for hosted in plan.groups}

    def watch(self, watcher: Watcher) -> None:
        """Tell `watcher` of each projection from now on."""
        self._watcher = watcher

    def on_value(self, message: Message) -> list[Message]:
        """Take values; decide the round if they are the last, and repeat its result if it is decided already."""
        group = self.groups[message.group]
        # A group waits for round number + 1. A VALUE of the round before means that its RESULT was lost, and is
        # answered from what is kept; any other is late. So a keeper that repeats a VALUE gets its RESULT sooner or
        # later, and no round is projected twice.
        if message.round == group.number:
            return [self._result(group, message.sender)]
        if message.round != group.number + 1 or message.sender in group.arrived:
            return []
        group.arrived[message.sender] = message.values
        for place, weight in zip(group.places[message.sender], message.weights, strict=False):
            group.weights[place] = weight
        if len(group.arrived) < len(group.places):
            return []
        group.project()
        if self._watcher is not None:
            self._watcher(message.group, group.plan.events, group.result)
        return [self._result(group, keeper) for keeper in group.places]

    def _result(self, group: GroupState, keeper: int) -> Message:
        values = tuple([group.result[place] for place in group.places[keeper]])
        return Message(
            kind=MessageKind.RESULT,
            sender=self._node,
            receiver=keeper,
            group=group.plan.group,
            round=group.number,
            events=(),
            values=values,
        )

    def state(self) -> list[list[Any]]:
        """What must outlive a restart, in plain values: one row per group that was projected."""
        begun = [group for group in self.groups.values() if group.number]
        return [[group.plan.group, group.number, group.result, group.correction, group.weights] for group in begun]

    def restore(self, state: list[list[Any]]) -> None:
        """Take over what `state` told; to be called before anything else."""
        for number, count, result, correction, weights in state:
            group = self.groups[number]
            group.number, group.result = count, list(result)
            group.correction, group.weights = list(correction), list(weights)
