"""Methods: Problem in, Solution out."""

from coherently.solve.budget import Budget, Signal
from coherently.solve.component.newton.limits import InfeasiblePinsError
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from coherently.solve.methods.alternating_projections import AlternatingProjections
from coherently.solve.methods.annealing import Annealing
from coherently.solve.methods.auto import Auto
from coherently.solve.methods.evidence import DempsterShafer
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.lindley import Lindley
from coherently.solve.methods.pools import LinearAverage, Pool
from coherently.solve.methods.recipe import Recipe
from coherently.solve.registry import METHODS, choose, promises_of
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
    "Recipe",
    "Route",
    "Signal",
    "Solution",
    "Status",
    "Trace",
    "Worlds",
    "choose",
    "promises_of",
]
