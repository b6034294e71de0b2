"""The methods that are compared, and the forecasts that each makes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently.errors import CoherentlyError, MethodError
from coherently.note_log import notes_unlogged
from coherently.panel import Panel
from coherently.panel.weights import name_of, weighted
from coherently.result import Result, aggregate, individual
from coherently.scoring.literature.fitted_rivals import FittedRival, HeldOutEvents
from coherently.solve import AlternatingProjections, Exact, LinearAverage, Method, Pool, Recipe, Status, choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from coherently.arrays import Indices
    from coherently.panel import Progress
    from coherently.panel.weights import Weights
    from coherently.solve import Budget, Coherence, Signal

Asked: TypeAlias = "str | Method | FittedRival | Result | Panel | tuple[str | Method, Weights]"
"""What to compare: a method, one with weights of the judges, a rule of the literature, or what is there already."""


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
    seconds: float = field(default=0.0, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Everything that is the same in every run: all except the time."""
        names = ("name", "meaning", "status", "coherence", "gap", "objective", "note")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """The candidates that could be run, their forecasts, and notes.

    `forecasts` has one row per candidate and one column per forecast of the panel. `makings` says how the candidates
    that are one answer from all judges were made; it has None for the others.
    """

    candidates: tuple[Candidate, ...]
    forecasts: NDArray[np.float64]
    makings: tuple[_Making | None, ...]
    notes: tuple[str, ...]
    interrupted: bool

    @property
    def seconds(self) -> float:
        """How long it takes to make again what is made from all judges, roughly."""
        rows = zip(self.candidates, self.makings, strict=True)
        return sum(candidate.seconds for candidate, making in rows if making is not None)

    def remade(self, times: NDArray[np.float64], cancel: Signal) -> NDArray[np.float64]:
        """The forecasts if each judge counted `times` times; only answers that are made from all judges change."""
        forecasts = self.forecasts.copy()
        for i, making in enumerate(self.makings):
            if making is not None:
                panel = making.panel
                drawn = replace(panel, weight=panel.weight * times[panel.judge_index])
                with notes_unlogged():  # draws run in threads of their own
                    result = aggregate(drawn, making.method, cancel=cancel)
                if result.status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
                forecasts[i] = result.solution.value[panel.event_index]
        return forecasts


@dataclass(frozen=True, slots=True)
class _Making:
    """A method, and the panel that it was run on, with the weights of its judges."""

    method: Method
    panel: Panel


@dataclass(frozen=True, slots=True)
class _Counted:
    """The panel, and the same with weights, which are found once for all methods that have them.

    `label` has the cluster of each event as written, by which rules of the literature are fitted out of fold.
    """

    panel: Panel
    label: Indices | None = None
    by_weights: dict[int, Panel] = field(default_factory=dict)
    folded: list[HeldOutEvents] = field(default_factory=list)

    def held_out(self) -> HeldOutEvents:
        """The panel with its resolved events in folds, made once for all rules of the literature."""
        if not self.folded:
            self.folded.append(HeldOutEvents.of(self.panel, self.label))
        return self.folded[0]

    def of(self, weights: Weights | None) -> Panel:
        """The panel in which each judge counts by the weights, if there are any."""
        if weights is None:
            return self.panel
        if id(weights) not in self.by_weights:
            self.by_weights[id(weights)] = weighted(self.panel, weights)
        return self.by_weights[id(weights)]


@dataclass(frozen=True, slots=True)
class _RowPlan:
    """What to run for a row: a method on the panel, or on each judge alone, or forecasts that exist already."""

    name: str
    meaning: str
    what: Method | FittedRival | Result | Panel
    weights: Weights | None = None
    alone: bool = False
    standard: bool = True


def run_candidates(
    panel: Panel,
    asked: Sequence[Asked] | Mapping[str, Asked],
    exact: Method,
    budget: Budget,
    *,
    label: Indices | None = None,
) -> Ran:
    """Run the five standard rows and those asked for; a standard row that does not fit the panel is left out, noted.

    `label` has the cluster of each event as written, for what is fitted out of fold.
    """
    plans = [*_standard(panel, exact), *_wanted(asked, exact)]
    candidates, forecasts, makings, notes = [], [], [], []
    interrupted, counted = False, _Counted(panel, label)
    try:
        for i, plan in enumerate(plans):
            try:
                told = partial(_tell, budget.progress, i, len(plans))
                candidate, forecast, making = _run(counted, plan, replace(budget, progress=told))
            except CoherentlyError as error:
                if not plan.standard:
                    raise
                notes.append(f"{plan.name} is left out: {error}")
                continue
            candidates.append(candidate)
            notes += [f"{candidate.name}: {candidate.note}"] if candidate.note else []
            forecasts.append(forecast)
            makings.append(making)
            interrupted = candidate.status is Status.INTERRUPTED or budget.is_stopped
            if interrupted:
                break
            budget.progress((i + 1) / len(plans))
    except KeyboardInterrupt:
        if not candidates:
            raise
        interrupted = True
    notes += [events.note for events in counted.folded]
    if interrupted:
        notes.append("interrupted: later methods were not run, and no intervals were made")
    return Ran(tuple(candidates), np.stack(forecasts), tuple(makings), tuple(notes), interrupted=interrupted)


def _tell(progress: Progress, before: int, total: int, done: float) -> None:
    progress((before + done) / total)


def _standard(panel: Panel, exact: Method) -> Iterator[_RowPlan]:
    paper = AlternatingProjections(correction="none")
    yield _RowPlan("Raw", "the judges' own forecasts", panel)
    yield _RowPlan("Individual", "each judge made coherent alone, by the paper's algorithm", paper, alone=True)
    yield _RowPlan("Linear average", "the weighted mean of the judges' forecasts of each event", LinearAverage())
    yield _RowPlan("Aggregate (paper)", "the panel made locally coherent, by the paper's algorithm", paper)
    yield _RowPlan("Aggregate (exact)", "the nearest coherent forecasts to the panel's", exact)


def _wanted(asked: Sequence[Asked] | Mapping[str, Asked], exact: Method) -> list[_RowPlan]:
    """Make plans for what was asked, under distinct names; what a standard row does already is not done twice."""
    if isinstance(asked, str | Method | FittedRival | Result | Panel):
        raise MethodError("methods must be a list, or a mapping from names: put it in brackets")
    given = asked.items() if isinstance(asked, Mapping) else ((None, item) for item in asked)
    paper = AlternatingProjections(correction="none")
    there = [LinearAverage(), Pool("linear"), paper, exact, Exact()]
    plans: list[_RowPlan] = []
    names = {"Raw", "Individual", "Linear average", "Aggregate (paper)", "Aggregate (exact)"}
    for name, item in given:
        what, weights = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        what = choose(what) if isinstance(what, str) else what
        if name is None and weights is None and any(what == other for other in there):
            continue
        label, meaning = _described(what, weights)
        chosen = _unused(name or label, what, names)
        names.add(chosen)
        plans.append(_RowPlan(chosen, meaning, what, weights, standard=False))
    return plans


def _described(what: object, weights: Weights | None) -> tuple[str, str]:
    if weights is not None and (isinstance(what, type) or not isinstance(what, Method)):
        raise MethodError(f"methods contains {what!r} with weights; only a method can have weights")
    word = "" if weights is None else f"{name_of(weights)} weights"
    extra, said = (f", {word}", f" with {word}") if word else ("", "")
    if isinstance(what, FittedRival):
        return what.name, what.meaning
    if isinstance(what, Panel):
        return "Other forecasts", "the forecasts that were given"
    if isinstance(what, Result):
        return f"Aggregate ({what.method.name})", f"the result that was given, by {what.method.name}"
    if isinstance(what, Pool) and what.then is None:
        return f"Pool ({what.name}{extra})", f"the judges' forecasts of each event by the pool {what.name}{said}"
    if isinstance(what, Method):
        return f"Aggregate ({what.name}{extra})", f"the panel's forecasts by the method {what.name}{said}"
    raise MethodError(
        f"methods contains {what!r}; it may contain names, methods, pairs of a method and weights, rules of the "
        "literature, results and panels"
    )


def _unused(name: str, what: Asked, names: set[str]) -> str:
    if name in names and isinstance(what, Method):
        name = f"Aggregate ({what.sentence})" if isinstance(what, Recipe) else f"Aggregate {what!r}"
    found, number = name, 2
    while found in names:
        found, number = f"{name} ({number})", number + 1
    return found


def _run(counted: _Counted, plan: _RowPlan, budget: Budget) -> tuple[Candidate, NDArray[np.float64], _Making | None]:
    """Run what is planned: the row, its forecasts, and how these were made from all judges, if they were."""
    candidate = Candidate(plan.name, plan.meaning)
    begun = time.perf_counter()
    panel, what = counted.panel, plan.what
    if isinstance(what, Panel):
        return candidate, _forecasts_of(panel, what), None
    if isinstance(what, FittedRival):
        value = counted.held_out().answer(what, budget)[panel.event_index]
        return replace(candidate, seconds=time.perf_counter() - begun), value, None
    if isinstance(what, Result):
        if what.panel.event_index is not panel.event_index:
            raise MethodError(f"the result {plan.name!r} is of another panel; aggregate this one")
        return _told(candidate, what, 0.0), what.solution.value[panel.event_index], None
    if plan.alone:
        alone = individual(panel, what, cancel=budget.cancel, engine=budget.engine)
        return replace(candidate, seconds=time.perf_counter() - begun), alone.probability, None
    own = counted.of(plan.weights)
    result = aggregate(own, what, progress=budget.progress, cancel=budget.cancel, engine=budget.engine)
    done = _told(candidate, result, time.perf_counter() - begun)
    said = " ".join(filter(None, [*own.notes[len(panel.notes) :], done.note]))
    return replace(done, note=said or None), result.solution.value[panel.event_index], _Making(what, own)


def _told(candidate: Candidate, result: Result, seconds: float) -> Candidate:
    return replace(
        candidate,
        status=result.status,
        coherence=result.coherence,
        gap=result.gap,
        objective=result.objective,
        note=result.note,
        seconds=seconds,
    )


def _forecasts_of(panel: Panel, other: Panel) -> NDArray[np.float64]:
    same = len(other) == len(panel) and other.written is panel.written
    if not same or not np.array_equal(other.event_index, panel.event_index):
        raise MethodError("a panel to compare must have the same forecasts with other probabilities: see co.individual")
    return other.probability
