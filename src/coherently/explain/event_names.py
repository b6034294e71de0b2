"""What events are called in sentences: by their labels, and compound ones by the labels of their parts."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import EventError
from coherently.events import tidy, words_or_none
from coherently.explain.people_sentences import phrase, quoted
from coherently.panel.canonical import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.explain.fit.sheet_values import Item
    from coherently.panel import Panel

COMPARED = frozenset("=<>{")
"""Signs of a comparison, which may be written with spaces or without."""


class EventNames:
    """The names of events inside a sentence: `known` has those that somebody gave, by the texts of the events.

    >>> names = EventNames({"cut": "“Rate cut”", "recession": "a recession"})
    >>> names.composed("cut given ~recession"), names.composed("cut & q"), names.composed("q & r")
    ('“Rate cut” given not a recession', '“Rate cut” and q', None)
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known

    @staticmethod
    def of(panel: Panel) -> EventNames:
        """The names that the labels of a panel give; of plain events, no part has a name of its own."""
        labels = {} if panel.labels and is_plain(panel) else panel.labels
        return EventNames({text: quoted(label) for text, label in labels.items()})

    @cached_property
    def _comparisons(self) -> dict[str, str]:
        """The names of comparisons by the usual way to write them."""
        found = {}
        for text, name in self._known.items():
            if COMPARED.intersection(text):
                try:
                    found[tidy(text)] = name
                except EventError:
                    continue
        return found

    def composed(self, text: str) -> str | None:
        """The name of a compound event or a conditional, of the names of its parts; None if none of them has one."""
        if not self._known:
            return None
        named = []

        def name(part: str) -> str:
            bare = part[1:-1] if part.startswith('"') else part
            given = self._known.get(part) or self._known.get(bare) or self._comparisons.get(part)
            if given is not None:
                named.append(part)
            return given or quoted(bare)

        words = words_or_none(text, name)
        return words if named else None

    def spoken(self, text: str, label: str | None) -> str:
        """The name of an event inside a sentence, which may have a label of its own."""
        if label is not None:
            return quoted(label)
        return self.composed(text) or quoted(text)


def named_items(items: Iterable[Item], names: EventNames | None = None) -> tuple[Item, ...]:
    """Items whose titles are only their texts, with names that are put together from those of the other items.

    `names` has those of events that are on no sheet.
    """
    every = tuple(items)
    titled = {item.event: phrase(item) for item in every if not _is_untitled(item)}
    if names is None:
        if not titled or len(titled) == len(every):
            return every
        names = EventNames(titled)
    return tuple(_named(item, names) if _is_untitled(item) else item for item in every)


def _named(item: Item, names: EventNames) -> Item:
    words = names.composed(item.event)
    return item if words is None else replace(item, title=words, composed=True)


def _is_untitled(item: Item) -> bool:
    return not item.topic and item.title == item.event


def topics_of(panel: Panel) -> dict[str, str]:
    """The labels of declared variables, by the events about them whose own labels are only parts of a name.

    Such a label does not begin with a capital letter: "20 to 40", "under 20".

    >>> from coherently.panel import Panel
    >>> labels = {"units": "Units sold", "units < 20": "under 20", "units >= 20": "Twenty or more"}
    >>> rows = [("Ann", "units < 20", 0.1), ("Ann", "units >= 20", 0.9)]
    >>> topics_of(Panel.from_records(rows, laws=["variable units: number"], labels=labels))
    {'units < 20': 'Units sold'}
    """
    labels, found = panel.labels, {}
    if not any(name in labels for name in panel.events.declared):
        return {}
    for text, variable in zip(panel.written.text, variable_names(panel), strict=True):
        if variable is not None and variable in labels and text in labels and not labels[text][:1].isupper():
            found[text] = labels[variable]
    return found


def variable_names(panel: Panel) -> list[str | None]:
    """For each event as written: the declared variable that it is about, if it is about that one alone.

    What a conditional is about does not include what it is conditional on.
    """
    written, events = panel.written, panel.events
    owner = {int(atom): choice.name for choice in events.choices() for atom in choice.atoms}
    if not owner:
        return [None] * len(written)
    starts, members = events.supports(np.stack([written.event, written.condition], axis=1).ravel() // 2)
    found: list[str | None] = []
    for i in range(len(written)):
        event, condition = (
            {owner.get(atom, atom) for atom in members[starts[k] : starts[k + 1]].tolist()} for k in (2 * i, 2 * i + 1)
        )
        names = event - condition
        name = names.pop() if len(names) == 1 else None
        found.append(name if isinstance(name, str) else None)
    return found
