"""Each judge made coherent alone."""

import numpy as np
import pytest

import coherently as co
from coherently.result import judges
from coherently.solve import METHODS
from coherently.solve.methods import auto

GAPS = [  # coherent in every group of the paper's design, and not altogether
    [("A", "p & q & r", 0.83), ("A", "p -> q", 0.71)],
    [*(("A", x, 0.5) for x in "pqr"), ("A", "p & q", 0.0), ("A", "p & r", 0.0), ("A", "q & r", 0.0)],
]


@pytest.mark.parametrize("rows", GAPS)
def test_forecasts_are_coherent_altogether(rows):
    panel = co.Panel.from_records(rows)
    mended = co.individual(panel)
    assert co.check(mended).judges["A"].coherent
    assert mended.notes == panel.notes
    assert mended.probability == pytest.approx([co.aggregate(panel, "exact").probability(e) for _, e, _ in rows])


@pytest.mark.parametrize("seed", range(5))
def test_each_judge_is_alone(seed):
    rng = np.random.default_rng(seed)
    atoms = [*"pqr", "w = a", "w = b"]
    pairs = [rng.choice(atoms, 2, replace=False) for _ in range(8)]
    texts = [*atoms, *dict.fromkeys(f"{a} {rng.choice(['&', '|'])} {b}" for a, b in pairs)]
    rows = [(judge, text, float(rng.random())) for judge in "ABC" for text in rng.choice(texts, 6, replace=False)]
    panel = co.Panel.from_records(rows, laws=["variable w: a, b, c", "p -> q"])
    mended = co.individual(panel)
    assert mended.notes == panel.notes
    for judge in "ABC":
        alone = panel.judge(judge)
        nearest = co.aggregate(alone, "exact")
        expected = nearest.solution.value[alone.event_index]
        assert mended.probability[panel.judge_index == panel.judges.index(judge)] == pytest.approx(expected, abs=1e-4)
        assert co.check(mended).judges[judge].coherent


@pytest.mark.parametrize("method", ["dykstra", "projections"])
def test_local_coherence_is_said(method):
    panel = co.Panel.from_records([(judge, text, p) for judge in "AB" for _, text, p in GAPS[0]])
    mended = co.individual(panel, method)
    assert mended.notes == ("coherent only within groups of events, which may contradict each other: A, B",)


def test_what_was_not_solved_is_locally_coherent_and_said():
    panel = co.Panel.from_records([*(("A", text, p) for _, text, p in GAPS[1]), ("B", "p", 0.5), ("B", "p & q", 0.6)])
    mended = co.individual(panel, auto.Auto(time_limit=0.0))
    assert mended.notes == ("coherent only within groups of events, which may contradict each other: A, B",)
    local = co.AlternatingProjections("pairs", correction="dykstra")
    assert mended.probability == pytest.approx(co.individual(panel, local).probability)
    as_asked = co.individual(panel, co.Exact(time_limit=0.0))
    assert as_asked.notes[0].startswith("coherent, but not proved to be the nearest within the time limit: A, B;")
    assert all(finding.coherent for finding in co.check(as_asked).judges.values())


def test_large_components_alone_are_local(monkeypatch):
    monkeypatch.setattr(auto, "LARGEST", 3)
    monkeypatch.setattr(judges, "LARGEST", 3)
    rows = [("A", "p", 0.5), ("A", "p & q", 0.6), *(("B", text, p) for _, text, p in GAPS[1]), ("C", "p", 0.2)]
    panel = co.Panel.from_records(rows)
    mended = co.individual(panel)
    assert mended.notes == ("coherent only within groups of events, which may contradict each other: B",)
    assert mended.probability[:2] == pytest.approx([0.55, 0.55])


def test_many_judges_are_counted():
    panel = co.Panel.from_records([(f"J{i}", text, p) for i in range(7) for _, text, p in GAPS[0]])
    assert co.individual(panel, "dykstra").notes[0].endswith(": J0, J1, J2, J3, J4 and 2 more")


def test_pins_in_conflict_are_named():
    panel = co.Panel.from_records([("A", "p", 0.9), ("A", "q", 0.1)], laws=["P(p) = 0.5", "P(p & q) = 0.6"])
    with pytest.raises(co.ContradictionError, match=r"P\(p & q\) = 0.6"):
        co.individual(panel)


ALONE = [
    *[("A", "p", 0.8), ("A", "p & q", 0.9), ("A", "q", 0.3)],
    *[("B", "p", 0.5), ("B", "~p", 0.7), ("C", "p | q", 0.2), ("C", "q", 0.4), ("C", "p", 0.1)],
]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_for_each_judge(method):
    panel = co.Panel.from_records(ALONE)
    mended = co.individual(panel, method)
    for judge in panel.judges:
        alone = panel.judge(judge)
        answer = co.aggregate(alone, method)
        own = mended.probability[panel.judge_index == panel.judges.index(judge)]
        near = 0.05 if method == "annealing" else 1e-6
        assert own == pytest.approx(answer.solution.value[alone.event_index], abs=near)
    averaged = answer.coherence == "none"
    assert any(note.startswith("averaged, not made coherent") for note in mended.notes) == averaged


@pytest.mark.parametrize("scale", ["probability", "log-odds"])
@pytest.mark.parametrize("over", ["judges", "events"])
def test_errors_with_a_covariance_for_each_judge(over, scale):
    panel = co.Panel.from_records(ALONE)
    names = panel.judges if over == "judges" else panel.written.text
    covariance = np.diag(np.arange(1.0, len(names) + 1)) + 0.3
    mended = co.individual(panel, co.Lindley(covariance, over, scale, prior={"p": 0.4}))
    for j, judge in enumerate(panel.judges):
        alone = panel.judge(judge)
        own = [names.index(name) for name in (alone.judges if over == "judges" else alone.written.text)]
        expected = co.aggregate(alone, co.Lindley(covariance[np.ix_(own, own)], over, scale, prior={"p": 0.4}))
        found = mended.probability[panel.judge_index == j]
        assert found == pytest.approx(expected.solution.value[alone.event_index], abs=1e-3)


def test_threads_do_not_change_a_judge():
    panel = co.simulate(judges=6, variables=30, compound=60, basic=30, seed=2)
    one, two = (co.individual(panel, co.Exact(threads=threads)).probability for threads in (1, 2))
    assert one.tobytes() == two.tobytes()
