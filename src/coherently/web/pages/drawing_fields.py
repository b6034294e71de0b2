"""Drawing a distribution: the fields of the form, what they say, and how distributions look."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.explain import judge_sheet as desk
from coherently.web.catalogue import plain
from coherently.web.operations.judge_drawings import as_number, as_value
from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.typed_dates import one_day
from coherently.web.pages.forms.typed_numbers import one_number
from coherently.web.refusals import RefusedError
from coherently.web.shapes.drawn_shapes import DrawnDraft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain.judge_sheet import AnswerAxis
    from coherently.web.shapes.drawn_shapes import DistributionView, DrawnView

LEVELS = {"low": 0.1, "middle": 0.5, "high": 0.9}
"""The three quantiles that are asked for, by the ends of their fields' names."""
BINS = 10
"""How many bins a drawn histogram has."""
TALL = 100
"""The height of the tallest bin, in the units of the fields."""
FOUR = 4


def shown_value(value: float | str) -> str:
    """A number or a date as people read it.

    >>> shown_value(40000.0), shown_value(2.5), shown_value(2027.0), shown_value("2027-03-31")
    ('40,000', '2.5', '2027', '31 March 2027')
    """
    if isinstance(value, str):
        day = date.fromisoformat(value)
        return f"{day.day} {day:%B %Y}"
    text = f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"
    return f"{float(text):,.0f}" if float(text).is_integer() and len(text.lstrip("-")) > FOUR else text


def about(value: float | str) -> str:
    """A number that was worked out between thresholds, with three digits that count; a date as it is.

    >>> about(32493.3), about(0.12345)
    ('32,500', '0.123')
    """
    return shown_value(value if isinstance(value, str) else float(f"{value:.3g}"))


def typed_value(value: float | str) -> str:
    """A number or a date as its field holds it."""
    return value if isinstance(value, str) else f"{round(value, 6):.15g}"


def drawing_of(
    question: str, axis: AnswerAxis, drawn: DrawnView | None, masses: Sequence[float] | None
) -> SimpleNamespace:
    """The fields for drawing a question: filled with what was drawn, or with what the answers say."""
    low, high = _ends(axis)
    knots = {"low": "", "middle": "", "high": ""}
    heights = [0.0] * BINS
    if drawn is not None and drawn.way == "quantiles":
        by_share = {knot.share: typed_value(knot.at) for knot in drawn.knots}
        knots = {name: by_share.get(level, "") for name, level in LEVELS.items()}
    if drawn is not None and drawn.way == "bins" and len(drawn.knots) == BINS + 1:
        low, high = as_number(axis, drawn.knots[0].at), as_number(axis, drawn.knots[-1].at)
        shares = [knot.share for knot in drawn.knots]
        heights = [after - before for before, after in pairwise(shares)]
    elif masses is not None:
        edges = (low, *axis.cuts, high)
        curve = tuple(zip(edges, _sums(masses), strict=True))
        heights = [
            max(
                0.0,
                _interpolated(curve, low + (high - low) * (i + 1) / BINS)
                - _interpolated(curve, low + (high - low) * i / BINS),
            )
            for i in range(BINS)
        ]
    most = max(heights) or 1.0
    step = (high - low) / BINS
    return SimpleNamespace(
        question=question,
        kind=axis.kind,
        knots=knots,
        first=typed_value(as_value(axis, low)),
        last=typed_value(as_value(axis, high)),
        bins=[
            SimpleNamespace(
                height=round(TALL * each / most),
                label=plain(
                    "draw.bin",
                    low=shown_value(as_value(axis, low + i * step)),
                    high=shown_value(as_value(axis, low + (i + 1) * step)),
                ),
            )
            for i, each in enumerate(heights)
        ],
        drawn=None if drawn is None else plain("draw.stands" if drawn.stands else "draw.gone"),
    )


def _sums(masses: Sequence[float]) -> list[float]:
    sums = [0.0]
    for mass in masses:
        sums.append(sums[-1] + mass)
    return sums


def _interpolated(curve: tuple[tuple[float, float], ...], value: float) -> float:
    for (x0, y0), (x1, y1) in pairwise(curve):
        if value <= x1:
            return y0 + (y1 - y0) * (value - x0) / (x1 - x0)
    return curve[-1][1]


def _ends(axis: AnswerAxis) -> tuple[float, float]:
    """Where a histogram begins and ends unless somebody says otherwise: one step beyond the outermost cuts."""
    cuts = axis.cuts
    if len(cuts) > 1:
        low, high = 2 * cuts[0] - cuts[1], 2 * cuts[-1] - cuts[-2]
    else:
        reach = 30.0 if axis.kind == "date" else abs(cuts[0]) or 1.0
        low, high = cuts[0] - reach, cuts[0] + reach
    return (max(low, 0.0) if axis.kind == "number" and cuts[0] > 0 else low), high


def read_drawing(form: Mapping[str, str], axis: AnswerAxis, way: str, question: str) -> DrawnDraft:
    """What a form drew for a question."""
    if way == "quantiles":
        knots = [
            {"at": _value(form.get(f"draw-{name}-{question}", ""), axis), "share": level}
            for name, level in LEVELS.items()
        ]
        places = [as_number(axis, knot["at"]) for knot in knots]
        if not places[0] < places[1] < places[2]:
            raise RefusedError(422, "not-usable", plain("draw.wrong.order"))
        return fill(DrawnDraft, question=question, way="quantiles", knots=knots)
    low, high = (as_number(axis, _value(form.get(f"draw-{end}-{question}", ""), axis)) for end in ("first", "last"))
    if low >= high:
        raise RefusedError(422, "not-usable", plain("draw.wrong.ends"))
    heights = [_height(form.get(f"draw-{i}-{question}", "")) for i in range(BINS)]
    curve = desk.bins_curve(low, high, heights)
    drawn = [{"at": as_value(axis, at), "share": share} for at, share in curve.knots]
    return fill(DrawnDraft, question=question, way="bins", knots=drawn)


def _value(text: str, axis: AnswerAxis) -> float | str:
    clean = text.strip()
    if axis.kind == "date":
        day = one_day(clean)
        if day is None:
            raise RefusedError(422, "not-usable", plain("draw.wrong.date", value=clean[:40]))
        return day.isoformat()
    number = one_number(clean) if clean else None
    if number is None:
        raise RefusedError(422, "not-usable", plain("draw.wrong.number", value=clean[:40]))
    return float(number.text)


def _height(text: str) -> float:
    number = one_number(text.strip() or "0")
    if number is None or float(number.text) < 0:
        raise RefusedError(422, "not-usable", plain("draw.wrong.height", value=text[:40]))
    return float(number.text)


def shown_distribution(found: DistributionView) -> SimpleNamespace:
    """A distribution as bars, one per cell, with the middle and the range that has eight tenths."""
    cuts = [shown_value(cut) for cut in found.cuts]
    by = found.kind == "date"
    names = [plain("draw.cell.first.date" if by else "draw.cell.first", high=cuts[0])]
    names += [plain("draw.cell", low=low, high=high) for low, high in pairwise(cuts)]
    names.append(plain("draw.cell.last.date" if by else "draw.cell.last", low=cuts[-1]))
    most = max([*found.after, *(found.before or [])])
    bars: list[dict[str, Any]] = [
        {"name": name, "mass": max(0.0, mass), "share": max(0.0, mass) / most if most > 0 else 0.0}
        for name, mass in zip(names, found.after, strict=True)
    ]
    for place, mass in enumerate(found.before or []):
        bars[place]["before"] = max(0.0, mass) / most if most > 0 else 0.0
    words = []
    if found.middle is not None:
        words.append(plain("draw.middle", value=about(found.middle)))
    if found.low is not None and found.high is not None:
        words.append(plain("draw.range", low=about(found.low), high=about(found.high)))
    return SimpleNamespace(
        title=found.title, bars=[SimpleNamespace(**{"before": None} | each) for each in bars], words=" ".join(words)
    )
