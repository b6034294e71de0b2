"""A large component of low treewidth: the whole problem over the cliques of a junction tree, solved at once.

If neighbouring cliques agree on the distribution of what they share, there is one distribution behind all of them
(Lauritzen and Spiegelhalter 1988). So the nearest forecasts are those of the relaxed problem over cliques. An interior
point method finds them in a few steps, each of which costs as much as there are cliques; a pin is one more group. What
is left is to name the worlds (see `glued_cliques`).

The bound does not depend on how x was found. With the gradient a of the convex objective f at x, and any forces e on
the coordinates of pins, every y that satisfies the pins has

    f(y) >= f(x) + <a, y - x> >= f(x) - <a, x> + min over worlds v of <a - e, v> + min over points p of pins of <e, p>.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import MethodError
from coherently.problem import NO_TERMS, States, attach, clique_tree
from coherently.problem.spaces.states import truths
from coherently.solve.component.answer import KEPT, Answer, Ended
from coherently.solve.component.glued_cliques import LEAST_SHARE, Clique, glue
from coherently.solve.component.newton.limits import pin_rows
from coherently.solve.component.newton.relaxed_aim import CLOSE, TermsOverGroups
from coherently.solve.component.planes import find_degenerate, savings, tangent
from coherently.solve.facts import Proof, Route
from coherently.solve.relaxed.certificate import least_on_rows
from coherently.solve.relaxed.interior import interior_point, minimise_relaxed
from coherently.solve.worlds.oracle import Oracle, rounding_of

if TYPE_CHECKING:
    from coherently.arrays import Indices, Truth, Vector
    from coherently.problem import Groups, Merged
    from coherently.solve.budget import Budget
    from coherently.solve.component.glued_cliques import Pieces
    from coherently.solve.component.objective import Objective

MOST_STATES, MOST_ROWS = 64, 128
"""Maximum number of states of a junction tree per event, and of truth vectors of a clique."""
MOST_BYTES = 2**29
"""Maximum size of the table of worlds."""


def solve_by_cliques(part: Merged, objective: Objective, budget: Budget) -> Answer | None:
    """The mixture that loses least, under pins.

    None if the cliques or the table of worlds are too large, if an event is in no clique, or if the pins are not met.
    """
    oracle = Oracle(part)
    largest = max((block.n_states for block in part.space.blocks), default=0)
    if largest > MOST_ROWS or oracle.grounds.cost > MOST_STATES * len(part):
        return None
    try:
        groups, whole = clique_tree(replace(part, terms=NO_TERMS))
    except MethodError:
        return None
    covered = np.bincount(groups.members, minlength=len(part))[: len(part)].all()
    if not covered or max(map(len, groups.patterns)) > MOST_ROWS:
        return None
    attached = attach(replace(part, terms=replace(NO_TERMS, limits=part.terms.limits)), groups)
    if objective.is_quadratic:
        inner = interior_point(attached.weight, attached.target, attached.groups, budget)
    else:
        inner = minimise_relaxed(TermsOverGroups(objective, attached.groups), attached.groups, budget, CLOSE)
    cliques = _cliques(groups, inner.mixture)
    glued = glue(cliques)
    sides = _sides(cliques, glued, len(part))
    violation = pin_rows(part.terms.limits, len(part)).violation(sides)
    ends = _ends(glued)
    if violation > KEPT or len(ends) * part.n_variables > MOST_BYTES:
        return None
    value, x = objective.value(sides), np.clip(sides[: len(part)], 0.0, 1.0)
    pins = _from(attached.groups, len(groups))
    bound = _bound(objective, sides, oracle, pins, forces=inner.forces[len(groups.members) :], budget=budget)
    proved = budget.is_enough(value - bound, value)
    plane = savings(objective, sides)
    saved = (
        plane.constant + oracle.least(plane.coefficients, budget).bound if objective.loss.is_quadratic else -math.inf
    )
    return Answer(
        share=np.diff(ends, prepend=0.0) / ends[-1],
        rows=_worlds(whole, cliques, glued, ends),
        x=x,
        objective=value,
        bound=min(value, bound),
        route=Route.JUNCTION_TREE,
        proof=Proof.ALL_WORLDS,
        ended=Ended.PROVED if proved else Ended.TIME if budget.is_over() else Ended.ROUNDING,
        violation=violation,
        saved=saved,
        shortfall=math.nan,
        degenerate=find_degenerate(part, x, oracle, budget),
        steps=inner.iterations,
    )


def _cliques(groups: Groups, mixture: Vector) -> list[Clique]:
    """The groups with their part of a mixture; others may follow."""
    members = [own.tolist() for own in np.split(groups.members, groups.starts[1:-1])]
    rows = [groups.patterns[number] for number in groups.pattern.tolist()]
    masses = np.split(mixture, np.cumsum([len(own) for own in rows]))[: len(rows)]
    return [Clique(own, table, mass.tolist()) for own, table, mass in zip(members, rows, masses, strict=True)]


def _sides(cliques: list[Clique], glued: list[Pieces], size: int) -> Vector:
    """The probabilities of the events, then of their complements, then of certainty."""
    sides = np.zeros(2 * size + 1)
    sides[-1] = 1.0
    for clique, pieces in zip(cliques, glued, strict=True):
        share = np.bincount(pieces.rows, np.diff(pieces.ends, prepend=0.0), len(clique.rows))
        at = np.array(clique.members)
        real = at < size
        sides[at[real]] = (share @ clique.rows)[real]
        sides[size + at[real]] = (share @ (1.0 - clique.rows))[real]
    return sides


def _ends(glued: list[Pieces]) -> Vector:
    """Where the worlds end: all cuts that are not the same up to rounding."""
    ends = np.unique(np.concatenate([pieces.ends for pieces in glued]))
    return ends[np.diff(ends, prepend=0.0) > LEAST_SHARE]


def _worlds(whole: Merged, cliques: list[Clique], glued: list[Pieces], ends: Vector) -> Truth:
    """The worlds between the cuts, one row each."""
    middle = ends - 0.5 * np.diff(ends, prepend=0.0)
    worlds = np.zeros((whole.n_variables, len(ends)), np.uint8)
    examples = _Fillings(whole)
    for clique, pieces in zip(cliques, glued, strict=True):
        variables, truth = examples.of(clique)
        cuts = np.searchsorted(middle, pieces.ends[:-1])
        count = np.diff(cuts, prepend=0, append=len(ends))
        worlds[variables] = np.repeat(truth[pieces.rows].T, count, axis=1)
    return np.ascontiguousarray(worlds.T)


class _Fillings:
    """States of variables that have the truth vectors of cliques."""

    def __init__(self, whole: Merged) -> None:
        self.whole, self.states = whole, States(whole.space, whole.n_variables)
        first = np.append(whole.functions.variables, -1)[whole.functions.starts[:-1]]
        self.single = np.where(whole.sizes() == 1, first, -1)
        self.known = set(self.single[self.single >= 0].tolist())

    def of(self, clique: Clique) -> tuple[Indices, Truth]:
        """The variables of a clique, and a state of these for each row."""
        single = self.single[clique.members]
        variables = np.unique(np.concatenate([self.whole.functions.of(i) for i in clique.members]))
        if self.known.issuperset(variables.tolist()):
            return single[single >= 0], clique.rows[:, single >= 0].astype(np.uint8)
        every = self.states.of(variables)
        truth = truths(self.whole, clique.members, every, variables)
        return variables, every[np.unique(truth, axis=0, return_index=True)[1]]


def _from(groups: Groups, first: int) -> Groups:
    """The groups from one on."""
    starts = groups.starts[first:]
    return replace(
        groups, starts=starts - starts[0], members=groups.members[starts[0] :], pattern=groups.pattern[first:]
    )


def _bound(objective: Objective, sides: Vector, oracle: Oracle, pins: Groups, forces: Vector, budget: Budget) -> float:
    """A lower bound on what any coherent forecasts that satisfy the pins lose, for any sides and forces on pins."""
    plane = tangent(objective, sides)
    rest = plane.coefficients - np.bincount(pins.members, forces, objective.size)
    least = oracle.least(rest, budget).bound + least_on_rows(pins, forces)
    return plane.bound(least) - rounding_of(forces, forces, rest)
