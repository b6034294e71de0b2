"""Where what changed is solved again: one neighbourhood at a time, the one that has waited longest first."""

from __future__ import annotations

import atexit
import logging
import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakSet

from coherently.errors import CoherentlyError
from coherently.live.published.edition import Shelf, solve
from coherently.live.published.listeners import Listeners, change_between
from coherently.solve import Budget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coherently.live.ledger import Contents, Ledger, Neighbourhood
    from coherently.live.published.edition import Edition, Rules
    from coherently.live.published.listeners import Change

_LOG = logging.getLogger("coherently.live")


_AT_WORK: WeakSet[Workshop] = WeakSet()


@atexit.register
def _stop_all() -> None:
    """End all threads: none may be at work while the interpreter goes away."""
    for workshop in list(_AT_WORK):
        workshop.stop()


@dataclass(frozen=True, slots=True)
class _Taken:
    """A neighbourhood as it is when work on it begins."""

    home: Neighbourhood
    contents: Contents
    changes: int
    variables: frozenset[str]
    split: bool
    last: list[Edition]
    revision: int


class Workshop:
    """A ledger, the last answers about it, and the work between the two.

    Whoever reads or writes any of these holds `lock`, for a short time: neither solving nor writing files happens
    there. `_turn` is held while one neighbourhood is solved, so that two threads never solve the same; it is taken
    before `lock`, and never by somebody who holds `lock`.

    A neighbourhood is fresh, stale (in `stale`: changed since its answer, or never solved) or in trouble (in
    `problems`: its last attempt failed). A change makes it stale (`touch`). An attempt takes a copy (`_take`), solves
    it without `lock`, and then looks whether `changes` still is what it was: if so it becomes fresh (`_publish`) or in
    trouble (`_fail`), else it stays stale and goes to the end of the queue, so that one that changes all the time
    does not keep the others waiting.
    """

    def __init__(self, ledger: Ledger, rules: Rules, revisions: int = 0) -> None:
        self.lock = threading.Condition()
        self.ledger, self.rules, self.shelf, self.listeners = ledger, rules, Shelf(), Listeners()
        self.stale: dict[Neighbourhood, None] = dict.fromkeys(ledger.homes.values())
        """What changed since it was solved, in the order in which it did."""
        self.problems: dict[Neighbourhood, str] = {}
        """Why the last attempt to solve a neighbourhood failed."""
        self.revisions = revisions
        self.stopped = threading.Event()
        self._turn = threading.Lock()
        self._telling = 0
        """Changes that listeners were not told to the end: `settle` waits for them too."""
        self._room = _power_of_two(len(self.stale))
        self._worker: threading.Thread | None = None

    def start(self) -> None:
        """Solve in a thread, from now on."""
        self._worker = threading.Thread(target=self._work, name="coherently-live", daemon=True)
        self._worker.start()
        _AT_WORK.add(self)

    def ask_to_stop(self) -> None:
        """Let the thread end soon."""
        with self.lock:
            self.stopped.set()
            self.lock.notify_all()

    def stop(self) -> None:
        """End the thread; what is stale stays so."""
        self.ask_to_stop()
        if self._worker is not None and self._worker is not threading.current_thread():
            self._worker.join()

    def note_revision(self, homes: Iterable[Neighbourhood]) -> int:
        """Note that a revision changed neighbourhoods, and give its number; needs the lock."""
        self.touch(homes)
        self.revisions += 1
        return self.revisions

    def touch(self, homes: Iterable[Neighbourhood]) -> None:
        """Note that neighbourhoods changed; needs the lock."""
        for home in homes:
            self.problems.pop(home, None)
            self.stale.setdefault(home)
        self.lock.notify_all()

    def settle(self, timeout: float | None) -> None:
        """Wait until nothing is stale, or solve it here if no thread does."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        if self._worker is None:
            while time.monotonic() < end and self.solve_next():
                pass
        elif self._worker is not threading.current_thread():
            with self.lock:
                self.lock.wait_for(lambda: self.stopped.is_set() or not (self.stale or self._telling), timeout)

    def solve_next(self) -> bool:
        """Solve what has been stale longest; false if nothing is."""
        with self._turn:
            with self.lock:
                taken = self._take()
            if taken is None:
                return False
            change = self._solve(taken)
        if change is not None:
            try:
                self.listeners.tell(change)
            finally:
                with self.lock:
                    self._telling -= 1
                    self.lock.notify_all()
        return True

    def _work(self) -> None:
        while not self.stopped.is_set():
            with self.lock:
                self.lock.wait_for(lambda: self.stopped.is_set() or bool(self.stale))
            if not self.stopped.is_set():
                self.solve_next()

    def _take(self) -> _Taken | None:
        """What has been stale longest; neighbourhoods that have become part of others are left out."""
        while self.stale:
            home = next(iter(self.stale))
            if home.variables:
                names = frozenset(home.variables)
                last = self.shelf.about(names)
                return _Taken(
                    home, home.contents(), home.changes, names, split=home.split, last=last, revision=self.revisions
                )
            del self.stale[home]
        return None

    def _solve(self, taken: _Taken) -> Change | None:
        """Solve a neighbourhood and publish the answers, or note why that is impossible."""
        groups = taken.contents.connected() if taken.split else [taken.contents]
        try:
            editions = [solve(group, self.rules, self._budget(), taken.last) for group in groups]
        except Exception as error:  # one failure must not end the thread
            if not isinstance(error, CoherentlyError):
                _LOG.exception("a component of a live panel could not be solved")
            with self.lock:
                self._fail(taken, f"{type(error).__name__}: {error}")
            return None
        with self.lock:
            if self.stopped.is_set():  # the answers may be those of work that was cut short
                return None
            self._publish(taken, editions)
            change = change_between(taken.last, editions, taken.revision) if self.listeners else None
            self._telling += change is not None
            return change

    def _publish(self, taken: _Taken, editions: list[Edition]) -> None:
        home = taken.home
        # First the answers, then the queue: a reader who finds nothing stale must find the answers on the shelf. Both
        # happen under one lock, so that nobody sees a state between them.
        self.shelf.publish(editions, taken.variables)
        self.stale.pop(home, None)
        if home.variables and home.changes != taken.changes:
            self.stale[home] = None  # once more, after the others
        elif home.variables:
            home.split = False
            if len(editions) != 1 or editions[0].variables != taken.variables:
                self.ledger.part(home, [one.contents for one in editions])
        self._make_room()
        self.lock.notify_all()

    def _fail(self, taken: _Taken, why: str) -> None:
        self.stale.pop(taken.home, None)
        if taken.home.variables and taken.home.changes != taken.changes:
            self.stale[taken.home] = None
        elif taken.home.variables:
            self.problems[taken.home] = why
        self.lock.notify_all()

    def _budget(self) -> Budget:
        """What a component may spend: the gaps of all together stay within the tolerance of the whole.

        Each gap is at most t/2 max(f, 1/n) for the tolerance t, the objective f and at most n components, and the sum
        of these at most t max(F, 1) for the objective F of the whole.
        """
        return Budget(tolerance=0.5 * self.rules.exact.tolerance, floor=1.0 / self._room, cancel=self.stopped)

    def _make_room(self) -> None:
        """If there are more components than there is room for, double it; answers that are too rough become stale."""
        if self.shelf.count <= self._room:
            return
        self._room = _power_of_two(self.shelf.count)
        budget = self._budget()
        for one in self.shelf.all(self.shelf.moment):
            if not one.is_enough(budget):
                self.stale.setdefault(self.ledger.homes[next(iter(one.variables))])


def _power_of_two(count: int) -> int:
    """The least power of two that is not less than a count."""
    return 1 << max(0, count - 1).bit_length()
