"""The sheet of a judge: the own answers, what they mean together, and what the round shows of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coherently.explain import judge_sheet as desk
from coherently.web.access.request_keys import only_once
from coherently.web.operations.answer_operations import view_comment
from coherently.web.operations.discussions import (
    OPEN_PHASES,
    earlier_answers,
    opened_records,
    readable_reason,
    sheet_voices,
    shown_numbers,
)
from coherently.web.operations.judge_drawings import answers_of_drawing, own_drawings
from coherently.web.operations.panel_operations import time_zone, view_round
from coherently.web.operations.questions import setting_of, view_question
from coherently.web.refusals import RefusedError, not_finished
from coherently.web.shapes.judging_shapes import CommentList
from coherently.web.shapes.sheet_shapes import (
    AnswerView,
    ChangeOfAnswer,
    FeedbackView,
    FitView,
    HandedIn,
    JudgeName,
    MeantView,
    OthersView,
    SavedView,
    SheetName,
    SheetView,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.explain.judge_sheet import Answered, Feedback, SheetSetting
    from coherently.web.access.callers import JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.drawn_shapes import DrawnDraft
    from coherently.web.shapes.judging_shapes import CommentDraft, CommentView
    from coherently.web.shapes.sheet_shapes import AnswerBatch, AnswerDraft, FitDraft, MeantDraft
    from coherently.web.store import AnswerGiven, ForecastRecord, RoundRecord


FIT_SECONDS = 5.0
"""Seconds for which somebody waits who asked for the least change."""


def get_sheet(bench: Workbench, caller: JudgeCaller) -> SheetView:
    """The whole sheet, as it is in one moment of the store; what it means is worked out after that."""
    sheet, asked = bench.store.read(lambda: _read_sheet(bench, caller))
    return sheet.model_copy(update={"feedback": asked.told(bench).as_dict()})


def _read_sheet(bench: Workbench, caller: JudgeCaller) -> tuple[SheetView, _AskedFeedback]:
    store, panel, judge = bench.store, caller.panel, caller.judge.id
    known = store.panels.get(panel)
    present = store.rounds.current(panel)
    own = store.forecasts.latest(panel, judge)
    opened, meant = opened_records(bench, panel, present), list_meant(bench, caller)
    handed_in = [record.time for record in store.judges.hand_ins(panel, present.number) if record.judge == judge]
    sheet = SheetView(
        panel=SheetName(id=panel, title=known.title, time_zone=time_zone(known)),
        judge=JudgeName(name=caller.judge.name),
        round=view_round(present),
        questions=[view_question(record) for record in store.questions.list(panel)],
        answers=[_view_answer(record) for record in own],
        others=_others(caller, present, opened),
        voices=sheet_voices(bench, caller, present, opened),
        earlier=earlier_answers(bench, caller, present),
        meant=meant,
        drawn=own_drawings(bench, caller, {each.event: each.probability for each in own}),
        feedback={},
        handed_in=handed_in[0] if handed_in else None,
        saved=max((record.time for record in own), default=None),
    )
    keys = frozenset(each.key for each in meant)
    return sheet, _AskedFeedback.of(judge, setting_of(bench, panel), standing(own), keys)


class _AskedFeedback(NamedTuple):
    """What feedback is asked for: answers to the questions of a setting."""

    judge: str
    setting: SheetSetting
    answers: tuple[Answered, ...]
    meant: frozenset[str]

    @classmethod
    def of(cls, judge: str, setting: SheetSetting, own: Sequence[Answered], meant: frozenset[str]) -> _AskedFeedback:
        asked = {item.id for item in setting.items}
        return cls(judge, setting, tuple(each for each in own if each.event in asked), meant)

    def told(self, bench: Workbench) -> Feedback:
        return ask_feedback(bench, self.judge, self.setting, self.answers, meant=self.meant)


def save_answers(bench: Workbench, caller: JudgeCaller, batch: AnswerBatch, key: str | None = None) -> SavedView:
    """Keep answers, which are on the disk before anything is calculated, and say what all of them mean together."""
    given = [_given(draft, place) for place, draft in enumerate(batch.answers)]
    records = bench.store.forecasts.record(caller.judge.id, given, key)
    return SavedView(saved=records[-1].time, feedback=_present_feedback(bench, caller).as_dict())


def save_drawing(bench: Workbench, caller: JudgeCaller, draft: DrawnDraft, key: str | None = None) -> SavedView:
    """Keep a distribution with all its knots, and what it says about the question's events as answers."""
    from coherently.web.store import AnswerGiven

    values = answers_of_drawing(bench, caller, draft)
    known = {each.event: each for each in bench.store.forecasts.latest(caller.panel, caller.judge.id)}
    given = [
        AnswerGiven(
            event,
            value,
            locked=event in known and known[event].locked,
            reason=known[event].reason if event in known else "",
        )
        for event, value in values.items()
    ]
    curve = {"way": draft.way, "knots": [[knot.at, knot.share] for knot in draft.knots]}

    def action() -> SavedView:
        records = bench.store.forecasts.record(caller.judge.id, given)
        bench.store.drawn.keep(caller.judge.id, draft.question, curve)
        return SavedView(saved=records[-1].time, feedback={})

    saved = only_once(bench, caller, "drawings", key, draft=draft, action=action)
    return SavedView(saved=saved.saved, feedback=_present_feedback(bench, caller).as_dict())


def try_answers(bench: Workbench, caller: JudgeCaller, batch: AnswerBatch) -> FeedbackView:
    """What answers would mean together with those that stand; nothing is saved."""
    own = {each.event: each for each in standing(bench.store.forecasts.latest(caller.panel, caller.judge.id))}
    for place, draft in enumerate(batch.answers):
        given = _given(draft, place)
        own.pop(given.event, None)
        if not given.withdrawn:
            own[given.event] = desk.Answered(given.event, given.probability, given.probability is None, given.locked)
    known = {item.id for item in setting_of(bench, caller.panel).items}
    unknown = next((event for event in own if event not in known), None)
    if unknown is not None:
        raise RefusedError(404, "not-found", f"The panel asks about no event {unknown!r}.", where="body.answers")
    return FeedbackView(feedback=_feedback(bench, caller, list(own.values())).as_dict())


def fit_answers(bench: Workbench, caller: JudgeCaller, draft: FitDraft) -> FitView:
    """The smallest change that resolves one contradiction; nothing is saved."""
    own = standing(bench.store.forecasts.latest(caller.panel, caller.judge.id))
    asked = (setting_of(bench, caller.panel), tuple(own), draft.key, _meant(bench, caller))
    changes = bench.desk.ask(caller.judge.id, FIT_SECONDS, desk.fit, *asked)
    if changes is None:
        raise not_finished("The change is still being looked for.")
    return FitView(changes=[ChangeOfAnswer.model_validate(each.as_dict()) for each in changes])


def mean_it(bench: Workbench, caller: JudgeCaller, draft: MeantDraft, key: str | None = None) -> FeedbackView:
    """Note that a contradiction is meant; it no longer narrows the bands of others."""
    own = standing(bench.store.forecasts.latest(caller.panel, caller.judge.id))
    clashes = {clash.key: clash.sentence for clash in _feedback(bench, caller, own).contradictions}
    if draft.key not in clashes:
        raise RefusedError(404, "not-found", "There is no such contradiction, or no longer.", where="body.key")

    def action() -> FeedbackView:
        bench.store.meant.say(caller.judge.id, draft.key, clashes[draft.key], draft.reason)
        return FeedbackView(feedback={})

    only_once(bench, caller, "meant", key, draft=draft, action=action)
    return FeedbackView(feedback=_feedback(bench, caller, own).as_dict())


def take_back(bench: Workbench, caller: JudgeCaller, key: str) -> FeedbackView:
    """Note that a contradiction was not meant after all."""
    bench.store.meant.take_back(caller.judge.id, key)
    return FeedbackView(feedback=_present_feedback(bench, caller).as_dict())


def list_meant(bench: Workbench, caller: JudgeCaller) -> list[MeantView]:
    """What this judge means."""
    return [MeantView.of(record) for record in bench.store.meant.list(caller.panel, caller.judge.id)]


def hand_in(bench: Workbench, caller: JudgeCaller) -> HandedIn:
    """Say that the answers are all; one may, with contradictions and gaps, and come back until the round closes."""
    present = bench.store.rounds.current(caller.panel)
    if present.phase not in ("private", "revision"):
        raise RefusedError(
            409, "round-closed", f"The round takes no answers now: it is in the phase {present.phase!r}."
        )
    return HandedIn(handed_in=bench.store.judges.hand_in(caller.judge.id).time)


def sheet_comments(bench: Workbench, caller: JudgeCaller) -> CommentList:
    """The own comments and, once the round opens them, those of the others, without names."""
    judge = caller.judge.id
    is_open = bench.store.rounds.current(caller.panel).phase in OPEN_PHASES
    found = [
        each
        for each in bench.store.comments.list(caller.panel)
        if each.about is None and (each.judge == judge or (each.hidden_at is None and (is_open or each.judge is None)))
    ]
    return CommentList(comments=[view_comment(each, None, judge) for each in found])


def add_sheet_comment(
    bench: Workbench, caller: JudgeCaller, draft: CommentDraft, key: str | None = None
) -> CommentView:
    """Comment as a judge, or reply to a reason; once the panel is closed, nothing more is said."""
    if bench.store.rounds.current(caller.panel).phase == "closed":
        raise RefusedError(409, "round-closed", "The panel is closed, so that nothing more is said.")
    about, question = None, draft.question
    if draft.reason is not None:
        reason = readable_reason(bench, caller, draft.reason)
        about, question = reason.author, reason.question

    def action() -> CommentView:
        record = bench.store.comments.add(caller.panel, draft.text, caller.judge.id, question, about)
        return view_comment(record, None, caller.judge.id)

    return only_once(bench, caller, "comments", key, draft=draft, action=action)


def standing(records: Sequence[ForecastRecord]) -> list[Answered]:
    """The answers that stand, as the desk takes them."""
    return [
        desk.Answered(record.event, record.probability, record.state == "abstained", record.locked)
        for record in records
        if record.state != "withdrawn"
    ]


def _present_feedback(bench: Workbench, caller: JudgeCaller) -> Feedback:
    """Feedback on the answers that stand."""

    def read() -> _AskedFeedback:
        own = standing(bench.store.forecasts.latest(caller.panel, caller.judge.id))
        return _asked_feedback(bench, caller, own)

    return bench.store.read(read).told(bench)


def _asked_feedback(bench: Workbench, caller: JudgeCaller, own: Sequence[Answered]) -> _AskedFeedback:
    return _AskedFeedback.of(caller.judge.id, setting_of(bench, caller.panel), own, _meant(bench, caller))


def _feedback(bench: Workbench, caller: JudgeCaller, own: Sequence[Answered]) -> Feedback:
    return bench.store.read(lambda: _asked_feedback(bench, caller, own)).told(bench)


def ask_feedback(
    bench: Workbench, judge: str, setting: SheetSetting, answers: tuple[Answered, ...], meant: frozenset[str]
) -> Feedback:
    """What answers mean as far as it is known in time; else nothing is checked yet, and worth asking for again."""
    limits = bench.settings.limits
    found = bench.desk.ask(judge, limits.page_seconds, desk.feedback, setting, answers, meant, limits.feedback_seconds)
    return desk.Feedback.unfinished(answers) if found is None else found


def _meant(bench: Workbench, caller: JudgeCaller) -> frozenset[str]:
    return frozenset(record.key for record in bench.store.meant.list(caller.panel, caller.judge.id))


def _others(caller: JudgeCaller, present: RoundRecord, opened: Sequence[ForecastRecord]) -> list[OthersView] | None:
    """Numbers of the others, sorted, so that nobody can be told from anybody; None while they are hidden.

    In a revision judges see what stood when it began, not what the others make of it meanwhile.
    """
    if present.phase not in OPEN_PHASES or present.hide_numbers:
        return None
    shown = shown_numbers(opened, present)
    others = {
        event: [value for judge, value in given.items() if judge != caller.judge.id] for event, given in shown.items()
    }
    return [OthersView(event=event, probabilities=sorted(values)) for event, values in sorted(others.items())]


def _given(draft: AnswerDraft, place: int) -> AnswerGiven:
    from coherently.web.store import AnswerGiven

    if draft.abstained and draft.probability is not None:
        raise RefusedError(
            422,
            "not-usable",
            "An answer is a probability or an abstention, not both.",
            where=f"body.answers.{place}",
            remedy="Leave out one of them.",
        )
    withdrawn = draft.probability is None and not draft.abstained
    return AnswerGiven(draft.event, draft.probability, draft.locked, draft.reason, withdrawn=withdrawn)


def _view_answer(record: ForecastRecord) -> AnswerView:
    return AnswerView.of(record, abstained=record.state == "abstained")
