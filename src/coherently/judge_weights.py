"""How much each judge counts, by coherence, agreement with the others or past accuracy."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from coherently.errors import MethodError, PanelError
from coherently.explain import check_judges
from coherently.panel import Panel, by_appearance, read_panel
from coherently.panel.texts import name_some
from coherently.panel.weights import find_weighting, name_of
from coherently.problem import BRIER, pose
from coherently.problem.losses import merged_mean
from coherently.scoring import score
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.explain.verdicts import Verdict
    from coherently.panel.weights import Weights


@dataclass(frozen=True, slots=True)
class EqualWeights(Viewed):
    """Every judge counts alike.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4)])
    >>> co.EqualWeights()(panel).tolist()
    [1.0, 1.0]
    """

    name: ClassVar[str] = "equal"

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Give each judge the factor 1."""
        return np.ones(len(panel.judges))

    def describe(self, panel: Panel) -> str:  # noqa: ARG002
        """Say how judges are weighted."""
        return "alike"


@dataclass(frozen=True, slots=True)
class CoherenceWeights(Viewed):
    r"""The farther a judge's own forecasts are from coherence, the less the judge counts.

    $$w = (1 - d / \max d)^\beta$$

    where d is the root mean square change that makes the judge's forecasts coherent: the distance of `co.check` divided
    by the square root of the number of forecasts, so that many forecasts alone do not make a judge worse. The most
    incoherent judge has weight 0, unless all are equally far: then all count alike. `beta` of 0 gives equal weights.
    `time_limit` is that of `co.check`, in seconds; a distance that it leaves open counts as the middle of its bounds.

    Karvetski, Olson, Mandel and Twardy (2013), Probabilistic coherence weighting for optimizing expert forecasts,
    Decision Analysis 10. They average the coherent forecasts of each judge; here the weights apply to the judge's
    forecasts as given, in any method (`co.individual` makes each judge coherent first).

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.6), ("Ann", "~p", 0.4), ("Bob", "p", 0.5), ("Bob", "~p", 0.7), ("Cid", "p", 0.9),
    ...         ("Cid", "~p", 0.5)]
    >>> co.CoherenceWeights()(co.Panel.from_records(rows)).round(6).tolist()
    [1.0, 0.5, 0.0]
    """

    name: ClassVar[str] = "coherence"
    beta: float = 1.0
    time_limit: float = 10.0

    def __post_init__(self) -> None:
        _check_power("beta", self.beta)

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Measure each judge's own incoherence."""
        found = check_judges(panel, time_limit=self.time_limit)
        own = np.array([_likely_distance(verdict) for verdict in found.verdicts])
        distance = dict(zip(found, (own / np.sqrt(found.forecasts)).tolist(), strict=True))
        # A judge without forecasts that can be checked has no contradictions.
        relative = _relative(np.array([distance.get(name, 0.0) for name in panel.judges]))
        if (relative == 1.0).all():
            return np.ones(len(relative))
        return np.power(1.0 - relative, self.beta)

    def describe(self, panel: Panel) -> str:  # noqa: ARG002
        """Say how judges are weighted."""
        return f"by their coherence (beta {self.beta:g})"


@dataclass(frozen=True, slots=True)
class ConsensusWeights(Viewed):
    r"""The farther a judge's forecasts are from the panel's means, the less the judge counts.

    $$w = \exp(-\gamma d / \max d)$$

    where d is the judge's (weighted) root mean square distance from the panel's means of the same events; an event and
    its complement are taken together. The farthest judge counts $e^{-\gamma}$ times as much as one at the means;
    `gamma` of 0 gives equal weights. A judge who is the only one on an event agrees with its mean.

    >>> import coherently as co
    >>> rows = [("Ann", "p", 0.5), ("Bob", "p", 0.5), ("Cid", "p", 0.8), ("Cid", "q", 0.1)]
    >>> co.ConsensusWeights(gamma=1)(co.Panel.from_records(rows)).round(3).tolist()
    [0.493, 0.493, 0.368]
    """

    name: ClassVar[str] = "consensus"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _check_power("gamma", self.gamma)

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Measure each judge's distance from the means."""
        problem = pose(panel)
        unit, weight, turned = problem.forecasts.unit, panel.weight, problem.turned()
        event, _ = by_appearance(2 * problem.coordinate.astype(np.int64) + problem.conditional)
        mean = merged_mean(BRIER, event[unit], turned, weight, count=len(unit))[event[unit]]
        square = np.where(weight > 0, weight * (turned - mean) ** 2, 0.0)
        count = len(panel.judges)
        total = np.bincount(panel.judge_index, weight, count)
        sums = np.bincount(panel.judge_index, square, count)
        distance = np.sqrt(np.divide(sums, total, out=np.zeros(count), where=total > 0))
        return np.exp(-self.gamma * _relative(distance))

    def describe(self, panel: Panel) -> str:  # noqa: ARG002
        """Say how judges are weighted."""
        return f"by their agreement with the panel's means (gamma {self.gamma:g})"


@dataclass(frozen=True, slots=True)
class ProductWeights(Viewed):
    """The product of several weightings, `parts`; by default coherence times consensus.

    Weights that fall both with a judge's own incoherence and with the distance from the panel's means are the idea of
    Wang, Kulkarni, Poor and Osherson (2011), Aggregating large sets of probabilistic forecasts by weighted coherent
    adjustment, Decision Analysis 8. The formulas of both are ours, and others can be used instead: this does not
    reproduce that paper.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4)])
    >>> co.ProductWeights((co.EqualWeights(), lambda panel: 1.0 + np.arange(len(panel.judges))))(panel).tolist()
    [1.0, 2.0]
    """

    parts: tuple[Weights, ...] = field(default_factory=lambda: (CoherenceWeights(), ConsensusWeights()))

    def __post_init__(self) -> None:
        listed = (str, os.PathLike, Mapping)
        if not isinstance(self.parts, tuple) or not all(callable(p) or isinstance(p, listed) for p in self.parts):
            raise MethodError(
                "the parts of ProductWeights must be a tuple of weightings, such as co.CoherenceWeights(), or of files "
                "and mappings that list weights"
            )

    @property
    def name(self) -> str:
        """The names of the parts."""
        return " and ".join(map(name_of, self.parts))

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Multiply the factors."""
        factor = np.ones(len(panel.judges))
        for part in self.parts:
            factor = factor * find_weighting(part)(panel)
        return factor

    def describe(self, panel: Panel) -> str:
        """Say how judges are weighted."""
        parts = map(find_weighting, self.parts)
        said = [part.describe(panel) if hasattr(part, "describe") else f"by {part!r}" for part in parts]
        return " and ".join(said) or "alike"


@dataclass(frozen=True, slots=True, eq=False)
class HistoryWeights(Viewed):
    r"""The better a judge's past forecasts were, the more the judge counts.

    $$w = (\bar b / b)^{power}, \qquad b = \frac{n \cdot brier + k \bar b}{n + k}$$

    `history` is a panel with outcomes, or a file with one. There, brier is the judge's mean Brier score over n resolved
    forecasts, and $\bar b$ the mean of all forecasts together. `shrink`, k, is the number of forecasts of average
    accuracy that is added to every judge's history, so that a short history counts for little; a judge without a
    history has the weight of an average judge, 1. `power` says how strongly the weights differ: 0 makes them equal.
    Weights in inverse proportion to mean squared errors are those of Bates and Granger (1969), The combination of
    forecasts, Operational Research Quarterly 20.

    >>> import coherently as co
    >>> past = co.Panel.from_records(
    ...     [("Ann", "p", 0.9), ("Ann", "q", 0.2), ("Bob", "p", 0.4), ("Bob", "q", 0.7)], outcomes={"p": 1, "q": 0}
    ... )
    >>> panel = co.Panel.from_records([("Ann", "r", 0.2), ("Bob", "r", 0.4), ("Cid", "r", 0.9)])
    >>> co.HistoryWeights(past, shrink=2)(panel).round(3).tolist()
    [1.8, 0.692, 1.0]
    """

    name: ClassVar[str] = "history"
    history: Panel | str | os.PathLike[str]
    shrink: float = 10.0
    power: float = 1.0

    def __post_init__(self) -> None:
        _check_power("power", self.power)
        if not 0 < self.shrink < math.inf:
            raise MethodError(f"shrink is {self.shrink}; it must be a number above 0")
        if not np.any(self._panel().written.outcome >= 0):
            raise PanelError("the history has no outcomes: add a column 'outcome' (0 or 1) to it")

    def _panel(self) -> Panel:
        if not isinstance(self.history, Panel):
            object.__setattr__(self, "history", read_panel(self.history))
        assert isinstance(self.history, Panel)
        return self.history

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Score the history."""
        absent = self._absent(panel)
        if len(absent) == len(panel.judges):
            raise PanelError(
                f"no judge of the panel is in the history, whose judges are {name_some(self._panel().judges)}: "
                f"the names must be the same"
            )
        scores = score(self._panel())
        average = float(scores.brier_sum.sum() / scores.scored.sum())
        if average == 0.0:
            return np.ones(len(panel.judges))
        shrunk = (scores.brier_sum + self.shrink * average) / (scores.scored + self.shrink)
        factor = dict(zip(scores.judges, np.power(average / shrunk, self.power).tolist(), strict=True))
        return np.array([factor.get(name, 1.0) for name in panel.judges])

    def _absent(self, panel: Panel) -> list[str]:
        history = self._panel()
        resolved = np.unique(history.judge_index[history.written.outcome[history.event_index] >= 0])
        known = {history.judges[i] for i in resolved.tolist()}
        return [name for name in panel.judges if name not in known]

    def describe(self, panel: Panel) -> str:
        """Say how judges are weighted, and who has no history."""
        absent = self._absent(panel)
        if not absent:
            return "by their past Brier scores"
        counts = "has no history and counts as an average judge"
        if len(absent) > 1:
            counts = "have no history and count as average judges"
        return f"by their past Brier scores ({name_some(absent)} {counts})"


WEIGHTINGS = {
    "equal": EqualWeights,
    "coherence": CoherenceWeights,
    "consensus": ConsensusWeights,
    "coherence-consensus": ProductWeights,
}
"""The weightings that need only the panel, by name."""


def _likely_distance(verdict: Verdict) -> float:
    """The distance, 0 up to rounding, or the middle of its bounds where it is not known."""
    if verdict.coherent or verdict.proved:
        return 0.0 if verdict.coherent else verdict.distance
    return 0.5 * (verdict.distance_low + verdict.distance_high)


def _relative(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give distances as shares of the largest; if all are 0, they stay 0."""
    most = distance.max(initial=0.0)
    return distance / most if most > 0 else distance


def _check_power(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise MethodError(f"{name} is {value}; it must be a number of 0 or more")
