"""Signs that components hang together by more than laws: many have the same date, or the same word in their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.panel.texts import name_some
from coherently.scoring.tuning.blocks import time_labels

if TYPE_CHECKING:
    from coherently.arrays import Indices
    from coherently.panel import Panel

SHARED = 2
"""Minimum number of components for each date or word, in the mean, that makes them look tied."""
FEWEST = 3
"""Minimum number of dates or words: with fewer, hardly anything is left to learn from."""
WORDS = re.compile(r"[^\W_]+", re.UNICODE)


@dataclass(frozen=True, slots=True, eq=False)
class Suspicion:
    """The cluster of each event as written that its date or its name suggests, -1 for none, and what was seen."""

    label: Indices
    seen: str


def suspicion_of(panel: Panel, component: Indices, among: Indices, *, by_time: bool) -> Suspicion | None:
    """Look for few dates, then for few words, among many components; `among` lists the resolved events."""
    components = len(np.unique(component[among]))
    found = None if by_time else _by_date(panel, component, among)
    return _if_few(found, among, components) or _by_word(panel, component, among, components)


def _by_date(panel: Panel, component: Indices, among: Indices) -> Suspicion | None:
    if panel.time is None:
        return None
    label = time_labels(panel, component)
    if (label[among] < 0).any():
        return None
    return Suspicion(label, f"{len(np.unique(label[among])):,} dates of their last forecasts")


def _by_word(panel: Panel, component: Indices, among: Indices, components: int) -> Suspicion | None:
    """The first place in names, counted from the left, whose words are few, and the same within each component."""
    words = [WORDS.findall(text) for text in panel.written.text]
    for place in range(3):
        if any(len(words[i]) <= place + 1 for i in among.tolist()):
            return None
        own = np.array([each[place] if len(each) > place else "" for each in words])
        distinct, label = np.unique(own, return_inverse=True)
        label = label.ravel()
        pairs = len(np.unique(component[among] * len(distinct) + label[among]))
        listed = name_some([str(word) for word in np.unique(own[among])])
        found = Suspicion(label, f"{len(np.unique(label[among])):,} words in the same place of their names ({listed})")
        if pairs == components and _if_few(found, among, components):
            return found
    return None


def _if_few(found: Suspicion | None, among: Indices, components: int) -> Suspicion | None:
    if found is None:
        return None
    few = len(np.unique(found.label[among]))
    return found if FEWEST <= few <= components // SHARED else None
