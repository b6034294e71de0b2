"""Short names for the arrays that functions hand to each other, for annotations."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
"""Numbers, such as one probability per coordinate; a matrix if its docstring says so."""
Mask: TypeAlias = NDArray[np.bool_]
"""Which of some things are meant, or hold: one row per world if there are worlds."""
Truth: TypeAlias = NDArray[np.uint8]
"""The truth of variables, 0 or 1, as kernels have it: one row per world."""
Indices: TypeAlias = NDArray[np.int64]
"""Positions in other arrays."""
