"""Distributions that judges draw: what becomes of them, who sees them, and what a version says."""

from itertools import pairwise

import numpy as np
import pytest

from coherently.explain import judge_sheet as desk
from tests.web.api.service import Weather, refused

SALES = {
    "kind": "partition",
    "title": "Sales",
    "declaration": "variable sales: number",
    "events": [
        {"event": "sales < 20000", "title": "under 20,000"},
        {"event": "sales >= 20000 & sales < 40000", "title": "20,000 to 40,000"},
        {"event": "sales >= 40000", "title": "40,000 or more"},
    ],
}
THREE = [{"at": 10_000.0, "share": 0.1}, {"at": 30_000.0, "share": 0.5}, {"at": 50_000.0, "share": 0.9}]


@pytest.fixture
def weather(service):
    return Weather(service)


@pytest.fixture
def sales(weather):
    return weather.api.post(f"{weather.path}/questions", json=SALES).json()


def draw(judge, question, knots=THREE, way="quantiles", **headers):
    return judge.post("/sheet/drawings", json={"question": question["id"], "way": way, "knots": knots}, headers=headers)


def answers(judge, question):
    known = {each["event"]: each["probability"] for each in judge.get("/sheet").json()["answers"]}
    return [known[event["id"]] for event in question["events"]]


def test_three_quantiles_become_answers_and_the_knots_are_kept(weather, sales):
    assert draw(weather.ann, sales).status_code == 200
    assert answers(weather.ann, sales) == [0.3, 0.4, 0.3]
    (drawn,) = weather.ann.get("/sheet").json()["drawn"]
    assert (drawn["question"], drawn["way"], drawn["knots"], drawn["stands"]) == (sales["id"], "quantiles", THREE, True)
    changed = {"answers": [{"event": sales["events"][0]["id"], "probability": 0.5}]}
    weather.ann.post("/sheet/answers", json=changed).raise_for_status()
    assert weather.ann.get("/sheet").json()["drawn"][0]["stands"] is False
    assert weather.bob.get("/sheet").json()["drawn"] == []


def test_a_drawing_keeps_reasons_and_is_kept_once(weather, sales):
    first = {"event": sales["events"][0]["id"], "probability": 0.9, "reason": "Small market."}
    weather.ann.post("/sheet/answers", json={"answers": [first]}).raise_for_status()
    for _ in range(2):
        assert draw(weather.ann, sales, **{"Idempotency-Key": "one"}).status_code == 200
    store = weather.service.store
    assert len(store.drawn.history(weather.id)) == 1
    known = {each["event"]: each["reason"] for each in weather.ann.get("/sheet").json()["answers"]}
    assert known[first["event"]] == "Small market."


def test_dates_and_histograms(weather):
    draft = {
        "kind": "ladder",
        "title": "When?",
        "declaration": "variable due: date",
        "events": [{"event": f"due <= 2027-0{month}-01", "title": f"by {month}"} for month in (3, 5)],
    }
    due = weather.api.post(f"{weather.path}/questions", json=draft).json()
    knots = [
        {"at": "2027-02-01", "share": 0.0},
        {"at": "2027-03-01", "share": 0.25},
        {"at": "2027-06-30", "share": 1.0},
    ]
    assert draw(weather.ann, due, knots, "bins").status_code == 200
    assert answers(weather.ann, due) == [0.25, pytest.approx(0.25 + 0.75 * 61 / 121, abs=5e-4)]
    refused(draw(weather.ann, due, THREE), 422, "does not fit the question", "a date such as")
    refused(draw(weather.ann, due, knots[::-1], "bins"), 422, "must rise")


def test_what_cannot_be_drawn_is_refused(weather, sales, service):
    question = {"id": next(each["id"] for each in weather.api.get(f"{weather.path}/questions").json()["questions"])}
    refused(draw(weather.ann, question), 422, "not about a single number or date")
    refused(draw(weather.ann, {"id": "q_none"}), 404)
    other = Weather(service)
    refused(draw(other.ann, sales), 404)
    weather.close()
    refused(draw(weather.ann, sales), 409, "discussion")
    assert weather.service.store.drawn.history(weather.id) == ()


def test_nobody_sees_a_drawing_before_the_round_closes(weather, sales, service):
    draw(weather.ann, sales).raise_for_status()
    refused(weather.api.get(f"{weather.path}/drawings"), 409, "round is still open")
    weather.close()
    (found,) = weather.api.get(f"{weather.path}/drawings").json()["drawings"]
    assert (found["judge"], found["knots"]) == ("Ann", THREE)
    assert service.facilitator().get(f"{weather.path}/drawings").status_code == 404


def test_a_version_is_shown_as_a_distribution(weather, sales):
    draw(weather.ann, sales).raise_for_status()
    draw(
        weather.bob, sales, [{"at": 20_000.0, "share": 0.0}, {"at": 60_000.0, "share": 1.0}], "bins"
    ).raise_for_status()
    weather.close()
    path = weather.aggregate()
    (found,) = weather.api.get(f"{path}/distributions").json()["distributions"]
    assert found["cuts"] == [20_000.0, 40_000.0]
    assert found["after"] == pytest.approx([0.15, 0.45, 0.4], abs=1e-6)
    assert found["middle"] == pytest.approx(20_000 + 20_000 * 0.35 / 0.45)
    assert (found["low"], found["high"]) == (None, None)


def brute(curve, axis, sample):
    """Shares of cells among values that are drawn from the curve by its inverse."""
    levels = np.array([curve.at_most(value) for value in sample])
    edges = np.interp(axis.cuts, sample, levels)
    return np.diff([0.0, *edges, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_answers_are_differences_of_the_curve(seed):
    """Against a fine grid of the axis, for curves and questions at random; and back again."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, 100), 4, replace=False))
    texts = [f"x < {cuts[0]}", *(f"x >= {a} & x < {b}" for a, b in pairwise(cuts)), f"x >= {cuts[-1]}"]
    ladder = [f"x <= {cut}" for cut in cuts]
    knots = tuple(zip(np.sort(rng.uniform(0, 100, 5)).tolist(), np.sort(rng.uniform(0, 1, 5)).tolist(), strict=True))
    curve = desk.DrawnCurve(knots)
    grid = np.linspace(-200, 300, 50_001)
    for events in (texts, ladder):
        axis = desk.read_axis(events, ["variable x: number"])
        masses = brute(curve, axis, grid)
        expected = masses if events is texts else np.cumsum(masses)[:-1]
        found = desk.curve_answers(axis, curve)
        np.testing.assert_allclose(found, expected, atol=2e-3)
        np.testing.assert_allclose(axis.masses(found), masses, atol=4e-3)
        assert abs(sum(axis.masses(found)) - 1) < 1e-9


def test_events_that_leave_cells_open_have_no_distribution():
    axis = desk.read_axis(["x < 10 | x >= 20", "x < 15"], ["variable x: number"])
    assert axis.masses([0.5, 0.5]) is None
    assert desk.read_axis(["x < 10", "rain"], ["variable x: number"]) is None
    assert desk.read_axis(["x < 10 given x < 20"], ["variable x: number"]) is None
    assert desk.read_axis(["w = A"], ["variable w: A, B"]) is None
