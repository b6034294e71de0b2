"""Distributed kernel regression: sensors fit a field together and exchange only estimates at their places.

Predd, Kulkarni and Poor (2006), "Distributed kernel regression: an algorithm for training collaboratively" (SN-Train).
Sensor i stands at x_i, measures y_i, and hears its neighbours N_i, itself among them. All together they solve

    min over z, f_1 ... f_n of  sum_i (z_i - y_i)^2 + sum_i l_i |f_i|^2   with  f_i(x_j) = z_j for j in N_i,

which is the nearest point to (y, 0) in the intersection of n subspaces, one per sensor: where f_i and z agree. The
algorithm projects on one subspace after the other. With multipliers m_i = l_i c_i, where f_i = sum_j c_ij K(., x_j),
z = y - sum_i m_i, and the projections are block Gauss-Seidel steps on the dual

    D(m) = 1/2 sum_i m_i' K_i m_i / l_i + 1/2 |sum_i m_i|^2 - y' sum_i m_i.

The limit, where it is asked for, is found by conjugate gradients on D: D(m) - min D >= 1/2 |z - limit of z|^2 says when
to stop, and where sensors hear many others, sweeps would need a hundred times as many passes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.spatial import KDTree

from coherently.errors import MethodError
from coherently.network.regression.sensors import find_kernel, find_limit, find_neighbours, make_sensor, read_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from coherently.arrays import Vector
    from coherently.network.regression.sensors import KernelChoice, Neighbours, Points


class _Estimator:
    """What the three estimators share: parameters as scikit-learn keeps them, and prediction from coefficients."""

    kernel: KernelChoice
    penalty: ArrayLike
    _names: tuple[str, ...]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn passes it
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name; they count from the next `fit`."""
        for name, value in parameters.items():
            if name not in self._names:
                raise MethodError(f"unknown parameter {name!r}; known are {', '.join(self._names)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._names)})"

    def _read(self, X: ArrayLike, y: ArrayLike) -> tuple[Points, Vector, Vector]:
        """Places, measurements and penalties, one of each per sensor."""
        places, values = read_points(X), np.array(y, np.float64)
        if values.shape != (len(places),) or not len(places) or not np.isfinite(values).all():
            raise MethodError(f"y must have one finite number for each of the {len(places):,} sensors of X")
        penalty = np.array(self.penalty, np.float64)
        if penalty.shape not in ((), (len(places),)) or not ((penalty > 0) & (penalty < math.inf)).all():
            raise MethodError("penalty must be a number above 0, or one such number per sensor")
        self._kernel = find_kernel(self.kernel)
        self._places = places
        return places, values, np.broadcast_to(penalty, len(places))

    def _known(self, X: ArrayLike) -> Points:
        if not hasattr(self, "_places"):
            raise MethodError("there is nothing to predict from: call fit with places and measurements first")
        points = read_points(X)
        if points.shape[1] != self._places.shape[1]:
            raise MethodError(f"X has {points.shape[1]} columns; the sensors' places have {self._places.shape[1]}")
        return points


class _Networked(_Estimator):
    """Estimators with one function per sensor; a point is predicted by the sensor nearest to it, or by one named."""

    def predict(self, X: ArrayLike, sensor: int | None = None) -> Vector:
        """The field at the points X: by the function of the nearest sensor, or of the sensor with this number."""
        points = self._known(X)
        if sensor is not None and not 0 <= sensor < len(self._sensors):
            raise MethodError(f"sensor is {sensor}; it must be a number from 0 to {len(self._sensors) - 1}")
        chosen = self._tree.query(points)[1] if sensor is None else np.full(len(points), sensor)
        found = np.empty(len(points))
        for number in np.unique(chosen).tolist():
            mine, its = chosen == number, self._sensors[number]
            found[mine] = self._kernel(points[mine], self._places[its.near]) @ its.coefficients
        return found

    def _gather(self, X: ArrayLike, y: ArrayLike, neighbours: Neighbours) -> Vector:
        """Make the sensors; return the measurements."""
        places, values, penalty = self._read(X, y)
        self._tree = KDTree(places)
        near = find_neighbours(neighbours, places, self._tree)
        self._sensors = [make_sensor(self._kernel, places, mine, penalty[i]) for i, mine in enumerate(near)]
        self.neighbours_ = [mine.tolist() for mine in near]
        return values


class KernelFusion(_Networked):
    """Kernel regression by sensors that pass estimates to their neighbours (SN-Train).

    In one sweep each sensor in turn takes the estimates z at its neighbours' places, corrects its own function so that
    a kernel ridge fit of what is left is added, and passes the new values back. Sensors never send measurements or
    functions. `sweeps` is the number of passes; None goes to their limit, as a study on one machine can: by conjugate
    gradients, until the field is within 1e-9 of it, as estimated; a warning says if it came no closer than 1e-6.

    `kernel` is a name with a width, `("gaussian", 0.5)` for exp(-(d / 0.5)^2) or `("laplace", 0.5)` for exp(-d / 0.5);
    a name alone, whose width is 1; or a function of two arrays of points, one row each, that gives their matrix.
    `neighbours` is a radius, or one list of sensor numbers per sensor; each sensor is its own neighbour anyway.
    `penalty` is a number for all sensors, or one per sensor.

    After `fit`: `field_`, the shared estimates at the sensors; `sweeps_`, the number of passes, or of steps to the
    limit; `neighbours_`. `predict` asks the nearest sensor. If every sensor hears every other, the limit is
    `CentralKernel` with the sum of the penalties.

    >>> import coherently as co
    >>> X, y = [[0.0], [0.5], [1.0]], [0.0, 1.0, 0.2]
    >>> fusion = co.network.KernelFusion("gaussian", 0.1, neighbours=0.5, sweeps=1).fit(X, y)
    >>> fusion.field_.round(6).tolist(), fusion.neighbours_
    ([0.247409, 0.516281, 0.327595], [[0, 1], [0, 1, 2], [1, 2]])
    >>> fusion.set_params(sweeps=None).fit(X, y).field_.round(6).tolist()
    [0.193142, 0.572798, 0.334751]
    >>> fusion.predict([[0.25], [0.75]]).round(4).tolist()
    [0.4045, 0.5254]
    """

    _names = ("kernel", "penalty", "neighbours", "sweeps")

    def __init__(
        self, kernel: KernelChoice, penalty: ArrayLike, neighbours: Neighbours, sweeps: int | None = None
    ) -> None:
        self.kernel, self.penalty, self.neighbours, self.sweeps = kernel, penalty, neighbours, sweeps

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Let sensors at the places X, one row each, exchange estimates of the field that they measured as y."""
        if self.sweeps is not None and self.sweeps < 0:
            raise MethodError(f"sweeps is {self.sweeps}; it must be 0 or more, or None to run to convergence")
        field = self._gather(X, y, self.neighbours)
        if self.sweeps is None:
            self.field_, self.sweeps_ = find_limit(self._sensors, field)
            return self
        for _ in range(self.sweeps):
            for sensor in self._sensors:
                sensor.step(field)
        self.field_, self.sweeps_ = field, self.sweeps
        return self


class LocalKernel(_Networked):
    """Kernel ridge regression by each sensor from the measurements of its neighbours, without fusion.

    `kernel` is "gaussian" or another kernel by name (with its width, if a pair), or a function of two arrays of places.
    `penalty` is the weight of the function's squared norm, one number or one per sensor. `neighbours` is a distance, or
    a list of neighbours per sensor. `field_` has what each sensor says of its own place.

    >>> X, y = [[0.0], [0.5], [1.0]], [0.0, 1.0, 0.2]
    >>> LocalKernel("gaussian", 0.1, neighbours=0.5).fit(X, y).field_.round(6).tolist()
    [0.129054, 0.673282, 0.292598]
    """

    _names = ("kernel", "penalty", "neighbours")

    def __init__(self, kernel: KernelChoice, penalty: ArrayLike, neighbours: Neighbours) -> None:
        self.kernel, self.penalty, self.neighbours = kernel, penalty, neighbours

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit one function per sensor to the measurements y of the neighbours, at the places X."""
        values = self._gather(X, y, self.neighbours)
        self.field_ = np.empty(len(values))
        for i, sensor in enumerate(self._sensors):
            known = values.copy()
            sensor.step(known)
            self.field_[i] = known[i]
        return self


class CentralKernel(_Estimator):
    """Kernel ridge regression by a centre with all measurements.

    The function f minimises `sum_i (f(x_i) - y_i)^2 + penalty |f|^2`. `kernel` is "gaussian" or a function of two
    arrays of places. `penalty` is the weight of the squared norm.

    >>> X, y = [[0.0], [0.5], [1.0]], [0.0, 1.0, 0.2]
    >>> CentralKernel("gaussian", 0.1).fit(X, y).field_.round(6).tolist()
    [0.18019, 0.673282, 0.352873]
    """

    _names = ("kernel", "penalty")

    def __init__(self, kernel: KernelChoice, penalty: float) -> None:
        self.kernel, self.penalty = kernel, penalty

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit one function to the measurements y at the places X."""
        if np.ndim(self.penalty):
            raise MethodError("penalty must be one number: a centre has one function")
        places, field, penalty = self._read(X, y)
        self._whole = make_sensor(self._kernel, places, np.arange(len(places)), penalty[0])
        self._whole.step(field)
        self.field_ = field
        return self

    def predict(self, X: ArrayLike) -> Vector:
        """The field at the points X."""
        points = self._known(X)
        found: Vector = self._kernel(points, self._places) @ self._whole.coefficients
        return found
