"""What the rows and sentences of a page call events: by labels, else in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coherently.events import words_or_none
from coherently.explain.event_names import EventNames, topics_of, variable_names
from coherently.explain.people_sentences import quoted, topical
from coherently.panel.canonical import is_plain

if TYPE_CHECKING:
    from coherently.panel import Panel


ESCAPED = re.compile(r"\\(.)", re.DOTALL)
"""A character of a name in quotes that is written with a backslash before it."""


class EventTitles:
    """The names of the events of a panel: in a table as they are, in a sentence with quotes where they need them.

    A label that does not begin with a capital letter, such as "20 to 40", is only a part of a name where its declared
    variable has a label, too; outside the group of that variable both are said.

    >>> from coherently.panel import Panel
    >>> labels = {"late": "Norvik is late", "cut": "a rate cut", "units": "Units sold", "units < 20": "under 20"}
    >>> rows = [("Ann", "late & ~cut", 0.2), ("Ann", "units < 20", 0.1)]
    >>> titles = EventTitles(Panel.from_records(rows, laws=["variable units: number"], labels=labels))
    >>> titles.row("late & ~cut"), titles.inside("late & ~cut")
    ('Norvik is late and not a rate cut', '“Norvik is late” and not a rate cut')
    >>> titles.row("units < 20"), titles.alone("units < 20"), titles.inside("units < 20")
    ('under 20', 'Units sold: under 20', '“Units sold: under 20”')
    """

    def __init__(self, panel: Panel) -> None:
        self._labels, self._plain = panel.labels, is_plain(panel)
        self._names = EventNames.of(panel)
        self.variables = {} if self._plain else dict(zip(panel.written.text, variable_names(panel), strict=True))
        self.topics = {} if self._plain else topics_of(panel)

    def row(self, text: str) -> str:
        """The name at the beginning of a row, in the group of its variable."""
        if text in self._labels or self._plain:
            return self._labels.get(text, text)
        return words_or_none(text, self._bare) or text

    def alone(self, text: str) -> str:
        """The name at the beginning of a row that is in no group."""
        topic = self.topics.get(text)
        return f"{topic}: {self.row(text)}" if topic else self.row(text)

    def inside(self, text: str) -> str:
        """The name inside a sentence."""
        if topic := self.topics.get(text):
            return topical(topic, self.row(text))
        if text in self._labels or self._plain:
            return quoted(self._labels.get(text, text))
        return self._names.composed(text) or words_or_none(text, lambda part: quoted(self._bare(part))) or quoted(text)

    def _bare(self, part: str) -> str:
        """The label of a part of an event, or its name without quotes."""
        bare = ESCAPED.sub(r"\1", part[1:-1]) if part.startswith('"') else part
        return self._labels.get(part) or self._labels.get(bare) or bare
