"""What is known at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.errors import EventError, counted
from coherently.live.published.recall import whole
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from coherently.live.assembly import Dress
    from coherently.live.published.edition import Edition
    from coherently.live.vocabulary import Meaning
    from coherently.live.workshop import Workshop
    from coherently.result import Result
    from coherently.solve import Component, Method


class Current(Viewed):
    """The last answers of a live panel, at the moment of asking, and what was still being solved then.

    Whatever is revised later, `probability`, `component` and `result` give the answers of that moment: they are
    coherent with each other. `revision` is the number of revisions that were recorded.
    """

    def __init__(self, workshop: Workshop, method: Method, dress: Dress) -> None:
        self._workshop, self._method, self._dress = workshop, method, dress
        self._result: Result | None = None
        with workshop.lock:
            self.revision = workshop.revisions
            self._reader = workshop.shelf.reader()
            self._stale, self._problems = tuple(workshop.stale), tuple(workshop.problems.items())

    def __repr__(self) -> str:
        waiting = f"{counted(len(self._stale), 'component')} being solved" if self._stale else "everything solved"
        return f"<Current: revision {self.revision:,}, {waiting}>"

    @property
    def is_settled(self) -> bool:
        """Whether every revision is in the answers."""
        return not self._stale and not self._problems

    @property
    def stale(self) -> tuple[str, ...]:
        """The components that were being solved, each by the first of its events; their answers are the last ones."""
        with self._workshop.lock:
            return tuple(home.title() for home in self._stale if home.variables)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why components have no answer to their last revisions: pins that contradict each other, for example."""
        with self._workshop.lock:
            return tuple(f"{home.title()!r}: {why}" for home, why in self._problems if home.variables)

    def is_stale(self, event: str) -> bool:
        """Whether the answer about an event did not yet take in every revision of its component."""
        with self._workshop.lock:
            names = self._read(event).variables
            homes = (*self._stale, *(home for home, _ in self._problems))
            return any(name in home.variables for home in homes for name in names)

    def probability(self, event: str) -> float:
        """The last probability of an event that somebody forecast, however it is written, or of its complement."""
        with self._workshop.lock:
            meaning = self._read(event)
            edition = self._edition(meaning)
            found = None if edition is None else edition.probability(meaning)
        if found is None and meaning.constant is not None:
            return meaning.constant
        if found is None:
            raise EventError(self._unknown(event))
        return found

    def component(self, event: str) -> Component:
        """How the component of an event was solved: its objective, its lower bound and on what that rests."""
        with self._workshop.lock:
            meaning = self._read(event)
            edition = self._edition(meaning)
        found = None if edition is None else edition.component(meaning)
        if found is None:
            raise EventError(self._unknown(event))
        return found

    def result(self) -> Result:
        """The whole result, put together when it is first asked for.

        Its panel has the forecasts that the answers were made for: those of components that were being solved are the
        ones before the last revisions.
        """
        if self._result is None:
            workshop = self._workshop
            with workshop.lock:
                editions = workshop.shelf.all(self._reader.moment)
            self._result = whole(editions, workshop.rules, self._method, self._dress)
        return self._result

    def _read(self, event: str) -> Meaning:
        return self._workshop.ledger.words.read(event)

    def _edition(self, meaning: Meaning) -> Edition | None:
        return self._workshop.shelf.find(meaning.variables or ("",), self._reader.moment)

    def _unknown(self, event: str) -> str:
        if self._stale:
            return f"there is no answer yet about {event!r}: call settle() and ask again, or forecast it first"
        return f"nobody forecast {event!r} or its complement; result().bounds gives what the other forecasts imply"
