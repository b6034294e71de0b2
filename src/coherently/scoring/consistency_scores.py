"""The scores of `co.consistency`: tuples, judges, checks, clusters; intervals, differences and ranks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coherently.contract import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Described,
    KnownText,
    ListOf,
    MapOf,
    ObjectOf,
    OrNull,
    Record,
    RecordField,
    numbers,
    plain,
)
from coherently.conversion import Tuple
from coherently.conversion.tuples import CHECK_NAMES, Question
from coherently.errors import MethodError, counted, unknown_word
from coherently.panel import Tabled, records, to_frame
from coherently.scoring.comparison import Difference
from coherently.scoring.intervals import ClusterRatios
from coherently.scoring.leaderboards import Leaderboard, supported_ranks
from coherently.scoring.scores import CONFIDENCE
from coherently.scoring.scoring_rules import CONSISTENCY_SCORES
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from coherently.arrays import Indices, Vector
    from coherently.panel import Columns
    from coherently.scoring.intervals.jackknife import Array

TUPLE = ObjectOf(
    "a tuple",
    (
        RecordField("judge", TEXT, "who answered"),
        RecordField("tuple", TEXT, "the name of the tuple"),
        RecordField("check", KnownText(lambda: CHECK_NAMES), "the check"),
        RecordField("answers", MapOf(NUMBER), "the probability of each role of the check"),
        RecordField(
            "questions",
            MapOf(
                ObjectOf(
                    "a question",
                    (
                        RecordField("title", TEXT, "the question"),
                        RecordField("body", TEXT, "its details; may be empty"),
                        RecordField("resolution", OrNull(FLAG), "whether it came true; null if that is not known"),
                    ),
                )
            ),
            "the questions behind roles and variables, where they are known",
        ),
        RecordField("arbitrage", NUMBER, "the arbitrage metric"),
        RecordField("frequentist", NUMBER, "the frequentist metric"),
    ),
)
JUDGE_FIELDS = ("judge", "tuples", "arbitrage", "frequentist", "joint")
"""Columns of judges that the first version of the record had; later ones are fields of their own."""
PART = ObjectOf(
    "the answers of a judge in a cluster",
    (
        RecordField("judge", WHOLE, "the place of the judge in judges"),
        RecordField("cluster", WHOLE, "the number of the cluster"),
        RecordField("joint", OrNull(NUMBER), "the joint arbitrage of the answers"),
        RecordField("answers", WHOLE, "their number"),
    ),
)
CLUSTERS = ObjectOf(
    "the clusters",
    (
        RecordField("tuples", ListOf(WHOLE), "the cluster of each tuple"),
        RecordField("parts", ListOf(PART), "one object per judge and cluster with answers"),
    ),
)
CONSISTENCY_RECORD = Record(
    "consistency",
    4,
    "How inconsistent answers are, tuple by tuple and judge by judge (`co.consistency`).",
    (
        RecordField("tuples", ListOf(TUPLE), "one object per tuple, given or found"),
        RecordField(
            "judges",
            ListOf(
                ObjectOf(
                    "a judge",
                    (
                        RecordField("judge", TEXT, "the name"),
                        RecordField("tuples", WHOLE, "the number of tuples", derived=True),
                        RecordField("arbitrage", OrNull(NUMBER), "the mean over tuples", derived=True),
                        RecordField("frequentist", OrNull(NUMBER), "the mean over tuples", derived=True),
                        RecordField("joint", OrNull(NUMBER), "the arbitrage metric of all forecasts together"),
                    ),
                )
            ),
            "one object per judge",
        ),
        RecordField("answers", ListOf(WHOLE), "the number of forecasts of each judge, in the order of judges", since=2),
        RecordField(
            "joint_bound", ListOf(OrNull(NUMBER)), "a proved lower bound on each joint score; null if unknown", since=3
        ),
        RecordField(
            "by_checks", ListOf(OrNull(NUMBER)), "what checks one at a time prove of each joint score", since=3
        ),
        RecordField("clusters", OrNull(CLUSTERS), "what hangs together; null if unknown", since=3),
        RecordField(
            "units",
            OrNull(ListOf(ListOf(WHOLE))),
            "what is independent in each cluster, by numbers: one unit, or several where most questions hang together",
            since=4,
        ),
        RecordField("clip", NUMBER, "answers were moved to [clip, 1 - clip]"),
        RecordField("clipped", WHOLE, "the number of answers that were moved"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums(Value):
    """What each judge has in each cluster of questions that hang together, one entry per pair with answers.

    `tuples` has the cluster of each tuple; `judge`, `cluster`, `joint` and `answers` are the pairs, the joint arbitrage
    of the answers (NaN if it was not asked for) and their number. `units` has what is independent in each cluster:
    itself, or several variables if most of the questions hang together (see `coherently.scoring.intervals.unit_sets`).
    """

    tuples: Indices
    judge: Indices
    cluster: Indices
    joint: Vector
    answers: Indices
    units: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.units)

    def members(self) -> Array | None:
        """Which units each cluster has, one row per cluster; None if each has one of its own."""
        if all(len(units) == 1 for units in self.units):
            return None
        found = np.zeros((self.count, 1 + max(unit for units in self.units for unit in units)))
        for place, units in enumerate(self.units):
            found[place, list(units)] = 1.0
        return found

    def table(self, values: Array, judges: int) -> Array:
        """Entries as a table: one row per judge, one column per cluster."""
        found = np.zeros((judges, self.count))
        found[self.judge, self.cluster] = values
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Consistency(Tabled, Value, Described):
    """Scores of tuples, one entry per tuple, and of judges; 0 is consistent.

    `arbitrage` and `frequentist` have one entry per tuple; `joint`, one entry per judge of `judges`, is the arbitrage
    metric of all forecasts of the judge together (NaN if it was not asked for), and `answers` the number of these
    forecasts (0 if unknown). `joint_bound` is a proved lower bound on `joint`, below it by more than the tolerance only
    where time was too short. `by_checks` is what checks prove of it one at a time, charging every answer once: what
    `joint` has beyond that, no check shows. Answers below `clip` or above `1 - clip` were moved there; `clipped` counts
    them. `clusters` has the sums that intervals are made of.
    """

    record: ClassVar[Record] = CONSISTENCY_RECORD

    tuples: tuple[Tuple, ...]
    arbitrage: NDArray[np.float64]
    frequentist: NDArray[np.float64]
    judges: tuple[str, ...]
    joint: NDArray[np.float64]
    answers: NDArray[np.int64]
    clip: float
    clipped: int
    notes: tuple[str, ...] = ()
    joint_bound: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    by_checks: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    clusters: ClusterSums | None = None

    def __repr__(self) -> str:
        return f"<Consistency: {counted(len(self.tuples), 'tuple')} of {counted(len(self.judges), 'judge')}>"

    def columns(self) -> Columns:
        """The columns of `frame`."""
        return {
            "judge": [item.judge for item in self.tuples],
            "tuple": [item.name for item in self.tuples],
            "check": [item.check for item in self.tuples],
            "arbitrage": self.arbitrage,
            "frequentist": self.frequentist,
        }

    def judge_columns(self, confidence: float = CONFIDENCE) -> Columns:
        """The columns of `judge_frame`."""
        count = np.bincount(self._owners(), minlength=len(self.judges))
        return {
            "judge": list(self.judges),
            "tuples": count,
            **self._with_ends("arbitrage", confidence),
            **self._with_ends("frequentist", confidence),
            "joint": self.joint,
            "answers": self.answers,
            **self._with_ends("joint_per_answer", confidence),
            "joint_bound": self.joint_bound,
            "by_checks": self.by_checks,
            "added": np.maximum(self.joint - self.by_checks, 0.0),
        }

    def check_columns(self, confidence: float = CONFIDENCE) -> Columns:
        """The columns of `check_frame`."""
        pairs = list(dict.fromkeys((item.judge, item.check) for item in self.tuples))
        order = sorted(pairs, key=lambda pair: (self.judges.index(pair[0]), CHECK_NAMES.index(pair[1])))
        number = {pair: index for index, pair in enumerate(order)}
        owner = np.array([number[item.judge, item.check] for item in self.tuples], np.int64)
        found: dict[str, Any] = {
            "judge": [judge for judge, _ in order],
            "check": [check for _, check in order],
            "tuples": np.bincount(owner, minlength=len(order)),
        }
        for name in ("arbitrage", "frequentist"):
            found |= _ends_of(name, self._sums(name, owner, len(order)), confidence)
        return found

    def difference(
        self, judge: str, other: str, score: str = "joint_per_answer", confidence: float = CONFIDENCE
    ) -> Difference:
        """The score of one judge minus that of another, with its interval over clusters: paired, cluster by cluster.

        >>> import coherently as co
        >>> rows = [(judge, event, p) for i in range(12) for judge, q in (("Ann", 0.4), ("Bob", 0.5 + i / 99))
        ...         for event, p in ((f"v{i}", 0.6), (f"~v{i}", q))]
        >>> co.consistency(co.Panel.from_records(rows)).difference("Ann", "Bob").sentence
        'Ann has a lower joint arbitrage per answer than Bob, by ... (95% interval over clusters ... to ...): the
         interval excludes 0, Ann is better.'
        """
        places = [self._place(name) for name in (judge, other)]
        contrast = np.zeros((1, len(self.judges)))
        contrast[0, places] = 1.0, -1.0
        sums = self._score_sums(score)
        ratio = sums.ratios()
        half = float(sums.half_widths(contrast, confidence)[0]) if judge != other else 0.0
        value = float(ratio[places[0]] - ratio[places[1]])
        interval = None if np.isnan(half + value) else (value - half, value + half)
        return Difference(judge, other, score, value, interval=interval, confidence=confidence, over="clusters")

    def leaderboard(self, score: str = "joint_per_answer", confidence: float = CONFIDENCE) -> Leaderboard:
        """The judges by a score, with intervals and with the ranks that differences support; a tie is a shared rank.

        Every two judges are compared, cluster by cluster, and all comparisons hold together with the confidence: each
        has its part of the errors (Bonferroni's correction). A judge's best rank is one more than the number of judges
        that are shown to be better, its worst rank the number of judges that are not shown to be worse (Mogstad,
        Romano, Shaikh and Wilhelm 2024, Inference for ranks, Review of Economic Studies 91).

        >>> import coherently as co
        >>> rows = [(judge, event, p) for i in range(12) for judge, q in (("Ann", 0.5), ("Bob", 0.4), ("Eve", 0.7))
        ...         for event, p in ((f"v{i}", 0.6), (f"~v{i}", q + i / 99))]
        >>> co.consistency(co.Panel.from_records(rows)).leaderboard().frame()[["rank", "judge", "score"]].round(4)
          rank judge   score
        0    1   Bob  0.0022
        1    2   Ann  0.0129
        2    3   Eve  0.0710
        """
        sums = self._score_sums(score)
        value, (low, high) = sums.ratios(), sums.ends(confidence)
        best, worst = supported_ranks(sums, confidence)
        order = np.argsort(np.where(np.isnan(value), np.inf, value), kind="stable")
        return Leaderboard(
            score=score,
            word=CONSISTENCY_SCORES[score],
            confidence=confidence,
            judges=tuple(self.judges[i] for i in order.tolist()),
            value=value[order],
            low=low[order],
            high=high[order],
            best=best[order],
            worst=worst[order],
        )

    def _place(self, judge: str) -> int:
        if judge not in self.judges:
            raise unknown_word("judge", judge, self.judges)
        return self.judges.index(judge)

    def _owners(self) -> Indices:
        number = {name: index for index, name in enumerate(self.judges)}
        return np.array([number[item.judge] for item in self.tuples], np.int64)

    def _with_ends(self, name: str, confidence: float) -> Columns:
        return _ends_of(name, self._score_sums(name), confidence)

    def _score_sums(self, score: str) -> ClusterRatios:
        """The sums of a score over clusters; without clusters, all in one."""
        if score not in CONSISTENCY_SCORES:
            raise unknown_word("score", score, CONSISTENCY_SCORES)
        if score != "joint_per_answer":
            return self._sums(score, self._owners(), len(self.judges))
        if self.clusters is None:
            return ClusterRatios(self.joint[:, None], self.answers[:, None].astype(np.float64))
        parts, count = self.clusters, len(self.judges)
        joint, answers = (parts.table(each, count) for each in (parts.joint, parts.answers.astype(np.float64)))
        return ClusterRatios(joint, answers, parts.members())

    def _sums(self, name: str, owner: Indices, rows: int) -> ClusterRatios:
        """Sums of a metric of tuples, by owner and cluster."""
        cluster = np.zeros(len(owner), np.int64) if self.clusters is None else self.clusters.tuples
        columns = 1 if self.clusters is None else self.clusters.count
        place, values = owner * columns + cluster, self.arbitrage if name == "arbitrage" else self.frequentist
        total, count = np.bincount(place, values, rows * columns), np.bincount(place, minlength=rows * columns)
        return ClusterRatios(
            total.astype(np.float64).reshape(rows, columns),
            count.reshape(rows, columns).astype(np.float64),
            None if self.clusters is None else self.clusters.members(),
        )

    def _plain(self) -> dict[str, Any]:
        asked = [
            {"answers": dict(each.answers), "questions": {role: asdict(one) for role, one in each.questions.items()}}
            for each in self.tuples
        ]
        tuples, judges = zip(records(self.columns()), asked, strict=True), self.judge_columns()
        return plain(  # type: ignore[no-any-return]
            {
                "tuples": [row | more for row, more in tuples],
                "judges": records({name: judges[name] for name in JUDGE_FIELDS}),
                "answers": self.answers.tolist(),
                "joint_bound": self.joint_bound.tolist(),
                "by_checks": self.by_checks.tolist(),
                "clusters": None if self.clusters is None else _plain_clusters(self.clusters),
                "units": None if self.clusters is None else [list(each) for each in self.clusters.units],
                "clip": float(self.clip),
                "clipped": self.clipped,
                "notes": self.notes,
            }
        )

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Consistency:
        rows, judges = values["tuples"], values["judges"]
        unknown, clusters = [None] * len(judges), values.get("clusters")
        return cls(
            tuples=tuple(_read_tuple(row) for row in rows),
            arbitrage=numbers([row["arbitrage"] for row in rows]),
            frequentist=numbers([row["frequentist"] for row in rows]),
            judges=tuple(row["judge"] for row in judges),
            joint=numbers([row["joint"] for row in judges]),
            answers=np.array(values.get("answers") or [0] * len(judges), np.int64),
            clip=float(values["clip"]),
            clipped=values["clipped"],
            notes=tuple(values["notes"]),
            joint_bound=numbers(values.get("joint_bound") or unknown),
            by_checks=numbers(values.get("by_checks") or unknown),
            clusters=None if clusters is None else _read_clusters(clusters, values.get("units")),
        )

    def frame(self) -> Any:
        """One row per tuple: judge, tuple, check, arbitrage, frequentist."""
        return to_frame(self.columns(), None)

    def judge_frame(self, confidence: float = CONFIDENCE) -> Any:
        """One row per judge: tuples, mean arbitrage and frequentist, joint, answers, joint_per_answer, and more.

        The ends of intervals over clusters are in the columns with `_low` and `_high`, NaN where clusters are too few.
        `joint_bound` is a proved lower bound on `joint`, `by_checks` what checks prove of it one at a time, and `added`
        what the joint score adds to that.
        """
        return to_frame(self.judge_columns(confidence), None)

    def check_frame(self, confidence: float = CONFIDENCE) -> Any:
        """One row per judge and check: judge, check, tuples, mean arbitrage and frequentist, with their intervals."""
        return to_frame(self.check_columns(confidence), None)


def _ends_of(name: str, sums: ClusterRatios, confidence: float) -> Columns:
    """A score and the ends of its intervals."""
    if not 0 < confidence < 1:
        raise MethodError(f"confidence is {confidence}; it must be between 0 and 1")
    low, high = sums.ends(confidence)
    return {name: sums.ratios(), f"{name}_low": low, f"{name}_high": high}


def _plain_clusters(clusters: ClusterSums) -> dict[str, object]:
    names = ("judge", "cluster", "joint", "answers")
    parts: Iterable[tuple[object, ...]] = zip(*(getattr(clusters, name).tolist() for name in names), strict=True)
    return {
        "tuples": clusters.tuples.tolist(),
        "parts": [dict(zip(names, part, strict=True)) for part in parts],
    }


def _read_clusters(values: dict[str, Any], units: list[list[int]] | None) -> ClusterSums:
    parts = values["parts"]
    judge, cluster, answers = (
        np.array([one[name] for one in parts], np.int64) for name in ("judge", "cluster", "answers")
    )
    joint = numbers([one["joint"] for one in parts])
    tuples = np.array(values["tuples"], np.int64)
    alone = [[unit] for unit in range(int(max(cluster.max(initial=-1), tuples.max(initial=-1))) + 1)]
    known = tuple(tuple(each) for each in (alone if units is None else units))
    return ClusterSums(tuples, judge, cluster, joint=joint, answers=answers, units=known)


def _read_tuple(row: dict[str, Any]) -> Tuple:
    questions = {role: Question(**each) for role, each in row["questions"].items()}
    answers = {role: float(p) for role, p in row["answers"].items()}
    return Tuple(row["judge"], row["check"], answers, row["tuple"], questions=questions)
