"""Scores once outcomes are known: of a version and its judges, and of an account's judges over all panels."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from coherently.errors import CoherentlyError
from coherently.web.operations.aggregation_operations import own_aggregation, panel_inputs
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import has_private
from coherently.web.operations.same_people import are_same, is_same
from coherently.web.operations.version_choices import MOST_PANELS, past_panels
from coherently.web.refusals import RefusedError
from coherently.web.shapes.aggregation_shapes import (
    CalibrationStep,
    JudgeHistory,
    JudgeRecordView,
    KnownScore,
    PanelScores,
    TeamScores,
)
from coherently.web.shapes.closing_shapes import OwnRecord, PanelRecordView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.panel import Panel
    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import AggregationRecord, JudgeRecord, PanelRecord

STEPS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Where one step of a calibration ends and the next begins."""
LEAST_KNOWN = 20
"""Answers with a known outcome, below which nothing is said about calibration."""


def resolved_panel(
    forecasts: Sequence[Mapping[str, Any]], laws: Sequence[str], outcomes: Mapping[str, Any]
) -> Panel | None:
    """Answers with all outcomes that are known or follow; None while none is, or if they cannot be read together."""
    from coherently.panel import Panel

    known = {event: value for event, value in outcomes.items() if value is not None}
    if not known or not forecasts:
        return None
    rows = [(row["judge"], row["event"], row["probability"]) for row in forecasts]
    try:
        return Panel.from_records(rows, laws=list(laws), outcomes=known)
    except CoherentlyError:  # a law that was dropped since may leave an outcome without its variable
        return None


def answers_of(resolved: Panel) -> list[tuple[str, str, float, int]]:
    """Judge, event, number and outcome of each answer whose event came true or not."""
    texts, outcomes = resolved.written.text, resolved.written.outcome.tolist()
    columns = (resolved.judge_index.tolist(), resolved.event_index.tolist(), resolved.probability.tolist())
    return [
        (resolved.judges[judge], texts[event], value, outcomes[event])
        for judge, event, value in zip(*columns, strict=True)
        if outcomes[event] in (0, 1)
    ]


def known_score(
    name: str, answers: Sequence[tuple[str, str, float, int]], value: Mapping[str, float]
) -> KnownScore | None:
    """The Brier scores of one number for each event, over the answers to these events."""
    scored = [(event, (value[event] - outcome) ** 2) for _, event, _, outcome in answers if event in value]
    if not scored:
        return None
    return KnownScore(
        name=name,
        per_answer=mean(loss for _, loss in scored),
        per_event=mean(dict(scored).values()),
        known=len(scored),
    )


def averages_of(answers: Sequence[tuple[str, str, float, int]]) -> dict[str, float]:
    """The plain average of the answers to each event."""
    given: dict[str, list[float]] = {}
    for _, event, value, _ in answers:
        given.setdefault(event, []).append(value)
    return {event: mean(values) for event, values in given.items()}


def judge_scores(answers: Sequence[tuple[str, str, float, int]]) -> list[KnownScore]:
    """The score of each judge, the best first."""
    people: dict[str, dict[str, float]] = {}
    for judge, event, value, _ in answers:
        people.setdefault(judge, {})[event] = value
    own = [
        known_score(judge, [each for each in answers if each[0] == judge], values) for judge, values in people.items()
    ]
    return sorted((each for each in own if each is not None), key=lambda each: (each.per_answer, each.name))


def get_scores(bench: Workbench, caller: AccountCaller, panel: str, aggregation: str) -> PanelScores:
    """How good a version and its judges were, with the outcomes that are known now."""
    found = score_version(bench, own_panel(bench, caller, panel), own_aggregation(bench, caller, panel, aggregation))
    if found is None:
        raise RefusedError(
            409, "no-outcomes", "No outcome of the panel is known yet.", remedy="Enter what came true, then ask again."
        )
    return found


def score_version(bench: Workbench, record: PanelRecord, aggregation: AggregationRecord) -> PanelScores | None:
    """The same; None while no outcome is known."""
    store, panel = bench.store, record.id
    inputs, kept = store.aggregations.inputs(aggregation.id), store.aggregations.result(aggregation.id)
    outcomes = {each.event: each.outcome for each in store.outcomes.latest(panel)}
    resolved = resolved_panel(inputs["forecasts"], inputs["laws"], outcomes)
    if resolved is None:
        return None
    answers = answers_of(resolved)
    made = {row["event"]: row["probability"] for row in kept["events"] if row["probability"] is not None}
    answers = [each for each in answers if each[1] in made]
    coherent, average = known_score("coherent", answers, made), known_score("average", answers, averages_of(answers))
    if coherent is None or average is None:
        return None
    return PanelScores(
        panel=panel,
        title=record.title,
        version=aggregation.version,
        coherent=coherent,
        average=average,
        judges=judge_scores(answers),
    )


def team_scores(bench: Workbench, caller: AccountCaller) -> TeamScores:
    """The scores of the account's panels that have outcomes, and of their judges over all of them, by name.

    Of each panel the newest version counts; panels of which numbers are still private are left out.
    """
    panels: list[PanelScores] = []
    people: dict[str, list[tuple[str, float, int]]] = {}
    for record in reversed(bench.store.panels.list(caller.account, limit=MOST_PANELS)):
        found = _last_score(bench, record)
        if found is not None:
            panels.append(found[0])
            for each in found[1]:
                people.setdefault(each[0], []).append((record.id, each[2], each[3]))
    named: dict[str, list[JudgeRecord]] = {}
    for judge in bench.store.judges.list_of(caller.account):
        named.setdefault(judge.name, []).append(judge)
    judges = [_record_of(name, rows, named.get(name, [])) for name, rows in people.items()]
    return TeamScores(panels=panels, judges=sorted(judges, key=lambda each: (each.brier, each.name)))


def past_weights(bench: Workbench, caller: AccountCaller, panel: str) -> list[JudgeHistory]:
    """How much each judge would count by the outcomes of the account's other panels, the greatest first."""
    from coherently.judge_weights import HistoryWeights
    from coherently.panel import Panel

    own_panel(bench, caller, panel)
    rows = [row for each in past_panels(bench, caller, panel) for row in _known_rows(bench, each)]
    judges = bench.store.judges.list(panel)
    names = {name for name, *_ in rows}
    if not rows or not any(each.name in names for each in judges):
        return []
    # Every answer has an event of its own here: a record asks how near they were, not what they have in common.
    history = Panel.from_records(
        [(name, f"e{number}", value) for number, (name, value, _) in enumerate(rows)],
        outcomes={f"e{number}": outcome == 1 for number, (*_, outcome) in enumerate(rows)},
    )
    asked = Panel.from_records([(each.name, "e", 0.5) for each in judges])
    factors = dict(zip(asked.judges, HistoryWeights(history)(asked).tolist(), strict=True))
    found = []
    for each in judges:
        own = [(value - outcome) ** 2 for name, value, outcome in rows if name == each.name]
        brier = mean(own) if own else None
        found.append(
            JudgeHistory(judge=each.id, name=each.name, known=len(own), brier=brier, weight=factors[each.name])
        )
    return sorted(found, key=lambda each: (-each.weight, each.name))


def _known_rows(bench: Workbench, panel: str) -> list[tuple[str, float, int]]:
    """Judge, number and outcome of the answers of a past panel that are resolved."""
    inputs = panel_inputs(bench, panel)
    resolved = resolved_panel(inputs["forecasts"], inputs["laws"], inputs["outcomes"])
    return [] if resolved is None else [(judge, value, outcome) for judge, _, value, outcome in answers_of(resolved)]


def _last_score(bench: Workbench, record: PanelRecord) -> tuple[PanelScores, list[tuple[str, str, float, int]]] | None:
    store = bench.store
    outcomes = {each.event: each.outcome for each in store.outcomes.latest(record.id)}
    if not any(value is not None for value in outcomes.values()) or has_private(bench, record.id):
        return None
    done = [each for each in store.aggregations.list(record.id) if each.status == "done"]
    scores = score_version(bench, record, done[-1]) if done else None
    if scores is None:
        return None
    inputs = store.aggregations.inputs(done[-1].id)
    resolved = resolved_panel(inputs["forecasts"], inputs["laws"], outcomes)
    return None if resolved is None else (scores, answers_of(resolved))


def _record_of(name: str, rows: Sequence[tuple[str, float, int]], judges: Sequence[JudgeRecord]) -> JudgeRecordView:
    pairs = [(value, outcome) for _, value, outcome in rows]
    return JudgeRecordView(
        name=name,
        together=len(judges),
        same=are_same(judges),
        joined=any(each.person for each in judges),
        panels=len({panel for panel, *_ in rows}),
        known=len(rows),
        brier=_brier(pairs),
        calibration=_calibration(pairs),
    )


def own_record(bench: Workbench, caller: JudgeCaller) -> OwnRecord | None:
    """How good a judge was in all closed panels in which they took part as one person; None while nothing is known."""
    store, judge = bench.store, caller.judge
    panels, pairs = list[PanelRecordView](), list[tuple[float, int]]()
    for one in store.judges.list_of(store.panels.get(judge.panel).owner):
        if not is_same(judge, one) or store.rounds.current(one.panel).phase != "closed":
            continue
        known = [(value, outcome) for name, value, outcome in _known_rows(bench, one.panel) if name == one.name]
        if known:
            panels.append(
                PanelRecordView(title=store.panels.get(one.panel).title, known=len(known), brier=_brier(known))
            )
            pairs += known
    if not pairs:
        return None
    return OwnRecord(panels=panels, known=len(pairs), brier=_brier(pairs), calibration=_calibration(pairs))


def _brier(pairs: Sequence[tuple[float, int]]) -> float:
    return mean((value - outcome) ** 2 for value, outcome in pairs)


def _calibration(pairs: Sequence[tuple[float, int]]) -> list[CalibrationStep]:
    return calibration_of(pairs) if len(pairs) >= LEAST_KNOWN else []


def calibration_of(pairs: Sequence[tuple[float, int]]) -> list[CalibrationStep]:
    """Numbers that are about the same beside how often they came true.

    >>> [(step.said, step.came_true, step.count) for step in calibration_of([(0.8, 1), (0.85, 0), (0.2, 0)])]
    [(0.2, 0.0, 1), (0.825, 0.5, 2)]
    """
    steps: dict[int, list[tuple[float, int]]] = {}
    for value, outcome in pairs:
        steps.setdefault(sum(value >= edge for edge in STEPS), []).append((value, outcome))
    return [
        CalibrationStep(
            said=mean(value for value, _ in rows), came_true=mean(outcome for _, outcome in rows), count=len(rows)
        )
        for _, rows in sorted(steps.items())
    ]
