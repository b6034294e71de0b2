"""Methods: Problem in, Solution out.

Methods are loaded when somebody asks for one: a check or a book needs solvers, and none of them.
"""

import importlib
from typing import TYPE_CHECKING

from coherently.engine.worker import Signal
from coherently.solve.budget import Budget
from coherently.solve.component.newton.limits import InfeasiblePinsError
from coherently.solve.facts import Coherence, Promise, Proof, Route, Status
from coherently.solve.solution import Averages, Component, Global, Local, Method, Solution, Trace, Worlds

if TYPE_CHECKING:
    from coherently.solve.methods.alternating_projections import AlternatingProjections
    from coherently.solve.methods.annealing import Annealing
    from coherently.solve.methods.auto import Auto
    from coherently.solve.methods.evidence import DempsterShafer
    from coherently.solve.methods.exact import Exact
    from coherently.solve.methods.lindley import Lindley
    from coherently.solve.methods.pools import LinearAverage, Pool
    from coherently.solve.methods.recipe import Recipe
    from coherently.solve.registry import METHODS, choose, promises_of

_ROOM_OF = {
    "AlternatingProjections": "methods.alternating_projections",
    "Annealing": "methods.annealing",
    "Auto": "methods.auto",
    "DempsterShafer": "methods.evidence",
    "Exact": "methods.exact",
    "Lindley": "methods.lindley",
    "LinearAverage": "methods.pools",
    "METHODS": "registry",
    "Pool": "methods.pools",
    "Recipe": "methods.recipe",
    "choose": "registry",
    "promises_of": "registry",
}

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


if not TYPE_CHECKING:  # a checker that saw this function would believe that every name exists

    def __getattr__(name: str) -> object:
        if name not in _ROOM_OF:
            raise AttributeError(f"module 'coherently.solve' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"coherently.solve.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value
