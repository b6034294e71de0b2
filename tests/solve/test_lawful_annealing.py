"""Annealing where worlds obey laws, forecasts are conditional or intervals, and probabilities are pinned."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.problem import pose
from coherently.solve.methods.moves import plan
from tests.problem.test_terms import under
from tests.solve.lawful import nearest, panels, worlds_of
from tests.solve.reference import joined
from tests.truth import holds


def anneal(panel, **options):
    return co.aggregate(panel, co.Annealing(**options))


def osherson_vardi(merged, x):
    """The objective, written out term by term, and the largest violation of a pin."""
    terms = merged.terms
    weighty = merged.weight > 0
    total = float(np.sum(merged.weight[weighty] * (x - merged.mean)[weighty] ** 2))
    joint, condition = terms.conditionals.joint.probability(x), terms.conditionals.condition.probability(x)
    for j, h, w, p in zip(joint, condition, terms.conditionals.weight, terms.conditionals.mean, strict=True):
        total += w * (j / h - p) ** 2 if h > 0 and w > 0 else 0.0
    inner = terms.intervals
    for i in range(len(inner)):
        k = inner.about[i]
        over, under_ = (joint[k], condition[k]) if inner.conditional[i] else (x[k], 1.0)
        share = over / under_ if under_ > 0 else inner.low[i]
        total += inner.weight[i] * (share - np.clip(share, inner.low[i], inner.high[i])) ** 2
    limits = terms.limits
    broken = [0.0]
    for i in range(len(limits)):
        j, h = limits.joint.probability(x)[i], limits.condition.probability(x)[i]
        broken.append(abs(j - np.clip(j, limits.low[i] * h, limits.high[i] * h)))
    return total, max(broken)


@settings(max_examples=60, deadline=None)
@given(panels(weights=(1.0, 2.5, 0.0)), st.integers(0, 2**32))
def test_worlds_obey_the_space_and_tell_the_answer(panel, seed):
    result = anneal(panel, columns=40, steps=3000, seed=seed)
    problem = result.problem
    merged = problem.merged
    worlds = joined(result)
    allowed = {tuple(row) for row in worlds_of(merged).tolist()}
    assert {tuple(row) for row in worlds.truth.tolist()} <= allowed
    x = worlds.weight @ holds(merged, worlds.truth)
    np.testing.assert_allclose(result.solution.value, problem.as_written(x), atol=1e-12)
    objective, broken = osherson_vardi(merged, x)
    assert result.objective == pytest.approx(objective, abs=1e-9)
    assert result.coherence == "global"
    assert result.violation == (pytest.approx(broken, abs=1e-12) if len(merged.terms.limits) else None)


@settings(max_examples=25, deadline=None)
@given(panels(given=False, weights=(1.0, 2.5)), st.integers(0, 3))
def test_energies_approach_the_optimum(panel, seed):
    merged = pose(panel).merged
    least, _ = nearest(merged)
    result = anneal(panel, columns=400, seed=seed)
    total = panel.weight.sum()
    assert result.objective <= least + 0.01 * total
    if not len(merged.terms.limits):
        assert result.objective >= least - 1e-6
    else:
        assert result.violation <= 0.01


def test_osherson_and_vardi():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.5), ("A", "p & q", 0.5)])
    result = anneal(panel, columns=5000)
    np.testing.assert_allclose(result.solution.value, [0.58976, 0.58975, 0.34781], atol=5e-4)
    assert result.objective == pytest.approx(0.039273, abs=2e-6)


def test_a_condition_that_is_never_true_is_told():
    rows = [("A", "a given h", 0.9), ("A", "b given h", 0.9), ("A", "a & b given h", 0.1)]
    panel = under(co.Panel.from_records(rows), [], [("h", 0.0, 0.0)])
    result = anneal(panel, columns=50)
    np.testing.assert_allclose(result.solution.value, [0.9, 0.9, 0.1])
    assert (result.objective, result.violation) == (0.0, 0.0)
    assert "Forecasts conditional on h are unchanged: the probability of the condition is below" in result.note
    assert "although no forecast" not in result.note  # a pin does


def test_pins_between_the_columns_are_told():
    panel = under(co.Panel.from_records([("A", "p", 0.9)]), [], [("p", 1 / 3, 1 / 3)])
    result = anneal(panel, columns=100)
    assert result.solution.value[0] == pytest.approx(0.33)
    assert result.violation == pytest.approx(1 / 300)
    assert result.note == "A pin is missed by 0.00333333, the most of all: probabilities are multiples of 1/100."
    assert anneal(panel, columns=99).note is None


def test_the_violation_is_that_of_the_pin_that_is_missed_most():
    rows = [("A", "p", 0.5), ("A", "q", 0.5)]
    panel = co.Panel.from_records(rows, laws=["P(p) = 0.6213", "P(q) = 0.40049", "P(p & q) <= 0.9"])
    result = co.aggregate(panel, "annealing")
    missed = [abs(result.probability(text) - value) for text, value in (("p", 0.6213), ("q", 0.40049))]
    assert result.violation == pytest.approx(max(missed), abs=1e-12)
    assert missed == pytest.approx([0.0003, 0.00049])
    assert result.note.startswith("A pin is missed by 0.00049, ")


def test_laws_too_many_to_enumerate():
    """Implications in a long line and rings around it: moves keep to laws, and a start is found by search."""
    names = [f"v{i}" for i in range(40)]
    laws = [f"{a} -> {b}" for a, b in pairwise(names[:16])]
    laws += [f"{a} | {b}" for a, b in pairwise(names[15:])]
    laws += ["exactly(2; v14, v16, v20, v24)"]
    rows = [("A", name, 0.1 + 0.02 * i) for i, name in enumerate(names)]
    panel = under(co.Panel.from_records(rows), laws)
    merged = pose(panel).merged
    assert len(plan(merged, 3, 0).laws) == len(laws)
    result = anneal(panel, columns=100, steps=100_000)
    worlds = joined(result)
    evaluated = panel.events.evaluate(panel.laws.side, worlds.truth[:, np.argsort(merged.origin)])
    assert evaluated.all()
    nearest_one = co.aggregate(panel, co.AlternatingProjections("cliques", correction="dykstra"))
    assert result.objective >= nearest_one.lower_bound - 1e-9
    assert result.objective <= nearest_one.objective + 0.02
    assert len(worlds.truth) > 10


def test_a_partition_of_many_values():
    names = [f"n{i}" for i in range(40)]
    raw = np.random.default_rng(2).dirichlet(np.ones(40)) + 0.01
    panel = under(
        co.Panel.from_records(list(zip("A" * 40, names, raw, strict=True))), [f"exactly(1; {', '.join(names)})"]
    )
    result = anneal(panel, columns=500)
    assert result.solution.value.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(result.solution.value, raw - 0.01, atol=3 / 500)
