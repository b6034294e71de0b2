"""Coherently: one coherent set of forecasts out of a panel's incoherent ones.

>>> import coherently as co
>>> panel = co.Panel.from_records([("Alice", "p", 0.75), ("Bob", "p", 0.6), ("Bob", "p & q", 0.1)])
>>> co.aggregate(panel).probability("p")
0.675
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently import agents, aio, network, plot
    from coherently.conversion import (
        Conversion,
        convert,
    )
    from coherently.conversion.tuples import Tuple
    from coherently.engine import open_engine
    from coherently.engine.engine_words import Engine
    from coherently.engine.keep import Keep
    from coherently.errors import (
        CoherentlyError,
        ContradictionError,
        EngineError,
        EventError,
        ListedProblem,
        MethodError,
        MissingDependencyError,
        NetworkError,
        PanelError,
        ResultError,
        Where,
    )
    from coherently.explain import (
        Check,
        Finding,
        check,
    )
    from coherently.explain.bets import (
        Book,
        dutch_book,
    )
    from coherently.explain.bets.dutch import Trade
    from coherently.explain.bets.trading_terms import TradingTerms
    from coherently.explain.influence import Influence, Why
    from coherently.explain.next_questions import NextQuestions, OpenQuestion, ask_next
    from coherently.explain.verdicts import CheckStatus
    from coherently.judge_weights import (
        CoherenceWeights,
        ConsensusWeights,
        EqualWeights,
        HistoryWeights,
        ProductWeights,
    )
    from coherently.live import (
        Change,
        Current,
        LivePanel,
        Shift,
    )
    from coherently.note_log import CoherentlyNote
    from coherently.online import (
        ExponentialAverage,
        Hedge,
        LearningRule,
        OnlinePanel,
        Vovk,
    )
    from coherently.panel import (
        Panel,
        read_panel,
    )
    from coherently.panel.laws import Laws
    from coherently.panel.readers import Progress
    from coherently.panel.weights import (
        Weighting,
        Weights,
        weighted,
    )
    from coherently.panel.worksheets import TableReading
    from coherently.problem import (
        Brier,
        Log,
        Loss,
        Spherical,
    )
    from coherently.problem.groups.named import Design
    from coherently.proposals import (
        Proposals,
        relate,
    )
    from coherently.report.report_page import Report
    from coherently.result import (
        Bounds,
        BoundsTable,
        Result,
        aggregate,
        individual,
    )
    from coherently.result.answer_worlds import Mixture
    from coherently.rivals import baselines, literature
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
    from coherently.scoring.calibration import calibration
    from coherently.scoring.candidates import Asked
    from coherently.scoring.consistency import (
        Consistency,
        consistency,
    )
    from coherently.scoring.leaderboards import Leaderboard
    from coherently.scoring.literature import FittedRival
    from coherently.scoring.monitors import Monitor, monitor
    from coherently.simulation import simulate
    from coherently.solve import (
        AlternatingProjections,
        Annealing,
        Coherence,
        Component,
        DempsterShafer,
        Exact,
        Lindley,
        LinearAverage,
        Method,
        Pool,
        Recipe,
        Signal,
        Status,
        Trace,
    )
    from coherently.verifier import (
        Verification,
        verify,
    )

__version__ = "0.2.0"

# Names are imported when they are first used, so that the command line starts fast.
_ROOMS = {
    "coherently.conversion": ["Conversion", "convert"],
    "coherently.conversion.tuples": ["Tuple"],
    "coherently.engine": ["open_engine"],
    "coherently.engine.engine_words": ["Engine"],
    "coherently.engine.keep": ["Keep"],
    "coherently.errors": [
        "CoherentlyError",
        "ContradictionError",
        "EngineError",
        "EventError",
        "ListedProblem",
        "MethodError",
        "MissingDependencyError",
        "NetworkError",
        "PanelError",
        "ResultError",
        "Where",
    ],
    "coherently.explain": ["Check", "Finding", "check"],
    "coherently.explain.bets": ["Book", "dutch_book"],
    "coherently.explain.bets.dutch": ["Trade"],
    "coherently.explain.bets.trading_terms": ["TradingTerms"],
    "coherently.explain.influence": ["Influence", "Why"],
    "coherently.explain.next_questions": ["NextQuestions", "OpenQuestion", "ask_next"],
    "coherently.explain.verdicts": ["CheckStatus"],
    "coherently.judge_weights": [
        "CoherenceWeights",
        "ConsensusWeights",
        "EqualWeights",
        "HistoryWeights",
        "ProductWeights",
    ],
    "coherently.live": ["Change", "Current", "LivePanel", "Shift"],
    "coherently.note_log": ["CoherentlyNote"],
    "coherently.online": ["ExponentialAverage", "Hedge", "LearningRule", "OnlinePanel", "Vovk"],
    "coherently.panel": ["Panel", "read_panel"],
    "coherently.panel.laws": ["Laws"],
    "coherently.panel.readers": ["Progress"],
    "coherently.panel.worksheets": ["TableReading"],
    "coherently.panel.weights": ["Weighting", "Weights", "weighted"],
    "coherently.problem": ["Brier", "Log", "Loss", "Spherical"],
    "coherently.problem.groups.named": ["Design"],
    "coherently.proposals": ["Proposals", "relate"],
    "coherently.report.report_page": ["Report"],
    "coherently.result": ["Bounds", "BoundsTable", "Result", "aggregate", "individual"],
    "coherently.result.answer_worlds": ["Mixture"],
    "coherently.rivals": ["baselines", "literature"],
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
    "coherently.scoring.calibration": ["calibration"],
    "coherently.scoring.candidates": ["Asked"],
    "coherently.scoring.consistency": ["Consistency", "consistency"],
    "coherently.scoring.leaderboards": ["Leaderboard"],
    "coherently.scoring.literature": ["FittedRival"],
    "coherently.scoring.monitors": ["Monitor", "monitor"],
    "coherently.simulation": ["simulate"],
    "coherently.solve": [
        "AlternatingProjections",
        "Annealing",
        "Coherence",
        "Component",
        "DempsterShafer",
        "Exact",
        "Lindley",
        "LinearAverage",
        "Method",
        "Pool",
        "Recipe",
        "Signal",
        "Status",
        "Trace",
    ],
    "coherently.verifier": ["Verification", "verify"],
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "AlternatingProjections",
    "Annealing",
    "Asked",
    "Book",
    "Bounds",
    "BoundsTable",
    "Brier",
    "Calibration",
    "Change",
    "Check",
    "CheckStatus",
    "Coherence",
    "CoherenceWeights",
    "CoherentlyError",
    "CoherentlyNote",
    "Comparison",
    "Component",
    "ConsensusWeights",
    "Consistency",
    "ContradictionError",
    "Conversion",
    "Current",
    "DempsterShafer",
    "Design",
    "Difference",
    "Diversity",
    "Engine",
    "EngineError",
    "EqualWeights",
    "EventError",
    "Exact",
    "ExponentialAverage",
    "Finding",
    "FittedRival",
    "Hedge",
    "HistoryWeights",
    "Influence",
    "Keep",
    "Laws",
    "Leaderboard",
    "LearningRule",
    "Lindley",
    "LinearAverage",
    "ListedProblem",
    "LivePanel",
    "Log",
    "Loss",
    "Method",
    "MethodError",
    "MissingDependencyError",
    "Mixture",
    "Monitor",
    "NetworkError",
    "NextQuestions",
    "OnlinePanel",
    "OpenQuestion",
    "Panel",
    "PanelError",
    "Pool",
    "ProductWeights",
    "Progress",
    "Proposals",
    "Recipe",
    "Report",
    "Result",
    "ResultError",
    "Scores",
    "Shift",
    "Signal",
    "Spherical",
    "Status",
    "TableReading",
    "Trace",
    "Trade",
    "TradingTerms",
    "Tuned",
    "Tuple",
    "Verification",
    "Vovk",
    "Weighting",
    "Weights",
    "Where",
    "Why",
    "agents",
    "aggregate",
    "aio",
    "ask_next",
    "baselines",
    "calibration",
    "check",
    "compare",
    "consistency",
    "convert",
    "diversity",
    "dutch_book",
    "individual",
    "literature",
    "monitor",
    "network",
    "open_engine",
    "plot",
    "read_panel",
    "read_recipe",
    "relate",
    "score",
    "simulate",
    "tune",
    "verify",
    "weighted",
]


if not TYPE_CHECKING:  # a checker that saw this function would believe that every name exists

    def __getattr__(name: str) -> object:
        if name in ("agents", "aio", "network", "plot"):
            return importlib.import_module(f"coherently.{name}")
        if name not in _ROOM_OF:
            raise AttributeError(f"module 'coherently' has no attribute {name!r}")
        value = getattr(importlib.import_module(_ROOM_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
