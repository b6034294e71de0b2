import numpy as np
import pytest

import coherently as co
from tests.panels import forecasts


def test_every_judge_answers_the_design():
    panel = co.simulate(judges=12, variables=9, basic=4, compound=20, seed=7)
    assert len(panel) == 12 * 24
    for judge in panel.judges:
        alone = panel.judge(judge)
        assert len(alone.written) == len(alone) == 24
        assert sum("v" in text and " " not in text for text in alone.written.text) == 4
    assert set(np.unique(panel.written.outcome)) <= {0, 1}


def test_the_papers_sizes():
    assert repr(co.simulate(judges=31, variables=10, seed=0)).startswith("<Panel: 1,054 forecasts by 31 judges")
    stock = co.simulate(judges=47, variables=30, seed=0)
    assert len(stock) == 1598
    assert 850 < len(stock.written) < 1000


def test_a_seed_gives_one_panel():
    first, again, other = (forecasts(co.simulate(judges=5, variables=12, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_forecasts_scatter_about_the_truth():
    exact = co.simulate(judges=40, variables=10, noise=(0, 0), rounding=0, seed=5)
    assert co.score(exact).average()["brier"] < 0.25
    spread = [np.ptp(exact.probability[exact.event_index == event]) for event in range(len(exact.written))]
    np.testing.assert_allclose(spread, 0, atol=1e-12)
    noisy = co.simulate(judges=400, variables=10, noise=(0.1, 0.1), rounding=0, seed=5)
    truth = {text: p for _, text, p in forecasts(exact)}
    offset = [p - truth[text] for _, text, p in forecasts(noisy) if 0.3 < truth.get(text, 0) < 0.7]
    assert abs(np.mean(offset)) < 0.01
    np.testing.assert_allclose(np.std(offset), 0.1, rtol=0.05)


def test_exact_forecasts_are_coherent():
    """p = p & q + p & ~q in the truth, so the generator's formulas agree with each other."""
    panel = co.simulate(judges=300, variables=6, basic=6, noise=(0, 0), rounding=0, seed=2)
    result = co.aggregate(panel)
    for a in range(1, 7):
        for b in range(a + 1, 7):
            p, both = result.probability(f"v{a}"), result.probability(f"v{a} & v{b}")
            np.testing.assert_allclose(p, both + result.probability(f"v{a} & ~v{b}"), atol=1e-12)
            union = p + result.probability(f"v{b}") - both
            np.testing.assert_allclose(result.probability(f"v{a} | v{b}"), union, atol=1e-12)
            np.testing.assert_allclose(result.probability(f"v{a} | ~v{b}"), 1 - result.probability(f"v{b} & ~v{a}"))


def test_half_of_the_judges_round():
    panel = co.simulate(judges=100, variables=10, seed=3)
    steps = panel.probability / 0.05
    coarse = np.bincount(panel.judge_index, np.abs(steps - np.round(steps)) > 1e-9) == 0
    assert coarse.sum() == 50


def test_bias_and_abstention():
    plain, biased = (co.simulate(judges=50, variables=10, bias=bias, seed=1) for bias in (0, 0.2))
    assert biased.probability.mean() > plain.probability.mean() + 0.1
    assert 0.65 < len(co.simulate(judges=50, variables=10, abstention=0.3, seed=1)) / len(plain) < 0.75


def test_conservatism_draws_forecasts_towards_one_half():
    sure, shy, blind = (co.simulate(judges=50, noise=(0, 0), rounders=0, conservatism=c, seed=1) for c in (0, 0.4, 1))
    np.testing.assert_allclose(shy.probability - 0.5, 0.6 * (sure.probability - 0.5), atol=1e-12)
    np.testing.assert_allclose(blind.probability, 0.5)


def test_compound_events_are_about_the_judges_own_variables_if_nested():
    panel = co.simulate(judges=20, variables=30, nested=True, seed=4)
    for judge in panel.judges:
        texts = panel.judge(judge).written.text
        alone = {text for text in texts if " " not in text}
        parts = {word.strip("~") for text in texts for word in text.split() if word not in "&|"}
        assert len(alone) == 10
        assert parts == alone
        assert len(texts) == 34


def test_forms():
    panel = co.simulate(judges=5, variables=8, basic=0, compound=10, forms=["a & ~b"], seed=1)
    assert all(" & ~" in text for text in panel.written.text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judges": 0}, "judges is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"basic": 11, "variables": 10}, "more than the 10 variables"),
        ({"compound": 25, "variables": 3, "basic": 1}, "3 variables make 18 such events"),
        ({"forms": ["a xor b"]}, "the forms are"),
        ({"noise": (0.3, 0.1)}, "low <= high"),
        ({"conservatism": 1.5}, "conservatism is 1.5"),
        ({"nested": True, "basic": 3}, "3 variables make 18 such events"),
        ({"abstention": 1.0}, r"in \[0, 1\)"),
        ({"basic": 0, "compound": 0}, "at least one event"),
    ],
)
def test_impossible_designs_are_refused(options, words):
    with pytest.raises(co.MethodError, match=words):
        co.simulate(**options)
