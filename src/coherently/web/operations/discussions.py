"""The discussion: reasons without names, whose mind they changed, replies, and what moved.

A reason is what a judge wrote beside the answers to a question. Judges know it by a key, which is a digest of ids that
they never see: the same judge has another key at each question.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from coherently.web.operations.panel_operations import own_panel
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.discussion_shapes import (
    EarlierAnswer,
    MoveList,
    MoveView,
    ReasonList,
    ReasonView,
    ReplyView,
    VoiceView,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.discussion_shapes import MindDraft
    from coherently.web.store import CommentRecord, ForecastRecord, ReactionRecord, RoundRecord

OPEN_PHASES = ("discussion", "revision", "closed")
"""Phases in which judges see each other's reasons and comments and, unless they are hidden, numbers."""
TALKING = ("discussion", "revision")
"""Phases in which judges reply, and say that something changed their mind."""
FEW = 3
"""Numbers that fewer judges than this gave to an event are shown to no other judge."""
SAME = 1e-9
"""Answers that differ by less did not move."""


@dataclass(frozen=True, slots=True)
class GivenReason:
    """A reason: who gave it for which question, its words, and the author's numbers by event."""

    question: str
    author: str
    text: str
    time: str
    numbers: Mapping[str, float]

    @property
    def key(self) -> str:
        """The name by which judges know it."""
        return reason_key(self.question, self.author)


def reason_key(question: str, author: str) -> str:
    """The key of the reason of a judge for a question.

    >>> reason_key("q_1", "j_1") == reason_key("q_2", "j_1")
    False
    """
    return f"r_{hashlib.sha256(f'{question} {author}'.encode()).hexdigest()[:20]}"


def opened_records(bench: Workbench, panel: str, present: RoundRecord) -> tuple[ForecastRecord, ...]:
    """The answers that this phase opens to judges: in a revision, those from before it began."""
    if present.phase not in OPEN_PHASES:
        return ()
    return bench.store.forecasts.latest(panel, before_round=present.number if present.phase == "revision" else None)


def given_reasons(bench: Workbench, panel: str, records: Iterable[ForecastRecord]) -> list[GivenReason]:
    """The reasons beside some answers: of each judge one for each question, in the order of the questions."""
    by_event: dict[str, list[ForecastRecord]] = {}
    for record in records:
        by_event.setdefault(record.event, []).append(record)
    found = []
    for question in bench.store.questions.list(panel):
        own: dict[str, list[ForecastRecord]] = {}
        for event in question.events:
            for record in by_event.get(event.id, ()):
                own.setdefault(record.judge, []).append(record)
        for author, said in own.items():
            texts = dict.fromkeys(record.reason for record in said if record.reason)
            if texts:
                numbers = {record.event: record.probability for record in said if record.probability is not None}
                time = max(record.time for record in said if record.reason)
                found.append(GivenReason(question.id, author, "\n".join(texts), time=time, numbers=numbers))
    return found


class Talk:
    """What was made of reasons in a panel: minds that they changed, replies, and which the facilitator hid."""

    def __init__(self, comments: Sequence[CommentRecord], reactions: Sequence[ReactionRecord]) -> None:
        self._comments: dict[tuple[str | None, str | None], list[CommentRecord]] = {}
        self._reactions: dict[tuple[str, str], list[ReactionRecord]] = {}
        for comment in comments:
            self._comments.setdefault((comment.question, comment.about), []).append(comment)
        for reaction in reactions:
            self._reactions.setdefault((reaction.question, reaction.author), []).append(reaction)

    @classmethod
    def of(cls, bench: Workbench, panel: str) -> Talk:
        """All of a panel."""
        return cls(bench.store.comments.list(panel), bench.store.reactions.list(panel))

    def minds(self, reason: GivenReason) -> set[str]:
        """The judges whose mind it changed."""
        return {each.judge for each in self._about(reason) if each.judge is not None}

    def is_hidden(self, reason: GivenReason) -> bool:
        """Whether the facilitator hid it."""
        return any(each.judge is None for each in self._about(reason))

    def replies(self, reason: GivenReason) -> list[CommentRecord]:
        """The replies to it, in order."""
        return self._comments.get((reason.question, reason.author), [])

    def _about(self, reason: GivenReason) -> list[ReactionRecord]:
        return self._reactions.get((reason.question, reason.author), [])


def shown_numbers(records: Iterable[ForecastRecord], present: RoundRecord) -> dict[str, dict[str, float]]:
    """The numbers that judges are shown, by event and judge: none while they are hidden, or of fewer than three."""
    if present.phase not in OPEN_PHASES or present.hide_numbers:
        return {}
    numbers: dict[str, dict[str, float]] = {}
    for record in records:
        if record.probability is not None:
            numbers.setdefault(record.event, {})[record.judge] = record.probability
    return {event: given for event, given in numbers.items() if len(given) >= FEW}


def sheet_voices(
    bench: Workbench, caller: JudgeCaller, present: RoundRecord, records: Sequence[ForecastRecord]
) -> list[VoiceView]:
    """All reasons beside the answers that this phase opens, without names, those farthest from the reader's first.

    The reader's own reasons are among them, and those that the facilitator hid only if they are the reader's own.
    """
    if not records:
        return []
    numbers, talk = shown_numbers(records, present), Talk.of(bench, caller.panel)
    reader = caller.judge.id
    found = [
        _voice(reason, talk, numbers, reader)
        for reason in given_reasons(bench, caller.panel, records)
        if reason.author == reader or not talk.is_hidden(reason)
    ]
    return sorted(found, key=lambda voice: (voice.mine, -_distance(voice, numbers, reader), voice.key))


def _voice(reason: GivenReason, talk: Talk, numbers: Mapping[str, Mapping[str, float]], reader: str) -> VoiceView:
    shown = [event for event in reason.numbers if reason.author in numbers.get(event, {})]
    event = max(shown, key=lambda one: _width(numbers[one].values()), default=None)
    minds = talk.minds(reason)
    return VoiceView(
        key=reason.key,
        question=reason.question,
        text=reason.text,
        event=event,
        probability=None if event is None else reason.numbers[event],
        mine=reason.author == reader,
        minds=len(minds),
        changed=reader in minds,
        hidden=talk.is_hidden(reason),
        replies=[
            ReplyView(
                id=each.id,
                text=each.text,
                author="facilitator" if each.judge is None else None,
                mine=each.judge == reader,
                hidden=False,
            )
            for each in talk.replies(reason)
            if each.hidden_at is None
        ],
    )


def _width(values: Iterable[float]) -> float:
    every = list(values)
    return max(every) - min(every)


def _distance(voice: VoiceView, numbers: Mapping[str, Mapping[str, float]], reader: str) -> float:
    if voice.event is None or voice.probability is None:
        return 0.0
    given = numbers[voice.event]
    return abs(voice.probability - given.get(reader, median(given.values())))


def earlier_answers(bench: Workbench, caller: JudgeCaller, present: RoundRecord) -> list[EarlierAnswer]:
    """The judge's own numbers when the revision began, while it is open."""
    if present.phase != "revision":
        return []
    stood = bench.store.forecasts.latest(caller.panel, caller.judge.id, before_round=present.number)
    return [
        EarlierAnswer(event=each.event, probability=each.probability) for each in stood if each.probability is not None
    ]


def change_mind(bench: Workbench, caller: JudgeCaller, draft: MindDraft, *, changed: bool = True) -> VoiceView:
    """Say that a reason of another judge changed one's mind, or take that back."""
    reason = readable_reason(bench, caller, draft.reason)
    if reason.author == caller.judge.id:
        raise RefusedError(409, "own-reason", "This reason is your own.", where="body.reason")
    act = bench.store.reactions.add if changed else bench.store.reactions.take_back
    act(reason.question, reason.author, caller.judge.id)
    present = bench.store.rounds.current(caller.panel)
    voices = sheet_voices(bench, caller, present, opened_records(bench, caller.panel, present))
    return next(each for each in voices if each.key == draft.reason)


def readable_reason(bench: Workbench, caller: JudgeCaller, key: str) -> GivenReason:
    """A reason that a judge may reply to now."""
    present = bench.store.rounds.current(caller.panel)
    if present.phase not in TALKING:
        raise RefusedError(
            409,
            "round-closed",
            f"Nobody discusses reasons now: the panel is in the phase {present.phase!r}.",
            allowed="in the discussion and in the revision",
        )
    records, talk = opened_records(bench, caller.panel, present), Talk.of(bench, caller.panel)
    found = next((each for each in given_reasons(bench, caller.panel, records) if each.key == key), None)
    if found is None or (talk.is_hidden(found) and found.author != caller.judge.id):
        raise not_found("reason")
    return found


def list_reasons(bench: Workbench, caller: AccountCaller, panel: str) -> ReasonList:
    """All reasons that stand, with names, for the facilitator; no number is in it."""
    own_panel(bench, caller, panel)
    names = {judge.id: judge.name for judge in bench.store.judges.list(panel)}
    talk = Talk.of(bench, panel)
    return ReasonList(
        reasons=[
            ReasonView(
                key=reason.key,
                question=reason.question,
                author=names[reason.author],
                text=reason.text,
                time=reason.time,
                minds=len(talk.minds(reason)),
                hidden=talk.is_hidden(reason),
                replies=[
                    ReplyView(
                        id=each.id,
                        text=each.text,
                        author=names.get(each.judge or "", "facilitator"),
                        mine=each.judge is None,
                        hidden=each.hidden_at is not None,
                    )
                    for each in talk.replies(reason)
                ],
            )
            for reason in given_reasons(bench, panel, bench.store.forecasts.latest(panel))
        ]
    )


def find_reason(bench: Workbench, panel: str, key: str) -> GivenReason:
    """A reason that stands."""
    records = bench.store.forecasts.latest(panel)
    found = next((each for each in given_reasons(bench, panel, records) if each.key == key), None)
    if found is None:
        raise not_found("reason")
    return found


def moderate_reason(bench: Workbench, caller: AccountCaller, panel: str, key: str, *, hidden: bool) -> ReasonView:
    """Hide a reason from the other judges, or show it again."""
    own_panel(bench, caller, panel)
    found = find_reason(bench, panel, key)
    act = bench.store.reactions.add if hidden else bench.store.reactions.take_back
    act(found.question, found.author, None)
    return next(each for each in list_reasons(bench, caller, panel).reasons if each.key == key)


def moderate_comment(bench: Workbench, caller: AccountCaller, panel: str, comment: str, *, hidden: bool) -> None:
    """Hide a comment or a reply from judges, or show it again."""
    own_panel(bench, caller, panel)
    if bench.store.comments.get(comment).panel != panel:
        raise not_found("comment")
    (bench.store.comments.hide if hidden else bench.store.comments.show)(comment)


def list_moves(bench: Workbench, caller: AccountCaller, panel: str) -> MoveList:
    """What the last revision moved, without names; only once it is closed, when all new numbers are there."""
    own_panel(bench, caller, panel)
    rounds = bench.store.rounds.list(panel)
    begun = next((each for each in reversed(rounds) if each.phase == "revision"), None)
    if begun is None or rounds[-1].phase == "revision":
        return MoveList(known=False, moves=[])
    before, after = _numbers(bench, panel, begun.number), _numbers(bench, panel, None)
    moves = []
    for question in bench.store.questions.list(panel):
        for event in question.events:
            old, new = before.get(event.id, {}), after.get(event.id, {})
            changed = [judge for judge in old.keys() | new.keys() if _moved(old.get(judge), new.get(judge))]
            moves.append(
                MoveView(event=event.id, before=sorted(old.values()), after=sorted(new.values()), changed=len(changed))
            )
    return MoveList(known=True, moves=moves)


def _numbers(bench: Workbench, panel: str, before_round: int | None) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for record in bench.store.forecasts.latest(panel, before_round=before_round):
        if record.probability is not None:
            found.setdefault(record.event, {})[record.judge] = record.probability
    return found


def _moved(old: float | None, new: float | None) -> bool:
    return (old is None) != (new is None) or (old is not None and new is not None and abs(old - new) > SAME)
