"""Pins are kept to 1e-9, recomputed from the worlds, also where what they ask for is smaller than other tolerances."""

import numpy as np
import pytest

import coherently as co
from coherently.errors import ContradictionError
from coherently.problem import pose
from coherently.solve.component.newton.limits import pin_rows
from tests.problem.test_terms import under
from tests.solve.lawful import worlds_of
from tests.truth import holds

TEXTS = ["a", "b", "c", "a & b", "a & ~c", "b | c", "a & b & c"]
TINY = [2e-8, 3e-7, 5e-6, 1e-4]


def shares(panel, result, texts):
    """The probabilities of events in the worlds of a result."""
    worlds = list(result.worlds)
    names = panel.events.variables
    truth = np.array([[world.get(name, False) for name in names] for _, world in worlds])
    weight = np.array([weight for weight, _ in worlds])
    assert weight.min() >= 0
    assert weight.sum() == pytest.approx(1, abs=1e-12)
    return weight @ panel.events.evaluate(panel.events.add(texts).event, truth)


def check_kept(panel, result, pins):
    found = shares(panel, result, [text for text, _, _ in pins])
    for p, (text, low, high) in zip(found.tolist(), pins, strict=True):
        assert low - 1e-9 <= p <= high + 1e-9, (text, p, low, high)
    assert result.violation <= 1e-9


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
@pytest.mark.parametrize("tiny", TINY)
@pytest.mark.parametrize("seed", range(4))
def test_tiny_probabilities_are_kept_to_the_last_digit_that_counts(seed, tiny, loss):
    rng = np.random.default_rng(seed)
    rows = [("A", text, float(rng.uniform(0.05, 0.95))) for text in rng.choice(TEXTS, 4, replace=False)]
    rows += [("A", name, 0.5) for name in "abc"]
    # A distribution that all pins leave possible: one world has all but a tiny rest.
    share = tiny * rng.dirichlet(np.ones(8))
    share[rng.integers(8)] += 1 - share.sum()
    panel = co.Panel.from_records(rows)
    worlds = (np.arange(8)[:, None] >> np.arange(3) & 1).astype(bool)
    order = [list(panel.events.variables).index(name) for name in "abc"]
    truth = panel.events.evaluate(panel.events.add(TEXTS).event, worlds[:, np.argsort(order)])
    center = share @ truth
    pins = []
    for i in rng.choice(len(TEXTS), 3, replace=False):
        p = float(center[i])
        pins.append((TEXTS[i], *[(p, p), (p, 1.0), (0.0, p)][int(rng.integers(3))]))
    panel = under(panel, (), pins)
    check_kept(panel, co.aggregate(panel, "exact", loss), pins)


@pytest.mark.parametrize("tiny", TINY)
def test_pins_that_miss_each_other_by_a_little_contradict_each_other(tiny):
    rows = [("A", "a", 0.4), ("A", "a & b", 0.3), ("A", "b", 0.2)]
    panel = under(co.Panel.from_records(rows), (), [("a", 0.0, 0.3), ("a & b", 0.3 + tiny, 1.0)])
    with pytest.raises(ContradictionError):
        co.aggregate(panel, "exact")


@pytest.mark.parametrize("low", [True, False])
def test_a_pin_is_kept_from_the_side_that_the_forecasts_press_on(low):
    rows = [("A", "a", 0.1 if low else 0.9), ("A", "a & b", 0.1 if low else 0.9), ("A", "b", 0.5)]
    pins = [("a", 0.4, 1.0) if low else ("a", 0.0, 0.4), ("a & b", 0.3, 1.0) if low else ("a & b", 0.0, 0.2)]
    panel = under(co.Panel.from_records(rows), (), pins)
    result = co.aggregate(panel, "exact")
    check_kept(panel, result, pins)
    assert result.probability("a") == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_the_violation_is_the_largest_distance_of_a_pin_from_what_it_allows(seed):
    rng = np.random.default_rng(seed)
    pins = []
    for text in ["a", "a & b", "c given a", "b given ~c", "b | c"]:
        low, high = np.sort(rng.random(2)).tolist()
        pins.append((text, *[(low, high), (low, low), (0.0, high), (low, 1.0)][int(rng.integers(4))]))
    panel = under(co.Panel.from_records([("A", name, 0.5) for name in "abc"]), (), pins)
    part = pose(panel).merged
    limits = part.terms.limits
    rows = pin_rows(limits, len(part))
    truth = holds(part, worlds_of(part)).astype(float)
    for x in rng.dirichlet(np.full(len(truth), 0.3), 20) @ truth:
        joint, given = limits.joint.probability(x), limits.condition.probability(x)
        missed = np.maximum(limits.low * given - joint, joint - limits.high * given)
        assert rows.violation(np.concatenate([x, 1 - x, [1.0]])) == pytest.approx(max(0.0, missed.max()), abs=1e-12)
