"""Whether the questions of a panel ask the same thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.web.catalogue import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.web.shapes.panel_shapes import QuestionView

SHOWN = 3
"""Maximum number of pairs that the sentence names."""


def summarise(questions: Sequence[QuestionView], laws: Sequence[str]) -> str:
    """One sentence: nothing is asked twice, or which questions are the same."""
    from coherently.panel import Panel

    asked = [(event.event, each.number) for each in questions for event in each.events]
    declared = [each.declaration for each in questions if each.declaration]
    try:
        panel = Panel.from_records([("somebody", text, 0.5) for text, _ in asked], laws=[*declared, *laws])
    except CoherentlyError:
        return ""
    first: dict[int, int] = {}
    pairs = []
    for event, (_, number) in zip(panel.event_index.tolist(), asked, strict=True):
        if event in first:
            pairs.append(plain("questions.twice.pair", first=first[event], second=number))
        first.setdefault(event, number)
    if not pairs:
        return plain("questions.once")
    words = ", ".join(pairs[:SHOWN])
    return plain("questions.twice", pairs=words[:1].upper() + words[1:])
