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
    from coherently import network, plot
    from coherently.conversion import Conversion, convert
    from coherently.engine import open_engine
    from coherently.errors import (
        CoherentlyError,
        ContradictionError,
        EngineError,
        EventError,
        MethodError,
        MissingDependencyError,
        NetworkError,
        PanelError,
        ResultError,
    )
    from coherently.explain import Check, Finding, check
    from coherently.explain.bets import Book, dutch_book
    from coherently.judge_weights import (
        CoherenceWeights,
        ConsensusWeights,
        EqualWeights,
        HistoryWeights,
        ProductWeights,
    )
    from coherently.live import Change, Current, LivePanel, Shift
    from coherently.online import ExponentialAverage, Hedge, OnlinePanel, Vovk
    from coherently.panel import Panel, read_panel
    from coherently.panel.weights import weighted
    from coherently.problem import Brier, Log, Spherical
    from coherently.result import Bounds, BoundsTable, Result, aggregate, individual
    from coherently.rivals import baselines
    from coherently.scoring import (
        Calibration,
        Comparison,
        Difference,
        Diversity,
        Scores,
        Tuned,
        compare,
        diversity,
        read_recipe,
        score,
        tune,
    )
    from coherently.scoring.consistency import Consistency, consistency
    from coherently.simulation import simulate
    from coherently.solve import (
        AlternatingProjections,
        Annealing,
        DempsterShafer,
        Exact,
        Lindley,
        LinearAverage,
        Pool,
        Recipe,
    )
    from coherently.verifier import Verification, verify

__version__ = "0.1.0"

# Names are imported when they are first used, so that the command line starts fast.
_ROOMS = {
    "coherently.explain.bets": ["Book", "dutch_book"],
    "coherently.explain": ["Check", "Finding", "check"],
    "coherently.conversion": ["Conversion", "convert"],
    "coherently.engine": ["open_engine"],
    "coherently.errors": [
        "CoherentlyError",
        "ContradictionError",
        "EngineError",
        "EventError",
        "MethodError",
        "MissingDependencyError",
        "NetworkError",
        "PanelError",
        "ResultError",
    ],
    "coherently.live": ["Change", "Current", "LivePanel", "Shift"],
    "coherently.online": ["ExponentialAverage", "Hedge", "OnlinePanel", "Vovk"],
    "coherently.panel": ["Panel", "read_panel"],
    "coherently.panel.weights": ["weighted"],
    "coherently.problem": ["Brier", "Log", "Spherical"],
    "coherently.result": ["Bounds", "BoundsTable", "Result", "aggregate", "individual"],
    "coherently.rivals": ["baselines"],
    "coherently.scoring": [
        "Calibration",
        "Comparison",
        "Difference",
        "Diversity",
        "Scores",
        "Tuned",
        "compare",
        "diversity",
        "read_recipe",
        "score",
        "tune",
    ],
    "coherently.scoring.consistency": ["Consistency", "consistency"],
    "coherently.simulation": ["simulate"],
    "coherently.solve": [
        "AlternatingProjections",
        "Annealing",
        "DempsterShafer",
        "Exact",
        "Lindley",
        "LinearAverage",
        "Pool",
        "Recipe",
    ],
    "coherently.verifier": ["Verification", "verify"],
    "coherently.judge_weights": [
        "CoherenceWeights",
        "ConsensusWeights",
        "EqualWeights",
        "HistoryWeights",
        "ProductWeights",
    ],
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "AlternatingProjections",
    "Annealing",
    "Book",
    "Bounds",
    "BoundsTable",
    "Brier",
    "Calibration",
    "Change",
    "Check",
    "CoherenceWeights",
    "CoherentlyError",
    "Comparison",
    "ConsensusWeights",
    "Consistency",
    "ContradictionError",
    "Conversion",
    "Current",
    "DempsterShafer",
    "Difference",
    "Diversity",
    "EngineError",
    "EqualWeights",
    "EventError",
    "Exact",
    "ExponentialAverage",
    "Finding",
    "Hedge",
    "HistoryWeights",
    "Lindley",
    "LinearAverage",
    "LivePanel",
    "Log",
    "MethodError",
    "MissingDependencyError",
    "NetworkError",
    "OnlinePanel",
    "Panel",
    "PanelError",
    "Pool",
    "ProductWeights",
    "Recipe",
    "Result",
    "ResultError",
    "Scores",
    "Shift",
    "Spherical",
    "Tuned",
    "Verification",
    "Vovk",
    "aggregate",
    "baselines",
    "check",
    "compare",
    "consistency",
    "convert",
    "diversity",
    "dutch_book",
    "individual",
    "network",
    "open_engine",
    "plot",
    "read_panel",
    "read_recipe",
    "score",
    "simulate",
    "tune",
    "verify",
    "weighted",
]


def __getattr__(name: str) -> Any:
    if name in ("network", "plot"):
        return importlib.import_module(f"coherently.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'coherently' has no attribute {name!r}")
    value = getattr(importlib.import_module(_ROOM_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
