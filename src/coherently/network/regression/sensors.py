"""What a sensor of a field keeps, and the limit that the sensors' projections have."""

from __future__ import annotations

import math
import warnings
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import block_diag
from scipy.spatial.distance import cdist

from coherently.errors import MethodError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray
    from scipy.spatial import KDTree

    from coherently.arrays import Indices, Vector

    Points: TypeAlias = NDArray[np.float64]

KernelChoice: TypeAlias = "str | tuple[str, float] | Callable[[Points, Points], ArrayLike]"
Neighbours: TypeAlias = "float | Sequence[Sequence[int]]"

PROFILES: dict[str, Callable[[Points], Points]] = {
    "gaussian": lambda ratio: np.exp(-(ratio**2)),
    "laplace": lambda ratio: np.exp(-ratio),
}
"""Kernels by name: functions of the distance divided by the width."""
CLOSE = 1e-9
"""The estimated distance from its limit at which a field counts as converged."""
FAR = 1e-6
"""The distance from which on there is a warning."""
MOST_STEPS = 20_000
"""Maximum number of steps to the limit."""
SEEN_AHEAD = 20
"""Number of last steps whose falls of the dual estimate how far away the limit was before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSensor:
    """What one sensor keeps: its neighbours, the factor of K + penalty I, K, the penalty, its coefficients."""

    near: Indices
    factor: tuple[NDArray[np.float64], bool]
    matrix: NDArray[np.float64]
    penalty: float
    coefficients: Vector

    def step(self, z: Vector) -> None:
        """Project on where this sensor's function and the field z agree."""
        left = z[self.near] - self.matrix @ self.coefficients
        change = cho_solve(self.factor, left, check_finite=False)
        self.coefficients[:] += change
        z[self.near] -= self.penalty * change


def find_kernel(choice: KernelChoice) -> Callable[[Points, Points], Points]:
    """The function of a word and a width, or of a user, whose answers are checked."""
    if callable(choice):
        return _checked(choice)
    name, width = (choice, 1.0) if isinstance(choice, str) else choice
    if name not in PROFILES:
        raise MethodError(f"unknown kernel {name!r}; known are {', '.join(PROFILES)}, or give a function")
    if not 0 < width < math.inf:
        raise MethodError(f"the width of the kernel is {width}; it must be a number above 0")
    profile = PROFILES[name]
    return lambda one, other: profile(cdist(one, other) / width)


def _checked(own: Callable[[Points, Points], ArrayLike]) -> Callable[[Points, Points], Points]:
    def kernel(one: Points, other: Points) -> Points:
        matrix = np.array(own(one, other), np.float64)
        if matrix.shape != (len(one), len(other)) or not np.isfinite(matrix).all():
            raise MethodError(
                f"the kernel gave an array of the shape {matrix.shape} for {len(one)} and {len(other)} points; it must "
                "give one row per point of the first array and one column per point of the second, of finite numbers"
            )
        return matrix

    return kernel


def find_neighbours(choice: Neighbours, places: Points, tree: KDTree) -> list[Indices]:
    """Who hears whom: sorted numbers of sensors, each sensor among its own."""
    count = len(places)
    if isinstance(choice, int | float):
        if not 0 <= choice < math.inf:
            raise MethodError(f"the radius is {choice}; it must be a number of 0 or more")
        return [np.unique(near).astype(np.intp) for near in tree.query_ball_point(places, choice)]
    if len(choice) != count:
        raise MethodError(f"neighbours has {len(choice):,} lists; there are {count:,} sensors")
    found = [np.unique([i, *mine]).astype(np.intp) for i, mine in enumerate(choice)]
    wrong = [i for i, mine in enumerate(found) if mine[0] < 0 or mine[-1] >= count]
    if wrong:
        raise MethodError(f"the neighbours of sensor {wrong[0]} must be numbers from 0 to {count - 1}")
    return found


def make_sensor(
    kernel: Callable[[Points, Points], Points], places: Points, near: Indices, penalty: float
) -> FieldSensor:
    """A sensor that hears the sensors `near`, before the first step."""
    matrix = kernel(places[near], places[near])
    try:
        factor = cho_factor(matrix + penalty * np.eye(len(near)), lower=True)
    except np.linalg.LinAlgError:
        raise MethodError(
            "the kernel is not positive semidefinite at these places; choose another, or a larger penalty"
        ) from None
    return FieldSensor(
        near=near, factor=factor, matrix=matrix, penalty=float(penalty), coefficients=np.zeros(len(near))
    )


def read_points(given: ArrayLike) -> Points:
    """A table of places, checked."""
    points = np.array(given, np.float64)
    if points.ndim != 2 or not points.shape[1] or not np.isfinite(points).all():
        raise MethodError("X must be a table of finite numbers with one row per point and one column per coordinate")
    return points


def find_limit(sensors: Sequence[FieldSensor], y: Vector) -> tuple[Vector, int]:
    """The limit of the sweeps and the number of steps to it; the sensors get their coefficients.

    Conjugate gradients for M m = (y at the neighbours of each sensor), M = diag(K_i / l_i) + the sum over all sensors
    that share a place, preconditioned by what one sensor knows: K_i / l_i + I.
    """
    near = np.concatenate([sensor.near for sensor in sensors])
    own = block_diag([sensor.matrix / sensor.penalty for sensor in sensors], format="csr")
    inverses = [np.linalg.inv(sensor.matrix / sensor.penalty + np.eye(len(sensor.near))) for sensor in sensors]
    known = block_diag(inverses, format="csr")
    m, left = np.zeros(len(near)), y[near]
    ahead = known @ left
    size, falls, steps = float(left @ ahead), deque([math.inf] * SEEN_AHEAD, SEEN_AHEAD), 0
    while size > 0 and math.sqrt(sum(falls)) > CLOSE and steps < MOST_STEPS:
        image = own @ ahead + np.bincount(near, ahead, len(y))[near]
        length = size / float(ahead @ image)
        m, left, steps = m + length * ahead, left - length * image, steps + 1
        falls.append(length * size)
        settled = known @ left
        before, size = size, float(left @ settled)
        ahead = settled + (size / before) * ahead
    if math.sqrt(sum(falls)) > FAR and size > 0:
        warnings.warn(
            f"the field moved by {math.sqrt(sum(falls)):.1e} in the last {SEEN_AHEAD} of {steps:,} steps to the limit. "
            "Matrices of smooth kernels are singular to rounding, and the limit depends on what is rounded off: take a "
            "narrower kernel, the kernel laplace, a larger penalty, or a number of sweeps",
            RuntimeWarning,
            stacklevel=3,
        )
    for sensor, share in zip(
        sensors, np.split(m, np.cumsum([len(sensor.near) for sensor in sensors])[:-1]), strict=True
    ):
        sensor.coefficients[:] = share / sensor.penalty
    return y - np.bincount(near, m, len(y)), steps
