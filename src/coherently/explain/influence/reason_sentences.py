"""Why an event has its probability, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coherently.explain.influence.influence_sentences import LEAST, points
from coherently.explain.people_sentences import opened, percent
from coherently.panel.left_out import PartKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.explain.influence.reasons import Pull, Why

SHOWN = 3
"""Maximum number of judges, of questions and of relations that sentences name."""


def told(why: Why) -> Iterator[str]:
    """What moved the event from the mean of its forecasts, and who holds it there."""
    yield _beginning(why)
    yield from why.relations[:SHOWN]
    questions, laws = why.of_kind(PartKind.EVENT), why.of_kind(PartKind.LAW)
    yield from (_question(why, one) for one in _large(questions))
    yield from (_without(why, f"the law “{one.name}”", one) for one in _large(laws))
    judges = why.of_kind(PartKind.JUDGE)
    yield from (_judge(why, one) for one in _large(judges))
    if len(judges) > 1 and not _large(judges):
        yield "No judge moves it by half a point."


def _beginning(why: Why) -> str:
    name, now = why.name, percent(why.probability)
    if np.isnan(why.raw):
        return opened(f"{name} is {now}; nobody forecast it with any weight.")
    if abs(why.adjustment) < LEAST:
        return opened(f"{name} is {now}, the mean of its forecasts: nothing else moves it.")
    way = "raised" if why.adjustment > 0 else "lowered"
    return opened(
        f"{name} is {now}. The mean of its forecasts is {percent(why.raw)}; "
        f"what it is tied to {way} it by {points(why.adjustment)}."
    )


def _large(pulls: tuple[Pull, ...]) -> list[Pull]:
    return [one for one in pulls if abs(one.change) >= LEAST][:SHOWN]


def _without(why: Why, name: str, one: Pull, at: str = "") -> str:
    about = "" if one.exact else "about "
    return f"Without {name}{at} it would be {about}{percent(why.probability + one.change)}."


def _question(why: Why, one: Pull) -> str:
    return _without(why, f"the answers on {one.spoken}", one, f" (mean {percent(one.said)})")


def _judge(why: Why, one: Pull) -> str:
    begin = _without(why, one.name, one)
    if np.isnan(one.said):
        return f"{begin} {one.name} did not forecast it; it moves because {one.name}'s other forecasts do."
    if np.isnan(one.others):
        return f"{begin} {one.name} said {percent(one.said)}, and nobody else forecast it."
    return f"{begin} {one.name} said {percent(one.said)}, the mean of the others is {percent(one.others)}."
