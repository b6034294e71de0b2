"""Coherently: one coherent set of forecasts out of a panel's incoherent ones.

>>> import coherently as co
>>> panel = co.Panel.from_records([("Alice", "p", 0.75), ("Bob", "p", 0.6), ("Bob", "p & q", 0.1)])
>>> co.aggregate(panel).probability("p")
0.675
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherently.certify import Book, Check, Finding, check, dutch_book
    from coherently.certify.verify import Verification, verify
    from coherently.errors import (
        CoherentlyError,
        ContradictionError,
        EventError,
        MethodError,
        MissingDependencyError,
        PanelError,
        ResultError,
    )
    from coherently.panel import Panel, read_panel
    from coherently.problem import Brier, Log, Spherical
    from coherently.result import Bounds, Result, aggregate, individual
    from coherently.scoring import Calibration, Scores, score
    from coherently.simulation import simulate
    from coherently.solve import AlternatingProjections, Annealing, Exact, LinearAverage

__version__ = "0.1.0"

# Names are imported when they are first used, so that the command line starts fast.
_ROOMS = {
    "coherently.certify": ["Book", "Check", "Finding", "check", "dutch_book"],
    "coherently.certify.verify": ["Verification", "verify"],
    "coherently.errors": [
        "CoherentlyError",
        "ContradictionError",
        "EventError",
        "MethodError",
        "MissingDependencyError",
        "PanelError",
        "ResultError",
    ],
    "coherently.panel": ["Panel", "read_panel"],
    "coherently.problem": ["Brier", "Log", "Spherical"],
    "coherently.result": ["Bounds", "Result", "aggregate", "individual"],
    "coherently.scoring": ["Calibration", "Scores", "score"],
    "coherently.simulation": ["simulate"],
    "coherently.solve": ["AlternatingProjections", "Annealing", "Exact", "LinearAverage"],
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "AlternatingProjections",
    "Annealing",
    "Book",
    "Bounds",
    "Brier",
    "Calibration",
    "Check",
    "CoherentlyError",
    "ContradictionError",
    "EventError",
    "Exact",
    "Finding",
    "LinearAverage",
    "Log",
    "MethodError",
    "MissingDependencyError",
    "Panel",
    "PanelError",
    "Result",
    "ResultError",
    "Scores",
    "Spherical",
    "Verification",
    "aggregate",
    "check",
    "dutch_book",
    "individual",
    "read_panel",
    "score",
    "simulate",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'coherently' has no attribute {name!r}")
    value = getattr(importlib.import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
