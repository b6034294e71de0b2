"""The panel: who forecast what, in arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from coherently.contract import Described
from coherently.errors import PanelError, counted
from coherently.events import PackedTexts
from coherently.note_log import notes_logged
from coherently.panel.canonical import is_plain
from coherently.panel.cell_table import read_only
from coherently.panel.exported_tables import Tabled
from coherently.panel.frames import to_frame
from coherently.panel.laws import NO_LAWS, Laws
from coherently.panel.panel_record import PANEL, panel_arguments, panel_values
from coherently.panel.texts import by_appearance, suggest
from coherently.values import Value, alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.events import Events
    from coherently.panel.build import Options
    from coherently.panel.cell_table import Columns
    from coherently.panel.frames import Record
    from coherently.panel.worksheets import TableReading


FEW_JUDGES = 8
"""Maximum number of judges with a column each in a notebook."""


@dataclass(frozen=True, slots=True, eq=False)
class WrittenEvents(Value):
    """The distinct events that were forecast, in the order of their first appearance.

    Two texts are one event if they mean the same; an event and its complement are two. `text` is the
    first text of each; `event`, `condition` and `rest` are sides as in `coherently.events.Reading`;
    `outcome` is 1, 0, UNRESOLVED or CALLED_OFF.
    """

    text: Sequence[str]
    event: NDArray[np.int32]
    condition: NDArray[np.int32]
    rest: NDArray[np.int32]
    outcome: NDArray[np.int8]

    def __post_init__(self) -> None:
        read_only(self, "event", "condition", "rest", "outcome")

    def __len__(self) -> int:
        return len(self.text)

    def take(self, index: NDArray[np.integer]) -> WrittenEvents:
        """Keep the events of the index, in its order."""
        return WrittenEvents(
            self.text.pick(index)
            if isinstance(self.text, PackedTexts)
            else tuple(self.text[i] for i in index.tolist()),
            self.event[index],
            self.condition[index],
            self.rest[index],
            outcome=self.outcome[index],
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Panel(Tabled, Value, Described):
    """All forecasts of a panel, with weights, intervals, times, laws and outcomes.

    A forecast is one entry of each array: `judge_index` points into `judges`, `event_index` into `written`,
    `probability` lies in [0, 1], `weight` is finite and not negative. `lower` and `upper` (NaN where not
    given) and `time` are None where the source has no such column. `laws` hold in every possible world. `notes`
    says what a reader should know about how the source was read, and `reading` how a file was read (None for other
    sources): which sheet, row and columns, what was left out, and why. `unanswered` are the events of the source that
    have no forecast, which tables show as such. A `reduced` panel has means, with their total
    weights, in place of the forecasts. Arrays are read-only: `dataclasses.replace(panel, probability=...)` makes a
    panel with other numbers. Two panels are equal if their records are.

    >>> panel = Panel.from_records([("Ann", "p", 0.7), ("Ann", "p & q", 0.4), ("Bob", "~(~p | ~q)", 0.2)])
    >>> panel
    <Panel: 3 forecasts by 2 judges on 2 events over 2 variables>
    >>> panel.judge("Bob")
    <Panel: 1 forecast by 1 judge on 1 event over 2 variables>
    """

    record: ClassVar[Any] = PANEL

    events: Events
    judges: tuple[str, ...]
    written: WrittenEvents
    judge_index: NDArray[np.int32]
    event_index: NDArray[np.int32]
    probability: NDArray[np.float64]
    weight: NDArray[np.float64]
    lower: NDArray[np.float64] | None = None
    upper: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None
    laws: Laws = field(default_factory=lambda: NO_LAWS)
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    library: str | None = None
    reduced: bool = False
    reading: TableReading | None = None
    unanswered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_only(self, "judge_index", "event_index", "probability", "weight", "lower", "upper", "time")

    @staticmethod
    @notes_logged(lambda panel: panel.notes, warn=True)
    def from_frame(frame: object, **options: Unpack[Options]) -> Panel:
        """Read a pandas, polars or pyarrow frame, long or wide; the options are those of `read_panel`.

        >>> import polars
        >>> Panel.from_frame(polars.DataFrame({"event": ["p", "~p"], "Ann": [0.7, 0.2], "Bob": [None, 0.4]}))
        <Panel: 3 forecasts by 2 judges on 2 events over 1 variable>
        """
        from coherently.panel.build import build
        from coherently.panel.frames import table_from_frame
        from coherently.panel.layout import plan_columns

        planner = partial(plan_columns, percent=bool(options.get("percent"))) if not options.get("columns") else None
        return build(table_from_frame(frame, planner=planner), names_with_spaces=True, **options)

    @staticmethod
    @notes_logged(lambda panel: panel.notes, warn=True)
    def from_records(records: Iterable[Record], **options: Unpack[Options]) -> Panel:
        """Read (judge, event, probability[, weight]) tuples, or mappings with the columns' names.

        >>> panel = Panel.from_records([("Ann", "rain", 0.7)], outcomes={"rain": True})
        >>> panel.written.outcome.tolist()
        [1]
        """
        from coherently.panel.build import build
        from coherently.panel.frames import table_from_records

        return build(table_from_records(records), **options)

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Panel:
        told = panel_arguments(values)
        return cls(**{**told, "written": WrittenEvents(**told["written"])})

    def _plain(self) -> dict[str, Any]:
        return panel_values(self)

    def to_json(self) -> str:
        """The record as one line of JSON, for `from_json`."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)

    def __eq__(self, other: object) -> bool:
        """Whether the same is said in the same words and order; how events are numbered inside does not count."""
        if not isinstance(other, Panel):
            return NotImplemented
        return self is other or alike(self._told(), other._told())

    __hash__ = None  # type: ignore[assignment]

    def _told(self) -> tuple[Any, ...]:
        """All that the record says, without a loop over forecasts."""
        numbers = (self.probability, self.weight, self.lower, self.upper, self.time)
        events = (list(self.written.text), self.written.outcome, self.laws.statements(), is_plain(self))
        about = (self.notes, dict(self.labels), self.library, self.reduced)
        return (self.judges, *events, self.judge_index, self.event_index, *numbers, *about)

    def __len__(self) -> int:
        """Count the forecasts."""
        return len(self.probability)

    def __repr__(self) -> str:
        return f"<Panel: {self.summary()}>"

    def summary(self) -> str:
        """Count what the panel holds, in words."""
        silent = len(self.judges) - len(np.unique(self.judge_index[self.weight > 0]))
        aside = f" (and {silent:,} of weight 0)" if 0 < silent < len(self.judges) else ""
        judges = counted(len(self.judges) - (silent if aside else 0), "judge")
        return (
            f"{counted(len(self), 'forecast')} by {judges}{aside} "
            f"on {counted(len(self.written), 'event')} over {counted(self._variables_used(), 'variable')}"
        )

    def _variables_used(self) -> int:
        sides = np.concatenate([self.written.event, self.written.condition])
        return len(np.unique(self.events.user_variables()[self.events.supports(sides // 2)[1]]))

    def columns(self) -> Columns:
        """The panel as a long table: judge, event, probability, and whatever else the source has for each forecast."""
        texts = list(self.written.text)
        columns: dict[str, Any] = {
            "judge": [self.judges[i] for i in self.judge_index.tolist()],
            "event": [texts[i] for i in self.event_index.tolist()],
            "probability": self.probability,
        }
        if np.any(self.weight != 1):
            columns["weight"] = self.weight
        optional = {"lower": self.lower, "upper": self.upper, "time": self.time}
        columns |= {name: values for name, values in optional.items() if values is not None}
        outcome = self.written.outcome
        if np.any(outcome >= 0):
            cells = [value if value >= 0 else None for value in outcome.tolist()]
            columns["outcome"] = [cells[i] for i in self.event_index.tolist()]
        return columns

    def _view_columns(self) -> Columns:
        """For a notebook: one column per judge where these are few and nobody answered twice, else a long table."""
        wide = self.event_index.astype(np.int64) * len(self.judges) + self.judge_index
        if len(self.judges) > FEW_JUDGES or len(np.unique(wide)) < len(wide) or np.isnan(self.probability).any():
            return self.columns()
        cells = np.full((len(self.written), len(self.judges)), np.nan)
        cells[self.event_index, self.judge_index] = self.probability
        texts = [self.labels.get(text, text) for text in self.written.text]
        return {"event": texts} | {f" {name}": cells[:, i] for i, name in enumerate(self.judges)}

    def frame(self) -> Any:
        """The panel as a long frame, of the library that it came from, else of pandas, polars or pyarrow."""
        return to_frame(self.columns(), self.library)

    def judge(self, name: str) -> Panel:
        """Give the panel of one judge."""
        self._has_judge(name)
        return self.select(self.judge_index == self.judges.index(name))

    def __or__(self, other: Panel) -> Panel:
        """Put two panels together: all forecasts of both, under the laws, outcomes and labels of both.

        A judge who is in both is one judge. Where both say something of the same event, its outcome or its label, that
        must be the same.

        >>> one = Panel.from_records([("Ann", "p", 0.7)], laws=["p -> q"])
        >>> (one | Panel.from_records([("Bob", "p & q", 0.4), ("Ann", "q", 0.8)])).judges
        ('Ann', 'Bob')
        """
        if not isinstance(other, Panel):
            return NotImplemented
        from coherently.panel.joined_panels import joined

        return joined(self, other)

    def text_of(self, event: str) -> str:
        """The event that a text means: the text itself, or the one whose label it is, if only one has this label.

        >>> panel = Panel.from_records([("Ann", "p", 0.7)], labels={"p": "Supplier delay"})
        >>> panel.text_of("Supplier delay"), panel.text_of("~p"), panel.text_of("Budget overrun")
        ('p', '~p', 'Budget overrun')
        """
        if event in self.events:
            return event
        found = [text for text, label in self.labels.items() if label == event]
        return found[0] if len(found) == 1 else event

    def drop_judges(self, names: str | Iterable[str]) -> Panel:
        """Give the panel without one judge, or without some.

        >>> panel = Panel.from_records([("Ann", "p", 0.7), ("Bob", "p", 0.4), ("Cem", "q", 0.2)])
        >>> panel.drop_judges("Bob").judges, panel.drop_judges(["Ann", "Bob"]).judges
        (('Ann', 'Cem'), ('Cem',))
        """
        gone = {names} if isinstance(names, str) else set(names)
        numbers = [self.judges.index(name) for name in gone if self._has_judge(name)]
        kept = ~np.isin(self.judge_index, numbers)
        if not kept.any():
            raise PanelError("no forecast is left: every judge would be left out", code="no-rows")
        return self.select(kept)

    def _has_judge(self, name: str) -> bool:
        """Whether there is such a judge; otherwise an error says so."""
        if name not in self.judges:
            near = suggest(str(name), self.judges)
            message = f"unknown judge {name!r}{near}; the panel has {counted(len(self.judges), 'judge')}"
            raise PanelError(message, code="unknown-judge")
        return True

    def anonymous(self) -> Panel:
        """Give the panel with letters in place of the names of judges, in their order: Judge A, Judge B.

        >>> Panel.from_records([("Zoe", "p", 0.7), ("Ann", "p", 0.4)]).anonymous().judges
        ('Judge A', 'Judge B')
        """
        from coherently.panel.anonymous import with_letters

        return with_letters(self)

    def without(self, *names: str) -> Panel:
        """Leave out judges, events (with their complements) and laws, by name or text; a note says so.

        Where a name has two meanings, write `judge:`, `event:` or `law:` before it.

        >>> panel = Panel.from_records([("Ann", "p", 0.7), ("Bob", "p & q", 0.8)], laws=["p -> r"])
        >>> panel.without("Bob"), panel.without("p & q", "p -> r").notes
        (<Panel: 1 forecast by 1 judge on 1 event over 1 variable>, ("Left out: the event 'p & q', the law 'p -> r'.",))
        """
        from coherently.panel.left_out import leave_out

        return leave_out(self, names)

    def select(self, rows: NDArray[Any]) -> Panel:
        """Keep some forecasts, by mask or index, and only the judges and events that they mention."""
        judge_index, judge_rows = by_appearance(self.judge_index[rows])
        event_index, event_rows = by_appearance(self.event_index[rows])
        judges, written = self.judge_index[rows][judge_rows], self.event_index[rows][event_rows]
        return replace(
            self,
            judges=tuple(self.judges[i] for i in judges.tolist()),
            written=self.written.take(written),
            judge_index=judge_index,
            event_index=event_index,
            probability=self.probability[rows],
            weight=self.weight[rows],
            lower=None if self.lower is None else self.lower[rows],
            upper=None if self.upper is None else self.upper[rows],
            time=None if self.time is None else self.time[rows],
        )
