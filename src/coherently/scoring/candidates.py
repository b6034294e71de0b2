"""The methods that are compared, and the forecasts that each makes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently.errors import CoherentlyError, MethodError
from coherently.panel import Panel
from coherently.result import Result, aggregate, individual
from coherently.solve import AlternatingProjections, Exact, LinearAverage, Method, Pool, Status, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from coherently.panel import Progress
    from coherently.solve import Coherence, Signal

Asked: TypeAlias = "str | Method | Result | Panel"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of a comparison: the `name` of the method, what it is, how it ended and how long it took.

    `status`, `coherence`, `gap`, `objective` and `note` are those of the result; None without a result.
    """

    name: str
    meaning: str
    status: Status | None = None
    coherence: Coherence | None = None
    gap: float | None = None
    objective: float | None = None
    note: str | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything that is the same in every run: all except the time."""
        names = ("name", "meaning", "status", "coherence", "gap", "objective", "note")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """The candidates that could be run, their forecasts, and notes.

    `forecasts` has one row per candidate and one column per forecast of the panel. `methods` has the methods that make
    one answer from all judges, None for the other candidates.
    """

    candidates: tuple[Candidate, ...]
    forecasts: NDArray[np.float64]
    methods: tuple[Method | None, ...]
    notes: tuple[str, ...]
    interrupted: bool

    def remade(self, panel: Panel, times: NDArray[np.float64], cancel: Signal) -> NDArray[np.float64]:
        """The forecasts if each judge counted `times` times; only answers that are made from all judges change."""
        drawn = replace(panel, weight=panel.weight * times[panel.judge_index])
        forecasts = self.forecasts.copy()
        for i, method in enumerate(self.methods):
            if method is not None:
                result = aggregate(drawn, method, cancel=cancel)
                if result.status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
                forecasts[i] = result.solution.value[panel.event_index]
        return forecasts


@dataclass(frozen=True, slots=True)
class _RowPlan:
    """What to run for a row: a method on the panel, or on each judge alone, or forecasts that exist already."""

    name: str
    meaning: str
    what: Asked
    alone: bool = False
    standard: bool = True


def run_candidates(
    panel: Panel,
    asked: Sequence[Asked] | Mapping[str, Asked],
    time_limit: float | None,
    progress: Callable[[float], None],
) -> Ran:
    """Run the five standard rows and those asked for; a standard row that does not fit the panel is left out, noted."""
    plans = [*_standard(panel, time_limit), *_wanted(asked, time_limit)]
    candidates, forecasts, methods, notes = [], [], [], []
    interrupted = False
    try:
        for i, plan in enumerate(plans):
            try:
                candidate, forecast = _run(panel, plan, lambda done, i=i: progress((i + done) / len(plans)))  # type: ignore[misc]
            except CoherentlyError as error:
                if not plan.standard:
                    raise
                notes.append(f"{plan.name} is left out: {error}")
                continue
            candidates.append(candidate)
            notes += [f"{candidate.name}: {candidate.note}"] if candidate.note else []
            forecasts.append(forecast)
            methods.append(plan.what if isinstance(plan.what, Method) and not plan.alone else None)
            interrupted = candidate.status is Status.INTERRUPTED
            if interrupted:
                break
            progress((i + 1) / len(plans))
    except KeyboardInterrupt:
        if not candidates:
            raise
        interrupted = True
    if interrupted:
        notes.append("interrupted: later methods were not run, and no intervals were made")
    return Ran(tuple(candidates), np.stack(forecasts), tuple(methods), tuple(notes), interrupted)


def _standard(panel: Panel, time_limit: float | None) -> Iterator[_RowPlan]:
    paper = AlternatingProjections(correction="none")
    yield _RowPlan("Raw", "the judges' own forecasts", panel)
    yield _RowPlan("Individual", "each judge made coherent alone, by the paper's algorithm", paper, alone=True)
    yield _RowPlan("Linear average", "the weighted mean of the judges' forecasts of each event", LinearAverage())
    yield _RowPlan("Aggregate (paper)", "the panel made locally coherent, by the paper's algorithm", paper)
    yield _RowPlan("Aggregate (exact)", "the nearest coherent forecasts to the panel's", _exact(time_limit))


def _exact(time_limit: float | None) -> Exact:
    return Exact() if time_limit is None else Exact(time_limit=time_limit)


def _wanted(asked: Sequence[Asked] | Mapping[str, Asked], time_limit: float | None) -> list[_RowPlan]:
    """Make plans for what was asked, under distinct names; what a standard row does already is not done twice."""
    if isinstance(asked, str | Method | Result | Panel):
        raise MethodError("methods must be a list, or a mapping from names: put it in brackets")
    given = asked.items() if isinstance(asked, Mapping) else ((None, item) for item in asked)
    paper = AlternatingProjections(correction="none")
    there = [LinearAverage(), Pool("linear"), paper, _exact(time_limit), Exact()]
    plans: list[_RowPlan] = []
    names = {"Raw", "Individual", "Linear average", "Aggregate (paper)", "Aggregate (exact)"}
    for name, item in given:
        what = choose(item) if isinstance(item, str) else item
        if name is None and any(what == other for other in there):
            continue
        label, meaning = _described(what)
        chosen = _unused(name or label, what, names)
        names.add(chosen)
        plans.append(_RowPlan(chosen, meaning, what, standard=False))
    return plans


def _described(what: Asked) -> tuple[str, str]:
    if isinstance(what, Panel):
        return "Other forecasts", "the forecasts that were given"
    if isinstance(what, Result):
        return f"Aggregate ({what.method.name})", f"the result that was given, by {what.method.name}"
    if isinstance(what, Pool) and what.then is None:
        return f"Pool ({what.name})", f"the judges' forecasts of each event by the pool {what.name}"
    if isinstance(what, Method):
        return f"Aggregate ({what.name})", f"the panel's forecasts by the method {what.name}"
    raise MethodError(f"methods contains {what!r}; it may contain names, methods, results and panels")


def _unused(name: str, what: Asked, names: set[str]) -> str:
    if name in names and isinstance(what, Method):
        name = f"Aggregate {what!r}"
    found, number = name, 2
    while found in names:
        found, number = f"{name} ({number})", number + 1
    return found


def _run(panel: Panel, plan: _RowPlan, progress: Progress) -> tuple[Candidate, NDArray[np.float64]]:
    candidate = Candidate(plan.name, plan.meaning)
    begun = time.perf_counter()
    if isinstance(plan.what, Panel):
        return candidate, _forecasts_of(panel, plan.what)
    if plan.alone:
        alone = individual(panel, plan.what)  # type: ignore[arg-type]
        return replace(candidate, seconds=time.perf_counter() - begun), alone.probability
    result = plan.what if isinstance(plan.what, Result) else aggregate(panel, plan.what, progress=progress)
    if result.panel is not panel:
        raise MethodError(f"the result {plan.name!r} is of another panel; aggregate this one")
    done = replace(
        candidate,
        status=result.status,
        coherence=result.coherence,
        gap=result.gap,
        objective=result.objective,
        note=result.note,
        seconds=time.perf_counter() - begun,
    )
    return done, result.solution.value[panel.event_index]


def _forecasts_of(panel: Panel, other: Panel) -> NDArray[np.float64]:
    same = len(other) == len(panel) and other.written is panel.written
    if not same or not np.array_equal(other.event_index, panel.event_index):
        raise MethodError("a panel to compare must have the same forecasts with other probabilities: see co.individual")
    return other.probability
