"""What a facilitator sees of a panel at a glance."""

from __future__ import annotations

from typing import Any

from coherently.web.shapes.judging_shapes import JudgeView
from coherently.web.shapes.panel_shapes import RoundView
from coherently.web.shapes.shape import Id, Shape, Time


class DoubtView(Shape):
    """A contradiction that a judge means: a law, or a question, in doubt; no sentence while its numbers are hidden."""

    judge: str
    sentence: str
    reason: str
    time: Time


class BoardView(Shape):
    """Who is missing, where judges differ (`overview`), what to ask next, and what is in doubt.

    `coherent` has the nearest coherent probability of each event that somebody answered, by its id; null if an event
    has too few answers to be shown, or if it was not found in time. `hidden` are the judges whose numbers are hidden
    until the round closes: contradictions of these have no sentence.
    """

    round: RoundView
    judges: list[JudgeView]
    overview: dict[str, Any]
    coherent: dict[str, float] | None
    ask_next: list[dict[str, Any]]
    doubts: list[DoubtView]
    hidden: list[Id]


class ReadingView(Shape):
    """What a draft means, or why it cannot be read: the column, and what it may mean."""

    kind: str
    fault: str | None
    column: int
    about: str
    same_as: int | None
    opposite_of: int | None
    remarks: list[str]
    suggestions: list[dict[str, str]]
    new_names: list[str]
