"""What a node knows before a run begins: its own forecasts, the events it keeps, the groups it hosts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from coherently.errors import MethodError
from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

Schedule: TypeAlias = Literal["sequential", "colours", "gossip"]
"""Turns in the order in which events appear, by colours of disjoint groups, or by random clocks."""
NetworkCorrection: TypeAlias = Literal["none", "dykstra"]
SCHEDULES = ("sequential", "colours", "gossip")
CORRECTIONS = ("none", "dykstra")


@dataclass(frozen=True, slots=True)
class Agreement(Told):
    """What all nodes of a run agree on.

    Every group is projected `sweeps` times. A keeper that hears nothing for `patience` seconds sends again, then after
    twice that time, and so on, up to four times that time. `seed` is that of gossip's random order.
    """

    schedule: Schedule = "sequential"
    correction: NetworkCorrection = "none"
    sweeps: int = 10
    patience: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise MethodError(f"schedule is {self.schedule!r}; it may be {', '.join(SCHEDULES)}")
        if self.correction not in CORRECTIONS:
            raise MethodError(f"correction is {self.correction!r}; it may be {' or '.join(CORRECTIONS)}")
        if self.sweeps < 1:
            raise MethodError(f"sweeps is {self.sweeps}; it must be 1 or more")
        if not 0 < self.patience < math.inf:
            raise MethodError(f"patience is {self.patience}; it must be a number of seconds above 0")
        if self.seed < 0:
            raise MethodError(f"seed is {self.seed}; it must be 0 or more")

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OwnForecast:
    """The probability that a node gives to an event, with the weight of its forecasts of it."""

    event: int
    probability: float
    weight: float


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """An event whose current value a node keeps: its groups in the order of their turns, and who forecast it."""

    event: int
    groups: tuple[int, ...]
    forecasters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostedGroup:
    """A group that a node projects: its events, the keeper of each, and their truth vectors, one row per vector."""

    group: int
    events: tuple[int, ...]
    keepers: tuple[int, ...]
    vectors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class NodePlan(Told):
    """All that a node knows. Nodes, events and groups go by numbers; `hosts` pairs each group of a kept event with
    the node that hosts it.
    """  # noqa: D205

    node: int
    forecasts: tuple[OwnForecast, ...] = ()
    events: tuple[KeptEvent, ...] = ()
    hosts: tuple[tuple[int, int], ...] = ()
    groups: tuple[HostedGroup, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain values, for `from_dict`."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> NodePlan:
        """The plan that `as_dict` told, also after a way through JSON.

        >>> plan = NodePlan(0, (OwnForecast(0, 0.25, 1.0),), (KeptEvent(0, (), (0,)),))
        >>> NodePlan.from_dict(plan.as_dict()) == plan
        True
        """
        return NodePlan(
            node=told["node"],
            forecasts=tuple(OwnForecast(**row) for row in told["forecasts"]),
            events=tuple(
                KeptEvent(row["event"], tuple(row["groups"]), tuple(row["forecasters"])) for row in told["events"]
            ),
            hosts=tuple((group, host) for group, host in told["hosts"]),
            groups=tuple(
                HostedGroup(
                    row["group"], tuple(row["events"]), tuple(row["keepers"]), tuple(map(tuple, row["vectors"]))
                )
                for row in told["groups"]
            ),
        )

    def partners(self) -> frozenset[int]:
        """The other nodes that this one exchanges messages with."""
        spoken = {host for _, host in self.hosts}
        spoken.update(node for event in self.events for node in event.forecasters)
        spoken.update(node for group in self.groups for node in group.keepers)
        return frozenset(spoken - {self.node})
