"""Calls without a store are the library's: the same options in, the same records out, the same errors."""

import json
import math
import time
from dataclasses import dataclass
from typing import ClassVar

import pytest
from pydantic import ValidationError

import coherently as co
from coherently.explain.findings import VOICES
from coherently.problem import LOSSES, Brier
from coherently.solve.methods import pools
from coherently.solve.methods import recipe as recipes
from coherently.solve.registry import METHODS
from coherently.web.api.application import describe_routes
from coherently.web.operations.stateless import Until, aggregate_forecasts, timed_method
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.shapes.stateless_shapes import AggregateDraft, RecipeBody
from tests.web.api.service import refused

ROWS = [
    ("Ann", "rain", 0.75), ("Ann", "wind", 0.2), ("Bob", "rain & wind", 0.4), ("Bob", "rain", 0.6),
    ("Ann", "storm", 0.5),
]  # fmt: skip
FORECASTS = [{"judge": judge, "event": event, "probability": p} for judge, event, p in ROWS]
LAWS = ["storm -> wind"]
OUTCOMES = {"rain": True, "wind": True, "storm": False}
WEIGHTS = {"Ann": 1.0, "Bob": 3.0}
PANEL = co.Panel.from_records(ROWS, laws=LAWS, outcomes=OUTCOMES)
BODY = {"forecasts": FORECASTS, "laws": LAWS}
RESOLVED = {**BODY, "outcomes": OUTCOMES}


def ask(service, path, **body):
    answer = service.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def plain(value):
    from coherently.web.operations.stateless import plain

    return plain(value)


def test_weights_intervals_and_options_mean_what_they_mean_in_python(service):
    rows = [*FORECASTS, {"judge": "Cid", "event": "rain | wind", "lower": 0.1, "upper": 0.3, "weight": 2.0}]
    weights = {**WEIGHTS, "Cid": 1.0}
    body = {
        "forecasts": rows,
        "laws": LAWS,
        "weights": weights,
        "method": "exact",
        "tolerance": 1e-5,
        "time_limit": 5.0,
    }
    answer = ask(service, "/aggregate", **body)
    panel = co.Panel.from_records([{"weight": 1.0, **row} for row in rows], laws=LAWS)
    expected = co.aggregate(panel, "exact", weights=weights, tolerance=1e-5, time_limit=5.0)
    assert answer["result"] == plain(expected.as_dict())
    assert answer["verified"]
    heavy = co.weighted(panel, weights)
    assert co.verify(heavy, co.Result.from_json(json.dumps(answer["result"])))
    told = ask(service, "/verify", forecasts=rows, laws=LAWS, weights=weights, result=answer["result"])
    assert told["verified"]
    assert told["verification"] == plain(co.verify(heavy, expected).as_dict())
    assert not ask(service, "/verify", forecasts=rows[:-1], laws=LAWS, result=answer["result"])["verified"]


def test_a_recipe_is_a_method_and_the_word_alone_is_the_default_recipe(service):
    recipe = co.Recipe("median", exponent=1.5, then=co.Exact(time_limit=5.0))
    answer = ask(service, "/aggregate", **BODY, method=recipe.as_dict())
    assert answer["result"]["forecasts"] == plain(co.aggregate(PANEL, recipe).as_dict())["forecasts"]
    default = ask(service, "/aggregate", **BODY, method="recipe")
    assert default["result"]["forecasts"] == plain(co.aggregate(PANEL, "recipe").as_dict())["forecasts"]
    refused(service.http.post("/aggregate", json={**BODY, "method": {"recipe": 2}}), 422)
    refused(service.http.post("/aggregate", json={**BODY, "method": {"recipe": 1, "pool": "sum"}}), 422, "trimmed")


def test_influence_and_why_are_the_library_s_records(service):
    result = co.aggregate(co.Panel.from_records(ROWS, laws=LAWS))
    answer = ask(service, "/influence", **BODY)
    assert co.Influence.from_dict(answer["influence"]) == result.influence()
    assert answer["sentences"] == list(result.influence().sentences)
    told = co.Influence.from_dict(ask(service, "/influence", **BODY, without=["Bob"])["influence"])
    assert told == result.influence(without=["Bob"])
    answer = ask(service, "/why", **BODY, event="wind", labels={"wind": "a storm"})
    assert answer["sentences"][0].startswith("A storm is ")
    assert answer["why"]["event"] == "wind"
    unknown = refused(service.http.post("/why", json={**BODY, "event": "snow"}), 422)
    assert unknown["code"] == "unknown-event"
    nobody = refused(service.http.post("/influence", json={**BODY, "without": ["Bobb"]}), 422)
    assert nobody["code"] == "unknown-part"


def test_bounds_scores_and_comparisons_are_the_library_s_records(service):
    answer = ask(service, "/bounds", **BODY, events=["rain | wind", "snow"], method="exact")
    result = co.aggregate(PANEL, "exact")
    for told in answer["bounds"]:
        low, high = result.bounds(told["event"])
        assert math.isclose(told["low"], low, abs_tol=1e-6)
        assert math.isclose(told["high"], high, abs_tol=1e-6)
    assert ask(service, "/score", **RESOLVED)["scores"] == plain(co.score(PANEL).as_dict())
    clusters = {"rain": "here", "wind": "there"}
    told = ask(service, "/score", **RESOLVED, cluster=clusters, confidence=0.9)["scores"]
    assert told == plain(co.score(PANEL, cluster=clusters, confidence=0.9).as_dict())
    assert told["intervals"]["confidence"] == 0.9
    compared = ask(service, "/compare", **RESOLVED, methods=["median"])["comparison"]
    more = ask(service, "/compare", **RESOLVED, literature=True)["comparison"]
    assert [row["name"] for row in more["methods"]][-10:] == [rival.name for rival in co.literature()]
    expected = plain(co.compare(PANEL, ["median"]).as_dict())
    assert compared["scores"] == expected["scores"]
    assert [row["name"] for row in compared["methods"]] == [row["name"] for row in expected["methods"]]


def test_a_check_speaks_in_the_voice_and_with_the_labels_that_are_asked_for(service):
    labels = {"rain": "rain in Rome"}
    found = co.check(co.Panel.from_records(ROWS, laws=LAWS, labels=labels))
    for voice in ("symbols", "people"):
        answer = ask(service, "/check", **BODY, labels=labels, voice=voice)
        assert answer["contradictions"] == list(found.means.sentences(voice))
        assert answer["check"]["sentences"] == {each: list(found.means.sentences(each)) for each in VOICES}
        assert co.Check.from_dict(answer["check"]).means.repair == found.means.repair
    assert answer["contradictions"][0].startswith("Rain in Rome and wind together")
    assert ask(service, "/check", **BODY)["contradictions"] == list(co.check(PANEL).contradictions)
    refused(service.http.post("/check", json={**BODY, "voice": "loud"}), 422, "symbols, people")


def test_a_recipe_is_learned_and_can_be_sent_back(service):
    panel = co.simulate(judges=6, variables=40, compound=0, basic=20, seed=3)
    rows = [
        {**row, "probability": float(row["probability"])}
        for row in panel.frame()[["judge", "event", "probability"]].to_dict("records")
    ]
    outcomes = {text: bool(value) for text, value in zip(panel.written.text, panel.written.outcome, strict=True)}
    answer = ask(service, "/tune", forecasts=rows, outcomes=outcomes)
    assert answer["learned"]
    assert answer["tuned"]["recipe"] == answer["recipe"]
    again = ask(service, "/aggregate", forecasts=rows, method=answer["recipe"])
    assert again["method"].startswith("recipe")


def test_errors_name_the_field_of_the_body(service):
    def field(path, **body):
        error = refused(service.http.post(path, json=body), 422)
        return error["code"], error["where"]["field"], error["where"]["event"], error["where"]["span"]

    bad = [*FORECASTS[:2], {"judge": "Bob", "event": "rain &", "probability": 0.2}]
    assert field("/check", forecasts=bad) == ("bad-event", "body.forecasts.2.event", "rain &", [6, 6])
    empty = [*FORECASTS[:1], {"judge": "Bob", "event": "wind"}]
    assert field("/check", forecasts=empty)[:2] == ("missing-probability", "body.forecasts.1.probability")
    laws = ["storm -> wind", "rain & -> wind"]
    assert field("/aggregate", forecasts=FORECASTS, laws=laws)[:3] == ("bad-event", "body.laws.1", laws[1])
    contradiction = refused(service.http.post("/check", json={"forecasts": FORECASTS, "laws": ["rain", "~rain"]}), 422)
    assert contradiction["code"] == "contradictory-laws"
    assert [each["where"]["field"] for each in contradiction["problems"]] == ["body.laws.0", "body.laws.1"]
    assert field("/check", forecasts=FORECASTS, weights={"Anne": 1.0})[:2] == ("missing-weight", "body.weights")
    assert field("/verify", forecasts=FORECASTS, result={"format": 3})[:2] == ("bad-field", "body.result.format")
    error = refused(service.http.post("/aggregate", json={**BODY, "method": "linear", "tolerance": 0.1}), 422)
    assert error["code"] == "unknown-option"
    both = [{"judge": "A", "event": "p", "probability": 2}, {"judge": "A", "event": "q", "probability": -1}]
    many = refused(service.http.post("/check", json={"forecasts": both}), 422, "2 such places")
    assert [each["where"]["field"] for each in many["problems"]] == [f"body.forecasts.{i}.probability" for i in (0, 1)]


@dataclass(frozen=True, slots=True)
class Twice(Brier):
    name: ClassVar[str] = "twice"


def test_a_new_loss_and_a_new_pool_are_accepted_without_another_edit(monkeypatch):
    draft = {"forecasts": FORECASTS, "laws": LAWS}
    recipe = {"recipe": 1, "pool": "shrunk", "then": None}
    for body in ({**draft, "loss": "twice"}, {**draft, "method": "plain"}, {**draft, "method": recipe}):
        with pytest.raises(ValidationError, match="should be one of"):
            AggregateDraft.model_validate(body)
    monkeypatch.setitem(LOSSES, "twice", Twice)
    monkeypatch.setitem(pools.OPTIONS, "plain", ())
    monkeypatch.setitem(METHODS, "plain", (co.Pool, {"kind": "linear"}))
    monkeypatch.setattr(recipes, "POOLS", (*recipes.POOLS, "shrunk"))
    schemas = describe_routes()["components"]["schemas"]
    assert "twice" in schemas["AggregateDraft"]["properties"]["loss"]["enum"]
    assert "plain" in schemas["AggregateDraft"]["properties"]["method"]["anyOf"][0]["enum"]
    assert "shrunk" in schemas["RecipeBody"]["properties"]["pool"]["enum"]
    assert AggregationDraft(method="plain", loss="twice").loss == "twice"
    assert aggregate_forecasts(AggregateDraft(**draft, method="plain"), 5.0).status == "averaged"
    assert aggregate_forecasts(AggregateDraft(**draft, loss="twice"), 5.0).verified
    assert timed_method(RecipeBody.model_validate(recipe), 5.0).pool == "shrunk"


def test_every_word_of_the_registries_is_taken():
    for method in METHODS:
        assert timed_method(AggregateDraft(forecasts=FORECASTS, method=method).method, 2.0).name
    for loss in LOSSES:
        assert AggregateDraft(forecasts=FORECASTS, loss=loss).loss == loss


def test_a_time_limit_reaches_the_method_that_follows():
    assert timed_method("recipe", 2.0).then.time_limit == 2.0
    assert timed_method("exact", 2.0).time_limit == 2.0
    assert timed_method("linear", 2.0) == co.Pool("linear")
    assert Until(time.monotonic() - 1).is_set()
    assert not Until(time.monotonic() + 60).is_set()
