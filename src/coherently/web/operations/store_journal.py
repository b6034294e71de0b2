"""The store as the journal of a live panel: its tables of forecasts, laws and outcomes, told as revisions.

Judges of the live panel are ids of judges. Other processes append too; the table of changes says whether they did.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from coherently.errors import PanelError
from coherently.live.assembly import Dress, fill
from coherently.live.journal import Beginning
from coherently.live.ledger import Ledger
from coherently.live.revision import Act, Revision
from coherently.live.vocabulary import Vocabulary, declared_name
from coherently.panel import Panel
from coherently.panel.statements import Statement, split_statements
from coherently.problem import find_loss
from coherently.solve import Exact
from coherently.web.operations.questions import statements_of
from coherently.web.store import RESTORED, AnswerGiven, NotFoundError, StoreError
from coherently.web.wall_clock import present

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.live.vocabulary import Key
    from coherently.solve import Method
    from coherently.web.store import ForecastRecord, LawRecord, QuestionRecord, Store

PAGE = 10_000
"""Number of changes, or of forecasts, that are read at a time."""
SETTING = frozenset({"questions", "laws", "panel"})
"""Kinds of changes after which events and laws are compared with those that were known."""


class StoreJournal:
    """What happens to one panel of a store, as revisions.

    The place up to which it was read is the last change that was seen, and with it the last forecast and outcome: all
    three are taken in one moment of the store, so that nothing is missed and nothing told twice. Changes are noted in
    the transaction that makes them, and writers come one after the other, also those of other processes: who has
    seen a change has seen all that were before.

    A judge may answer two questions that mean the same, of which a live panel takes one forecast by each judge: the
    answers to the second are those of a namesake, which changes no mean.
    """

    def __init__(self, store: Store, panel: str, method: Method | None = None) -> None:
        self._store, self._panel = store, panel
        self._method = Exact() if method is None else method
        self.seen = 0
        """The number of the last change that was seen."""
        self.questions: tuple[QuestionRecord, ...] = ()
        self.laws: tuple[LawRecord, ...] = ()
        self.records: dict[tuple[str, str], ForecastRecord] = {}
        """The answers that stand, by judge and event, in their order; also those to questions that are withdrawn."""
        self._is_told, self._forecast, self._outcome = True, 0, 0
        self._events: dict[str, tuple[str, int]] = {}
        """The text of each event that is asked, and how many events before it mean the same."""
        self._held: Counter[str] = Counter()
        """The laws of the live panel, each with how often it is said."""
        self._standing: set[tuple[str, str]] = set()
        """The answers of the live panel, by judge and event."""
        self._resolved: set[str] = set()

    @property
    def identity(self) -> str:
        """The panel and where it is kept."""
        return f"{self._store.url} {self._panel}"

    def begin(self) -> Beginning:
        """What stands in the panel now."""
        return self._store.read(self._begin)

    def read(self) -> list[Revision]:
        """What happened since, as revisions."""
        return self._store.read(self._read)

    def append(self, revision: Revision) -> list[Revision]:
        """Record a revision in the store, as the facilitator may at any time, and read on."""
        if revision.weight not in (None, 1.0) or revision.lower is not None or revision.upper is not None:
            raise PanelError("the workbench keeps one probability per answer: leave out weight, lower and upper")
        self._store.write(lambda: self._append(revision))
        return self.read()

    def close(self) -> None:
        """Nothing is held."""

    def take(self) -> None:
        """Read what stands now, whatever it means: questions, laws and records."""
        self._store.read(self._take)

    def _take(self) -> None:
        store, panel = self._store, self._panel
        self.seen = store.changes.last(panel)
        self.records = {(each.judge, each.event): each for each in store.forecasts.latest(panel)}
        self._forecast = store.forecasts.last(panel)
        self.questions, self.laws = store.questions.list(panel), store.laws.list(panel)

    def _begin(self) -> Beginning:
        self._take()
        self._events, self._held = self._setting()
        rows = [
            (self._judge(*place), self._events[place[1]][0], each.probability)
            for place, each in self.records.items()
            if each.event in self._events and each.probability is not None
        ]
        ledger = Ledger()
        self._is_told = bool(rows)
        if rows:
            self._standing = {place for place, each in self.records.items() if self._counts(each)}
            fill(ledger, Panel.from_records(rows, laws=list(self._held), outcomes=self._outcomes() or None))
        else:  # a panel of no forecasts has nothing to be solved: laws and outcomes come as the first revisions
            self._standing, self._held, self._resolved, self._outcome = set(), Counter(), set(), 0
        return Beginning(ledger, Dress(), self._method, find_loss("brier"))

    def _outcomes(self) -> dict[str, bool | float | str]:
        history = self._store.outcomes.history(self._panel)
        self._outcome = history[-1].id if history else 0
        last = {each.event: each.outcome for each in history}
        found = {event: value for event, value in last.items() if value is not None}
        self._resolved = set(found)
        return found

    def _setting(self) -> tuple[dict[str, tuple[str, int]], Counter[str]]:
        """The events that are asked, and the laws that hold, each with how often it is said."""
        said = split_statements(statements_of(self.questions, self.laws))
        laws = Counter(each.text for each in said)
        return _numbered(self.questions, [law for law in laws if Statement(law, "").is_declaration]), laws

    def _counts(self, record: ForecastRecord) -> bool:
        """Whether a record is an answer of the live panel: a number, to a question that is asked."""
        return record.probability is not None and record.event in self._events

    def _judge(self, judge: str, event: str) -> str:
        """The name of a judge in the live panel, for an event."""
        twin = self._events[event][1]
        return f"{judge} {twin}" if twin else judge

    def _read(self) -> list[Revision]:
        changes = self._store.changes.after(self._panel, self.seen, PAGE)
        if not changes and self._is_told:
            return []
        kinds = {each.kind for each in changes}
        if RESTORED in kinds:  # what was seen may never have happened: whoever follows begins anew
            raise StoreError("the store was restored from a backup")
        is_cut = len(changes) == PAGE or not self._is_told
        self._is_told, self.seen = True, self._store.changes.last(self._panel)
        found: list[Revision] = []
        if is_cut or kinds & SETTING:
            found += self._new_setting()
        if is_cut or "answers" in kinds:
            found += self._new_answers()
        if is_cut or "outcomes" in kinds:
            found += self._new_outcomes()
        return found

    def _new_setting(self) -> Iterator[Revision]:
        """Answers to questions that are asked no longer go first, as laws that declare their variables may go too."""
        self.questions, self.laws = self._store.questions.list(self._panel), self._store.laws.list(self._panel)
        before, (events, laws) = self._events, self._setting()
        moment = present().timestamp()
        for place in [place for place in self._standing if events.get(place[1]) != before[place[1]]]:
            self._standing.discard(place)
            yield Revision(Act.WITHDRAW, moment, judge=self._judge(*place), event=before[place[1]][0])
        for law in self._held:
            if law not in laws:
                yield Revision(Act.DROP_LAW, moment, law=law)
        for law in sorted(laws, key=lambda one: not Statement(one, "").is_declaration):
            if law not in self._held:
                yield Revision(Act.ADD_LAW, moment, law=law)
        self._events, self._held = events, laws
        for place, each in self.records.items():  # an event may take another place among those of the same meaning
            if place not in self._standing and self._counts(each):
                yield from self._revision(each)

    def _new_answers(self) -> Iterator[Revision]:
        while page := self._store.forecasts.history(self._panel, after=self._forecast, limit=PAGE):
            self._forecast = page[-1].id
            for each in page:
                self.records.pop((each.judge, each.event), None)
                if each.state != "withdrawn":
                    self.records[each.judge, each.event] = each
                if each.event in self._events:
                    yield from self._revision(each)

    def _revision(self, record: ForecastRecord) -> Iterator[Revision]:
        place = record.judge, record.event
        judge, event, time = self._judge(*place), self._events[record.event][0], _seconds(record.time)
        stands = place in self._standing
        if record.probability is not None:
            self._standing.add(place)
            act = Act.REVISE if stands else Act.ADD
            yield Revision(act, time, judge=judge, event=event, probability=record.probability)
        elif stands:
            self._standing.discard(place)
            yield Revision(Act.WITHDRAW, time, judge=judge, event=event)

    def _new_outcomes(self) -> Iterator[Revision]:
        for each in self._store.outcomes.history(self._panel, after=self._outcome):
            self._outcome = each.id
            if each.outcome is None and each.event not in self._resolved:
                continue
            value = int(each.outcome) if isinstance(each.outcome, bool) else each.outcome
            self._resolved.discard(each.event)
            self._resolved |= set() if value is None else {each.event}
            yield Revision(Act.RESOLVE, _seconds(each.time), event=each.event, outcome=value)

    def _append(self, revision: Revision) -> None:
        store, panel = self._store, self._panel
        if revision.act == Act.ADD_LAW:
            store.laws.add(panel, str(revision.law))
        elif revision.act == Act.DROP_LAW:
            every = store.laws.list(panel)
            held = [each.id for each in every if split_statements([each.statement])[0].text == revision.law]
            if not held:
                raise NotFoundError(f"the law {revision.law!r} comes with a question: withdraw that")
            for law in held:
                store.laws.drop(law)
        elif revision.act == Act.RESOLVE:
            value = bool(revision.outcome) if revision.outcome in (0, 1) else revision.outcome
            store.outcomes.record(panel, str(revision.event), None if revision.outcome is None else value)
        else:
            answer = AnswerGiven(
                self._asked(str(revision.judge), str(revision.event)),
                revision.probability,
                withdrawn=revision.act == Act.WITHDRAW,
            )
            store.forecasts.record(str(revision.judge).split(" ")[0], [answer], phases=None)

    def _asked(self, judge: str, text: str) -> str:
        """The id of the event of a text, for a judge or a namesake."""
        twin = int(judge.split(" ")[1]) if " " in judge else 0
        found = next((event for event, one in self._events.items() if one == (text, twin)), None)
        if found is None:
            raise NotFoundError(f"the panel asks about no event {text!r}: ask the question first")
        return found


def _numbered(questions: Sequence[QuestionRecord], declared: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Each event by its id: its text, and how many events before it mean the same."""
    words = Vocabulary()
    for statement in declared:
        words.declare(declared_name(statement), statement)
    count: Counter[Key] = Counter()
    found: dict[str, tuple[str, int]] = {}
    for question in questions:
        for event in question.events:
            key = words.read(event.event).key
            found[event.id] = event.event, count[key]
            count[key] += 1
    return found


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
