"""The schema of the API: complete, with examples, and kept by what is answered."""

import json

import httpx
import jsonschema
import pytest

import coherently as co
from tests.published import PREFIX, validator
from tests.web.api import answer_schemas, api_checks
from tests.web.api.service import API

ANSWERS = ("200", "201", "202")
FREE = (
    "/sheet/hand-in",
    "/panels/{panel}/judges/{judge}/link",
    "/panels/{panel}/aggregations/{aggregation}/cancel",
    "/panels/{panel}/messages/{message}/cancel",
    "/panels/{panel}/messages/{message}/repeat",
    "/panels/{panel}/restore",
    "/panels/{panel}/questions/{question}/copy",
    "/panels/{panel}/questions/{question}/restore",
)
"""Paths that are posted to without a body."""
CARRIERS = {
    "/check": {"check"},
    "/aggregate": {"result"},
    "/bounds": {"result"},
    "/influence": {"influence"},
    "/why": {"why"},
    "/score": {"scores"},
    "/compare": {"comparison"},
    "/tune": {"recipe", "tuned"},
    "/verify": {"verification"},
    "/panels/{panel}/aggregations/{aggregation}/result": {"result", "recipe"},
    "/panels/{panel}/aggregations/{aggregation}/influence": {"influence"},
    "/panels/{panel}/aggregations/{aggregation}/why": {"why"},
    "/panels/{panel}/aggregations/{aggregation}/next-questions": {"next-questions"},
    "/panels/{panel}/aggregations/{aggregation}/accuracy": {"scores", "tuned"},
}
"""The routes whose answers hold records, and which."""
ROWS = [(f"J{j}", f"q{i}", ((i * 7 + j * 3) % 19 + 0.5) / 20) for i in range(32) for j in range(2)]


@pytest.fixture(scope="module")
def schema(service):
    return httpx.get(f"{service.url}{API}/openapi.json", timeout=120).json()


def operations(schema):
    return [(path, method, op) for path, item in schema["paths"].items() for method, op in item.items()]


def test_every_operation_is_described_and_says_how_it_refuses(schema):
    assert len(operations(schema)) > 50
    for path, method, operation in operations(schema):
        assert operation["description"].endswith("."), (method, path)
        assert operation["tags"], (method, path)
        for status in ("401", "404", "422", "429"):
            content = operation["responses"][status]["content"]
            assert content["application/json"]["schema"]["$ref"].endswith("/ProblemBody"), (method, path)


def test_every_body_has_an_example_that_its_model_takes(schema):
    from coherently.web.access.request_keys import _shapes

    shapes = _shapes()
    for path, method, operation in operations(schema):
        if method in ("post", "patch") and path not in (*FREE, "/panels/import"):
            name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            model = schema["components"]["schemas"][name]
            assert model["description"], name
            if "examples" in model:
                shapes[name].model_validate(model["examples"][0])
            else:
                (field,) = model["properties"].values()
                inner = field["items"]["$ref"].rsplit("/", 1)[1]
                assert schema["components"]["schemas"][inner]["examples"], name


def test_limits_are_in_the_schema(schema):
    draft = schema["components"]["schemas"]["PanelDraft"]
    assert draft["additionalProperties"] is False
    assert draft["properties"]["title"]["maxLength"] == 300
    assert schema["components"]["schemas"]["AnswerDraft"]["properties"]["probability"]["anyOf"][0]["maximum"] == 1


def test_requests_of_all_kinds_are_answered_as_the_schema_says(store_url):
    pytest.importorskip("schemathesis", reason="schemathesis needs a newer rich than this one")
    assert api_checks.check_api(store_url, seed=0, requests=200) >= 200


def test_routes_that_answer_records_declare_the_published_schemas(schema):
    assert answer_schemas.carriers() == CARRIERS
    every = set().union(*CARRIERS.values())
    components = schema["components"]["schemas"]
    assert {name for name in components if name.startswith(PREFIX)} == {f"{PREFIX}{name}" for name in every}
    for name in every:
        published = validator(name).schema
        assert components[f"{PREFIX}{name}"] | {key: published[key] for key in ("$schema", "$id")} == published


def test_a_kept_record_may_be_of_an_earlier_version():
    kept = answer_schemas.schema()["components"]["schemas"]["ResultView"]["properties"]["result"]["anyOf"]
    assert kept[0] == {"$ref": "#/components/schemas/coherently-result"}
    assert kept[1]["properties"]["version"] == {"type": "integer", "minimum": 2, "maximum": 2}


def bodies(weather):
    """An answer of every route that carries records."""
    rows = [{"judge": judge, "event": event, "probability": p} for judge, event, p in ROWS]
    draft = {"forecasts": rows, "outcomes": {f"q{i}": i % 3 == 0 for i in range(32)}}
    result = weather.api.post("/aggregate", json=draft).json()["result"]
    more = {"/bounds": {"events": ["q1 | q2"]}, "/why": {"event": "q1"}, "/verify": {"result": result}}
    for path in (path for path in CARRIERS if "{" not in path):
        yield "POST", path, weather.api.post(path, json=draft | more.get(path, {}))
    weather.say(weather.ann, rain=0.7, wind=0.2, rain_wind=0.4)
    weather.say(weather.bob, rain=0.6)
    outcome = {"event": weather.events["rain"], "outcome": True}
    assert weather.api.post(f"{weather.path}/outcomes", json=outcome).status_code == 201
    weather.close()
    done = weather.aggregate(method=co.Recipe("linear").as_dict())
    about = {f"{done}/why": {"event": weather.events["rain"]}}
    for path in (f"{done}/result", f"{done}/accuracy", f"{done}/influence", f"{done}/why", f"{done}/next-questions"):
        yield "GET", path, weather.api.get(path, params=about.get(path))


def test_every_carrier_is_checked_and_a_broken_body_is_refused(weather):
    seen = {}
    for method, path, answer in bodies(weather):
        assert answer.status_code == 200, answer.text
        route, body = answer_schemas.route_of(method, path), answer.json()
        seen[route[0]] = set(answer_schemas.check_body(method, path, 200, body))
        for place in records_at(body):
            for spoil in (lambda record: record.pop("version"), lambda record: record.update(more=1)):
                broken = json.loads(answer.text)
                spoil(at(broken, place))
                with pytest.raises(jsonschema.ValidationError):
                    answer_schemas.check_body(method, path, 200, broken)
        with pytest.raises(jsonschema.ValidationError):
            answer_schemas.check_body(method, path, 200, body | {"extra": answer.json()})
    assert seen == {path: names - {"tuned"} if path.endswith("accuracy") else names for path, names in CARRIERS.items()}


def test_a_client_of_the_tests_refuses_a_broken_answer(weather, monkeypatch):
    assert weather.api.get(weather.path).status_code == 200
    monkeypatch.setitem(answer_schemas.schema()["components"]["schemas"]["PanelView"], "required", ["nothing"])
    answer_schemas._validator.cache_clear()
    with pytest.raises(jsonschema.ValidationError, match="'nothing' is a required property"):
        weather.api.get(weather.path)
    monkeypatch.undo()
    answer_schemas._validator.cache_clear()


def records_at(value, path=()):
    if isinstance(value, dict) and str(value.get("format", "")).startswith(PREFIX):
        yield path
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from records_at(item, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value
