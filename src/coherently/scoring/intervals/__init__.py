"""How sure mean scores and their differences are."""

from coherently.scoring.intervals.bootstrap import covariances, redraw
from coherently.scoring.intervals.independent_units import Units, units_of
from coherently.scoring.intervals.jackknife import (
    LEAST_EFFECTIVE_UNITS,
    LEAST_JUDGES,
    LEAST_UNITS,
    OVERS,
    Tally,
    Variation,
    effective_units,
    own_half_widths,
    variation,
)
from coherently.scoring.intervals.shared_luck import Retaught

__all__ = [
    "LEAST_EFFECTIVE_UNITS",
    "LEAST_JUDGES",
    "LEAST_UNITS",
    "OVERS",
    "Retaught",
    "Tally",
    "Units",
    "Variation",
    "covariances",
    "effective_units",
    "own_half_widths",
    "redraw",
    "units_of",
    "variation",
]
