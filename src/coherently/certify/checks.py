"""Who contradicts what: coherence of each judge and of the panel's means."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.certify.bets import bets_at_forecasts, bets_at_means, bets_of_judges, usable
from coherently.certify.books import make_book
from coherently.certify.conditions import called_off, taken_alone
from coherently.certify.contradiction import minimal
from coherently.certify.distance import nearest_of
from coherently.certify.relations import irreducible, moved_most, violated
from coherently.certify.terms import Terms
from coherently.certify.wording import contradiction_words, set_words
from coherently.errors import MethodError, PanelError
from coherently.panel import to_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.certify.bets import Bets
    from coherently.certify.books import Book
    from coherently.certify.conditions import Alone
    from coherently.certify.distance import Answer
    from coherently.panel import Columns, Panel
    from coherently.solve import Progress

TIME_LIMIT = 20.0
SHOWN = 5
"""How many contradictions are put into words."""


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """Whether the forecasts of one judge, or the panel's means, are coherent.

    `coherent` is None where that was not decided in time. `distance` is the root of the sum of squared differences from
    the nearest coherent forecasts, over the forecasts as given, each counted once: repeats and complements are not
    merged. Its square is what the book is sure to win. `guaranteed_improvement` is the summed Brier penalty that the
    nearest coherent forecasts save whatever happens. `proof` says on what the distance rests.
    """

    name: str
    forecasts: int
    coherent: bool | None
    distance: float
    guaranteed_improvement: float
    proof: str
    _bets: Bets
    _answers: Sequence[Answer]
    _alone: Sequence[Alone]
    _time_limit: float

    def __repr__(self) -> str:
        return f"<Finding: {self.name} is {_word(self.coherent)}, distance {self.distance:.6g}>"

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """The worst contradictions among the forecasts, each a sentence; the worst first."""
        if self.coherent is not False:
            return ()
        sources = [(self._bets, self._answers), *((alone.bets, alone.answers) for alone in self._alone)]
        deadline = time.monotonic() + self._time_limit
        shown = [sentence for bets, answers in sources for sentence in _sentences(bets, answers, deadline)]
        return tuple(shown[:SHOWN])

    @cached_property
    def book(self) -> Book:
        """Bets at the forecasts' own prices that win whatever happens; false if there are none."""
        deadline = time.monotonic() + self._time_limit
        return make_book(self._bets, self._answers, Terms(), called_off(self._alone), deadline)

    def to_json(self) -> dict[str, Any]:
        """The finding in plain values, for JSON."""
        return {
            "name": self.name,
            "forecasts": self.forecasts,
            "coherent": self.coherent,
            "distance": self.distance,
            "guaranteed_improvement": self.guaranteed_improvement,
            "contradictions": list(self.contradictions),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judges(Mapping[str, Finding]):
    """The finding of each judge by name; arrays have an entry a judge.

    `rows` lists the forecasts judge by judge, and `starts` where those of each begin.
    """

    panel: Panel
    position: Mapping[str, int]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    forecasts: NDArray[np.int64]
    square: NDArray[np.float64]
    improvement: NDArray[np.float64]
    incoherent: NDArray[np.bool_]
    undecided: NDArray[np.bool_]
    time_limit: float

    def __getitem__(self, name: str) -> Finding:
        i = self.position[name]
        own = self.panel.select(self.rows[self.starts[i] : self.starts[i + 1]])
        return _finding(name, bets_at_forecasts(own), self.time_limit)

    def __iter__(self) -> Iterator[str]:
        return iter(self.panel.judges)

    def __len__(self) -> int:
        return len(self.panel.judges)

    def __repr__(self) -> str:
        return f"<Judges: {int(self.incoherent.sum()):,} of {len(self):,} incoherent>"

    def worst(self, count: int) -> list[str]:
        """The names of the incoherent judges that are farthest from coherence."""
        order = np.argsort(-self.square, kind="stable")
        return [self.panel.judges[i] for i in order[self.incoherent[order]][:count].tolist()]

    def columns(self) -> Columns:
        """The columns of `Check.frame`."""
        coherent = [
            False if bad else None if open_ else True
            for bad, open_ in zip(self.incoherent, self.undecided, strict=True)
        ]
        return {
            "judge": list(self.panel.judges),
            "forecasts": self.forecasts,
            "coherent": coherent,
            "distance": np.sqrt(self.square),
            "guaranteed_improvement": self.improvement,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Findings about a panel: of each judge in `judges`, and of the panel's means, as written, in `means`.

    `coherent`, `distance`, `guaranteed_improvement`, `contradictions` and `book` are those of the means. The means of
    one judge are its forecasts, one by one.
    """

    panel: Panel
    judges: Judges
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Check: {int(self.judges.incoherent.sum()):,} of {len(self.judges):,} judges incoherent>"

    @cached_property
    def means(self) -> Finding:
        """The finding about the panel's means."""
        if len(self.judges) == 1:
            return self.judges[self.panel.judges[0]]
        return _finding("panel", bets_at_means(self.panel), self.judges.time_limit)

    @property
    def coherent(self) -> bool | None:
        """Whether the panel's means are coherent; None where that was not decided in time."""
        return self.means.coherent

    @property
    def distance(self) -> float:
        """The distance of the panel's means from the nearest coherent forecasts."""
        return self.means.distance

    @property
    def guaranteed_improvement(self) -> float:
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

    @property
    def incoherent(self) -> bool:
        """Whether any judge, or the panel's means, were found incoherent."""
        return bool(self.judges.incoherent.any()) or self.coherent is False

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return self.judges.columns()

    def frame(self) -> Any:
        """One row a judge: judge, forecasts, coherent, distance, guaranteed_improvement."""
        return to_frame(self.columns(), self.panel.library)


def check(panel: Panel, *, time_limit: float = TIME_LIMIT, progress: Progress | None = None) -> Check:
    """Find out which judges contradict themselves, how far they are from coherence, and by which forecasts.

    Distances are Euclidean, over the forecasts as given, each counted once: the root of the sum of squared differences
    from the nearest coherent forecasts. Up to 1e-9 counts as coherent. Books and contradictions are looked for when
    they are asked for. `time_limit` is in seconds: for all judges, for the panel's means, and for each book; `progress`
    is called with the fraction of the judges' work that is done.

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
    if not 0 <= time_limit < math.inf:
        raise MethodError(f"time_limit is {time_limit}; it must be a number of seconds, 0 or more")
    panel, notes = usable(panel)
    if not len(panel):
        raise PanelError("no forecast is left to check: " + "; ".join(notes))
    # The forecasts themselves are checked, not the quotes beside them.
    panel = replace(panel, lower=None, upper=None)
    bets = bets_of_judges(panel)
    deadline = time.monotonic() + time_limit
    answers = nearest_of(bets, deadline, progress)
    first = [int(answer.cluster.bets[0]) for answer in answers]
    for alone in taken_alone(bets, answers, deadline):
        answers += alone.answers
        first += [int(alone.source[0])] * len(alone.answers)
    owner = panel.judge_index[np.array(first, np.int64)].astype(np.int64)
    count = len(panel.judges)

    def total(values: list[float]) -> NDArray[np.float64]:
        return np.bincount(owner, values, count).astype(np.float64)

    forecasts = np.bincount(panel.judge_index, minlength=count)
    judges = Judges(
        panel,
        {name: i for i, name in enumerate(panel.judges)},
        np.argsort(panel.judge_index, kind="stable"),
        np.concatenate([[0], np.cumsum(forecasts)]),
        forecasts,
        total([_square(answer) for answer in answers]),
        total([_improvement(answer) for answer in answers]),
        total([float(answer.coherent is False) for answer in answers]) > 0,
        total([float(answer.coherent is None) for answer in answers]) > 0,
        time_limit,
    )
    return Check(panel, judges, notes)


def _word(coherent: bool | None) -> str:
    """The word for it."""
    return "undecided" if coherent is None else "coherent" if coherent else "incoherent"


def _finding(name: str, bets: Bets, time_limit: float) -> Finding:
    deadline = time.monotonic() + time_limit
    own = nearest_of(bets, deadline)
    alone = taken_alone(bets, own, deadline)
    answers = [*own, *(answer for one in alone for answer in one.answers)]
    open_ = [answer for answer in own if answer.coherent is None]
    coherent: bool | None = not any(answer.coherent is False for answer in answers)
    if coherent and open_:
        # A broken relation proves incoherence where the distance is not known yet.
        coherent = False if violated(bets, moved_most(bets, open_)) else None
    square, improvement = (sum(map(measure, answers)) for measure in (_square, _improvement))
    proof = "; ".join(dict.fromkeys(answer.proof for answer in answers if not answer.coherent))
    return Finding(name, len(bets), coherent, math.sqrt(square), improvement, proof, bets, own, alone, time_limit)


def _sentences(bets: Bets, answers: Sequence[Answer], deadline: float) -> list[str]:
    """The contradictions of bets in words: simple ones, or else one set of forecasts that cannot hold together."""
    bad = [answer for answer in answers if not answer.coherent]
    if not bad:
        return []
    broken = irreducible(violated(bets, moved_most(bets, bad)))
    shown = [contradiction_words(bets, relation) for relation in islice(broken, SHOWN)]
    worst = max(bad, key=lambda answer: answer.square)
    return shown or [set_words(bets, minimal(bets, worst, deadline).tolist())]


def _square(answer: Answer) -> float:
    """The squared distance, rounding errors taken for nothing."""
    return 0.0 if answer.coherent else answer.square


def _improvement(answer: Answer) -> float:
    """What moving to the answer saves in every world: |p - v|^2 - |x - v|^2 >= |p - x|^2 - 2 shortfall."""
    sure = answer.square - 2.0 * answer.shortfall
    return 0.0 if answer.coherent or not sure > 0 else sure
