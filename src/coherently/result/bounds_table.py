"""The bounds of several events, with what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from coherently.contract import Described, KnownText, ListOf, ObjectOf, OneWord, Record, RecordField, fact
from coherently.panel import Tabled, to_frame
from coherently.result.bounds import INTERVAL_FIELDS, Bounds
from coherently.solve import METHODS, Coherence, Status

if TYPE_CHECKING:
    from coherently.panel import Columns

BOUNDS_TABLE = Record(
    "bounds-table",
    1,
    "What a coherent result implies for several events (`Result.bounds_table`, `coherently bounds --json`).",
    (
        RecordField("status", OneWord(lambda: Status), "how the method ended"),
        RecordField("coherence", OneWord(lambda: Coherence), "how far the result is coherent"),
        RecordField("method", KnownText(lambda: METHODS), "the name of the method"),
        RecordField("bounds", ListOf(ObjectOf("bounds", INTERVAL_FIELDS)), "one object per event, as they were asked"),
    ),
)


@dataclass(frozen=True, slots=True)
class BoundsTable(Tabled, Described):
    """The bounds of several events, as they were asked for, and the words of the result that implies them.

    >>> import coherently as co
    >>> panel = co.Panel.from_records([("Ann", "p", 0.7), ("Bob", "q", 0.6)])
    >>> table = co.aggregate(panel, "exact").bounds_table(["p & q", "p | q"])
    >>> table.frame().round(6)
       event  low  high  certified  note
    0  p & q  0.3   0.6       True  None
    1  p | q  0.7   1.0       True  None
    """

    record: ClassVar[Record] = BOUNDS_TABLE

    status: Status
    coherence: Coherence
    method: str
    bounds: tuple[Bounds, ...]

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return {field.name: [getattr(pair, field.name) for pair in self.bounds] for field in INTERVAL_FIELDS}

    def frame(self) -> Any:
        """One row per event: event, low, high, certified, note."""
        return to_frame(self.columns(), None)

    def _plain(self) -> dict[str, Any]:
        words = {"status": str(self.status), "coherence": str(self.coherence), "method": self.method}
        return {**words, "bounds": [pair._plain() for pair in self.bounds]}

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> BoundsTable:
        pairs = tuple(Bounds._from_plain(pair) for pair in values["bounds"])
        return cls(fact(Status, values["status"]), fact(Coherence, values["coherence"]), values["method"], pairs)
