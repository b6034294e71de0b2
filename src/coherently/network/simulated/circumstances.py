"""Under what conditions messages travel, and what happens to nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from coherently.errors import MethodError
from coherently.viewed import Viewed

Latency: TypeAlias = Literal["constant", "uniform", "exponential"]
LATENCIES = ("constant", "uniform", "exponential")


@dataclass(frozen=True, slots=True)
class Channel(Viewed):
    """How long a message takes from a node to its neighbour.

    `latency` is the mean in seconds of a `distribution`: constant, uniform (between 0 and twice the mean) or
    exponential. A node sends at most `bandwidth` bytes per second, one message after the other.
    """

    latency: float = 0.01
    distribution: Latency = "exponential"
    bandwidth: float = math.inf

    def __post_init__(self) -> None:
        if not 0 < self.latency < math.inf:
            raise MethodError(f"latency is {self.latency}; it must be a number of seconds above 0")
        if self.distribution not in LATENCIES:
            raise MethodError(f"distribution is {self.distribution!r}; it may be {', '.join(LATENCIES)}")
        if not self.bandwidth > 0:
            raise MethodError(f"bandwidth is {self.bandwidth}; it must be a number of bytes per second above 0")


@dataclass(frozen=True, slots=True)
class Outage(Viewed):
    """A node, by its name or number, stops at a time and starts again after some seconds, or never.

    What it has not stored is lost, and so is every message that reaches it meanwhile.
    """

    node: str | int
    at: float
    seconds: float = math.inf

    def __post_init__(self) -> None:
        if not (0 <= self.at < math.inf and self.seconds > 0):
            raise MethodError(f"an outage at {self.at} of {self.seconds} seconds; it must begin at 0 or later and last")


@dataclass(frozen=True, slots=True)
class Mishaps(Viewed):
    """What goes wrong: on each hop a message is lost, doubled or held up with these probabilities; nodes fail.

    A message that is held up (`reordering`) takes up to `held` times the mean latency longer, so that later ones
    overtake it.
    """

    loss: float = 0.0
    duplication: float = 0.0
    reordering: float = 0.0
    held: float = 20.0
    outages: tuple[Outage, ...] = ()

    def __post_init__(self) -> None:
        for name in ("loss", "duplication", "reordering"):
            if not 0 <= getattr(self, name) < 1:
                raise MethodError(f"{name} is {getattr(self, name)}; it must be in [0, 1)")
        if not 0 <= self.held < math.inf:
            raise MethodError(f"held is {self.held}; it must be a number of 0 or more")


NO_MISHAPS = Mishaps()
