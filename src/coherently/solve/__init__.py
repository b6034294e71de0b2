"""Methods: Problem in, Solution out."""

from coherently.solve.alternating import AlternatingProjections
from coherently.solve.linear import LinearAverage
from coherently.solve.solution import Method, Progress, Solution, Status, Trace, Worlds

__all__ = ["AlternatingProjections", "LinearAverage", "Method", "Progress", "Solution", "Status", "Trace", "Worlds"]
