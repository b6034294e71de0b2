"""Learning recipes: nothing leaks, shrinkage holds, too little is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coherently as co
from coherently.errors import MethodError, PanelError
from coherently.problem import components_of, pose
from coherently.problem.pool_kinds import OPTIONS, PLAIN_KINDS, POOL_WORDS, pool_words
from coherently.scoring.tuning.blocks import FOLDS, make_blocks
from coherently.scoring.tuning.judge_skill import COMMON, error_weights, judge_losses
from coherently.scoring.tuning.learned_recipe import FoldOptions, Kitchen, out_of_fold
from coherently.scoring.tuning.lines import START, fitted_line
from coherently.scoring.tuning.trials import FIXED_PRIOR, shares_of
from coherently.solve import Budget


def drawn(seed, groups=60, judges=6, timid=1.0, slant=0.0, noise=0.3, random_outcomes=False):
    """Triples p, q, p & q of `groups` pairs of variables; judges report l(p) / timid + slant + noise in log-odds."""
    rng = np.random.default_rng(seed)
    rows, outcomes = [], {}
    for g in range(groups):
        p, q = rng.beta(0.8, 1.2, 2).clip(0.02, 0.98)
        true_p, true_q = rng.random(2) < ((0.5, 0.5) if random_outcomes else (p, q))
        events = ((f"p{g}", p, true_p), (f"q{g}", q, true_q), (f"p{g} & q{g}", p * q, true_p and true_q))
        for text, chance, truth in events:
            outcomes[text] = int(truth)
            near = min(max(chance, 0.01), 0.99)
            for j in range(judges):
                odds = np.log(near / (1 - near)) / timid + slant + noise * rng.normal()
                rows.append((f"J{j}", text, float(1 / (1 + np.exp(-odds)))))
    return co.Panel.from_records(rows, outcomes=outcomes)


def lines_of(recipe):
    """The shares, factors and shifts of the parts of a recipe."""
    parts = recipe.parts or ((1.0, recipe),)
    return [np.array(column) for column in zip(*((w, one.exponent, one.shift) for w, one in parts), strict=True)]


def test_timid_judges_who_say_yes_too_readily_are_corrected():
    tuned = co.tune(drawn(1, groups=150, timid=2.0, slant=0.5))
    assert tuned.is_learned
    share, exponent, shift = lines_of(tuned.recipe)
    assert 1.4 < np.average(exponent, weights=share) < 3.0
    assert np.average(shift, weights=share) < -0.4
    better = tuned.scores.difference("Tuned recipe", "Linear average")
    assert better.interval is not None
    assert better.interval[1] < 0
    assert "Tuned recipe is better" in tuned.sentence


def test_calibrated_judges_are_left_about_as_they_are():
    """Shrinkage: a = 1 and b = 0 are right, and nothing far from them is learned."""
    for seed in range(3):
        share, exponent, shift = lines_of(co.tune(drawn(seed, noise=0.1)).recipe)
        assert abs(np.average(exponent, weights=share) - 1) <= 0.375
        assert abs(np.average(shift, weights=share)) <= 0.375


def test_a_good_judge_counts_more():
    """One judge says the truth with little noise, the others say anything: the weights see it."""
    rng = np.random.default_rng(0)
    rows, outcomes = [], {}
    for i in range(60):
        outcomes[f"p{i}"] = int(rng.random() < 0.5)
        rows.append(("Good", f"p{i}", 0.85 if outcomes[f"p{i}"] else 0.15))
        rows += [(f"J{j}", f"p{i}", float(rng.uniform(0.1, 0.9))) for j in range(4)]
    tuned = co.tune(co.Panel.from_records(rows, outcomes=outcomes))
    parts = tuned.recipe.parts or ((1.0, tuned.recipe),)
    heaviest = max((dict(one.judges) for _, one in parts), key=lambda weights: weights.get("Good", 0))
    assert heaviest["Good"] > 3 * max(weight for name, weight in heaviest.items() if name != "Good")
    assert tuned.scores.difference("Tuned recipe", "Linear average").interval[1] < 0


def test_outcomes_of_pure_noise_teach_nothing():
    """Out of fold, no recipe may look better than it is: over panels, its score is not below that of the default."""
    gains = []
    for seed in range(8):
        scores = co.tune(drawn(seed, groups=40, judges=4, random_outcomes=True)).scores
        constant = 0.25  # the least expected Brier score of p and q under coin tosses
        gains.append(scores.value[scores.methods.index("Tuned recipe"), 0])
        assert gains[-1] > constant - 0.06
    assert np.mean(gains) > 0.2  # (0.25 + 0.25 + 0.1875) / 3 = 0.229 is the least that an oracle expects


@pytest.mark.parametrize("over", ["components", "time"])
def test_outcomes_of_a_fold_do_not_change_its_answers(over):
    """With the outcomes of one fold (over time: of it and all later ones) turned round, the fold is answered as before.

    The rest is not: what is learned does follow the outcomes, or the test would show nothing.
    """
    panel = drawn(3, groups=60, judges=3, timid=2.0, slant=0.5)
    panel = replace(panel, time=np.arange(len(panel), dtype=np.float64))
    kitchen = Kitchen.of(panel, FoldOptions(over), 60.0, Budget())
    before = out_of_fold(kitchen)
    blocks = kitchen.blocks
    fold = blocks.fold[blocks.block]
    for k in range(FOLDS):
        turned = fold >= k if over == "time" else fold == k
        outcome = np.where(turned, 1.0 - blocks.outcome, blocks.outcome)
        after = out_of_fold(replace(kitchen, blocks=replace(blocks, outcome=outcome), lessons={}, losses={}))
        here = blocks.event[fold == k]
        for old, new in zip(before, after, strict=True):
            assert np.array_equal(old[here], new[here])
        later = blocks.event[fold > k] if over == "time" else blocks.event[fold != k]
        assert len(later) == 0 or not np.array_equal(before[0][later], after[0][later])


def test_no_component_straddles_folds():
    """Components tied by a law, a conditional, a declared variable: all events of one lie in one block."""
    rows = [("A", f"p{i}", 0.3 + 0.01 * i) for i in range(30)]
    rows += [("A", "p0 given p1", 0.4), ("A", "size <= 3", 0.2), ("A", "size <= 7", 0.6), ("A", "p5 & p6", 0.2)]
    outcomes = {f"p{i}": i % 2 for i in range(30)} | {"size <= 3": 0, "size <= 7": 1}
    panel = co.Panel.from_records(rows, outcomes=outcomes, laws=["variable size: number", "p2 -> p3"])
    problem = pose(panel)
    component = components_of(problem)
    of = dict(zip(panel.written.text, component.tolist(), strict=True))
    assert of["p0"] == of["p1"] == of["p0 given p1"]
    assert of["p2"] == of["p3"]
    assert of["size <= 3"] == of["size <= 7"]
    assert of["p5"] == of["p6"] == of["p5 & p6"]
    assert len({of["p0"], of["p2"], of["size <= 3"], of["p5"], of["p7"]}) == 5
    blocks = make_blocks(panel, problem, by_time=False)
    for label in np.unique(component[blocks.event]):
        assert len(set(blocks.block[component[blocks.event] == label])) == 1


def test_weights_are_those_of_the_mean_over_judges():
    """The sum over blocks equals the score that `compare` gives."""
    panel = drawn(5, groups=35, judges=3)
    panel = panel.select(np.arange(len(panel)) % 7 != 0)
    problem = pose(panel)
    blocks = make_blocks(panel, problem, by_time=False)
    comparison = co.compare(panel, bootstrap=0)
    place = comparison.methods.index("Linear average")
    assert blocks.weight.sum() == pytest.approx(1.0)
    assert blocks.loss(problem.mean).sum() == pytest.approx(comparison.value[place, 0], abs=1e-12)


def line_cost(line, odds, outcome, weight, ridge):
    p = 1 / (1 + np.exp(-(line[0] * odds + line[1])))
    loss = -np.where(outcome == 1, np.log(p), np.log1p(-p))
    return np.sum(weight / weight.mean() * loss) + ridge / 2 * np.sum((np.asarray(line) - START) ** 2)


def test_the_line_is_the_minimum_of_its_cost():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 60))
        odds, weight = rng.normal(0, 2, count), rng.uniform(0.1, 3, count)
        outcome = (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
        ridge = float(rng.choice([0.5, 2.0, 32.0]))
        line = np.array(fitted_line(odds, outcome, weight, ridge))
        least = line_cost(line, odds, outcome, weight, ridge)
        for step in 0.01 * rng.normal(size=(30, 2)):
            assert least <= line_cost(line + step, odds, outcome, weight, ridge) + 1e-9


def test_a_pool_that_says_the_opposite_is_levelled():
    odds = np.tile([-3.0, 3.0], 200)
    assert fitted_line(odds, (odds < 0).astype(float), np.ones(400), 2.0)[0] == 0.05


def test_weights_of_judges_against_their_definition():
    panel = drawn(5, groups=10, judges=3)
    panel = panel.select(np.arange(len(panel)) % 5 != 0)
    outcome = panel.written.outcome.astype(float)
    outcome[::3] = np.nan
    losses, weights = {}, {}
    for j, i, p in zip(panel.judge_index, panel.event_index, panel.probability, strict=True):
        if not np.isnan(outcome[i]):
            losses.setdefault(i, {})[j] = (p - outcome[i]) ** 2
    every = [loss for event in losses.values() for loss in event.values()]
    for j in range(3):
        own = sum(event[j] for event in losses.values() if j in event)
        panels = sum(np.mean(list(event.values())) for event in losses.values() if j in event)
        weights[j] = ((panels + 10 * np.mean(every)) / (own + 10 * np.mean(every))) ** 4
    assert judge_losses(pose(panel), outcome).weights(4.0) == pytest.approx(list(weights.values()), rel=1e-12)


def test_weights_by_errors_minimise_the_expected_loss_of_the_average():
    """Against the definition, for random shares: none errs less, but for the gap."""
    panel = drawn(5, groups=10, judges=4)
    panel = panel.select(np.arange(len(panel)) % 5 != 0)
    outcome = panel.written.outcome.astype(float)
    outcome[::4] = np.nan
    error = np.full((4, len(outcome)), np.nan)
    error[panel.judge_index, panel.event_index] = panel.probability - outcome[panel.event_index]
    pairs = [(i, j) for i in range(4) for j in range(4)]
    products = {pair: error[pair[0]] * error[pair[1]] for pair in pairs}
    kept = {pair: values[~np.isnan(values)] for pair, values in products.items()}
    means = [np.concatenate([kept[p] for p in pairs if (p[0] == p[1]) == same]).mean() for same in (False, True)]
    matrix = np.array(
        [[(kept[i, j].sum() + COMMON * means[i == j]) / (len(kept[i, j]) + COMMON) for j in range(4)] for i in range(4)]
    )
    share = error_weights(pose(panel), outcome) / 4
    assert share.sum() == pytest.approx(1.0, abs=1e-3)
    least = share @ matrix @ share
    for other in np.random.default_rng(0).dirichlet(np.ones(4), 300):
        assert least <= 1.002 * (other @ matrix @ other)


def test_of_judges_who_err_alike_none_counts_for_all():
    """Five copies of a judge count about as one more judge does, where weights by scores count all five."""
    rng = np.random.default_rng(1)
    rows, outcomes = [], {}
    for i in range(400):
        outcomes[f"p{i}"] = int(rng.random() < 0.5)
        near = 0.3 + 0.4 * outcomes[f"p{i}"]
        alike, single = np.clip(near + 0.25 * rng.normal(size=2), 0.02, 0.98)
        rows += [(f"Copy{j}", f"p{i}", float(alike)) for j in range(5)]
        rows.append(("Single", f"p{i}", float(single)))
    panel = co.Panel.from_records(rows, outcomes=outcomes)
    outcome = panel.written.outcome.astype(float)
    weight = dict(zip(panel.judges, error_weights(pose(panel), outcome), strict=True))
    assert weight["Single"] > 2.5 * weight["Copy0"]
    plain = dict(zip(panel.judges, judge_losses(pose(panel), outcome).weights(12.0), strict=True))
    assert plain["Single"] < 1.5 * plain["Copy0"]


def test_too_many_judges_are_not_compared_in_pairs():
    rows = [(f"J{j}", f"p{i}", 0.4 + 0.1 * (j % 3)) for j in range(201) for i in range(4)]
    panel = co.Panel.from_records(rows, outcomes={f"p{i}": i % 2 for i in range(4)})
    assert error_weights(pose(panel), panel.written.outcome.astype(float)) is None
    rows = list(co.tune(panel).scores.frame()["method"])
    assert rows[-3:] == ["Default recipe", "Tuned pool", "Tuned recipe"]


def test_shares_follow_losses_and_fall_back_to_priors():
    rng = np.random.default_rng(0)
    base = rng.random(40)
    chance = 0.01 * rng.random((2, 40))
    better, worse = np.stack([base - 0.4 + chance[0], base]), np.stack([base + 0.3, base + 0.4 + chance[1]])
    assert shares_of(base[None] + np.zeros((2, 1)), better, 40)[2] > 0.99
    assert shares_of(base[None] + np.zeros((2, 1)), worse, 40) == pytest.approx([*FIXED_PRIOR, 0, 0])
    for none in (np.empty((2, 0)), better[:, :1]):
        share = shares_of(np.zeros((2, none.shape[1])), none, 8)
        assert share[:2] / share[:2].sum() == pytest.approx(FIXED_PRIOR)
        assert share[2:].sum() < 0.05


def test_half_of_the_shares_are_learned_at_one_standard_error():
    rng = np.random.default_rng(3)
    base, chance = rng.random(400), rng.normal(size=400)
    chance = (chance - chance.mean()) / chance.std(ddof=1)
    learned = []
    for errors in (-1.0, 0.0, 1.0, 2.0):
        gain = chance / 20 + errors * (1 + 3 / 399) / 400 / 1.0  # sum: errors, in standard errors of it
        share = shares_of(np.stack([base, base]), (base - gain)[None], 400)
        learned.append(share[2])
    assert learned[0] < 0.05
    assert learned[1] < 0.1
    assert learned[2] == pytest.approx(0.5, abs=0.01)
    assert learned[3] > 0.9


def test_one_group_teaches_nothing():
    shares = [shares_of(np.full((2, 2), 0.3), np.full((1, 2), 0.3), groups)[2] for groups in (1, 2, 50)]
    assert shares[0] == 0
    assert shares[1] <= shares[2] < 0.5


def test_the_default_recipe_is_among_the_trials():
    """Where it scores best on what teaches (here because it is told the outcomes) it is what is learned."""
    kitchen = Kitchen.of(drawn(1, groups=40, timid=2.0, slant=0.5), FoldOptions(), 60.0, Budget())
    default, every = kitchen.default(), kitchen.blocks.folds
    assert kitchen.learn(every) != default
    kitchen.values[default] = kitchen.panel.written.outcome.astype(np.float64)
    assert kitchen.learn(every) == default


def test_trials_are_scored_on_a_sample_of_a_large_panel(monkeypatch):
    panel = drawn(2, groups=60, judges=3, timid=2.0)
    every = co.tune(panel)
    monkeypatch.setattr("coherently.scoring.tuning.learned_recipe.MOST_SCORED", 30)
    kitchen = Kitchen.of(panel, FoldOptions(), 60.0, Budget())
    assert [len(kitchen.sample(k)) for k in kitchen.blocks.folds] == [6] * 5
    sample = co.tune(panel)
    assert sample.scores.scored == every.scores.scored
    assert sample.scores.value[-1, 0] == pytest.approx(every.scores.value[-1, 0], abs=0.02)


def test_no_recipe_is_returned_that_its_scores_rank_below_the_default():
    kept = 0
    for seed in range(12):
        tuned = co.tune(drawn(seed, groups=12, judges=3, noise=0.1))
        rows = dict(zip(tuned.scores.methods, tuned.scores.value[:, 0], strict=True))
        assert tuned.is_learned == (rows["Tuned recipe"] <= rows["Default recipe"])
        if not tuned.is_learned:
            kept += 1
            assert replace(tuned.recipe, then=co.Exact()) == co.Recipe()
            assert "so that is kept" in tuned.sentence
    assert 0 < kept < 12


def at_times(panel, times):
    """The panel with a time for each group of variables of `drawn`."""
    group = np.array([int(panel.written.text[i].split("&")[0].strip()[1:]) for i in panel.event_index])
    return replace(panel, time=np.asarray(times, np.float64)[group])


def turned_at(kitchen, when, times):
    """The kitchen with outcomes turned round for the groups at some times."""
    blocks, text = kitchen.blocks, kitchen.panel.written.text
    group = [int(text[i].split("&")[0].strip()[1:]) for i in blocks.event]
    turned = np.isin(np.asarray(times)[group], when)
    outcome = np.where(turned, 1.0 - blocks.outcome, blocks.outcome)
    return replace(kitchen, blocks=replace(blocks, outcome=outcome), lessons={}, losses={})


@pytest.mark.parametrize("dates", [2, 3, 7, 40])
def test_over_time_equal_times_do_not_teach_each_other(dates):
    """Outcomes at a time and after it, turned round, change no answer at that time, however few times there are.

    A single earlier time teaches nothing, for all of its events may share a shock; nor do two, of which only the later
    one could be scored.
    """
    times = np.sort(np.random.default_rng(dates).integers(0, dates, 60))
    panel = at_times(drawn(3, groups=60, judges=3, timid=2.0, slant=0.5), times)
    kitchen = Kitchen.of(panel, FoldOptions("time"), 60.0, Budget())
    before, text = out_of_fold(kitchen)[0], panel.written.text
    group = np.array([int(event.split("&")[0].strip()[1:]) for event in text])
    moved = 0
    for when in np.unique(times)[:: max(1, dates // 4)]:
        after = out_of_fold(turned_at(kitchen, times[times >= when], times))[0]
        assert np.array_equal(before[times[group] <= when], after[times[group] <= when])
        last = out_of_fold(turned_at(kitchen, times[times < when], times))[0]
        moved += not np.array_equal(before[times[group] >= when], last[times[group] >= when])
    assert bool(moved) == (dates > 3)


def test_folds_lie_in_the_order_of_time():
    times = np.random.default_rng(1).permutation(60)
    panel = at_times(drawn(3, groups=60, judges=3), times)
    blocks = make_blocks(panel, pose(panel), by_time=True)
    group = np.array([int(panel.written.text[i].split("&")[0].strip()[1:]) for i in blocks.event])
    fold = blocks.fold[blocks.block]
    assert len(set(fold)) == FOLDS
    assert np.all(np.diff(fold[np.argsort(times[group], kind="stable")]) >= 0)


def test_where_nothing_is_earlier_every_event_has_the_default_recipe():
    panel = at_times(drawn(3, groups=60, judges=3, timid=2.0, slant=0.5), np.zeros(60))
    tuned = co.tune(panel, over="time")
    rows = tuned.scores.methods
    tuned_row, default = (tuned.scores.value[rows.index(name)] for name in ("Tuned recipe", "Default recipe"))
    assert np.array_equal(tuned_row, default)
    assert "No resolved component is earlier than another" in tuned.sentence
    assert "did not learn from" not in tuned.sentence
    kitchen = Kitchen.of(panel, FoldOptions("time"), 60.0, Budget())
    assert np.array_equal(out_of_fold(kitchen)[0], kitchen.value(kitchen.default()))


def test_how_many_events_had_nothing_earlier_is_said():
    times = np.repeat(np.arange(12.0), 5)
    tuned = co.tune(at_times(drawn(3, groups=60, judges=3, timid=2.0), times), over="time")
    assert "(learned on earlier components)" in tuned.sentence
    assert "Nothing earlier could teach for 30 of the 180 events, which have the default recipe." in tuned.sentence


def test_components_without_a_time_neither_teach_nor_are_taught():
    """One forecast without a time is enough: the last one may be at any time."""
    panel = at_times(drawn(3, groups=60, judges=3, timid=2.0, slant=0.5), np.arange(60))
    group = np.array([int(text.split("&")[0].strip()[1:]) for text in panel.written.text])
    first = np.unique(panel.event_index, return_index=True)[1]
    time = panel.time.copy()
    time[first[(group >= 20) & (group < 30)]] = np.nan
    panel = replace(panel, time=time)
    kitchen = Kitchen.of(panel, FoldOptions("time"), 60.0, Budget())
    before, missing = out_of_fold(kitchen)[0], (group >= 20) & (group < 30)
    default = kitchen.value(kitchen.default())
    assert np.array_equal(before[missing], default[missing])
    assert not np.array_equal(before[~missing], default[~missing])
    after = out_of_fold(turned_at(kitchen, np.arange(20, 30), np.arange(60)))[0]
    assert np.array_equal(before, after)


def test_over_time_only_the_past_teaches():
    """Outcomes of later components do not change what the earlier ones are answered."""
    panel = drawn(4, groups=60, judges=3, timid=2.0)
    panel = at_times(panel, np.arange(60))
    later = np.array([int(text.split("&")[0].strip()[1:]) >= 48 for text in panel.written.text])
    outcome = np.where(later, 1 - panel.written.outcome, panel.written.outcome).astype(np.int8)
    other = replace(panel, written=replace(panel.written, outcome=outcome))
    early = ~later[panel.event_index]
    scores = [co.tune(one, over="time").scores for one in (panel, other)]
    assert scores[0].methods == scores[1].methods
    parts = [co.tune(one.select(early), over="time").recipe for one in (panel, other)]
    assert parts[0] == parts[1]


def test_history_teaches_and_the_panel_scores():
    past, now = drawn(6, groups=100, timid=2.0, slant=0.5), drawn(7, groups=40, timid=2.0, slant=0.5)
    tuned = co.tune(now, history=past)
    assert tuned.recipe == co.tune(past).recipe
    assert tuned.scores.scored == len(now)
    assert "learned on the history" in tuned.sentence


def renamed(panel, prefix, judge="J"):
    """The same panel about other events, and by other judges if `judge` says so."""
    text = [event.replace("p", f"{prefix}p").replace("q", f"{prefix}q") for event in panel.written.text]
    rows = [
        (panel.judges[j].replace("J", judge), text[i], p)
        for j, i, p in zip(panel.judge_index, panel.event_index, panel.probability, strict=True)
    ]
    return co.Panel.from_records(rows, outcomes=dict(zip(text, panel.written.outcome.tolist(), strict=True)))


def test_a_history_with_other_events_teaches_and_says_what_that_means():
    """A pool and a line carry over to other events by design; that the events differ is said, and what it means."""
    past = drawn(6, groups=60, timid=2.0, slant=0.5)
    now = renamed(drawn(7, groups=5, timid=2.0, slant=0.5), "x")
    tuned = co.tune(now, history=past)
    assert tuned.is_learned
    assert tuned.recipe == co.tune(past).recipe
    assert "On the panel's events (learned on the history)" in tuned.sentence
    assert "The history shares no event with the panel." in tuned.sentence
    assert "only if judges and questions are of the same kind" in tuned.sentence
    strangers = co.tune(renamed(drawn(7, groups=5), "x", judge="K"), history=past)
    assert "The history shares no event, nor a judge, with the panel." in strangers.sentence


def test_a_history_with_the_same_events_says_that_what_taught_is_scored():
    past = drawn(6, groups=40)
    tuned = co.tune(past, history=past)
    assert (
        "80 variables of which are resolved in the history, too, so that these scores may be too good" in tuned.sentence
    )
    assert "did not learn from" not in tuned.sentence
    assert tuned.remark == ""


def test_a_panel_without_outcomes_has_the_scores_of_its_history():
    past = drawn(6, groups=40)
    now = co.Panel.from_records([("J0", "p0", 0.4), ("J1", "p1 & q1", 0.3)])
    tuned = co.tune(now, history=past)
    assert "On events of the history that it did not learn from (the panel has no outcomes)" in tuned.sentence
    assert tuned.scores.scored == len(past)


def test_a_declared_variable_is_shared_by_its_name():
    laws = ["variable size: number"]
    past = [("A", f"p{i}", 0.4) for i in range(40)] + [("A", "size <= 3", 0.2)]
    outcomes = {f"p{i}": i % 2 for i in range(40)} | {"size <= 3": 1}
    now = co.Panel.from_records(
        [("A", "size <= 9", 0.5), ("A", "r", 0.5)], laws=laws, outcomes={"size <= 9": 1, "r": 0}
    )
    tuned = co.tune(now, history=co.Panel.from_records(past, laws=laws, outcomes=outcomes))
    assert "1 variable of which is resolved in the history, too" in tuned.sentence


def test_tuned_is_printed_with_its_scores():
    shown = str(co.tune(drawn(8, groups=12)))
    assert shown.startswith("Brier score\n  Raw                  0.")
    assert "Tuned recipe" in shown
    assert "36 resolved events in 12 independent groups" in shown


def test_exact_counts_intervals_as_they_were_given():
    """Pools take the middle of an interval; the row Exact is that of `compare`."""
    rows = [
        {"judge": f"J{j}", "event": f"e{i}", "probability": 0.5, "lower": 0.1 * j, "upper": 1.0}
        for i in range(6)
        for j in range(3)
    ]
    rows += [{"judge": "J9", "event": f"e{i}", "probability": 0.2, "lower": 0.1, "upper": 0.3} for i in range(6)]
    panel = co.Panel.from_frame(pd.DataFrame(rows), outcomes={f"e{i}": i % 2 for i in range(6)}, laws=["e0 -> e1"])
    scores, other = co.tune(panel).scores, co.compare(panel)
    exact, expected = scores.methods.index("Exact"), other.methods.index("Aggregate (exact)")
    assert scores.value[exact] == pytest.approx(other.value[expected], abs=1e-9)
    assert scores.value[exact] != pytest.approx(other.value[other.methods.index("Linear average")], abs=1e-3)


def test_there_is_no_cliff():
    """Few components teach little, and each more a little more: what is learned is far from nothing at 12 of them."""
    shares = []
    for groups in (3, 12, 29, 31, 120):
        recipe = co.tune(drawn(8, groups=groups, timid=3.0, noise=0.1)).recipe
        parts = recipe.parts or ((1.0, recipe),)
        shares.append(sum(share for share, one in parts if not one.is_plain))
    assert shares[1] > 0.2
    assert shares[-1] > 0.8
    assert abs(shares[2] - shares[3]) < 0.3


@pytest.mark.parametrize(
    ("rows", "outcomes", "message"),
    [
        ([("A", "p", 0.5), ("A", "q", 0.5)], None, "no forecast of the panel has an outcome"),
        ([("A", "p", 0.5), ("A", "q", 0.5)], {"p": 1, "q": 1}, "all 2 resolved events are true"),
        ([("A", "p", 0.5), ("A", "q", 0.5)], {"p": 0, "q": 0}, "all 2 resolved events are false"),
        (
            [("A", "p", 0.5), ("A", "q", 0.5), ("A", "p & q", 0.2)],
            {"p": 1, "q": 0},
            "all resolved events hang together in one component",
        ),
    ],
)
def test_nothing_can_be_learned_from_these(rows, outcomes, message):
    panel = co.Panel.from_records(rows, outcomes=outcomes)
    with pytest.raises(PanelError, match=message):
        co.tune(panel)
    with pytest.raises(PanelError, match=f"the history teaches nothing: {message}"):
        co.tune(drawn(1, groups=5), history=panel)


def test_wrong_arguments_are_refused():
    panel = drawn(1, groups=5)
    with pytest.raises(MethodError, match="components or time"):
        co.tune(panel, over="judges")
    with pytest.raises(PanelError, match="column of times"):
        co.tune(panel, over="time")
    with pytest.raises(PanelError, match="takes a Panel"):
        co.tune("panel.csv")


def test_the_rows_are_the_pools_of_the_registry():
    """Each kind that assumes nothing has a row, and the rows that a reader looks for are always there."""
    scores = co.tune(drawn(8, groups=12)).scores
    expected = [pool_words(kind)[0] for kind in PLAIN_KINDS]
    assert list(scores.methods) == ["Raw", *expected, "Exact", "Default recipe", "Tuned pool", "Tuned recipe"]
    assert list(scores.frame()["method"]) == list(scores.methods)
    assert set(POOL_WORDS) == set(OPTIONS)
    assert pool_words("newcomer")[0] == "Pool (newcomer)"
