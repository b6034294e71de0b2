"""Whether events can all be true together: a world that shows it, a minimal conflict, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently.events.choices import Choice
    from coherently.events.event_table import Events


def find_world(
    events: Events,
    sides: NDArray[np.int32],
    choices: Sequence[Choice] | None = None,
    known: NDArray[np.int8] | None = None,
) -> NDArray[np.bool_] | None:
    """Give the truths of all variables in a world where all sides are true, or None if there is no such world.

    The world obeys `choices` (by default all of them) and agrees with the variables that are `known` (1 or 0; -1 is
    unknown).

    >>> from coherently.events import Events
    >>> events = Events()
    >>> _ = events.declare(["variable winner: Ann, Bob, ..."])
    >>> side = events.add(["winner = Ann", "p ^ winner = Ann", "p"]).event
    >>> find_world(events, side[:2]).tolist()
    [True, False]
    >>> find_world(events, side)
    """
    chosen = events.choices() if choices is None else choices
    free = np.full(events.n_variables, -1, np.int8) if known is None else known
    found = _core.satisfy(_functions(events, sides), _truths(sides), *_choice_arrays(chosen), free)
    return None if found is None else found.astype(np.bool_)


def _functions(events: Events, sides: NDArray[np.int32]) -> _core.Functions:
    return _core.Functions(events.n_variables, *events.supports(sides // 2), *events.tables(sides // 2))


def _truths(sides: NDArray[np.int32]) -> NDArray[np.uint8]:
    return np.asarray((sides & 1) == 0, np.uint8)


def _choice_arrays(
    choices: Sequence[Choice],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
    atoms = [choice.atoms for choice in choices]
    return (
        np.cumsum([0, *map(len, atoms)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *atoms]),
        np.array([choice.ordered for choice in choices], np.uint8),
        np.array([choice.complete for choice in choices], np.uint8),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Entailment:
    """What follows from facts.

    `possible` says whether some world has all the facts, None if that was not decided. `truth` has one entry per
    question: 1 or 0 if every such world agrees, OPEN if two worlds differ, and UNDECIDED; none if there is no world.
    """

    possible: bool | None
    truth: NDArray[np.int8]


OPEN, UNDECIDED = -1, -2
"""A question that facts do not answer, and one of which that was not decided."""

MAX_CONFLICTS = 20_000
"""The most dead ends that the search in a component runs into before it leaves its questions undecided.

It counts work and not seconds, so that every machine and every run decide the same.
"""


def entail(
    events: Events, facts: NDArray[np.int32], questions: NDArray[np.int32], max_conflicts: int = MAX_CONFLICTS
) -> Entailment:
    """Find what facts (sides that are true) say about questions (sides).

    >>> from coherently.events import Events
    >>> events = Events()
    >>> entail(events, events.add(["p | q", "p -> r", "q -> r"]).event, events.add(["r", "~r & s", "p"]).event)
    Entailment(possible=True, truth=array([ 1,  0, -1], dtype=int8))
    """
    starts, variables = events.supports(facts // 2)
    single = np.diff(starts) == 1
    known = np.full(events.n_variables, -1, np.int8)
    known[variables[starts[:-1][single]]] = _truths(facts[single])
    # Most outcomes are of single variables, and settle most of what is left to ask: these need no search. Facts that
    # they make true say nothing more; all others, and the single ones, which may contradict each other, are kept.
    kept = facts[single | (_settled(events, facts, known) != 1)]
    truth = _settled(events, questions, known)
    asking = np.flatnonzero(truth == OPEN)
    asked, place = np.unique(questions[asking] // 2, return_inverse=True)
    possible, answers = _core.entailed(
        _functions(events, kept),
        _truths(kept),
        _functions(events, 2 * asked),
        *_choice_arrays(events.choices()),
        max_conflicts,
    )
    if not possible and possible is not None:
        return Entailment(possible, answers)
    answer = answers[place]
    truth[asking] = np.where(answer < 0, answer, answer ^ (questions[asking] & 1))
    return Entailment(possible, truth)


def _settled(events: Events, sides: NDArray[np.int32], known: NDArray[np.int8]) -> NDArray[np.int8]:
    """The truth of each side whose variables are all known (1 or 0; -1 is unknown), and OPEN for the others."""
    starts, variables = events.supports(sides // 2)
    unknown = np.concatenate([[0], np.cumsum(known[variables] < 0)])
    settled = unknown[starts[1:]] == unknown[starts[:-1]]
    truth = np.full(len(sides), OPEN, np.int8)
    truth[settled] = events.evaluate(sides[settled], (known == 1)[np.newaxis])[0]
    return truth


def find_conflict(
    events: Events, sides: NDArray[np.int32], statements: NDArray[np.integer] | None = None
) -> tuple[int, ...] | None:
    """Find a minimal conflict: sides, by index, that are true together in no world, while any fewer of them are in one.

    Returns None if all sides are true together in some world. `statements` may give each side the number of its
    statement; the conflict is then of whole statements, by their numbers.

    >>> from coherently.events import Events
    >>> events = Events()
    >>> find_conflict(events, events.add(["p -> q", "r", "p", "q -> ~p"]).event)
    (0, 2, 3)
    """
    if find_world(events, sides) is not None:
        return None
    choices = events.choices()
    sides_of: dict[int, list[int]] = {}
    for index, statement in enumerate(range(len(sides)) if statements is None else statements.tolist()):
        sides_of.setdefault(statement, []).append(index)

    def possible(kept: Sequence[int]) -> bool:
        indices = [index for statement in kept for index in sides_of[statement]]
        return find_world(events, sides[indices], choices) is not None

    parts = _components(events, sides, choices)
    members = next(part for part in parts if find_world(events, sides[part], choices) is None)
    if statements is not None:
        members = list(dict.fromkeys(statements[members].tolist()))
    # Long stretches are left out first, then shorter and shorter ones.
    stretch = len(members)
    while stretch > 1:
        stretch = (stretch + 1) // 2
        at = 0
        while at < len(members):
            fewer = members[:at] + members[at + stretch :]
            if possible(fewer):
                at += stretch
            else:
                members = fewer
    return tuple(members)


def _components(events: Events, sides: NDArray[np.int32], choices: Sequence[Choice]) -> list[list[int]]:
    """Group the sides, by index, that share variables, directly or through others."""
    starts, variables = events.supports(sides // 2)
    rows = [variables[begin:end] for begin, end in pairwise(starts.tolist())]
    rows += [choice.atoms for choice in choices]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    label = _core.connected_rows(ends, np.concatenate([np.empty(0, np.int32), *rows]), events.n_variables)
    parts: dict[int, list[int]] = {}
    for row, number in enumerate(label[: len(sides)].tolist()):
        parts.setdefault(number, []).append(row)
    return list(parts.values())
