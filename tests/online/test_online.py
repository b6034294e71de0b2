"""Regret bounds on adversarial sequences, specialists, and the state of a panel over rounds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co

ROUNDS = 60
RULES = {
    "vovk": co.Vovk,
    "exponential": co.ExponentialAverage,
    "hedge, square": lambda: co.Hedge(ROUNDS),
    "hedge, absolute": lambda: co.Hedge(ROUNDS, "absolute"),
}
ADVERSARIES = {
    "random": lambda _prediction, random, _round: int(random.random() < 0.5),
    "alternating": lambda _prediction, _random, number: number % 2,
    "greedy": lambda prediction, _random, _round: int(prediction < 0.5),
    "drifting": lambda _prediction, random, number: int(random.random() < (0.95 if number < ROUNDS // 2 else 0.05)),
}
EXPERTS = {
    "constant": lambda n, _random, _round: np.linspace(0, 1, n),
    "random": lambda n, random, _round: random.random(n),
    "extreme": lambda n, random, _round: random.integers(0, 2, n).astype(float),
    "followers": lambda n, random, number: np.clip(number % 2 + random.normal(0, 0.3, n), 0, 1),
}


def play(panel, adversary, experts, seed, sleeping=0.0, width=None):
    """Play all rounds; the losses as a direct computation has them."""
    random, n = np.random.default_rng(seed), len(panel.experts)
    own, lost, times = 0.0, np.zeros(n), np.zeros(n)
    power = 1 if panel.rule.loss == "absolute" else 2
    for number in range(ROUNDS):
        columns = [EXPERTS[experts](n, random, number) for _ in range(width or 1)]
        forecasts = np.stack(columns, axis=1)
        forecasts[random.random(forecasts.shape) < sleeping] = np.nan
        prediction = np.atleast_1d(panel.predict(forecasts if width else forecasts[:, 0]))
        assert np.all(np.isnan(prediction) | ((prediction >= 0) & (prediction <= 1)))
        outcome = np.array([ADVERSARIES[adversary](p, random, number) for p in prediction], float)
        panel.update(outcome if width else outcome[0])
        awake = ~np.isnan(forecasts)
        scored = max(1, int(awake.any(axis=0).sum()))
        mine = np.nan_to_num(np.abs(prediction - outcome) ** power)
        own += mine.sum() / scored
        lost += np.where(awake, np.abs(forecasts - outcome) ** power, 0.0).sum(axis=1) / scored
        times += np.where(awake, mine, 0.0).sum(axis=1) / scored
        bound = panel.rule.bound(n)
        assert max(panel.regret.values()) <= bound + 1e-9, (number, adversary, experts)
        assert sum(panel.weights.values()) == pytest.approx(1.0)
    np.testing.assert_allclose(list(panel.regret.values()), times - lost, atol=1e-9)
    assert panel.loss == pytest.approx(own)
    assert panel.rounds == ROUNDS


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("experts", EXPERTS)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_regret_bounds_hold_on_adversarial_sequences(rule, adversary, experts, n):
    play(co.OnlinePanel([str(i) for i in range(n)], RULES[rule]()), adversary, experts, n)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("width", [None, 3])
def test_regret_bounds_hold_for_specialists_and_several_events(rule, adversary, width):
    for seed, experts in enumerate(EXPERTS):
        play(co.OnlinePanel(list("abcde"), RULES[rule]()), adversary, experts, seed, 0.5, width)


def test_bounds_are_those_of_the_theorems():
    for n in (2, 10):
        assert co.Vovk().bound(n) == pytest.approx(math.log(n) / 2)
        assert co.ExponentialAverage().bound(n) == pytest.approx(2 * math.log(n))
        assert co.Hedge(50).bound(n) == pytest.approx(math.sqrt(50 * math.log(n) / 2))
        assert co.Hedge(50).rate(n) == pytest.approx(math.sqrt(8 * math.log(n) / 50))


def test_the_bound_of_vovk_is_nearly_reached():
    """Experts who differ a little, the same one always nearer: small steps leave no slack in the mixture."""
    panel = co.OnlinePanel(["low", "high"])
    for _ in range(3000):
        panel.predict([0.49, 0.51])
        panel.update(1)
    assert 0.9 * math.log(2) / 2 < max(panel.regret.values()) <= math.log(2) / 2


PROBABILITY = st.floats(0, 1)


@given(st.lists(st.tuples(PROBABILITY, st.floats(0.01, 1)), min_size=1, max_size=6))
def test_substitution_loses_no_more_than_the_mixture(pairs):
    p, w = (np.array(column)[:, None] for column in zip(*pairs, strict=True))
    w = w / w.sum()
    prediction = co.Vovk().predict(w, p, 2.0)[0]
    for outcome in (0.0, 1.0):
        mixture = -np.log(np.sum(w * np.exp(-2 * (p - outcome) ** 2))) / 2
        assert (prediction - outcome) ** 2 <= mixture + 1e-12


@given(
    st.lists(st.one_of(st.none(), PROBABILITY), min_size=2, max_size=5), st.booleans(), st.sampled_from(sorted(RULES))
)
def test_only_the_awake_learn_and_they_keep_their_total(forecasts, outcome, rule):
    panel = co.OnlinePanel([str(i) for i in range(len(forecasts))], RULES[rule]())
    panel.predict(np.linspace(0, 1, len(forecasts)))
    panel.update(1)
    before = np.array(list(panel.weights.values()))
    awake = np.array([value is not None for value in forecasts])
    prediction = panel.predict(forecasts)
    loss = panel.update(outcome)
    after = np.array(list(panel.weights.values()))
    np.testing.assert_allclose(after[~awake], before[~awake])
    np.testing.assert_allclose(after[awake].sum(), before[awake].sum())
    if awake.any():
        p = np.array([value for value in forecasts if value is not None])
        power = 1 if panel.rule.loss == "absolute" else 2
        grown = before[awake] * np.exp(-panel.rule.rate(len(forecasts)) * np.abs(p - outcome) ** power)
        np.testing.assert_allclose(after[awake], grown * before[awake].sum() / grown.sum())
        assert loss == pytest.approx(abs(prediction - outcome) ** power)
    else:
        assert np.isnan(prediction)
        assert loss == 0.0


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from(sorted(RULES)))
def test_a_panel_goes_on_from_its_json(seed, rule):
    random = np.random.default_rng(seed)
    kept = co.OnlinePanel(list("abc"), RULES[rule]())
    stored = kept
    for _ in range(5):
        forecasts = random.random((3, 2))
        forecasts[random.random((3, 2)) < 0.3] = np.nan
        np.testing.assert_array_equal(kept.predict(forecasts), stored.predict(forecasts))
        stored = co.OnlinePanel.from_json(stored.to_json())
        kept = co.OnlinePanel.from_json(kept.to_json()) if seed % 2 else kept
        outcome = [int(random.integers(2)), None]
        assert kept.update(outcome) == stored.update(outcome)
    assert kept.to_json() == stored.to_json()


def test_mappings_leave_out_those_who_abstain():
    panel = co.OnlinePanel(["a", "b", "c"], "exponential")
    assert panel.predict({"a": 0.2, "c": 0.6}) == pytest.approx(0.4)
    np.testing.assert_allclose(panel.predict({"a": [0.2, None], "c": [0.6, None]}), [0.4, np.nan])
    assert panel.update([1, 0]) == pytest.approx(0.36)
    assert repr(panel) == "<OnlinePanel: 3 experts after 1 round>"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda p: p.update(1), "there is no round to learn from: call predict"),
        (lambda p: p.predict([0.5]), "one row for each of 2 experts"),
        (lambda p: p.predict([0.5, 1.5]), "the forecast of b is 1.5; it must lie in [0, 1]"),
        (lambda p: p.predict({"z": 0.5}), "unknown expert 'z'; the experts are a, b"),
        (lambda p: p.predict(["x", 0.5]), "the forecasts are not numbers"),
        (lambda p: (p.predict([0.5, 0.5]), p.update(0.5)), "the outcome is 0.5; it must be 1"),
        (lambda p: (p.predict([0.5, 0.5]), p.update([1, 0])), "the round has 1 events"),
        (lambda _: co.OnlinePanel([]), "experts must be one or more different names"),
        (lambda _: co.OnlinePanel(["a", "a"]), "experts must be one or more different names"),
        (lambda _: co.OnlinePanel(["a"], "hedge"), "write rule=co.Hedge(rounds=1000)"),
        (
            lambda _: co.OnlinePanel(["a"], "weighted"),
            "unknown rule 'weighted'; the rules are hedge, exponential, vovk",
        ),
        (lambda _: co.OnlinePanel(["a"], co.Vovk), "an object such as co.Vovk()"),
        (lambda _: co.Hedge(0), "rounds is 0"),
        (lambda _: co.Hedge(5, "log"), "unknown loss 'log' of Hedge"),
        (lambda _: co.OnlinePanel.from_json("{}"), "this is not an OnlinePanel"),
        (lambda _: co.OnlinePanel.from_json(json.dumps({"format": "x", "version": 2})), "the record is 'x'"),
    ],
)
def test_errors(use, message):
    with pytest.raises(co.CoherentlyError) as caught:
        use(co.OnlinePanel(["a", "b"]))
    assert message in str(caught.value)
