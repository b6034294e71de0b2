"""Judges that count more or less than others: weights from a list, or from any function of the panel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from coherently.errors import PanelError, Where
from coherently.note_log import notes_logged
from coherently.panel import cells
from coherently.panel.cell_table import ProblemList, Table
from coherently.panel.frames import table_from_frame
from coherently.panel.layout import ROLES, pick
from coherently.panel.readers import read_table
from coherently.panel.texts import name_some, suggest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherently.panel.panel import Panel


class Weighting(Protocol):
    """Says how much each judge counts: one entry per judge of `panel.judges`, finite and not negative.

    Any function of this shape will do. If it also has `describe(panel)`, results quote what that returns; if it has a
    `name`, tables show that.
    """

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Give the factor by which the weights of each judge's forecasts are multiplied."""


Weights: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | Weighting | object
"""A file or a frame with the columns judge and weight, a mapping from judge to weight, or a weighting."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedWeights:
    """Weights that somebody wrote down, judge by judge."""

    source: str
    weight: Mapping[str, float]

    def __call__(self, panel: Panel) -> NDArray[np.float64]:
        """Look the judges up; those that are not listed count 1. One at least must be listed."""
        if len(panel.judges) and not any(name in self.weight for name in panel.judges):
            remedy = "Give judges of the panel a weight, or 0 to leave one out; the others count 1."
            near = next(filter(None, (suggest(name, panel.judges) for name in self.weight)), "")
            raise PanelError(
                f"{self.source} has no weight for any judge of the panel{near}; its judges are "
                f"{name_some(panel.judges)}. {remedy}",
                code="missing-weight",
                where=Where(self.source),
                remedy=remedy,
            )
        return np.array([self.weight.get(name, 1.0) for name in panel.judges], np.float64)

    def describe(self, panel: Panel) -> str:
        """Say where the weights are listed, for whom there is none, and which are for nobody in the panel."""
        known = set(panel.judges)
        unknown = [name for name in self.weight if name not in known]
        absent = [name for name in panel.judges if name not in self.weight]
        extra = [f"which also lists {name_some(unknown)}, not in the panel"] if unknown else []
        extra += [f"which does not list {name_some(absent)}: counted as 1"] if absent else []
        aside = f" ({'; '.join(extra)})" if extra else ""
        return f"as listed in {self.source}{aside}"


@notes_logged(lambda panel: panel.notes[-1:])
def weighted(panel: Panel, weights: Weights) -> Panel:
    """Multiply the weights of each judge's forecasts by a factor, and say so in the panel's notes.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "p", 0.2), ("Bob", "p", 0.8), ("Bob", "q", 0.5)])
    >>> weighted(panel, {"Ann": 1, "Bob": 3}).weight.tolist()
    [1.0, 3.0, 3.0]
    """
    weighting = find_weighting(weights)
    factor = np.asarray(weighting(panel), np.float64)
    said = _describe(weighting, panel)
    if factor.shape != (len(panel.judges),) or not np.all(np.isfinite(factor) & (factor >= 0)):
        raise PanelError(
            f"the weights ({said}) are {factor!r}; there must be {len(panel.judges):,} finite numbers of 0 or more, "
            f"one for each judge"
        )
    if len(factor) and not factor.any():
        raise PanelError(f"the weight of every judge is 0 ({said}): nothing would be left to aggregate")
    note = f"Judges are weighted {said}{_range(panel, factor)}."
    return replace(panel, weight=_multiplied(panel, factor[panel.judge_index]), notes=(*panel.notes, note))


def with_weights(panel: Panel, weights: Weights | None) -> tuple[Panel, tuple[str, ...]]:
    """The panel that a call with `weights` works on, and what that adds to its notes."""
    if weights is None:
        return panel, ()
    found = weighted(panel, weights)
    return found, found.notes[len(panel.notes) :]


def _multiplied(panel: Panel, factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of each forecast times its factor, if that is in the range of weights."""

    def name(row: int) -> str:
        judge, event = panel.judges[panel.judge_index[row]], panel.written.text[panel.event_index[row]]
        return (
            f"the weight of {judge} for {event!r}, {panel.weight[row]:g} times the weight {factor[row]:g} of the judge,"
        )

    with np.errstate(over="ignore", under="ignore"):
        weight: NDArray[np.float64] = panel.weight * factor
    lost = (weight == 0) & (panel.weight > 0) & (factor > 0)
    cells.check_weights(np.where(lost, np.finfo(np.float64).smallest_subnormal, weight), name)
    return weight


def find_weighting(weights: Weights) -> Weighting:
    """Give the weighting that a file, a mapping or a frame lists, or the weighting itself."""
    if isinstance(weights, str | os.PathLike):
        return _listed(read_table(weights))
    if isinstance(weights, Mapping):
        columns = {"judge": list(weights), "weight": list(weights.values())}
        return _listed(Table("weights", columns, range(1, len(weights) + 1)))
    if isinstance(weights, type):
        raise PanelError(f"weights is the class {weights.__name__}; make an object of it: {weights.__name__}()")
    if isinstance(weights, Callable):  # type: ignore[arg-type]
        return weights  # type: ignore[return-value]
    return _listed(table_from_frame(weights, "weights"))


def name_of(weights: Weights) -> str:
    """The name of a weighting in tables; "given" if it has none, as a list of weights."""
    name = getattr(weights, "name", None)
    return name if isinstance(name, str) else "given"


def _listed(table: Table) -> ListedWeights:
    judges = cells.texts(table, pick(table, "judge", ROLES["judge"]))
    values = cells.weights(table, pick(table, "weight", (*ROLES["weight"], "w")))
    first: dict[str, int] = {}
    repeated = [row for row, name in enumerate(judges) if first.setdefault(name, row) != row]
    problems, remedy = ProblemList(), "Give each judge one weight."
    problems.add(
        repeated,
        lambda row: table.problem(
            row,
            None,
            "repeated-judge",
            f"the judge {judges[row]!r} already has a weight, in row {table.rows[first[judges[row]]]}",
            remedy,
        ),
        [remedy],
    )
    problems.check()
    return ListedWeights(table.source, dict(zip(judges, values.tolist(), strict=True)))


def _describe(weighting: Weighting, panel: Panel) -> str:
    describe = getattr(weighting, "describe", None)
    return str(describe(panel)) if describe else f"by {getattr(weighting, '__name__', repr(weighting))}"


def _range(panel: Panel, factor: NDArray[np.float64]) -> str:
    """The least and the greatest weight, and who is left out."""
    some = np.flatnonzero(factor > 0)
    low, high = int(some[np.argmin(factor[some])]), int(some[np.argmax(factor[some])])
    said = ""
    if factor[low] != factor[high]:
        said = f". Weights go from {factor[low]:.4g} ({panel.judges[low]}) to {factor[high]:.4g} ({panel.judges[high]})"
    silent = [panel.judges[i] for i in np.flatnonzero(factor == 0).tolist()]
    return f"{said}. Left out, by a weight of 0: {name_some(silent)}" if silent else said
