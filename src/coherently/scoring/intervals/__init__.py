"""How sure mean scores and their differences are."""

from coherently.scoring.intervals.bootstrap import covariances, redraw
from coherently.scoring.intervals.cluster_ratios import ClusterRatios
from coherently.scoring.intervals.independent_units import Units, UnitSets, clusters_of, unit_sets, units_of
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
    "ClusterRatios",
    "Retaught",
    "Tally",
    "UnitSets",
    "Units",
    "Variation",
    "clusters_of",
    "covariances",
    "effective_units",
    "own_half_widths",
    "redraw",
    "unit_sets",
    "units_of",
    "variation",
]
