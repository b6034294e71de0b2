"""The methods that the field uses, side by side, with and without coherence and weights."""

import numpy as np
import pytest

import coherently as co
from coherently.solve.methods.pools import OPTIONS
from tests.panels import TABLE_2

POOLS = [kind for kind in OPTIONS if kind != "linear"]
NAMES = [name for kind in POOLS for name in (f"Pool ({kind})", f"Aggregate ({kind}, then exact)")]
COHERENT = ["Pool (linear, coherence weights)", "Aggregate (exact, coherence weights)"]
PAST = ["Pool (linear, history weights)", "Aggregate (exact, history weights)"]


EVENTS = ("a", "~a", "b", "c", "a & b", "a | c", "b -> c", "w = x", "w = y", "w = z")


def careless(seed):
    """Six judges who forecast everything, so that every event has a forecast of a judge who counts."""
    rng = np.random.default_rng(seed)
    rows = [(f"j{i}", event, float(p)) for i in range(6) for event, p in zip(EVENTS, rng.random(10), strict=True)]
    outcomes = {"a": 1, "b": 0, "c": 1, "w = x": 0, "w = y": 1, "w = z": 0}
    return co.Panel.from_records(rows, laws=["variable w: x, y, z"], outcomes=outcomes)


@pytest.fixture(scope="module")
def panel():
    return careless(0)


@pytest.fixture(scope="module")
def history():
    return careless(1)


def brier(panel, method, weights=None):
    """The mean Brier score over judges, of what the method makes of the panel."""
    result = co.aggregate(panel, method, weights=weights)
    return co.score(panel, result, by_judge=True).average()["brier"]


def test_every_pool_is_there_by_itself_and_made_coherent(panel, history):
    found = co.compare(panel, co.baselines(history=history))
    assert list(found.methods[5:]) == [*NAMES, *COHERENT, *PAST]
    assert found.scored == len(panel)
    value = dict(zip(found.methods, found.value[:, 0].tolist(), strict=True))
    for kind in POOLS:
        assert value[f"Pool ({kind})"] == pytest.approx(brier(panel, kind))
        then = brier(panel, co.Pool(kind, then=co.Exact()))
        assert value[f"Aggregate ({kind}, then exact)"] == pytest.approx(then, abs=1e-6)
    for names, weights in ((COHERENT, co.CoherenceWeights()), (PAST, co.HistoryWeights(history))):
        for name, method in zip(names, ("linear", "exact"), strict=True):
            assert value[name] == pytest.approx(brier(panel, method, weights), abs=1e-6)
    coherence = {row.name: row.coherence for row in found.rows[5:]}
    assert {coherence[name] for name in coherence if name.startswith("Aggregate")} == {"global"}
    assert {coherence[name] for name in coherence if name.startswith("Pool")} == {"none"}


def test_without_a_history_and_with_a_time_limit():
    methods = co.baselines(time_limit=3.0)
    limits = [method.then.time_limit for method in methods if isinstance(method, co.Pool) and method.then]
    assert limits == [3.0] * len(POOLS)
    assert [pair[0] for pair in methods[-2:]] == [co.Pool("linear"), co.Exact(time_limit=3.0)]


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("then", [None, co.Exact()], ids=["alone", "then exact"])
@pytest.mark.parametrize("weights", ["coherence", "history", "listed"])
def test_weights_go_with_every_pool(panel, history, kind, then, weights):
    judges = {
        "coherence": co.CoherenceWeights(),
        "history": co.HistoryWeights(history),
        "listed": dict.fromkeys(panel.judges, 2.0) | {panel.judges[0]: 1.0},
    }[weights]
    method = co.Pool(kind, then=then)
    found = co.compare(panel, [(method, judges)], bootstrap=0)
    word = "given" if weights == "listed" else weights
    start = "Pool" if then is None else "Aggregate"
    assert found.methods[-1] == f"{start} ({method.name}, {word} weights)"
    assert found.rows[-1].meaning.endswith(f" {method.name} with {word} weights")
    assert found.value[-1, 0] == pytest.approx(brier(panel, method, judges), abs=1e-6)
    assert any("Judges are weighted" in note for note in found.notes)


def test_a_result_with_weights_is_of_the_same_panel(panel):
    result = co.aggregate(panel, "exact", weights=co.CoherenceWeights())
    found = co.compare(panel, {"pair": ("exact", co.CoherenceWeights()), "result": result}, bootstrap=0)
    np.testing.assert_allclose(found.value[-1], found.value[-2], atol=1e-9)


def test_names_of_weightings(panel, history):
    product = co.ProductWeights(
        (co.CoherenceWeights(), co.HistoryWeights(history), lambda panel: np.ones(len(panel.judges)))
    )
    found = co.compare(panel, [("exact", product), ("exact", co.EqualWeights())], bootstrap=0)
    assert found.methods[-2:] == (
        "Aggregate (exact, coherence and history and given weights)",
        "Aggregate (exact, equal weights)",
    )


def test_weights_stay_when_the_judges_are_drawn_again():
    rows = [(f"j{i}", event, p) for i, p in enumerate((0.1, 0.3, 0.4, 0.9)) for event in ("a", "b")]
    panel = co.Panel.from_records(rows, outcomes={"a": 1, "b": 0})
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    found = co.compare(panel, [("linear", lambda _: weight)], bootstrap=60, remake=True)
    rng = np.random.default_rng(0)
    times = np.array([rng.multinomial(4, np.full(4, 0.25)) for _ in range(60)]) * weight
    mean = times @ [0.1, 0.3, 0.4, 0.9] / times.sum(axis=1)
    expected = 4 / 3 * np.var(((1 - mean) ** 2 + mean**2) / 2)
    np.testing.assert_allclose(found.variation.judges[0, -1, -1], expected)


def test_weights_are_found_once(panel):
    asked = []

    def counting(panel):
        asked.append(panel)
        return np.arange(1.0, 1 + len(panel.judges))

    found = co.compare(panel, [("linear", counting), ("exact", counting)], bootstrap=0)
    assert len(asked) == 1
    assert (
        found.rows[-1].note
        == found.rows[-2].note
        == "Judges are weighted by counting. Weights go from 1 (j0) to 6 (j5)."
    )


def test_a_note_names_the_methods_without_a_probability():
    """Bob, the most incoherent, has the weight 0, and only he forecast r."""
    rows = [("Ann", "p", 0.6), ("Ann", "~p", 0.4), ("Bob", "p", 0.9), ("Bob", "~p", 0.5), ("Bob", "r", 0.2)]
    panel = co.Panel.from_records(rows, outcomes={"p": 1, "r": 0})
    found = co.compare(panel, co.baselines(), bootstrap=0)
    assert found.scored == 4
    why = "because some methods have no probability: Pool (linear, coherence weights)"
    assert f"1 resolved forecast is not scored, {why}" in found.notes


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((co.Panel.from_records(TABLE_2), {"Alice": 1}), "only a method can have weights"),
        ((co.Exact, {"Alice": 1}), "only a method can have weights"),
        (("exakt", {"Alice": 1}), "Did you mean 'exact'"),
        (("exact", co.CoherenceWeights(), 3), "pairs of a method and weights"),
    ],
)
def test_what_is_no_pair_is_refused(panel, pair, message):
    with pytest.raises(co.MethodError, match=message):
        co.compare(panel, [pair])


def test_weights_that_do_not_fit_the_panel_are_refused(panel):
    with pytest.raises(co.PanelError, match="has no weight for any judge of the panel"):
        co.compare(panel, [("exact", {"nobody": 1})])
