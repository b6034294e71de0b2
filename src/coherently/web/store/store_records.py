"""What the store holds, as frozen values.

Times are texts: UTC, ISO 8601 with milliseconds and Z, so that they sort as they are. Ids are short random texts with
a letter before (`p_`, `q_`, `e_`, `l_`, `j_`, `c_`, `a_`, `u_` for accounts, `s_` for sessions, `t_` for tokens).
No record has a secret or the hash of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["yes-no", "conditional", "partition", "ladder"]
Phase: TypeAlias = Literal["private", "discussion", "revision", "closed"]
AnswerState: TypeAlias = Literal["given", "abstained", "withdrawn"]
JobStatus: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
OutcomeValue: TypeAlias = bool | float | str | None
"""Whether an event came true, or the value of a declared variable; None takes an outcome back."""

KINDS: tuple[str, ...] = get_args(Kind)
PHASES: tuple[str, ...] = get_args(Phase)
JOB_STATUSES: tuple[str, ...] = get_args(JobStatus)


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

    id: str
    name: str
    has_password: bool
    created_at: str
    closed_at: str | None = None


@dataclass(frozen=True, slots=True)
class SessionRecord(StoredRecord):
    """A browser that is signed in: of an account, or of a judge whose link was opened. `csrf` goes into its forms."""

    id: str
    account: str | None
    judge: str | None
    csrf: str
    created_at: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class TokenRecord(StoredRecord):
    """A key of an account for programs."""

    id: str
    account: str
    name: str
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True)
class PanelRecord(StoredRecord):
    """A panel; `settings` are plain values that the store does not look into."""

    id: str
    owner: str
    title: str
    description: str
    settings: dict[str, Any]
    created_at: str
    deleted_at: str | None = None


@dataclass(frozen=True, slots=True)
class EventRecord(StoredRecord):
    """One event of a question: its text in the event language, and its title."""

    id: str
    event: str
    title: str


@dataclass(frozen=True, slots=True)
class QuestionRecord(StoredRecord):
    """A question with its events; `declaration` is the law that a partition or a ladder brings along."""

    id: str
    panel: str
    number: int
    kind: str
    title: str
    definition: str
    group: str
    declaration: str | None
    events: tuple[EventRecord, ...]
    added_at: str
    withdrawn_at: str | None = None


@dataclass(frozen=True, slots=True)
class LawRecord(StoredRecord):
    """A law; one that was dropped is kept, with the time."""

    id: str
    panel: str
    statement: str
    title: str
    added_at: str
    dropped_at: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeRecord(StoredRecord):
    """A judge of one panel. `has_link` is false for one who came from a file, and after the link was withdrawn."""

    id: str
    panel: str
    name: str
    has_link: bool
    invited_at: str
    opened_at: str | None = None
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True)
class HandInRecord(StoredRecord):
    """A judge says of a round that the answers are all."""

    judge: str
    round: int
    time: str


@dataclass(frozen=True, slots=True)
class RoundRecord(StoredRecord):
    """A phase of a round: `number` goes up when judges may answer anew (private or revision)."""

    panel: str
    number: int
    phase: str
    closes_at: str | None
    hide_numbers: bool
    since: str


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

    id: int
    judge: str
    event: str
    probability: float | None
    state: str
    locked: bool
    reason: str
    round: int
    time: str


@dataclass(frozen=True, slots=True)
class OutcomeRecord(StoredRecord):
    """What became of an event, or of a declared variable, by its text; the last one of a text holds."""

    id: int
    panel: str
    event: str
    outcome: OutcomeValue
    note: str
    time: str


@dataclass(frozen=True, slots=True)
class CommentRecord(StoredRecord):
    """A comment of a judge, or of the facilitator (`judge` is None), on a question or on the whole panel."""

    id: str
    panel: str
    judge: str | None
    question: str | None
    text: str
    round: int
    time: str
    withdrawn_at: str | None = None


@dataclass(frozen=True, slots=True)
class MeantRecord(StoredRecord):
    """A judge meant a contradiction, by its key; `taken_back_at` once the judge took that back."""

    panel: str
    judge: str
    key: str
    sentence: str
    reason: str
    time: str
    taken_back_at: str | None = None


@dataclass(frozen=True, slots=True)
class AggregationRecord(StoredRecord):
    """A version of a panel's aggregate, and the job that makes it; `version` counts from 1 within the panel.

    `inputs` and `result` are large: `store.aggregations.inputs(id)` and `.result(id)` read them.
    """

    id: str
    panel: str
    version: int
    status: str
    options: dict[str, Any]
    limits: dict[str, Any]
    note: str
    as_of: str
    requested_at: str
    started_at: str | None = None
    ended_at: str | None = None
    progress: float = 0.0
    progress_text: str = ""
    cancel_requested: bool = False
    worker: str | None = None
    lease_until: str | None = None
    attempts: int = 0
    summary: dict[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRecord(StoredRecord):
    """Something happened to a panel; ids go up in the order in which changes can be seen. `judge`: only of theirs."""

    id: int
    panel: str
    kind: str
    judge: str | None
    data: dict[str, Any]
    time: str


@dataclass(frozen=True, slots=True)
class OnceAnswer:
    """What was answered to a request with a key; `repeated` if this is the answer of the first time."""

    status: int
    body: Any
    repeated: bool
