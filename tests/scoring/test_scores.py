import itertools
import re
from collections import Counter

import numpy as np
import pytest
from scipy.special import stdtrit

import coherently as co
from tests.panels import TABLE_2, TABLE_3, WORLDS

# Mean Brier scores over all forecasts by world: Predd, Kulkarni, Poor and Osherson (2006), Tables 2 and 3.
MEAN_BRIER = {
    "raw 2": (TABLE_2, None, [0.250556, 0.517222, 0.072778, 0.495000]),
    "linear 2": (TABLE_2, "linear", [0.222963, 0.489630, 0.045185, 0.467407]),
    "raw 3": (TABLE_3, None, [0.187083, 0.453750, 0.070417, 0.537083]),
    "linear 3": (TABLE_3, "linear", [0.168542, 0.435208, 0.051875, 0.518542]),
}


@pytest.mark.parametrize(("rows", "method", "expected"), MEAN_BRIER.values(), ids=MEAN_BRIER)
def test_mean_brier_by_world(rows, method, expected):
    for (p, q), value in zip(WORLDS, expected, strict=True):
        panel = co.Panel.from_records(rows, outcomes={"p": p, "q": q})
        scores = co.score(panel, method and co.aggregate(panel, method), by_judge=True)
        np.testing.assert_allclose(scores.brier_sum.sum() / scores.scored.sum(), value, atol=1e-6)
        np.testing.assert_allclose(scores.calibration.brier, value, atol=1e-6)


def test_scores_of_each_judge():
    scores = co.score(co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False}))
    frame = scores.frame()
    assert list(frame.columns) == ["judge", "scored", "brier", "brier_sum", "log", "slope"]
    assert frame["judge"].tolist() == ["Alice", "Bob", "Chris"]
    assert frame["scored"].tolist() == [3, 3, 3]
    np.testing.assert_allclose(frame["brier_sum"], [0.1125, 0.18, 0.3625])
    np.testing.assert_allclose(frame["brier"], frame["brier_sum"] / 3)
    np.testing.assert_allclose(frame["slope"], [0.75 - 0.15, 0.60 - 0.10, 0.95 - 0.30])
    expected = -np.log([[0.75, 0.8, 0.9], [0.6, 0.9, 0.9], [0.95, 1 - 1e-4, 0.4]]).mean(axis=1)
    np.testing.assert_allclose(frame["log"], expected)
    assert scores.clipped == 1
    np.testing.assert_allclose(scores.average()["slope"], np.mean(frame["slope"]))


def test_unresolved_and_called_off_forecasts_do_not_count():
    rows = [("A", "p", 0.5), ("A", "r", 0.9), ("A", "p given q", 0.9), ("B", "r", 0.1)]
    scores = co.score(co.Panel.from_records(rows, outcomes={"p": 1, "q": 0}))
    assert scores.scored.tolist() == [1, 0]
    np.testing.assert_array_equal(scores.brier, [0.25, np.nan])
    np.testing.assert_array_equal(scores.slope, [np.nan, np.nan])
    assert scores.average()["brier"] == 0.25
    assert np.isnan(scores.average()["slope"])


def test_an_aggregate_has_one_row_in_which_every_event_counts_once():
    rows = [("A", "p", 0.5), ("B", "p", 0.9), ("C", "p", 0.7), ("A", "q", 0.4), ("B", "r", 0.1)]
    panel = co.Panel.from_records(rows, outcomes={"p": 1, "q": 0})
    result = co.aggregate(panel, "linear")
    scores = co.score(panel, result)
    frame = scores.frame()
    assert frame["judge"].tolist() == ["aggregate"]
    assert frame["scored"].tolist() == [2]
    np.testing.assert_allclose(scores.brier, [(0.3**2 + 0.4**2) / 2])
    np.testing.assert_allclose(scores.calibration.brier, scores.brier[0])
    np.testing.assert_allclose(scores.slope, [0.7 - 0.4])
    assert scores.average() == {name: pytest.approx(values[0]) for name, values in scores.by_rule.items()}
    by_judge = co.score(panel, result, by_judge=True)
    assert by_judge.judges == ("A", "B", "C")
    np.testing.assert_allclose(by_judge.brier, [(0.3**2 + 0.4**2) / 2, 0.3**2, 0.3**2])


def test_events_without_weight_have_no_aggregate_to_score():
    panel = co.Panel.from_records([("A", "p", 0.5, 0.0), ("A", "q", 0.5, 1.0)], outcomes={"p": 1, "q": 0})
    assert co.score(panel, co.aggregate(panel, "linear")).scored.tolist() == [1]


def test_an_infinite_score_makes_an_infinite_average():
    scores = co.score(co.Panel.from_records([("A", "p", 0.0), ("B", "p", 0.5)], outcomes={"p": 1}), clip=0)
    assert scores.average()["log"] == np.inf


def test_slope_of_the_linear_average_on_the_pooled_set_is_the_raw_one():
    panel = co.simulate(judges=20, variables=10, seed=3)
    pooled = co.Panel.from_records([("all", event, p) for _, event, p in _rows(panel)], outcomes=_truth(panel))
    raw, linear = co.score(pooled), co.score(pooled, co.aggregate(pooled, "linear"), by_judge=True)
    np.testing.assert_allclose(raw.slope, linear.slope)


def _rows(panel):
    frame = panel.frame()
    return list(zip(frame["judge"], frame["event"], frame["probability"], strict=True))


def _truth(panel):
    return dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))


def test_a_panel_without_outcomes_cannot_be_scored():
    with pytest.raises(co.PanelError, match="no forecast of the panel has an outcome"):
        co.score(co.Panel.from_records(TABLE_2))


def test_a_result_of_another_panel_is_refused():
    panel = co.Panel.from_records(TABLE_2, outcomes={"p": 1, "q": 1})
    other = co.aggregate(co.Panel.from_records(TABLE_3))
    with pytest.raises(co.MethodError, match="another panel"):
        co.score(panel, other)


def test_a_clip_out_of_range_is_refused():
    with pytest.raises(co.MethodError, match=r"clip is 0\.5"):
        co.score(co.Panel.from_records(TABLE_2, outcomes={"p": 1}), clip=0.5)


def left_out(panel, cluster=None):
    """Half the 95% interval of each judge's Brier score and of their mean, by leaving out variables one by one."""
    outcome, place = panel.written.outcome[panel.event_index], {name: i for i, name in enumerate(panel.judges)}
    texts = [panel.written.text[i] for i in panel.event_index]
    about = [frozenset([cluster(t)] if cluster else re.findall(r"\w+", t)) for t in texts]
    judge, lost = panel.judge_index, np.square(panel.probability - outcome)

    def means(kept):
        return np.array([lost[kept & (judge == j)].mean() for j in place.values()])

    def variance(mine, statistic):
        units = sorted({unit for i in np.flatnonzero(mine) for unit in about[i]})
        whole = statistic(np.ones(len(lost), bool))
        moves = [statistic(np.array([unit not in own for own in about])) - whole for unit in units]
        sets = {own for i, own in enumerate(about) if mine[i]}
        by_set = {own: statistic(np.array([own != other for other in about])) - whole for own in sets}
        spread = (len(units) - 1) / len(units) * np.sum((np.array(moves) - np.mean(moves)) ** 2)
        twice = sum((len(own) - 1) * move**2 for own, move in by_set.items())
        return max(spread - twice, sum(move**2 for move in by_set.values()))

    def freedom(weight):
        load = Counter()
        for own, mine in zip(about, weight, strict=True):
            load.update(dict.fromkeys(own, mine) if mine else {})
        held = np.array(list(load.values()))
        return held.sum() ** 2 / np.sum(held**2) - 1

    halves = []
    for j in place.values():
        spread = variance(judge == j, lambda kept, j=j: means(kept)[j])
        halves.append(stdtrit(freedom((judge == j).astype(float)), 0.975) * np.sqrt(spread))
    share = 1 / np.bincount(judge)[judge]
    mean = variance(np.ones(len(lost), bool), lambda kept: means(kept).mean())
    return [*halves, stdtrit(freedom(share), 0.975) * np.sqrt(mean)]


@pytest.mark.parametrize("cluster", [None, lambda text: text[-1]], ids=["variables", "clusters"])
def test_intervals_are_those_of_leaving_out_variables_or_clusters(cluster):
    rng = np.random.default_rng(5)
    names = [f"x{i}{'abcdefg'[i % 7]}" for i in range(21)]
    events = names if cluster else [*names[:9], *(f"{a} & {b}" for a, b in itertools.pairwise(names[:9]))]
    rows = [(judge, event, float(rng.random())) for judge in "ABC" for event in events if rng.random() < 0.9]
    panel = co.Panel.from_records(rows, outcomes={name: bool(rng.random() < 0.5) for name in names})
    scores = co.score(panel, confidence=0.95, cluster=cluster)
    expected = left_out(panel, cluster)
    value = np.append(scores.brier, scores.average()["brier"])
    np.testing.assert_allclose(scores.intervals.low["brier"], np.maximum(value - expected, 0.0), atol=1e-9)
    np.testing.assert_allclose(scores.intervals.high["brier"], np.minimum(value + expected, 1.0), atol=1e-9)
    assert scores.intervals.variables == (7 if cluster else 9)
    np.testing.assert_array_equal(scores.frame()["brier_low"], scores.intervals.low["brier"][:-1])
    np.testing.assert_array_equal(scores.brier, co.score(panel).brier)


def test_intervals_need_five_independent_variables():
    rows = [(judge, f"x{i}", 0.3) for judge, count in (("few", 4), ("enough", 5)) for i in range(count)]
    panel = co.Panel.from_records(rows, outcomes={f"x{i}": i % 2 for i in range(5)})
    low = co.score(panel, confidence=0.95).intervals.low["brier"]
    assert np.isnan(low).tolist() == [True, False, False]
    assert np.isnan(co.score(panel, cluster=lambda _: "one").intervals.low["brier"]).all()


def test_an_aggregate_has_the_interval_of_its_events():
    rows = [(judge, f"x{i}", 0.03 * i + 0.2 * (judge == "B")) for judge in "AB" for i in range(12)]
    panel = co.Panel.from_records(rows, outcomes={f"x{i}": i % 3 == 0 for i in range(12)})
    result = co.aggregate(panel, "linear")
    found = co.score(panel, result, confidence=0.9)
    probability, outcome = result.solution.value, panel.written.outcome
    lost = np.square(probability - outcome)[np.unique(panel.event_index)]
    half = stdtrit(len(lost) - 1, 0.95) * lost.std(ddof=1) / np.sqrt(len(lost) - 1)  # the least of V_events
    np.testing.assert_allclose(found.intervals.high["brier"], [lost.mean() + half] * 2)
    assert found.intervals.confidence == 0.9
    with pytest.raises(co.MethodError, match="confidence is 1; it must lie between 0 and 1"):
        co.score(panel, confidence=1)
