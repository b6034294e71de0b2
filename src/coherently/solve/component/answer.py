"""The answer for one component: a value."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.solve.facts import Proof, Route
from coherently.values import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.solve.lazy_table import WorldRows
    from coherently.solve.solution import ClusterForces, ClusterTree, SignTree

KEPT = 1e-9
"""The amount by which probabilities may miss their pins, summed over all pins."""


class Ended(Enum):
    """Why the work on a component ended."""

    PROVED = "the gap is at most the tolerance"
    ROUNDING = "rounding allows no more"
    TIME = "the time was over"
    INTERRUPTED = "it was interrupted"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Hints(Value):
    """Where the last bound of a component was proved, for whoever writes a proof of it.

    `x` has the probability of each event at which planes touch the losses, smoothed by a `mass`; `price` has one entry
    for each of the rows of pins. `forces` are those over clusters, and `tree` that over signs or clusters, where they
    prove the bound.
    """

    x: NDArray[np.float64]
    mass: float = 0.0
    price: NDArray[np.float64] | None = None
    forces: ClusterForces | None = None
    tree: SignTree | ClusterTree | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Answer(Value):
    """A mixture of worlds and what is known of it.

    `share` and `rows` are the mixture, one row per world; `x` has the probability of each event. `objective` is what
    it loses and `bound` a proved lower bound on what any coherent answer loses, which rests on `proof`. `violation` is
    the largest amount by which a pin is missed. `saved` is the Brier penalty that x saves at least in every world, and
    `shortfall` the most by which a world may lie below the plane at x; the one that does not apply is NaN.
    `degenerate` lists the conditionals whose condition is impossible or certain though no forecast or law says so.
    `hints` say where the bound was proved, unless that is at x; they do not travel as bytes.
    """

    share: NDArray[np.float64]
    rows: WorldRows
    x: NDArray[np.float64]
    objective: float
    bound: float
    route: Route
    proof: Proof
    ended: Ended
    violation: float
    saved: float
    shortfall: float
    degenerate: NDArray[np.int64]
    steps: int
    hints: Hints | None = None

    @property
    def worlds(self) -> NDArray[np.uint8]:
        """The worlds of the mixture, one row each."""
        return np.asarray(self.rows)

    @property
    def gap(self) -> float:
        """How much nearer coherent forecasts might be."""
        return self.objective - self.bound

    def to_bytes(self) -> bytes:
        """All of it, exactly: a line of JSON, and then the numbers of the arrays, one array after the other."""
        plain: dict[str, Any] = {}
        arrays = []
        for name in (field.name for field in fields(self) if field.name != "hints"):
            value = self.worlds if name == "rows" else getattr(self, name)
            if isinstance(value, np.ndarray):
                plain[name] = [value.dtype.str, value.shape]
                arrays.append(value.tobytes())
            else:
                plain[name] = value.name if isinstance(value, Enum) else value
        return b"\n".join([json.dumps(plain).encode(), b"".join(arrays)])

    @staticmethod
    def from_bytes(told: bytes) -> Answer:
        """The answer again."""
        line, _, rest = told.partition(b"\n")
        plain: dict[str, Any] = json.loads(line)
        start = 0
        for name, value in plain.items():
            if isinstance(value, list):
                kind, shape = np.dtype(value[0]), tuple(value[1])
                count = int(np.prod(shape))
                plain[name] = np.frombuffer(rest, kind, count, start).reshape(shape).copy()
                start += count * kind.itemsize
        facts = {"route": Route[plain["route"]], "proof": Proof[plain["proof"]], "ended": Ended[plain["ended"]]}
        return Answer(**(plain | facts))
