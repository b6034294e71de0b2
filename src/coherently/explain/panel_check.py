"""Who contradicts what: coherence of each judge and of the panel's means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import TEXT, ListOf, ObjectOf, OneWord, Record, RecordField, Worked
from coherently.engine import opened
from coherently.engine.threads import count_threads
from coherently.errors import PanelError, counted
from coherently.explain.allowance import Allowance
from coherently.explain.bets.bets import bets_at_forecasts, bets_at_means, bets_of_judges, event_means, stated, usable
from coherently.explain.bets.conditions import taken_alone
from coherently.explain.findings import (
    EXPLANATION_FIELDS,
    NAME,
    TOLD_BOOK,
    VERDICT_FIELDS,
    Finding,
    verdict_of,
    verdict_values,
)
from coherently.explain.rounding_slack import half_units
from coherently.explain.time_shares import nearest_in_time
from coherently.explain.verdicts import CheckStatus, Court, together
from coherently.note_log import notes_logged
from coherently.panel import Tabled, to_frame
from coherently.panel.weights import with_weights
from coherently.solve.budget import check_time_limit
from coherently.values import Value, alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector
    from coherently.engine import Engine
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.bets.dutch import Book
    from coherently.explain.verdicts import Verdict
    from coherently.panel import Columns, Panel, Progress
    from coherently.panel.weights import Weights
    from coherently.proposals.law_files import LawOrigin
    from coherently.solve import Budget, Signal

TIME_LIMIT = 20.0
WORST = 100
"""Maximum number of judges whose contradictions are in the plain values of a check."""
MEANS, JUDGES = 0.25, 0.85
"""The part of the time left that the panel's means, and then the judges, may take; the rest is for later requests."""
REFINING = 0.4
"""The part of all the time after which distances that are known well enough are not refined."""
SOLVING = 0.9
"""The part of it after which undecided judges are searched for broken relations."""


@dataclass(frozen=True, slots=True, eq=False)
class Case(Value):
    """What was found about the bets of one owner: nearest coherent prices, and those where a condition is granted."""

    answers: Sequence[NearestPrices]
    alone: Sequence[Alone]
    verdict: Verdict

    def among(self, own: Indices) -> Case:
        """The same with only the owner's bets, which had these numbers among all."""
        answers = [
            replace(answer, cluster=replace(answer.cluster, bets=np.searchsorted(own, answer.cluster.bets)))
            for answer in self.answers
        ]
        alone = [replace(one, source=np.searchsorted(own, one.source)) for one in self.alone]
        return Case(answers, alone, self.verdict)


@dataclass(frozen=True, slots=True, eq=False)
class JudgeCases(Value):
    """What the findings about judges are made of.

    `slack` has an entry per forecast and `cases` one per judge, whose place is in `position`; `rows` lists the
    forecasts judge by judge, and `starts` where those of each begin.
    """

    panel: Panel
    slack: Vector
    cases: Sequence[Case]
    position: Mapping[str, int]
    rows: Indices
    starts: Indices

    @staticmethod
    def of(panel: Panel, slack: Vector, cases: Sequence[Case]) -> JudgeCases:
        """Find the forecasts of each judge."""
        counts = np.bincount(panel.judge_index, minlength=len(panel.judges))
        rows = np.argsort(panel.judge_index, kind="stable")
        position = {name: i for i, name in enumerate(panel.judges)}
        return JudgeCases(
            panel=panel,
            slack=slack,
            cases=cases,
            position=position,
            rows=rows,
            starts=np.concatenate([[0], np.cumsum(counts)]),
        )

    def own(self, i: int) -> Indices:
        """The forecasts of one judge."""
        return self.rows[self.starts[i] : self.starts[i + 1]]

    def finding(self, i: int, allowance: Allowance) -> Finding:
        """The finding about one judge."""
        own = self.own(i)
        bets = stated(self.panel.select(own), bets_at_forecasts)
        return _finding(self.panel.judges[i], bets, self.slack[own], self.cases[i].among(own), allowance=allowance)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judges(Mapping[str, Finding]):
    """The finding of each judge by name.

    `forecasts`, `tolerances` and `verdicts` have one entry per judge. Findings are made when they are first asked for;
    those that were read from JSON are there from the beginning, and there is no `_origin`.
    """

    names: tuple[str, ...]
    forecasts: NDArray[np.int64]
    tolerances: Vector
    verdicts: Sequence[Verdict]
    _origin: JudgeCases | None
    _allowance: Allowance
    _findings: dict[str, Finding] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Finding:
        if name not in self._findings:
            if self._origin is None:
                raise KeyError(name)
            self._findings[name] = self._origin.finding(self._origin.position[name], self._allowance)
        return self._findings[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Judges):
            return NotImplemented
        return alike(self.columns(), other.columns())

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Judges: {self.count(CheckStatus.INCOHERENT):,} of {len(self):,} incoherent>"

    def count(self, status: CheckStatus) -> int:
        """How many judges have this status."""
        return sum(verdict.status is status for verdict in self.verdicts)

    @property
    def unfinished(self) -> int:
        """How many judges were not decided in time, or are incoherent by a distance that was not proved in time."""
        return sum(not verdict.finished for verdict in self.verdicts)

    @property
    def cut(self) -> int:
        """How many of these would be known better with more time; of the others no method knows more."""
        return sum(verdict.cut and not verdict.finished for verdict in self.verdicts)

    @property
    def tolerance(self) -> float:
        """The largest rounding error of a forecast among the judges that rounding explains; 0 if there are none."""
        explained = [i for i, verdict in enumerate(self.verdicts) if verdict.status is CheckStatus.ROUNDING]
        return float(self.tolerances[explained].max(initial=0.0))

    def order(self) -> list[int]:
        """The numbers of the judges: contradictions first, proved distances before others, the greatest first."""
        return sorted(range(len(self)), key=lambda i: self.verdicts[i].rank)

    def worst(self, count: int) -> list[str]:
        """The names of the incoherent judges that are farthest from coherence."""
        bad = (i for i in self.order() if self.verdicts[i].status is CheckStatus.INCOHERENT)
        return [self.names[i] for i in islice(bad, count)]

    def explained(self, count: int) -> dict[str, Finding]:
        """The findings about these judges whose contradictions can be named in the time that is left; always the first.

        What is asked after the time is over still has a moment, so that a hundred judges would have a hundred. Of what
        was read from JSON there is what was told.
        """
        named: dict[str, Finding] = {}
        for name in self.worst(count):
            finding = self[name]
            if not finding.is_explained and (self._origin is None or (named and self._allowance.left <= 0.0)):
                break
            _ = finding.contradictory  # found now, in the time that is left, and kept
            named[name] = finding
        return named

    def reasons(self, findings: Mapping[str, Finding]) -> dict[str, dict[str, Any]]:
        """What explains some findings, in plain values: what is known of them, and more while there is time."""
        known = {}
        for name, finding in findings.items():
            if finding.is_fully_explained or self._allowance.left > 0.0:
                known[name] = finding.explanation_values()
        return known

    def columns(self) -> Columns:
        """The columns of `Check.frame`."""
        every = self.verdicts
        return {
            "judge": list(self.names),
            "forecasts": self.forecasts,
            "status": [str(verdict.status) for verdict in every],
            "coherent": [verdict.coherent for verdict in every],
            "distance": np.array([verdict.distance for verdict in every]),
            "distance_low": np.array([verdict.distance_low for verdict in every]),
            "distance_high": np.array([verdict.distance_high for verdict in every]),
            "proved": [verdict.proved for verdict in every],
            "guaranteed_improvement": np.array([v.guaranteed_improvement for v in every], np.float64),
        }


def _strengths() -> list[str]:
    """The classes of proposals; the room of proposals is loaded when it is needed."""
    from coherently.proposals.proposal import Strength

    return [str(one) for one in Strength]


ORIGIN_FIELDS = (
    RecordField("law", TEXT, "the law, as written"),
    RecordField("strength", OneWord(_strengths), "the class of the proposal"),
    RecordField("rule", TEXT, "the rule that proposed it"),
    RecordField("accepted_by", TEXT, "who accepted it, and when"),
)
JUDGE_FIELDS = (RecordField("judge", TEXT, "the name of the judge"), *VERDICT_FIELDS, *EXPLANATION_FIELDS)
CHECK = Record(
    "check",
    3,
    "Who contradicts what (`co.check`, `coherently check --json`): what is found about the panel's means and judges.",
    (
        NAME,
        *VERDICT_FIELDS,
        *EXPLANATION_FIELDS,
        TOLD_BOOK,
        RecordField(
            "judges",
            ListOf(ObjectOf("a judge", JUDGE_FIELDS)),
            f"one object per judge; the contradictions of the {WORST} worst are named, as far as there is time",
        ),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
        RecordField(
            "origins",
            ListOf(ObjectOf("an origin", ORIGIN_FIELDS)),
            "where laws come from, as the comments in their file say (`coherently relate`); left out if none say it",
            optional=True,
            since=3,
        ),
    ),
)
"""Version 1 has contradictions in symbols alone, version 2 lacks the laws that they rest on, and their origins."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Check(Tabled, Worked):
    """Findings about a panel: of each judge in `judges`, and of the panel's means, as written, in `means`.

    `coherent`, `distance`, `guaranteed_improvement`, `contradictions` and `book` are those of the means. The means of
    one judge are its forecasts, one by one.

    >>> import coherently as co
    >>> found = co.check(co.Panel.from_records([("Ann", "p", 0.2), ("Ann", "p & q", 0.3)]))
    >>> again = Check.from_json(found.to_json())
    >>> again == found, again.judges["Ann"].contradictions
    (True, ('P(p & q) = 0.30 is above P(p) = 0.20',))
    """

    record: ClassVar[Record] = CHECK

    panel: Panel
    judges: Judges
    means: Finding
    notes: tuple[str, ...]
    origins: Mapping[str, LawOrigin] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Check: {self.judges.count(CheckStatus.INCOHERENT):,} of {counted(len(self.judges), 'judge')} incoherent>"
        )

    @property
    def status(self) -> CheckStatus:
        """What is known of the panel's means: coherent, incoherent, rounding or undecided."""
        return self.means.status

    @property
    def coherent(self) -> bool | None:
        """Whether the panel's means are coherent, but for rounding; None where that was not decided in time."""
        return self.means.coherent

    @property
    def distance(self) -> float:
        """The distance of the panel's means from the nearest coherent forecasts that were found."""
        return self.means.distance

    @property
    def guaranteed_improvement(self) -> float | None:
        """The summed Brier penalty of the panel's means that the nearest coherent forecasts save whatever happens."""
        return self.means.guaranteed_improvement

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The worst contradictions among the panel's means."""
        return self.means.contradictions

    @property
    def book(self) -> Book:
        """Bets at the panel's means that win whatever happens; false if there are none."""
        return self.means.book

    def proof_file(self, panel: Panel, weights: Weights | None = None) -> bytes:
        """A proof for `coherently.proofcheck`, as the bytes of a file: of all distances, and of the means' book.

        `panel` and `weights` are those that were checked. The nearest coherent forecasts are found again, and proved.

        >>> import coherently as co
        >>> panel = co.Panel.from_records([("Ann", "p", 0.2), ("Ann", "p & q", 0.3)])
        >>> co.verify(panel, proof=co.check(panel).proof_file(panel)).proved[0]
        "forecasts of 'Ann' are 0.07071... to 0.070710679 from coherent ones"
        """
        from coherently.explain.bet_proofs import check_proof

        return check_proof(self.judges.names, self.book, panel, weights)

    @property
    def incoherent(self) -> bool:
        """Whether any judge, or the panel's means, were found incoherent by more than rounding."""
        return self.judges.count(CheckStatus.INCOHERENT) > 0 or self.coherent is False

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return self.judges.columns()

    def _view_columns(self) -> Columns:
        """For a notebook: the judges, contradictions first."""
        order, every = self.judges.order(), self.columns()
        kept = ("judge", "forecasts", "status", "distance")
        columns = {name: every[name] for name in kept}
        return {
            name: column[order] if isinstance(column, np.ndarray) else [column[i] for i in order]
            for name, column in columns.items()
        }

    def _plain(self) -> dict[str, Any]:
        # Contradictions come first, of the means and of all judges: what explains them may take the time that is left.
        if not self.means.is_retold:
            _ = self.means.contradictory
        self.judges.explained(WORST)
        told = {**self.means._plain(), "judges": self._judge_rows(), "notes": [*self.notes, *self._silence()]}
        if self.origins:
            told["origins"] = [
                {"law": law, "strength": str(one.strength), "rule": one.rule, "accepted_by": one.accepted_by}
                for law, one in self.origins.items()
            ]
        return told

    def _judge_rows(self) -> list[dict[str, Any]]:
        """What is told of each judge, with contradictions of the worst, and what explains them while there is time."""
        judges, explained = self.judges, self.judges.explained(WORST)
        reasons = judges.reasons(explained)
        rows = []
        for i, (name, verdict) in enumerate(zip(judges.names, judges.verdicts, strict=True)):
            said: list[str] | None = None if verdict.status is CheckStatus.INCOHERENT else []
            if name in explained:
                said = list(explained[name].contradictions)
            told = verdict_values(verdict, int(judges.forecasts[i]), float(judges.tolerances[i]))
            rows.append({"judge": name, **told, "contradictions": said, **reasons.get(name, {})})
        return rows

    def _silence(self) -> list[str]:
        """A note on judges whose contradictions nobody looked for; a check that was read has it among its notes."""
        silent = 0 if self.is_retold else len(self.judges.worst(WORST)) - len(self.judges.explained(WORST))
        return [f"judges whose contradictions were not looked for, as the time was over: {silent:,}"] if silent else []

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Check:
        rows = [Finding._from_plain({"name": row["judge"], **row}) for row in values["judges"]]
        judges = Judges(
            names=tuple(finding.name for finding in rows),
            forecasts=np.array([finding.forecasts for finding in rows], np.int64),
            tolerances=np.array([finding.tolerance for finding in rows], np.float64),
            verdicts=[verdict_of(finding) for finding in rows],
            _origin=None,
            _allowance=Allowance(0.0),
            _findings={finding.name: finding for finding in rows},
        )
        from coherently.proposals.law_files import LawOrigin
        from coherently.proposals.proposal import Strength

        origins = {
            row["law"]: LawOrigin(Strength(row["strength"]), row["rule"], row["accepted_by"])
            for row in values.get("origins", ())
        }
        means = Finding._from_plain({name: value for name, value in values.items() if name != "origins"})
        return cls._retold(judges=judges, means=means, notes=tuple(values["notes"]), origins=origins)

    def frame(self) -> Any:
        """One row per judge: judge, forecasts, status, coherent, the distance and its bounds, and what is saved."""
        return to_frame(self.columns(), None if self.is_retold else self.panel.library)


@notes_logged(lambda found: found.notes)
def check(
    panel: Panel,
    *,
    weights: Weights | None = None,
    time_limit: float = TIME_LIMIT,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Check:
    """Find out which judges contradict themselves, how far they are from coherence, and by which forecasts.

    Distances are Euclidean, over the forecasts as given, each counted once: the root of the sum of squared differences
    from the nearest coherent forecasts. Up to 1e-9 counts as coherent, and what the decimals of a judge's numbers
    explain, if they are 3 or more, as rounding. If the panel has columns lower and upper, these are checked: they are
    coherent if some coherent forecasts lie within all of them.

    `weights` says how much each judge counts in the means (see `co.aggregate`). `time_limit` is in seconds, for all
    judges, the panel's means, and the books and contradictions on request, together. A judge for whom it is too
    short is `undecided`, or has a distance between two bounds; a distance counts as known if it is proved to 0.1%.
    `threads` is the number of threads, by default one per processor; the answer is the same. `progress` is called
    with the fraction of the judges' work that is done; `cancel`, a `threading.Event` that another thread sets, ends
    the work as the time limit does. `engine` is where independent parts of judges are worked on, other than
    conditional forecasts and quotes (see `co.aggregate`).

    >>> import coherently as co
    >>> rows = [("Bob", "p", 0.6), ("Bob", "p & q", 0.1), ("Chris", "q", 0.0), ("Chris", "p & q", 0.6)]
    >>> found = co.check(co.Panel.from_records(rows))
    >>> found.judges["Bob"].coherent, found.judges["Chris"].coherent
    (True, False)
    >>> found.judges["Chris"].contradictions, round(found.judges["Chris"].distance ** 2, 6)
    (('P(p & q) = 0.60 is above P(q) = 0.00',), 0.18)
    >>> found.coherent, found.contradictions
    (False, ('P(p & q) = 0.35 is above P(q) = 0.00',))
    """
    panel, said = with_weights(panel, weights)
    with opened(engine) as executor:
        panel, notes, allowance = _begun(panel, time_limit, threads, cancel, engine=executor)
        # The means come first: they are one piece of work, and the judges, who are many, have all that it leaves.
        means = _means(panel, allowance) if len(panel.judges) > 1 else None
        judges = _judges(panel, allowance, progress)
        allowance.leave_engine()
    if means is None:  # the means of one judge are its forecasts, one by one
        means = judges[panel.judges[0]]
    return Check(panel, judges, means, said + notes + _notes(judges))


def check_judges(panel: Panel, *, time_limit: float) -> Judges:
    """The findings about the judges only, as `check` has them."""
    panel, _, allowance = _begun(panel, time_limit)
    return _judges(panel, allowance)


def _begun(
    panel: Panel,
    time_limit: float,
    threads: int | None = None,
    cancel: Signal | None = None,
    engine: Executor | None = None,
) -> tuple[Panel, tuple[str, ...], Allowance]:
    """The forecasts that can be checked, notes on what was left out, and the time."""
    check_time_limit(time_limit)
    panel, notes = usable(panel)
    if not len(panel):
        raise PanelError("no forecast is left to check: " + "; ".join(notes))
    return panel, notes, Allowance(time_limit, count_threads(threads), cancel, engine)


def _judges(panel: Panel, allowance: Allowance, progress: Progress | None = None) -> Judges:
    slack = half_units(panel)
    cases = _examined(stated(panel, bets_of_judges), slack, allowance, JUDGES, progress=progress)
    origin = JudgeCases.of(panel, slack, cases)
    tolerances = np.zeros(len(panel.judges))
    np.maximum.at(tolerances, panel.judge_index, slack)
    verdicts = [case.verdict for case in cases]
    return Judges(
        names=panel.judges,
        forecasts=np.diff(origin.starts),
        tolerances=tolerances,
        verdicts=verdicts,
        _origin=origin,
        _allowance=allowance,
    )


def _means(panel: Panel, allowance: Allowance) -> Finding:
    """The finding about the panel's means."""
    # A mean is off by at most the mean of the rounding errors of its forecasts.
    bets, slack = stated(panel, bets_at_means), event_means(panel, half_units(panel))
    return _finding("panel", bets, slack, _examined(bets, slack, allowance, MEANS)[0], allowance=allowance)


def _examined(
    bets: Bets, slack: Vector, allowance: Allowance, share: float, progress: Progress | None = None
) -> list[Case]:
    """Find the nearest coherent prices in a share of the time, and judge what is known: one case per judge."""
    with allowance.spend(share) as budget:
        refined = budget.within(allowance.left - (1.0 - REFINING) * allowance.seconds)
        answers = nearest_in_time(bets, budget.share(SOLVING), refined, allowance.threads, progress=progress)
        return _judged(bets, slack, answers, budget)


def _judged(bets: Bets, slack: Vector, answers: Sequence[NearestPrices], budget: Budget) -> list[Case]:
    alone = taken_alone(bets, answers, budget)
    court, owner = Court(bets, slack, budget), bets.panel.judge_index
    own: list[tuple[list[NearestPrices], list[Alone], list[Verdict]]] = [([], [], []) for _ in bets.panel.judges]
    for answer, verdict in zip(answers, court.verdicts(answers), strict=True):
        mine = own[owner[answer.cluster.bets[0]]]
        mine[0].append(answer)
        mine[2].append(verdict)
    for one in alone:
        mine = own[owner[one.source[0]]]
        mine[1].append(one)
        court = Court(one.bets, slack[one.source], budget)
        mine[2].extend(verdict.where_condition_holds() for verdict in court.verdicts(one.answers))
    return [Case(found, granted, together(verdicts)) for found, granted, verdicts in own]


def _finding(name: str, bets: Bets, slack: Vector, case: Case, allowance: Allowance) -> Finding:
    tolerance = float(slack.max(initial=0.0))
    known = case.verdict
    return Finding(
        status=known.status,
        least=known.least,
        most=known.most,
        guaranteed_improvement=known.guaranteed_improvement,
        proofs=known.proofs,
        cut=known.cut,
        name=name,
        forecasts=len(bets),
        tolerance=tolerance,
        _bets=bets,
        _answers=case.answers,
        _alone=case.alone,
        _slack=slack,
        _allowance=allowance,
    )


def _notes(judges: Judges) -> tuple[str, ...]:
    """Notes on the judges as a whole."""
    notes = []
    if count := judges.count(CheckStatus.ROUNDING):
        notes.append(
            f"judges whose forecasts are coherent up to rounding, each off by at most {judges.tolerance:g}: {count:,}"
        )
    if count := judges.cut:
        allowance = judges._allowance
        when = f"in their part of the time limit of {allowance.seconds:g} seconds"
        notes.append(f"judges not finished {'when the check was stopped' if allowance.is_stopped else when}: {count:,}")
    if count := judges.unfinished - judges.cut:
        notes.append(f"judges of whom no method proved a status and a distance, but only bounds on it: {count:,}")
    return tuple(notes)
