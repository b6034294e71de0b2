from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import t

import coherently as co
from tests.panels import TABLE_2, WORLDS

ROWS = ["Raw", "Individual", "Linear average", "Aggregate (paper)", "Aggregate (exact)"]
COLUMNS = ["method", *(f"{score}{end}" for score in ("brier", "log", "slope") for end in ("", "_low", "_high"))]


@pytest.fixture(scope="module")
def panel():
    return co.simulate(judges=15, variables=8, basic=4, compound=8, seed=2)


@pytest.fixture(scope="module")
def comparison(panel):
    return co.compare(panel, bootstrap=300)


# Mean Brier scores by world, ALGORITHMS: raw, linear average and the nearest coherent forecasts of Table 2.
TABLE_2_BRIER = {
    "Raw": [0.250556, 0.517222, 0.072778, 0.495000],
    "Linear average": [0.222963, 0.489630, 0.045185, 0.467407],
    "Aggregate (exact)": [0.218333, 0.429444, 0.040556, 0.462778],
}


def test_table_2_in_every_world():
    for place, (p, q) in enumerate(WORLDS):
        frame = co.compare(co.Panel.from_records(TABLE_2, outcomes={"p": p, "q": q}), bootstrap=0).frame()
        found = dict(zip(frame["method"], frame["brier"], strict=True))
        assert list(found) == ROWS
        for name, expected in TABLE_2_BRIER.items():
            np.testing.assert_allclose(found[name], expected[place], atol=1e-6)
        # Chris alone becomes (.95, .3, .3); Alice and Bob are coherent.
        rows = {"Alice": (0.75, 0.2, 0.1), "Bob": (0.6, 0.1, 0.1), "Chris": (0.95, 0.3, 0.3)}
        alone = np.mean([(np.array(row) - [p, q, p and q]) ** 2 for row in rows.values()])
        np.testing.assert_allclose(found["Individual"], alone, atol=1e-6)


def test_judges_count_alike_however_much_they_forecast():
    rows = [("A", "p", 0.5), ("A", "q", 0.1), ("A", "r", 0.2), ("B", "p", 0.9)]
    found = co.compare(co.Panel.from_records(rows, outcomes={"p": 1, "q": 0, "r": 0}), bootstrap=0)
    raw_a, raw_b = (0.25 + 0.01 + 0.04) / 3, 0.01
    mean_a, mean_b = (0.09 + 0.01 + 0.04) / 3, 0.09
    np.testing.assert_allclose(found.value[0, 0], (raw_a + raw_b) / 2)
    np.testing.assert_allclose(found.value[2, 0], (mean_a + mean_b) / 2)
    np.testing.assert_allclose(found.value[2, 2], 0.7 - 0.15)


def test_rows_are_those_that_score_gives(panel, comparison):
    results = {"Linear average": "linear", "Aggregate (paper)": "projections", "Aggregate (exact)": "exact"}
    for name, method in results.items():
        mean = co.score(panel, co.aggregate(panel, method), by_judge=True).average()
        np.testing.assert_allclose(comparison.value[ROWS.index(name)], list(mean.values()))
    alone = co.score(co.individual(panel, "projections")).average()
    np.testing.assert_allclose(comparison.value[1], list(alone.values()))


@pytest.mark.parametrize("over", ["both", "judges", "events"])
def test_the_frame_has_a_row_a_method_with_intervals_around_the_scores(comparison, over):
    frame = comparison.frame(over)
    assert list(frame.columns) == COLUMNS
    assert frame["method"].tolist() == ROWS
    for score in ("brier", "log", "slope"):
        assert (frame[f"{score}_low"] <= frame[score]).all()
        assert (frame[score] <= frame[f"{score}_high"]).all()


def test_differences_are_antisymmetric(comparison):
    for found in comparison.differences:
        turned = comparison.difference(found.other, found.method, found.score)
        assert turned.difference == -found.difference
        np.testing.assert_allclose([turned.low, turned.high], [-found.high, -found.low], atol=1e-12)
        assert turned.excludes_zero == found.excludes_zero
    assert len(comparison.differences) == 3 * 10


def test_differences_are_paired(comparison):
    """Methods are scored on the same forecasts, so a difference varies far less than the scores do."""
    frame = comparison.frame()
    found = comparison.difference("Raw", "Individual")
    np.testing.assert_allclose(found.difference, frame["brier"][0] - frame["brier"][1])
    assert found.high - found.low < 0.5 * (frame["brier_high"][0] - frame["brier_low"][0])


def test_a_sentence_claims_no_more_than_its_interval(comparison):
    for found in comparison.differences:
        claims = "excludes 0" in found.sentence
        assert claims == found.excludes_zero
        assert claims == (" is better" in found.sentence or " is worse" in found.sentence)
    better = [found for found in comparison.differences if " is better" in found.sentence]
    assert all((found.difference < 0) == (found.score != "slope") for found in better)


def test_aggregates_may_be_made_anew_by_the_judges_of_each_draw():
    rows = [(f"j{i}", event, p) for i, p in enumerate((0.1, 0.3, 0.4, 0.9)) for event in ("a", "b")]
    panel = co.Panel.from_records(rows, outcomes={"a": 1, "b": 0})
    fixed, remade = (co.compare(panel, bootstrap=60, remake=remake) for remake in (False, True))
    place = ROWS.index("Linear average")
    np.testing.assert_allclose(fixed.variation.judges[0, place, place], 0, atol=1e-30)
    rng = np.random.default_rng(0)
    mean = np.array([rng.multinomial(4, np.full(4, 0.25)) @ [0.1, 0.3, 0.4, 0.9] / 4 for _ in range(60)])
    expected = 4 / 3 * np.var(((1 - mean) ** 2 + mean**2) / 2)
    np.testing.assert_allclose(remade.variation.judges[0, place, place], expected)
    low, high = (remade.frame("judges")[f"brier_{end}"][place] for end in ("low", "high"))
    np.testing.assert_allclose((high - low) / 2, t(3).ppf(0.975) * np.sqrt(expected))
    np.testing.assert_allclose(remade.value, fixed.value)
    assert (remade.remade, remade.resamples) == (True, 60)
    assert (fixed.remade, fixed.resamples) == (False, 0)


def test_threads_do_not_change_draws(panel):
    small = panel.select(np.flatnonzero(panel.judge_index < 3))
    one, two = (co.compare(small, bootstrap=25, remake=True, threads=threads) for threads in (1, 2))
    assert one.as_dict() == two.as_dict()
    assert one.variation.judges.tobytes() == two.variation.judges.tobytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interruption_keeps_the_draws_before_it(panel, threads):
    def stop(done):
        if done > 0.5:
            raise KeyboardInterrupt

    small = panel.select(np.flatnonzero(panel.judge_index < 3))
    found = co.compare(small, bootstrap=25, remake=True, threads=threads, progress=stop)
    assert found.interrupted
    assert found.resamples == 13


def test_the_same_seed_gives_the_same_intervals(panel, comparison):
    small = panel.select(np.flatnonzero(panel.judge_index < 3))
    found = [co.compare(small, bootstrap=25, seed=seed, remake=True).frame("judges") for seed in (0, 0, 1)]
    assert found[0].equals(found[1])
    assert not found[0].equals(found[2])
    assert co.compare(panel, seed=1).frame().equals(comparison.frame())


def test_more_methods_leave_the_other_rows_alone(panel, comparison):
    asked = [co.Annealing(columns=100, steps=1000), "dykstra", "linear", "exact", "median", co.aggregate(panel, "auto")]
    more = co.compare(panel, asked, bootstrap=300)
    added = ["Aggregate (annealing)", "Aggregate (dykstra)", "Pool (median)", "Aggregate (auto)"]
    assert list(more.methods) == ROWS + added
    np.testing.assert_allclose(more.value[:5], comparison.value)
    np.testing.assert_allclose(more.variation.units[:, :5, :5], comparison.variation.units)


def test_methods_may_be_named_and_forecasts_given(panel):
    named = co.compare(panel, {"Alone, exactly": co.individual(panel, "exact")}, bootstrap=0)
    assert named.methods[-1] == "Alone, exactly"
    expected = co.score(co.individual(panel, "exact")).average()["brier"]
    np.testing.assert_allclose(named.value[-1, 0], expected)


def test_two_methods_of_one_name_are_told_apart(panel):
    found = co.compare(panel, [co.Exact(seed=1), co.Exact(seed=1)], bootstrap=0)
    assert len(set(found.methods)) == 7


def test_one_judge_has_no_intervals_over_judges():
    rows = [("A", "p", 0.5), ("A", "q", 0.9), ("A", "p & q", 0.6), *(("A", name, 0.3) for name in "rst")]
    found = co.compare(co.Panel.from_records(rows, outcomes={"p": 1, "q": 0, "r": 1, "s": 0, "t": 0}), bootstrap=50)
    assert "fewer than two judges are scored, so there are no intervals over judges" in found.notes
    for over in ("both", "judges"):
        assert found.frame(over)["brier_low"].isna().all()
        assert not found.frame(over)["brier"].isna().any()
    assert found.frame("events")["brier_low"].notna().all()
    assert found.difference("Raw", "Individual").interval is None
    assert "this may be noise" in found.difference("Raw", "Individual").sentence


@pytest.mark.parametrize("names", ["p", "pqrs"])
def test_events_of_few_variables_have_no_intervals_over_events(names):
    rows = [("A", name, 0.5) for name in names] + [("B", f"~{name}", 0.6) for name in names]
    found = co.compare(co.Panel.from_records(rows, outcomes=dict.fromkeys(names, 1)), bootstrap=50)
    count = "1 independent variable" if names == "p" else "4 independent variables"
    assert f"the scored events depend on {count}, fewer than 5, so there are no intervals over events" in found.notes
    assert found.difference("Raw", "Individual").interval is None
    assert found.frame("events")["brier_low"].isna().all()
    assert found.frame("judges")["brier_low"].notna().all()


def test_a_variable_with_most_forecasts_is_noted():
    def notes(outer):
        """Ten variables, of which laws tie `outer` together."""
        names = [f"v{i}" for i in range(outer + 9)]
        laws = [f"{a} -> {b}" for a, b in pairwise(names[:outer])]
        rows = [(judge, name, 0.5) for judge in "AB" for name in names]
        return co.compare(co.Panel.from_records(rows, laws=laws, outcomes=dict.fromkeys(names, 1)))

    assert notes(1).notes == ()
    rough, nothing = notes(9), notes(40)
    assert "so unequally that they count as about 3.6: intervals over events are rough" in rough.notes[0]
    assert rough.frame("events")["brier_low"].notna().all()
    assert "one of them has most of the forecasts, so there are no intervals over events" in nothing.notes[0]
    assert nothing.frame("events")["brier_low"].isna().all()


def test_called_off_and_unresolved_forecasts_are_not_scored():
    rows = [("A", "p", 0.5), ("A", "r", 0.9), ("A", "p given q", 0.9), ("A", "q", 0.2), ("B", "p", 0.1)]
    found = co.compare(co.Panel.from_records(rows, outcomes={"p": 1, "q": 0}), bootstrap=0)
    assert (found.judges, found.scored) == (2, 3)
    np.testing.assert_allclose(found.value[0, 0], (0.25 + 0.04) / 4 + 0.81 / 2)


def test_no_outcomes_is_an_error():
    with pytest.raises(co.PanelError, match="no forecast of the panel has an outcome"):
        co.compare(co.Panel.from_records(TABLE_2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": -1}, "bootstrap is -1"),
        ({"confidence": 1.0}, r"confidence is 1\.0; it must lie between 0 and 1"),
        ({"seed": -2}, "seed is -2"),
        ({"clip": 0.0}, r"clip is 0\.0; it must be above 0"),
        ({"methods": "exact"}, "methods must be a list"),
        ({"methods": ["exakt"]}, "Did you mean 'exact'"),
        ({"methods": [3]}, "it may contain names, methods, pairs of a method and weights"),
        ({"methods": [co.Panel.from_records(TABLE_2)]}, "same forecasts with other probabilities"),
        ({"methods": [co.aggregate(co.Panel.from_records(TABLE_2))]}, "of another panel"),
    ],
)
def test_what_cannot_be_compared_is_refused(panel, options, message):
    with pytest.raises(co.MethodError, match=message):
        co.compare(panel, **options)


def test_names_that_are_not_compared_are_refused(comparison):
    with pytest.raises(co.MethodError, match="'raw' is not in this comparison; the methods are Raw, "):
        comparison.difference("raw", "Individual")
    with pytest.raises(co.MethodError, match="unknown score 'auc'"):
        comparison.difference("Raw", "Individual", "auc")
    with pytest.raises(co.MethodError, match="over is 'worlds'; it must be one of"):
        comparison.frame("worlds")


def test_an_interruption_while_methods_run_leaves_the_rest_out(panel):
    def interrupt(done):
        if done > 0.4:
            raise KeyboardInterrupt

    found = co.compare(panel, bootstrap=100, progress=interrupt)
    assert found.interrupted
    assert 0 < len(found.methods) < 5
    assert any(note.startswith("interrupted") for note in found.notes)
    assert found.frame()["brier_low"].isna().all()


def test_progress_goes_from_nothing_to_everything(panel):
    told = []
    co.compare(panel, bootstrap=100, progress=told.append)
    assert told == sorted(told)
    np.testing.assert_allclose(told[-1], 1.0)


def test_an_interruption_while_aggregates_are_made_anew_keeps_the_draws(panel):
    small = panel.select(np.flatnonzero(panel.judge_index < 3))

    def stop_at(share):
        def interrupt(done):
            if done > share:
                raise KeyboardInterrupt

        return co.compare(small, bootstrap=40, remake=True, progress=interrupt)

    for share, enough in ((0.8, True), (0.2, False)):
        found = stop_at(share)
        assert found.interrupted
        assert 0 < found.resamples < 40
        assert f"interrupted: {found.resamples} of 40 resamples were made" in found.notes
        assert found.frame("judges")["brier_low"].notna().all() == enough
