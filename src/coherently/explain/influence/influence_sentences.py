"""What moves a result, in the words of people: whole per cents, and points of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import counted
from coherently.explain.people_sentences import opened, percent
from coherently.panel.left_out import PartKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.explain.influence.influence_table import Influence, Left

LEAST = 0.005
"""A change of less than this, half a point, is none to people."""


def points(change: float) -> str:
    """The size of a change in points, with a digit where it is less than ten.

    >>> points(0.023), points(-0.01), points(0.16)
    ('2.3 points', '1 point', '16 points')
    """
    size = abs(100 * change)
    text = f"{size:.1f}".removesuffix(".0") if size < 9.95 else f"{size:.0f}"
    return f"{text} point{'' if text == '1' else 's'}"


def headline(table: Influence) -> Iterator[str]:
    """The most that a judge moves, the event that depends most on who is asked, and whether laws matter."""
    if len(table.left) == 1 and table.left[0].exact:
        yield without_sentence(table, table.left[0])
        return
    judges = [one for one in table.of_kind(PartKind.JUDGE) if not np.isnan(one.largest)]
    if len(judges) > 1:
        yield _most(judges, "judge")
        yield from _range(table, judges)
    questions = [one for one in table.of_kind(PartKind.EVENT) if one.largest >= LEAST]
    if questions:
        yield _moving(table, questions[0], "question")
    laws = table.of_kind(PartKind.LAW)
    if laws:
        yield _laws(table, laws)


def without_sentence(table: Influence, one: Left) -> str:
    """How many numbers something moves, and the most."""
    asked = int(np.count_nonzero(~np.isnan(one.change)))
    moving = int(np.count_nonzero(np.abs(np.nan_to_num(one.change)) >= LEAST))
    name, dropped = said(table, one), len(one.change) - asked
    then = f" About {counted(dropped, 'event')} nobody is asked then." if dropped else ""
    if not moving:
        return f"Without {name}, no number moves by half a point.{then}"
    numbers = "1 of 1 number moves" if asked == moving == 1 else f"{moving:,} of {asked:,} numbers move"
    return f"Without {name}, {numbers}, the most by {points(one.largest)}.{then}"


def _most(judges: list[Left], noun: str) -> str:
    largest = max(one.largest for one in judges)
    if largest < LEAST:
        return f"No single {noun} moves any number by half a point."
    return f"No single {noun} moves any number by more than {points(largest)}."


def _range(table: Influence, judges: list[Left]) -> Iterator[str]:
    """The event that depends most on one judge, and where it stays whoever is left out."""
    moved = np.array([one.moved for one in judges])
    spread = np.nan_to_num(np.abs(moved)).max(axis=0)
    event = int(np.argmax(spread))
    if spread[event] < LEAST:
        return
    at = table.probability[event] + np.append(moved[:, event][~np.isnan(moved[:, event])], 0.0)
    yield opened(
        f"{table.names[event]} ({percent(table.probability[event])}) stays between {percent(at.min())} and "
        f"{percent(at.max())} whoever is left out."
    )


def _moving(table: Influence, one: Left, noun: str) -> str:
    event = int(np.nanargmax(np.abs(one.moved)))
    return opened(
        f"the {noun} that moves most is {said(table, one)}: without it, {table.names[event]} is "
        f"{percent(table.probability[event] + one.moved[event])} instead of {percent(table.probability[event])}."
    )


def _laws(table: Influence, laws: tuple[Left, ...]) -> str:
    known = [one for one in laws if not np.isnan(one.largest)]
    moving = [one for one in known if one.largest >= LEAST]
    if moving:
        return _moving(table, moving[0], "law")
    if len(known) == len(laws):
        return "No law moves anything." if len(laws) > 1 else "The law moves nothing."
    return f"Of {counted(len(laws), 'law')}, {len(known):,} were left out, and none of these moves anything."


def said(table: Influence, one: Left) -> str:
    """What something that is left out is called."""
    if one.kind is PartKind.EVENT and one.name in table.events:
        return table.names[table.events.index(one.name)]
    return f"“{one.name}”" if one.kind is PartKind.LAW else one.name
