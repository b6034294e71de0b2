"""Methods side by side, scored as the paper scores them, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import MethodError, PanelError
from coherently.panel import Panel, records, to_frame
from coherently.scoring.bootstrap import (
    LEAST_JUDGES,
    LEAST_UNITS,
    OVERS,
    Counts,
    Tally,
    ends,
    resample,
    units_of,
)
from coherently.scoring.candidates import Candidate, run_candidates
from coherently.scoring.scores import NO_OUTCOMES
from coherently.scoring.scoring_rules import RULES
from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.panel import Columns, Progress
    from coherently.scoring.bootstrap import Units
    from coherently.scoring.candidates import Asked

DRAWN = {
    "both": "judges and events",
    "judges": "judges",
    "events": "events",
}
"""What intervals are over, in words."""
SCORES = {rule.name: rule for rule in RULES}
"""The rules by their names."""
_SHARE, _SHARE_REMADE = 0.9, 0.02  # the first run of the methods, as a fraction of the work


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean score of one method minus that of another, on the same forecasts, with its interval.

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
        word = SCORES[self.score].word
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
        better = (self.difference < 0) != SCORES[self.score].higher_is_better
        return f"{said} ({interval}): the interval excludes 0, {self.method} is {'better' if better else 'worse'}."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Told):
    """Methods side by side: mean scores over judges, each with an interval, and their differences.

    Each judge is scored on the resolved events that the judge forecast, with the method's probabilities in place of the
    judge's; a row has the mean over judges (Predd, Kulkarni, Poor and Osherson 2006, section 5.2). Lower Brier and log
    scores are better, and higher slopes. `rows` says what each method is. `value` has one row per method and one column
    per rule of `RULES`.

    Intervals are Student's t intervals, with the variance of the scores when judges or events are drawn again with
    replacement: `over` "judges" is about other judges on these events, "events" about other events for these judges,
    "both" about both together. Events that share a variable come true together, so variables are drawn, not events, and
    an event counts as often as the product of its variables (those that laws tie together are drawn as one). With fewer
    than 5 `variables`, counted in this way, there are no intervals over events. Only with `remake` are the aggregates
    made again from the judges of each draw; otherwise intervals are about the aggregates as they are. Dependence
    between variables that no law states is not in the intervals.
    """

    rows: tuple[Candidate, ...]
    judges: int
    variables: int
    scored: int
    value: NDArray[np.float64]
    draws: Mapping[str, NDArray[np.float64]]
    confidence: float
    remade: bool
    notes: tuple[str, ...]
    interrupted: bool
    library: str | None

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.rows)} methods on {self.scored:,} forecasts of {self.judges:,} judges>"

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, one per row."""
        return tuple(row.name for row in self.rows)

    def columns(self, over: str = "both") -> Columns:
        """The columns of `frame`."""
        columns: dict[str, Any] = {"method": list(self.methods)}
        low, high = self._ends(over, lambda scores: scores)
        for i, rule in enumerate(RULES):
            columns |= {
                rule.name: self.value[:, i],
                f"{rule.name}_low": np.maximum(low[:, i], rule.least),
                f"{rule.name}_high": np.minimum(high[:, i], rule.most),
            }
        return columns

    def frame(self, over: str = "both") -> Any:
        """One row per method: method, brier, log, slope, each score with _low and _high (missing without intervals)."""
        return to_frame(self.columns(over), self.library)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences between every two methods, in every score, with intervals over judges and events."""
        return tuple(
            self.difference(first, second, score) for first, second in combinations(self.methods, 2) for score in SCORES
        )

    def difference(self, method: str, other: str, score: str = "brier", over: str = "both") -> Difference:
        """The score of one method minus that of another, by their names in `methods`."""
        first, second = self._place(method), self._place(other)
        if score not in SCORES:
            raise MethodError(f"unknown score {score!r}; the scores are {', '.join(SCORES)}")
        column = list(SCORES).index(score)

        def between(scores: NDArray[np.float64]) -> NDArray[np.float64]:
            found: NDArray[np.float64] = scores[..., first, column] - scores[..., second, column]
            return found

        low, high = self._ends(over, between)
        interval = None if np.isnan(low) else (float(low), float(high))
        return Difference(method, other, score, float(between(self.value)), interval, self.confidence, over)

    def difference_columns(self, over: str = "both") -> Columns:
        """One row per pair of methods and score: method, other, score, difference, low, high, excludes_zero."""
        found = [
            self.difference(first, second, score, over)
            for first, second in combinations(self.methods, 2)
            for score in SCORES
        ]
        names = ("method", "other", "score", "difference", "low", "high", "excludes_zero")
        return {name: [getattr(item, name) for item in found] for name in names}

    def as_dict(self) -> dict[str, Any]:
        """Everything, in plain lists and numbers."""
        return {
            "judges": self.judges,
            "variables": self.variables,
            "scored": self.scored,
            "confidence": self.confidence,
            "remade": self.remade,
            "resamples": {over: len(drawn) for over, drawn in self.draws.items()},
            "notes": list(self.notes),
            "methods": [row.as_dict() for row in self.rows],
            "scores": {over: records(self.columns(over)) for over in OVERS},
            "differences": {over: records(self.difference_columns(over)) for over in OVERS},
        }

    def _place(self, name: str) -> int:
        if name not in self.methods:
            raise MethodError(f"{name!r} is not in this comparison; the methods are {', '.join(self.methods)}")
        return self.methods.index(name)

    def _ends(
        self, over: str, part: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the interval of a part of the scores, or of a function of them."""
        if over not in OVERS:
            raise MethodError(f"over is {over!r}; it must be one of {', '.join(OVERS)}")
        drawn = {one: part(draws) for one, draws in self.draws.items()}
        return ends(np.asarray(part(self.value)), drawn, over, Counts(self.judges, self.variables), self.confidence)


def compare(
    panel: Panel,
    methods: Sequence[Asked] | Mapping[str, Asked] = (),
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    remake: bool = False,
    clip: float = 1e-4,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Score a panel's judges, and what methods make of them, as Tables 6 and 7 of the paper do, with intervals.

    The rows are Raw, Individual (each judge made coherent alone), Linear average, Aggregate (paper) and Aggregate
    (exact), then the `methods` asked for: names, method objects, results of this panel, or panels with other
    probabilities for the same forecasts (such as `co.individual` gives), in a list or by name in a mapping. `bootstrap`
    is the number of resamples for the intervals (0: no intervals), `seed` is the seed of the resamples. With `remake`
    every method runs again for the judges of each resample, which takes that many times as long; intervals over judges
    then show how the aggregate depends on who made it. Results and panels that were given stay as they are.
    `time_limit` is for each run of Aggregate (exact), in seconds. An interruption (Ctrl-C) leaves out what was not
    done, and `notes` says so.

    >>> import coherently as co
    >>> panel = co.simulate(judges=12, variables=6, compound=8, basic=4, seed=1)
    >>> comparison = co.compare(panel, bootstrap=200)
    >>> comparison.frame()[["method", "brier", "brier_low", "brier_high"]].round(3)
                  method  brier  brier_low  brier_high
    0                Raw  ...
    >>> comparison.difference("Individual", "Raw").sentence
    '...'
    """
    _check(bootstrap, seed, confidence, clip)
    if not isinstance(panel, Panel):
        raise PanelError(f"compare takes a Panel, not a {type(panel).__name__}; see Panel.from_frame")
    if not (panel.written.outcome[panel.event_index] >= 0).any():
        raise PanelError(NO_OUTCOMES)
    tell = progress or (lambda _: None)
    share = _SHARE_REMADE if remake else _SHARE
    ran = run_candidates(panel, methods, time_limit, lambda done: tell(share * done))
    rows, left_out = _scored(panel, ran.forecasts)
    scored = panel.select(rows)
    tally, units = _tally(scored, ran.forecasts[:, rows], clip), units_of(scored)
    wanted = 0 if ran.interrupted else bootstrap
    place = {name: i for i, name in enumerate(panel.judges)}
    judges = [place[name] for name in scored.judges]

    def again(times: NDArray[np.float64]) -> Tally:
        every = np.ones(len(panel.judges))
        every[judges] = times
        return _tally(scored, ran.remade(panel, every)[:, rows], clip)

    told = partial(_tell_rest, tell, share)
    draws = resample(tally, units, wanted, seed, told, again if remake else None)
    done = len(draws["both"])
    notes = [*ran.notes, *left_out, *_doubts(scored, units, bootstrap, done)]
    return Comparison(
        rows=ran.candidates,
        judges=len(scored.judges),
        variables=units.count,
        scored=len(rows),
        value=tally.point(),
        draws=_honest(draws, len(scored.judges), units.count),
        confidence=confidence,
        remade=remake,
        notes=tuple(notes),
        interrupted=ran.interrupted or done < wanted,
        library=panel.library,
    )


def _tell_rest(tell: Progress, share: float, done: float) -> None:
    tell(share + (1 - share) * done)


def _tally(scored: Panel, forecasts: NDArray[np.float64], clip: float) -> Tally:
    outcome = scored.written.outcome[scored.event_index]
    shape = (len(scored.judges), len(scored.written))
    return Tally.of(forecasts, outcome, scored.judge_index, scored.event_index, shape, clip)


def _check(bootstrap: int, seed: int, confidence: float, clip: float) -> None:
    problems = {
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


def _scored(panel: Panel, forecasts: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[str]]:
    """The resolved rows for which every method has a probability, and a note on the others."""
    resolved = panel.written.outcome[panel.event_index] >= 0
    everywhere = ~np.isnan(forecasts).any(axis=0)
    rows = np.flatnonzero(resolved & everywhere)
    if not len(rows):
        raise PanelError("no resolved forecast has a probability from every method, so nothing can be compared")
    absent = int((resolved & ~everywhere).sum())
    if not absent:
        return rows, []
    return rows, [f"{absent:,} resolved forecasts are not scored, because some method has no probability for them"]


def _honest(draws: dict[str, NDArray[np.float64]], judges: int, units: int) -> dict[str, NDArray[np.float64]]:
    """Leave out draws over judges or events if there are too few of them."""
    possible = {"judges": judges >= LEAST_JUDGES, "events": units >= LEAST_UNITS}
    possible["both"] = all(possible.values())
    return {over: drawn if possible[over] else drawn[:0] for over, drawn in draws.items()}


def _doubts(scored: Panel, units: Units, wanted: int, done: int) -> list[str]:
    notes = []
    if wanted and done < wanted:
        notes.append(f"interrupted: {done:,} of {wanted:,} resamples were made")
    if len(scored.judges) < LEAST_JUDGES:
        notes.append("fewer than two judges are scored, so there are no intervals over judges")
    if units.count < LEAST_UNITS:
        notes.append(
            f"the scored events depend on {units.count} independent variable{'s' * (units.count != 1)}, fewer than "
            f"{LEAST_UNITS}, so there are no intervals over events"
        )
    return notes
