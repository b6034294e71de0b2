"""What is told about judges: against loops, in words, in records and pictures."""

import numpy as np
import pytest

import coherently as co
from coherently.errors import MethodError
from coherently.problem import pose
from coherently.scoring.tuning.learned_judges import Estimate, LearnedJudges, jackknifed, times_jackknifed
from coherently.scoring.tuning.lines import fitted_lines
from coherently.solve.methods.judge_factors import signal_factors


def faulty_panel(groups=300, seed=0):
    """Five judges: one is right, one too bold, one too timid, two say yes too readily."""
    rng = np.random.default_rng(seed)
    rows, outcomes = [], {}
    lines = {"Right": (1.0, 0.0), "Bold": (2.5, 0.0), "Timid": (0.4, 0.0)}
    lines |= {"Eager": (1.0, 1.5), "Keen": (1.0, 1.5)}
    for i in range(groups):
        truth = rng.normal(0, 1.5)
        outcomes[f"p{i}"] = int(rng.random() < 1 / (1 + np.exp(-truth)))
        for judge, (times, plus) in lines.items():
            odds = times * (truth + 0.2 * rng.normal()) + plus
            rows.append((judge, f"p{i}", float(np.clip(1 / (1 + np.exp(-odds)), 0.01, 0.99))))
    return co.Panel.from_records(rows, outcomes=outcomes)


@pytest.fixture(scope="module")
def tuned():
    return co.tune(faulty_panel())


def line_cost(line, odds, outcome, start, ridge):
    p = 1 / (1 + np.exp(-(line[0] * odds + line[1])))
    loss = -np.where(outcome == 1, np.log(p), np.log1p(-p))
    return loss.sum() + ridge / 2 * np.sum((np.asarray(line) - start) ** 2)


def test_each_line_is_the_minimum_of_its_cost():
    rng = np.random.default_rng(1)
    owner, odds = rng.integers(0, 5, 200), rng.normal(0, 2, 200)
    outcome = (rng.random(200) < 1 / (1 + np.exp(-odds * (0.5 + 0.3 * owner)))).astype(float)
    lines = fitted_lines(owner, odds, outcome, count=6, ridge=8.0)
    start = fitted_lines(np.zeros(0, np.int64), odds[:0], outcome[:0], count=1, ridge=8.0)[0]
    assert start.tolist() == [1.0, 0.0]
    shared = lines[5]  # who has no forecast has the line of all
    for j in range(5):
        own = owner == j
        least = line_cost(lines[j], odds[own], outcome[own], shared, 8.0)
        for step in 0.02 * rng.normal(size=(30, 2)):
            assert least <= line_cost(lines[j] + step, odds[own], outcome[own], shared, 8.0) + 1e-9
    least = line_cost(shared, odds, outcome, start, 8.0)
    for step in 0.02 * rng.normal(size=(30, 2)):
        assert least <= line_cost(shared + step, odds, outcome, start, 8.0) + 1e-9


def test_faults_are_found_and_said(tuned):
    judges = tuned.judges
    said = {name: next(text for text in judges.sentences if text.startswith(name)) for name in judges.names}
    assert "too bold" in said["Bold"]
    assert "too timid" in said["Timid"]
    assert "says yes too readily" in said["Eager"]
    assert "no other fault is shown" in said["Right"]
    assert all("as a mean judge" in text for text in said.values())
    order = [text.split()[0] for text in judges.sentences]
    weight = dict(zip(judges.names, judges.weight.value, strict=True))
    assert order == sorted(order, key=lambda name: -weight[name])


def test_the_frame_has_one_row_per_judge(tuned):
    frame = tuned.judges.frame()
    assert list(frame["judge"]) == ["Right", "Bold", "Timid", "Eager", "Keen"]
    assert list(frame["forecasts"]) == [300] * 5
    scores = co.score(faulty_panel())
    np.testing.assert_allclose(frame["brier"], scores.brier, atol=1e-12)
    assert frame["weight"].mean() == pytest.approx(1.0)
    for name in ("weight", "exponent", "shift"):
        assert (frame[f"{name}_low"] <= frame[name]).all()
        assert (frame[name] <= frame[f"{name}_high"]).all()
    assert (frame["weight_low"] > 0).all()


def test_weights_are_those_of_the_recipe(tuned):
    """The mean over the parts by shares, each 1 for a mean judge."""
    parts, names = tuned.recipe.parts, tuned.judges.names
    assert sum(share for share, part in parts if part.judges) > 0.5
    expected = np.zeros(5)
    for share, part in parts:
        own = np.array([dict(part.judges)[name] for name in names]) if part.judges else np.ones(5)
        if part.signal:
            own = signal_factors(pose(faulty_panel()), part.clip)
        expected += share * own / own.mean()
    np.testing.assert_allclose(tuned.judges.weight.value, expected, rtol=1e-9)


def test_the_jackknife_is_that_of_the_mean():
    """For means of equal parts the jackknife is Student's interval of the parts."""
    from scipy import stats

    parts = np.random.default_rng(2).normal(3, 1, 5)
    without = [np.array([np.delete(parts, k).mean()]) for k in range(5)]
    found = jackknifed(np.array([parts.mean()]), without)
    low, high = stats.t.interval(0.95, 4, parts.mean(), stats.sem(parts))
    assert found.low[0] == pytest.approx(low)
    assert found.high[0] == pytest.approx(high)
    assert np.isnan(jackknifed(np.ones(2), [np.ones(2)] * 2).low).all()
    factors = times_jackknifed(np.array([2.0]), [np.array([1.0]), np.array([2.0]), np.array([4.0])])
    assert factors.low[0] > 0
    assert np.log(factors.high[0] / 2.0) == pytest.approx(np.log(2.0 / factors.low[0]))


def test_intervals_cover(tuned):
    """The line of the judge who is right is in its interval, in most of some panels."""
    inside = 0
    for seed in range(10):
        judges = co.tune(faulty_panel(groups=100, seed=seed)).judges
        inside += bool(judges.exponent.low[0] <= 1 <= judges.exponent.high[0])
    assert inside >= 8
    assert tuned.judges.exponent.low[1] < 0.5 < tuned.judges.exponent.high[1] + 0.2


def test_the_effective_number_counts_weights_and_common_errors(tuned):
    judges = tuned.judges
    assert judges.correlation == pytest.approx(co.diversity(faulty_panel()).correlation)
    share = judges.weight.value / judges.weight.value.sum()
    alone = 1 / np.sum(share**2)
    assert 1 <= judges.effective <= alone <= 5
    one = jackknifed(np.ones(2), [])
    equal = LearnedJudges(("A", "B"), np.ones(2, np.int64), np.zeros(2), weight=one, exponent=one, shift=one)
    assert equal.effective == pytest.approx(2.0)
    assert "2 judges count as about 2.0 equal, independent ones (if they err independently)." in equal.sentence


def test_a_default_that_is_kept_has_weights_without_intervals():
    rng = np.random.default_rng(5)
    rows = [(f"J{j}", f"p{i}", float(rng.uniform(0.1, 0.9))) for i in range(12) for j in range(3)]
    tuned = co.tune(co.Panel.from_records(rows, outcomes={f"p{i}": int(rng.random() < 0.5) for i in range(12)}))
    assert not tuned.is_learned
    assert np.isnan(tuned.judges.weight.low).all()
    assert tuned.judges.weight.value.mean() == pytest.approx(1.0)
    assert not np.isnan(tuned.judges.shift.low).any()


def test_a_history_tells_about_its_judges():
    past, now = faulty_panel(), faulty_panel(groups=10, seed=9)
    found = co.tune(now, history=past).judges
    assert found.forecasts.tolist() == [300] * 5


def test_the_record_leads_back(tuned):
    again = co.Tuned.from_json(tuned.to_json())
    assert again == tuned
    assert again.judges == tuned.judges
    told = tuned.as_dict()
    assert told["judges_words"] == list(tuned.judges.sentences)
    assert told["effective_judges"] == pytest.approx(tuned.judges.effective)


def test_the_picture_shows_weights_and_faults(tuned):
    import matplotlib as mpl

    mpl.use("Agg")
    ax = co.plot.judges(tuned)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 5
    assert any(label.startswith("Bold (too bold") for label in labels)
    np.testing.assert_allclose(np.sort(ax.collections[-1].get_offsets()[:, 0]), np.sort(tuned.judges.weight.value))
    from dataclasses import replace

    with pytest.raises(MethodError, match="tune again"):
        co.plot.judges(replace(tuned, judges=None))


def test_an_interval_without_width_is_not_said():
    times = np.array([0.63, 1.0, 2.0])
    width = np.array([1e-12, 0.0, 0.5])
    fine = Estimate(np.ones(3), np.ones(3), np.ones(3))
    found = LearnedJudges(
        ("A", "B", "C"),
        np.ones(3, np.int64),
        np.zeros(3),
        weight=Estimate(times, times - width, times + width),
        exponent=fine,
        shift=Estimate(np.zeros(3), np.zeros(3), np.zeros(3)),
    )
    assert found.sentences == (
        "C counts 2 times as much as a mean judge (1.5 to 2.5): no other fault is shown.",
        "B counts as much as a mean judge: no other fault is shown.",
        "A counts 0.63 times as much as a mean judge: no other fault is shown.",
    )
