"""Methods: Problem in, Solution out."""

from coherently.solve.alternating import AlternatingProjections
from coherently.solve.annealing import Annealing
from coherently.solve.auto import Auto
from coherently.solve.budget import Budget, Signal
from coherently.solve.component.limits import InfeasiblePinsError
from coherently.solve.evidence import DempsterShafer
from coherently.solve.exact import Exact
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from coherently.solve.lindley import Lindley
from coherently.solve.linear import LinearAverage
from coherently.solve.pools import Pool
from coherently.solve.registry import METHODS, choose, promises_of, with_trace
from coherently.solve.solution import Averages, Component, Global, Local, Method, Solution, Trace, Worlds

__all__ = [
    "METHODS",
    "AlternatingProjections",
    "Annealing",
    "Auto",
    "Averages",
    "Budget",
    "Coherence",
    "Component",
    "DempsterShafer",
    "Exact",
    "Global",
    "InfeasiblePinsError",
    "Lindley",
    "LinearAverage",
    "Local",
    "Method",
    "Pool",
    "Promise",
    "Proof",
    "Route",
    "Signal",
    "Solution",
    "Status",
    "Trace",
    "Worlds",
    "choose",
    "promises_of",
    "with_trace",
]
