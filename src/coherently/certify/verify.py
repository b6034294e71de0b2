"""An independent check of a result: evaluation alone, without any solver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.certify.claims import check_bound, check_improvement
from coherently.certify.merging import means_as_written, merge
from coherently.certify.nearness import CLOSE, Answer, measure
from coherently.certify.promises import check_means, check_probabilities, check_words, match
from coherently.certify.support import check_worlds, conditions
from coherently.errors import PanelError
from coherently.panel import Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.certify.merging import Distinct
    from coherently.result import Result


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a result keeps its promises: true or false as a bool.

    `problems` are sentences, one for each promise that is broken. `bound_rests_on` says for each component, or for
    the whole where a method takes none apart, what the lower bound rests on: "own enumeration" of the verifier, or
    what the result itself gives as proof. `unchecked` names the promises that evaluation alone cannot settle.
    """

    problems: list[str] = field(default_factory=list)
    bound_rests_on: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems


def verify(panel: Panel, result: Result) -> Verification:
    """Check a result of a panel by evaluation alone: no method is asked, and nothing is taken from the result on trust.

    The forecasts are merged anew, the worlds of a globally coherent result evaluated, and distances and bounds computed
    from that. Where a component has at most 16 variables, all its worlds are looked at, which proves the bound.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
    >>> checked = verify(panel, co.aggregate(panel, "exact"))
    >>> bool(checked), checked.problems, checked.bound_rests_on
    (True, [], ['own enumeration'])
    >>> other = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "q", 0.4)])
    >>> verify(panel, co.aggregate(other, "exact")).problems
    ["the result has no probability for 'p & q'"]
    """
    if not isinstance(panel, Panel):
        raise PanelError(f"verify takes a Panel first, not a {type(panel).__name__}; see Panel.from_frame")
    columns = result.columns()
    rows, problems = match(panel, list(columns["event"]))
    if problems:
        return Verification(problems)
    stated = {name: np.asarray(columns[name], np.float64)[rows] for name in ("probability", "raw", "weight")}
    distinct = merge(panel, result.loss)
    x = distinct.at_home(stated["probability"])
    problems = [
        *check_means(panel, stated, means_as_written(panel)),
        *check_probabilities(panel, result, stated["probability"], distinct),
        *check_words(result),
        *_check_averages(result, stated),
        *_check_mixture(panel, result, distinct, x),
    ]
    found = _check_nearness(panel, result, distinct, x)
    return replace(found, problems=problems + found.problems)


def _check_averages(result: Result, stated: dict[str, NDArray[np.float64]]) -> list[str]:
    if result.method.name != "linear" or np.allclose(
        stated["probability"], stated["raw"], rtol=0, atol=CLOSE, equal_nan=True
    ):
        return []
    return ["the method is linear, but a probability is not the mean of the event's forecasts"]


def _check_mixture(panel: Panel, result: Result, distinct: Distinct, x: NDArray[np.float64]) -> list[str]:
    if result.worlds is None:
        return []
    promised = np.full(len(x), result.coherence == "global")
    return check_worlds(panel, result.worlds.parts, _names(result), distinct, x, promised)


def _names(result: Result) -> list[list[str]]:
    worlds = result.worlds
    return [[worlds.names[v] for v in part.variables.tolist()] for part in worlds.parts] if worlds else []


def _answer(panel: Panel, result: Result, distinct: Distinct, x: NDArray[np.float64]) -> Answer:
    condition = np.where(distinct.conditional, np.nan, 1.0)
    if result.worlds is not None and distinct.conditional.any():
        known = conditions(panel, result.worlds.parts, _names(result), distinct)
        condition = np.where(distinct.conditional, known, 1.0)
    return Answer(distinct, result.loss, x, condition, result.conditionals or "called_off")


def _check_nearness(panel: Panel, result: Result, distinct: Distinct, x: NDArray[np.float64]) -> Verification:
    """Hold objective, bound and guaranteed improvement against what the forecasts x are worth."""
    if result.objective is None:
        return Verification(unchecked=["plain averages promise nothing that could be checked but the means"])
    answer = _answer(panel, result, distinct, x)
    if np.isnan(answer.condition).any():
        return Verification(unchecked=["the objective: the probabilities of conditions are not known without worlds"])
    problems = []
    near = measure(panel, answer)
    objective = float(near.objective.sum())
    if not abs(objective - result.objective) <= CLOSE * max(1.0, objective):
        problems.append(f"the objective is {result.objective:.12g}; the forecasts give {objective:.12g}")
    if result.lower_bound is not None and not -CLOSE <= result.lower_bound <= result.objective * (1 + CLOSE) + CLOSE:
        problems.append(f"the lower bound {result.lower_bound:.12g} is not between 0 and the objective")
    bound = check_bound(result, distinct, x, near)
    wrong, unchecked = check_improvement(result, distinct.scatter, near, bound.believed)
    return Verification([*problems, *bound.problems, *wrong], bound.rests_on, [*bound.unchecked, *unchecked])
