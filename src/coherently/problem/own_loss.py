"""Whether an object is a loss: the members that it must have, and the relations between them.

A loss is tried on numbers. With s = phi'(3/4) - phi'(1/4), the scale of the loss, it must have

    phi''(x) > 0 and phi' increasing,   (phi')^-1(phi'(x)) = x,   d/dx phi'(x) = phi''(x),
    d(p, p) = 0 <= d(x, p),   d/dx d(x, p) = phi'(x) - phi'(p),   d(x, p) = d(1 - x, 1 - p).

The slope of d in x and its zero at x = p leave only one divergence for a phi'. The last is the symmetry on which
merging rests: an event and its complement are one coordinate, so a forecast p of one is a forecast 1 - p of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from coherently.problem.losses import Loss

MEMBERS = ("name", "is_quadratic", "clipped", "gradient", "curvature", "inverse", "divergence")
"""The members of a loss (see `coherently.problem.losses.Loss`)."""


def _mirrored(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points below a half, ascending, with the half and their complements."""
    below = np.sort(points)
    return np.concatenate([below, [0.5], 1.0 - below[::-1]])


INSIDE = _mirrored(
    np.concatenate([[1e-6, 1e-5, 1e-4, 1e-3], np.arange(1, 200) / 400, 0.5 * np.random.default_rng(0).random(200)])
)
"""The probabilities on which a loss is tried: a fine grid, points near 0 and 1, and random ones."""
SLOPED = _mirrored((np.arange(40) + 0.37) / 80)
"""The points at which slopes are measured: none is round but 1/2, since a loss may have kinks at round numbers."""
CLOSE = 1e-6
"""Maximum difference of probabilities that must be equal; of other numbers relative to the loss's scale or to them."""
STEP = 1e-4
"""Half the distance over which slopes are measured, relative to the distance from 0 or 1.

The error of such a slope is STEP^2 times a third derivative, and the rounding of the function divided by STEP.
"""
CLOSE_SLOPES = 1e-4
"""Maximum difference of slopes, relative to the loss's scale or to the slope."""


def check_loss(loss: Loss, taken: Container[str]) -> None:
    """Raise an error that says why an object is not a loss; the names in `taken` are used already.

    >>> check_loss(0.5, ())
    Traceback (most recent call last):
    coherently.errors.MethodError: 0.5 is not a loss: it has no name, is_quadratic, clipped, gradient, curvature, ...
    """
    if isinstance(loss, type):
        raise MethodError(f"the loss is the class {loss.__name__}; make an object of it: {loss.__name__}()")
    missing = [member for member in MEMBERS if not hasattr(loss, member)]
    if missing:
        raise MethodError(f"{loss!r} is not a loss: it has no {', '.join(missing)}; see coherently.problem.Loss")
    if loss.name in taken:
        raise MethodError(f"the name {loss.name!r} is that of another loss; give your loss a different name")
    try:
        with np.errstate(all="ignore"):
            _check_numbers(loss)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise MethodError(f"the loss {loss.name} cannot be computed for an array of probabilities: {error}") from error


def _check_numbers(loss: Loss) -> None:
    """Try each member, and then what ties them together."""
    clipped = _check_clipped(loss)
    scale = _check_convex(loss)
    _check_divergence(loss, clipped, scale)
    _check_slopes(loss, clipped, scale)


def _check_clipped(loss: Loss) -> NDArray[np.float64]:
    """What clipping makes of the probabilities tried, with 0 and 1: distinct numbers, ascending."""
    given = np.concatenate([[0.0], INSIDE, [1.0]])
    clipped = _array(loss, "clipped", loss.clipped(given), len(given))
    if clipped.min() < 0 or clipped.max() > 1:
        _refuse(loss, "clips a forecast to a number outside [0, 1]")
    if (np.diff(clipped) < 0).any():
        _refuse(loss, "clips a higher forecast to a lower number: clipped must not decrease")
    if not np.array_equal(_array(loss, "clipped", loss.clipped(clipped), len(given)), clipped):
        _refuse(loss, "clips a clipped forecast again: clipped(clipped(p)) must be clipped(p)")
    if not np.allclose(clipped[::-1], 1.0 - clipped, rtol=0, atol=CLOSE):
        _refuse_asymmetric(loss, "clipped(1 - p) must be 1 - clipped(p)")
    return np.unique(clipped)


def _check_convex(loss: Loss) -> float:
    """Test that the gradient increases, with its inverse; return the scale of the loss."""
    gradient = _array(loss, "gradient", loss.gradient(INSIDE), len(INSIDE))
    curvature = _array(loss, "curvature", loss.curvature(INSIDE), len(INSIDE))
    if not (curvature > 0).all() or not (np.diff(gradient) > 0).all():
        _refuse(loss, "is not strictly convex: curvature must be above 0, and gradient must increase")
    if not np.allclose(_array(loss, "inverse", loss.inverse(gradient), len(INSIDE)), INSIDE, rtol=0, atol=CLOSE):
        _refuse(loss, "does not fit together: inverse(gradient(p)) must be p")
    quarter, rest = np.interp([0.25, 0.75], INSIDE, gradient)
    return float(rest - quarter)


def _check_divergence(loss: Loss, clipped: NDArray[np.float64], scale: float) -> None:
    """Test the divergence between some of the probabilities tried, 0 and 1 included, and clipped forecasts."""
    _array(loss, "gradient", loss.gradient(clipped), len(clipped))
    p = _mirrored(np.concatenate([clipped[clipped < 0.5][::12], clipped[:1]]))
    x = np.concatenate([[0.0], p, [1.0]])
    apart = _divergences(loss, x, p)
    if (apart < -CLOSE * scale).any() or np.abs(np.diag(apart[1:-1])).max() > CLOSE * scale:
        _refuse(loss, "has a divergence that is below 0, or not 0 between equal probabilities")
    if loss.is_quadratic and not np.allclose(apart, np.square(np.subtract.outer(x, p)), rtol=0, atol=1e-12):
        _refuse(loss, "is said to be quadratic, but its divergence is not (x - p)^2; set is_quadratic to False")
    turned = apart[::-1, ::-1]
    off = np.abs(apart - turned) - CLOSE * np.maximum(scale, apart)
    if off.max() > 0:
        i, j = np.unravel_index(off.argmax(), off.shape)
        _refuse_asymmetric(
            loss,
            f"divergence(x, p) must be divergence(1 - x, 1 - p), but it is {apart[i, j]:.6g} for x = {x[i]:.4g} and "
            f"p = {p[j]:.4g}, and {turned[i, j]:.6g} for the complements",
        )


def _check_slopes(loss: Loss, clipped: NDArray[np.float64], scale: float) -> None:
    """Test that curvature is the slope of the gradient, and the gradient that of the divergence."""
    reach = STEP * np.minimum(SLOPED, 1.0 - SLOPED)
    below, above = SLOPED - reach, SLOPED + reach
    over = (above - below)[:, None]
    lower, gradient, upper = (_array(loss, "gradient", loss.gradient(x), len(x)) for x in (below, SLOPED, above))
    curvature = _array(loss, "curvature", loss.curvature(SLOPED), len(SLOPED))
    if not np.allclose((upper - lower) / (above - below), curvature, rtol=CLOSE_SLOPES, atol=CLOSE_SLOPES * scale):
        _refuse(loss, "does not fit together: curvature is not the slope of gradient")
    p = clipped[:: max(1, len(clipped) // 20)]
    slope = (_divergences(loss, above, p) - _divergences(loss, below, p)) / over
    expected = np.subtract.outer(gradient, loss.gradient(p))
    if not np.allclose(slope, expected, rtol=CLOSE_SLOPES, atol=CLOSE_SLOPES * scale):
        _refuse(loss, "does not fit together: gradient is not the slope of divergence in its first argument")


def _divergences(loss: Loss, x: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The divergence of each x, by rows, from each p."""
    rows, columns = (side.ravel() for side in np.meshgrid(x, p, indexing="ij"))
    return _array(loss, "divergence", loss.divergence(rows, columns), len(rows)).reshape(len(x), len(p))


def _array(loss: Loss, member: str, values: object, count: int) -> NDArray[np.float64]:
    """The values that a member returns, if there is one for each number that it was given."""
    found = np.asarray(values, np.float64)
    if found.shape != (count,):
        _refuse(loss, f"gives {member} of the shape {found.shape} where it got {count} numbers")
    if not np.isfinite(found).all():
        _refuse(
            loss,
            f"gives {found[~np.isfinite(found)][0]} for {member}: it must be finite at every probability between 0 "
            "and 1 and at clipped(0) and clipped(1); if it is infinite at 0 and 1, let clipped move forecasts away "
            "from there, as co.Log does",
        )
    return found


def _refuse_asymmetric(loss: Loss, why: str) -> NoReturn:
    _refuse(
        loss,
        f"is not symmetric: {why}. A forecast p of an event is also a forecast 1 - p of its complement, and both must "
        "lose the same; where some events matter more, give their forecasts more weight",
    )


def _refuse(loss: Loss, why: str) -> NoReturn:
    raise MethodError(f"the loss {loss.name} {why}")
