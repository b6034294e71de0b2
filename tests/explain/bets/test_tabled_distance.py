"""Distances of small clusters by the table of components are those of the general method."""

from __future__ import annotations

import numpy as np
import pytest

import coherently as co
from coherently.explain.bets import tabled_distance
from coherently.explain.bets.bets import bets_of_judges, clusters_of
from coherently.explain.bets.distance import Approach
from coherently.solve import Budget
from tests.solve.exact_checks import one_by_one

FORMS = [
    "{a}",
    "~{a}",
    "{a} & {b}",
    "{a} | ~{b}",
    "{a} -> {b}",
    "{a} ^ {b}",
    "{a} & {b} & {c}",
    "exactly(1; {a}, {b}, {c})",
]
LAWS = [[], ["v0 -> v1"], ["exactly(1; v0, v1, v2)"], ["v3 | v4", "~(v0 & v5)"]]


def draw(seed):
    """Judges with repeated, contradictory and coherent forecasts of few variables."""
    rng = np.random.default_rng(seed)
    names, rows = [f"v{i}" for i in range(8)], []
    truth = rng.dirichlet(np.ones(4))
    worlds = rng.integers(0, 2, (4, 8)).astype(bool)
    worlds[:, :3] = np.eye(3, dtype=bool)[rng.integers(3, size=4)]
    for judge in range(6):
        for _ in range(int(rng.integers(1, 12))):
            a, b, c = rng.choice(names, 3, replace=False)
            rows.append((f"j{judge}", FORMS[int(rng.integers(len(FORMS)))].format(a=a, b=b, c=c), float(rng.random())))
    panel = co.Panel.from_records(rows, laws=LAWS[seed % len(LAWS)])
    if seed % 3:
        return panel
    holds = panel.events.evaluate(panel.written.event, worlds[:, [int(name[1:]) for name in panel.events.variables]])
    coherent = truth @ holds
    noise = 10.0 ** rng.uniform(-14, -1, len(panel)) * rng.choice([-1, 0, 1], len(panel))
    shown = np.clip(coherent[panel.event_index] + noise, 0, 1)
    judges = [panel.judges[i] for i in panel.judge_index]
    events = [panel.written.text[i] for i in panel.event_index]
    return co.Panel.from_records(list(zip(judges, events, shown.tolist(), strict=True)), laws=LAWS[seed % len(LAWS)])


@pytest.mark.parametrize("seed", range(60))
def test_checks_are_those_without_the_table(seed):
    panel = draw(seed)
    found = co.check(panel)
    with one_by_one():
        wanted = co.check(panel)
    for one, other in ((found.means, wanted.means), *((found.judges[j], wanted.judges[j]) for j in panel.judges)):
        assert one.status is other.status
        assert one.distance == pytest.approx(other.distance, abs=1e-9)
        assert one.distance_low == pytest.approx(other.distance_low, abs=1e-9, rel=1e-6)
        assert one.contradictions == other.contradictions
        if other.guaranteed_improvement is not None:
            assert one.guaranteed_improvement == pytest.approx(other.guaranteed_improvement, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_answers_are_mixtures_of_possible_worlds_at_the_proved_distance(seed):
    panel = draw(seed)
    bets = bets_of_judges(panel)
    clusters = clusters_of(bets)
    found = tabled_distance.tabled_prices(bets, clusters, Budget(), 1)
    small = [i for i, cluster in enumerate(clusters) if cluster.part.n_variables <= 6]
    assert {i for i in small if Approach(bets, clusters[i]).improve(Budget()).distance > 1e-4} <= set(found)
    for i, answer in found.items():
        general = Approach(bets, clusters[i]).improve(Budget())
        assert np.allclose(answer.value, general.value, rtol=0, atol=1e-7)
        assert answer.square == pytest.approx(general.square, abs=1e-12, rel=1e-9)
        assert answer.least <= general.square * (1 + 1e-12)
        assert answer.weight.sum() == pytest.approx(1)
        full = np.zeros((len(answer.worlds), panel.events.n_variables), np.bool_)
        full[:, clusters[i].variables] = answer.worlds
        sides = panel.written.event[panel.event_index[clusters[i].bets]]
        assert np.allclose(answer.weight @ panel.events.evaluate(sides, full), answer.value, rtol=0, atol=1e-9)
        # stakes p - x win at least `sure` - `shortfall` in each world that was found
        won = (answer.target - answer.value) @ (answer.target - panel.events.evaluate(sides, full)).T
        assert (won >= answer.sure - answer.shortfall - 1e-12).all()
