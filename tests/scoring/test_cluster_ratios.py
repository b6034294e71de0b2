"""Intervals over clusters, differences and ranks of consistency scores."""

import numpy as np
import pytest
from scipy import stats

import coherently as co
from coherently.problem import Log
from coherently.scoring.intervals import ClusterRatios, clusters_of, unit_sets
from coherently.scoring.leaderboards import supported_ranks
from coherently.scoring.tuple_distances import joint_distance
from tests.scoring.interval_checks import connected, covered_connected_shares, covered_shares


def freedom_of(x, effective):
    """The degrees of freedom by the number of clusters, and by the kurtosis of what they do, if that says less."""
    kurtosis = stats.kurtosis(x, fisher=False)
    return min(effective - 1, 2 * (len(x) - 1) / (kurtosis - 1))


def students_half(x, confidence):
    return stats.t.ppf(0.5 + confidence / 2, freedom_of(x, len(x))) * x.std(ddof=1) / np.sqrt(len(x))


def test_equal_clusters_have_students_interval():
    rng = np.random.default_rng(0)
    x = np.stack([rng.exponential(size=30), rng.uniform(size=30)])
    sums = ClusterRatios(3 * x, np.full((2, 30), 3.0))
    assert freedom_of(x[0], 30) < 29
    assert freedom_of(x[1], 30) == 29
    expected = [students_half(each, 0.95) for each in (x[0], x[1], x[0] - x[1])]
    contrasts = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    np.testing.assert_allclose(sums.half_widths(contrasts, 0.95), expected, rtol=1e-12)


def test_unequal_clusters_by_leaving_each_out():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 6, (3, 25)).astype(float)
    values = counts * rng.exponential(size=(3, 25))
    sums, contrast = ClusterRatios(values, counts), np.array([[0.5, -1.0, 0.5]])

    def score(kept):
        return float(contrast[0] @ (values[:, kept].sum(axis=1) / counts[:, kept].sum(axis=1)))

    every = np.flatnonzero(counts.sum(axis=0) > 0)
    moves = np.array([score(every[every != c]) - score(every) for c in every])
    variance = (len(every) - 1) / len(every) * np.sum((moves - moves.mean()) ** 2)
    share = np.abs(contrast[0]) @ (counts / counts.sum(axis=1, keepdims=True))
    freedom = freedom_of(moves, share.sum() ** 2 / np.sum(share**2))
    expected = stats.t.ppf(0.95, freedom) * np.sqrt(variance)
    np.testing.assert_allclose(sums.half_widths(contrast, 0.9), [expected], rtol=1e-10)


def test_clusters_of_several_units_by_leaving_each_unit_out():
    rng = np.random.default_rng(2)
    sets = [(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,), (0, 1), (1, 2), (2, 3, 4), (0, 7), (5, 6)]
    members = np.array([[unit in one for unit in range(8)] for one in sets], float)
    counts = rng.integers(1, 5, (2, len(sets))).astype(float)
    values = counts * rng.uniform(size=counts.shape)
    sums = ClusterRatios(values, counts, members)

    def score(kept):
        return values[0, kept].sum() / counts[0, kept].sum()

    without = [np.array([u not in one for one in sets]) for u in range(8)]
    moves = np.array([score(kept) - score(slice(None)) for kept in without])
    share = np.array([counts[0, ~kept].sum() for kept in without])
    freedom = freedom_of(moves, share.sum() ** 2 / np.sum(share**2))
    half = stats.t.ppf(0.975, freedom) * np.sqrt(7 / 8 * np.sum((moves - moves.mean()) ** 2))
    np.testing.assert_allclose(sums.half_widths(np.eye(2), 0.95)[0], half, rtol=1e-10)
    low, high = sums.ends(0.95)
    np.testing.assert_allclose(
        np.log([high[0], low[0]]), np.log(score(slice(None))) + np.array([1, -1]) * half / score(slice(None))
    )


def test_a_score_of_0_has_an_interval_without_width():
    low, high = ClusterRatios(np.zeros((1, 9)), np.ones((1, 9))).ends(0.95)
    assert (low.tolist(), high.tolist()) == ([0.0], [0.0])


def test_variables_are_units_where_one_cluster_has_most_answers():
    tied = [("Ann", text, 0.4) for i in range(9) for text in (f"v{i}", f"v{i} & v{i + 1}")]
    apart = [("Ann", text, 0.4) for i in range(4) for text in (f"w{i}", f"w{i} & x{i}")]
    sets = unit_sets(co.Panel.from_records([*tied, *apart], laws=["v3 -> v5"]))
    texts = [text for _, text, _ in (*tied, *apart)]
    units = {text: sets.units[number] for text, number in zip(texts, sets.events.tolist(), strict=True)}
    assert [len(units[text]) for text in ("v0", "v0 & v1", "w0", "w0 & x0")] == [1, 2, 1, 1]
    assert units["v3"] == units["v5"]
    assert units["w0"] == units["w0 & x0"]
    assert not set(units["w0"]) & set(units["w1"])
    assert set(units["v0 & v1"]) == set(units["v0"] + units["v1"])
    more, of_check = sets.with_checks([(0, 3), (0, 2, 1)])
    assert set(more.units[of_check[0]]) == set(units["v0"] + units["v1 & v2"])
    assert more.units[of_check[1]] == units["v0 & v1"]
    even = unit_sets(co.Panel.from_records([*tied[:8], *apart]))
    assert all(len(one) == 1 for one in even.units)
    assert len(even.units) == 5


def test_one_connected_panel_has_intervals_and_says_that_they_are_rough():
    panel = connected(np.random.default_rng(5), 20, 30)
    found = co.consistency(panel)
    assert len(set(clusters_of(panel)[:20])) == 1
    assert "intervals take answers without a common variable or law as independent" in found.notes[0]
    table = found.judge_columns()
    for score in ("joint_per_answer", "arbitrage", "frequentist"):
        assert (table[f"{score}_low"] < table[score]).all()
        assert (table[f"{score}_high"] > table[score]).all()
    assert co.Consistency.from_json(found.to_json()).judge_columns()["joint_per_answer_low"].tolist() == pytest.approx(
        table["joint_per_answer_low"].tolist()
    )
    np.testing.assert_allclose(found.clusters.table(found.clusters.joint, 2).sum(axis=1), found.joint, rtol=1e-9)


def test_what_an_answer_loses_is_how_the_distance_falls_with_its_weight():
    panel = connected(np.random.default_rng(6), 6, 7).judge("Ann")
    loss, rows = (
        Log(1e-4),
        [(panel.written.text[i], p) for i, p in zip(panel.event_index, panel.probability, strict=True)],
    )

    def distance(weight):
        weighted = co.Panel.from_records([("Ann", text, p, w) for (text, p), w in zip(rows, weight, strict=True)])
        return joint_distance(weighted, loss, 1e-12, 60.0)

    once, step = np.ones(len(rows)), 1e-4
    found = distance(once).rows
    for i in (0, 7, 12, 19):
        more, less = once.copy(), once.copy()
        more[i], less[i] = 1 + step, 1 - step
        slope = (distance(more).value - distance(less).value) / (2 * step)
        assert found[i] == pytest.approx(slope, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("counts", [np.ones((1, 4)), np.array([[50.0, 1, 1, 1, 1, 1]]), np.zeros((1, 9))])
def test_too_few_clusters_have_no_interval(counts):
    assert np.isnan(ClusterRatios(counts / 2, counts).half_widths(np.ones((1, 1)), 0.95)).all()


def test_clusters_are_what_variables_laws_and_the_user_tie():
    texts = ("a", "b", "a & c", "d given c", "e", "f", "g | ~g")
    panel = co.Panel.from_records([("Ann", text, 0.5) for text in texts], laws=["b -> e"])
    assert clusters_of(panel).tolist() == [0, 1, 0, 0, 1, 2, 3]
    label = np.array([-1, 7, -1, -1, -1, 7, -1])
    assert clusters_of(panel, label).tolist() == [0, 1, 0, 0, 1, 1, 2]


def drawn_panel(seed, clusters=15, judges=("Ann", "Bob", "Eve")):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(clusters):
        shared = rng.normal(scale=0.1)
        for k, judge in enumerate(judges):
            p = rng.uniform(0.3, 0.6)
            rows += [(judge, f"v{i}", p), (judge, f"~v{i}", float(np.clip(1 - p + shared + 0.1 * k, 0.02, 0.98)))]
            if rng.random() < 0.5:
                rows.append((judge, f"v{i} & w{i}", float(rng.uniform(0.1, 0.9))))
    return co.Panel.from_records(rows)


def test_intervals_of_a_panel_are_those_of_its_clusters_solved_apart():
    panel = drawn_panel(3)
    found = co.consistency(panel)
    cluster = clusters_of(panel)[panel.event_index]
    values, counts = np.zeros((3, 15)), np.zeros((3, 15))
    for j, judge in enumerate(panel.judges):
        for c in range(15):
            rows = np.flatnonzero((panel.judge_index == j) & (cluster == c))
            texts = [panel.written.text[i] for i in panel.event_index[rows]]
            alone = [(judge, text, p) for text, p in zip(texts, panel.probability[rows].tolist(), strict=True)]
            counts[j, c] = len(rows)
            values[j, c] = co.consistency(co.Panel.from_records(alone)).joint[0]
    sums = ClusterRatios(values, counts)
    table, half = found.judge_columns(0.9), sums.half_widths(np.eye(3), 0.9) / sums.ratios()
    np.testing.assert_allclose(table["joint_per_answer"], sums.ratios(), atol=1e-9)
    np.testing.assert_allclose(table["joint_per_answer_high"], sums.ratios() * np.exp(half), atol=1e-8)
    np.testing.assert_allclose(table["joint_per_answer_low"], sums.ratios() * np.exp(-half), atol=1e-8)
    apart = found.difference("Ann", "Eve", confidence=0.9)
    paired = sums.half_widths(np.array([[1.0, 0.0, -1.0]]), 0.9)[0]
    np.testing.assert_allclose((apart.high - apart.low) / 2, paired, atol=1e-8)
    back = found.difference("Eve", "Ann", confidence=0.9)
    np.testing.assert_allclose([back.low, back.high], [-apart.high, -apart.low])
    assert apart.excludes_zero
    assert "over clusters" in apart.sentence
    assert "Ann is better" in apart.sentence


def test_tuples_and_checks_have_intervals_over_the_same_clusters():
    found = co.consistency(drawn_panel(4, judges=("Ann",)))
    negations = np.array([item.check == "Neg" for item in found.tuples])
    x = found.arbitrage[negations]
    row = {
        name: column[[*found.check_columns()["check"]].index("Neg")] for name, column in found.check_columns().items()
    }
    high = x.mean() * np.exp(students_half(x, 0.95) / x.mean())
    np.testing.assert_allclose([row["arbitrage"], row["arbitrage_high"]], [x.mean(), high], rtol=1e-9)


def test_a_cluster_of_the_user_joins_questions():
    panel = drawn_panel(5, clusters=30)
    apart = co.consistency(panel)
    pairs = {f"v{i}": i // 2 for i in range(30)}
    joined = co.consistency(panel, cluster=pairs)
    assert (apart.clusters.count, joined.clusters.count) == (30, 15)
    np.testing.assert_allclose(apart.joint, joined.joint)
    with pytest.raises(co.MethodError, match="cluster names events of a panel"):
        co.consistency([("Ann", "Neg", {"P": 0.5, "not_P": 0.6})], cluster=pairs)


def test_ranks_that_differences_support():
    rng = np.random.default_rng(6)
    counts, shared = np.ones((4, 60)), rng.normal(size=60)
    means = np.array([1.0, 1.0, 3.0, 5.0])
    sums = ClusterRatios(means[:, None] + shared + 0.3 * rng.normal(size=(4, 60)), counts)
    best, worst = supported_ranks(sums, 0.95)
    assert (best.tolist(), worst.tolist()) == ([1, 1, 3, 4], [2, 2, 3, 4])
    few = ClusterRatios(sums.values[:, :3], counts[:, :3])
    assert [ends.tolist() for ends in supported_ranks(few, 0.95)] == [[1] * 4, [4] * 4]


def test_the_leaderboard_is_a_table_for_a_paper():
    board = co.consistency(drawn_panel(8, clusters=40)).leaderboard()
    assert list(board.frame().columns) == ["rank", "judge", "score", "score_low", "score_high"]
    assert (np.diff(board.value) >= 0).all()
    assert r"\begin{tabular}{llr}" in board.to_latex()
    assert board.judges[0] in board.to_latex()
    assert "<table" in board.to_html()
    with pytest.raises(co.CoherentlyError, match="unknown score 'brier'"):
        co.consistency(drawn_panel(8)).leaderboard("brier")


def test_intervals_cover():
    shares = covered_shares(seed=0, panels=1_000)
    assert min(shares.values()) > 0.93, shares
    assert max(shares.values()) < 0.98, shares


def test_intervals_over_variables_cover():
    shares = covered_connected_shares(seed=1, panels=60, sizes=((20, 30),))
    assert min(shares.values()) > 0.83, shares


def test_ranks_hold_for_all_pairs_together():
    # Two judges whose difference is shown alone, at 95%, but not as one of six differences.
    rng = np.random.default_rng(11)
    values = 1.0 + np.array([[0.0], [0.04], [0.08], [0.11]]) + 0.2 * rng.normal(size=(4, 40))
    sums = ClusterRatios(values, np.ones((4, 40)))
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for confidence in (0.5, 0.8, 0.95):
        best, worst = supported_ranks(sums, confidence)
        level = 1 - (1 - confidence) / len(pairs)
        shown = np.zeros((4, 4), bool)
        for i, j in pairs:
            gap = values[i] - values[j]
            half = students_half(gap, level)
            shown[i, j], shown[j, i] = gap.mean() < -half, gap.mean() > half
        assert best.tolist() == (1 + shown.sum(axis=0)).tolist()
        assert worst.tolist() == (4 - shown.sum(axis=1)).tolist()
        alone = [abs((values[i] - values[j]).mean()) for i, j in pairs]
        single = [students_half(values[i] - values[j], confidence) for i, j in pairs]
        assert sum(np.array(alone) > single) > shown.sum()
