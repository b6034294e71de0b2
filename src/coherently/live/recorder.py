"""Revisions one after the other: worked out, tried out, written to the log, then done."""

from __future__ import annotations

import threading
import time as clock
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError, PanelError
from coherently.live.effects import carry_out, prepare
from coherently.live.revision import Revision, read_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from coherently.live.kept.journal import Journal
    from coherently.live.revision import Act
    from coherently.live.workshop import Workshop


class Recorder:
    """Who changes the ledger of a workshop; with a log, only after the revision is on the disk."""

    def __init__(self, workshop: Workshop, journal: Journal | None) -> None:
        self._workshop, self._journal = workshop, journal
        self._turn = threading.Lock()
        self._closed = False
        self.time = workshop.ledger.latest()
        """The time of the last revision."""

    @property
    def identity(self) -> str | None:
        """What tells the log from others; None if there is none."""
        return None if self._journal is None else self._journal.identity

    def go_on(self, records: Iterable[dict[str, Any]], *, background: bool) -> None:
        """Do what a log says, then begin to solve."""
        for record in records:
            try:
                self._do(Revision.from_dict(record))
            except CoherentlyError as error:
                number = self._workshop.revisions + 1
                raise PanelError(f"revision {number:,} of the log cannot be done again: {error}") from None
        if background:
            self._workshop.start()

    def record(self, act: Act, time: object, **what: Any) -> int:
        """Work out what a revision does, write it to the log, then do it; returns its number."""
        with self._turn:
            if self._closed:
                raise PanelError("this live panel is closed: open its log, or restore a snapshot, to go on")
            return self._do(Revision(act, self._moment(time), **what), self._journal)

    def close(self) -> None:
        """End the thread and close the log."""
        with self._turn:
            self._closed = True
        self._workshop.stop()
        if self._journal is not None:
            self._journal.close()

    def let_go(self) -> None:
        """Close the log and let the thread end, without waiting for it: nobody holds the panel any more."""
        self._workshop.ask_to_stop()
        if self._journal is not None:
            self._journal.close()

    def _do(self, revision: Revision, journal: Journal | None = None) -> int:
        workshop = self._workshop
        with workshop.lock:
            effect = prepare(workshop.ledger, revision)
        effect.try_out()
        if journal is not None:
            journal.append(revision.as_dict())
        with workshop.lock:
            self.time = revision.time
            workshop.touch(carry_out(workshop.ledger, effect))
            workshop.revisions += 1
            return workshop.revisions

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
