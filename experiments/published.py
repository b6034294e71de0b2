"""The figures of Predd, Kulkarni, Poor and Osherson (2006), section 5."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A data set of the paper: its size (Table 5), Brier scores (Table 6) and slopes (Table 7)."""

    name: str
    judges: int
    variables: int
    forecasts: int
    brier: dict[str, float]
    slope: dict[str, float]


_ROWS = ("Raw", "Individual", "Aggregate (paper)", "Linear average")


def _set(
    name: str, judges: int, variables: int, forecasts: int, brier: tuple[float, ...], slope: tuple[float, ...]
) -> Published:
    return Published(
        name,
        judges,
        variables,
        forecasts,
        dict(zip(_ROWS, brier, strict=True)),
        dict(zip(_ROWS[:3], slope, strict=True)),
    )


SETS = (
    _set("STCK", 47, 30, 1598, (0.309, 0.273, 0.245, 0.286), (0.064, 0.109, 0.114)),
    _set("FIN", 31, 10, 1054, (0.243, 0.220, 0.200, 0.207), (0.153, 0.172, 0.153)),
    _set("NBA1", 29, 10, 986, (0.239, 0.205, 0.188, 0.203), (0.140, 0.186, 0.173)),
    _set("NBA2", 36, 10, 1224, (0.228, 0.207, 0.191, 0.196), (0.141, 0.169, 0.150)),
    _set("HSTN", 17, 10, 578, (0.318, 0.257, 0.220, 0.234), (0.129, 0.210, 0.202)),
)
STCK_INDIVIDUAL = {"the paper's algorithm": 0.273, "SAPA": 0.276, "exact CAP": 0.272}
"""Mean Brier scores of STCK's judges, each made coherent alone (section 5.4)."""
SWEEPS = 10
"""Sweeps within which the paper's algorithm converged in every data set (section 5.3)."""
