"""What the store holds, as frozen values.

Times are texts: UTC, ISO 8601 with milliseconds and Z, so that they sort as they are. Ids are short random texts with
a letter before (`p_`, `q_`, `e_`, `l_`, `j_`, `c_`, `a_`, `u_` for accounts, `s_` for sessions, `t_` for tokens,
`m_` for messages, `k_` for links to reports).
No record has a secret or the hash of one.

A record is the description of its table: schema, rows of archives and, field by field, the migrations of older stores
come from it (`stored_fields` has the kinds).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeAlias, get_args

from coherently.web.store.stored_fields import (
    FLAG,
    ID,
    NUMBER,
    OUTCOME,
    SHARE,
    TIME,
    VALUES,
    WORDS,
    belongs,
    count,
    unarchived,
    word,
)

Kind: TypeAlias = Literal["yes-no", "conditional", "partition", "ladder"]
Phase: TypeAlias = Literal["private", "discussion", "revision", "closed"]
AnswerState: TypeAlias = Literal["given", "abstained", "withdrawn"]
JobStatus: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
MessageKind: TypeAlias = Literal["invitation", "reminder"]
MessageState: TypeAlias = Literal["waiting", "sending", "sent", "failed", "unsure", "cancelled"]
OutcomeValue: TypeAlias = bool | float | str | None
"""Whether an event came true, or the value of a declared variable; None takes an outcome back."""

KINDS: tuple[str, ...] = get_args(Kind)
PHASES: tuple[str, ...] = get_args(Phase)
ANSWER_STATES: tuple[str, ...] = get_args(AnswerState)
JOB_STATUSES: tuple[str, ...] = get_args(JobStatus)
DECISIONS = ("accept", "reject", "same occasion")
"""What may be decided about relations that words suggest."""
MESSAGE_KINDS: tuple[str, ...] = get_args(MessageKind)
MESSAGE_STATES: tuple[str, ...] = get_args(MessageState)
ENDED = ("done", "failed", "cancelled")
"""Statuses of jobs that are over; archives have no others."""
Time: TypeAlias = Annotated[str, TIME]
Text: TypeAlias = Annotated[str, WORDS]
Values: TypeAlias = Annotated[dict[str, Any], VALUES]


class StoredRecord:
    """A base for the records, which `as_dict` turns into plain values."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """All fields by name; tuples of records are lists of dictionaries."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, StoredRecord):
        return value.as_dict()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class AccountRecord(StoredRecord):
    """A facilitator. Without a password (`has_password`) only a proxy or this machine signs the account in."""

    id: Annotated[str, ID]
    name: Annotated[str, replace(WORDS, is_unique=True)]
    has_password: bool
    created_at: Time
    closed_at: Time | None = None


@dataclass(frozen=True, slots=True)
class SessionRecord(StoredRecord):
    """A browser that is signed in: of an account, or of a judge whose link was opened. `csrf` goes into its forms."""

    id: Annotated[str, ID]
    account: Annotated[str, belongs("account")] | None
    judge: Annotated[str, belongs("judge")] | None
    csrf: Annotated[str, word(64)]
    created_at: Time
    expires_at: Time


@dataclass(frozen=True, slots=True)
class TokenRecord(StoredRecord):
    """A key of an account for programs."""

    id: Annotated[str, ID]
    account: Annotated[str, belongs("account")]
    name: Text
    created_at: Time
    expires_at: Time | None = None
    revoked_at: Time | None = None


@dataclass(frozen=True, slots=True)
class PanelRecord(StoredRecord):
    """A panel; `settings` are plain values that the store does not look into, `tag` a short text to find it by.

    One that is `aside` is listed apart; nothing else is different about it.
    """

    id: Annotated[str, ID]
    owner: Annotated[str, belongs("account")]
    title: Text
    created_at: Time
    description: Text = ""
    settings: Values = field(default_factory=dict)
    deleted_at: Annotated[str, unarchived(TIME)] | None = None
    tag: Annotated[str, replace(WORDS, since=2)] = ""
    aside: Annotated[bool, replace(unarchived(FLAG), since=7)] = False


@dataclass(frozen=True, slots=True)
class EventRecord(StoredRecord):
    """One event of a question: its text in the event language, and its title."""

    id: Annotated[str, ID]
    event: Text
    title: Text


@dataclass(frozen=True, slots=True)
class QuestionRecord(StoredRecord):
    """A question with its events; `declaration` is the law that a partition or a ladder brings along."""

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    number: Annotated[int, count()]
    kind: Annotated[str, word(allowed=KINDS)]
    title: Text
    definition: Text
    group: Annotated[str, replace(WORDS, name="group_name")]
    declaration: Text | None
    events: tuple[EventRecord, ...]
    added_at: Time
    withdrawn_at: Time | None = None


@dataclass(frozen=True, slots=True)
class LawRecord(StoredRecord):
    """A law; one that was dropped is kept, with the time. `origin` says who accepted one that words suggested."""

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    statement: Text
    title: Text
    added_at: Time
    dropped_at: Time | None = None
    origin: Annotated[str, replace(WORDS, since=6)] = ""


@dataclass(frozen=True, slots=True)
class DecisionRecord(StoredRecord):
    """What somebody decided about a relation that words suggest; of several about the same one the last holds.

    `about` says which relation it is in plain values; `law` is what was accepted instead of the law that was proposed.
    """

    id: Annotated[int, NUMBER]
    panel: Annotated[str, belongs("panel")]
    decision: Annotated[str, word(allowed=DECISIONS)]
    about: Values
    law: Text
    decided_by: Text
    reason: Text
    time: Time


@dataclass(frozen=True, slots=True)
class JudgeRecord(StoredRecord):
    """A judge of one panel. `has_link` is false for one who came from a file, and after the link was withdrawn.

    `address` is where mail goes, or empty; `person` is the same text for judges of several panels who are one person,
    as their facilitator said, or empty. Both stay in the store, since an archive may be given to others.
    """

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    name: Text
    has_link: bool
    invited_at: Time
    opened_at: Time | None = None
    revoked_at: Time | None = None
    address: Annotated[str, replace(unarchived(WORDS), since=5)] = ""
    person: Annotated[str, replace(unarchived(WORDS), since=7)] = ""


@dataclass(frozen=True, slots=True)
class MessageRecord(StoredRecord):
    """A mail to a judge: `waiting` until its time `next_at`, `sending` until the lease is over, then one of the ends.

    `unsure` is one of which nobody knows whether the mail server took it: it is not sent again by itself. `origin` is
    the address of the workbench that its link begins with, `error` the last failure in words.
    """

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    judge: Annotated[str, belongs("judge")]
    kind: Annotated[str, word(allowed=MESSAGE_KINDS)]
    round: Annotated[int, count()]
    address: Text
    origin: Text
    requested_at: Time
    next_at: Time
    state: Annotated[str, word(allowed=MESSAGE_STATES)] = "waiting"
    attempts: Annotated[int, count(0)] = 0
    error: Text = ""
    lease_until: Annotated[str, unarchived(TIME)] | None = None
    ended_at: Time | None = None


@dataclass(frozen=True, slots=True)
class ReportLinkRecord(StoredRecord):
    """A link by which anybody reads the report of a panel, and nothing else; `with_names` shows who said what."""

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    note: Text
    with_names: Annotated[bool, FLAG]
    created_at: Time
    revoked_at: Time | None = None


@dataclass(frozen=True, slots=True)
class HandInRecord(StoredRecord):
    """A judge says of a round that the answers are all."""

    judge: Annotated[str, belongs("judge", is_key=True)]
    round: Annotated[int, replace(count(), is_key=True)]
    time: Time


@dataclass(frozen=True, slots=True)
class RoundRecord(StoredRecord):
    """A phase of a round: `number` goes up when judges may answer anew (private or revision)."""

    panel: Annotated[str, belongs("panel")]
    number: Annotated[int, count()]
    phase: Annotated[str, word(allowed=PHASES)]
    closes_at: Time | None
    hide_numbers: Annotated[bool, FLAG]
    since: Time


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """What a judge says about an event; `event` is the id of one. No probability is an abstention.

    `withdrawn` takes the last answer back, as if none had been given.
    """

    event: str
    probability: float | None = None
    locked: bool = False
    reason: str = ""
    withdrawn: bool = False

    @property
    def state(self) -> AnswerState:
        """The state that is recorded."""
        if self.withdrawn:
            return "withdrawn"
        return "abstained" if self.probability is None else "given"


@dataclass(frozen=True, slots=True)
class ForecastRecord(StoredRecord):
    """A forecast as it was recorded, never changed; the last one of a judge on an event is the answer."""

    id: Annotated[int, NUMBER]
    judge: Annotated[str, belongs("judge")]
    event: Annotated[str, belongs("question_event")]
    probability: Annotated[float, SHARE] | None
    state: Annotated[str, word(allowed=ANSWER_STATES)]
    locked: Annotated[bool, FLAG]
    reason: Text
    round: Annotated[int, count()]
    time: Time


@dataclass(frozen=True, slots=True)
class OutcomeRecord(StoredRecord):
    """What became of an event, or of a declared variable, by its text; the last one of a text holds."""

    id: Annotated[int, NUMBER]
    panel: Annotated[str, belongs("panel")]
    event: Text
    outcome: Annotated[OutcomeValue, OUTCOME]
    note: Text
    time: Time


@dataclass(frozen=True, slots=True)
class CommentRecord(StoredRecord):
    """A comment of a judge, or of the facilitator (`judge` is None), on a question or on the whole panel.

    `about` is the judge to whose reason for the question it replies. `hidden_at` is when the facilitator hid it.
    """

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    judge: Annotated[str, belongs("judge")] | None
    question: Annotated[str, belongs("question")] | None
    text: Text
    round: Annotated[int, count()]
    time: Time
    withdrawn_at: Time | None = None
    about: Annotated[str, replace(belongs("judge"), since=3)] | None = None
    hidden_at: Annotated[str, replace(TIME, since=3)] | None = None


@dataclass(frozen=True, slots=True)
class ReactionRecord(StoredRecord):
    """What somebody made of the reason that a judge (`author`) gave for a question.

    It changed the mind of a judge, or the facilitator (`judge` is None) hid it; `taken_back_at` once that is over.
    """

    panel: Annotated[str, belongs("panel")]
    question: Annotated[str, belongs("question")]
    author: Annotated[str, belongs("judge")]
    judge: Annotated[str, belongs("judge")] | None
    time: Time
    taken_back_at: Time | None = None


@dataclass(frozen=True, slots=True)
class MeantRecord(StoredRecord):
    """A judge meant a contradiction, by its key; `taken_back_at` once the judge took that back."""

    panel: Annotated[str, belongs("panel")]
    judge: Annotated[str, belongs("judge")]
    key: Text
    sentence: Text
    reason: Text
    time: Time
    taken_back_at: Time | None = None


@dataclass(frozen=True, slots=True)
class DrawnRecord(StoredRecord):
    """A distribution that a judge drew for a question about a number or a date; the last one of a judge holds.

    `curve` has what was drawn, with all its knots, as plain values: the answers are only its values at the question's
    thresholds. An empty one takes the drawing back.
    """

    panel: Annotated[str, belongs("panel")]
    judge: Annotated[str, belongs("judge")]
    question: Annotated[str, belongs("question")]
    curve: Values
    round: Annotated[int, count()]
    time: Time


@dataclass(frozen=True, slots=True)
class AggregationRecord(StoredRecord):
    """A version of a panel's aggregate, and the job that makes it; `version` counts from 1 within the panel.

    `inputs` and `result` are large: `store.aggregations.inputs(id)` and `.result(id)` read them.
    """

    id: Annotated[str, ID]
    panel: Annotated[str, belongs("panel")]
    version: Annotated[int, count()]
    status: Annotated[str, word(allowed=ENDED)]
    options: Values
    limits: Values
    note: Text
    as_of: Time
    requested_at: Time
    started_at: Time | None = None
    ended_at: Time | None = None
    progress: Annotated[float, SHARE] = 0.0
    progress_text: Text = ""
    cancel_requested: Annotated[bool, unarchived(FLAG)] = False
    worker: Annotated[str, unarchived(WORDS)] | None = None
    lease_until: Annotated[str, unarchived(TIME)] | None = None
    attempts: Annotated[int, count(0)] = 0
    summary: Values = field(default_factory=dict)
    error: Text = ""


@dataclass(frozen=True, slots=True)
class ChangeRecord(StoredRecord):
    """Something happened to a panel; ids go up in the order in which changes can be seen. `judge`: only of theirs."""

    id: Annotated[int, NUMBER]
    panel: Annotated[str, belongs("panel")]
    kind: Annotated[str, word(32)]
    judge: Annotated[str, replace(ID, is_key=False)] | None
    data: Values
    time: Time


@dataclass(frozen=True, slots=True)
class OnceAnswer:
    """What was answered to a request with a key; `repeated` if this is the answer of the first time."""

    status: int
    body: Any
    repeated: bool
