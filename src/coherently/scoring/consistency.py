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
from coherently.conversion.tuples import CHECK_NAMES, CHECKS, Question, counted_once
from coherently.engine import opened
from coherently.errors import PanelError, counted
from coherently.note_log import notes_logged
from coherently.panel import Panel, Tabled, records, to_frame
from coherently.problem import Log
from coherently.scoring.found_checks import MOST_EVENTS, found_checks
from coherently.scoring.frequentist import BETA, frequentist
from coherently.scoring.tuple_distances import AT_ONCE, distance, tuple_distances
from coherently.solve import Exact
from coherently.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from coherently.engine import Engine
    from coherently.panel import Columns, Progress
    from coherently.solve import Signal

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
COUNTED = ("answers", "joint_per_answer")
"""Columns of judges that the record has apart, since its first version had none of them."""
CONSISTENCY_RECORD = Record(
    "consistency",
    2,
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
        RecordField("clip", NUMBER, "answers were moved to [clip, 1 - clip]"),
        RecordField("clipped", WHOLE, "the number of answers that were moved"),
        RecordField("notes", ListOf(TEXT), "what a reader should know"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Consistency(Tabled, Value, Described):
    """Scores of tuples, one entry per tuple, and of judges; 0 is consistent.

    `arbitrage` and `frequentist` have one entry per tuple; `joint`, one entry per judge of `judges`, is the arbitrage
    metric of all forecasts of the judge together (NaN if it was not asked for), and `answers` the number of these
    forecasts (0 if unknown). Answers below `clip` or above `1 - clip` were moved there; `clipped` counts them.
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
            "answers": self.answers,
            "joint_per_answer": np.where(self.answers > 0, self.joint / np.maximum(self.answers, 1), np.nan),
        }

    def check_columns(self) -> Columns:
        """The columns of `check_frame`."""
        pairs = list(dict.fromkeys((item.judge, item.check) for item in self.tuples))
        order = sorted(pairs, key=lambda pair: (self.judges.index(pair[0]), CHECK_NAMES.index(pair[1])))
        number = {pair: index for index, pair in enumerate(order)}
        owner = np.array([number[item.judge, item.check] for item in self.tuples], np.int64)
        count = np.bincount(owner, minlength=len(order))
        return {
            "judge": [judge for judge, _ in order],
            "check": [check for _, check in order],
            "tuples": count,
            "arbitrage": _means(owner, self.arbitrage, count),
            "frequentist": _means(owner, self.frequentist, count),
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
                "judges": records({name: own for name, own in self.judge_columns().items() if name not in COUNTED}),
                "answers": self.answers.tolist(),
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
            answers=np.array(values.get("answers") or [0] * len(judges), np.int64),
            clip=float(values["clip"]),
            clipped=values["clipped"],
            notes=tuple(values["notes"]),
        )

    def frame(self) -> Any:
        """One row per tuple: judge, tuple, check, arbitrage, frequentist."""
        return to_frame(self.columns(), None)

    def judge_frame(self) -> Any:
        """One row per judge: judge, tuples, mean arbitrage, mean frequentist, joint, answers, joint_per_answer."""
        return to_frame(self.judge_columns(), None)

    def check_frame(self) -> Any:
        """One row per judge and check: judge, check, tuples, mean arbitrage, mean frequentist."""
        return to_frame(self.check_columns(), None)


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

    `source` is a panel, whose events hold the checks that their logic makes; or a file or folder of consistency tuples
    (or several); or tuples (judge, check, {role: probability}), with {role: question} as a fourth part where questions
    occur in several tuples. The same tuple twice counts once, and the same question is one event. The arbitrage metric
    clips probabilities to [`clip`, `1 - clip`]; `beta` is the small variance that the frequentist metric adds.
    `joint=False` leaves the joint scores out; `time_limit` is for each score, in seconds; `progress`, `cancel` and
    `engine` are as in `co.aggregate`, and scores that a stop leaves unfinished are upper bounds.

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
    >>> scores.judge_frame()[["judge", "arbitrage", "joint", "answers", "joint_per_answer"]].round(6)
      judge  arbitrage     joint  answers  joint_per_answer
    0   Ann   0.073091  0.146183        5          0.029237
    1   Bob   0.000000  0.000000        2          0.000000
    """
    loss = Log(clip)
    if isinstance(source, Panel):
        tuples, notes = _found_tuples(source)
        panels = {name: source.judge(name) for name in source.judges}
    else:
        tuples, notes = _tuples(source)
        panels = {judge: _joint_panel(tuples, judge) for judge in dict.fromkeys(item.judge for item in tuples)}
    stages = range(0, len(tuples), AT_ONCE)
    work, arbitrage = len(stages) + joint * len(panels), np.zeros(len(tuples))
    apart = np.full(len(panels), np.nan)
    tell = progress or (lambda _: None)
    open_ = 0
    with opened(engine) as executor:
        for done, first in enumerate(stages, 1):
            some = tuples[first : first + AT_ONCE]
            arbitrage[first : first + AT_ONCE], late = tuple_distances(
                some, loss, time_limit, cancel=cancel, engine=executor
            )
            open_ += late
            tell(done / work)
        for index, panel in enumerate(panels.values() if joint else ()):
            apart[index], known = distance(panel, loss, Exact().tolerance, time_limit, cancel=cancel, engine=executor)
            open_ += not known
            tell((len(stages) + index + 1) / work)
    given = source.probability if isinstance(source, Panel) else [p for item in tuples for p in item.answers.values()]
    if open_:
        notes.append(
            f"scores that are only upper bounds, not finished in their time limit of {time_limit:g} s: {open_:,}"
        )
    return Consistency(
        tuple(tuples),
        arbitrage,
        np.array([frequentist(item.check, item.answers, beta) for item in tuples]),
        tuple(panels),
        joint=apart,
        answers=np.array([len(panel) for panel in panels.values()], np.int64),
        clip=clip,
        clipped=int(np.sum((np.asarray(given) < clip) | (np.asarray(given) > 1 - clip))),
        notes=tuple(notes),
    )


def _found_tuples(panel: Panel) -> tuple[list[Tuple], list[str]]:
    """The answers of each judge to the checks that the panel's events hold; repeated answers count by their mean."""
    found = found_checks(panel)
    known = panel.weight > 0
    if panel.lower is not None:
        known &= np.isnan(panel.lower)  # an interval is no answer
    size = len(panel.judges), len(panel.written)
    place = panel.judge_index[known].astype(np.int64) * size[1] + panel.event_index[known]
    count = np.bincount(place, minlength=size[0] * size[1]).reshape(size)
    total = np.bincount(place, panel.probability[known], size[0] * size[1]).reshape(size)
    text, labels = panel.written.text, panel.labels
    tuples = []
    for check, events in found.checks:
        index = list(events)
        roles = tuple(CHECKS.get(check) or map(str, range(1, len(index) + 1)))
        questions = {role: Question(labels.get(text[i], text[i])) for role, i in zip(roles, index, strict=True)}
        name = ", ".join(text[i] for i in index)
        for judge in np.flatnonzero((count[:, index] > 0).all(axis=1)).tolist():
            answers = (total[judge, index] / count[judge, index]).tolist()
            tuples.append(
                Tuple(panel.judges[judge], check, dict(zip(roles, answers, strict=True)), name, questions=questions)
            )
    notes = []
    if found.unsearched:
        notes.append(
            f"{counted(found.unsearched, 'set')} of more than {MOST_EVENTS} events that hang together not searched for "
            "checks of two or three of them; the joint score counts them"
        )
    return tuples, notes


def _means(owner: NDArray[np.int64], values: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    total = np.bincount(owner, values, len(count))
    mean: NDArray[np.float64] = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


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
        return _once(tuples, draft.notes)
    if not items:
        raise PanelError("no tuples were given")
    given = [_tuple(item, number) for number, item in enumerate(items, 1)]
    return _once(given, [])


def _once(tuples: list[Tuple], notes: list[str]) -> tuple[list[Tuple], list[str]]:
    """The tuples without repeats, and a note on these."""
    kept = counted_once(tuples)
    if len(kept) < len(tuples):
        repeated = counted(len(tuples) - len(kept), "tuple")
        notes = [
            *notes,
            f"{repeated} with the judge, check, answers and questions of another one left out; name the questions of "
            "tuples that are not the same",
        ]
    return kept, notes


def _tuple(item: object, number: int) -> Tuple:
    if isinstance(item, Tuple):
        return item
    if not (isinstance(item, tuple) and len(item) in (3, 4) and all(hasattr(each, "items") for each in item[2:])):
        raise PanelError(
            f"tuple {number}: expected (judge, check, {{role: probability}}) or (judge, check, {{role: probability}}, "
            f"{{role: question}}), found {item!r}"
        )
    judge, check, answers, *asked = item
    typed: Mapping[str, object] = answers
    questions = {str(role): Question(str(text)) for role, text in (asked[0] if asked else {}).items()}
    known = check_answers(str(check), typed, f"tuple {number}")
    return Tuple(str(judge), str(check), known, str(number), questions=questions)
