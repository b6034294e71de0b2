"""Learn a recipe from resolved events, and say honestly how good it is on events that it did not learn from.

What is learned in a fold is learned from the other folds (or the earlier ones), and no component has events in two
folds. Components that a common shock ties, which no law states, still leak into each other, unless they have a cluster
or lie in the order of time; a note says so where names or dates suggest it. Trials are ranked inside the folds that
teach: for fold k, what folds other than k and l teach is scored on l.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coherently.engine import opened
from coherently.errors import MethodError, PanelError
from coherently.note_log import notes_logged
from coherently.panel import Panel
from coherently.panel.weights import with_weights
from coherently.problem import components_of, pose, pose_again, settled, unit_of
from coherently.problem.pool_kinds import OPTIONS, PLAIN_KINDS, pool_words
from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from coherently.scoring.event_clusters import cluster_labels
from coherently.scoring.intervals import Retaught
from coherently.scoring.literature import PUBLISHED_FITS, FittedRival, held_out_answers
from coherently.scoring.scores import NO_OUTCOMES
from coherently.scoring.tuning.blocks import ResolvedEvents, lies_in_time, make_blocks
from coherently.scoring.tuning.judge_lessons import judge_lessons
from coherently.scoring.tuning.judge_skill import error_weights, judge_losses
from coherently.scoring.tuning.lines import fitted_line
from coherently.scoring.tuning.past import what_is_shared, where_scored
from coherently.scoring.tuning.suspected_ties import suspicion_of
from coherently.scoring.tuning.trials import LESSON_PLANS, LessonPlan, shares_of
from coherently.scoring.tuning.tuned import Tuned, how_scored
from coherently.solve import Exact, Pool, Recipe
from coherently.solve.budget import asked_budget
from coherently.solve.methods.judge_factors import LINE_CLIP, log_odds
from coherently.solve.methods.recipe import BLEND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.arrays import Indices, Vector
    from coherently.engine import Engine
    from coherently.panel import Progress
    from coherently.panel.weights import Weights
    from coherently.problem import Problem
    from coherently.problem.problem import Way
    from coherently.scoring.event_clusters import Clusters
    from coherently.solve import Budget, Signal

MOST_SCORED = 2_000
"""Maximum number of components on which trials are scored with the coherent step; a panel with more has a sample."""
ROUGH = 1e-3
"""The tolerance of the coherent step of trials: it ranks them."""
OVERS = ("components", "time")
"""What folds may be made of."""
STOPPED = "stopped before all recipes were finished: what is learned rests on answers that are not the nearest"
"""What is said of a recipe that was learned in haste."""
MEANINGS = {
    "Exact": "the nearest coherent forecasts to the panel's",
    "Default recipe": "the recipe that is used if nothing can be learned",
    "Tuned pool": "the tuned recipe without its coherent step",
    "Tuned recipe": "the recipe that other events teach",
}
"""The rows of the scores after those of the judges and of pools."""
LAST = 3
"""Number of rows after those of rivals: the default recipe, the tuned pool, the tuned recipe."""


@notes_logged(lambda tuned: tuned.scores.notes)
def tune(
    panel: Panel,
    *,
    history: Panel | None = None,
    over: str | None = None,
    cluster: Clusters | None = None,
    literature: bool = False,
    weights: Weights | None = None,
    time_limit: float = 60.0,
    progress: Progress | None = None,
    cancel: Signal | None = None,
    engine: Engine | None = None,
) -> Tuned:
    """Learn a recipe (see `co.Recipe`) from a panel's resolved events, or from those of a past panel, `history`.

    Scores are out of fold: what is learned for a fold of events comes from the other folds, which share no variable,
    law or condition with it; with `over="time"`, only from components whose last forecast is earlier (events with
    nothing earlier have the default recipe, and so have those with a forecast without a time). That is the default
    where all forecasts have times and components differ in the last of them; elsewhere, and with a `cluster`, folds are
    of "components". `cluster` names events that come true together for reasons that no law states, such as a date or a
    place, as in `co.compare`: they stay in one fold, and count as one in intervals. These are wider than those of
    `co.compare` by what the luck of a fold that teaches moves: folds that teach each other share it. Without clusters,
    components with a common shock teach each other what nobody could have known; if names or dates suggest that, a
    note says what the gain is with these kept together.

    What is tried are the default recipe, the linear average, and log pools whose judges count by their past scores, or
    by errors that they do not share, and whose log-odds lie on a line, with shrinkage instead of a least number of
    outcomes; each is scored with the coherent step on folds that did not teach it, and blended by that: what is learned
    has most of the shares if it is better by more than a standard error. If the result scores worse out of fold than
    the default recipe, that is kept. With `history`, everything is learned from it, and scored on the panel's resolved
    events, if it has any. With `literature`, the scores have rows of rivals, too, fitted in the same folds: published
    rules that learn from outcomes (see `co.literature`), and each pool followed by exact. `time_limit` is for each
    recipe that is tried, in seconds. `weights`,
    `progress`, `cancel` and `engine` are as in `co.aggregate`; what is learned after `cancel` was set rests on answers
    that are not finished, and a note says so.

    >>> import coherently as co
    >>> panel = co.simulate(judges=20, variables=40, compound=0, basic=20, seed=3)
    >>> tuned = co.tune(panel)
    >>> tuned.recipe.then.name, tuned.scores.methods[-1]
    ('exact', 'Tuned recipe')
    """
    for one in (panel, history):
        if one is not None and not isinstance(one, Panel):
            raise PanelError(f"tune takes a Panel, not a {type(one).__name__}; see co.read_panel")
    if over is not None and over not in OVERS:
        raise MethodError(f"over is {over!r}; folds may be made of {' or '.join(OVERS)}")
    panel, said = with_weights(panel, weights)
    ways = FoldOptions(over, cluster, literature)
    with opened(engine) as executor:
        budget = asked_budget(progress, cancel, executor)
        if history is None:
            tuned = _cross_fitted(panel, ways, time_limit, budget)
        else:
            tuned = _from_history(panel, history, ways, time_limit, budget=budget)
    stopped = (STOPPED,) if budget.is_stopped else ()
    notes = (*said, *tuned.scores.notes, *stopped)
    return replace(tuned, scores=replace(tuned.scores, notes=notes, interrupted=budget.is_stopped))


@dataclass(frozen=True, slots=True, eq=False)
class FoldOptions:
    """What folds are made of, None for the default, and the clusters that stay together, if any were named.

    `literature` is whether rivals have rows, too.
    """

    over: str | None = None
    cluster: Clusters | None = None
    literature: bool = False


@dataclass(slots=True, eq=False)
class Kitchen:
    """A panel with its resolved events in folds, and what was tried on it.

    `label` has the cluster of each event as written, if clusters were named. `values` has the answers of methods that
    no outcome has touched, `bare` and `factors` their numbers before the coherent step and their weights of judges;
    `lessons` is what folds have taught, and `losses` what that costs on other folds.
    """

    panel: Panel
    problem: Problem
    blocks: ResolvedEvents
    label: Indices | None
    time_limit: float
    budget: Budget
    literature: bool = False
    values: dict[Recipe | Pool | Exact, Vector] = field(default_factory=dict)
    lessons: dict[tuple[LessonPlan, tuple[int, ...]], Recipe] = field(default_factory=dict)
    losses: dict[tuple[LessonPlan, tuple[int, ...], int], Vector] = field(default_factory=dict)
    parts: dict[int, tuple[Problem, Way]] = field(default_factory=dict)
    bare: dict[Recipe, Vector] = field(default_factory=dict)
    factors: list[Vector] = field(default_factory=list)

    @staticmethod
    def of(panel: Panel, ways: FoldOptions, time_limit: float, budget: Budget) -> Kitchen:
        """Pose the panel; an error says why nothing can be learned from it."""
        outcome = panel.written.outcome[panel.event_index]
        if not (outcome >= 0).any():
            raise PanelError(NO_OUTCOMES)
        if ways.over == "time" and (panel.time is None or np.isnan(panel.time).all()):
            raise PanelError("folds over time need a column of times, which this panel does not have")
        plain = settled(panel)
        problem = pose(plain, weight_unit=unit_of(panel.weight))
        label = cluster_labels(panel, ways.cluster)
        by_time = ways.over == "time" or (ways.over is None and label is None and lies_in_time(plain, problem))
        blocks = make_blocks(plain, problem, by_time=by_time, label=label)
        if len(np.unique(blocks.outcome)) < 2:
            which = "true" if blocks.outcome.all() else "false"
            raise PanelError(f"all {len(blocks.event):,} resolved events are {which}: nothing can be learned from that")
        if blocks.components == 1 and not by_time:
            tied = "component" if label is None else "component or cluster"
            raise PanelError(
                f"all resolved events hang together in one {tied}, so none can be scored with what others teach"
            )
        return Kitchen(panel, problem, blocks, label, time_limit=time_limit, budget=budget, literature=ways.literature)

    @property
    def over(self) -> str:
        """What the folds are made of."""
        return "time" if self.blocks.by_time else "components"

    def clusters(self) -> Indices | None:
        """What intervals take as one: the clusters that were named or, over time, events of the same time."""
        return self.blocks.component if self.blocks.by_time else self.label

    def stricter(self) -> tuple[Kitchen, str] | None:
        """The same with components kept together that look tied, and what makes them look so."""
        if self.label is not None:
            return None
        blocks = self.blocks
        found = suspicion_of(self.panel, blocks.component, blocks.event, by_time=blocks.by_time)
        if found is None:
            return None
        blocks = make_blocks(settled(self.panel), self.problem, by_time=blocks.by_time, label=found.label)
        other = replace(self, blocks=blocks, label=found.label, lessons={}, losses={}, parts={})
        return (other, found.seen) if blocks.components > 1 else None

    def value(self, recipe: Recipe | Pool | Exact) -> Vector:
        """The answer of a method, which does not depend on any outcome."""
        if recipe not in self.values:
            own = asked_budget(None, self.budget.cancel, self.budget.engine)
            if isinstance(recipe, Recipe) and recipe.then is not None and recipe.loss == "brier":
                again = pose_again(self.problem, self.numbers(recipe))
                self.values[recipe] = recipe.then.solve(again, own).value
            else:
                self.values[recipe] = recipe.solve(self.problem, own).value
            self.budget.progress(min(0.95, len(self.values) / 30))
        return self.values[recipe]

    def default(self) -> Recipe:
        """The default recipe, within the time for one."""
        return Recipe(then=Exact(time_limit=self.time_limit))

    def plain(self) -> Recipe:
        """The linear average, made coherent."""
        return Recipe("linear", then=Exact(time_limit=self.time_limit))

    def taught(self, plan: LessonPlan, folds: tuple[int, ...]) -> Recipe:
        """What some folds teach: judges' weights and a line, without the coherent step."""
        if (plan, folds) not in self.lessons:
            blocks = self.blocks
            among = np.isin(blocks.fold[blocks.block], folds)
            event, truth = blocks.event[among], blocks.outcome[among]
            outcome = np.full(len(self.problem.weight), np.nan)
            outcome[event] = truth
            weights = error_weights(self.problem, outcome) if plan.by_errors else None
            if weights is None:
                weights = judge_losses(self.problem, outcome).weights(plan.power)
            judges = tuple(zip(self.problem.forecasts.judges, weights.tolist(), strict=True))
            pool = Recipe("log", judges=judges, then=None)
            odds = log_odds(pool.pooled(self.problem)[event], LINE_CLIP)
            exponent, shift = fitted_line(odds, truth, blocks.weight[among], plan.ridge)
            self.lessons[plan, folds] = replace(pool, exponent=exponent, shift=shift)
        return self.lessons[plan, folds]

    def loss(self, plan: LessonPlan, folds: tuple[int, ...], fold: int) -> Vector:
        """What is lost on a fold by what others teach, made coherent: one entry per component of the sample."""
        key = plan, folds, fold
        if key not in self.losses:
            part, way = self.part(fold)
            numbers = self.taught(plan, folds).numbers(self.problem)
            then = Exact(time_limit=self.time_limit, tolerance=ROUGH)
            own = asked_budget(None, self.budget.cancel, self.budget.engine)
            value = way.back(then.solve(pose_again(part, numbers[way.units]), own).value)
            self.losses[key] = self.blocks.loss(value)[self.sample(fold)]
            self.budget.progress(min(0.95, len(self.losses) / (25 * len(LESSON_PLANS))))
        return self.losses[key]

    def sample(self, fold: int) -> Indices:
        """The blocks of a fold on which trials are scored: all, or in large panels an even sample of them."""
        own = np.flatnonzero(self.blocks.fold == fold)
        most = max(1, MOST_SCORED * len(own) // max(len(self.blocks.fold), 1))
        return own[np.linspace(0, len(own) - 1, min(len(own), most)).astype(np.int64)]

    def part(self, fold: int) -> tuple[Problem, Way]:
        """The problem of the components of a fold's sample."""
        if fold not in self.parts:
            blocks = self.blocks
            chosen = np.isin(blocks.component, blocks.component[blocks.event[np.isin(blocks.block, self.sample(fold))]])
            tied = self.problem.merged.components()
            own = components_of(self.problem)
            self.parts[fold] = self.problem.keep(np.isin(tied, own[chosen & (own >= 0)]))
        return self.parts[fold]

    def learn(self, folds: tuple[int, ...]) -> Recipe:
        """The recipe that some folds teach: a blend of what scores best on each of them if the others teach."""
        return self.blend(self.shares(folds), folds)

    def shares(self, folds: tuple[int, ...], without: int | None = None) -> Vector:
        """How much each trial counts if only some folds have outcomes: the default, the linear average, the plans.

        `without` is a fold that is not scored. It still teaches for the others: leaving that out, too, would take a
        coherent step for each three folds.
        """
        blocks, fixed = self.blocks, (self.default(), self.plain())
        scored = [(k, tuple(j for j in blocks.teachers(k) if j in folds)) for k in folds]
        scored = [(k, others) for k, others in scored if others and k != without]
        known = [[self.blocks.loss(self.value(one))[self.sample(k)] for k, _ in scored] for one in fixed]
        taught = [[self.loss(plan, others, k) for k, others in scored] for plan in LESSON_PLANS]
        groups = max(int(np.isin(blocks.fold, [k for k in folds if k != without]).sum()), 1)
        return shares_of(_joined_rows(known), _joined_rows(taught), groups)

    def weights(self, share: Vector, folds: tuple[int, ...]) -> Vector:
        """How much each judge counts in the trials by their shares, as some folds teach them; 1 for a mean judge."""
        if not self.factors:
            self.factors.extend(one.factors(self.problem) for one in (self.default(), self.plain()))
        taught = [self.taught(plan, folds).factors(self.problem) for plan in LESSON_PLANS]
        return np.asarray(share @ np.stack([*self.factors, *taught]))

    def numbers(self, recipe: Recipe) -> Vector:
        """The numbers of a recipe before its coherent step; those of trials that need no outcomes are made once."""
        if recipe.parts:
            return recipe.recalibrated(recipe.blended([self.numbers(part) for _, part in recipe.parts]))
        if recipe.judges:
            return recipe.numbers(self.problem)
        bare = replace(recipe, then=None)
        if bare not in self.bare:
            self.bare[bare] = recipe.numbers(self.problem)
        return self.bare[bare]

    def blend(self, share: Vector, folds: tuple[int, ...]) -> Recipe:
        """The trials by their shares, each as some folds teach it."""
        fixed = (self.default(), self.plain())
        tried = [replace(one, then=None) for one in fixed] + [self.taught(plan, folds) for plan in LESSON_PLANS]
        parts = tuple((weight, one) for weight, one in zip(share.tolist(), tried, strict=True) if weight > 0)
        then = Exact(time_limit=self.time_limit)
        if len(parts) == 1:
            return replace(parts[0][1], then=then)
        return Recipe(BLEND, parts=parts, then=then)


def _joined_rows(rows: list[list[Vector]]) -> Vector:
    return np.array([np.concatenate([np.empty(0), *row]) for row in rows])


def _cross_fitted(panel: Panel, ways: FoldOptions, time_limit: float, budget: Budget) -> Tuned:
    kitchen = Kitchen.of(panel, ways, time_limit, budget)
    learned = out_of_fold(kitchen)
    recipe, is_learned = _chosen(kitchen, learned[0])
    tuned = _tuned(kitchen, recipe, learned, kitchen.over, is_learned=is_learned)
    tuned = replace(tuned, judges=judge_lessons(kitchen, recipe, is_learned=is_learned))
    return _with_notes(tuned, _tie_note(kitchen, learned[0]))


def _chosen(kitchen: Kitchen, learned: Vector) -> tuple[Recipe, bool]:
    """The recipe that all folds teach, or the default if what was learned scores worse out of fold, and which it is."""
    blocks, default = kitchen.blocks, kitchen.default()
    if blocks.loss(learned).sum() > blocks.loss(kitchen.value(default)).sum():
        return default, False
    return kitchen.learn(blocks.folds), True


def _with_notes(tuned: Tuned, notes: tuple[str, ...]) -> Tuned:
    return replace(tuned, scores=replace(tuned.scores, notes=(*tuned.scores.notes, *notes)))


def _tie_note(kitchen: Kitchen, learned: Vector) -> tuple[str, ...]:
    """What the gain is if components are kept together that look tied by more than laws."""
    found = kitchen.stricter()
    if found is None:
        return ()
    other, seen = found
    blocks, linear = kitchen.blocks, kitchen.value(Pool("linear"))
    gains = [float(np.sum(blocks.loss(linear) - blocks.loss(value))) for value in (learned, out_of_fold(other)[0])]
    return (
        f"events look tied by more than laws: {blocks.components:,} components have {seen}. With these kept together, "
        f"the gain over the linear average is {gains[1]:+.4f}; in these scores it is {gains[0]:+.4f}. "
        "Name the clusters (cluster=) to have folds and intervals by them",
    )


def out_of_fold(kitchen: Kitchen) -> tuple[Vector, Vector]:
    """The answers of the recipe that is learned without the event's fold, with the coherent step and without it.

    Events that no fold can be taught for, and those whose component has no resolved event, have the default recipe.
    """
    blocks, default = kitchen.blocks, kitchen.default()
    whole, bare = kitchen.value(default).copy(), kitchen.numbers(default)
    of_event = blocks.fold_of_events(len(whole))
    numbers = bare.copy()
    for k in blocks.folds:
        if blocks.teachers(k):
            here = of_event == k
            numbers[here] = kitchen.numbers(kitchen.learn(blocks.teachers(k)))[here]
    # No component has events in two folds, so that one coherent step does for all of them.
    own = asked_budget(None, kitchen.budget.cancel, kitchen.budget.engine)
    found = Exact(time_limit=kitchen.time_limit).solve(pose_again(kitchen.problem, numbers), own).value
    taught = np.isin(of_event, [k for k in blocks.folds if blocks.teachers(k)])
    return np.where(taught, found, whole), np.where(taught, numbers, bare)


def retaught(kitchen: Kitchen, learned: tuple[Vector, Vector], rows: tuple[int, int]) -> Retaught | None:
    """The learned answers without and with the coherent step, in these `rows`, if one fold less teaches, in turn.

    None if no fold teaches back. Of two folds, the one is all that teaches for the other: without it, the default
    recipe is left, and all that was learned counts as luck.
    """
    blocks = kitchen.blocks
    omissions = len(blocks.folds) - 1
    if blocks.by_time or omissions < 1:
        return None
    whole, bare = learned
    if omissions == 1:
        default = kitchen.default()
        values = np.array([[bare, whole], [kitchen.numbers(default), kitchen.value(default)]])
        return Retaught(values, rows, blocks.component, factor=2.0)  # squares around the mean of two are halved
    numbers = _without_a_teacher(kitchen, bare)
    then = Exact(time_limit=kitchen.time_limit, tolerance=ROUGH)
    budget = partial(asked_budget, None, kitchen.budget.cancel, kitchen.budget.engine)
    pairs = [[one, then.solve(pose_again(kitchen.problem, one), budget()).value] for one in numbers]
    return Retaught(np.array(pairs), rows, blocks.component, factor=(omissions - 1) / omissions)


def _without_a_teacher(kitchen: Kitchen, bare: Vector) -> Vector:
    """The learned numbers before the coherent step: in row i, the teacher number i of each fold is left out.

    What is left if k and j are left out serves both, for the answers in k without j and in j without k.
    """
    blocks = kitchen.blocks
    of_event = blocks.fold_of_events(len(bare))
    found = np.repeat(bare[None], len(blocks.folds) - 1, axis=0)
    fixed = [kitchen.numbers(one) for one in (kitchen.default(), kitchen.plain())]
    for k, j in combinations(blocks.folds, 2):
        rest = tuple(i for i in blocks.folds if i not in (k, j))
        tried = [*fixed, *(kitchen.taught(plan, rest).numbers(kitchen.problem) for plan in LESSON_PLANS)]
        for here, left_out in ((k, j), (j, k)):
            teachers = blocks.teachers(here)
            share = kitchen.shares(teachers, without=left_out)
            own = of_event == here
            chosen = [numbers[own] for numbers, weight in zip(tried, share, strict=True) if weight > 0]
            recipe = kitchen.blend(share, rest)
            found[teachers.index(left_out), own] = recipe.blended(chosen) if recipe.parts else chosen[0]
    return found


def _from_history(panel: Panel, history: Panel, ways: FoldOptions, time_limit: float, budget: Budget) -> Tuned:
    is_scored = bool((panel.written.outcome[panel.event_index] >= 0).any())
    try:
        past = Kitchen.of(history, FoldOptions("components") if is_scored else ways, time_limit, budget)
    except PanelError as error:
        raise PanelError(f"the history teaches nothing: {error}") from None
    words = partial(replace, over="history", scored=where_scored(panel, history), remark=what_is_shared(panel, history))
    if not is_scored:
        return words(_cross_fitted(history, ways, time_limit, budget))
    recipe, is_learned = _chosen(past, out_of_fold(past)[0])
    plain = settled(panel)
    problem = pose(plain, weight_unit=unit_of(panel.weight))
    blocks, label = make_blocks(plain, problem, by_time=False), cluster_labels(panel, ways.cluster)
    now = Kitchen(panel, problem, blocks, label, time_limit=time_limit, budget=budget, literature=ways.literature)
    learned = now.value(recipe), recipe.numbers(problem)
    found = _tuned(now, recipe, learned, "history", is_learned=is_learned)
    judges = judge_lessons(past, recipe, is_learned=is_learned)
    return words(found, components=past.blocks.components, events=len(past.blocks.event), judges=judges)


def _rivals(kitchen: Kitchen) -> Iterator[tuple[Candidate, Vector]]:
    """Pools followed by exact, and rules of the literature, fitted in the same folds, if they are wanted."""
    if not kitchen.literature:
        return
    then = Exact(time_limit=kitchen.time_limit)
    for kind in OPTIONS:
        if kind != "linear":  # which is the row Exact
            name, meaning = pool_words(kind)
            yield Candidate(f"{name}, then exact", f"{meaning}; then exact"), kitchen.value(Pool(kind, then=then))
    rivals = tuple(FittedRival(word, after) for word in PUBLISHED_FITS for after in (None, then))
    found = held_out_answers(kitchen.panel, kitchen.problem, kitchen.blocks, rivals, budget=kitchen.budget)
    yield from ((Candidate(one.name, one.meaning), value) for one, value in zip(rivals, found, strict=True))


def _by_forecast(panel: Panel, values: list[Vector]) -> Vector:
    """The judges' own probabilities, then those of methods: one row each, one column per forecast."""
    return np.stack([panel.probability, *(value[panel.event_index] for value in values)])


def _tuned(kitchen: Kitchen, recipe: Recipe, learned: tuple[Vector, Vector], over: str, *, is_learned: bool) -> Tuned:
    whole, bare = learned
    kinds = OPTIONS if kitchen.literature else PLAIN_KINDS
    then = Exact(time_limit=kitchen.time_limit)
    exact = kitchen.plain() if kitchen.panel.lower is None else then  # pools take intervals as points
    values = [
        *(kitchen.value(Pool(kind)) for kind in kinds),
        kitchen.value(exact),
        kitchen.value(kitchen.default()),
        bare,
        whole,
    ]
    panel = kitchen.panel
    words = [("Raw", "the judges' own forecasts"), *map(pool_words, kinds), *MEANINGS.items()]
    rows = [Candidate(name, meaning) for name, meaning in words]
    for candidate, value in _rivals(kitchen):
        rows.insert(-LAST, candidate)
        values.insert(-LAST, value)
    blocks = kitchen.blocks
    again = None if over == "history" else retaught(kitchen, learned, (len(rows) - 2, len(rows) - 1))
    kitchen.budget.progress(1.0)
    scores = compare_forecasts(
        panel, tuple(rows), _by_forecast(panel, values), label=kitchen.clusters(), retaught=again
    )
    scored, remark = how_scored(over, blocks.untaught, len(blocks.event))
    return Tuned(
        recipe,
        is_learned,
        over,
        blocks.components,
        events=len(blocks.event),
        scores=scores,
        scored=scored,
        remark=remark,
    )
