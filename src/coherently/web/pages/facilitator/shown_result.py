"""The numbers of a version as its page shows them: per cents that add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.panel import Panel
from coherently.problem import pose
from coherently.result.shown import nearest, rounded_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.arrays import Vector
    from coherently.web.shapes.aggregation_shapes import EventResult

DIGITS = 2
"""Number of decimals of a probability in whole per cents."""


@dataclass(frozen=True, slots=True)
class ShownResult:
    """By event, the average before and the probability after, with `digits` decimals; None where there is none."""

    before: Mapping[str, float | None]
    after: Mapping[str, float | None]
    digits: int


def shown_result(events: Sequence[EventResult], laws: Sequence[str]) -> ShownResult:
    """Round the numbers of a version coherently, to whole per cents or to more digits if these do not do."""
    return _shown(tuple((row.event, row.raw, row.probability) for row in events), tuple(laws))


@lru_cache(maxsize=64)
def _shown(rows: tuple[tuple[str, float | None, float | None], ...], laws: tuple[str, ...]) -> ShownResult:
    texts = [text for text, *_ in rows]
    before, after = (np.array([row[k] for row in rows], np.float64) for k in (1, 2))
    digits = DIGITS
    try:
        panel = Panel.from_records([("panel", text, 0.5) for text in texts], laws=list(laws))
        if list(panel.written.text) == texts:
            shown = rounded_changes(pose(panel), after, before, DIGITS)
            before, after, digits = shown.raw, shown.probability, shown.digits
    except CoherentlyError:
        pass  # laws of another version of this program: each number is rounded by itself
    return ShownResult(_by_event(texts, nearest(before, digits)), _by_event(texts, nearest(after, digits)), digits)


def _by_event(texts: Sequence[str], values: Vector) -> dict[str, float | None]:
    return {text: None if np.isnan(value) else value for text, value in zip(texts, values.tolist(), strict=True)}
