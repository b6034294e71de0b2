"""The page of a judge once the panel is closed: the result beside the own numbers, and what became of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.web.catalogue import plain
from coherently.web.operations.exports import as_csv
from coherently.web.pages.facilitator.panel_accuracy import axis
from coherently.web.pages.facilitator.shown_result import shown_result
from coherently.web.pages.facilitator.titles import name_events
from coherently.web.pages.formats import GAP, change, listed, percent, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.shapes.closing_shapes import ClosingView, OwnScore
    from coherently.web.shapes.sheet_shapes import SheetView

AGREE = 5
"""Numbers that differ by no more points than this agree."""
MANY = 5
"""How many numbers that were changed are told."""
STILL = 1e-9
"""A number that differs by more was changed."""


class ClosingSheet:
    """What the template shows of the end of a panel."""

    def __init__(self, sheet: SheetView, closing: ClosingView) -> None:
        self.sheet, self.closing = sheet, closing
        self.events: Mapping[str, NamedEvent] = name_events(sheet.questions)
        shown = shown_result(closing.events, closing.laws)
        self._panel, self._digits = shown.after, shown.digits
        self._exact = {row.event: row.probability for row in closing.events}

    def rows(self) -> list[SimpleNamespace]:
        """Every event with both numbers, in the order of the sheet."""
        made = []
        for row in self.closing.rows:
            named, panel = self.events[row.event], self._panel.get(row.text)
            own = None if row.own is None else whole(row.own) / 100
            differ = "–" if own is None or panel is None else change(panel, own, self._digits)
            made.append(
                SimpleNamespace(
                    id=row.event,
                    title=named.within,
                    whole=named.title,
                    heading=named.heading,
                    own=row.own,
                    own_words=percent(row.own),
                    panel=self._exact.get(row.text),
                    panel_words=percent(panel, self._digits),
                    differ=differ,
                    points=0 if own is None or panel is None else round(100 * (own - panel)),
                    outcome=row.outcome,
                )
            )
        return made

    def lead(self, rows: Sequence[SimpleNamespace]) -> str:
        """Where the panel and the judge differ most, and how often they agree."""
        if self.closing.version is None:
            return plain("closing.waiting")
        both = [row for row in rows if row.differ != "–"]
        if not both:
            return plain("closing.silent")
        most = max(both, key=lambda row: abs(row.points))
        agree = sum(abs(row.points) <= AGREE for row in both)
        words = plain("closing.agree", agree=agree, count=len(both), points=AGREE)
        if abs(most.points) <= AGREE:
            return words
        said = {"title": most.whole, "panel": most.panel_words, "own": most.own_words}
        return f"{plain('closing.most', **said)} {words}"

    def changed(self) -> str:
        """Which numbers the judge changed in the revision."""
        moves = [
            f"{self.events[row.event].title} {whole(row.before)}\u00a0→ {whole(row.own)}{GAP}%"
            for row in self.closing.rows
            if row.before is not None and row.own is not None and abs(row.before - row.own) > STILL
        ]
        if not moves:
            return plain("closing.same")
        told = moves if len(moves) <= MANY else [*moves[: MANY - 1], plain("closing.more", count=len(moves) - MANY + 1)]
        return plain("closing.changed", count=len(moves), moves=listed(told))

    def score(self) -> SimpleNamespace | None:
        """The scores with their places on an axis."""
        found = self.closing.score
        if found is None:
            return None
        named = [("coherent", found.panel), ("average", found.average), ("judges", found.judges)]
        rows = [SimpleNamespace(kind=kind, name=plain(f"closing.score.{kind}"), score=value) for kind, value in named]
        if found.own is not None:
            rows.append(SimpleNamespace(kind="own", name=plain("closing.score.own"), score=found.own))
        every = [row.score for row in rows]
        low, high = max(0.0, 0.9 * min(every)), min(1.0, 1.1 * max(every) + 0.01)
        return SimpleNamespace(rows=rows, low=low, high=high, axis=axis(low, high), words=self._known(found))

    def _known(self, found: OwnScore) -> SimpleNamespace:
        return SimpleNamespace(
            known=plain("closing.known", known=found.known, count=found.answered),
            called_off=plain("closing.called_off", count=found.called_off) if found.called_off else "",
            worst=self._named(found.worst),
            best=self._named(found.best),
        )

    def _named(self, events: Sequence[str]) -> str:
        rows = {row.event: row for row in self.closing.rows}
        words = [
            plain("closing.told", title=self.events[event].title, own=percent(rows[event].own), outcome=outcome)
            for event in events
            if (outcome := plain(f"closing.came.{rows[event].outcome or 'no'}"))
        ]
        return listed(words) if words else ""

    def table(self) -> str:
        """The own numbers and those of the panel, as CSV, with all their digits."""
        rows: list[dict[str, Any]] = [
            {
                "event": row.text,
                "title": self.events[row.event].title,
                "you": row.own,
                "panel": self._exact.get(row.text),
            }
            for row in self.closing.rows
        ]
        return as_csv(rows, ("event", "title", "you", "panel"))
