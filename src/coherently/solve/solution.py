"""What a method is and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from coherently.problem import Problem


class Coherence(Enum):
    """How far an answer is coherent; each value is followed by what it means."""

    NONE = ("none", "nothing is claimed: the events were averaged one by one")

    def __init__(self, word: str, meaning: str) -> None:
        self.word = word
        self.meaning = meaning


class Status(Enum):
    """How a method ended; each value is followed by a sentence with what to do."""

    AVERAGED = (
        "averaged",
        "Each event was averaged on its own; the averages may contradict each other.",
    )

    def __init__(self, word: str, sentence: str) -> None:
        self.word = word
        self.sentence = sentence


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """An answer: `value` has a probability for each event as written (NaN where nothing is known).

    `objective` is the weighted squared distance from the merged forecasts and `lower_bound` a valid bound on
    the least such distance; both are None for a method that does not minimise it.
    """

    value: NDArray[np.float64]
    status: Status
    coherence: Coherence
    objective: float | None = None
    lower_bound: float | None = None
    guaranteed_improvement: float | None = None


@runtime_checkable
class Method(Protocol):
    """A way to aggregate: a frozen object that holds its options."""

    @property
    def name(self) -> str:
        """The word for it on the command line and in results."""

    def solve(self, problem: Problem) -> Solution:
        """Answer the problem."""
