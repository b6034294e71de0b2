"""What a method is and what it answers."""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from coherently.solve.facts import Coherence, Status
from coherently.solve.lazy_tuple import LazyTuple
from coherently.values import Value
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.problem import Merged, Problem
    from coherently.problem.groups.simple import Groups
    from coherently.solve.budget import Budget
    from coherently.solve.facts import Proof, Route


@dataclass(frozen=True, slots=True, eq=False)
class Trace(Value):
    """One entry per sweep, the start included: the answer for each event as written, and its quality."""

    value: NDArray[np.float64]
    objective: NDArray[np.float64]
    violation: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Worlds(Value):
    """Distinct worlds of some variables and their probabilities: `weight` sums to 1.

    `truth` has one row per world and one column for each of the `variables`, which are numbered as in
    `coherently.problem.Merged.variables`.
    """

    variables: NDArray[np.int32]
    weight: NDArray[np.float64]
    truth: NDArray[np.bool_]


class LazyWorlds(LazyTuple[Worlds]):
    """Worlds of parts that are made on demand: their `variables`, and the `probability` of each coordinate."""

    __slots__ = ("probability", "variables")

    def __init__(
        self,
        count: int,
        make: Callable[[int], Worlds],
        *,
        variables: NDArray[np.int32],
        probability: NDArray[np.float64],
    ) -> None:
        super().__init__(count, make)
        self.variables, self.probability = variables, probability


@dataclass(frozen=True, slots=True)
class Component(Viewed):
    """How a connected component of the problem was solved, and on what its bound rests.

    `conflict` is that of the evidence, to six digits, where evidence was combined.
    """

    variables: int
    events: int
    coherence: Coherence
    route: Route
    proof: Proof
    objective: float
    lower_bound: float
    conflict: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Value):
    """What every answer has: `value` is a probability for each event as written (NaN where nothing is known).

    It is one of `Averages`, `Local` and `Global`. `objective` is the weighted squared distance from the merged
    forecasts and `lower_bound` a valid bound on the least such distance. `conditionals` says what conditional forecasts
    lose in the objective: "called_off" (their loss where the condition holds), "linearised" (the square of
    P(E & H) - p P(H)) or "ratio" (the square of P(E & H) / P(H) - p). What a method does not know is None. `components`
    are listed if the method solves them separately; `note` says what a reader should know about the answer.
    """

    coherence: ClassVar[Coherence]

    value: NDArray[np.float64]
    status: Status
    _: KW_ONLY
    objective: float | None = None
    lower_bound: float | None = None
    guaranteed_improvement: float | None = None
    conditionals: str | None = None
    components: Sequence[Component] = ()
    note: str | None = None

    @property
    def sentence(self) -> str:
        """How the method ended, in words; a global answer is not about groups."""
        if self.status is Status.CONVERGED and self.coherence is Coherence.GLOBAL:
            return "The method converged: these are its forecasts."
        return self.status.sentence

    def in_weights(self, unit: float) -> Self:
        """The same with sums of weights multiplied by the unit that weights were divided by."""
        if unit == 1:
            return self

        def told(of: object, *names: str) -> dict[str, Any]:
            known = {name: value for name in names if (value := getattr(of, name)) is not None}
            return {name: min(value * unit, sys.float_info.max) for name, value in known.items()}

        known = self.components

        def component(i: int) -> Component:
            return replace(known[i], **told(known[i], "objective", "lower_bound"))

        components = LazyTuple(len(known), component)
        sums = told(self, "objective", "lower_bound", "guaranteed_improvement")
        if isinstance(self, Local) and self.trace:
            sums["trace"] = replace(self.trace, objective=self.trace.objective * unit)
        if isinstance(self, Global) and self.hints is not None:
            sums["hints"] = replace(self.hints, unit=unit)
        return replace(self, components=components, **sums)


@dataclass(frozen=True, slots=True, eq=False)
class Averages(Solution):
    """Each event averaged on its own."""

    coherence = Coherence.NONE


@dataclass(frozen=True, slots=True, eq=False)
class Local(Solution):
    """An answer that is coherent within groups of events, of the design `groups`.

    `violation` is the largest distance of a probability from its group's coherent set after so many `sweeps`.
    """

    coherence = Coherence.LOCAL

    _: KW_ONLY
    groups: str
    sweeps: int
    violation: float
    trace: Trace | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusterForces(Value):
    """What proves a bound over clusters: forces, one per membership, and where planes touch the losses.

    `whole` has the coordinates that clusters share, the component's events first; `x` has one entry for each of them.
    """

    groups: Groups
    whole: Merged
    x: NDArray[np.float64]
    forces: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SignTree(Value):
    """What proves a bound by branching over signs: the bytes of a `tree` as the checker reads it, without its forms.

    Form i belongs at the byte `places[i]`; its variables are those that are 0 in row i of `fixed`, and `y` has the
    diagonals one after the other. `fines` are what broken laws cost: two variables (the second -1 if there is one), a
    table and an amount. Variables are those of `origin`; an energy of 1 is a loss of `scale`, and `size` is the sum
    of all coefficients of the energy, without their signs.
    """

    tree: bytes
    places: NDArray[np.int64]
    fixed: NDArray[np.int8]
    y: NDArray[np.float64]
    fines: tuple[tuple[int, int, int, float], ...]
    origin: NDArray[np.int32]
    scale: float
    size: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusterTree(Value):
    """What proves a bound by branching over clusters: a tree in preorder, as flat arrays.

    Each row of `branches` has the node that the branch splits into its states (-1 for a leaf of messages, -2 for one of
    an elimination), and the numbers of binary digits by which messages are shifted, of messages, and of nodes of its
    order. Each row of `messages` has the cluster that it is taken from and the one that it is added to, and the numbers
    of nodes and of values. `orders`, `nodes` and `values` have all of these, one after the other, and `clusters` the
    nodes of the clusters, of these `sizes`.

    A node is some variables and their joint `states`, one row each; variables are those of `origin`. A value of 1 is
    a loss of `scale`.
    """

    sizes: NDArray[np.int32]
    clusters: NDArray[np.int32]
    branches: NDArray[np.int64]
    orders: NDArray[np.int32]
    messages: NDArray[np.int32]
    nodes: NDArray[np.int32]
    values: NDArray[np.int64]
    states: tuple[tuple[NDArray[np.int32], NDArray[np.uint8]], ...]
    origin: NDArray[np.int32]
    scale: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoundHints(Value):
    """Where the bounds of all components were proved, in the coordinates of the problem.

    `x` is the probability of each coordinate at which planes touch the losses, `mass` what smooths them there, `price`
    the price of each pin by its number in the panel, `forces` are those over clusters, whose variables come from
    the problem, and `trees` those over signs or clusters. Prices, forces and scales of trees are in units of weight of
    `unit`.
    """

    x: NDArray[np.float64]
    mass: NDArray[np.float64]
    price: dict[int, float]
    forces: tuple[ClusterForces, ...]
    trees: tuple[SignTree | ClusterTree, ...] = ()
    unit: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Global(Solution):
    """A coherent answer with the `worlds` that it is made of, for each independent part of the problem.

    `violation` is how far a pin is missed. `degenerate` lists those conditionals, of the terms of the merged problem,
    whose condition has the probability 0 or 1 though no forecast, law or pin says so, and `standing` those whose
    condition counts as impossible, so that they stand as stated. `hints` are kept if somebody wants a proof.
    """

    coherence = Coherence.GLOBAL

    _: KW_ONLY
    worlds: Sequence[Worlds]
    violation: float | None = None
    degenerate: tuple[int, ...] = ()
    standing: tuple[int, ...] = ()
    hints: BoundHints | None = None

    def assigned(self) -> NDArray[np.int32]:
        """The variables that the worlds assign."""
        if isinstance(self.worlds, LazyWorlds):
            return self.worlds.variables
        return np.concatenate([np.empty(0, np.int32), *(part.variables for part in self.worlds)])


def promised(improvement: float) -> float | None:
    """A guaranteed improvement as it is reported: None if there may be a loss."""
    return improvement if improvement >= 0 else None


@runtime_checkable
class Method(Protocol):
    """A method of aggregation: a frozen object that holds its options."""

    @property
    def name(self) -> str:
        """Its name on the command line and in results."""

    def solve(self, problem: Problem, budget: Budget | None = None) -> Solution:
        """Answer the problem; if the budget is over, with the answer so far."""
