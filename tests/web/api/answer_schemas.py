"""A hook for clients of the tests: every JSON answer of the API is held against the API's own schema.

Where a route declares the record of a public value, that schema has the record's published one.
"""

import json
import re
from functools import cache

import httpx
import jsonschema

from coherently.web.api.application import describe_routes
from tests.published import PREFIX, validated

API = "/api/v1"
REFUSAL = {"$ref": "#/components/schemas/ProblemBody"}
"""What the door in front of all routes answers, too."""


def checked_client(**options):
    """A client whose answers are held against the schema."""
    return httpx.Client(event_hooks={"response": [check_answer]}, **options)


def check_answer(response):
    """Refuse an answer that is not as the schema of its route says."""
    path = response.request.url.path
    if not path.startswith(f"{API}/") or path == f"{API}/openapi.json" or response.request.method == "HEAD":
        return
    if response.headers.get("content-type", "").split(";")[0] != "application/json":
        return
    if response.status_code == 204:
        assert not response.read()
        return
    check_body(response.request.method, path.removeprefix(API), response.status_code, json.loads(response.read()))


def check_body(method, path, status, body):
    """Refuse a body that is not as the schema says; the names of the records in it are returned."""
    route = route_of(method, path)
    _validator(route, status).validate(body)
    names = validated(body)
    assert set(names) <= declared(route, status), f"{route} answers records that its schema does not declare"
    return names


def route_of(method, path):
    """The path of a route as the schema has it, with its method; None if there is none."""
    for pattern, route in _patterns():
        if route[1] == method.lower() and pattern.fullmatch(path):
            return route
    return None


@cache
def schema():
    return describe_routes()


@cache
def _patterns():
    every = [(path, method) for path, item in schema()["paths"].items() for method in item]
    free_last = sorted(every, key=lambda route: route[0].count("{"))
    return [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), (path, method)) for path, method in free_last]


def answer_schema(route, status):
    """The schema of what a route answers with a status."""
    if route is not None:
        path, method = route
        answer = schema()["paths"][path][method]["responses"].get(str(status))
        if answer is not None:
            return answer["content"]["application/json"]["schema"]
    assert status >= 400, f"the schema does not say that {route} answers {status}"
    return REFUSAL


@cache
def _validator(route, status):
    return jsonschema.Draft202012Validator({**answer_schema(route, status), "components": schema()["components"]})


@cache
def declared(route, status):
    """The names of the records that an answer may hold."""
    return frozenset(_named(answer_schema(route, status), frozenset()))


def _named(part, seen):
    if isinstance(part, list):
        for each in part:
            yield from _named(each, seen)
    elif isinstance(part, dict):
        name = str(part.get("$ref", "")).rsplit("/", 1)[-1]
        if name.startswith(PREFIX):
            yield name.removeprefix(PREFIX)
        elif name and name not in seen:
            yield from _named(schema()["components"]["schemas"][name], seen | {name})
        for key, each in part.items():
            if key != "$ref":
                yield from _named(each, seen)


def carriers():
    """The routes whose answers hold records, with the names of these."""
    found = {}
    for path, item in schema()["paths"].items():
        for method, operation in item.items():
            for status in filter(str.isdecimal, operation["responses"]):
                content = operation["responses"][status].get("content", {})
                if (
                    int(status) < 300
                    and "application/json" in content
                    and (names := declared((path, method), int(status)))
                ):
                    found[path] = set(names)
    return found
