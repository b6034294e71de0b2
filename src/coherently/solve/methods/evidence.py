"""Dempster-Shafer: forecasts as evidence for and against events, combined over sets of worlds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from coherently.errors import SHOWN, MethodError, counted
from coherently.problem import split
from coherently.problem.spaces.enumerated import multiplicity, possible_worlds
from coherently.solve.budget import Budget
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from coherently.solve.measure import distance
from coherently.solve.solution import Component, Global, Worlds
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Mask, Vector
    from coherently.problem import Merged, Part, Problem

    _Combined: TypeAlias = "tuple[Mask, Vector, float]"

LARGEST_FRAME = 1024
"""Maximum number of worlds of a component: its frame."""
MOST_SETS = 100_000
"""Maximum number of sets of worlds with mass."""
CHUNK = 4096
"""Number of sets whose members are unpacked at a time."""


@dataclass(frozen=True, slots=True)
class DempsterShafer(Viewed):
    r"""Treats each forecast as evidence, combines it by Dempster's rule and answers with pignistic probabilities.

    A forecast p of E with reliability r puts the mass r p on E, r (1 - p) on ~E, and leaves the rest open. The rule is

    $$m(A) = \frac{1}{1 - K} \sum_{B \cap C = A} m_1(B) m_2(C), \quad K = \sum_{B \cap C = \emptyset} m_1(B) m_2(C)$$

    over sets of worlds of each independent component; abstaining is no evidence. What is left open is then shared
    equally among the worlds of each set, which makes the answer globally coherent. The conflict K is in `result.note`.
    Agreeing forecasts add up: the answer is more certain than each. Forecasts are assumed to be independent.

    `reliability` is a number from 0 to 1, or one for each judge. It is multiplied by a forecast's weight, relative to
    the largest in the panel. A declared variable has all of its values, mentioned or not, and the unnamed other of an
    open declaration; of a number or a date, each cell between thresholds is one value. Components have up to 1,024
    possible worlds that events tell apart and 100,000 sets of them.

    Shafer (1976), A mathematical theory of evidence; Smets and Kennes (1994), The transferable belief model.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Bob", "p", 0.8), ("Bob", "p & q", 0.5)])
    >>> result = co.aggregate(panel, co.DempsterShafer(reliability=0.8))
    >>> round(result.probability("p"), 4), round(result.probability("p & q"), 4), result.coherence
    (0.9099, 0.462, 'global')
    >>> result.note
    'Conflict between the forecasts (K): 0.24064.'
    """

    name: ClassVar[str] = "dempster-shafer"
    # Evidence is about events only, adds up where it agrees, and weights are shares of the reliability.
    exceptions: ClassVar[frozenset[Promise]] = frozenset(
        {Promise.TAKES_MORE, Promise.KEEPS_COHERENT, Promise.ADDS_WEIGHTS}
    )

    reliability: float | Mapping[str, float] = 0.8

    def __post_init__(self) -> None:
        given = self.reliability if isinstance(self.reliability, Mapping) else {"reliability": self.reliability}
        for name, value in given.items():
            if not 0 <= value <= 1:
                raise MethodError(f"the reliability of {name} is {value}; it must be a number from 0 to 1")

    def solve(self, problem: Problem, budget: Budget | None = None) -> Global:
        """Combine the evidence of each component."""
        if problem.conditional.any():
            raise MethodError("a conditional forecast is evidence about no set of worlds; use the method linear")
        if len(problem.merged.terms):
            raise MethodError("dempster-shafer takes numbers for events, no intervals and no P(...) in laws")
        evidence = _evidence(problem, self._reliabilities(problem))
        parts, x = split(problem.merged), np.empty(len(problem.merged))
        combined, left = _combine_all(parts, evidence, budget or Budget())
        worlds, components = [], []
        for part, (truth, weight, open_share) in zip(parts, combined, strict=True):
            kept = weight > 0
            worlds.append(Worlds(part.merged.origin, weight[kept], truth[kept]))
            x[part.coordinates] = np.clip(weight @ part.merged.functions.hold(truth), 0.0, 1.0)
            components.append(_described(part.merged, x[part.coordinates], 1.0 - open_share))
        return Global(
            problem.as_written(x),
            Status.INTERRUPTED if left else Status.CONVERGED,
            objective=distance(problem, x),
            worlds=tuple(worlds),
            components=tuple(components),
            note=_note([component.conflict or 0.0 for component in components], left),
        )

    def _reliabilities(self, problem: Problem) -> Vector:
        """The reliability of each forecast."""
        given = problem.forecasts
        if isinstance(self.reliability, Mapping):
            absent = [name for name in given.judges if name not in self.reliability]
            if absent:
                raise MethodError(f"there is no reliability for {', '.join(absent[:SHOWN])}: give one for each judge")
            own = np.array([float(self.reliability[name]) for name in given.judges])[given.judge]
        else:
            own = np.full(len(given), float(self.reliability))
        heaviest = float(given.weight.max(initial=0.0))
        return own * (given.weight / heaviest) if heaviest > 0 else np.zeros(len(own))


def combine(first: Mapping[int, float], second: Mapping[int, float]) -> tuple[dict[int, float], float]:
    """Combine masses on sets (one bit per element) by Dempster's rule; the second number is the conflict K.

    Zadeh's example: two who agree on nothing but a remote possibility make it certain.

    >>> a, b, c = 1, 2, 4
    >>> combined, conflict = combine({a: 0.99, b: 0.01}, {c: 0.99, b: 0.01})
    >>> {s: round(m, 12) for s, m in combined.items()}, round(conflict, 12)
    ({2: 1.0}, 0.9999)
    """
    found: dict[int, float] = {}
    conflict = 0.0
    for one, mass in first.items():
        for other, more in second.items():
            both = one & other
            if both:
                found[both] = found.get(both, 0.0) + mass * more
            else:
                conflict += mass * more
    total = math.fsum(found.values())
    if not total > 0.0:
        raise MethodError(
            "the forecasts are in total conflict: some are certain of what others exclude, and Dempster's rule has no "
            "answer; give a reliability below 1"
        )
    return {both: mass / total for both, mass in found.items() if mass > 0.0}, conflict


def pignistic(masses: Mapping[int, float], counts: Vector) -> Vector:
    """Share the mass of each set equally among what its elements stand for: `counts` worlds each.

    >>> pignistic({0b01: 0.5, 0b11: 0.5}, np.array([1.0, 1.0])).tolist()
    [0.75, 0.25]
    >>> pignistic({0b11: 1.0}, np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    size = len(counts)
    probability, length = np.zeros(size), -(-size // 8)
    sets, mass = list(masses), np.fromiter(masses.values(), np.float64, len(masses))
    for start in range(0, len(sets), CHUNK):
        octets = b"".join(chosen.to_bytes(length, "little") for chosen in sets[start : start + CHUNK])
        rows = np.frombuffer(octets, np.uint8).reshape(-1, length)
        members = np.unpackbits(rows, axis=1, count=size, bitorder="little") * counts
        probability += (mass[start : start + CHUNK] / members.sum(axis=1)) @ members
    shared: Vector = probability / probability.sum()
    return shared


def _evidence(problem: Problem, reliability: Vector) -> Vector:
    """Combine all evidence about each coordinate: one row of logarithms of the mass for it, against it and open.

    The commonalities, of E with what is open and so on, are products over the forecasts. They are not normalised: 1
    minus the sum of the masses is the conflict.
    """
    own, count, p = problem.coordinate[problem.forecasts.unit], len(problem.merged), problem.turned()
    with np.errstate(divide="ignore"):
        shared = [np.log(share) for share in (1.0 - reliability * (1.0 - p), 1.0 - reliability * p, 1.0 - reliability)]
    return np.stack([np.bincount(own, log, count) for log in shared], axis=1)


def _combine_all(parts: Sequence[Part], evidence: Vector, budget: Budget) -> tuple[list[_Combined], int]:
    """The worlds of each component, and the number of components whose evidence a stop left out."""
    found: list[_Combined] = []
    for part in parts:
        one = _component(part.merged, evidence[part.coordinates], budget)
        if budget.is_stopped:
            break
        found.append(one)
        budget.tell(len(found) / len(parts))
    left = parts[len(found) :]
    return found + [_component(part.merged, np.zeros((0, 3)), budget) for part in left], len(left)


def _component(merged: Merged, evidence: Vector, budget: Budget) -> _Combined:
    """The frame of worlds, their probabilities, and 1 - K, by the evidence until a stop."""
    truth = _frame(merged)
    every = (1 << len(truth)) - 1
    events = np.packbits(merged.functions.hold(truth), axis=0, bitorder="little")
    masses, log_open = {every: 1.0}, 0.0
    for column, (for_it, against, open_) in zip(events.T, evidence.tolist(), strict=False):
        if budget.is_stopped:
            break
        event = int.from_bytes(column.tobytes(), "little")
        top = max(for_it, against)
        if top == -math.inf:
            combine({1: 1.0}, {2: 1.0})
        left = math.exp(open_ - top)
        pair = {event: math.exp(for_it - top) - left, every ^ event: math.exp(against - top) - left}
        total = math.fsum(pair.values()) + left
        opinion = {chosen: mass / total for chosen, mass in pair.items() if mass > 0.0}
        opinion[every] = opinion.get(every, 0.0) + left / total
        masses, conflict = combine(masses, opinion)
        log_open += top + math.log(total) + math.log1p(-min(conflict, 1.0 - 1e-16))
        if len(masses) > MOST_SETS:
            raise MethodError(
                f"the evidence about a component of {len(merged):,} events is spread over more than {MOST_SETS:,} sets "
                f"of worlds, the most that dempster-shafer takes; use another method, or fewer events"
            )
    return truth, pignistic(masses, multiplicity(merged, truth)), math.exp(log_open)


def _frame(merged: Merged) -> Mask:
    """The possible worlds of a component, one row each."""
    worlds = possible_worlds(merged, 64 * LARGEST_FRAME)
    if worlds is None or len(worlds) > LARGEST_FRAME:
        found = "too many" if worlds is None else f"{len(worlds):,}"
        raise MethodError(
            f"a component of {merged.n_variables:,} variables has {found} possible worlds; dempster-shafer takes up to "
            f"{LARGEST_FRAME:,}: use another method"
        )
    return worlds


def _described(merged: Merged, x: Vector, conflict: float) -> Component:
    weighty = merged.weight > 0
    far = float(np.sum(merged.weight[weighty] * (x - merged.mean)[weighty] ** 2))
    return Component(
        variables=merged.n_variables,
        events=len(merged),
        coherence=Coherence.GLOBAL,
        route=Route.DEMPSTER,
        proof=Proof.NOT_NEGATIVE,
        objective=far,
        lower_bound=0.0,
        conflict=float(f"{conflict:.6g}"),
    )


def _note(conflicts: list[float], left: int) -> str:
    if left:
        of = counted(len(conflicts), "component")
        return f"The evidence about {left:,} of {of} was left out: all worlds count alike there."
    if len(conflicts) == 1:
        return f"Conflict between the forecasts (K): {conflicts[0]:.6g}."
    worst = max(conflicts, default=0.0)
    return f"Conflict between the forecasts (K): up to {worst:.6g}, the most of {counted(len(conflicts), 'component')}."
