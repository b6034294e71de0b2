"""Simple rivals of coherent aggregation, as panels with other probabilities for the same forecasts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel import Panel


def mean_of(panel: Panel) -> NDArray[np.float64]:
    """The plain mean of the forecasts of each event as written."""
    total = np.bincount(panel.event_index, panel.probability, len(panel.written))
    return np.asarray(total / np.bincount(panel.event_index, minlength=len(panel.written)))


def averaged(panel: Panel) -> Panel:
    """Each forecast replaced by the mean of its event."""
    return replace(panel, probability=mean_of(panel)[panel.event_index])
