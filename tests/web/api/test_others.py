"""Every route and every page, tried by whoever it is not for; a new one is among them by itself."""

import re

import httpx
import pytest

from coherently.web.access.callers import JUDGE_SESSION, SESSION
from coherently.web.pages.routes import SENT, SHOWN
from tests.web.api.answer_schemas import schema
from tests.web.api.service import API, Weather

OPEN = ("/session", "/check", "/aggregate", "/influence", "/why", "/bounds", "/score", "/compare", "/tune", "/verify")
"""Routes for whoever reaches the machine: signing in, and calculations that read no store."""
METHODS = ("get", "post", "put", "patch", "delete")
ROUTES = [
    (method, path)
    for path, item in schema()["paths"].items()
    for method in item
    if method in METHODS and path not in OPEN
]
OF_PANELS = [(method, path) for method, path in ROUTES if path.startswith("/panels/{panel}")]


@pytest.fixture
def known(weather):
    """Ids that exist in somebody's panel, by the name of the parameter."""
    weather.say(weather.ann, rain=0.4)
    weather.close()
    version = weather.aggregate().rsplit("/", 1)[1]
    question = weather.api.get(f"{weather.path}/questions").json()["questions"][0]["id"]
    law = weather.api.post(f"{weather.path}/laws", json={"statement": "storm -> wind"}).json()["id"]
    comment = weather.api.post(f"{weather.path}/comments", json={"text": "Dark."}).json()["id"]
    judge = weather.ann_record["id"]
    return {"panel": weather.id, "aggregation": version, "question": question, "law": law, "judge": judge} | {
        "comment": comment
    }


def filled(path, known):
    return re.sub(r"\{(\w+)\}", lambda match: known.get(match[1], "x"), path)


def test_there_are_routes_to_try():
    assert len(OF_PANELS) > 50
    assert {path for path in OPEN if path in schema()["paths"]} == set(OPEN)


def tried(client, routes, known, **options):
    """The statuses of all routes, by method and path."""
    return {
        (method, path): client.request(method, filled(path, known), json=None if method == "get" else {}, **options)
        for method, path in routes
    }


def test_nobody_gets_an_answer_without_a_secret(service, known):
    for route, answer in tried(service.client(), ROUTES, known).items():
        assert answer.status_code == 401, (route, answer.text)


def test_a_judge_is_no_facilitator_and_a_facilitator_no_judge(weather, known):
    """Not even those of the same panel."""
    own = [route for route in ROUTES if route[1].startswith("/sheet")]
    for route, answer in tried(weather.ann, [route for route in ROUTES if route not in own], known).items():
        assert answer.status_code == 401, (route, answer.text)
    for route, answer in tried(weather.api, own, known).items():
        assert answer.status_code == 401, (route, answer.text)


def test_the_panel_of_another_account_does_not_exist_for_any_route(service, weather, known):
    other = Weather(service)
    for route, answer in tried(other.api, OF_PANELS, known).items():
        # What a request says may be refused before its panel is looked up, which tells nothing of the panel.
        assert answer.status_code in (404, 415, 422), (route, answer.text)
    mixed = known | {"panel": other.id}
    reads = [(method, path) for method, path in OF_PANELS if path.count("{") > 1 and "{kind}" not in path]
    for (method, path), answer in tried(other.api, reads, mixed).items():
        if "{ending}" not in path or "{aggregation}" in path:
            assert answer.status_code in (404, 415, 422), ((method, path), answer.text)
    assert weather.api.get(weather.path).json()["title"] == "Weather"


def test_pages_are_of_who_signed_in(service, known):
    """This machine's facilitator sees no page of another account's panel, and no form of a page does anything."""
    client = service.client()
    client.post("/session", json={}).raise_for_status()
    pages = [path for path in SHOWN if path.startswith("/panels")]
    for path in pages:
        answer = client.get(service.url + filled(path, known))
        assert answer.status_code == 404, (path, answer.status_code)
        assert httpx.get(service.url + filled(path, known)).status_code in (303, 401, 404), path
    for path in SENT:
        data = {"title": "x", "csrf_token": ""}
        answer = client.post(service.url + filled(path, known), data=data)
        assert answer.status_code == 403, (path, answer.status_code)  # the token of the session is not sent along
        there = client.post(service.url + filled(path, known), data=data, headers={"Origin": "http://evil.example"})
        assert there.status_code == 403, path
    assert client.cookies.get(SESSION)
    assert not client.cookies.get(JUDGE_SESSION)
    assert client.get(f"{service.url}{API}/session").status_code == 200  # /logout, too, was refused
