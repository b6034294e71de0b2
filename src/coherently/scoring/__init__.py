"""How good forecasts turned out to be."""

from coherently.scoring.calibration import Calibration, calibration
from coherently.scoring.comparison import DRAWN, Comparison, Difference, compare
from coherently.scoring.independence import Diversity, diversity
from coherently.scoring.scores import Scores, score
from coherently.scoring.scoring_rules import RULES, brier, log_score, slope
from coherently.scoring.trace import trace_columns
from coherently.scoring.tuning.learned_recipe import tune
from coherently.scoring.tuning.recipe_files import read_recipe
from coherently.scoring.tuning.tuned import Tuned

__all__ = [
    "DRAWN",
    "RULES",
    "Calibration",
    "Comparison",
    "Difference",
    "Diversity",
    "Scores",
    "Tuned",
    "brier",
    "calibration",
    "compare",
    "diversity",
    "log_score",
    "read_recipe",
    "score",
    "slope",
    "trace_columns",
    "tune",
]
