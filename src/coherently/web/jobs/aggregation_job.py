"""One aggregation: plain values in, plain values out; nothing here knows the store."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError, MethodError
from coherently.web.operations.stateless import RECIPES, plain, timed_method
from coherently.web.shapes.stateless_shapes import RecipeBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.panel import Panel
    from coherently.report.dossier import Dossier
    from coherently.result import Result
    from coherently.solve import Method, Signal

CHECK_SECONDS = 10.0
"""Time limit of the check of the panel that the report shows, in seconds."""
LARGEST_PROOF = 2**22
"""Maximum number of bytes of a proof that is kept."""
LEAST_TUNED = 30
"""Minimum number of resolved events before a recipe is tuned: with fewer none is learned."""


@dataclass(frozen=True, slots=True)
class Made:
    """What an aggregation keeps: `result` has everything, `summary` what lists show."""

    result: dict[str, Any]
    summary: dict[str, Any]


def read_inputs(inputs: dict[str, Any]) -> Panel:
    """The panel of the values that an aggregation is made from."""
    from coherently.panel import Panel

    rows = [(row["judge"], row["event"], row["probability"]) for row in inputs["forecasts"]]
    known = {event: value for event, value in inputs["outcomes"].items() if value is not None}
    return Panel.from_records(rows, laws=inputs["laws"], outcomes=known or None, labels=inputs["labels"])


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a version is made: the panel with the weights of its judges, and the method, given or learned.

    `weights` are by judge, none if all count alike; `recipe` has the plain values of one that was given or learned, and
    `sentence` says what was learned.
    """

    panel: Panel
    method: Method
    weights: dict[str, float]
    recipe: dict[str, Any] | None = None
    sentence: str = ""


def choose(inputs: dict[str, Any], options: dict[str, Any], seconds: float, cancel: Signal) -> Chosen:
    """Read the panel, weigh its judges and choose the method, as the options say."""
    from coherently.judge_weights import HistoryWeights
    from coherently.panel.joined_panels import side_by_side
    from coherently.panel.weights import with_weights
    from coherently.scoring import tune

    panel, weights = read_inputs(inputs), dict(options.get("weights") or {})
    learn, sentence, asked = options.get("learn", "nothing"), "", options["method"]
    history = side_by_side([read_inputs(each) for each in inputs["past"]]) if learn != "nothing" else None
    if learn == "weights" and history is not None:
        weighting = HistoryWeights(history)
        weights = dict(zip(panel.judges, weighting(panel).tolist(), strict=True))
        sentence = f"Judges count {weighting.describe(panel)}."
    if weights:
        panel, _ = with_weights(panel, weights)
    if learn == "recipe" and history is not None:
        tuned = tune(panel, history=history, time_limit=seconds / RECIPES, cancel=cancel)
        asked, sentence = plain(tuned.recipe.as_dict()), tuned.sentence
    method = timed_method(asked if isinstance(asked, str) else RecipeBody.model_validate(asked), seconds)
    recipe = None if isinstance(asked, str) else asked
    return Chosen(panel, method, weights, recipe, sentence=sentence)


def make(
    inputs: dict[str, Any],
    options: dict[str, Any],
    seconds: float,
    *,
    cancel: Signal,
    tell: Callable[[float, str], None],
) -> Made | None:
    """Aggregate, verify and report; None if it was cancelled."""
    from coherently.report.dossier import make_dossier
    from coherently.report.html_page import Origin, write_dossier
    from coherently.report.verification_code import EXPORTED
    from coherently.result import aggregate
    from coherently.web.shapes.shape import now_text

    chosen = choose(inputs, options, seconds, cancel)
    panel = chosen.panel
    result = aggregate(
        panel,
        chosen.method,
        options["loss"],
        cancel=cancel,
        progress=lambda share: tell(0.8 * share, "Aggregating"),
        proof=True,
    )
    if cancel.is_set():
        return None
    tell(0.8, "Checking")
    dossier = make_dossier(panel, result, time_limit=min(CHECK_SECONDS, seconds), threads=1)
    if cancel.is_set():
        return None
    tell(0.9, "Writing the report")
    origin = Origin(made=now_text()[:16].replace("T", " ") + " UTC", panel_code=EXPORTED, title=options.get("title"))
    kept = _kept(dossier, result, inputs, write_dossier(dossier, origin)) | _proof(result)
    own = {"weights": chosen.weights, "recipe": chosen.recipe, "learned": chosen.sentence}
    said = {"weights": chosen.weights, "learned": chosen.sentence, "left_out": options.get("left_out", [])}
    said["proof"] = kept["proof"] is not None
    return Made(kept | own, _summary(dossier, result) | said)


def _kept(dossier: Dossier, result: Result, inputs: dict[str, Any], page: str) -> dict[str, Any]:
    from coherently.panel import records

    assert dossier.verification is not None
    rows = plain(records(result.columns()))
    titles = inputs["labels"]
    return {
        "events": [row | {"title": titles.get(row["event"], "")} for row in rows],
        "result": plain(result.as_dict()),
        "verified": bool(dossier.verification),
        "problems": list(dossier.verification.problems),
        "accuracy": _accuracy(dossier),
        "report": page,
    }


def _proof(result: Result) -> dict[str, str | None]:
    """The proof as text, or why there is none."""
    try:
        data = result.proof()
    except MethodError as error:
        return {"proof": None, "unproved": str(error)}
    if len(data) > LARGEST_PROOF:
        return {"proof": None, "unproved": f"it would take {len(data):,} bytes, and {LARGEST_PROOF:,} are kept"}
    return {"proof": base64.b64encode(data).decode(), "unproved": None}


def _accuracy(dossier: Dossier) -> dict[str, Any]:
    tuned, notes = None, list(dossier.notes)
    if int((dossier.panel.written.outcome >= 0).sum()) >= LEAST_TUNED:
        from coherently.scoring import tune

        try:
            tuned = plain(tune(dossier.panel, time_limit=CHECK_SECONDS).as_dict())
        except CoherentlyError as error:
            notes.append(str(error))
    return {
        "scores": None if dossier.scores is None else plain(dossier.scores.as_dict()),
        "replaced": None if dossier.replaced is None else plain(dossier.replaced.as_dict()),
        "tuned": tuned,
        "notes": notes,
    }


def _summary(dossier: Dossier, result: Result) -> dict[str, Any]:
    panel, found = dossier.panel, dossier.check
    numbers = ("objective", "lower_bound", "gap", "guaranteed_improvement")
    values: dict[str, Any] = {name: getattr(result, name) for name in numbers}
    values |= {
        "status": str(result.status),
        "sentence": result.status.sentence,
        "coherence": str(result.coherence),
        "note": result.note,
        "forecasts": len(panel),
        "judges": len(panel.judges),
        "events": len(panel.written),
        "verified": bool(dossier.verification),
        "problems": [] if dossier.verification is None else list(dossier.verification.problems),
        "averages": None if found is None else str(found.status),
        "contradictions": [] if found is None else list(found.contradictions)[:20],
        "brier_before": None if dossier.scores is None else float(dossier.scores.calibration.brier),
        "brier_after": None if dossier.replaced is None else float(dossier.replaced.calibration.brier),
    }
    found_values: dict[str, Any] = plain(values)
    return found_values
