"""Practice before the first round: statements, and how well somebody was calibrated. Nothing of it is kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coherently.web.shapes.aggregation_shapes import CalibrationStep
from coherently.web.shapes.shape import Probability, Shape, example


class PracticeStatement(Shape):
    """A statement that is true or false, by its number."""

    number: int
    text: str


class PracticeList(Shape):
    """All statements for practice."""

    statements: list[PracticeStatement]


class PracticeGuess(Shape):
    """How likely somebody thinks that a statement is true."""

    model_config = example(number=1, probability=0.8)

    number: Annotated[int, Field(ge=1, le=10_000)]
    probability: Probability


class PracticeDraft(Shape):
    """Guesses to look at; nothing is kept."""

    guesses: Annotated[list[PracticeGuess], Field(min_length=1, max_length=1000)]


class PracticeResult(Shape):
    """A statement with what was guessed, whether it is true, and the source."""

    number: int
    text: str
    probability: float
    is_true: bool
    source: str


class PracticeView(Shape):
    """How well somebody was calibrated.

    `sure` is how sure the guesses were on average (the larger of a guess and its complement), and `right` how many of
    them were on the right side: who is surer than right is overconfident.
    """

    results: list[PracticeResult]
    brier: float
    sure: float
    right: float
    calibration: list[CalibrationStep]
