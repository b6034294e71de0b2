"""What a check finds out about the forecasts of one judge, or about the panel's means."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    ListOf,
    ObjectOf,
    OneWord,
    OrNull,
    Record,
    RecordField,
    RecordOf,
    Worked,
)
from coherently.errors import unknown_word
from coherently.explain.bets.dutch import Book, make_book
from coherently.explain.bets.trading_terms import TradingTerms
from coherently.explain.explanation import (
    BAND,
    REPAIR,
    SHARE,
    Explanation,
    Repair,
    ToldContradiction,
    bands_of,
    exact_changes,
    is_on_sheet,
    quote_sentence,
)
from coherently.explain.law_grounds import laws_behind
from coherently.explain.minimal_sets import lawfully_minimal, minimal
from coherently.explain.relations.broken import MOMENT, irreducible, moved_most, violated
from coherently.explain.rounding_slack import is_within_slack
from coherently.explain.symbol_sentences import contradiction_words, set_words
from coherently.explain.verdicts import CheckStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.arrays import Indices, Vector
    from coherently.explain.allowance import Allowance
    from coherently.explain.bets.bets import Bets
    from coherently.explain.bets.conditions import Alone
    from coherently.explain.bets.distance import NearestPrices
    from coherently.explain.fit.sheet_values import Band
    from coherently.solve.budget import Budget

Voice: TypeAlias = Literal["symbols", "people"]
VOICES: dict[Voice, str] = {
    "symbols": "exact: probabilities of events as they are written or labelled",
    "people": "in people's words: labels and whole per cents",
}
"""The ways to say a contradiction, and what each is like; the first is the usual one."""
MOST_BANDS = 100
"""Maximum number of forecasts whose bands are part of a record."""
SHOWN = 5
"""Maximum number of contradictions that are put into words."""


def voice_of(word: str) -> Voice:
    """The voice that a word stands for."""
    for voice in VOICES:
        if voice == word:
            return voice
    raise unknown_word("voice", word, VOICES)


class Contradiction(NamedTuple):
    """Forecasts that cannot hold together, by their numbers among those of the finding, and why, in words."""

    forecasts: tuple[int, ...]
    sentence: str


VERDICT_FIELDS = (
    RecordField("forecasts", WHOLE, "the number of forecasts"),
    RecordField("status", OneWord(lambda: CheckStatus), "what is known of the forecasts"),
    RecordField("coherent", OrNull(FLAG), "whether they are coherent, but for rounding", derived=True),
    RecordField("distance", NUMBER, "the distance from the nearest coherent forecasts that were found", derived=True),
    RecordField("distance_low", NUMBER, "a proved lower bound on the distance"),
    RecordField("distance_high", NUMBER, "an upper bound on the distance"),
    RecordField("proved", FLAG, "whether the distance is known, and not only its bounds", derived=True),
    RecordField("proofs", ListOf(TEXT), "on what the distances rest"),
    RecordField("cut", FLAG, "whether more time would tell more"),
    RecordField("tolerance", NUMBER, "how far the decimals of the numbers may be off"),
    RecordField(
        "guaranteed_improvement",
        OrNull(NUMBER),
        "the summed Brier penalty that the nearest coherent forecasts save whatever happens; null if it is not known",
    ),
    RecordField("contradictions", OrNull(ListOf(TEXT)), "the worst ones, in symbols; null if not looked for in time"),
)
"""What is told of the forecasts of one judge, or of the panel's means."""
EXPLANATION_FIELDS = (
    RecordField(
        "sentences",
        ObjectOf(
            "the sentences", tuple(RecordField(voice, ListOf(TEXT), meaning) for voice, meaning in VOICES.items())
        ),
        "the contradictions in every voice; left out if not looked for in time, as are the fields that follow",
        optional=True,
        since=2,
    ),
    RecordField(
        "grounds",
        ListOf(ListOf(TEXT)),
        "for each contradiction the laws, as written, that it rests on; left out where there are no laws",
        optional=True,
        since=3,
    ),
    RecordField("repair", REPAIR, "the least change that makes the forecasts coherent", optional=True, since=2),
    RecordField(
        "bands",
        ListOf(BAND),
        "what the other forecasts allow for each; left out of quotes and of more than 100 forecasts",
        optional=True,
        since=2,
    ),
    RecordField(
        "unchecked",
        ListOf(TEXT),
        "the events of which people's sentences and bands may be missing, for want of time",
        optional=True,
        since=2,
    ),
)
"""What explains a verdict."""
NAME = RecordField("name", TEXT, "the name of the judge, or panel")
TOLD_BOOK = RecordField("book", RecordOf(lambda: Book.record), "bets at the forecasts' own prices that surely win")
FINDING = Record(
    "finding",
    3,
    "Whether the forecasts of one judge, or the panel's means, are coherent (`co.check(...).judges[name]`).",
    (NAME, *VERDICT_FIELDS, *EXPLANATION_FIELDS, TOLD_BOOK),
)
"""Version 1 has contradictions in symbols alone, version 2 lacks the laws that they rest on."""


def verdict_of(finding: Verdict) -> Verdict:
    """The verdict alone."""
    return Verdict(*(getattr(finding, each.name) for each in fields(Verdict)))


def verdict_values(verdict: Verdict, forecasts: int, tolerance: float) -> dict[str, Any]:
    """The values of `VERDICT_FIELDS`, without contradictions."""
    return {
        "forecasts": forecasts,
        "status": str(verdict.status),
        "coherent": verdict.coherent,
        "distance": verdict.distance,
        "distance_low": verdict.distance_low,
        "distance_high": verdict.distance_high,
        "proved": verdict.proved,
        "proofs": list(verdict.proofs),
        "cut": verdict.cut,
        "tolerance": tolerance,
        "guaranteed_improvement": verdict.guaranteed_improvement,
    }


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Worked, Verdict):
    """Whether the forecasts of one judge, or the panel's means, are coherent.

    `status` is "coherent", "incoherent", "rounding" (incoherent by no more than the decimals of the numbers explain:
    each may be off by `tolerance`) or "undecided" (within the time limit). The distance is the root of the sum of
    squared differences from the nearest coherent forecasts, over the forecasts as given, each counted once: repeats and
    complements are not merged. With bids and asks it is the distance between those and the nearest coherent prices.
    """

    record: ClassVar[Record] = FINDING

    name: str
    forecasts: int
    tolerance: float
    _bets: Bets
    _answers: Sequence[NearestPrices]
    _alone: Sequence[Alone]
    _slack: Vector
    _allowance: Allowance = field(compare=False)

    def __repr__(self) -> str:
        return f"<Finding: {self.name} is {self.status}, distance {self.distance:.6g}>"

    def _view_columns(self) -> dict[str, list[Any]]:
        """For a notebook: the contradictions that are named."""
        known = self.contradictions if self.is_explained or not self.is_retold else ()
        return {"contradictions" if known else "no contradiction is named": list(known)}

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The worst contradictions among the forecasts, each a sentence; the worst first."""
        return tuple(found.sentence for found in self.contradictory)

    @cached_property
    def contradictory(self) -> tuple[Contradiction, ...]:
        """The sets of forecasts that the contradictions are about."""
        if self.status is not CheckStatus.INCOHERENT:
            return ()
        with self._allowance.spend(SHARE) as budget:
            shown = _contradictions(self._bets, self._answers, self._slack, budget)
            for alone in self._alone:
                slack = self._slack[alone.source]
                shown += _contradictions(alone.bets, alone.answers, slack, budget, granted=alone.source)
        return tuple(shown[:SHOWN])

    @cached_property
    def grounds(self) -> tuple[tuple[str, ...], ...]:
        """For each contradiction the laws, as written, that it rests on; () where logic alone does."""
        found = self.contradictory
        with self._allowance.spend(SHARE) as budget:
            return tuple(laws_behind(self._bets, one.forecasts, budget.at_least(MOMENT)) for one in found)

    def sentences(self, voice: Voice = "symbols") -> tuple[str, ...]:
        r"""The contradictions in sentences: in "symbols", which are the `contradictions`, or for "people".

        Symbols are exact and name the worst contradictions first, up to five. People's sentences have labels and whole
        per cents, in the order of the forecasts, and are those of a judge's sheet in the workbench: they are about what
        people can notice, more than half a per cent.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.3), ("Ann", "q given p", 0.45), ("Ann", "p & q", 0.25), ("Ann", "q", 0.5)]
        >>> labels = {"p": "a recession", "q": "a rate cut", "q given p": "a rate cut in a recession"}
        >>> found = co.check(co.Panel.from_records(rows, labels=labels)).judges["Ann"]
        >>> [sentence.replace("\xa0", " ") for sentence in found.sentences("people")]
        ['A recession (30 %) with a rate cut in 45 % of the cases makes both together 14 %, not 25 %.']
        """
        return self.contradictions if voice_of(voice) == "symbols" else self.people_sentences

    @cached_property
    def people_sentences(self) -> tuple[str, ...]:
        """The sentences for people."""
        return tuple(each.sentence for each in self.told)

    @cached_property
    def told(self) -> tuple[ToldContradiction, ...]:
        """The contradictions in people's words, each with the events that it is about.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.3), ("Ann", "p & q", 0.36), ("Ann", "r", 0.5)]
        >>> [each.events for each in co.check(co.Panel.from_records(rows)).judges["Ann"].told]
        [('p', 'p & q')]
        """
        if self.status is CheckStatus.COHERENT:
            return ()
        if not self._bets.quoted.any():
            return self._explanation.told
        keys = [str(key) for key in self._bets.keys(with_judges=False)]
        return tuple(
            ToldContradiction(tuple(keys[i] for i in each.forecasts), quote_sentence(self._bets, each.forecasts))
            for each in self.contradictory
        )

    @cached_property
    def bands(self) -> tuple[Band, ...]:
        """For each forecast: what the others allow for it, and whether it fits, to half a per cent.

        A band is `mended` if the others contradict each other: then it is that of their nearest coherent version.
        Quotes have none, and what was not looked at in time is missing; see `unchecked`.

        >>> import coherently as co
        >>> rows = [("Ann", "p", 0.3), ("Ann", "q given p", 0.5), ("Ann", "p & q", 0.15)]
        >>> [(band.event, round(band.low, 4), round(band.high, 4)) for band in co.check(
        ...     co.Panel.from_records(rows)).judges["Ann"].bands]
        [('p', 0.3, 0.3), ('q given p', 0.5, 0.5), ('p & q', 0.15, 0.15)]
        """
        return self._explanation.bands

    @cached_property
    def repair(self) -> Repair:
        """The least change that makes the forecasts coherent, exactly and in whole per cents.

        >>> import coherently as co
        >>> found = co.check(co.Panel.from_records([("Ann", "p", 0.3), ("Ann", "p & q", 0.36)])).judges["Ann"]
        >>> [(change.event, change.old, round(change.new, 6)) for change in found.repair.changes]
        [('p', 0.3, 0.33), ('p & q', 0.36, 0.33)]
        """
        changes = tuple(exact_changes(self._bets, self._answers, self._alone))
        return Repair(changes, *self._explanation.whole())

    @cached_property
    def unchecked(self) -> tuple[str, ...]:
        """The forecasts that the people's sentences may leave out: too many, quotes, or no time."""
        return self._explanation.unchecked

    @cached_property
    def _explanation(self) -> Explanation:
        return Explanation(self._bets, self._allowance)

    @cached_property
    def book(self) -> Book:
        """Bets at the forecasts' own prices that win whatever happens; false if there are none."""
        with self._allowance.spend(SHARE) as budget:
            return make_book(self._bets, self._answers, self._alone, TradingTerms(), budget=budget)

    @property
    def is_explained(self) -> bool:
        """Whether the contradictions are known already; without any there is nothing to look for."""
        return self.status is not CheckStatus.INCOHERENT or "contradictory" in vars(self)

    @property
    def is_fully_explained(self) -> bool:
        """Whether the sentences for people and the repair are known already, too."""
        return {"people_sentences", "repair"} <= vars(self).keys()

    def explanation_values(self) -> dict[str, Any]:
        """The values of `EXPLANATION_FIELDS`: worked out now, or those that were told.

        Bands of many forecasts take seconds where these contradict each other: `bands` gives them to whoever asks.
        """
        told: dict[str, Any] = {}
        known = vars(self) if self.is_retold else {"people_sentences", "repair"}
        if not self.is_retold and is_on_sheet(self._bets):
            known = {"people_sentences", "repair", "unchecked"}
            if len(self._bets) <= MOST_BANDS:
                known.add("bands")
        if "people_sentences" in known:
            told["sentences"] = {voice: list(self.sentences(voice)) for voice in VOICES}
        if "grounds" in known or (not self.is_retold and len(self._bets.panel.laws.statements())):
            told["grounds"] = [list(laws) for laws in self.grounds]
        if "repair" in known:
            told["repair"] = self.repair.as_dict()
        if "bands" in known:
            told["bands"] = [band.as_dict() for band in self.bands]
        if "unchecked" in known:
            told["unchecked"] = list(self.unchecked)
        return told

    def _plain(self) -> dict[str, Any]:
        told = self.contradictions if self.is_explained or not self.is_retold else None
        book = self.book.as_dict()  # before what explains the finding, which may take the time that is left
        return {
            "name": self.name,
            **verdict_values(self, self.forecasts, self.tolerance),
            "contradictions": None if told is None else list(told),
            **self.explanation_values(),
            "book": book,
        }

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Finding:
        """The finding that was told; that of a judge in a check has no book."""
        said, spoken, book = values["contradictions"], values.get("sentences"), values.get("book")
        if said is None and spoken is not None:
            said = spoken["symbols"]
        known: dict[str, Any] = {} if said is None else {"contradictory": tuple(Contradiction((), s) for s in said)}
        if spoken is not None:
            known["people_sentences"] = tuple(spoken["people"])
        if "grounds" in values:
            known["grounds"] = tuple(tuple(laws) for laws in values["grounds"])
        if "repair" in values:
            known["repair"] = Repair.of(values["repair"])
        if "bands" in values:
            known["bands"] = bands_of(values["bands"])
        if "unchecked" in values:
            known["unchecked"] = tuple(values["unchecked"])
        if book is not None:
            known["book"] = Book.from_dict(book)
        saved = values["guaranteed_improvement"]
        return cls._retold(
            name=values["name"],
            forecasts=values["forecasts"],
            tolerance=float(values["tolerance"]),
            status=CheckStatus(values["status"]),
            least=float(values["distance_low"]) ** 2,
            most=float(values["distance_high"]) ** 2,
            guaranteed_improvement=None if saved is None else float(saved),
            proofs=tuple(values["proofs"]),
            cut=values["cut"],
            **known,
        )


def _contradictions(
    bets: Bets, answers: Sequence[NearestPrices], slack: Vector, budget: Budget, *, granted: Indices | None = None
) -> list[Contradiction]:
    """Simple contradictions of bets, or else one set of forecasts that cannot hold together.

    `granted` are the original numbers of bets that are considered in the worlds of their condition.
    """
    bad = [answer for answer in answers if not answer.coherent]
    if not bad:
        return []
    broken = irreducible(violated(bets, moved_most(bad), slack, budget=budget.at_least(MOMENT), shares=True))
    if len(bets.panel.laws.side) or bets.conditional.any():
        broken = lawfully_minimal(bets, broken, budget)
    shown = {
        relation.forecasts: contradiction_words(bets, relation, granted=granted is not None)
        for relation in islice(broken, SHOWN)
    }
    if not shown and (proved := _proved(bets, bad, slack, budget)):
        found = minimal(bets, max(proved, key=lambda answer: answer.least), budget).tolist()
        shown = {tuple(found): set_words(bets, found)}
    number = np.arange(len(bets)) if granted is None else granted
    return [Contradiction(tuple(number[list(own)].tolist()), sentence) for own, sentence in shown.items()]


def _proved(bets: Bets, bad: Sequence[NearestPrices], slack: Vector, budget: Budget) -> Sequence[NearestPrices]:
    """The clusters that are proved incoherent: by their distance, or else by stakes that win."""
    by_distance = [answer for answer in bad if answer.coherent is False]
    if by_distance:
        return by_distance
    return [answer for answer in bad if is_within_slack(bets, answer, slack[answer.cluster.bets], budget) is False]
