"""Methods: Problem in, Solution out."""

from coherently.solve.alternating import AlternatingProjections
from coherently.solve.annealing import Annealing
from coherently.solve.auto import Auto
from coherently.solve.exact import Exact
from coherently.solve.linear import LinearAverage
from coherently.solve.pins import InfeasiblePinsError
from coherently.solve.solution import Component, Method, Progress, Solution, Status, Trace, Worlds

__all__ = [
    "AlternatingProjections",
    "Annealing",
    "Auto",
    "Component",
    "Exact",
    "InfeasiblePinsError",
    "LinearAverage",
    "Method",
    "Progress",
    "Solution",
    "Status",
    "Trace",
    "Worlds",
]
