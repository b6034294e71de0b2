"""Whether an object is a loss: the members that it must have, and the relations between them."""

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
TRIED = np.linspace(0.02, 0.98, 25)
"""The forecasts on which a loss is tested."""
CLOSE = 1e-6
"""Maximum difference of numbers that must be equal, relative to 1 or to the larger one."""


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
        _check_numbers(loss)
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise MethodError(f"the loss {loss.name} cannot be computed for an array of probabilities: {error}") from error


def _check_numbers(loss: Loss) -> None:
    """Test the members on a few forecasts, and on every pair of these, 0 and 1."""
    p = _array(loss, "clipped", loss.clipped(TRIED), len(TRIED))
    gradient = _array(loss, "gradient", loss.gradient(p), len(p))
    if not (_array(loss, "curvature", loss.curvature(p), len(p)) > 0).all() or not (np.diff(gradient) > 0).all():
        _refuse(loss, "is not strictly convex: curvature must be above 0, and gradient must increase")
    if not np.allclose(_array(loss, "inverse", loss.inverse(gradient), len(p)), p, rtol=0, atol=CLOSE):
        _refuse(loss, "does not fit together: inverse(gradient(p)) must be p")
    x = np.concatenate([[0.0], p, [1.0]])
    rows, columns = (side.ravel() for side in np.meshgrid(x, p))
    apart = _array(loss, "divergence", loss.divergence(rows, columns), len(rows)).reshape(len(p), len(x))
    if (apart < -CLOSE).any() or np.abs(np.diag(apart[:, 1:-1])).max() > CLOSE:
        _refuse(loss, "has a divergence that is below 0, or not 0 between equal probabilities")
    # For the divergence of phi, d(x, p) + d(p, x) = (phi'(x) - phi'(p)) (x - p).
    both, product = apart[:, 1:-1] + apart[:, 1:-1].T, np.subtract.outer(gradient, gradient) * np.subtract.outer(p, p)
    if not np.allclose(both, product, rtol=CLOSE, atol=CLOSE):
        _refuse(loss, "does not fit together: gradient is not the slope of divergence in its first argument")
    if loss.is_quadratic and not np.allclose(apart, np.square(np.subtract.outer(p, x)), rtol=0, atol=1e-12):
        _refuse(loss, "is said to be quadratic, but its divergence is not (x - p)^2; set is_quadratic to False")


def _array(loss: Loss, member: str, values: object, count: int) -> NDArray[np.float64]:
    """The values that a member returns, if there is one for each number that it was given."""
    found = np.asarray(values, np.float64)
    if found.shape != (count,):
        _refuse(loss, f"gives {member} of the shape {found.shape} where it got {count} numbers")
    if not np.isfinite(found).all():
        _refuse(loss, f"gives {found[~np.isfinite(found)][0]} for {member} of probabilities between 0 and 1")
    return found


def _refuse(loss: Loss, why: str) -> NoReturn:
    raise MethodError(f"the loss {loss.name} {why}")
