"""Panel in, result out."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from coherently.errors import MethodError, PanelError
from coherently.panel import Panel
from coherently.problem import pose
from coherently.result.result import Result
from coherently.solve import AlternatingProjections, LinearAverage, Method

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS: dict[str, Callable[[], Method]] = {
    "linear": LinearAverage,
    "projections": AlternatingProjections,
    "dykstra": lambda: AlternatingProjections(correction="dykstra"),
}
"""The methods by the word for them, with their default options."""


def aggregate(panel: Panel, method: str | Method = "linear") -> Result:
    """Make one set of forecasts of a panel's.

    `method` is a method object or the word for one with its default options: "linear", "projections" (the
    paper's algorithm) or "dykstra" (the nearest locally coherent forecasts).

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.4), ("Bob", "p & q", 0.1)])
    >>> aggregate(panel).frame().round(3)
       event  probability  raw  weight  adjustment
    0      p          0.3  0.3     2.0         0.0
    1  p & q          0.1  0.1     1.0         0.0
    """
    if not isinstance(panel, Panel):
        raise PanelError(f"aggregate takes a Panel, not a {type(panel).__name__}; see Panel.from_frame")
    chosen = choose(method)
    problem = pose(panel)
    return Result(panel, chosen, problem, chosen.solve(problem))


def choose(method: str | Method) -> Method:
    """Give the method that a word stands for."""
    if isinstance(method, type):
        raise MethodError(f"method is the class {method.__name__}; make an object of it: {method.__name__}()")
    if isinstance(method, Method):
        return method
    if method in METHODS:
        return METHODS[method]()
    close = difflib.get_close_matches(str(method), METHODS, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise MethodError(f"{method!r} is no method; the methods are {', '.join(METHODS)}.{hint}")
