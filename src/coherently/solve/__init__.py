"""Methods: Problem in, Solution out."""

from coherently.solve.linear import LinearAverage
from coherently.solve.solution import Coherence, Method, Solution, Status

__all__ = ["Coherence", "LinearAverage", "Method", "Solution", "Status"]
