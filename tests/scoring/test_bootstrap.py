import numpy as np
import pytest

import coherently as co
from coherently.scoring.bootstrap import Tally, Units, resample, units_of


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
            draws = resample(made, drawn_from, 200, trial, lambda _: None)["events"][:, 0, 0]
            low, high = np.nanquantile(draws, (0.05, 0.95))
            covered[name] += low <= expected <= high
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
        draws = resample(made, units, 200, trial, lambda _: None)["judges"][:, 0, 0]
        low, high = np.quantile(draws, (0.05, 0.95))
        covered += low <= 1 / 3 <= high
    assert 0.82 * trials <= covered <= 0.97 * trials
