"""Rules for predicting with expert advice: a loss, a learning rate, and a prediction from weighted forecasts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from coherently.errors import MethodError
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
LOSSES = {"square": lambda error: error**2, "absolute": abs}
"""The losses by name, as functions of the difference between forecast and outcome."""


class LearningRule(Protocol):
    """How a panel of experts predicts and learns."""

    @property
    def loss(self) -> str:
        """A name in `LOSSES`."""

    def rate(self, experts: int) -> float:
        """By how much a loss of 1 lowers the logarithm of a weight."""

    def predict(self, weight: Floats, forecast: Floats, rate: float) -> Floats:
        """Predict each event (column) from forecasts (one row per expert) with weights that sum to 1 in each column."""

    def bound(self, experts: int) -> float:
        """A bound that the regret towards any expert never exceeds."""


@dataclass(frozen=True, slots=True)
class Hedge(Viewed):
    r"""Exponential weights for a known number of rounds and any loss that is convex and lies in [0, 1].

    The prediction is the weighted mean, the learning rate $\sqrt{8 \ln N / T}$ for N experts and T `rounds`; then the
    regret is at most $\sqrt{T \ln N / 2}$. `loss` is "square" or "absolute".

    Cesa-Bianchi and Lugosi (2006), Prediction, learning, and games, theorem 2.2.

    >>> import coherently as co
    >>> round(co.Hedge(rounds=100).rate(8), 4), round(co.Hedge(rounds=100).bound(8), 4)
    (0.4079, 10.1967)
    """

    rounds: int
    loss: str = "square"

    def __post_init__(self) -> None:
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int) or self.rounds < 1:
            raise MethodError(f"rounds is {self.rounds!r}; it must be a whole number of 1 or more")
        if self.loss not in LOSSES:
            raise MethodError(f"unknown loss {self.loss!r} of Hedge; the losses are {', '.join(LOSSES)}")

    def rate(self, experts: int) -> float:
        """The rate that is best for the number of rounds."""
        return math.sqrt(8.0 * math.log(experts) / self.rounds)

    def predict(self, weight: Floats, forecast: Floats, rate: float) -> Floats:  # noqa: ARG002
        """The weighted mean."""
        return _mean(weight, forecast)

    def bound(self, experts: int) -> float:
        """The bound for all rounds together."""
        return math.sqrt(0.5 * self.rounds * math.log(experts))


@dataclass(frozen=True, slots=True)
class ExponentialAverage(Viewed):
    r"""The exponentially weighted average for the square loss: rate 1/2, regret at most $2 \ln N$ after any round.

    The square loss of probabilities is 1/2-exp-concave: Cesa-Bianchi and Lugosi (2006), Prediction, learning, and
    games, section 3.3.

    >>> import coherently as co
    >>> co.ExponentialAverage().rate(8), round(co.ExponentialAverage().bound(8), 4)
    (0.5, 4.1589)
    """

    @property
    def loss(self) -> str:
        """The square loss."""
        return "square"

    def rate(self, experts: int) -> float:  # noqa: ARG002
        """The largest rate at which the loss is exp-concave."""
        return 0.5

    def predict(self, weight: Floats, forecast: Floats, rate: float) -> Floats:  # noqa: ARG002
        """The weighted mean."""
        return _mean(weight, forecast)

    def bound(self, experts: int) -> float:
        """The bound after any round."""
        return 2.0 * math.log(experts)


@dataclass(frozen=True, slots=True)
class Vovk(Viewed):
    r"""Vovk's aggregating algorithm for the square loss: rate 2, regret at most $\ln(N) / 2$ after any round.

    With $g(y) = -\frac12 \ln \sum w e^{-2 (p - y)^2}$ for the outcomes y = 0 and 1, the prediction is
    $\frac12 + \frac12 (g(0) - g(1))$, cut to [0, 1]: its loss is at most g whatever happens.

    Vovk (1990), Aggregating strategies, COLT; Vovk (2001), Competitive on-line statistics, International Statistical
    Review 69.

    >>> import coherently as co
    >>> co.Vovk().rate(8), round(co.Vovk().bound(8), 4)
    (2.0, 1.0397)
    """

    @property
    def loss(self) -> str:
        """The square loss."""
        return "square"

    def rate(self, experts: int) -> float:  # noqa: ARG002
        """The largest rate at which the loss is mixable."""
        return 2.0

    def predict(self, weight: Floats, forecast: Floats, rate: float) -> Floats:
        """The substitution: a prediction that loses no more than the mixture, whatever happens."""
        known = np.where(np.isnan(forecast), 0.0, forecast)
        with np.errstate(divide="ignore", invalid="ignore"):
            none, one = (-np.log(np.sum(weight * np.exp(-rate * (known - y) ** 2), axis=0)) / rate for y in (0.0, 1.0))
        prediction: Floats = np.clip(0.5 + 0.5 * (none - one), 0.0, 1.0)
        return prediction

    def bound(self, experts: int) -> float:
        """The bound after any round."""
        return 0.5 * math.log(experts)


RULES: dict[str, Callable[..., LearningRule]] = {"hedge": Hedge, "exponential": ExponentialAverage, "vovk": Vovk}
"""The rules by name."""


def find_rule(rule: str | LearningRule) -> LearningRule:
    """Give the rule with a name, or the rule itself."""
    if isinstance(rule, str):
        if rule == "hedge":
            raise MethodError("Hedge must know the number of rounds: write rule=co.Hedge(rounds=1000)")
        if rule not in RULES:
            raise MethodError(f"unknown rule {rule!r}; the rules are {', '.join(RULES)}")
        return RULES[rule]()
    if isinstance(rule, type) or not all(hasattr(rule, name) for name in ("loss", "rate", "predict", "bound")):
        raise MethodError(f"rule is {rule!r}; it must be a name ({', '.join(RULES)}) or an object such as co.Vovk()")
    return rule


def _mean(weight: Floats, forecast: Floats) -> Floats:
    mean: Floats = np.clip(np.sum(weight * np.where(np.isnan(forecast), 0.0, forecast), axis=0), 0.0, 1.0)
    # An event that nobody forecasts has no weights that sum to 1.
    return np.where(np.isnan(weight).any(axis=0), np.nan, mean)
