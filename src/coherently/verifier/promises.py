"""The words and single numbers of a result, checked by the panel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import SHOWN
from coherently.events import NEVER
from coherently.problem.pool_kinds import OPTIONS as POOLS
from coherently.verifier.distinct_events import CLOSE, means_as_written, resolution, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.verifier.distinct_events import Distinct

WEAKEST_FIRST = ("none", "local", "global")
USUAL_TOLERANCE = 1e-6
"""The tolerance of optimal if the method states none."""
MOST_TOLERANCE = 0.1
"""The largest tolerance with which "optimal" is accepted.

The gap is relative to the objective or to 1. At 1 the word would mean nothing, as 0 is a lower bound of every
objective; at a tenth the answer is as near as the nearest to one digit, the least that a word such as optimal can mean.
"""
SETTLED = 1e-7
"""The relative gap and the violation up to which locally coherent forecasts are called the nearest."""


@dataclass(frozen=True, slots=True)
class Unchecked:
    """What is taken on trust, in words, and the fields of a record whose edits may thus go unnoticed.

    A field is named by its place, such as components.proof; that of an object or a list stands for all within.
    """

    fields: tuple[str, ...]
    words: str


FORMS = ("called_off", "linearised", "ratio")
"""How an objective may count conditional forecasts."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the results of a method look like: its coherence, how it may end, and what it always and never states.

    `conditionals` are the losses of conditional forecasts that it knows. If it `splits`, the result has the components
    of the panel; if it is `of_others`, those of another problem: of pooled forecasts, or of reports with errors. A
    `quadratic` one knows no loss but that of Brier.
    """

    coherence: tuple[str, ...]
    statuses: tuple[str, ...]
    states: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    conditionals: tuple[str, ...] = FORMS
    splits: bool = False
    of_others: bool = False
    quadratic: bool = False


LIMITS = ("interrupted", "time_limit", "unproved")
LOCAL = Kind(
    ("local",),
    ("converged", "sweep_limit", *LIMITS),
    ("violation", "sweeps"),
    ("components",),
    conditionals=("linearised",),
)
NEAREST = Kind(
    ("global",),
    ("optimal", *LIMITS),
    ("lower_bound", "violation"),
    ("groups", "sweeps"),
    conditionals=("called_off", "linearised"),
    splits=True,
)
NO_NEARNESS = ("lower_bound", "guaranteed_improvement")
APART = Kind(("global",), ("converged", *LIMITS), (), (*NO_NEARNESS, "groups", "sweeps", "conditionals"))
AVERAGE = Kind(("none",), ("averaged",), (), (*NO_NEARNESS, *APART.without, "violation", "components"))
POOLED = replace(AVERAGE, quadratic=True)
KINDS = {
    "exact": NEAREST,
    "projections": replace(LOCAL, without=(*LOCAL.without, "lower_bound")),
    "dykstra": replace(LOCAL, states=(*LOCAL.states, "lower_bound")),
    "annealing": Kind(
        ("global",),
        ("converged", "pass_limit", *LIMITS),
        ("lower_bound",),
        ("guaranteed_improvement", "groups", "sweeps", "components"),
        conditionals=("ratio",),
    ),
    "lindley": replace(APART, states=("violation",), of_others=True, quadratic=True),
    "dempster-shafer": replace(APART, splits=True),
    "recipe": AVERAGE,
}
"""The methods of the package except pools and auto, which is exact or dykstra; nothing is known of others."""
ANY = Kind(WEAKEST_FIRST, ("optimal", "averaged", "converged", "sweep_limit", "pass_limit", *LIMITS))


THEN = ", then "
"""What stands between a pool and the method that makes its numbers coherent, in the name of both together."""


def kind_of(method: str, coherence: str) -> Kind:
    """What a method's results look like; of "pool, then method", no nearness to the forecasts is claimed."""
    if method == "auto":
        # Components beyond the limit are locally coherent, and they are listed.
        return replace(KINDS["dykstra"], without=()) if coherence == "local" else KINDS["exact"]
    pool, _, then = method.partition(THEN)
    if not then:
        return POOLED if method in POOLS else KINDS.get(method, ANY)
    after = kind_of(then, coherence) if kind_of(pool, "none") in (AVERAGE, POOLED) else ANY
    ends = tuple("converged" if status == "optimal" else status for status in after.statuses)
    states = tuple(name for name in after.states if name not in NO_NEARNESS)
    without = (*after.without, *NO_NEARNESS)
    return replace(after, statuses=ends, states=states, without=without, splits=False, of_others=True)


def described(result: Result) -> list[Unchecked]:
    """What a result says of how it was found, which nothing else in it shows."""
    kind = kind_of(result.method.name, result.coherence)
    found = [Unchecked(("method", "tolerance", "note"), "the method, its tolerance and the note")]
    if result.components and not kind.of_others and result.coherence != "local":
        fields = ("components.route", "components.proof")
        found.append(Unchecked(fields, "the words for the routes and proofs of components"))
    if result.status not in ("optimal", "averaged") or kind is ANY:
        found.append(Unchecked(("status",), "why the method stopped"))
    if result.guaranteed_improvement is None and "guaranteed_improvement" not in kind.without:
        found.append(Unchecked(("guaranteed_improvement",), "how much the answer saves at least, which is not stated"))
    return found


def tolerance_of(result: Result) -> float:
    """The relative gap that the result calls optimal."""
    tolerance = getattr(result.method, "tolerance", None)
    return USUAL_TOLERANCE if tolerance is None else float(tolerance)


def match(panel: Panel, events: Sequence[str]) -> tuple[Indices, list[str]]:
    """Find the result's row of each event of the panel, by its text or its meaning; or say what is wrong."""
    number = {text: i for i, text in enumerate(panel.written.text)}
    others = [text for text in events if text not in number]
    number |= _by_meaning(panel, others)
    rows = np.full(len(panel.written), -1, np.int64)
    problems = []
    for row, text in enumerate(events):
        at = number.get(text)
        if at is None:
            problems.append(f"nobody in the panel forecast {text!r}")
        elif rows[at] >= 0:
            problems.append(f"the result has {text!r} twice")
        else:
            rows[at] = row
    absent = np.flatnonzero(rows < 0)
    problems += [f"the result has no probability for {panel.written.text[i]!r}" for i in absent.tolist()]
    return rows, cut(problems)


def _by_meaning(panel: Panel, texts: Sequence[str]) -> dict[str, int]:
    if not texts:
        return {}
    written = panel.written
    known = {pair: i for i, pair in enumerate(zip(written.event.tolist(), written.condition.tolist(), strict=True))}
    sides = panel.events.find(texts).sides.tolist()
    found = {text: known.get((event, condition)) for text, (event, condition, _) in zip(texts, sides, strict=True)}
    return {text: i for text, i in found.items() if i is not None}


def check_means(panel: Panel, stated: dict[str, Vector], unit: float) -> list[str]:
    """Check the raw means and weights, one entry per event of the panel, by the forecasts; weights are in units."""
    weight, raw = means_as_written(panel)
    problems = []
    for name, expected, one in (("weight", weight, unit), ("raw", raw, 1.0)):
        told = stated[name] / one
        close = resolution(one)
        bad = np.flatnonzero(~np.isclose(told, expected, rtol=close, atol=close, equal_nan=True))
        problems += [
            f"the {name} of {panel.written.text[i]!r} is {stated[name][i]:.12g}, in the panel {expected[i] * one:.12g}"
            for i in bad.tolist()
        ]
    return cut(problems)


def check_averages(panel: Panel, result: Result, stated: dict[str, Vector]) -> tuple[list[str], list[Unchecked]]:
    """Check plain averages by the forecasts: the problems, and what could not be checked."""
    name, value = result.method.name, stated["probability"]
    is_known = kind_of(name, result.coherence).quadratic
    left = [] if is_known else [Unchecked(("loss", "clip"), "the loss, which averages do not show")]
    if name == "linear":
        wrong = ~np.isclose(value, stated["raw"], rtol=0, atol=CLOSE, equal_nan=True)
    elif name == "median":
        own = value[panel.event_index]
        beyond = (panel.probability < own - CLOSE, panel.probability > own + CLOSE)
        below, above = (np.bincount(panel.event_index, scaled(panel)[0] * side, len(value)) for side in beyond)
        half = 0.5 * means_as_written(panel)[0] * (1.0 + CLOSE)
        wrong = (below > half) | (above > half)
        if (np.maximum(below, above) >= half / (1.0 + CLOSE) ** 2).any():
            left.append(
                Unchecked(("forecasts.probability",), "which of several medians the probability of an event is")
            )
    else:
        why = f"how {name} averages the forecasts: results do not state its options"
        return [], [*left, Unchecked(("forecasts.probability",), why)]
    text, word = panel.written.text, "mean" if name == "linear" else name
    rows = np.flatnonzero(wrong).tolist()
    return cut([f"the probability of {text[i]!r} is not the {word} of the event's forecasts" for i in rows]), left


def check_probabilities(panel: Panel, result: Result, value: Vector, distinct: Distinct) -> list[str]:
    """Probabilities lie in [0, 1]; those of an event and its complement sum to 1, unless they are plain averages."""
    text = panel.written.text
    own = np.bincount(panel.event_index, panel.weight, len(text))
    both = np.bincount(distinct.home, own, len(distinct.side))[distinct.home]
    weightless = (own if result.coherence == "none" else both) == 0
    out = np.flatnonzero(~((value >= -CLOSE) & (value <= 1 + CLOSE) | (np.isnan(value) & weightless)))
    problems = [f"the probability of {text[i]!r} is {value[i]:.12g}" for i in out.tolist()]
    if result.coherence == "none":
        return cut(problems)
    agreed = distinct.at_home(value)[distinct.home]
    expected = np.where(distinct.turned, 1.0 - agreed, agreed)
    apart = np.flatnonzero(~(np.isclose(value, expected, rtol=0, atol=CLOSE, equal_nan=True)))
    problems += [f"the probabilities of {text[i]!r} and its complement do not sum to 1" for i in apart.tolist()]
    violation = CLOSE + (result.violation or 0.0)
    impossible = np.flatnonzero((distinct.side == NEVER) & ~distinct.conditional)
    x = distinct.at_home(value)[impossible]
    problems += [f"an event that cannot happen has the probability {p:.12g}" for p in x[x > violation].tolist()]
    return cut(problems)


def check_words(result: Result, distinct: Distinct) -> list[str]:
    """Status and coherence must agree with the numbers, the worlds and the method."""
    conditional = bool(distinct.conditional.any())
    words = {component.coherence for component in result.components} | {result.coherence}
    if not words <= set(WEAKEST_FIRST):
        return [f"the coherence of the result or of a component is none of {', '.join(WEAKEST_FIRST)}"]
    problems = []
    weakest = min((c.coherence for c in result.components), key=WEAKEST_FIRST.index, default=result.coherence)
    if result.coherence != weakest:
        problems.append(f"the coherence is {result.coherence}, the weakest of its components {weakest}")
    for name, which in NEEDED.items():
        if (getattr(result, name) is None) == (result.coherence in which):
            found = "without" if getattr(result, name) is None else "with"
            problems.append(f"the coherence is {result.coherence}, {found} {name}")
    if result.objective is not None and (result.conditionals is None) == conditional:
        problems.append(
            f"the loss of conditional forecasts is {result.conditionals}, with{'out' * (not conditional)} any"
        )
    gap = None
    if result.objective is not None and result.lower_bound is not None:
        gap = result.objective - result.lower_bound
    if result.gap != gap:
        problems.append(f"the gap is {result.gap}; the objective minus the lower bound is {gap}")
    return problems + _check_kind(result) + _check_status(result, gap, distinct)


NEEDED = {"worlds": ("global",), "objective": ("local", "global"), "groups": ("local",)}
"""The coherence that goes with some fields."""


def _check_kind(result: Result) -> list[str]:
    kind, name = kind_of(result.method.name, result.coherence), result.method.name
    problems = [
        f"the {what} {word} does not go with the method {name}"
        for what, word, words in (
            ("coherence", result.coherence, kind.coherence),
            ("status", result.status, kind.statuses),
        )
        if word not in words
    ]
    if result.conditionals is not None and result.conditionals not in kind.conditionals:
        problems.append(f"the loss of conditional forecasts is {result.conditionals}, which {name} does not know")
    if kind.quadratic and not result.loss.is_quadratic:
        problems.append(f"the loss is {result.loss.name}, which {name} does not know")
    filled, absent = (
        [field.replace("_", " ") for field in fields if (getattr(result, field) in (None, ())) == empty]
        for fields, empty in ((kind.without, False), (kind.states, True))
    )
    problems += [f"the result has the field {field}, which {name} never states" for field in filled]
    return problems + [f"the result has no {field}, which {name} always states" for field in absent]


def _check_status(result: Result, gap: float | None, distinct: Distinct) -> list[str]:
    """Optimal means that the gap is at most the tolerance, and a limit that it is not; of local answers, converged."""
    tolerance, unit = getattr(result.method, "tolerance", None), distinct.unit
    objective = (result.objective or 0.0) / unit
    scale = max(distinct.floor, objective)
    if result.status == "optimal":
        most = tolerance_of(result)
        if not 0 <= most <= MOST_TOLERANCE:
            return [f"the status is optimal with a tolerance of {most:.6g}; above {MOST_TOLERANCE} that says nothing"]
        if gap is None or gap / unit > most * scale + resolution(unit) * max(1.0, objective):
            return [f"the status is optimal, but the gap is {gap}, not within {most * scale * unit:.6g}"]
    elif gap is not None and tolerance is not None:
        within = gap / unit <= tolerance * scale * (1.0 - CLOSE)
        if result.coherence == "global" and result.method.name in ("exact", "auto") and within:
            return [f"the status is {result.status}, but the gap is {gap:.6g}, within the tolerance"]
        if result.coherence == "local" and result.status == "converged":
            if gap / unit > 2 * max(tolerance, SETTLED) * max(1.0, objective):
                return [f"the status is converged, but the gap is {gap:.6g}"]
            if (result.violation or 0.0) > 2 * max(tolerance, SETTLED):
                return [f"the status is converged, but the violation is {result.violation:.6g}"]
    return []


def cut(problems: list[str]) -> list[str]:
    """The first problems of a kind, and how many more there are."""
    if len(problems) <= SHOWN:
        return problems
    return [*problems[:SHOWN], f"... and {len(problems) - SHOWN:,} more of this kind"]
