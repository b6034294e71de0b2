"""Methods: Problem in, Solution out."""

from coherently.solve.alternating import AlternatingProjections
from coherently.solve.annealing import Annealing
from coherently.solve.auto import Auto
from coherently.solve.evidence import DempsterShafer
from coherently.solve.exact import Exact
from coherently.solve.lindley import Lindley
from coherently.solve.linear import LinearAverage
from coherently.solve.pools import Pool
from coherently.solve.solution import Component, Method, Progress, Solution, Status, Trace, Worlds

__all__ = [
    "AlternatingProjections",
    "Annealing",
    "Auto",
    "Component",
    "DempsterShafer",
    "Exact",
    "Lindley",
    "LinearAverage",
    "Method",
    "Pool",
    "Progress",
    "Solution",
    "Status",
    "Trace",
    "Worlds",
]
