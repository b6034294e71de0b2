"""How good forecasts turned out to be."""

from coherently.scoring.calibration import Calibration, calibration
from coherently.scoring.rules import brier, log_score, slope
from coherently.scoring.scores import Scores, score
from coherently.scoring.trace import trace_columns

__all__ = ["Calibration", "Scores", "brier", "calibration", "log_score", "score", "slope", "trace_columns"]
