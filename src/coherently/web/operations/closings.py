"""The end of a panel for a judge: the result beside the own numbers, the own contradictions, and the own score."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.explain.judge_sheet import AnswerState
from coherently.web.operations.discussions import Talk, given_reasons
from coherently.web.operations.doubted_laws import blamed_law
from coherently.web.operations.judge_drawings import panel_distributions
from coherently.web.operations.known_scores import answers_of, averages_of, judge_scores, known_score, own_record
from coherently.web.operations.questions import as_setting
from coherently.web.operations.sheets import ask_feedback, standing
from coherently.web.refusals import RefusedError
from coherently.web.shapes.aggregation_shapes import EventResult
from coherently.web.shapes.closing_shapes import ClosingView, FateView, OwnRow, OwnScore
from coherently.web.store.resources.round_resource import ANSWERING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain.judge_sheet import Answered, Clash, SheetSetting
    from coherently.panel import Panel
    from coherently.web.access.callers import JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.closing_shapes import Fate
    from coherently.web.shapes.drawn_shapes import DistributionView
    from coherently.web.store import AggregationRecord, ForecastRecord, RoundRecord

TOLD = 2
"""How many events are named that cost or won most."""
CALLED_OFF = -2
"""The outcome of a conditional whose condition did not come true."""
WORDS = {1: "yes", 0: "no", CALLED_OFF: "off"}
"""How an event came out."""


def get_closing(bench: Workbench, caller: JudgeCaller) -> ClosingView:
    """What a judge sees once the panel is closed."""
    store, panel = bench.store, caller.panel
    present = store.rounds.current(panel)
    if present.phase != "closed":
        raise RefusedError(
            409, "round-open", "The panel is not closed yet.", remedy="Look again by the same link once it is."
        )
    records = store.forecasts.latest(panel)
    version = final_version(bench, panel, records)
    judges, handed_in = store.judges.count(panel), len(store.judges.hand_ins(panel, present.number))
    reasons = [each for each in given_reasons(bench, panel, records) if each.author == caller.judge.id]
    talk = Talk.of(bench, panel)
    made = None if version is None else store.aggregations.result(version.id)
    inputs = None if version is None else store.aggregations.inputs(version.id)
    outcomes = _outcomes(bench, panel, records)
    return ClosingView(
        version=None if version is None else version.version,
        summary=None if version is None else version.summary,
        laws=[] if inputs is None else inputs["laws"],
        events=[] if made is None else [EventResult(**row) for row in made["events"]],
        rows=_rows(bench, caller, outcomes),
        fates=_fates(bench, caller),
        minds=len({judge for reason in reasons for judge in talk.minds(reason)}),
        handed_in=handed_in,
        judges=judges,
        distributions=[] if made is None else _distributions(bench, panel, made["events"]),
        score=None if made is None or outcomes is None else _own_score(bench, caller, made["events"], outcomes),
        record=own_record(bench, caller),
    )


def _distributions(bench: Workbench, panel: str, events: Sequence[Mapping[str, Any]]) -> list[DistributionView]:
    numbers = ({row["event"]: row[name] for row in events} for name in ("raw", "probability"))
    return panel_distributions(bench, panel, *numbers)


def final_version(bench: Workbench, panel: str, records: Sequence[ForecastRecord]) -> AggregationRecord | None:
    """The newest version that has all answers; None while it is being made, or if nobody asked for it."""
    last = max((record.time for record in records), default="")
    versions = reversed(bench.store.aggregations.list(panel))
    return next((each for each in versions if each.status == "done" and each.as_of >= last), None)


def _rows(bench: Workbench, caller: JudgeCaller, resolved: Panel | None) -> list[OwnRow]:
    own = _own_numbers(bench, caller, None)
    revision = _last_revision(bench, caller.panel)
    before = {} if revision is None else _own_numbers(bench, caller, revision)
    came = {} if resolved is None else dict(zip(resolved.written.text, resolved.written.outcome.tolist(), strict=True))
    return [
        OwnRow(
            event=event.id,
            text=event.event,
            own=own.get(event.id),
            before=before.get(event.id),
            outcome=WORDS.get(came.get(event.event, -1), ""),
        )
        for question in bench.store.questions.list(caller.panel)
        for event in question.events
    ]


def _own_numbers(bench: Workbench, caller: JudgeCaller, before_round: int | None) -> dict[str, float]:
    stood = bench.store.forecasts.latest(caller.panel, caller.judge.id, before_round=before_round)
    return {each.event: each.probability for each in stood if each.probability is not None}


def _last_revision(bench: Workbench, panel: str) -> int | None:
    rounds = reversed(bench.store.rounds.list(panel))
    return next((each.number for each in rounds if each.phase == "revision"), None)


def _fates(bench: Workbench, caller: JudgeCaller) -> list[FateView] | None:
    """What became of the contradictions that stood at the end of each round; each is told once, by its last end.

    None as long as it is being worked out: what was not looked for must not count as gone.
    """
    store, panel, judge = bench.store, caller.panel, caller.judge.id
    meant = {each.key: each.reason for each in store.meant.list(panel, judge)}
    questions, laws = store.questions.list(panel), store.laws.list(panel)
    setting = as_setting(questions, laws)
    final = _asked(setting, standing(store.forecasts.latest(panel, judge)))
    stood = _clashes(bench, judge, setting, final, meant=meant)
    if stood is None:
        return None
    stands = {clash.key for clash in stood}
    found: dict[str, FateView] = {}
    for end in _ends(store.rounds.list(panel)):
        then = as_setting(questions, store.laws.list(panel, as_of=end.since))
        own = _asked(then, standing(store.forecasts.latest(panel, judge, before_round=end.number + 1)))
        now = _clashes(bench, judge, setting, own, meant=meant)
        before = None if now is None else _clashes(bench, judge, then, own, meant=meant)
        if now is None or before is None:
            return None
        still = {clash.key for clash in now}
        for clash in before:
            known = clash.key in stands
            fate: Fate = "meant" if known and clash.key in meant else "stood" if known else "changed"
            if clash.key not in still:
                fate = "dropped"
            law = blamed_law(setting, tuple(laws), _of(own, clash)) if fate == "meant" else None
            found[clash.key] = FateView(
                sentence=clash.sentence,
                round=end.number,
                fate=fate,
                meant=clash.key in meant,
                reason=meant.get(clash.key, ""),
                law=next((each.title or each.statement for each in laws if each.id == law), None),
            )
    return list(found.values())


def _ends(rounds: Sequence[RoundRecord]) -> list[RoundRecord]:
    """The phases that ended a round: those that follow one in which judges answered."""
    return [each for before, each in pairwise(rounds) if before.phase in ANSWERING and each.phase not in ANSWERING]


def _asked(setting: SheetSetting, answers: Sequence[Answered]) -> list[Answered]:
    known = {item.id for item in setting.items}
    return [each for each in answers if each.event in known]


def _of(answers: Sequence[Answered], clash: Clash) -> tuple[Answered, ...]:
    return tuple(each for each in answers if each.event in clash.events)


def _clashes(
    bench: Workbench, judge: str, setting: SheetSetting, answers: Sequence[Answered], *, meant: Mapping[str, str]
) -> tuple[Clash, ...] | None:
    """The contradictions of some answers; None if they were not all looked for yet."""
    told = ask_feedback(bench, judge, setting, tuple(answers), meant=frozenset(meant))
    return None if AnswerState.NOT_CHECKED in told.states.values() else told.contradictions


def _outcomes(bench: Workbench, panel: str, records: Sequence[ForecastRecord]) -> Panel | None:
    """The answers that stand with all outcomes that are known or follow; None while none is."""
    from coherently.panel import Panel

    store = bench.store
    known = {each.event: each.outcome for each in store.outcomes.latest(panel) if each.outcome is not None}
    questions = store.questions.list(panel)
    texts = {event.id: event.event for question in questions for event in question.events}
    rows = [
        (each.judge, texts[each.event], each.probability)
        for each in records
        if each.event in texts and each.probability is not None
    ]
    if not known or not rows:
        return None
    laws = list(as_setting(questions, store.laws.list(panel)).laws)
    try:
        return Panel.from_records(rows, laws=laws, outcomes=known)
    except CoherentlyError:  # laws that were dropped may leave an outcome without its variable
        return None


def _own_score(
    bench: Workbench, caller: JudgeCaller, events: Sequence[Mapping[str, Any]], resolved: Panel
) -> OwnScore | None:
    questions = bench.store.questions.list(caller.panel)
    ids = {event.event: event.id for question in questions for event in question.events}
    made = {row["event"]: row["probability"] for row in events if row["probability"] is not None}
    return _score(resolved, caller.judge.id, {text: value for text, value in made.items() if text in ids}, ids)


def _score(resolved: Panel, judge: str, made: Mapping[str, float], ids: Mapping[str, str]) -> OwnScore | None:
    """Scores per answer, so that a number counts as often as its question was answered; `ids` are by text."""
    answers = [each for each in answers_of(resolved) if each[1] in made]
    panel, average = known_score("", answers, made), known_score("", answers, averages_of(answers))
    if panel is None or average is None:
        return None
    own = {event: (value - outcome) ** 2 for person, event, value, outcome in answers if person == judge}
    columns = (resolved.judge_index.tolist(), resolved.event_index.tolist())
    mine = [event for person, event in zip(*columns, strict=True) if resolved.judges[person] == judge]
    order = sorted(own, key=lambda event: own[event])
    return OwnScore(
        known=len(own),
        answered=len(mine),
        called_off=sum(int(resolved.written.outcome[event]) == CALLED_OFF for event in mine),
        own=mean(own.values()) if own else None,
        panel=panel.per_answer,
        average=average.per_answer,
        judges=mean(each.per_answer for each in judge_scores(answers)),
        worst=[ids[event] for event in reversed(order[1:][-TOLD:])],
        best=[ids[event] for event in order[:1]],
    )
