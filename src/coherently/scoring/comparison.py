"""Methods side by side, scored as the paper scores them, with intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Described,
    KnownText,
    ListOf,
    MapOf,
    ObjectOf,
    OneWord,
    OrNull,
    OtherFields,
    Record,
    RecordField,
    number_or_nan,
    numbers,
    plain,
)
from coherently.engine import opened
from coherently.engine.threads import count_threads
from coherently.errors import MethodError, PanelError, counted
from coherently.note_log import notes_logged
from coherently.panel import Panel, Tabled, records, to_frame
from coherently.panel.texts import name_some
from coherently.panel.weights import with_weights
from coherently.scoring.candidates import Candidate, run_candidates
from coherently.scoring.event_clusters import cluster_labels, labels_of_rows
from coherently.scoring.intervals import (
    LEAST_EFFECTIVE_UNITS,
    LEAST_JUDGES,
    LEAST_UNITS,
    OVERS,
    Retaught,
    Tally,
    Variation,
    covariances,
    effective_units,
    redraw,
    units_of,
    variation,
)
from coherently.scoring.scores import NO_OUTCOMES
from coherently.scoring.scoring_rules import CONSISTENCY_SCORES, RULES, ScoringRule, rule_names
from coherently.solve import Coherence, Status, choose
from coherently.solve.budget import asked_budget
from coherently.values import Value
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.contract.description import ValueKind
    from coherently.engine import Engine
    from coherently.panel import Columns, Progress
    from coherently.panel.weights import Weights
    from coherently.scoring.candidates import Asked, Ran
    from coherently.scoring.event_clusters import Clusters
    from coherently.scoring.intervals import Units
    from coherently.solve import Signal

DRAWN = {
    "both": "judges and events",
    "judges": "judges",
    "events": "events",
    "clusters": "clusters",
}
"""What intervals are over, in words."""
CELL = OrNull(NUMBER)
"""A number, or null where there is none."""


def _score_columns() -> list[str]:
    """The names of the columns of all scores and of the ends of their intervals."""
    return [f"{name}{end}" for name in rule_names() for end in ("", "_low", "_high")]


def _over(noun: str, kind: ValueKind) -> ObjectOf:
    """The same with intervals over each of what they may be over."""
    return ObjectOf(noun, tuple(RecordField(over, kind, f"with intervals over {DRAWN[over]}") for over in OVERS))


METHOD_ROW = ObjectOf(
    "a method",
    (
        RecordField("name", TEXT, "its name in this comparison"),
        RecordField("meaning", TEXT, "what it is"),
        RecordField("status", OrNull(OneWord(lambda: Status)), "how it ended; null without a result"),
        RecordField("coherence", OrNull(OneWord(lambda: Coherence)), "how far it is coherent; null without a result"),
        RecordField("gap", CELL, "the gap of the result"),
        RecordField("objective", CELL, "the objective of the result"),
        RecordField("note", OrNull(TEXT), "what a reader should know"),
    ),
)
SCORE_ROW = ObjectOf(
    "a row",
    (RecordField("method", TEXT, "the name of the method"),),
    OtherFields(_score_columns, CELL, "the mean score over judges, and the ends of its interval"),
)
DIFFERENCE_ROW = ObjectOf(
    "a difference",
    (
        RecordField("method", TEXT, "the name of the first method"),
        RecordField("other", TEXT, "the name of the second"),
        RecordField("score", KnownText(rule_names), "the scoring rule"),
        RecordField("difference", CELL, "the score of the first less that of the second"),
        RecordField("low", CELL, "the lower end of the interval"),
        RecordField("high", CELL, "the upper end of the interval"),
        RecordField("excludes_zero", OrNull(FLAG), "whether the interval excludes 0"),
    ),
)
CLIP = 1e-4
"""The probability to which forecasts are clipped before they have a log score, unless another is asked for."""
MATRIX = ListOf(ListOf(CELL))
COVARIANCES = ("judges", "units", "unit_sets", "sets", "cells", "cell_sets")
"""The covariances that a variation has for each rule."""
TAUGHT = "taught"
"""The name of those that it has only for rows that were learned."""
COMPARISON_RECORD = Record(
    "comparison",
    2,
    "Methods side by side, scored, with intervals (`co.compare`, `coherently compare --json`).",
    (
        RecordField("judges", WHOLE, "the number of scored judges"),
        RecordField("variables", WHOLE, "the number of independent variables that the scored events depend on"),
        RecordField("scored", WHOLE, "the number of scored forecasts"),
        RecordField("confidence", NUMBER, "the confidence level of the intervals"),
        RecordField("remade", FLAG, "whether the aggregates were made again for draws of the judges"),
        RecordField("resamples", WHOLE, "the number of these draws"),
        RecordField("interrupted", FLAG, "whether the work ended before it was done"),
        RecordField(
            "over", OneWord(lambda: OVERS), "what the intervals are over that are shown where nothing else is said"
        ),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
        RecordField("methods", ListOf(METHOD_ROW), "what each row is"),
        RecordField(
            "scores", _over("the scores", ListOf(SCORE_ROW)), "one row per method; the ends of intervals are derived"
        ),
        RecordField(
            "differences",
            _over("the differences", ListOf(DIFFERENCE_ROW)),
            "one row per pair of methods and score",
            derived=True,
        ),
        RecordField(
            "variation",
            OrNull(
                MapOf(
                    ObjectOf(
                        "a variation",
                        (
                            *(
                                RecordField(name, MATRIX, f"the covariances over {name}: one row per method")
                                for name in COVARIANCES
                            ),
                            RecordField(
                                TAUGHT,
                                MATRIX,
                                "what is added to the covariances over events, at most as much as there is: groups "
                                "of events that are scored also taught each other",
                                optional=True,
                            ),
                            RecordField("judge_freedom", NUMBER, "the degrees of freedom over judges"),
                        ),
                    )
                )
            ),
            "for each scoring rule, what intervals are made of (see coherently.scoring.intervals); null without any",
        ),
        RecordField("event_freedom", CELL, "the degrees of freedom over events; null without intervals"),
    ),
)
ROUGH_UNITS = 4.0
"""Intervals over events are noted as rough below this number of units of the same weight."""
_SHARE, _SHARE_REMADE = 0.9, 0.02  # the first run of the methods, as a fraction of the work


@dataclass(frozen=True, slots=True)
class Difference(Viewed):
    """The mean score of one method, or judge, minus that of another, on the same forecasts, with its interval.

    `interval` is None if none could be made; `confidence` and `over` say what kind of interval it is.
    """

    method: str
    other: str
    score: str
    difference: float
    interval: tuple[float, float] | None
    confidence: float
    over: str

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.interval is None else self.interval[0]

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.interval is None else self.interval[1]

    @property
    def excludes_zero(self) -> bool | None:
        """Whether the interval excludes 0; None without an interval."""
        return None if self.interval is None else self.interval[0] > 0 or self.interval[1] < 0

    @property
    def sentence(self) -> str:
        """What the difference shows, and what it does not."""
        rule = _rules().get(self.score)
        word = CONSISTENCY_SCORES[self.score] if rule is None else rule.word
        if np.isnan(self.difference):
            return f"{self.method} and {self.other} cannot be compared by {word}: at least one of them has none."
        if self.difference == 0 and not self.excludes_zero:
            return f"{self.method} and {self.other} have the same {word}."
        side = "higher" if self.difference > 0 else "lower"
        said = f"{self.method} has a {side} {word} than {self.other}, by {abs(self.difference):.4f}"
        if self.interval is None:
            return f"{said}; there is no interval, so this may be noise."
        low, high = self.interval
        interval = f"{self.confidence:.0%} interval over {DRAWN[self.over]} {low:+.4f} to {high:+.4f}"
        if not self.excludes_zero:
            return f"{said} ({interval}): the interval contains 0, so no difference is shown."
        better = (self.difference < 0) != (rule is not None and rule.higher_is_better)
        return f"{said} ({interval}): the interval excludes 0, {self.method} is {'better' if better else 'worse'}."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Tabled, Value, Described):
    """Methods side by side: mean scores over judges, each with an interval, and their differences.

    Each judge is scored on the resolved events that the judge forecast, with the method's probabilities in place of the
    judge's; a row has the mean over judges (Predd, Kulkarni, Poor and Osherson 2006, section 5.2). Lower Brier and log
    scores are better, and higher slopes. `rows` says what each method is. `value` has one row per method and one column
    per rule of `RULES`.

    Intervals are Student's t intervals, with the variance that the scores show when judges or events are left out one
    by one (the jackknife): `over` "judges" is about other judges on these events, "events" about other events for these
    judges, "both" about both together. Events that share a variable come true together, so variables are left out, not
    events (those that laws tie together as one). With fewer than 5 `variables`, counted in this way, there are no
    intervals over events. Aggregates stay as they are, and intervals are about them; only with `remake` are they made
    again, for `resamples` draws of the judges. Dependence between variables that neither a law nor a cluster states is
    not in the intervals. `variation` has the covariances of the scores; it is None if no intervals were asked for. The
    intervals that are shown are over `over`, unless a call is told otherwise.
    """

    record: ClassVar[Record] = COMPARISON_RECORD

    rows: tuple[Candidate, ...]
    judges: int
    variables: int
    scored: int
    value: NDArray[np.float64]
    variation: Variation | None
    resamples: int
    confidence: float
    remade: bool
    notes: tuple[str, ...]
    interrupted: bool
    library: str | None = field(default=None, compare=False)
    over: str = "both"

    def __repr__(self) -> str:
        methods, judges = counted(len(self.rows), "method"), counted(self.judges, "judge")
        return f"<Comparison: {methods} on {counted(self.scored, 'forecast')} of {judges}>"

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, one per row."""
        return tuple(row.name for row in self.rows)

    def columns(self, over: str | None = None) -> Columns:
        """The columns of `frame`."""
        columns: dict[str, Any] = {"method": list(self.methods)}
        half = np.array([self._half(over, contrast) for contrast in np.eye(len(self.rows))])
        low, high = self.value - half, self.value + half
        for i, rule in enumerate(RULES):
            columns |= {
                rule.name: self.value[:, i],
                f"{rule.name}_low": np.maximum(low[:, i], rule.least),
                f"{rule.name}_high": np.minimum(high[:, i], rule.most),
            }
        return columns

    def frame(self, over: str | None = None) -> Any:
        """One row per method: method, brier, log, slope, each score with _low and _high (missing without intervals)."""
        return to_frame(self.columns(over), self.library)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences between every two methods, in every score, with the intervals that `frame` shows."""
        return tuple(
            self.difference(first, second, score)
            for first, second in combinations(self.methods, 2)
            for score in rule_names()
        )

    def difference(self, method: str, other: str, score: str = "brier", over: str | None = None) -> Difference:
        """The score of one method minus that of another, by their names in `methods`."""
        first, second = self._place(method), self._place(other)
        names = rule_names()
        if score not in names:
            raise MethodError(f"unknown score {score!r}; the scores are {', '.join(names)}")
        column = names.index(score)
        value = float(self.value[first, column] - self.value[second, column])
        contrast = np.zeros(len(self.rows))
        contrast[first] += 1
        contrast[second] -= 1
        half = float(self._half(over, contrast)[column])
        interval = None if np.isnan(value - half) else (value - half, value + half)
        return Difference(
            method, other, score, value, interval=interval, confidence=self.confidence, over=over or self.over
        )

    def difference_columns(self, over: str | None = None) -> Columns:
        """One row per pair of methods and score: method, other, score, difference, low, high, excludes_zero."""
        found = [
            self.difference(first, second, score, over)
            for first, second in combinations(self.methods, 2)
            for score in rule_names()
        ]
        names = ("method", "other", "score", "difference", "low", "high", "excludes_zero")
        return {name: [getattr(item, name) for item in found] for name in names}

    def _plain(self) -> dict[str, Any]:
        return plain(  # type: ignore[no-any-return]
            {
                "judges": self.judges,
                "variables": self.variables,
                "scored": self.scored,
                "confidence": float(self.confidence),
                "remade": self.remade,
                "resamples": self.resamples,
                "interrupted": self.interrupted,
                "over": self.over,
                "notes": self.notes,
                "methods": [row.as_dict() for row in self.rows],
                "scores": {over: records(self.columns(over)) for over in OVERS},
                "differences": {over: records(self.difference_columns(over)) for over in OVERS},
                "variation": None if self.variation is None else _variation_values(self.variation),
                "event_freedom": None if self.variation is None else self.variation.event_freedom,
            }
        )

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Comparison:
        rows = values["scores"]["both"]
        told = ("judges", "variables", "scored", "resamples", "remade", "interrupted", "over")
        return cls(
            rows=tuple(_candidate(row) for row in values["methods"]),
            value=numbers([[row.get(name) for name in rule_names()] for row in rows]).reshape(len(rows), -1),
            variation=None if values["variation"] is None else _read_variation(values),
            confidence=float(values["confidence"]),
            notes=tuple(values["notes"]),
            **{name: values[name] for name in told},
        )

    def _place(self, name: str) -> int:
        if name not in self.methods:
            raise MethodError(f"{name!r} is not in this comparison; the methods are {', '.join(self.methods)}")
        return self.methods.index(name)

    def has_intervals(self, over: str | None = None) -> bool:
        """Whether any score has an interval."""
        return bool(np.any(~np.isnan(self._half(over, np.eye(len(self.rows))[0]))))

    def _half(self, over: str | None, contrast: NDArray[np.float64]) -> NDArray[np.float64]:
        """Half the width of the interval of a sum of the methods' scores, one entry per rule."""
        over = over or self.over
        if over not in OVERS:
            raise MethodError(f"over is {over!r}; it must be one of {', '.join(OVERS)}")
        if self.variation is None:
            return np.full(len(RULES), np.nan)
        return self.variation.half_width(contrast, over, self.confidence)


def _rules() -> dict[str, ScoringRule]:
    return {rule.name: rule for rule in RULES}


def _variation_values(variation: Variation) -> dict[str, Any]:
    """The covariances by the names of rules."""
    parts = COVARIANCES if variation.taught is None else (*COVARIANCES, TAUGHT)
    return {
        name: {part: getattr(variation, part)[i] for part in parts} | {"judge_freedom": variation.judge_freedom[i]}
        for i, name in enumerate(rule_names())
    }


def _read_variation(values: dict[str, Any]) -> Variation:
    told, size = values["variation"], len(values["methods"])
    nothing = np.full((size, size), np.nan)  # of a rule that the record does not have
    every = [told.get(name, {}) for name in rule_names()]
    parts = (*COVARIANCES, TAUGHT) if any(TAUGHT in one for one in every) else COVARIANCES
    return Variation(
        **{part: np.stack([numbers(one.get(part, nothing)) for one in every]) for part in parts},
        judge_freedom=numbers([one.get("judge_freedom") for one in every]),
        event_freedom=number_or_nan(values["event_freedom"]),
    )


def _candidate(row: dict[str, Any]) -> Candidate:
    words = {"status": Status, "coherence": Coherence}
    return Candidate(**row | {name: row[name] and kind(row[name]) for name, kind in words.items()})


@notes_logged(lambda comparison: comparison.notes)
def compare(
    panel: Panel,
    methods: Sequence[Asked] | Mapping[str, Asked] = (),
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    remake: bool = False,
    clip: float = CLIP,
    over: str = "both",
    cluster: Clusters | None = None,
    weights: Weights | None = None,
    time_limit: float | None = None,
    tolerance: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Score a panel's judges, and what methods make of them, as Tables 6 and 7 of the paper do, with intervals.

    The rows are Raw, Individual (each judge made coherent alone), Linear average, Aggregate (paper) and Aggregate
    (exact), then the `methods` asked for, in a list or by name in a mapping: names, method objects, pairs of one of
    these and weights of the judges (see `co.aggregate`), results of this panel, or panels with other probabilities for
    the same forecasts (such as `co.individual` gives); `co.baselines()` has the usual ones, and `co.literature()`
    published rules that learn from outcomes, each fitted on other events than it is scored on. With `remake` every
    method runs again for each of `bootstrap` draws of the judges, which takes that many times as long; intervals over
    judges then show how the aggregate depends on who made it. Results and panels that were given stay as they are, and
    so do weights and rules of the literature. `seed` is the seed of these draws; intervals without `remake` need none.
    `bootstrap=0`: no intervals. `over` is what the intervals that `frame` and `difference` show are over, unless they
    are told otherwise. `cluster` names events that come true together for reasons that no law states, such as a date or
    a place, so that intervals take them as one: a function of an event's text, a mapping from events, or a file or
    frame with the columns event and cluster (`FILE:COLUMN` for another name). `time_limit` (in seconds) and `tolerance`
    are those of each run of Aggregate (exact); `weights`, `progress` and `cancel` are as in `co.aggregate`. `threads`
    is the number of threads for these draws, by default one per processor, and `engine` runs draws and components
    elsewhere (see `co.aggregate`); the answer is the same. An interruption (Ctrl-C) leaves out what was not done, and
    `notes` says so.

    >>> import coherently as co
    >>> panel = co.simulate(judges=12, variables=6, compound=8, basic=4, seed=1)
    >>> comparison = co.compare(panel)
    >>> comparison.frame()[["method", "brier", "brier_low", "brier_high"]].round(3)
                  method  brier  brier_low  brier_high
    0                Raw  ...
    >>> comparison.difference("Individual", "Raw").sentence
    '...'
    """
    _check(bootstrap, seed, confidence, clip, over=over)
    if not isinstance(panel, Panel):
        raise PanelError(f"compare takes a Panel, not a {type(panel).__name__}; see Panel.from_frame")
    if not (panel.written.outcome[panel.event_index] >= 0).any():
        raise PanelError(NO_OUTCOMES)
    panel, said = with_weights(panel, weights)
    exact = choose("exact", time_limit=time_limit, tolerance=tolerance)
    tell = progress or (lambda _: None)
    share = _SHARE_REMADE if remake else _SHARE
    with opened(engine) as executor:
        budget = asked_budget(lambda done: tell(share * done), cancel, executor)
        label = cluster_labels(panel, cluster)
        ran = run_candidates(panel, methods, exact, budget, label=label)
        rows, left_out = _scored(panel, ran.candidates, ran.forecasts)
        scored = panel.select(rows)
        tally = _tally(scored, ran.forecasts[:, rows], clip)
        units = units_of(scored, labels_of_rows(scored, panel, rows, label))
        intervals = bool(bootstrap) and not ran.interrupted
        spread = variation(tally, units) if intervals else None
        draws = np.empty((0, *tally.point().shape))
        if spread is not None and remake:
            again = partial(_remade, panel, scored, rows, ran, clip)
            where = count_threads(threads) if executor is None else (executor, ran.seconds)
            draws = redraw(
                len(scored.judges),
                bootstrap,
                seed,
                where,
                remake=again,
                progress=partial(_tell_rest, tell, share, cancel),
            )
            spread = replace(spread, judges=covariances(draws, len(scored.judges)))
    cut_short = intervals and remake and len(draws) < bootstrap
    if not (ran.interrupted or cut_short):
        tell(1.0)
    drawn = [f"interrupted: {len(draws):,} of {bootstrap:,} resamples were made"] if cut_short else []
    return Comparison(
        rows=ran.candidates,
        judges=len(scored.judges),
        variables=units.count,
        scored=len(rows),
        value=tally.point(),
        variation=spread,
        resamples=len(draws),
        confidence=confidence,
        remade=remake,
        notes=(*said, *ran.notes, *left_out, *drawn, *_doubts(tally, units)),
        interrupted=ran.interrupted or cut_short,
        library=panel.library,
        over=over,
    )


def compare_forecasts(
    panel: Panel,
    rows: tuple[Candidate, ...],
    forecasts: NDArray[np.float64],
    *,
    label: NDArray[np.int64] | None = None,
    confidence: float = 0.95,
    retaught: Retaught | None = None,
) -> Comparison:
    """Score forecasts that were made elsewhere: one row of `forecasts` per candidate, one column per forecast.

    `label` has the cluster of each event as written (see `event_clusters`), `retaught` what the rows that were learned
    in folds which teach each other would be without a fold: intervals are wider by what that moves.
    """
    kept, left_out = _scored(panel, rows, forecasts)
    scored = panel.select(kept)
    tally, units = (
        _tally(scored, forecasts if len(kept) == forecasts.shape[1] else forecasts[:, kept], CLIP),
        units_of(scored, labels_of_rows(scored, panel, kept, label)),
    )
    spread = variation(tally, units)
    if retaught is not None:
        outcome = scored.written.outcome[scored.event_index].astype(np.float64)
        taught = retaught.covariances(tally, outcome, panel.event_index[kept].astype(np.int64), CLIP)
        spread = replace(spread, taught=taught)
    return Comparison(
        rows=rows,
        judges=len(scored.judges),
        variables=units.count,
        scored=len(kept),
        value=tally.point(),
        variation=spread,
        resamples=0,
        confidence=confidence,
        remade=False,
        notes=(*left_out, *_doubts(tally, units)),
        interrupted=False,
        library=panel.library,
    )


def _tell_rest(tell: Progress, share: float, cancel: Signal | None, done: float) -> None:
    """Tell how far the draws are, and end them as Ctrl-C does once somebody wants that."""
    tell(share + (1 - share) * done)
    if cancel is not None and cancel.is_set():
        raise KeyboardInterrupt


def _tally(scored: Panel, forecasts: NDArray[np.float64], clip: float) -> Tally:
    outcome = scored.written.outcome[scored.event_index].astype(np.float64)
    judge, event = scored.judge_index.astype(np.int64), scored.event_index.astype(np.int64)
    return Tally.of(forecasts, outcome, judge, event, judges=len(scored.judges), clip=clip)


def _remade(
    panel: Panel,
    scored: Panel,
    rows: NDArray[np.int64],
    ran: Ran,
    clip: float,
    times: NDArray[np.float64],
    cancel: Signal,
) -> Tally:
    """Run the methods on judges of whom the scored ones count `times` times."""
    place = {name: i for i, name in enumerate(panel.judges)}
    every = np.ones(len(panel.judges))
    every[[place[name] for name in scored.judges]] = times
    return _tally(scored, ran.remade(every, cancel)[:, rows], clip)


def _check(bootstrap: int, seed: int, confidence: float, clip: float, over: str) -> None:
    problems = {
        f"over is {over!r}; it must be one of {', '.join(OVERS)}": over not in OVERS,
        f"bootstrap is {bootstrap}; it must be a whole number of 0 or more": (
            isinstance(bootstrap, bool) or not isinstance(bootstrap, int) or bootstrap < 0
        ),
        f"seed is {seed}; it must be a whole number of 0 or more": not isinstance(seed, int) or seed < 0,
        f"confidence is {confidence}; it must lie between 0 and 1": not 0 < confidence < 1,
        f"clip is {clip}; it must be above 0 and below 0.5": not 0 < clip < 0.5,
    }
    found = [message for message, broken in problems.items() if broken]
    if found:
        raise MethodError("\n".join(found))


def _scored(
    panel: Panel, candidates: Sequence[Candidate], forecasts: NDArray[np.float64]
) -> tuple[NDArray[np.int64], list[str]]:
    """The resolved rows for which every method has a probability, and a note on the others."""
    resolved = panel.written.outcome[panel.event_index] >= 0
    missing = np.isnan(forecasts) & resolved
    absent = missing.any(axis=0)
    rows = np.flatnonzero(resolved & ~absent)
    if not len(rows):
        raise PanelError("no resolved forecast has a probability from every method, so nothing can be compared")
    if not absent.any():
        return rows, []
    names = [candidates[i].name for i in np.flatnonzero(missing.any(axis=1)).tolist()]
    count = "1 resolved forecast is" if absent.sum() == 1 else f"{absent.sum():,} resolved forecasts are"
    return rows, [f"{count} not scored, because some methods have no probability: {name_some(names)}"]


def _doubts(tally: Tally, units: Units) -> list[str]:
    """Why there are no intervals, or only rough ones."""
    notes, effective = [], effective_units(tally, units)
    if tally.judges < LEAST_JUDGES:
        notes.append("fewer than two judges are scored, so there are no intervals over judges")
    depend = f"the scored events depend on {units.count:,} independent variable{'s' * (units.count != 1)}"
    if units.count < LEAST_UNITS:
        notes.append(f"{depend}, fewer than {LEAST_UNITS}, so there are no intervals over events")
    elif effective < LEAST_EFFECTIVE_UNITS:
        notes.append(f"{depend}, but one of them has most of the forecasts, so there are no intervals over events")
    elif effective < ROUGH_UNITS:
        notes.append(
            f"{depend}, so unequally that they count as about {effective:.1f}: intervals over events are rough"
        )
    return notes
