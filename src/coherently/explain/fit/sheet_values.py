"""What the desk takes and gives: frozen values that turn into plain ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Item:
    """An event on a sheet: its id, its text in the event language, its title, and the number of its question.

    `topic` is the short name of a question that has several events ("inflation", "a missed delivery"). A title or
    topic that begins with a small letter is used in sentences as it is; any other is put in quotes. A `composed` title
    is made of the names of the event's parts, with quotes of its own.
    """

    id: str
    event: str
    title: str
    question: int
    topic: str = ""
    composed: bool = False


@dataclass(frozen=True, slots=True)
class SheetSetting:
    """All events of a sheet, in its order, and the laws, including the declarations of partitions and ladders."""

    items: tuple[Item, ...]
    laws: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The last answer of a judge on an event, which is the id of an item: a probability, or an abstention."""

    event: str
    probability: float | None
    abstained: bool = False
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Band(Told):
    """What the other answers allow for an event, and whether its own answer fits, to half a per cent.

    `mended`: the others contradict each other, and the band is that of their nearest coherent version.
    """

    event: str
    low: float
    high: float
    fits: bool = True
    mended: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The band in plain values."""
        return {
            "event": self.event,
            "low": self.low,
            "high": self.high,
            "fits": self.fits,
            "mended": self.mended,
        }


@dataclass(frozen=True, slots=True)
class AnswerChange(Told):
    """An answer that would move, as probabilities: from what is now to a whole per cent."""

    event: str
    old: float
    new: float

    def as_dict(self) -> dict[str, Any]:
        """The change in plain values."""
        return {"event": self.event, "from": self.old, "to": self.new}


@dataclass(frozen=True, slots=True)
class Clash(Told):
    """Answers that contradict each other, in one sentence, and the least change that makes them fit.

    `key` stays the same as long as the same answers contradict each other in the same way. `question` is the number of
    the last question that it names. `locked` are those of its events that may not move. `stuck` says why there is no
    change, or is None. `meant` is None, or true once the judge has said so.
    """

    key: str
    events: tuple[str, ...]
    question: int
    sentence: str
    changes: tuple[AnswerChange, ...] = ()
    locked: tuple[str, ...] = ()
    stuck: str | None = None
    meant: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """The contradiction in plain values."""
        return {
            "key": self.key,
            "events": list(self.events),
            "question": self.question,
            "sentence": self.sentence,
            "changes": [change.as_dict() for change in self.changes],
            "locked": list(self.locked),
            "stuck": self.stuck,
            "meant": self.meant,
        }


class AnswerState(StrEnum):
    """Whether an answer fits with the others; nothing fits that was not checked."""

    FITS = "fits"
    CONTRADICTS = "contradicts"
    NOT_CHECKED = "not-checked"
    TOO_MUCH = "too-much"
    """It cannot be checked: its event cannot be read, or too much hangs together with it."""


@dataclass(frozen=True, slots=True)
class Feedback(Told):
    """What a judge sees: a band for each event that is answered or abstained from, and the contradictions.

    `states` says of each answer whether it fits. `finished` is false if time ran out: what is shown was found until
    then, and bands and changes may be missing even where all contradictions are known.
    """

    bands: tuple[Band, ...] = ()
    contradictions: tuple[Clash, ...] = ()
    states: Mapping[str, AnswerState] = field(default_factory=dict)
    finished: bool = True

    @classmethod
    def unfinished(cls, answers: Iterable[Answered]) -> Feedback:
        """Feedback on answers that nobody has looked at yet.

        >>> Feedback.unfinished([Answered("e1", 0.5)]).as_dict()["states"]
        {'e1': 'not-checked'}
        """
        given = (each.event for each in answers if each.probability is not None and not each.abstained)
        return cls(states=dict.fromkeys(given, AnswerState.NOT_CHECKED), finished=False)

    @property
    def checked(self) -> bool:
        """Whether all contradictions were looked for."""
        return not {AnswerState.NOT_CHECKED, AnswerState.TOO_MUCH}.intersection(self.states.values())

    def as_dict(self) -> dict[str, Any]:
        """The feedback in plain values."""
        return {
            "bands": [band.as_dict() for band in self.bands],
            "contradictions": [clash.as_dict() for clash in self.contradictions],
            "states": {event: state.value for event, state in self.states.items()},
            "checked": self.checked,
            "finished": self.finished,
        }


@dataclass(frozen=True, slots=True)
class DraftReading(Told):
    """What the draft of an event or of a law means.

    `fault` is the parser's own sentence, at `column` (from 1; 0 is the whole text). `about` says in words what the
    draft is about, and `kind` what it is: event, conditional, law, probability or declaration. `same_as` and
    `opposite_of` are questions that mean the same or the opposite; `remarks` are sentences worth showing; `suggestions`
    are pairs of an unknown name and a known one that is spelt alike.
    """

    kind: str
    fault: str | None = None
    column: int = 0
    about: str = ""
    same_as: int | None = None
    opposite_of: int | None = None
    remarks: tuple[str, ...] = ()
    suggestions: tuple[tuple[str, str], ...] = ()
    new_names: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The reading in plain values."""
        return {
            "kind": self.kind,
            "fault": self.fault,
            "column": self.column,
            "about": self.about,
            "same_as": self.same_as,
            "opposite_of": self.opposite_of,
            "remarks": list(self.remarks),
            "suggestions": [{"name": name, "known": known} for name, known in self.suggestions],
            "new_names": list(self.new_names),
        }


@dataclass(frozen=True, slots=True)
class Spread(Told):
    """How far the judges are apart on an event: the number of answers, their least, median, mean and greatest."""

    event: str
    count: int
    low: float | None = None
    median: float | None = None
    mean: float | None = None
    high: float | None = None
    answers: tuple[float, ...] = ()

    @property
    def width(self) -> float:
        """The distance from the least to the greatest answer; 0 without two answers."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low

    def as_dict(self) -> dict[str, Any]:
        """The spread in plain values; the answers have no names."""
        return {
            "event": self.event,
            "count": self.count,
            "low": self.low,
            "median": self.median,
            "mean": self.mean,
            "high": self.high,
            "width": self.width,
            "answers": list(self.answers),
        }


@dataclass(frozen=True, slots=True)
class Overview(Told):
    """What a facilitator sees: the spread of each event, and contradictions by judge and of the averages.

    `unchecked` are judges who may contradict themselves in more ways than are told, or at all; `averages_checked` says
    that all contradictions of the averages are told. `finished` is false if more time would find more.
    """

    spreads: tuple[Spread, ...]
    contradictions: Mapping[str, tuple[Clash, ...]] = field(default_factory=dict)
    of_averages: tuple[Clash, ...] = ()
    unchecked: tuple[str, ...] = ()
    averages_checked: bool = True
    finished: bool = True

    @property
    def checked(self) -> bool:
        """Whether all contradictions are told."""
        return self.averages_checked and not self.unchecked

    @property
    def widest(self) -> tuple[Spread, ...]:
        """The spreads of two answers or more, the widest first."""
        return tuple(sorted((s for s in self.spreads if len(s.answers) > 1), key=lambda s: -s.width))

    def as_dict(self) -> dict[str, Any]:
        """The overview in plain values."""
        return {
            "spreads": [spread.as_dict() for spread in self.spreads],
            "widest": [spread.event for spread in self.widest],
            "contradictions": {
                judge: [clash.as_dict() for clash in clashes] for judge, clashes in self.contradictions.items()
            },
            "of_averages": [clash.as_dict() for clash in self.of_averages],
            "unchecked": list(self.unchecked),
            "averages_checked": self.averages_checked,
            "checked": self.checked,
            "finished": self.finished,
        }


@dataclass(frozen=True, slots=True)
class Suggestion(Told):
    """An event that nobody was asked about, its title, and the bounds that the averages imply for it."""

    event: str
    title: str
    low: float
    high: float
    sentence: str

    @property
    def width(self) -> float:
        """How much is open."""
        return self.high - self.low

    def as_dict(self) -> dict[str, Any]:
        """The suggestion in plain values."""
        return {
            "event": self.event,
            "title": self.title,
            "low": self.low,
            "high": self.high,
            "sentence": self.sentence,
        }
