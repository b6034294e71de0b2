r"""How inconsistent forecasters are: the arbitrage and the frequentist metric of consistency checks.

The arbitrage metric of a tuple of answers p is the largest gain over them that other answers can guarantee,

$$\max_x \min_\omega \sum_i s(x_i, \omega_i) - s(p_i, \omega_i), \qquad s(x, 1) = \ln x, \quad
s(x, 0) = \ln(1 - x),$$

over the possible worlds; a conditional scores 0 where its condition is false (Paleka et al. 2025, arXiv:2412.18544).
For every distribution over worlds the best x are its own probabilities, which gain the sum of the Kullback-Leibler
divergences from p. So, by the minimax theorem, the metric is the least such divergence: the distance of p from
coherence under the log loss.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
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
from coherently.conversion import Tuple, check_answers, read_tuples, tuples_draft
from coherently.conversion.tuples import CHECKS, Question
from coherently.engine import opened
from coherently.errors import PanelError, counted
from coherently.note_log import notes_logged
from coherently.panel import Panel, records, to_frame
from coherently.problem import Log
from coherently.result import aggregate
from coherently.scoring.frequentist import BETA, frequentist
from coherently.solve import Exact, Status
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from coherently.engine import Engine
    from coherently.panel import Columns, Progress
    from coherently.solve import Signal

TOLERANCE = 1e-9
"""The gap to which a tuple's distance is proved; tuples are small enough for it."""


TUPLE = ObjectOf(
    "a tuple",
    (
        RecordField("judge", TEXT, "who answered"),
        RecordField("tuple", TEXT, "the name of the tuple"),
        RecordField("check", KnownText(lambda: CHECKS), "the check"),
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
CONSISTENCY_RECORD = Record(
    "consistency",
    1,
    "How inconsistent answers are, tuple by tuple and judge by judge (`co.consistency`).",
    (
        RecordField("tuples", ListOf(TUPLE), "one object per tuple; empty for a panel"),
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
        RecordField("clip", NUMBER, "answers were moved to [clip, 1 - clip]"),
        RecordField("clipped", WHOLE, "the number of answers that were moved"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Consistency(Value, Described):
    """Scores of tuples, one entry per tuple, and of judges; 0 is consistent.

    `arbitrage` and `frequentist` have one entry per tuple; `joint`, one entry per judge of `judges`, is the arbitrage
    metric of all forecasts of the judge together (NaN if it was not asked for). Answers below `clip` or above
    `1 - clip` were moved there; `clipped` counts them. A panel has no tuples, and its judges only have joint scores.
    """

    record: ClassVar[Record] = CONSISTENCY_RECORD

    tuples: tuple[Tuple, ...]
    arbitrage: NDArray[np.float64]
    frequentist: NDArray[np.float64]
    judges: tuple[str, ...]
    joint: NDArray[np.float64]
    clip: float
    clipped: int
    notes: tuple[str, ...] = ()

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

    def judge_columns(self) -> Columns:
        """The columns of `judge_frame`."""
        number = {name: index for index, name in enumerate(self.judges)}
        owner = np.array([number[item.judge] for item in self.tuples], np.int64)
        count = np.bincount(owner, minlength=len(self.judges))
        return {
            "judge": list(self.judges),
            "tuples": count,
            "arbitrage": _means(owner, self.arbitrage, count),
            "frequentist": _means(owner, self.frequentist, count),
            "joint": self.joint,
        }

    def _plain(self) -> dict[str, Any]:
        asked = [
            {"answers": dict(each.answers), "questions": {role: asdict(one) for role, one in each.questions.items()}}
            for each in self.tuples
        ]
        tuples = zip(records(self.columns()), asked, strict=True)
        return plain(  # type: ignore[no-any-return]
            {
                "tuples": [row | more for row, more in tuples],
                "judges": records(self.judge_columns()),
                "clip": float(self.clip),
                "clipped": self.clipped,
                "notes": self.notes,
            }
        )

    @classmethod
    def _from_plain(cls, values: dict[str, Any]) -> Consistency:
        rows, judges = values["tuples"], values["judges"]
        return cls(
            tuples=tuple(_read_tuple(row) for row in rows),
            arbitrage=numbers([row["arbitrage"] for row in rows]),
            frequentist=numbers([row["frequentist"] for row in rows]),
            judges=tuple(row["judge"] for row in judges),
            joint=numbers([row["joint"] for row in judges]),
            clip=float(values["clip"]),
            clipped=values["clipped"],
            notes=tuple(values["notes"]),
        )

    def frame(self) -> Any:
        """One row per tuple: judge, tuple, check, arbitrage, frequentist."""
        return to_frame(self.columns(), None)

    def judge_frame(self) -> Any:
        """One row per judge: judge, tuples, mean arbitrage, mean frequentist, joint."""
        return to_frame(self.judge_columns(), None)


def _read_tuple(row: dict[str, Any]) -> Tuple:
    questions = {role: Question(**each) for role, each in row["questions"].items()}
    answers = {role: float(p) for role, p in row["answers"].items()}
    return Tuple(row["judge"], row["check"], answers, row["tuple"], questions=questions)


@notes_logged(lambda scores: scores.notes)
def consistency(
    source: Panel | str | os.PathLike[str] | Iterable[object],
    *,
    clip: float = 1e-4,
    beta: float = BETA,
    joint: bool = True,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Consistency:
    """Score how inconsistent answers to related questions are, tuple by tuple and jointly for each judge.

    `source` is a file or folder of consistency tuples (or several), or tuples (judge, check, {role: probability}), or
    a panel, whose judges only get the joint score. The arbitrage metric clips probabilities to [`clip`, `1 - clip`];
    `beta` is the small variance that the frequentist metric adds. `joint=False` leaves the joint scores out;
    `time_limit` is for each score, in seconds; `progress`, `cancel` and `engine` are as in `co.aggregate`, and scores
    that a stop leaves unfinished are upper bounds.

    >>> import coherently as co
    >>> scores = co.consistency([
    ...     ("Ann", "Neg", {"P": 0.6, "not_P": 0.6}),
    ...     ("Ann", "And", {"P": 0.75, "Q": 0.2, "P_and_Q": 0.5}),
    ...     ("Bob", "Neg", {"P": 0.6, "not_P": 0.4}),
    ... ])
    >>> scores.frame().round(6)
      judge tuple check  arbitrage  frequentist
    0   Ann     1   Neg   0.040822     0.288375
    1   Ann     2   And   0.105361     0.467951
    2   Bob     3   Neg   0.000000     0.000000
    >>> scores.judge_frame().round(6)
      judge  tuples  arbitrage  frequentist     joint
    0   Ann       2   0.073091     0.378163  0.146183
    1   Bob       1   0.000000     0.000000  0.000000
    """
    loss = Log(clip)
    if isinstance(source, Panel):
        panels = {name: source.judge(name) for name in source.judges}
        tuples: list[Tuple] = []
        notes: list[str] = []
    else:
        tuples, notes = _tuples(source)
        panels = (
            {judge: _joint_panel(tuples, judge) for judge in dict.fromkeys(item.judge for item in tuples)}
            if joint
            else {}
        )
    work = len(tuples) + len(panels)
    done = open_ = 0
    arbitrage = np.zeros(len(tuples))
    judges = tuple(panels) or tuple(dict.fromkeys(item.judge for item in tuples))
    apart = np.full(len(judges), np.nan)
    tell = progress or (lambda _: None)
    with opened(engine) as executor:
        for index, item in enumerate(tuples):
            arbitrage[index], known = distance(
                _panel(item), loss, TOLERANCE, time_limit, cancel=cancel, engine=executor
            )
            open_ += not known
            done += 1
            tell(done / work)
        for index, panel in enumerate(panels.values()):
            apart[index], known = distance(panel, loss, Exact().tolerance, time_limit, cancel=cancel, engine=executor)
            open_ += not known
            tell((done + index + 1) / work)
    given = source.probability if isinstance(source, Panel) else [p for item in tuples for p in item.answers.values()]
    beyond = int(np.sum((np.asarray(given) < clip) | (np.asarray(given) > 1 - clip)))
    if open_:
        notes.append(
            f"scores that are only upper bounds, not finished in their time limit of {time_limit:g} s: {open_:,}"
        )
    scores = np.array([frequentist(item.check, item.answers, beta) for item in tuples])
    return Consistency(
        tuple(tuples), arbitrage, scores, judges, joint=apart, clip=clip, clipped=beyond, notes=tuple(notes)
    )


def distance(
    panel: Panel,
    loss: Log,
    tolerance: float,
    time_limit: float,
    cancel: Signal | None = None,
    engine: Executor | None = None,
) -> tuple[float, bool]:
    """The divergence of the nearest coherent forecasts from the forecasts as given; false if time was too short.

    It is the sum of the objective, which is about merged forecasts, and of what merging leaves out: the divergence of
    the merged forecasts from those that were merged. Conditionals are merged by definition, so theirs does not count.
    """
    result = aggregate(panel, Exact(tolerance=tolerance, time_limit=time_limit), loss, cancel=cancel, engine=engine)
    problem = result.problem
    given, unit = problem.forecasts, problem.forecasts.unit
    told = (given.weight > 0) & ~problem.conditional[unit] & ~np.isnan(problem.mean[unit]) & ~given.interval
    merged = problem.merged.mean[problem.coordinate[unit[told]]]
    left_out = np.sum(given.weight[told] * loss.divergence(merged, loss.clipped(problem.turned()[told])))
    value = max(0.0, float(result.objective or 0.0) + float(left_out))
    return value, result.status not in (Status.TIME_LIMIT, Status.INTERRUPTED)


def _means(owner: NDArray[np.int64], values: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    total = np.bincount(owner, values, len(count))
    mean: NDArray[np.float64] = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


def _panel(item: Tuple) -> Panel:
    events = item.events({"P": "p", "Q": "q", "R": "r"})
    return Panel.from_records([(item.judge, event, p) for event, p in zip(events, item.answers.values(), strict=True)])


def _joint_panel(tuples: Sequence[Tuple], judge: str) -> Panel:
    draft = tuples_draft([item for item in tuples if item.judge == judge])
    rows = [(forecast.judge, forecast.event, forecast.probability) for forecast in draft.forecasts]
    return Panel.from_records(rows, laws=draft.laws)


def _tuples(source: str | os.PathLike[str] | Iterable[object]) -> tuple[list[Tuple], list[str]]:
    items = [source] if isinstance(source, str | os.PathLike) else list(source)
    paths = [item for item in items if isinstance(item, str | os.PathLike)]
    if paths and len(paths) == len(items):
        tuples, draft = read_tuples(paths)
        if not tuples:
            raise PanelError("the sources have no tuple with all its answers")
        return tuples, draft.notes
    if not items:
        raise PanelError("no tuples were given")
    return [_tuple(item, number) for number, item in enumerate(items, 1)], []


def _tuple(item: object, number: int) -> Tuple:
    if isinstance(item, Tuple):
        return item
    if not (isinstance(item, tuple) and len(item) == 3 and hasattr(item[2], "items")):
        raise PanelError(f"tuple {number}: expected (judge, check, {{role: probability}}), found {item!r}")
    judge, check, answers = item
    typed: Mapping[str, object] = answers
    return Tuple(str(judge), str(check), check_answers(str(check), typed, f"tuple {number}"), str(number))
