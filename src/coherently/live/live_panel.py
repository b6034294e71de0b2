"""A panel that changes all day and stays coherent."""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.errors import MethodError, PanelError, counted
from coherently.live.assembly import Dress, fill, numbers_of, panel_of
from coherently.live.journal import Journal
from coherently.live.kept.file_journal import FileJournal
from coherently.live.kept.stored import (
    load_ledger,
    load_rules,
    read_snapshot,
    store_ledger,
    store_rules,
    write_snapshot,
)
from coherently.live.ledger import Contents, Ledger, standing_at
from coherently.live.published.current import Current
from coherently.live.published.edition import Rules
from coherently.live.recorder import Recorder
from coherently.live.revision import Act, read_forecast, read_name, read_outcome, read_time
from coherently.live.workshop import Workshop
from coherently.panel import Panel
from coherently.problem import find_loss, unit_of
from coherently.result import aggregate
from coherently.solve import Auto, Exact, choose
from coherently.viewed import Viewed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from coherently.live.published.listeners import Listener
    from coherently.problem import Loss
    from coherently.result import Result
    from coherently.solve import Method


class LivePanel(Viewed):
    """A panel whose forecasts, laws and outcomes change, and whose answers are kept coherent.

    Only the components that a revision touches are solved again: in a thread (`background`), or in `settle`.
    `current()` gives the last answers at once. `method` is "auto" or "exact", or such a method with options: each
    component has the nearest coherent forecasts, or the best that were found within the time limit, with their gap.
    With a `log`, a revision is on the disk before the call returns, and `LivePanel.open` brings everything back.

    >>> import coherently as co
    >>> live = co.LivePanel(co.Panel.from_records([("Ann", "rain", 0.6), ("Bob", "rain & wind", 0.7)]))
    >>> round(live.settle().probability("rain"), 3)
    0.65
    >>> live.revise("Bob", "rain & wind", 0.2)
    1
    >>> now = live.settle()
    >>> now.probability("rain"), now.is_settled, now.result().status
    (0.6, True, 'optimal')
    >>> live.close()
    """

    def __init__(
        self,
        panel: Panel | None = None,
        method: str | Method = "auto",
        loss: str | Loss = "brier",
        *,
        log: str | os.PathLike[str] | None = None,
        background: bool = True,
    ) -> None:
        if panel is not None and not isinstance(panel, Panel):
            raise PanelError(f"LivePanel needs a Panel, or nothing, found {type(panel).__name__}")
        chosen, measure = choose(method), find_loss(loss)
        _exact(chosen, measure)
        ledger, dress = Ledger(), Dress()
        if panel is not None:
            fill(ledger, panel)
            dress = Dress(panel.labels, panel.library)
        journal = None
        if log is not None:
            stored = store_ledger(ledger.items(), ledger.past, ledger.places, dress)
            journal = FileJournal.create(log, {**store_rules(chosen, measure), "panel": stored})
        self._begin(ledger, dress, chosen, measure, journal)
        self._recorder.go_on(background=background)

    @classmethod
    def open(cls, log: str | os.PathLike[str] | Journal, *, background: bool = True) -> Self:
        """Go on with a log: all that was acknowledged is there again; `note` says if anything was cut off.

        `log` is a file, or any journal: an object with `identity`, `begin`, `read`, `append` and `close`, which may
        have other writers too; `catch_up` does what they recorded.
        """
        journal = log if isinstance(log, Journal) else FileJournal.open(log)
        live = cls.__new__(cls)
        with _closed_if_it_fails(journal):
            start = journal.begin()
            live._begin(start.ledger, start.dress, start.method, start.loss, journal)
            live.note = start.note
            live._recorder.go_on(background=background)
        return live

    @classmethod
    def restore(
        cls, snapshot: str | os.PathLike[str], *, log: str | os.PathLike[str] | None = None, background: bool = True
    ) -> Self:
        """Go on from a snapshot, with the revisions that its log has after it; a log that does not exist is begun."""
        values = read_snapshot(snapshot)
        method, loss = load_rules(values)
        ledger, dress = load_ledger(values["panel"])
        live = cls.__new__(cls)
        if log is None or not Path(log).exists():
            head = {**store_rules(method, loss), "panel": values["panel"]}
            live._begin(ledger, dress, method, loss, None if log is None else FileJournal.create(log, head))
            live._recorder.go_on(background=background)
            return live
        journal, done = FileJournal.open(log), values["revision"]
        with _closed_if_it_fails(journal):
            if values["log"] != journal.identity or journal.waiting < done:
                raise PanelError(
                    f"{log} is not the log of the snapshot {snapshot}, which took in {done:,} revisions of it; "
                    f"name that log, or a file that does not exist to begin a new one"
                )
            journal.skip(done)
            live._begin(ledger, dress, method, loss, journal, revisions=done)
            live.note = journal.note
            live._recorder.go_on(background=background)
        return live

    def add(
        self,
        judge: str,
        event: str,
        probability: float | str | None = None,
        *,
        weight: float = 1.0,
        lower: float | str | None = None,
        upper: float | str | None = None,
        time: object = None,
    ) -> int:
        """Add a forecast of an event that the judge has not forecast; returns the number of the revision.

        An interval has `lower` and `upper`. `time` is a number, a `datetime` or an ISO date; by default it is now, in
        seconds since 1970. Times may not go back.
        """
        return self._recorder.record(
            Act.ADD, time, **read_forecast(judge, event, probability, weight, lower=lower, upper=upper)
        )

    def revise(
        self,
        judge: str,
        event: str,
        probability: float | str | None = None,
        *,
        weight: float | None = None,
        lower: float | str | None = None,
        upper: float | str | None = None,
        time: object = None,
    ) -> int:
        """Change a judge's forecast of an event; its weight stays unless one is given."""
        return self._recorder.record(
            Act.REVISE, time, **read_forecast(judge, event, probability, weight, lower=lower, upper=upper)
        )

    def withdraw(self, judge: str, event: str, *, time: object = None) -> int:
        """Take a judge's forecast of an event back."""
        return self._recorder.record(
            Act.WITHDRAW, time, judge=read_name(judge, "judge"), event=read_name(event, "event")
        )

    def resolve(self, event: str, outcome: object, *, time: object = None) -> int:
        """Say how an event, or a declared variable, came out; None takes that back.

        Outcomes are for scores, `co.score(live.panel())`: as in every panel, they do not change the answers.
        """
        return self._recorder.record(Act.RESOLVE, time, event=read_name(event, "event"), outcome=read_outcome(outcome))

    def add_law(self, law: str, *, time: object = None) -> int:
        """Add a law: a formula, a declaration of a variable, or a pin such as P(rain) <= 0.4."""
        return self._recorder.record(Act.ADD_LAW, time, law=read_name(law, "law"))

    def drop_law(self, law: str, *, time: object = None) -> int:
        """Drop a law, as it was written."""
        return self._recorder.record(Act.DROP_LAW, time, law=read_name(law, "law"))

    def catch_up(self) -> int:
        """Do what others recorded in the journal since it was read last; returns the number of revisions."""
        return self._recorder.catch_up()

    def current(self) -> Current:
        """The last answers, at once, and what is still being solved."""
        return Current(self._workshop, self.method, self._dress)

    def settle(self, timeout: float | None = None) -> Current:
        """Wait until every revision is in the answers, at most `timeout` seconds, and give the answers of then."""
        self._workshop.settle(timeout)
        return self.current()

    def panel(self) -> Panel:
        """What stands now, as an ordinary panel."""
        with self._workshop.lock:
            items = self._workshop.ledger.items()
        return panel_of(Contents.of(items), self._dress)

    def as_of(self, time: object) -> Result:
        """The panel as it stood at a time, solved."""
        moment = read_time(time)
        with self._workshop.lock:
            items, past = self._workshop.ledger.items(), list(self._workshop.ledger.past)
        contents = standing_at(moment, items, past)
        if not contents.forecasts:
            raise PanelError(f"no forecast stood at the time {time}")
        return aggregate(panel_of(contents, self._dress), self.method, self._workshop.rules.loss)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a function with each `Change`, after new answers are there; returns a function that ends this.

        It is called in the thread that solves. If it raises an error, that is logged, and the panel goes on.
        """
        return self._workshop.listeners.add(listener)

    def snapshot(self, path: str | os.PathLike[str]) -> None:
        """Write all that stands and stood to one file, for `restore`; an existing file is replaced whole."""
        workshop, identity = self._workshop, self._recorder.identity
        with workshop.lock:
            ledger, revision = workshop.ledger, workshop.revisions
            items, past, places = ledger.items(), list(ledger.past), ledger.places
        rules, stored = store_rules(self.method, workshop.rules.loss), store_ledger(items, past, places, self._dress)
        write_snapshot(path, {**rules, "panel": stored, "revision": revision, "log": identity})

    def close(self) -> None:
        """End the thread and close the log; `current()` still gives the last answers."""
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        with self._workshop.lock:
            size, revisions, stale = self._workshop.ledger.size, self._workshop.revisions, len(self._workshop.stale)
        said = f"{counted(size, 'forecast')} after {counted(revisions, 'revision')}"
        return f"<LivePanel: {said}, {counted(stale, 'component')} being solved>"

    def _begin(
        self, ledger: Ledger, dress: Dress, method: Method, loss: Loss, journal: Journal | None, *, revisions: int = 0
    ) -> None:
        unit = unit_of(numbers_of(Contents.of(ledger.items()).forecasts)["weight"])
        self.method, self._dress = method, dress
        self.note: str | None = None
        """What was cut off at the end of the log when it was opened, if anything."""
        self._workshop = Workshop(ledger, Rules(_exact(method, loss), loss, unit), revisions)
        self._recorder = Recorder(self._workshop, journal)
        weakref.finalize(self, self._recorder.let_go)


@contextmanager
def _closed_if_it_fails(journal: Journal) -> Iterator[None]:
    """Close a journal if what is done with it fails, so that another may open it."""
    try:
        yield
    except BaseException:
        journal.close()
        raise


def _exact(method: Method, loss: Loss) -> Exact:
    """The method by which components are solved."""
    if isinstance(method, Auto):
        return Exact(method.tolerance, method.time_limit, method.seed)
    if not isinstance(method, Exact):
        raise MethodError(
            f"a live panel is solved component by component: method may be auto or exact, not {method.name}"
        )
    if method.conditionals == "linearised" and not loss.is_quadratic:
        raise MethodError(f"linearised conditionals need the loss brier, not {loss.name}")
    return method
