"""The result: a set of forecasts and what it promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import Described
from coherently.errors import EventError, Where, counted
from coherently.events import NEVER, PackedTexts
from coherently.note_log import notes_logged
from coherently.panel import Tabled, digest, text_table, to_frame
from coherently.result.answer_index import Indexed
from coherently.result.answer_worlds import Mixture
from coherently.result.bounds import TIME_LIMIT, find_bounds
from coherently.result.bounds_table import BoundsTable
from coherently.result.record import RESULT, as_dict, read, write
from coherently.result.shown import DIGITS, rounded_changes
from coherently.solve import Global, Local
from coherently.solve.budget import asked_budget, check_time_limit
from coherently.table_views import ROWS
from coherently.values import Value

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from coherently import Influence, Report, Why
    from coherently.arrays import Indices
    from coherently.contract import Record
    from coherently.panel import Columns, Panel, Progress
    from coherently.panel.cell_table import Cells
    from coherently.problem import Loss, Problem
    from coherently.result.bounds import Bounds
    from coherently.result.record import Claimed, Recorded
    from coherently.result.shown import ShownForecasts
    from coherently.solve import Coherence, Component, Method, Signal, Solution, Status, Trace


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result(Indexed, Tabled, Value, Described):
    """What a method made of a panel.

    If the result was read from JSON, `panel` has the means of the forecasts as forecasts of one judge, named panel, and
    `claimed` has what the record says and a result would otherwise work out. Two results are equal if their records
    are.
    """

    record: ClassVar[Record] = RESULT

    panel: Panel
    method: Method | Recorded
    problem: Problem
    solution: Solution
    claimed: Claimed | None = None

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Result:
        """Read what `to_json` wrote, or `coherently aggregate --json` printed: a text, or a file by its path.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
        >>> text = co.aggregate(panel, "exact").to_json()
        >>> bool(co.verify(panel, Result.from_json(text)))
        True
        >>> co.verify(panel, Result.from_json(text.replace("optimal", "time_limit"))).problems
        ['the status is time_limit, but the gap is ..., within the tolerance']
        """
        return cls._from_plain(RESULT.read(source))

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Result:
        return cls(*read(values))

    def to_json(self) -> str:
        """Everything that the result promises, with exact numbers, for `from_json` and `coherently.verify`."""
        return write(self)

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values."""
        return as_dict(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        return self is other or self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Result: {counted(len(self.panel.written), 'event')} by {self.method.name}, {self.status}>"

    def __str__(self) -> str:
        columns, digits = self._shown_columns()
        return f"{self!r}\n{text_table(columns, digits)}"

    def _shown_columns(self) -> tuple[dict[str, Any], int]:
        """The columns of `frame`, in which the first rows are rounded together, and the number of digits."""
        columns = dict(self.columns())
        shown = self.shown(np.arange(min(ROWS, len(self.panel.written))))
        for name, values in (("probability", shown.probability), ("raw", shown.raw), ("adjustment", shown.change)):
            columns[name] = np.concatenate([values, np.asarray(columns[name], np.float64)[len(values) :]])
        return columns, shown.digits

    def _view_columns(self) -> Columns:
        """For a notebook: labels, and numbers as they are printed."""
        columns, _ = self._shown_columns()
        labels = self.panel.labels
        return columns | {"event": [labels.get(text, text) for text in self.panel.written.text]} if labels else columns

    def shown(self, units: Indices | None = None, digits: int = DIGITS) -> ShownForecasts:
        """Probabilities and raw means with few digits, for the events that are shown together (all, or by number).

        They are rounded coherently: what adds up, adds up as shown (see `coherently.result.shown`).
        """
        return rounded_changes(self.problem, self.solution.value, self.problem.mean, digits, units=units)

    @property
    def panel_sha256(self) -> str | None:
        """The digest of the panel that the result was made from; None if it had means in place of forecasts.

        That of a record is the one that it states. docs/reference/result-json.md defines the digest.
        """
        return digest(self.panel) if self.claimed is None else self.claimed.panel_sha256

    @property
    def status(self) -> Status:
        """How the method ended: a word, such as "optimal", with a `sentence`."""
        return self.solution.status

    @property
    def coherence(self) -> Coherence:
        """How far the forecasts are coherent: "global", "local" (within groups of events) or "none" (averages)."""
        return self.solution.coherence

    @property
    def loss(self) -> Loss:
        """The distance that was minimised."""
        return self.problem.loss

    @property
    def objective(self) -> float | None:
        """The weighted squared distance from the merged forecasts; None for plain averages."""
        return self.solution.objective

    @property
    def lower_bound(self) -> float | None:
        """A valid lower bound on the least possible objective; None for plain averages."""
        return self.solution.lower_bound

    @property
    def gap(self) -> float | None:
        """The objective minus the lower bound."""
        if self.claimed is not None:
            return self.claimed.gap
        if self.objective is None or self.lower_bound is None:
            return None
        return self.objective - self.lower_bound

    @property
    def guaranteed_improvement(self) -> float | None:
        """The summed Brier penalty that the answer saves in every possible world; None for plain averages."""
        return self.solution.guaranteed_improvement

    @property
    def groups(self) -> str | None:
        """The design of the groups within which the forecasts are coherent."""
        return self.solution.groups if isinstance(self.solution, Local) else None

    @property
    def sweeps(self) -> int | None:
        """The number of passes that the method made over the groups."""
        return self.solution.sweeps if isinstance(self.solution, Local) else None

    @property
    def violation(self) -> float | None:
        """The largest distance of a probability from its group's coherent set."""
        return self.solution.violation if isinstance(self.solution, Local | Global) else None

    @property
    def trace(self) -> Trace | None:
        """The answer after each sweep, if the method was asked to keep it."""
        return self.solution.trace if isinstance(self.solution, Local) else None

    @property
    def components(self) -> Sequence[Component]:
        """What was done about each independent component of the problem, if the method splits it into components."""
        return self.solution.components

    @property
    def worlds(self) -> Mixture | None:
        """The weighted worlds of which a globally coherent result consists; None for other results."""
        if not isinstance(self.solution, Global):
            return None
        return Mixture(self.solution.worlds, self.panel.events, self.problem.merged.origin)

    @property
    def conditionals(self) -> str | None:
        """How the objective counts conditionals: "called_off", "linearised" or "ratio"; None if there are none."""
        return self.solution.conditionals

    @property
    def note(self) -> str | None:
        """What a reader should know about how the answer was found."""
        return self.solution.note

    def columns(self) -> Columns:
        """The columns of `frame`."""
        raw, value = self.problem.mean, self.solution.value
        return {
            "event": _column(self.panel.written.text),
            "probability": value,
            "raw": raw,
            "weight": self.problem.weight,
            "adjustment": value - raw,
        }

    def row_columns(self) -> Columns:
        """The columns of `rows`."""
        panel = self.panel
        value = self.solution.value[self.problem.forecasts.unit]
        return {
            "judge": _pick(panel.judges, panel.judge_index),
            "event": _pick(panel.written.text, panel.event_index),
            "probability": value,
            "raw": panel.probability,
            "weight": panel.weight,
            "adjustment": value - panel.probability,
        }

    def frame(self) -> Any:
        """One row per event as written: event, probability, raw mean, weight, adjustment.

        The frame is of the library that the panel came from, else of pandas, polars or pyarrow.
        """
        return to_frame(self.columns(), self.panel.library)

    def rows(self) -> Any:
        """One row per forecast of the panel, in its order; `raw` is the judge's own number."""
        return to_frame(self.row_columns(), self.panel.library)

    def probability(self, event: str) -> float:
        """Look up an event that was forecast, however it is written or by its label, or its complement, or a constant.

        >>> import coherently as co
        >>> result = co.aggregate(co.Panel.from_records([("Ann", "p & q", 0.2)]))
        >>> result.probability("q and p"), result.probability("~p | ~q"), result.probability("p | ~p")
        (0.2, 0.8, 1.0)
        """
        reading = self.panel.events.find([self.panel.text_of(event)])
        if reading.faults:
            raise reading.faults[0].error(f"{event!r}: {reading.faults[0]}")
        side, condition, rest = reading.sides[0].tolist()
        written = self.panel.written
        value = self.solution.value
        for wanted, turn in ((side, False), (rest, True)):
            match = np.flatnonzero((written.event == wanted) & (written.condition == condition))
            if len(match):
                found = float(value[match[0]])
                return 1.0 - found if turn else found
        if side == NEVER or 0 <= side == condition:
            return float(side != NEVER)
        raise EventError(
            f"nobody forecast {event!r} or its complement; frame() lists the {len(written):,} forecast events"
            f", and result.bounds({event!r}) gives what they imply for it",
            code="unknown-event",
            where=Where(event=event),
        )

    def proof(self) -> bytes:
        """A proof that no coherent forecasts are nearer, for `coherently.proofcheck`, as the bytes of a file.

        The result must be that of an exact method, made with `proof=True`: without that, planes are taken at the
        answer, which is too weak for pins, for large components and where conditions vanish.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
        >>> result = co.aggregate(panel, "exact", proof=True)
        >>> co.verify(panel, result, proof=result.proof()).bound_rests_on
        ['proved by elimination']
        """
        from coherently.result.proof_file import write_proof

        return write_proof(self)

    def implied_proof(
        self, events: Sequence[str] = (), *, saving: bool = True, time_limit: float = TIME_LIMIT
    ) -> bytes:
        """A proof of what the result implies, for `coherently.proofcheck`, as the bytes of a file.

        Proved are the `bounds` of events, each looser by 1e-7, and with `saving` the guaranteed improvement, where
        there is one. `time_limit` is in seconds, for all events.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "p", 0.7), ("Bob", "q", 0.6), ("Bob", "p & q", 0.65)])
        >>> result = co.aggregate(panel, "exact")
        >>> for claim in co.verify(panel, result, proof=result.implied_proof(["p | q"])).proved:
        ...     print(claim)
        the result implies that the probability of 'p | q' is at least 0.6999998...
        the result implies that the probability of 'p | q' is at most 0.7000001...
        the result saves at least 0.001249... of the Brier penalty of the forecasts in every world
        """
        from coherently.result.claim_proofs import implied_proof

        check_time_limit(time_limit)
        saving = saving and self.guaranteed_improvement is not None
        return implied_proof(self, events, saving=saving, budget=asked_budget(None, None).within(time_limit))

    def anonymous(self) -> Result:
        """The same result of a panel whose judges are letters, for others to read: Judge A, Judge B.

        >>> import coherently as co
        >>> result = co.aggregate(co.Panel.from_records([("Zoe", "p", 0.7), ("Ann", "p", 0.4)]))
        >>> bool(co.verify(result.panel.anonymous(), result.anonymous()))
        True
        """
        from coherently.panel.anonymous import lettering

        note = self.solution.note
        solution = replace(self.solution, note=None if note is None else lettering(self.panel)(note))
        return replace(self, panel=self.panel.anonymous(), solution=solution)

    def report(
        self,
        *,
        title: str | None = None,
        about: str | None = None,
        anonymous: bool = False,
        time_limit: float = 10.0,
    ) -> Report:
        """One page about the result, to read and share: `report.save("page.html")`, or .pdf where a browser is there.

        `about` is the event that the page is about, as written or by its label; by default the first that a conditional
        is about, else the first. With `anonymous=True` judges are letters, and their names are nowhere on the page.
        `time_limit` is for the check of the panel that the page shows, in seconds.
        """
        import coherently

        return coherently.Report.of(self, title=title, about=about, anonymous=anonymous, time_limit=time_limit)

    @notes_logged(lambda found: [found.note])
    def bounds(
        self,
        event: str,
        time_limit: float = TIME_LIMIT,
        *,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> Bounds:
        """The tightest interval that coherence with this result implies for any event or conditional, forecast or not.

        The result must be globally coherent. The two numbers are the least and the greatest probability over all
        distributions over possible worlds that obey laws and pins and agree with the result on every forecast that has
        weight; where the result lies inside a judge's interval, any probability in this interval agrees. Forecasts
        conditional on an event that is impossible in the answer (below 1e-6) are left out. The bounds of a conditional
        are over those distributions that make its condition possible; `note` says if others do not, or if none does.

        If `certified`, both numbers are proved and reached, to within 1e-7. Otherwise they hold, but tighter ones may
        exist, and `note` says why: the proof took more than `time_limit` seconds, the events are too large for a proof,
        or forecasts that were left out would make a difference.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "p", 0.7), ("Bob", "q", 0.6)])
        >>> low, high = co.aggregate(panel, "exact").bounds("p & q")
        >>> round(low, 6), round(high, 6)
        (0.3, 0.6)
        >>> low, high = co.aggregate(panel, "exact").bounds("q given p")
        >>> round(low, 6), round(high, 6)
        (0.428571, 0.857143)
        """
        return find_bounds(self, event, time_limit, asked_budget(progress, cancel)).about(event)

    def bounds_table(
        self,
        events: Sequence[str],
        time_limit: float = TIME_LIMIT,
        *,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> BoundsTable:
        """The `bounds` of several events, each in `time_limit` seconds; `progress` gets the fraction that is done."""
        pairs: list[Bounds] = []
        for event in events:
            pairs.append(self.bounds(event, time_limit, cancel=cancel))
            if progress is not None:
                progress(len(pairs) / len(events))
        return BoundsTable(self.status, self.coherence, self.method.name, tuple(pairs))

    @notes_logged(lambda found: [found.note])
    def influence(
        self,
        largest: int | None = 24,
        *,
        without: Sequence[str] = (),
        time_limit: float = 60.0,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> Influence:
        """What each judge, each question and each law moves: the result without it, for every event.

        All are ranked by estimates, to first order. The `largest` of each kind (None: all) are left out exactly: for
        results of the methods auto and exact, only what that touches is solved again; for any other method, the whole
        panel. Weights of judges stay as they are. After `time_limit` seconds, the rest has estimates alone.

        With `without`, these judges, events and laws (see `co.Panel.without`) are left out together, and nothing else.

        The table also has derivatives, for the methods auto and exact: how each event moves with the forecasts of
        each, as long as no possible world comes into the answer or leaves it.

        >>> import coherently as co
        >>> rows = [("Ann", "delay", 0.3), ("Finn", "delay", 0.4), ("Finn", "delay & overrun", 0.45)]
        >>> table = co.aggregate(co.Panel.from_records(rows)).influence()
        >>> table.of_kind("judge")[0].name, table.of_kind("judge")[0].change.round(3).tolist()
        ('Finn', [-0.083, nan])
        >>> print(co.aggregate(co.Panel.from_records(rows)).influence(without=["Ann"]))
        Without Ann, 2 of 2 numbers move, the most by 4.2 points.
        """
        import coherently  # the room that explains lies above this one

        return coherently.Influence.of(
            self, largest=largest, without=without, time_limit=time_limit, progress=progress, cancel=cancel
        )

    @notes_logged(lambda found: [found.note])
    def why(
        self,
        event: str,
        largest: int = 24,
        *,
        time_limit: float = 60.0,
        progress: Progress | None = None,
        cancel: Signal | None = None,
    ) -> Why:
        r"""Why an event has its probability: which judges, questions and laws move it, and through which relations.

        The event must have been forecast, or its complement. The options are those of `influence`.

        >>> import coherently as co
        >>> rows = [("Ann", "delay", 0.3), ("Finn", "delay", 0.4), ("Finn", "delay & overrun", 0.45)]
        >>> why = co.aggregate(co.Panel.from_records(rows)).why("delay")
        >>> print(str(why).replace("\xa0", " "))
        Delay is 38 %. The mean of its forecasts is 35 %; what it is tied to raised it by 3.3 points.
        Delay & overrun (45 %) cannot be likelier than delay (35 %): if it comes true, so does the other.
        Without the answers on delay & overrun (mean 45 %) it would be 35 %.
        Without Finn it would be 30 %. Finn said 40 %, the mean of the others is 30 %.
        Without Ann it would be 43 %. Ann said 30 %, the mean of the others is 40 %.
        """
        import coherently  # the room that explains lies above this one

        return coherently.Why.of(self, event, largest=largest, time_limit=time_limit, progress=progress, cancel=cancel)


def _column(texts: Sequence[str]) -> Cells:
    return texts if isinstance(texts, PackedTexts) else list(texts)


def _pick(texts: Sequence[str], index: NDArray[np.int32]) -> Cells:
    if isinstance(texts, PackedTexts):
        return texts.pick(index)
    return [texts[i] for i in index.tolist()]
