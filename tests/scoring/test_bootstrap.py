import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t

import coherently as co
from coherently.scoring.bootstrap import Counts, Tally, Units, ends, resample, units_of


def tally(forecast, outcome, judge, event, shape):
    return Tally.of(np.atleast_2d(forecast), np.array(outcome), np.array(judge), np.array(event), shape, 1e-4)


def drawn(forecast, outcome, judge, event, judge_times, event_times):
    """Brier, log score and slope of a panel in which judges and events really are there several times."""
    scores = []
    for j, times in enumerate(judge_times):
        rows = [i for i in range(len(judge)) if judge[i] == j for _ in range(int(event_times[event[i]]))]
        true = [forecast[i] for i in rows if outcome[i]]
        false = [forecast[i] for i in rows if not outcome[i]]
        brier = np.mean([(forecast[i] - outcome[i]) ** 2 for i in rows]) if rows else np.nan
        log = -np.mean(np.log([1 - abs(forecast[i] - outcome[i]) for i in rows])) if rows else np.nan
        slope = np.mean(true) - np.mean(false) if true and false else np.nan
        scores += [(brier, log, slope)] * int(times)
    return np.nanmean(scores, axis=0)


def test_weights_score_as_copies_do():
    rng = np.random.default_rng(5)
    judge, event = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    truth = rng.integers(0, 2, 6)
    truth[:2] = 0, 1
    forecast, outcome = rng.uniform(0.05, 0.95, 24), truth[event]
    made = tally(forecast, outcome, judge, event, (4, 6))
    for _ in range(30):
        event_times = rng.multinomial(6, np.full(6, 1 / 6)).astype(float)
        judge_times = rng.multinomial(4, np.full(4, 1 / 4)).astype(float)
        if len(set(truth[event_times > 0])) < 2:
            continue
        found = made.means(made.judge_scores(event_times[None]), judge_times[None])[0, 0]
        np.testing.assert_allclose(found, drawn(forecast, outcome, judge, event, judge_times, event_times))


def test_events_count_as_the_product_of_their_variables():
    rows = [("A", event, 0.5) for event in ("p", "q", "p & ~q", "p | q | r", "p given q & r", "true")]
    units = units_of(co.Panel.from_records(rows))
    times = np.array([[2.0, 3.0, 1.0], [0.0, 5.0, 1.0]])
    assert units.event_weights(times).tolist() == [[2, 3, 6, 6, 6, 1], [0, 5, 0, 0, 0, 1]]


def test_variables_that_laws_tie_together_are_drawn_as_one():
    rows = [("A", event, 0.5) for event in ("p", "q", "r", "w = a", "w = b", "p & w = a")]
    units = units_of(co.Panel.from_records(rows, laws=["p -> q", "variable w: a, b, c"]))
    assert units.count == 3
    weights = units.event_weights(np.array([[2.0, 3.0, 5.0]]))[0]
    tied, free, choice = weights[0], weights[2], weights[3]
    assert sorted([tied, free, choice]) == [2, 3, 5]
    assert weights.tolist() == [tied, tied, free, choice, choice, tied * choice]


def test_resamples_are_the_same_whatever_methods_there_are():
    rng = np.random.default_rng(0)
    judge, event = np.repeat(np.arange(5), 8), np.tile(np.arange(8), 5)
    outcome, units = (event % 2), Units(np.arange(9), np.arange(8), 8)
    one, two = rng.uniform(size=(2, 40))
    alone = resample(tally(one, outcome, judge, event, (5, 8)), units, 50, 7, lambda _: None)
    both = resample(tally([two, one], outcome, judge, event, (5, 8)), units, 50, 7, lambda _: None)
    for over, draws in alone.items():
        assert draws.shape == (50, 1, 3)
        np.testing.assert_allclose(draws[:, 0], both[over][:, 1])


def test_an_interruption_keeps_the_resamples_that_are_done(monkeypatch):
    monkeypatch.setattr("coherently.scoring.bootstrap._NUMBERS_AT_ONCE", 400)
    judge, event = np.repeat(np.arange(5), 8), np.tile(np.arange(8), 5)
    made = tally(np.full(40, 0.3), event % 2, judge, event, (5, 8))

    def interrupt(done):
        if done > 0.5:
            raise KeyboardInterrupt

    draws = resample(made, Units(np.arange(9), np.arange(8), 8), 100, 0, interrupt)
    assert {over: 50 <= len(draw) < 100 for over, draw in draws.items()} == dict.fromkeys(draws, True)


@pytest.mark.parametrize("design", ["alone", "in pairs"])
def test_intervals_over_events_cover_the_mean_of_all_events(design):
    """Events that share variables come true together; drawing events, as if they did not, would cover too rarely."""
    variables, chance, forecast = 24, 0.4, 0.3
    first, second = np.triu_indices(variables, 1)
    if design == "alone":
        first = second = np.arange(variables)
        members, truth_of = np.arange(variables), chance
    else:
        members, truth_of = np.stack([first, second], axis=1).ravel(), chance**2
    width = 1 if design == "alone" else 2
    units = Units(width * np.arange(len(first) + 1), members, variables)
    separate = Units(np.arange(len(first) + 1), np.arange(len(first)), len(first))
    expected = truth_of * (1 - forecast) ** 2 + (1 - truth_of) * forecast**2
    covered = {"units": 0, "events": 0}
    rng, trials = np.random.default_rng(11), 200
    for trial in range(trials):
        world = rng.random(variables) < chance
        outcome = (world[first] & world[second]).astype(int)
        made = tally(np.full(len(first), forecast), outcome, np.zeros(len(first), int), np.arange(len(first)),
                     (1, len(first)))  # fmt: skip
        for name, drawn_from in (("units", units), ("events", separate)):
            draws = resample(made, drawn_from, 200, trial, lambda _: None)
            low, high = ends(made.point(), draws, "events", Counts(1, drawn_from.count), 0.9)
            covered[name] += low[0, 0] <= expected <= high[0, 0]
    assert 0.82 * trials <= covered["units"] <= 0.98 * trials
    if design == "in pairs":
        assert covered["events"] < 0.6 * trials


def test_intervals_over_judges_cover_the_mean_of_all_judges():
    rng, trials, judges = np.random.default_rng(3), 200, 25
    units = Units(np.arange(2), np.arange(1), 1)
    covered = 0
    for trial in range(trials):
        forecast = rng.uniform(0, 1, judges)
        made = tally(forecast, np.ones(judges, int), np.arange(judges), np.zeros(judges, int), (judges, 1))
        draws = resample(made, units, 200, trial, lambda _: None)
        low, high = ends(made.point(), draws, "judges", Counts(judges, 1), 0.9)
        covered += low[0, 0] <= 1 / 3 <= high[0, 0]
    assert 0.82 * trials <= covered <= 0.97 * trials


def two_alike(rng, variables, judges, *, own):
    """Two methods whose errors have one distribution, on variables and conjunctions of pairs; `own` to each judge."""
    truth = rng.normal(0, 1.2, variables)
    world = rng.random(variables) < expit(truth)
    shared = expit(truth + rng.normal(0, 0.8, (2, 1, variables)))
    x = expit(truth + rng.normal(0, 0.8, (2, judges, variables))) if own else np.repeat(shared, judges, axis=1)
    first, second = np.triu_indices(variables)  # a variable with itself is the variable
    chosen = [np.sort(rng.choice(len(first), 2 * variables, replace=False)) for _ in range(judges)]
    judge, event = np.repeat(np.arange(judges), 2 * variables), np.concatenate(chosen)
    a, b = first[event], second[event]
    forecast = x[:, judge, a] * np.where(a == b, 1.0, x[:, judge, b])
    outcome = (world[a] & world[b]).astype(int)
    rows = [np.unique(pair) for pair in zip(first, second, strict=True)]
    units = Units(np.cumsum([0, *map(len, rows)]), np.concatenate(rows), variables)
    return Tally.of(forecast, outcome, judge, event, (judges, len(first)), 1e-4), units


def differences(made, units, seed):
    draws = resample(made, units, 200, seed, lambda _: None)
    return {over: some[:, 0] - some[:, 1] for over, some in draws.items()}


def excluding_zero(variables, judges, over, *, own, trials=300):
    """How often the 95% interval of a difference that is 0 excludes it, and how often percentiles of the draws do."""
    rng, found = np.random.default_rng(variables + 100 * judges), np.zeros(2)
    for trial in range(trials):
        made, units = two_alike(rng, variables, judges, own=own)
        draws = differences(made, units, trial)
        low, high = ends(made.point()[0] - made.point()[1], draws, over, Counts(judges, variables), 0.95)
        ends_of_draws = np.nanquantile(draws[over][:, 0], (0.025, 0.975))
        found += low[0] > 0 or high[0] < 0, ends_of_draws[0] > 0 or ends_of_draws[1] < 0
    return found / trials


@pytest.mark.parametrize("over", ["events", "both"])
@pytest.mark.parametrize("variables", [5, 10, 25])
def test_a_difference_of_nothing_is_seldom_shown(variables, over):
    """Of 300 intervals that each miss 5 times in 100, more than 27 (9%) miss once in a thousand times."""
    missed, by_percentiles = excluding_zero(variables, 8, over, own=False)
    assert missed <= 0.09
    if variables == 5:
        assert by_percentiles > 0.12


def test_errors_of_each_judge_are_not_counted_thrice():
    rng = np.random.default_rng(4)
    widths = []
    for trial in range(40):
        made, units = two_alike(rng, 12, 12, own=True)
        draws = differences(made, units, trial)
        point = made.point()[0] - made.point()[1]
        low, high = ends(point, draws, "both", Counts(12, 12), 0.95)
        widths.append((high[0] - low[0]) / np.ptp(np.quantile(draws["both"][:, 0], (0.025, 0.975))))
    assert np.mean(widths) < 0.9
    assert excluding_zero(12, 12, "both", own=True)[0] <= 0.09


def test_an_interval_by_hand():
    draws = {"judges": np.tile([-1.0, 1.0], 50), "events": np.tile([-2.0, 2.0], 50), "both": np.tile([-2.5, 2.5], 50)}
    draws = {over: some[:, None] for over, some in draws.items()}
    point, counts = np.array([7.0]), Counts(6, 11)
    judges, events = 1.0 * 6 / 5, 4.0 * 11 / 10
    for over, variance, freedom in (
        ("judges", judges, 5),
        ("events", events, 10),
        ("both", 2 * (judges + events) - 6.25, (judges + events) ** 2 / (judges**2 / 5 + events**2 / 10)),
    ):
        half = t(freedom).ppf(0.95) * np.sqrt(variance)
        np.testing.assert_allclose(np.concatenate(ends(point, draws, over, counts, 0.9)), [7 - half, 7 + half])
    # Where draws over both vary more than their parts explain, the larger part is the variance.
    draws["both"] *= 3
    np.testing.assert_allclose(ends(point, draws, "both", counts, 0.9)[1][0] - 7, t(
        (judges + events) ** 2 / (judges**2 / 5 + events**2 / 10)).ppf(0.95) * np.sqrt(events))  # fmt: skip
    few = {over: some[:10] for over, some in draws.items()}
    assert np.isnan(ends(point, few, "both", counts, 0.9)).all()
    same = {over: np.zeros((50, 1)) for over in draws}
    assert np.concatenate(ends(point, same, "both", counts, 0.9)).tolist() == [7.0, 7.0]
    nothing = {over: np.full((50, 1), np.nan) for over in draws}
    assert np.isnan(ends(point, nothing, "both", counts, 0.9)).all()
