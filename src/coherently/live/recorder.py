"""Revisions one after the other: worked out, tried out, written to the journal, then done."""

from __future__ import annotations

import threading
import time as clock
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError, PanelError
from coherently.live.effects import carry_out, prepare
from coherently.live.revision import Revision, read_time

if TYPE_CHECKING:
    from typing import Any

    from coherently.live.effects import Effect
    from coherently.live.journal import Journal
    from coherently.live.revision import Act
    from coherently.live.workshop import Workshop


class Recorder:
    """Who changes the ledger of a workshop; with a journal, only after the revision is durable.

    There are two locks, always taken in this order. `_turn` is held from working out a revision until it is done, also
    while the journal writes: writers come one after the other, and the ledger has the order of the journal. The lock of
    the workshop is held only while the ledger is looked at or changed: readers never wait for the disk.
    """

    def __init__(self, workshop: Workshop, journal: Journal | None) -> None:
        self._workshop, self._journal = workshop, journal
        self._turn = threading.Lock()
        self._closed = False
        self.time = workshop.ledger.latest()
        """The time of the last revision."""

    @property
    def identity(self) -> str | None:
        """What tells the journal from others; None if there is none."""
        return None if self._journal is None else self._journal.identity

    def go_on(self, *, background: bool) -> None:
        """Do what the journal says, then begin to solve."""
        with self._turn:
            self._read()
        if background:
            self._workshop.start()

    def catch_up(self) -> int:
        """Do what others appended to the journal; returns how many revisions that were."""
        with self._turn:
            self._refuse_if_closed()
            return self._read()

    def record(self, act: Act, time: object, **what: Any) -> int:
        """Work out what a revision does, write it to the journal, then do it; returns its number."""
        with self._turn:
            self._refuse_if_closed()
            revision = Revision(act, self._moment(time), **what)
            effect = self._try(revision)
            # Nothing has changed yet. If the journal refuses, the panel is as before; once it has the revision, only
            # memory is left to be changed, which does not fail: what is acknowledged stands, and what stands is kept.
            due = (revision,) if self._journal is None else self._journal.append(revision)
            if len(due) == 1:
                return self._carry_out(revision, effect)
            for each in due:  # others came first: what the revision does is worked out on what they left
                self._carry_out(each, self._try(each))
            return self._workshop.revisions

    def close(self) -> None:
        """End the thread and close the journal."""
        with self._turn:
            self._closed = True
        self._workshop.stop()
        if self._journal is not None:
            self._journal.close()

    def let_go(self) -> None:
        """Close the journal and let the thread end, without waiting for it: nobody holds the panel any more."""
        self._workshop.ask_to_stop()
        if self._journal is not None:
            self._journal.close()

    def _read(self) -> int:
        """Do what the journal has; needs the turn."""
        revisions = () if self._journal is None else self._journal.read()
        for revision in revisions:
            try:
                self._carry_out(revision, self._try(revision))
            except CoherentlyError as error:
                number = self._workshop.revisions + 1
                raise PanelError(f"revision {number:,} of the log cannot be done again: {error}") from None
        return len(revisions)

    def _try(self, revision: Revision) -> Effect:
        """What a revision will do; an error if what would stand contradicts itself."""
        with self._workshop.lock:
            effect = prepare(self._workshop.ledger, revision)
        effect.try_out()  # reads what was taken out of the ledger, so that nobody waits for it
        return effect

    def _carry_out(self, revision: Revision, effect: Effect) -> int:
        workshop = self._workshop
        with workshop.lock:
            self.time = revision.time
            return workshop.note_revision(carry_out(workshop.ledger, effect))

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise PanelError("this live panel is closed: open its log, or restore a snapshot, to go on")

    def _moment(self, time: object) -> float:
        if time is None:
            return max(clock.time(), self.time)
        moment = read_time(time)
        if moment < self.time:
            raise PanelError(
                f"time is {time}, before the last revision ({self.time}); times may not go back: leave it out to mean "
                "this moment"
            )
        return moment
