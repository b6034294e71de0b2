"""Learn a recipe from resolved events, and say honestly how good it is on events that it did not learn from.

What is learned in a fold is learned from the other folds (or the earlier ones), and no component has events in two
blocks. Components that a common shock ties, which no law states, still leak into each other, unless they have a cluster
or lie in the order of time; a note says so where names or dates suggest it. No answer of a recipe depends on outcomes:
each is found once for the whole panel, and folds only add up scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherently.engine import opened
from coherently.errors import MethodError, PanelError
from coherently.note_log import notes_logged
from coherently.panel import Panel
from coherently.panel.weights import with_weights
from coherently.problem import pose, settled, unit_of
from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from coherently.scoring.event_clusters import cluster_labels
from coherently.scoring.scores import NO_OUTCOMES
from coherently.scoring.tuning.blocks import ResolvedEvents, lies_in_time, make_blocks
from coherently.scoring.tuning.lines import EXPONENTS, SHIFTS, LineScores, score_lines
from coherently.scoring.tuning.past import what_is_shared, where_scored
from coherently.scoring.tuning.suspected_ties import suspicion_of
from coherently.scoring.tuning.tuned import Tuned, how_scored
from coherently.solve import Exact, Pool, Recipe
from coherently.solve.budget import asked_budget
from coherently.solve.methods.recipe import POOLS

if TYPE_CHECKING:
    from coherently.arrays import Indices, Vector
    from coherently.engine import Engine
    from coherently.panel import Progress
    from coherently.panel.weights import Weights
    from coherently.problem import Problem
    from coherently.scoring.event_clusters import Clusters
    from coherently.solve import Budget, Signal

MOST_FOR_LOG = 2_000
"""Maximum number of components of a panel for which the log loss is tried, too: it takes ten times as long."""
LEAST = 30
"""Minimum number of resolved components to learn from."""
OVERS = ("components", "time")
"""What folds may be made of."""
STOPPED = "stopped before all recipes were finished: what is learned rests on answers that are not the nearest"
"""What is said of a recipe that was learned in haste."""
MEANINGS = {
    "Raw": "the judges' own forecasts",
    "Linear average": "the weighted mean of the judges' forecasts of each event",
    "Median": "the weighted median of the judges' forecasts of each event",
    "Trimmed mean": "the weighted mean without the highest and lowest forecasts of each event",
    "Log pool": "the mean log-odds of the judges' forecasts of each event",
    "Normalised average": "the linear average, divided by its sum over each partition",
    "Exact": "the nearest coherent forecasts to the panel's",
    "Default recipe": "the recipe that is used if nothing can be learned",
    "Tuned pool": "the best pool and line, learned from other events, not made coherent",
    "Tuned recipe": "the best recipe, learned from other events",
}
"""The rows of the scores."""


@notes_logged(lambda tuned: tuned.scores.notes)
def tune(
    panel: Panel,
    *,
    history: Panel | None = None,
    over: str | None = None,
    cluster: Clusters | None = None,
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
    place, as in `co.compare`: they stay in one fold, and count as one in intervals. Without one, components with a
    common shock teach each other what nobody could have known; if names or dates suggest that, a note says what the
    gain is with these kept together. With `history`,
    everything is learned from it, and scored on the panel's resolved events, if it has any. With fewer than 30
    resolved components the default recipe is kept. `time_limit` is for each recipe that is tried, in seconds.
    `weights`, `progress`, `cancel` and `engine` are as in `co.aggregate`; what is learned after `cancel` was set rests
    on answers that are not finished, and a note says so.

    >>> import coherently as co
    >>> panel = co.simulate(judges=20, variables=40, compound=0, basic=20, seed=3)
    >>> tuned = co.tune(panel)
    >>> tuned.recipe.pool in ("linear", "trimmed", "median", "log"), tuned.is_learned
    (True, True)
    """
    for one in (panel, history):
        if one is not None and not isinstance(one, Panel):
            raise PanelError(f"tune takes a Panel, not a {type(one).__name__}; see co.read_panel")
    if over is not None and over not in OVERS:
        raise MethodError(f"over is {over!r}; folds may be made of {' or '.join(OVERS)}")
    panel, said = with_weights(panel, weights)
    ways = FoldOptions(over, cluster)
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
    """What folds are made of, None for the default, and the clusters that stay together, if any were named."""

    over: str | None = None
    cluster: Clusters | None = None


@dataclass(slots=True, eq=False)
class Kitchen:
    """A panel with its resolved events in blocks, and the recipes that were tried on it.

    `label` has the cluster of each event as written, if clusters were named.
    """

    panel: Panel
    problem: Problem
    blocks: ResolvedEvents
    label: Indices | None
    time_limit: float
    budget: Budget
    values: dict[Recipe | Pool | Exact, Vector] = field(default_factory=dict)
    lines: dict[str, LineScores] = field(default_factory=dict)

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
        if blocks.components == 1:
            tied = "component" if label is None else "component or cluster"
            raise PanelError(
                f"all resolved events hang together in one {tied}, so none can be scored with what others teach"
            )
        return Kitchen(panel, problem, blocks, label, time_limit=time_limit, budget=budget)

    @property
    def over(self) -> str:
        """What the folds are made of."""
        return "time" if self.blocks.by_time else "components"

    def stricter(self) -> tuple[Kitchen, str] | None:
        """The same with components kept together that look tied, and what makes them look so."""
        if self.label is not None:
            return None
        blocks = self.blocks
        found = suspicion_of(self.panel, blocks.component, blocks.event, by_time=blocks.by_time)
        if found is None:
            return None
        blocks = make_blocks(settled(self.panel), self.problem, by_time=blocks.by_time, label=found.label)
        other = replace(self, blocks=blocks, label=found.label)
        return (other, found.seen) if blocks.components > 1 else None

    def value(self, recipe: Recipe | Pool | Exact) -> Vector:
        """The answer of a method, which does not depend on any outcome."""
        if recipe not in self.values:
            own = asked_budget(None, self.budget.cancel, self.budget.engine)
            self.values[recipe] = recipe.solve(self.problem, own).value
            self.budget.progress(min(0.95, len(self.values) / 30))
        return self.values[recipe]

    def default(self) -> Recipe:
        """The default recipe, within the time for one."""
        return Recipe(then=Exact(time_limit=self.time_limit))

    def bare(self, among: Indices) -> list[Recipe]:
        """For each pool the line that some blocks teach, without coherence."""
        found = []
        for pool in POOLS:
            plain = Recipe(pool, then=None)
            if pool not in self.lines:
                self.lines[pool] = score_lines(self.blocks, self.value(plain), plain.clip)
            i, k = self.lines[pool].fit(among)
            found.append(replace(plain, exponent=float(EXPONENTS[i]), shift=float(SHIFTS[k])))
        return found

    def best(self, recipes: list[Recipe], among: Indices) -> Recipe:
        """The recipe that scores best on some blocks, the first of equally good ones."""
        return min(recipes, key=lambda recipe: self.blocks.loss(self.value(recipe))[among].sum())

    def learn(self, among: Indices) -> tuple[Recipe, Recipe]:
        """The best recipe, and the best one without coherence, on some blocks."""
        then, bare = Exact(time_limit=self.time_limit), self.bare(among)
        best = self.best([self.default(), *(replace(recipe, then=then) for recipe in bare)], among)
        if int(self.blocks.component.max()) < MOST_FOR_LOG:
            best = self.best([best, replace(best, loss="log")], among)
        return best, self.best(bare, among)


def _cross_fitted(panel: Panel, ways: FoldOptions, time_limit: float, budget: Budget) -> Tuned:
    kitchen = Kitchen.of(panel, ways, time_limit, budget)
    default, enough = kitchen.default(), kitchen.blocks.components >= LEAST
    if not enough:
        plain = kitchen.value(default), kitchen.value(replace(default, then=None))
        return _tuned(kitchen, default, plain, kitchen.over, is_learned=False)
    recipe = kitchen.learn(np.arange(len(kitchen.blocks.fold)))[0]
    learned = out_of_fold(kitchen)
    return _with_notes(_tuned(kitchen, recipe, learned, kitchen.over, is_learned=True), _tie_note(kitchen, learned[0]))


def _with_notes(tuned: Tuned, notes: tuple[str, ...]) -> Tuned:
    return replace(tuned, scores=replace(tuned.scores, notes=(*tuned.scores.notes, *notes)))


def _tie_note(kitchen: Kitchen, learned: Vector) -> tuple[str, ...]:
    """What the gain is if components are kept together that look tied by more than laws."""
    found = kitchen.stricter()
    if found is None:
        return ()
    other, seen = found
    blocks, linear = kitchen.blocks, kitchen.value(Recipe("linear", then=None))
    gains = [float(np.sum(blocks.loss(linear) - blocks.loss(value))) for value in (learned, out_of_fold(other)[0])]
    return (
        f"events look tied by more than laws: {blocks.components:,} components have {seen}. With these kept together, "
        f"the gain over the linear average is {gains[1]:+.4f}; in these scores it is {gains[0]:+.4f}. "
        "Name the clusters (cluster=) to have folds and intervals by them",
    )


def out_of_fold(kitchen: Kitchen) -> tuple[Vector, Vector]:
    """The answers of the best recipe, and of the best one without coherence, each learned without the event's fold.

    Events that no fold can be taught for, and those whose component has no resolved event, have the default recipe.
    """
    blocks, default = kitchen.blocks, kitchen.default()
    whole, bare = kitchen.value(default).copy(), kitchen.value(replace(default, then=None)).copy()
    of_event = _fold_of_events(blocks, len(whole))
    for k in np.unique(blocks.fold).tolist():
        among = blocks.teachers(k)
        if len(among):
            own, without = kitchen.learn(among)
            here = of_event == k
            whole[here], bare[here] = kitchen.value(own)[here], kitchen.value(without)[here]
    return whole, bare


def _fold_of_events(blocks: ResolvedEvents, count: int) -> Indices:
    """The fold of each event as written, -1 for those whose component has no resolved event."""
    fold = np.full(max(count, int(blocks.component.max()) + 1), -1, np.int64)
    fold[blocks.component[blocks.event]] = blocks.fold[blocks.block]
    return np.where(blocks.component < 0, -1, fold[blocks.component])


def _from_history(panel: Panel, history: Panel, ways: FoldOptions, time_limit: float, budget: Budget) -> Tuned:
    is_scored = bool((panel.written.outcome[panel.event_index] >= 0).any())
    try:
        past = Kitchen.of(history, FoldOptions("components") if is_scored else ways, time_limit, budget)
    except PanelError as error:
        raise PanelError(f"the history teaches nothing: {error}") from None
    words = partial(replace, over="history", scored=where_scored(panel, history), remark=what_is_shared(panel, history))
    if not is_scored:
        return words(_cross_fitted(history, ways, time_limit, budget))
    enough = past.blocks.components >= LEAST
    default = past.default()
    recipe, bare = past.learn(np.arange(len(past.blocks.fold))) if enough else (default, replace(default, then=None))
    plain = settled(panel)
    problem = pose(plain, weight_unit=unit_of(panel.weight))
    blocks, label = make_blocks(plain, problem, by_time=False), cluster_labels(panel, ways.cluster)
    now = Kitchen(panel, problem, blocks, label, time_limit=time_limit, budget=budget)
    found = _tuned(now, recipe, (now.value(recipe), now.value(bare)), "history", is_learned=enough)
    return words(found, components=past.blocks.components, events=len(past.blocks.event))


def _tuned(kitchen: Kitchen, recipe: Recipe, learned: tuple[Vector, Vector], over: str, *, is_learned: bool) -> Tuned:
    whole, bare = learned
    ask, then = partial(Recipe, then=None), Exact(time_limit=kitchen.time_limit)
    exact = Recipe("linear", then=then) if kitchen.panel.lower is None else then  # pools take intervals as points
    values = [
        kitchen.value(ask("linear")),
        kitchen.value(ask("median")),
        kitchen.value(ask("trimmed")),
        kitchen.value(Pool("log")),
        kitchen.value(Pool("normalised")),
        kitchen.value(exact),
        kitchen.value(kitchen.default()),
        bare,
        whole,
    ]
    panel = kitchen.panel
    forecasts = np.stack([panel.probability, *(value[panel.event_index] for value in values)])
    rows = tuple(Candidate(name, meaning) for name, meaning in MEANINGS.items())
    kitchen.budget.progress(1.0)
    blocks = kitchen.blocks
    scores = compare_forecasts(panel, rows, forecasts, label=kitchen.label)
    scored, remark = how_scored(over, blocks.untaught if is_learned else 0, len(blocks.event))
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
