r"""How inconsistent forecasters are: the arbitrage and the frequentist metric of consistency checks.

The arbitrage metric of a tuple of answers p is the largest gain over them that other answers can guarantee,

$$\max_x \min_\omega \sum_i s(x_i, \omega_i) - s(p_i, \omega_i), \qquad s(x, 1) = \ln x, \quad
s(x, 0) = \ln(1 - x),$$

over the possible worlds; a conditional scores 0 where its condition is false (Paleka et al. 2025, arXiv:2412.18544).
For every distribution over worlds the best x are its own probabilities, which gain the sum of the Kullback-Leibler
divergences from p. So, by the minimax theorem, the metric is the least such divergence: the distance of p from
coherence under the log loss. The same holds for all answers of a judge together; there a conditional that logic settles
(`p given p`) is a statement about a certain event, and scores wherever its condition is false, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherently.conversion import Tuple, check_answers, read_tuples
from coherently.conversion.draft import Draft
from coherently.conversion.tuples import CHECKS, Question, counted_once, posed_tuples
from coherently.engine import opened
from coherently.errors import MethodError, PanelError, counted
from coherently.note_log import notes_logged
from coherently.panel import Panel
from coherently.panel.texts import name_some
from coherently.problem import Log
from coherently.scoring.check_bound import proved_by_checks
from coherently.scoring.consistency_scores import ClusterSums, Consistency
from coherently.scoring.event_clusters import cluster_labels
from coherently.scoring.found_checks import MOST_EVENTS, found_checks
from coherently.scoring.frequentist import BETA, frequentist
from coherently.scoring.intervals import unit_sets
from coherently.scoring.tuple_distances import AT_ONCE, joint_distance, tuple_distances
from coherently.solve import Exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coherently.arrays import Indices, Vector
    from coherently.engine import Engine
    from coherently.panel import Progress
    from coherently.scoring.event_clusters import Clusters
    from coherently.scoring.intervals import UnitSets
    from coherently.scoring.tuple_distances import JointDistance
    from coherently.solve import Signal

__all__ = ["Consistency", "consistency"]


@dataclass(frozen=True, slots=True, eq=False)
class _JudgeBatch:
    """Tuples, and the panel of each judge: what all ways of giving answers come to.

    `questions` has, for each tuple, the questions that it is about, by numbers; `capacity` has how often each of these
    was answered. `cluster` has the cluster of each tuple, `rows` that of each row of each judge's panel, `units` the
    independent units of each cluster.
    """

    tuples: list[Tuple]
    panels: dict[str, Panel]
    questions: list[tuple[int, ...]]
    capacity: Vector
    cluster: Indices
    rows: dict[str, Indices]
    units: tuple[tuple[int, ...], ...]
    given: Vector
    notes: list[str]


@notes_logged(lambda scores: scores.notes)
def consistency(
    source: Panel | str | os.PathLike[str] | Iterable[object],
    *,
    clip: float = 1e-4,
    beta: float = BETA,
    joint: bool = True,
    cluster: Clusters | None = None,
    time_limit: float = 10.0,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Consistency:
    """Score how inconsistent answers to related questions are, tuple by tuple and jointly for each judge.

    `source` is a panel, whose events hold the checks that their logic makes; or a file or folder of consistency tuples
    (or several); or tuples (judge, check, {role: probability}), with {role: question} as a fourth part where questions
    occur in several tuples. The same tuple twice counts once, the same question is one event, and the same answer to it
    is one answer. The arbitrage metric clips probabilities to [`clip`, `1 - clip`]; `beta` is the small variance that
    the frequentist metric adds. `joint=False` leaves the joint scores out; `time_limit` is for each score, in seconds;
    `progress`, `cancel` and `engine` are as in `co.aggregate`, and scores that a stop leaves unfinished are upper
    bounds, with proved lower bounds beside them.

    Intervals are over clusters: questions that hang together by shared variables and laws, and those of a panel that
    `cluster` (as in `co.compare`) puts together for reasons that no law states. Where one cluster has more than half of
    the answers, they are over its variables, as in `co.compare`.

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
    known = _panel_answers(source, cluster) if isinstance(source, Panel) else _tuple_answers(source, cluster)
    tuples, panels, notes = known.tuples, known.panels, known.notes
    stages = range(0, len(tuples), AT_ONCE)
    work, arbitrage = len(stages) + joint * len(panels), np.zeros(len(tuples))
    tell = progress or (lambda _: None)
    late = 0
    with opened(engine) as executor:
        for done, first in enumerate(stages, 1):
            some = tuples[first : first + AT_ONCE]
            arbitrage[first : first + AT_ONCE], open_ = tuple_distances(
                some, loss, time_limit, cancel=cancel, engine=executor
            )
            late += open_
            tell(done / work)

        def apart(panel: Panel, done: int) -> JointDistance:
            found = joint_distance(panel, loss, Exact().tolerance, time_limit, cancel=cancel, engine=executor)
            tell((len(stages) + done) / work)
            return found

        together = {name: apart(panel, i) for i, (name, panel) in enumerate(panels.items(), 1)} if joint else {}
    if late:
        notes.append(f"scores of tuples that are only upper bounds, not finished in {time_limit:g} s: {late:,}")
    return _scores(known, arbitrage, together, clip=clip, beta=beta, time_limit=time_limit)


def _scores(
    known: _JudgeBatch,
    arbitrage: Vector,
    together: dict[str, JointDistance],
    *,
    clip: float,
    beta: float,
    time_limit: float,
) -> Consistency:
    value, least = (
        np.array([getattr(together[name], part) if together else np.nan for name in known.panels])
        for part in ("value", "lower_bound")
    )
    proved = _proved(known, arbitrage)
    proved = np.fmin(proved, value)  # repeated conditionals are merged by definition, which loses less than checks do
    least = np.where(np.isnan(value), np.nan, np.fmax(least, proved))
    unfinished = [name for name, one in together.items() if not one.is_finished]
    if unfinished:
        low, high = (float(each[list(known.panels).index(unfinished[0])]) for each in (least, value))
        known.notes.append(
            f"joint scores that are only upper bounds, not finished in their time limit of {time_limit:g} s: "
            f"{name_some(unfinished)}; joint_bound is proved, as in {low:.4g} to {high:.4g} for {unfinished[0]}"
        )
    return Consistency(
        tuple(known.tuples),
        arbitrage,
        np.array([frequentist(item.check, item.answers, beta) for item in known.tuples]),
        tuple(known.panels),
        joint=value,
        answers=np.array([len(panel) for panel in known.panels.values()], np.int64),
        clip=clip,
        clipped=int(np.sum((known.given < clip) | (known.given > 1 - clip))),
        notes=tuple(known.notes),
        joint_bound=least,
        by_checks=proved,
        clusters=_cluster_sums(known, together),
    )


def _proved(known: _JudgeBatch, arbitrage: Vector) -> Vector:
    """What the checks of each judge prove of the joint score, one at a time."""
    own = {name: list[int]() for name in known.panels}
    for place, item in enumerate(known.tuples):
        own[item.judge].append(place)
    return np.array(
        [proved_by_checks([known.questions[i] for i in rows], arbitrage[rows], known.capacity) for rows in own.values()]
    )


def _cluster_sums(known: _JudgeBatch, together: dict[str, JointDistance]) -> ClusterSums:
    """The joint distance and the number of answers of each judge in each cluster."""
    parts = []
    for judge, (name, panel) in enumerate(known.panels.items()):
        cluster = known.rows[name]
        values = together[name].rows if together else np.full(len(panel), np.nan)
        used, place, answers = np.unique(cluster, return_inverse=True, return_counts=True)
        joint = np.bincount(place.ravel(), values, len(used))
        parts.append((np.full(len(used), judge), used, joint, answers))
    judge_, cluster_, joint_, answers_ = (np.concatenate(each) for each in zip(*parts, strict=True))
    return ClusterSums(
        known.cluster,
        judge_.astype(np.int64),
        cluster_,
        joint=joint_,
        answers=answers_.astype(np.int64),
        units=known.units,
    )


def _panel_answers(panel: Panel, cluster: Clusters | None) -> _JudgeBatch:
    """The answers of each judge to the checks that the panel's events hold; repeated answers count by their mean."""
    found = found_checks(panel)
    known = panel.weight > 0
    if panel.lower is not None:
        known &= np.isnan(panel.lower)  # an interval is no answer
    size = len(panel.judges), len(panel.written)
    place = panel.judge_index[known].astype(np.int64) * size[1] + panel.event_index[known]
    count = np.bincount(place, minlength=size[0] * size[1]).reshape(size)
    total = np.bincount(place, panel.probability[known], size[0] * size[1]).reshape(size)
    capacity = np.bincount(place, panel.weight[known], size[0] * size[1]).astype(np.float64)
    sets, of_check = unit_sets(panel, cluster_labels(panel, cluster)).with_checks(events for _, events in found.checks)
    group = sets.events
    text, labels = panel.written.text, panel.labels
    tuples, questions, clusters = list[Tuple](), list[tuple[int, ...]](), list[int]()
    for (check, events), own_set in zip(found.checks, of_check.tolist(), strict=True):
        index = list(events)
        roles = tuple(CHECKS.get(check) or map(str, range(1, len(index) + 1)))
        asked = {role: Question(labels.get(text[i], text[i])) for role, i in zip(roles, index, strict=True)}
        name = ", ".join(text[i] for i in index)
        for judge in np.flatnonzero((count[:, index] > 0).all(axis=1)).tolist():
            answers = (total[judge, index] / count[judge, index]).tolist()
            own = dict(zip(roles, answers, strict=True))
            tuples.append(Tuple(panel.judges[judge], check, own, name, questions=asked))
            questions.append(tuple(judge * size[1] + i for i in index))
            clusters.append(own_set)
    notes = _tied_note(sets)
    if found.unsearched:
        notes.append(
            f"{counted(found.unsearched, 'set')} of more than {MOST_EVENTS} events that hang together not searched for "
            "checks of two or three of them; the joint score counts them"
        )
    return _JudgeBatch(
        tuples,
        {name: panel.judge(name) for name in panel.judges},
        questions,
        capacity,
        cluster=np.array(clusters, np.int64),
        rows={name: group[panel.event_index[panel.judge_index == i]] for i, name in enumerate(panel.judges)},
        units=sets.units,
        given=panel.probability,
        notes=notes,
    )


def _tuple_answers(source: str | os.PathLike[str] | Iterable[object], cluster: Clusters | None) -> _JudgeBatch:
    """Tuples with the panel that they make: of each judge for the joint score, of all for the clusters."""
    if cluster is not None:
        raise MethodError(
            "cluster names events of a panel, and these are tuples, which hang together by their questions: "
            "make a panel of them with co.convert, or leave cluster out"
        )
    tuples, read, notes = _tuples(source)
    alone = read.forecasts
    whole = posed_tuples(tuples, Draft(forecasts=list(alone)))
    every = _drafted(whole.draft)
    asked = [tuple(every.event_index[list(rows)].tolist()) for rows in whole.rows]
    sets, of_tuple = unit_sets(every).with_checks(asked)
    group = sets.events[every.event_index]
    judges = list(dict.fromkeys([*(item.judge for item in tuples), *(each.judge for each in alone)]))
    owner = np.array([row.judge for row in whole.draft.forecasts])
    panels = {}
    for judge in judges:
        own = Draft(forecasts=[each for each in alone if each.judge == judge])
        panels[judge] = _drafted(posed_tuples([item for item in tuples if item.judge == judge], own).draft)
    return _JudgeBatch(
        tuples,
        panels,
        questions=list(whole.rows),
        capacity=np.ones(len(owner)),
        cluster=of_tuple,
        rows={judge: group[owner == judge] for judge in judges},
        units=sets.units,
        given=np.array([row.probability for row in whole.draft.forecasts]),
        notes=[*notes, *_tied_note(sets)],
    )


def _tied_note(sets: UnitSets) -> list[str]:
    """What to know of intervals where most questions hang together."""
    if all(len(units) == 1 for units in sets.units):
        return []
    return [
        "most answers are about questions that hang together by shared variables: intervals take answers without a "
        "common variable or law as independent, and are rougher than those over clusters"
    ]


def _drafted(draft: Draft) -> Panel:
    rows = [(forecast.judge, forecast.event, forecast.probability) for forecast in draft.forecasts]
    return Panel.from_records(rows, laws=draft.laws)


def _tuples(source: str | os.PathLike[str] | Iterable[object]) -> tuple[list[Tuple], Draft, list[str]]:
    """The tuples, what was read beside them, and notes."""
    items = [source] if isinstance(source, str | os.PathLike) else list(source)
    paths = [item for item in items if isinstance(item, str | os.PathLike)]
    if paths and len(paths) == len(items):
        tuples, draft = read_tuples(paths)
        if not tuples:
            raise PanelError("the sources have no tuple with all its answers")
        kept, notes = _once(tuples, draft.notes)
        return kept, draft, notes
    if not items:
        raise PanelError("no tuples were given")
    kept, notes = _once([_tuple(item, number) for number, item in enumerate(items, 1)], [])
    return kept, Draft(), notes


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
