"""What the literature does with past outcomes, fitted on other events than those that are scored."""

from coherently.scoring.literature.fitted_rivals import FittedRival, held_out_answers
from coherently.scoring.literature.published_fits import PUBLISHED_FITS

__all__ = ["PUBLISHED_FITS", "FittedRival", "held_out_answers"]
