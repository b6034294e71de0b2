"""Pictures of a page: positions of lines and points in a drawing, for its template."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.plot.data import DRAWN, count_variables, graph_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel
    from coherently.scoring import Calibration
    from coherently.solve import Trace

WIDTH, HEIGHT = 320.0, 150.0
"""The size of a curve, in the units of its drawing."""
SIDE = 200.0
"""The side of a calibration diagram."""
LARGEST_POINT = 9.0
"""The radius of the point of the fullest bin."""
BESIDE, ABOVE = 90.0, 20.0
"""The space for names on either side of a graph, and above and below it."""
APART = 10.0
"""The distance between a variable and its name."""
LEAST = 1e-12
"""The value that stands for 0 on a logarithmic scale."""
LONGEST_CURVE = 400
"""Maximum number of points of a curve; a longer curve shows this many, evenly spread."""
GROUPS = 150
"""Maximum number of groups for which a graph is drawn."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a method's trace: `points` in the form of an SVG polyline, and the values at its ends and extremes."""

    name: str
    points: str
    first: float
    last: float
    low: float
    high: float
    rule: float | None


@dataclass(frozen=True, slots=True)
class Bin:
    """A point of a calibration diagram, with the numbers behind it."""

    x: float
    y: float
    radius: float
    lower: float
    upper: float
    count: int
    forecast: float
    observed: float


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a graph: its name, its position, and the position of the name outside the ring."""

    name: str
    x: float
    y: float
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A group of a graph: the ends of its lines, its middle if it has more than two variables, and its events."""

    lines: tuple[tuple[float, float, float, float], ...]
    middle: tuple[float, float] | None
    width: float
    names: tuple[str, ...]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph, with the width and height of its drawing."""

    variables: tuple[Variable, ...]
    groups: tuple[DrawnGroup, ...]
    width: float
    height: float


def curves(trace: Trace, bound: float | None) -> tuple[Curve, Curve]:
    """The objective, with the bound beside it, and the largest violation on a logarithmic scale."""
    violation = np.log10(np.maximum(trace.violation, LEAST))
    objective = _curve("objective", trace.objective, bound or None)
    steep = _curve("largest violation", violation, None)
    shown = trace.violation
    first, last, low, high = (float(value) for value in (shown[0], shown[-1], shown.min(), shown.max()))
    return objective, replace(steep, first=first, last=last, low=low, high=high)


def _curve(name: str, values: NDArray[np.float64], rule: float | None) -> Curve:
    low, high = float(values.min()), float(values.max())
    if rule is not None:
        low, high = min(low, rule), max(high, rule)
    span = high - low or 1.0
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), LONGEST_CURVE)).round().astype(int))
    x = WIDTH * kept / max(len(values) - 1, 1)
    y = HEIGHT * (1 - (values[kept] - low) / span)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    line = None if rule is None else HEIGHT * (1 - (rule - low) / span)
    return Curve(name, points, float(values[0]), float(values[-1]), low=low, high=high, rule=line)


def bins(calibration: Calibration) -> tuple[Bin, ...]:
    """The filled bins, as points whose areas are their numbers of forecasts."""
    fullest = int(calibration.count.max())
    return tuple(
        Bin(
            SIDE * float(calibration.mean_forecast[i]),
            SIDE * (1 - float(calibration.observed[i])),
            max(2.0, LARGEST_POINT * float(np.sqrt(calibration.count[i] / fullest))),
            float(calibration.lower[i]),
            upper=float(calibration.upper[i]),
            count=int(calibration.count[i]),
            forecast=float(calibration.mean_forecast[i]),
            observed=float(calibration.observed[i]),
        )
        for i in np.flatnonzero(calibration.count).tolist()
    )


def picture(panel: Panel) -> Picture | None:
    """The graph of variables and groups; None if there are too many to draw, or nothing to show."""
    if not 2 <= count_variables(panel) <= DRAWN:
        return None
    graph = graph_of(panel)
    if not 1 <= len(graph.members) <= GROUPS:
        return None
    count = len(graph.names)
    height = 40.0 if count == 2 else min(240.0, 80.0 + 20.0 * count)
    across = 120.0 if count == 2 else height
    corner, scale = np.array([BESIDE, ABOVE]), np.array([across, height - 2 * ABOVE])
    place = corner + graph.place * scale
    groups = tuple(
        _group(place[list(members)], corner + graph.centre(i) * scale, [graph.names[v] for v in members], events)
        for i, (members, events) in enumerate(zip(graph.members, graph.events, strict=True))
    )
    outwards = 2 * graph.place - 1
    variables = map(_variable, graph.names, place.tolist(), outwards.tolist())
    return Picture(tuple(variables), groups, across + 2 * BESIDE, height)


def _group(
    ends: NDArray[np.float64], middle: NDArray[np.float64], names: list[str], events: tuple[str, ...]
) -> DrawnGroup:
    """A line between two variables, or lines from the middle to each of three or more."""
    is_pair = len(ends) == 2
    pairs = [ends] if is_pair else [np.stack([middle, end]) for end in ends]
    thick = min(3.0, 1.0 + 0.5 * float(np.log2(len(events))))
    lines = tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in (pair.ravel() for pair in pairs))
    return DrawnGroup(
        lines, None if is_pair else (float(middle[0]), float(middle[1])), thick, tuple(names), events=events
    )


def _variable(name: str, place: list[float], outwards: list[float]) -> Variable:
    """A variable whose name is outside the ring."""
    (x, y), (right, down) = place, outwards
    anchor = "middle" if abs(right) < 0.12 else "start" if right > 0 else "end"
    return Variable(name, x, y, x + APART * right, text_y=y + 4.0 + APART * down, anchor=anchor)
