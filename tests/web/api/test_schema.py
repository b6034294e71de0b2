"""The schema of the API: complete, with examples, and kept by what is answered."""

import httpx
import pytest

from tests.web.api import api_checks
from tests.web.api.service import API

ANSWERS = ("200", "201", "202")
FREE = ("/sheet/hand-in", "/panels/{panel}/judges/{judge}/link", "/panels/{panel}/aggregations/{aggregation}/cancel")
"""Paths that are posted to without a body."""


@pytest.fixture(scope="module")
def schema(service):
    return httpx.get(f"{service.url}{API}/openapi.json").json()


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
    assert api_checks.check_api(store_url, seed=0, requests=200) >= 200
