"""Losses: what a forecast costs, and the distance of forecasts from coherence that goes with it.

A proper loss is given by a convex function phi on [0, 1]. A forecast p loses its Bregman divergence from the truth,

    d(x, p) = phi(x) - phi(p) - phi'(p) (x - p),

which is also the distance between probabilities. The projection of forecasts p on a convex set is the x in it with the
least sum of w d(x, p); then d(v, p) >= d(v, x) + d(x, p), summed likewise, for every v in the set: in every possible
world the projection loses less. It depends on p only through phi'(p), with which the algorithms work.

Savage (1971), Elicitation of personal probabilities and expectations, Journal of the American Statistical Association
66; Bregman (1967), The relaxation method of finding the common point of convex sets, USSR Computational Mathematics
and Mathematical Physics 7; Predd, Seiringer, Lieb, Osherson, Poor and Kulkarni (2009), Probabilistic coherence and
proper scoring rules, IEEE Transactions on Information Theory 55.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from coherently.errors import MethodError, unknown_word
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CERTAIN = 1000.0
"""The log-odds that stand for certainty; their probabilities are exactly 0 and 1 in floating point."""


class Loss(Protocol):
    """What the methods ask of a loss; arrays in, arrays of the same shape out.

    Your own object with these members is a loss for the method exact, for pools that it follows, and for
    `coherently.verify`. Projections support only the losses of the package. It must be strictly convex and symmetric,
    d(x, p) = d(1 - x, 1 - p), because a forecast of an event is also one of its complement; both, and that the
    members fit together, are tested on numbers when you pass it.

    >>> import coherently as co
    >>> class Quartic:
    ...     name, is_quadratic = "quartic", False
    ...     def clipped(self, p): return np.asarray(p, float)
    ...     def gradient(self, x): return 4 * (np.asarray(x, float) - 0.5) ** 3 + 2 * np.asarray(x, float)
    ...     def curvature(self, x): return 12 * (np.asarray(x, float) - 0.5) ** 2 + 2
    ...     def inverse(self, g): return np.interp(g, self.gradient(GRID), GRID)
    ...     def divergence(self, x, p):
    ...         x, p = np.asarray(x, float), np.asarray(p, float)
    ...         bent = (x - 0.5) ** 4 - (p - 0.5) ** 4 - 4 * (p - 0.5) ** 3 * (x - p)
    ...         return bent + (x - p) ** 2
    >>> GRID = np.linspace(0, 1, 10_001)
    >>> panel = co.Panel.from_records([("Ann", "p", 0.9), ("Ann", "~p", 0.5), ("Bob", "p & q", 0.8)])
    >>> co.aggregate(panel, "exact", Quartic()).frame().round(3).probability.tolist()
    [0.759, 0.241, 0.759]
    """

    @property
    def name(self) -> str:
        """The name of the loss."""

    @property
    def is_quadratic(self) -> bool:
        """Whether it is the squared loss, for which there are faster methods."""

    def clipped(self, p: ArrayLike) -> NDArray[np.float64]:
        """Forecasts as the loss counts them."""

    def gradient(self, x: ArrayLike) -> NDArray[np.float64]:
        """The dual phi'(x) of probabilities."""

    def curvature(self, x: ArrayLike) -> NDArray[np.float64]:
        """The second derivative phi''(x)."""

    def inverse(self, g: ArrayLike) -> NDArray[np.float64]:
        """The probabilities of duals."""

    def divergence(self, x: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """What forecasts p lose against x: outcomes or other probabilities."""


@dataclass(frozen=True, slots=True)
class Brier(Viewed):
    r"""The squared loss.

    $$\phi(x) = x^2, \qquad \phi'(x) = 2x, \qquad d(x, p) = (x - p)^2$$

    >>> loss = Brier()
    >>> loss.gradient([0.0, 0.25, 1.0]), loss.inverse([0.0, 0.5, 2.0])
    (array([0. , 0.5, 2. ]), array([0.  , 0.25, 1.  ]))
    >>> loss.divergence([1, 0], 0.75)
    array([0.0625, 0.5625])
    """

    name: ClassVar[str] = "brier"
    is_quadratic: ClassVar[bool] = True

    def clipped(self, p: ArrayLike) -> NDArray[np.float64]:
        """Forecasts as they are."""
        return _floats(p)

    def gradient(self, x: ArrayLike) -> NDArray[np.float64]:
        """The dual, 2x."""
        return 2.0 * _floats(x)

    def curvature(self, x: ArrayLike) -> NDArray[np.float64]:
        """The constant 2."""
        return np.full_like(_floats(x), 2.0)

    def inverse(self, g: ArrayLike) -> NDArray[np.float64]:
        """The x of a dual, g/2, for any real g: outside [0, 1] if g is outside [0, 2]."""
        return _floats(g) / 2.0

    def divergence(self, x: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The squared difference."""
        return np.square(_floats(x) - _floats(p))


@dataclass(frozen=True, slots=True)
class Log(Viewed):
    r"""The logarithmic loss, in nats; its divergence is that of Kullback and Leibler, its dual the log-odds.

    $$\phi(x) = x \ln x + (1-x) \ln(1-x), \quad \phi'(x) = \ln\frac{x}{1-x}, \quad
    d(x, p) = x \ln\frac{x}{p} + (1-x) \ln\frac{1-x}{1-p}$$

    A certain forecast that fails would have an infinite loss, and no evidence would move it: `clipped` forecasts
    lie in [`clip`, 1 - `clip`]. The other members do not clip.

    >>> loss = Log()
    >>> loss.gradient([0.2, 0.5]).round(6), loss.inverse([np.log(0.25), 0.0])
    (array([-1.386294,  0.      ]), array([0.2, 0.5]))
    >>> loss.clipped([0.0, 0.5, 1.0])
    array([1.000e-04, 5.000e-01, 9.999e-01])
    >>> loss.divergence([0, 1, 0.5], 0.5).round(6)
    array([0.693147, 0.693147, 0.      ])
    """

    clip: float = 1e-4

    name: ClassVar[str] = "log"
    is_quadratic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.clip < 0.5:
            raise MethodError(f"clip is {self.clip}; it must lie between 0 and 0.5, such as 1e-4")

    def clipped(self, p: ArrayLike) -> NDArray[np.float64]:
        """Forecasts no nearer to 0 and 1 than `clip`."""
        return np.clip(_floats(p), self.clip, 1.0 - self.clip)

    def gradient(self, x: ArrayLike) -> NDArray[np.float64]:
        """The log-odds; those of 0 and 1 are -1000 and 1000 instead of infinite."""
        probability = _floats(x)
        with np.errstate(divide="ignore"):
            odds: NDArray[np.float64] = np.log(probability) - np.log1p(-probability)
        return odds.clip(-CERTAIN, CERTAIN)

    def curvature(self, x: ArrayLike) -> NDArray[np.float64]:
        """The reciprocal of x (1 - x); infinite at 0 and 1."""
        probability = _floats(x)
        with np.errstate(divide="ignore"):
            return 1.0 / (probability * (1.0 - probability))

    def inverse(self, g: ArrayLike) -> NDArray[np.float64]:
        """The logistic function, 1 / (1 + exp(-g)), for any real g: within [0, 1]."""
        dual = _floats(g)
        small = np.exp(-np.abs(dual))
        numerator: NDArray[np.float64] = np.where(dual < 0, small, 1.0)
        return numerator / (1.0 + small)

    def divergence(self, x: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The relative entropy of two events; infinite where p is 0 or 1 and x differs."""
        truth, forecast = np.broadcast_arrays(_floats(x), _floats(p))
        return _relative_entropy(truth, forecast) + _relative_entropy(1.0 - truth, 1.0 - forecast)


@dataclass(frozen=True, slots=True)
class Spherical(Viewed):
    r"""The spherical loss: 1 minus the cosine of the forecast (p, 1 - p) and the outcome (1, 0) or (0, 1).

    $$\phi(x) = \sqrt{x^2 + (1-x)^2}, \qquad \phi'(x) = \frac{2x - 1}{\phi(x)}, \qquad
    d(x, p) = \phi(x) - \frac{xp + (1-x)(1-p)}{\phi(p)}$$

    The dual maps [0, 1] onto [-1, 1] and the real line onto the open interval of the roots of 2, with the inverse

    $$x = \frac{1}{2} + \frac{g}{2 \sqrt{2 - g^2}}$$

    >>> loss = Spherical()
    >>> loss.gradient([0.0, 0.25, 0.5, 1.0]).round(6), loss.inverse([-1.0, 0.0, 1.0])
    (array([-1.      , -0.632456,  0.      ,  1.      ]), array([0. , 0.5, 1. ]))
    >>> loss.divergence([1, 0], 0.75).round(6)
    array([0.051317, 0.683772])
    """

    name: ClassVar[str] = "spherical"
    is_quadratic: ClassVar[bool] = False

    def clipped(self, p: ArrayLike) -> NDArray[np.float64]:
        """Forecasts as they are."""
        return _floats(p)

    def gradient(self, x: ArrayLike) -> NDArray[np.float64]:
        """The dual, (2x - 1) / phi(x)."""
        probability = _floats(x)
        return (2.0 * probability - 1.0) / np.hypot(probability, 1.0 - probability)

    def curvature(self, x: ArrayLike) -> NDArray[np.float64]:
        """The reciprocal of phi(x) cubed."""
        probability = _floats(x)
        return np.hypot(probability, 1.0 - probability) ** -3.0

    def inverse(self, g: ArrayLike) -> NDArray[np.float64]:
        """The x of a dual: outside [0, 1] if the dual is outside [-1, 1], NaN from the roots of 2 on."""
        dual = _floats(g)
        below = 2.0 - np.square(dual)
        return 0.5 + 0.5 * dual / np.sqrt(np.where(below > 0, below, np.nan))

    def divergence(self, x: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The divergence, computed as (x - p)^2 / (phi(p) (phi(x) phi(p) + xp + (1-x)(1-p))): nothing cancels."""
        truth, forecast = _floats(x), _floats(p)
        norm = np.hypot(forecast, 1.0 - forecast)
        product = truth * forecast + (1.0 - truth) * (1.0 - forecast)
        return np.square(truth - forecast) / (norm * (np.hypot(truth, 1.0 - truth) * norm + product))


LOSSES: dict[str, type[Brier | Log | Spherical]] = {"brier": Brier, "log": Log, "spherical": Spherical}
"""The losses by their names."""
KERNELS = (Brier, Log, Spherical)
"""The losses that the compiled projections on groups support."""
BRIER = Brier()


def find_loss(loss: str | Loss, clip: float | None = None) -> Loss:
    """Return the loss with a name, with its defaults unless a clip is given, or the loss itself if it is one.

    Any object with the members of `Loss` is a loss; whether these are consistent is tested on a few probabilities.

    >>> find_loss("log"), find_loss("log", 0.02), find_loss(Log(clip=0.01))
    (Log(clip=0.0001), Log(clip=0.02), Log(clip=0.01))
    """
    if isinstance(loss, str) and loss in LOSSES:
        return _built_in(LOSSES[loss], clip)
    if isinstance(loss, str):
        raise unknown_word("loss", loss, LOSSES, "losses", more=", or an object of your own")
    if type(loss) not in KERNELS:  # objects of derived classes may differ from these
        from coherently.problem.own_loss import check_loss  # it draws numbers, whose module takes time to load

        check_loss(loss, LOSSES)
    return loss


def _built_in(kind: type[Brier | Log | Spherical], clip: float | None) -> Loss:
    if clip is None:
        return kind()
    if kind is not Log:
        raise MethodError(f"clip goes with the loss log, not with {kind.name}")
    return Log(clip)


def merged_mean(
    loss: Loss, index: NDArray[np.integer], forecast: ArrayLike, weight: ArrayLike, count: int
) -> NDArray[np.float64]:
    r"""Merge the forecasts of each of `count` events; `index` has the event of each forecast.

    $$q = (\phi')^{-1}\!\left(\frac{\sum_i w_i\, \phi'(p_i)}{\sum_i w_i}\right)$$

    This is the q for which the sum of w_i d(x, p_i) is (sum of w_i) d(x, q) plus a constant, whatever x: the mean
    under the Brier loss, the mean of the log-odds under the log loss. NaN where the weights sum to 0.

    >>> index = np.zeros(3, np.int32)
    >>> [merged_mean(loss, index, [0.75, 0.60, 0.95], np.ones(3), 1).round(6).item() for loss in (Brier(), Log())]
    [0.766667, 0.815001]
    """
    weights = _floats(weight)
    total = np.bincount(index, weights, count)
    sums = np.bincount(index, weights * loss.gradient(loss.clipped(forecast)), count)
    known, mean = total > 0, np.full(count, np.nan)
    mean[known] = loss.inverse(sums[known] / total[known])
    return mean


def _relative_entropy(x: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute x ln(x/p) - x + p, which is never negative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(x > 0, x * np.log(x / p), 0.0) - x + p
    return np.maximum(entropy, 0.0)


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
