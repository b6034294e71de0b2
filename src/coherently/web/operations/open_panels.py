"""Panels that somebody looks at: each is kept in memory as a live panel, which follows the store.

An answer of a judge is a revision: what the board needs of it is read once, and only the part of the panel that it
touches is solved again. Nothing here decides who may see it: `privacy` does.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError, EventError
from coherently.live import LivePanel
from coherently.solve import Exact
from coherently.web.operations.questions import as_setting
from coherently.web.operations.store_journal import StoreJournal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.explain.judge_sheet import SheetSetting
    from coherently.live import Current
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import ForecastRecord, Store

KEPT = 16
"""Maximum number of panels that are kept."""
MOST_ANSWERS = 10_000
"""Maximum number of answers of a panel that is kept coherent."""
MOST_REVISIONS = 50_000
"""Number of revisions, all of which a live panel remembers, after which it is begun anew."""
SOLVING, WAITING = 0.2, 0.5
"""Maximum number of seconds for one part of a panel, and for all that changed."""
STALE = 3_600.0
"""Seconds after which a panel that nobody looked at is begun anew: the store keeps its changes for a week only."""
PAUSE = 2.0
"""Seconds until a panel that was not solved in time is tried again: looking at it must not cost that each time."""
METHOD = Exact(time_limit=SOLVING)


@dataclass(frozen=True, slots=True)
class PanelMoment:
    """A panel after one change: its questions and laws, the answers that stand, and what makes them coherent.

    `records` has also the answers to questions that are withdrawn. `coherent` has a probability for each event that is
    asked and answered, by its id; None if that was not found in time.
    """

    change: int
    setting: SheetSetting
    records: tuple[ForecastRecord, ...]
    coherent: Mapping[str, float] | None


class OpenPanel:
    """One panel in memory. `_lock` is held by whoever brings it up to date: the others wait and find it done."""

    def __init__(self, store: Store, panel: str) -> None:
        self._store, self._panel = store, panel
        self._lock = threading.Lock()
        self._journal = StoreJournal(store, panel, METHOD)
        self._live: LivePanel | None = None
        self._moment: PanelMoment | None = None
        self._next_try, self._caught_up = 0.0, time.monotonic()

    def moment(self) -> PanelMoment:
        """The panel as the store has it now, with the changes that other processes made."""
        with self._lock:
            try:
                self._catch_up()
                if self._moment is None or self._moment.change != self._journal.seen:
                    self._moment = self._look()
            except BaseException:
                # The journal may have told of changes that were not done: the next who asks begins anew.
                self._live = self._moment = None
                raise
            return self._moment

    def _catch_up(self) -> None:
        """Do what happened since; what the live panel cannot take, it is begun anew for.

        Such are an outcome of what nobody has forecast yet, and laws whose order matters. If a new one cannot be had
        either, or would be too large, answers are still read by the journal, and only nothing is made coherent.
        """
        was_followed = time.monotonic() - self._caught_up < STALE
        self._caught_up = time.monotonic()
        is_small = len(self._journal.records) <= MOST_ANSWERS
        if was_followed and is_small and self._live is not None and self._live.current().revision < MOST_REVISIONS:
            with suppress(CoherentlyError):
                self._live.catch_up()
                return
        elif was_followed and self._moment is not None and self._moment.change == self._store.changes.last(self._panel):
            return
        self._journal, self._live = StoreJournal(self._store, self._panel, METHOD), None
        self._moment = self._moment if was_followed else None
        self._journal.take()
        if len(self._journal.records) <= MOST_ANSWERS:
            with suppress(CoherentlyError):
                self._live = LivePanel.open(self._journal, background=False)

    def _look(self) -> PanelMoment:
        journal = self._journal
        setting, records = as_setting(journal.questions, journal.laws), tuple(journal.records.values())
        return PanelMoment(journal.seen, setting, records, self._coherent(setting, records))

    def _coherent(self, setting: SheetSetting, records: tuple[ForecastRecord, ...]) -> dict[str, float] | None:
        if self._live is None or time.monotonic() < self._next_try:
            return None
        now = self._live.settle(WAITING)
        answered = {each.event for each in records if each.probability is not None}
        texts = {item.id: item.event for item in setting.items if item.id in answered}
        if not now.is_settled or not all(_is_proved(now, text) for text in texts.values()):
            self._next_try = time.monotonic() + PAUSE  # time ran out, or pins contradict each other
            return None
        return {event: now.probability(text) for event, text in texts.items()}


def _is_proved(now: Current, text: str) -> bool:
    """Whether no other coherent forecasts are nearer, within the tolerance."""
    try:
        part = now.component(text)
    except EventError:  # an event that is always or never true belongs to no component, and its probability is known
        return True
    return part.objective - part.lower_bound <= METHOD.tolerance * max(1.0, part.objective)


_open: OrderedDict[tuple[int, str], OpenPanel] = OrderedDict()
"""The panels that were looked at last, by store and id, the last one last."""
_turn = threading.Lock()
"""Held while one is looked up or forgotten, never while one is brought up to date."""


def open_panel(bench: Workbench, panel: str) -> OpenPanel:
    """The panel in memory; the one that nobody looked at for the longest time makes room for it."""
    key = id(bench.store), panel  # a panel that is kept holds its store, so that the number stays that store's own
    with _turn:
        found = _open.pop(key, None) or OpenPanel(bench.store, panel)
        _open[key] = found
        while len(_open) > KEPT:
            _open.popitem(last=False)
        return found


def close_panels(store: Store) -> None:
    """Forget the panels of a store that ends."""
    with _turn:
        for key in [key for key in _open if key[0] == id(store)]:
            del _open[key]
