"""Distributions: drawn by judges, and those of a coherent answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coherently.web.shapes.shape import Id, Probability, Shape, Time, example

Way = Literal["quantiles", "bins"]
Quantity = Annotated[float, Field(ge=-1e15, le=1e15)] | Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
"""A number, or a date such as 2027-03-31."""


class Knot(Shape):
    """A value, and how likely it is that the number or date is not beyond it."""

    model_config = example(at=40000.0, share=0.5)

    at: Quantity
    share: Probability


class DrawnDraft(Shape):
    """A distribution that a judge drew for a question about a number or a date, as knots of its distribution function.

    Between knots it is linear; beyond the outermost ones the last segment goes on. Three quantiles are three knots; the
    knots of a histogram begin at 0 and end at 1.
    """

    model_config = example(
        question="q_7hTq1Wc5Rn8d",
        way="quantiles",
        knots=[{"at": 20000.0, "share": 0.1}, {"at": 35000.0, "share": 0.5}, {"at": 70000.0, "share": 0.9}],
    )

    question: Id
    way: Way
    knots: Annotated[list[Knot], Field(min_length=2, max_length=1000)]


class DrawnView(Shape):
    """What a judge drew for a question; `stands` is whether the answers are still those that it became."""

    question: Id
    way: Way
    knots: list[Knot]
    stands: bool
    time: Time


class JudgeDrawing(DrawnView):
    """What a judge drew, with the judge's name."""

    judge: str


class DrawingList(Shape):
    """What the judges of a panel drew."""

    drawings: list[JudgeDrawing]


class DistributionView(Shape):
    """What a version says about a number or a date: `cuts`, and the probability of each cell between and beyond them.

    `before` are the averages, where they say it; `after` is the version. `low`, `middle` and `high` are where a tenth,
    a half and nine tenths are reached, between thresholds in proportion; null beyond the outermost ones.
    """

    question: Id
    title: str
    kind: Literal["number", "date"]
    cuts: list[Quantity]
    before: list[float] | None
    after: list[float]
    low: Quantity | None
    middle: Quantity | None
    high: Quantity | None


class DistributionList(Shape):
    """The distributions of a version."""

    distributions: list[DistributionView]
