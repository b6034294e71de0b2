"""A whole panel in, an answer out, nothing kept: what worker processes do for the stateless calls."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.shapes.stateless_shapes import (
    AggregateAnswer,
    BoundsAnswer,
    CheckAnswer,
    CompareAnswer,
    EventBounds,
    InfluenceAnswer,
    RecipeBody,
    ScoreAnswer,
    TuneAnswer,
    VerifyAnswer,
    WhyAnswer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coherently.panel import Panel
    from coherently.result import Result
    from coherently.solve import Method, Recipe
    from coherently.web.shapes.stateless_shapes import (
        AggregateDraft,
        BoundsDraft,
        CheckDraft,
        CompareDraft,
        InfluenceDraft,
        ScoreDraft,
        StatelessPanel,
        TuneDraft,
        VerifyDraft,
        WhyDraft,
    )

RECIPES = 30
"""About how many recipes a call of tune tries: each has that part of the time."""


@dataclass(frozen=True, slots=True)
class Until:
    """A stop signal that is set once its time, by the monotonic clock, has come."""

    deadline: float

    def is_set(self) -> bool:
        """Whether the time has come."""
        return time.monotonic() >= self.deadline


def check_forecasts(draft: CheckDraft, seconds: float) -> CheckAnswer:
    """Who contradicts what."""
    from coherently.explain import check
    from coherently.explain.findings import voice_of

    with in_body():
        panel = _panel(draft, draft.labels)
        found = check(panel, weights=draft.weights or None, time_limit=_seconds(draft.time_limit, seconds), threads=1)
    said = found.means.sentences(voice_of(draft.voice))
    return CheckAnswer(
        coherent=found.coherent,
        status=str(found.status),
        contradictions=list(said),
        check=plain(found.as_dict()),
    )


def aggregate_forecasts(draft: AggregateDraft, seconds: float) -> AggregateAnswer:
    """The coherent forecasts, verified."""
    return answered(aggregated(draft, seconds))


def bound_events(draft: BoundsDraft, seconds: float) -> BoundsAnswer:
    """What the coherent forecasts imply for events; forecasts and events share the time."""
    share = _seconds(draft.time_limit, seconds) / (1 + len(draft.events))
    result = aggregated(draft, share)
    found = []
    with in_body():
        for event in draft.events:
            low, high = pair = result.bounds(event, share)
            found.append(EventBounds(event=event, low=low, high=high, certified=pair.certified, note=pair.note))
    words = {"status": str(result.status), "coherence": str(result.coherence), "method": result.method.name}
    return BoundsAnswer(**words, bounds=found, result=plain(result.as_dict()))


def find_influence(draft: InfluenceDraft, seconds: float) -> InfluenceAnswer:
    """What each judge, question and law moves, or some of them together; forecasts and leaving out share the time."""
    share = 0.5 * _seconds(draft.time_limit, seconds)
    result = aggregated(draft, share, draft.labels)
    with in_body():
        found = result.influence(draft.largest, without=draft.without, time_limit=share)
    return InfluenceAnswer(sentences=list(found.sentences), influence=plain(found.as_dict()))


def explain_event(draft: WhyDraft, seconds: float) -> WhyAnswer:
    """Why one event has its probability."""
    share = 0.5 * _seconds(draft.time_limit, seconds)
    result = aggregated(draft, share, draft.labels)
    with in_body():
        found = result.why(draft.event, draft.largest, time_limit=share)
    return WhyAnswer(sentences=list(found.sentences), why=plain(found.as_dict()))


def score_forecasts(draft: ScoreDraft, _: float) -> ScoreAnswer:
    """How good each judge was."""
    from coherently.scoring import score

    with in_body():
        found = score(_panel(draft), clip=draft.clip, cluster=draft.cluster or None, confidence=draft.confidence)
    return ScoreAnswer(scores=plain(found.as_dict()))


def compare_methods(draft: CompareDraft, seconds: float) -> CompareAnswer:
    """Methods side by side; they share the time."""
    from coherently.rivals import literature
    from coherently.scoring import compare

    limit = _seconds(draft.time_limit, seconds)
    share = limit / (1 + len(draft.methods) + len(literature()) * draft.literature)
    rivals = literature(time_limit=share) if draft.literature else ()
    with in_body():
        found = compare(
            _panel(draft),
            [*(timed_method(method, share) for method in draft.methods), *rivals],
            over=draft.over,
            cluster=draft.cluster or None,
            confidence=draft.confidence,
            weights=draft.weights or None,
            time_limit=share,
            tolerance=draft.tolerance,
            threads=1,
            cancel=Until(time.monotonic() + limit),
        )
    return CompareAnswer(notes=list(found.notes), comparison=plain(found.as_dict()))


def tune_recipe(draft: TuneDraft, seconds: float) -> TuneAnswer:
    """The recipe that outcomes teach."""
    from coherently.scoring import tune

    limit = _seconds(draft.time_limit, seconds)
    with in_body():
        found = tune(
            _panel(draft),
            cluster=draft.cluster or None,
            literature=draft.literature,
            weights=draft.weights or None,
            time_limit=limit / RECIPES,
            cancel=Until(time.monotonic() + limit),
        )
    recipe, told = plain(found.recipe.as_dict()), plain(found.as_dict())
    return TuneAnswer(learned=found.is_learned, sentence=found.sentence, recipe=recipe, tuned=told)


def verify_result(draft: VerifyDraft, _: float) -> VerifyAnswer:
    """Whether a result keeps its promises about a panel."""
    import json

    from coherently.panel.weights import with_weights
    from coherently.result import Result
    from coherently.verifier import verify

    with in_body("body.result."):
        result = Result.from_json(json.dumps(draft.result))
    with in_body():
        found = verify(with_weights(_panel(draft), draft.weights or None)[0], result)
    return VerifyAnswer(verified=bool(found), problems=list(found.problems), verification=plain(found.as_dict()))


def timed_method(asked: str | RecipeBody, seconds: float, **options: object) -> Method:
    """The method that a word or a recipe stands for, with options, and with a time limit where it has one."""
    from coherently.solve.registry import choose, takes

    method = choose(asked) if isinstance(asked, str) else recipe_of(asked)
    limit = seconds if takes(method, "time_limit") else None
    return choose(method, time_limit=limit, **options)


def recipe_of(body: RecipeBody) -> Recipe:
    """The recipe that a body describes."""
    from coherently.solve import Recipe

    return Recipe.from_dict(_recipe(body))


def _recipe(body: RecipeBody) -> dict[str, Any]:
    """The plain values of a recipe, without options that were left open."""
    then = None if body.then is None else body.then.model_dump(exclude_none=True)
    head = {} if body.recipe is not None else {"format": body.format, "version": body.version}
    return head | body.model_dump(exclude_unset=True, exclude={"then"}) | {"then": then}


def aggregated(draft: AggregateDraft, seconds: float, labels: Mapping[str, str] | None = None) -> Result:
    """The result of a draft."""
    from coherently.result import aggregate

    with in_body():
        limit = _seconds(draft.time_limit, seconds)
        method = timed_method(draft.method, limit, tolerance=draft.tolerance, seed=draft.seed)
        return aggregate(_panel(draft, labels), method, draft.loss, weights=draft.weights or None)


def answered(result: Result) -> AggregateAnswer:
    """A result in the shape that is sent, with what the verifier says about it."""
    from coherently.panel import records
    from coherently.verifier import verify

    verification = verify(result.panel, result)
    columns = {name: cells for name, cells in result.columns().items() if name != "adjustment"}
    return AggregateAnswer(
        status=str(result.status),
        coherence=str(result.coherence),
        method=result.method.name,
        **plain({name: getattr(result, name) for name in ("objective", "lower_bound", "gap")}),
        forecasts=plain(records(columns)),
        note=result.note,
        verified=bool(verification),
        problems=list(verification.problems),
        result=plain(result.as_dict()),
    )


def plain(value: Any) -> Any:
    """The value as JSON can write it: a number that is not finite is None."""
    import json

    from coherently.values import json_text

    return json.loads(json_text(value))


@contextmanager
def in_body(record: str = "") -> Iterator[None]:
    """Name the fields of the body in errors about what it holds; `record` is where a JSON record is in it."""
    try:
        yield
    except CoherentlyError as error:
        raise error.moved(lambda where: replace(where, field=where.field_in("body.", record))) from None


def _seconds(asked: float | None, most: float) -> float:
    return most if asked is None else min(asked, most)


def _panel(draft: StatelessPanel, labels: Mapping[str, str] | None = None) -> Panel:
    from coherently.panel import Panel

    names = ["judge", "event", "probability", "weight"]
    if any(row.lower is not None or row.upper is not None for row in draft.forecasts):
        names += ["lower", "upper"]
    rows = [{name: getattr(row, name) for name in names} for row in draft.forecasts]
    return Panel.from_records(rows, laws=draft.laws, outcomes=draft.outcomes or None, labels=labels or None)
