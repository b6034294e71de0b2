"""The worlds of a globally coherent result, evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.enumeration import mixed
from coherently.certify.nearness import CLOSE
from coherently.certify.promises import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.certify.enumeration import Part
    from coherently.certify.merging import Distinct
    from coherently.events import Choice
    from coherently.panel import Panel


def check_worlds(
    panel: Panel,
    parts: Sequence[Part],
    names: Sequence[Sequence[str]],
    distinct: Distinct,
    x: NDArray[np.float64],
    promised: NDArray[np.bool_],
) -> list[str]:
    """Hold forecasts x of distinct events against the worlds of independent parts, whose variables have `names`.

    `promised` says of which events worlds must give the probability.
    """
    problems = [problem for i, part in enumerate(parts) for problem in _check_part(i, part, len(names[i]))]
    number = {name: v for v, name in enumerate(panel.events.written_variables)}
    problems += [
        f"part {i} has a variable {name!r}, which the panel has not"
        for i, own in enumerate(names)
        for name in own
        if name not in number
    ]
    if problems:
        return cut(problems)
    variables = [np.array([number[name] for name in own], np.int64) for own in names]
    part_of, problems = _parts_of_events(panel, variables, distinct, promised)
    if problems:
        return cut(problems)
    broken = check_possible(panel, parts, variables)
    if broken:
        return cut(broken)
    told = np.flatnonzero(part_of >= 0)
    mixture = mixed(panel.events, distinct.side[told], part_of[told], parts, variables)
    given = mixed(panel.events, distinct.condition[told], part_of[told], parts, variables)
    expected = np.divide(mixture, given, out=x[told].copy(), where=given > 0)
    off = np.flatnonzero(~(np.abs(mixture - x[told] * given) <= CLOSE))
    text = _texts(panel, distinct)
    problems = [
        f"the probability of {text[told[i]]!r} is not that of its worlds, by {abs(expected[i] - x[told[i]]):.3g}"
        for i in off.tolist()
    ]
    return cut(problems + check_pins(panel, parts, variables))


def conditions(
    panel: Panel, parts: Sequence[Part], names: Sequence[Sequence[str]], distinct: Distinct
) -> NDArray[np.float64]:
    """The probability of the condition of each distinct event in the worlds; NaN where they do not tell it."""
    number = {name: v for v, name in enumerate(panel.events.written_variables)}
    variables = [np.array([number.get(name, -1) for name in own], np.int64) for own in names]
    if any((own < 0).any() for own in variables):
        return np.full(len(distinct.side), np.nan)
    part_of, problems = _parts_of_events(panel, variables, distinct, np.zeros(len(distinct.side), np.bool_))
    found = np.full(len(distinct.side), np.nan)
    told = np.flatnonzero(part_of >= 0) if not problems else np.empty(0, np.int64)
    found[told] = mixed(panel.events, distinct.condition[told], part_of[told], parts, variables)
    return found


def check_possible(panel: Panel, parts: Sequence[Part], variables: Sequence[NDArray[np.int64]]) -> list[str]:
    """Every world must obey the declarations and the laws about its variables."""
    problems = []
    starts, members = panel.events.supports(panel.laws.side // 2)
    for i, (part, own) in enumerate(zip(parts, variables, strict=True)):
        worlds = np.zeros((len(part.weight), len(panel.events.variables)), np.bool_)
        worlds[:, own] = part.truth
        laws = np.unique(np.repeat(np.arange(len(panel.laws)), np.diff(starts))[np.isin(members, own)])
        holds = panel.events.evaluate(panel.laws.side[laws], worlds)
        problems += [
            f"a world of part {i} breaks the law {panel.laws.text[law]!r}" for law in laws[~holds.all(axis=0)].tolist()
        ]
        for choice in panel.events.choices():
            if np.isin(choice.atoms, own).all() and not _obeys(choice, worlds[:, choice.atoms]):
                problems.append(f"a world of part {i} gives {choice.name!r} more or less than one value")
    return problems


def _obeys(choice: Choice, truth: NDArray[np.bool_]) -> bool:
    if choice.ordered:
        return bool((truth[:, 1:] >= truth[:, :-1]).all())
    count = truth.sum(axis=1)
    return bool((count == 1).all() if choice.complete else (count <= 1).all())


def check_pins(panel: Panel, parts: Sequence[Part], variables: Sequence[NDArray[np.int64]]) -> list[str]:
    """The mixture must obey the pins about its variables."""
    pins = panel.laws.pins
    home = np.full(len(panel.events.variables), -1, np.int64)
    for i, own in enumerate(variables):
        home[own] = i
    problems = []
    for i, text in enumerate(pins.text):
        sides = np.array([pins.event[i], pins.condition[i]], np.int32)
        homes = np.unique(home[panel.events.supports(sides // 2)[1]])
        if len(homes) != 1 or homes[0] < 0:
            continue
        joint, given = mixed(panel.events, sides, np.repeat(homes, 2), parts, variables)
        if not pins.low[i] * given - CLOSE <= joint <= pins.high[i] * given + CLOSE:
            problems.append(f"the worlds break the pin {text!r}: the probability is {joint / given:.9g}")
    return problems


def _check_part(number: int, part: Part, n_variables: int) -> list[str]:
    weight, truth = part.weight, part.truth
    if truth.shape != (len(weight), n_variables):
        return [f"part {number} has {len(weight)} weights of worlds over {n_variables} variables, not as many worlds"]
    if not (weight >= 0).all():
        return [f"part {number} has a world of the weight {weight.min():.12g}"]
    if abs(weight.sum() - 1.0) > CLOSE:
        return [f"the weights of part {number} sum to {weight.sum():.12g}, not to 1"]
    return []


def _parts_of_events(
    panel: Panel, variables: Sequence[NDArray[np.int64]], distinct: Distinct, promised: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[str]]:
    """The part that has the variables of each event (-1 where none has); of a constant event, the first."""
    names = panel.events.variables
    members = np.concatenate([np.empty(0, np.int64), *variables])
    twice = np.flatnonzero(np.bincount(members, minlength=1) > 1)
    if len(twice):
        return np.empty(0, np.int64), [f"the variable {names[v]!r} is in several parts" for v in twice.tolist()]
    part_of_variable = np.full(len(names), -1, np.int64)
    part_of_variable[members] = np.repeat(np.arange(len(variables)), [len(own) for own in variables])
    owner = np.repeat(np.arange(len(distinct.side)), np.diff(distinct.starts))
    found = part_of_variable[distinct.variables]
    absent = np.unique(distinct.variables[(found < 0) & promised[owner]])
    if len(absent):
        return np.empty(0, np.int64), [f"no part assigns the variable {names[v]!r}" for v in absent.tolist()]
    part_of = np.zeros(len(distinct.side), np.int64)
    part_of[owner] = found
    split = np.unique(owner[found != part_of[owner]])
    text = _texts(panel, distinct)
    return part_of, [f"the variables of {text[i]!r} are in several parts" for i in split.tolist()]


def _texts(panel: Panel, distinct: Distinct) -> dict[int, str]:
    """A text of each distinct event: the first written."""
    texts = zip(distinct.home.tolist()[::-1], panel.written.text[::-1], strict=True)
    return dict(texts)
