"""Distributions: what a judge draws becomes answers at thresholds, and a version's answers are shown as one again."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError
from coherently.explain import judge_sheet as desk
from coherently.web.operations.aggregation_operations import get_result
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import refuse_while_private
from coherently.web.operations.questions import setting_of
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.drawn_shapes import (
    DistributionList,
    DistributionView,
    DrawingList,
    DrawnView,
    JudgeDrawing,
    Knot,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain.judge_sheet import AnswerAxis
    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.drawn_shapes import DrawnDraft
    from coherently.web.store import DrawnRecord, QuestionRecord

EPOCH = date(1970, 1, 1)
KEPT = 64
"""Number of panels whose axes are kept."""
SAME = 5e-4
"""Answers that differ by less from a drawing are those that it became."""


@lru_cache(maxsize=KEPT)
def _axes(
    texts: tuple[tuple[str, tuple[str, ...]], ...], declarations: tuple[str, ...]
) -> tuple[tuple[str, AnswerAxis], ...]:
    found = ((question, _axis(events, declarations)) for question, events in texts)
    return tuple((question, axis) for question, axis in found if axis is not None)


@lru_cache(maxsize=4096)
def _axis(events: tuple[str, ...], declarations: tuple[str, ...]) -> AnswerAxis | None:
    try:
        return desk.read_axis(events, declarations)
    except CoherentlyError:
        return None


def axes_of(bench: Workbench, panel: str) -> dict[str, AnswerAxis]:
    """The axes of a panel's questions that are about one number or date, by their ids."""
    questions, setting = bench.store.read(lambda: (bench.store.questions.list(panel), setting_of(bench, panel)))
    texts = tuple((each.id, tuple(event.event for event in each.events)) for each in questions)
    return dict(_axes(texts, tuple(each for each in setting.laws if each.startswith("variable "))))


def as_number(axis: AnswerAxis, value: float | str) -> float:
    """A value on the axis: a number or, of a date, the days from 1970 to its end, as "by that date" includes it."""
    if isinstance(value, str) == (axis.kind == "date"):
        try:
            return float(value) if not isinstance(value, str) else float((date.fromisoformat(value) - EPOCH).days + 1)
        except ValueError:
            pass
    allowed = "a date such as 2027-03-31" if axis.kind == "date" else "a number"
    raise RefusedError(422, "not-usable", f"{value!r} does not fit the question.", where="body.knots", allowed=allowed)


def as_value(axis: AnswerAxis, number: float) -> float | str:
    """The number or date at a place of the axis."""
    return (EPOCH + timedelta(days=round(number) - 1)).isoformat() if axis.kind == "date" else number


def answers_of_drawing(bench: Workbench, caller: JudgeCaller, draft: DrawnDraft) -> dict[str, float]:
    """What a drawing says about each event of its question, by the ids of events."""
    question = next((each for each in bench.store.questions.list(caller.panel) if each.id == draft.question), None)
    if question is None:
        raise not_found("question")
    axis = axes_of(bench, caller.panel).get(question.id)
    if axis is None:
        raise RefusedError(
            422,
            "no-axis",
            f"Question {question.number} is not about a single number or date, so that nothing can be drawn.",
            where="body.question",
            remedy="Answer it in per cent.",
        )
    knots = tuple((as_number(axis, knot.at), knot.share) for knot in draft.knots)
    values = desk.curve_answers(axis, desk.DrawnCurve(knots))
    return dict(zip((event.id for event in question.events), values, strict=True))


def own_drawings(bench: Workbench, caller: JudgeCaller, answers: Mapping[str, float | None]) -> list[DrawnView]:
    """What a judge drew; `answers` are the judge's own, by event."""
    found = bench.store.drawn.latest(caller.panel, caller.judge.id)
    if not found:
        return []
    axes = axes_of(bench, caller.panel)
    questions = {each.id: each for each in bench.store.questions.list(caller.panel)}
    return [_view(each, questions[each.question], axes, answers) for each in found if each.question in axes]


def list_drawings(bench: Workbench, caller: AccountCaller, panel: str) -> DrawingList:
    """What all judges drew, with their names, once no round is open."""
    own_panel(bench, caller, panel)
    refuse_while_private(bench, panel)
    axes, store = axes_of(bench, panel), bench.store
    names = {each.id: each.name for each in store.judges.list(panel)}
    questions = {each.id: each for each in store.questions.list(panel)}
    given = {(each.judge, each.event): each.probability for each in store.forecasts.latest(panel)}
    made = []
    for each in store.drawn.latest(panel):
        if each.question in axes:
            own = {event: value for (judge, event), value in given.items() if judge == each.judge}
            view = _view(each, questions[each.question], axes, own)
            made.append(JudgeDrawing(judge=names[each.judge], **view.model_dump()))
    return DrawingList(drawings=made)


def _view(
    record: DrawnRecord,
    question: QuestionRecord,
    axes: Mapping[str, AnswerAxis],
    answers: Mapping[str, float | None],
) -> DrawnView:
    knots = [Knot(at=at, share=share) for at, share in record.curve["knots"]]
    axis = axes[question.id]
    curve = desk.DrawnCurve(tuple((as_number(axis, knot.at), knot.share) for knot in knots))
    said = dict(zip((event.id for event in question.events), desk.curve_answers(axis, curve), strict=True))
    own = {event: answers.get(event) for event in said}
    stands = all(value is not None and abs(value - said[event]) < SAME for event, value in own.items())
    return DrawnView(question=question.id, way=record.curve["way"], knots=knots, stands=stands, time=record.time)


def version_distributions(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> DistributionList:
    """What a version says about each number and date."""
    found = get_result(bench, caller, panel, aggregation)
    before = {row.event: row.raw for row in found.events}
    after = {row.event: row.probability for row in found.events}
    return DistributionList(distributions=panel_distributions(bench, panel, before, after))


def panel_distributions(
    bench: Workbench, panel: str, before: Mapping[str, float | None], after: Mapping[str, float | None]
) -> list[DistributionView]:
    """The distributions that the numbers of events, by text, say; questions that they leave open are left out."""
    axes = axes_of(bench, panel)
    made = [
        _distribution(each, axes[each.id], before, after)
        for each in bench.store.questions.list(panel)
        if each.id in axes and len(each.events) > 1
    ]
    return [each for each in made if each is not None]


def _distribution(
    question: QuestionRecord, axis: AnswerAxis, before: Mapping[str, float | None], after: Mapping[str, float | None]
) -> DistributionView | None:
    texts = [event.event for event in question.events]
    masses = _masses(axis, [after.get(text) for text in texts])
    if masses is None:
        return None
    places = [desk.quantile(axis, masses, level) for level in (0.1, 0.5, 0.9)]
    low, middle, high = (None if place is None else as_value(axis, place) for place in places)
    return DistributionView(
        question=question.id,
        title=question.title,
        kind=axis.kind,
        cuts=[as_value(axis, cut) for cut in axis.cuts],
        before=_masses(axis, [before.get(text) for text in texts]),
        after=masses,
        low=low,
        middle=middle,
        high=high,
    )


def _masses(axis: AnswerAxis, values: Sequence[float | None]) -> list[float] | None:
    given = [value for value in values if value is not None]
    return axis.masses(given) if len(given) == len(values) else None
