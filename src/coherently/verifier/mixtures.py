"""Evaluation of the worlds of a globally coherent result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coherently.verifier.distinct_events import CLOSE, first_homes
from coherently.verifier.enumeration import blocks
from coherently.verifier.nearness import ABSENT
from coherently.verifier.promises import Unchecked, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Mask, Vector
    from coherently.events import Choice
    from coherently.panel import Panel
    from coherently.verifier.distinct_events import Distinct


class WorldShares(Protocol):
    """Worlds of some variables, as `coherently.solve.Worlds`."""

    @property
    def weight(self) -> Vector:
        """The probability of each world."""

    @property
    def truth(self) -> Mask:
        """One row per world, one column per variable."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Support:
    """Independent parts of worlds in terms of the panel: the panel's variables behind each part's columns.

    `part_of` is the part of each distinct event; for a constant event the first one.
    """

    panel: Panel
    distinct: Distinct
    parts: Sequence[WorldShares]
    variables: list[Indices]
    part_of: Indices

    def probability(self, sides: NDArray[np.int32], part_of: Indices) -> Vector:
        """The probability of each side in the mixture of a part that has all its variables."""
        events, found = self.panel.events, np.zeros(len(sides))
        counts = np.array([len(part.weight) for part in self.parts], np.int64)
        for begin, end in blocks(counts, events.n_variables + len(sides)):
            worlds = np.zeros((end - begin, events.n_variables), np.bool_)
            weight = np.zeros((end - begin, len(self.parts)))
            for k in np.flatnonzero(counts > begin).tolist():
                rows = self.parts[k].truth[begin:end]
                worlds[: len(rows), self.variables[k]] = rows
                weight[: len(rows), k] = self.parts[k].weight[begin:end]
            mine = np.flatnonzero(counts[part_of] > begin)
            holds = events.evaluate(sides[mine], worlds)
            found[mine] += np.einsum("ij,ij->j", weight[:, part_of[mine]], holds)
        return found


def check_worlds(
    panel: Panel, parts: Sequence[WorldShares], names: Sequence[Sequence[str]], distinct: Distinct
) -> tuple[Support | None, list[str]]:
    """Match independent parts of worlds, whose variables have `names`, to the panel, and check its laws in them.

    Parts are unions of the panel's components, so that every declaration, law and pin that is about a variable of a
    part is checked in worlds that assign all its variables. Laws and pins that reach no forecast do not
    concern the result; that all laws can be obeyed together was checked when the panel was read.
    """
    problems = [problem for i, part in enumerate(parts) for problem in _check_part(i, part, len(names[i]))]
    number = {name: v for v, name in enumerate(panel.events.written_variables)}
    problems += [
        f"part {i} has a variable {name!r}, which is not in the panel"
        for i, own in enumerate(names)
        for name in own
        if name not in number
    ]
    if problems or not parts:
        return None, cut(problems or ["there are no worlds"])
    variables = [np.array([number[name] for name in own], np.int64) for own in names]
    part_of_variable, problems = _parts_of_variables(panel, variables, distinct)
    if problems:
        return None, cut(problems)
    part_of = np.zeros(len(distinct.side), np.int64)
    part_of[np.repeat(np.arange(len(part_of)), np.diff(distinct.starts))] = part_of_variable[distinct.variables]
    problems = check_possible(panel, parts, variables)
    return (
        (None, cut(problems))
        if problems
        else (Support(panel=panel, distinct=distinct, parts=parts, variables=variables, part_of=part_of), [])
    )


def check_mixture(support: Support, x: Vector, *, pooled: bool = False) -> tuple[list[str], list[Unchecked]]:
    """Check forecasts x of distinct events by the worlds: the problems, and what worlds do not determine.

    With a = P(E & H) and h = P(H) of the worlds, a forecast x of E given H must have |a - x h| <= CLOSE: a and h are
    sums of shares, of which methods leave out those of at most 1e-12, and are off by as much for each of up to 1,000
    worlds. Where h is at most ABSENT, the forecast may also stand as stated; where it is at most CLOSE, it must, unless
    the forecasts were `pooled` before: then worlds and panel do not determine x.
    """
    distinct, text = support.distinct, texts(support.panel, support.distinct)
    joint, given = probabilities(support)
    stands = (given <= ABSENT) & (np.abs(x - distinct.stated) <= CLOSE)
    silent = given <= (ABSENT if pooled else CLOSE)
    off = np.flatnonzero(~silent & ~(np.abs(joint - x * given) <= CLOSE) & ~stands)
    expected = np.divide(joint, given, out=x.copy(), where=given > 0)
    problems = [
        f"the probability of {text[i]!r} is not that of its worlds, by {abs(expected[i] - x[i]):.3g}"
        for i in off.tolist()
    ]
    unchecked = []
    if pooled:
        named = [text[i] for i in np.flatnonzero(silent).tolist()]
        left = cut([f"the probability of {one!r}: in the worlds, its condition has none" for one in named])
        unchecked = [Unchecked(("forecasts.probability",), one) for one in left]
    else:
        problems += [
            f"the probability of {text[i]!r}, whose condition has none in the worlds, is {x[i]:.12g}; the forecasts "
            f"stand at {distinct.stated[i]:.12g}"
            for i in np.flatnonzero(silent & ~stands).tolist()
        ]
    if any((distinct.home_of_variable[own] < 0).any() for own in support.variables):
        unchecked.append(Unchecked(("worlds",), "the worlds of variables that no forecast is connected to"))
    return cut(problems), unchecked


def probabilities(support: Support) -> tuple[Vector, Vector]:
    """The probabilities of each distinct event, with its condition, and of its condition in the worlds."""
    distinct = support.distinct
    joint, given = (support.probability(sides, support.part_of) for sides in (distinct.side, distinct.condition))
    return joint, given


def check_possible(panel: Panel, parts: Sequence[WorldShares], variables: Sequence[Indices]) -> list[str]:
    """Every world must obey the declarations and the laws about its variables."""
    events, laws = panel.events, panel.laws
    home = _homes(panel, variables)
    law_home = first_homes(panel, home, laws.side)
    problems = []
    for i, (part, own) in enumerate(zip(parts, variables, strict=True)):
        worlds = np.zeros((len(part.weight), len(home)), np.bool_)
        worlds[:, own] = part.truth
        mine = np.flatnonzero(law_home == i)
        broken = mine[~events.evaluate(laws.side[mine], worlds).all(axis=0)]
        problems += [f"a world of part {i} breaks the law {laws.text[law]!r}" for law in broken.tolist()]
    for choice in events.choices():
        i = int(home[choice.atoms[0]])
        if i >= 0:
            column = {v: k for k, v in enumerate(variables[i].tolist())}
            if not _obeys(choice, parts[i].truth[:, [column[v] for v in choice.atoms.tolist()]]):
                problems.append(f"a world of part {i} gives {choice.name!r} more or less than one value")
    return problems


def _homes(panel: Panel, variables: Sequence[Indices]) -> Indices:
    """The part that has each variable, -1 if none has."""
    home = np.full(len(panel.events.variables), -1, np.int64)
    for i, own in enumerate(variables):
        home[own] = i
    return home


def _obeys(choice: Choice, truth: Mask) -> bool:
    if choice.ordered:
        return bool((truth[:, 1:] >= truth[:, :-1]).all())
    count = truth.sum(axis=1)
    return bool((count == 1).all() if choice.complete else (count <= 1).all())


def check_pins(support: Support, admitted: float | None) -> list[str]:
    """The mixture must obey the pins about its variables, up to the violation that the result states.

    A pin low <= P(E given H) <= high is missed by the distance of P(E & H) from [low P(H), high P(H)].
    """
    panel, pins = support.panel, support.panel.laws.pins
    home = _homes(panel, support.variables)
    problems, worst = [], 0.0
    for i, text in enumerate(pins.text):
        sides = np.array([pins.event[i], pins.condition[i]], np.int32)
        homes = np.unique(home[panel.events.supports(sides // 2)[1]])
        if (homes < 0).any():
            continue
        joint, given = support.probability(sides, np.repeat(homes[:1] if len(homes) else [0], 2)).tolist()
        missed = max(pins.low[i] * given - joint, joint - pins.high[i] * given, 0.0)
        worst = max(worst, missed)
        if missed > (admitted or 0.0) + CLOSE:
            found = f"{joint / given:.9g}" if given > 0 else "that of an impossible condition"
            problems.append(f"the worlds break the pin {text!r}: the probability is {found}")
    if not problems and admitted is not None and abs(admitted - worst) > CLOSE:
        problems.append(f"the violation is {admitted:.12g}; the worlds miss the pins by {worst:.12g} at most")
    return cut(problems)


def _check_part(number: int, part: WorldShares, n_variables: int) -> list[str]:
    weight, truth = part.weight, part.truth
    if truth.shape != (len(weight), n_variables):
        return [f"part {number} has {len(weight)} weights of worlds over {n_variables} variables, not as many worlds"]
    if not (weight >= 0).all():
        return [f"part {number} has a world of the weight {weight.min():.12g}"]
    if not abs(weight.sum() - 1.0) <= CLOSE:
        return [f"the weights of part {number} sum to {weight.sum():.12g}, not to 1"]
    return []


def _parts_of_variables(panel: Panel, variables: Sequence[Indices], distinct: Distinct) -> tuple[Indices, list[str]]:
    """The part that has each variable (-1 if none has): at most one, with all the variables that are tied to it."""
    names = panel.events.variables
    members = np.concatenate([np.empty(0, np.int64), *variables])
    found = _homes(panel, variables)
    twice = np.flatnonzero(np.bincount(members, minlength=1) > 1)
    problems = [f"the variable {names[v]!r} is in several parts" for v in twice.tolist()]
    absent = np.flatnonzero((distinct.home_of_variable >= 0) & (found < 0))
    problems += [f"no part assigns the variable {names[v]!r}" for v in absent.tolist()]
    if problems:
        return found, problems
    order = np.argsort(distinct.tied, kind="stable")
    same = distinct.tied[order][1:] == distinct.tied[order][:-1]
    apart = np.flatnonzero(same & (found[order][1:] != found[order][:-1]))
    return found, [
        f"the variables {names[order[i]]!r} and {names[order[i + 1]]!r} are tied, by an event, a law, a declaration or "
        f"a pin, but not in one part"
        for i in apart.tolist()
    ]


def texts(panel: Panel, distinct: Distinct) -> dict[int, str]:
    """A text of each distinct event: the first written."""
    return dict(zip(distinct.home.tolist()[::-1], panel.written.text[::-1], strict=True))
