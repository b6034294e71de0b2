"""Attacks, each refused cleanly; the workbench answers as before afterwards."""

import io
import json
import socket
import time
import zipfile

import httpx
import pytest

from coherently.web import sizes
from tests.web.api.service import API, Service, Weather, refused, slower, until_end

JSON = {"Content-Type": "application/json"}
DEEP = {
    "parentheses": "(" * 4_900 + "p" + ")" * 4_900,
    "negations": "~" * 9_990 + "p",
    "implications": "p -> " * 1_900 + "p",
    "brackets": "exactly(1; " * 800 + "p" + ")" * 800,
}
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def still_answers(service):
    yield
    assert httpx.get(f"{service.url}/healthz").json()["status"] == "ok"


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_expressions(weather, text):
    api, path = weather.api, weather.path
    question = {"title": "Deep", "events": [{"event": text}]}
    answers = [
        api.post(f"{path}/questions", json=question),
        api.post(f"{path}/laws", json={"statement": text}),
        weather.service.http.post("/check", json={"forecasts": [{"judge": "A", "event": text, "probability": 0.5}]}),
    ]
    if not text.startswith("p ->"):  # a chain of one operator is as deep as one of them
        for answer in answers:
            refused(answer, 422)
    assert all(answer.status_code < 500 for answer in answers)
    assert api.post(f"{path}/read", json={"text": text}).status_code == 200


def test_ten_thousand_deep(weather):
    text = "(" * 10_000 + "p" + ")" * 10_000
    refused(weather.api.post(f"{weather.path}/laws", json={"statement": text}), 422, "20,000")
    refused(weather.api.post(f"{weather.path}/laws", json={"statement": text[1:-1]}), 422, "64")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "[" * 50_000 + "]" * 50_000])
def test_deep_json(weather, text):
    answer = weather.api.post("/panels", content=text, headers=JSON)
    assert answer.status_code in (400, 422)
    refused(answer, answer.status_code)


def test_a_body_of_100_mb(service, weather):
    path = f"{API}{weather.path}"
    token = weather.api.headers["Authorization"]
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        head = f"POST {path}/laws HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100000000\r\n\r\n".encode())
        answer = until_end(connection)
    assert answer.startswith("HTTP/1.1 413")
    assert "at most 1,000,000 bytes" in answer


def chunks(total):
    for _ in range(0, total, 100_000):
        yield b"x" * 100_000


@pytest.mark.parametrize("path", ["/panels", "/aggregate", "/panels/import"])
def test_a_body_of_100_mb_in_pieces_without_a_length(weather, path):
    limit = "1,000,000" if path == "/panels" else "20,000,000"
    try:
        answer = weather.api.post(path, content=chunks(100_000_000), headers=JSON)
    except httpx.WriteError:  # the connection is closed while the rest is still being sent
        return
    refused(answer, 413, limit)


def test_csv_bombs(weather):
    api, kind = weather.api, {"Content-Type": "text/csv"}
    bombs = {
        "rows": "judge,event,probability\n" + "A,p,0.5\n" * (sizes.ROWS + 1),
        "columns": "event," + ",".join(f"j{i}" for i in range(60_000)) + "\np" + ",0.5" * 60_000 + "\n",
        "one cell": 'judge,event,probability\nA,"' + "p & " * 1_000_000 + 'p",0.5\n',
        "quote": 'judge,event,probability\nA,"' + "p\n" * 100_000,
        "events": "judge,event,probability\n" + "".join(f"A,e{i},0.5\n" for i in range(501)),
        "deep": "judge,event,probability\nA," + "(" * 4_000 + "p" + ")" * 4_000 + ",0.5\n",
        "bytes": b"\xff\xfe\x00\x00" * 1_000,
        "empty": b"",
    }
    for name, bomb in bombs.items():
        answer = api.post("/panels/import", content=bomb, headers=kind)
        assert answer.status_code in (413, 422, 429), (name, answer.text[:300])
        refused(answer, answer.status_code)
    assert "at most" in api.post("/panels/import", content=bombs["rows"], headers=kind).json()["error"]["allowed"]
    titles = [panel["title"] for panel in api.get("/panels").json()["panels"]]
    assert titles == ["Weather"]


def test_zip_bombs(weather):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("manifest.json", "panel.json"):
            archive.writestr(name, b"0" * 200_000_000)
    assert len(packed.getvalue()) < 1_000_000
    kind = {"Content-Type": "application/zip"}
    for content in (packed.getvalue(), b"PK\x05\x06" + b"\0" * 18, b"no archive", b""):
        refused(weather.api.post("/panels/import", content=content, headers=kind), 422)


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1.0000001", "-0.1", '"0.5"', "true", "[0.5]", "{}"]
)
def test_numbers_are_numbers(weather, number):
    rain, judge = weather.events["rain"], weather.ann_record["id"]
    bodies = {
        "/sheet/answers": {"answers": [{"event": rain, "probability": "HERE"}]},
        f"{weather.path}/forecasts": {"forecasts": [{"judge": judge, "event": rain, "probability": "HERE"}]},
        "/check": {"forecasts": [{"judge": "A", "event": "p", "probability": "HERE"}]},
    }
    for path, body in bodies.items():
        client = weather.ann if path.startswith("/sheet") else weather.api
        sent = json.dumps(body).replace('"HERE"', number)
        refused(client.post(path, content=sent, headers=JSON), 422, "probability")
    if number != "1.0000001":
        limit = f'{{"time_limit": {number}}}'
        refused(weather.api.post(f"{weather.path}/aggregations", content=limit, headers=JSON), 422)
    assert weather.ann.get("/sheet").json()["answers"] == []


@pytest.mark.parametrize(
    "name", ["=cmd()|' /C calc'!A0", "+1+1", "-1", "@SUM(A1)", '=HYPERLINK("http://evil.example")']
)
def test_names_that_are_formulas_come_out_of_csv_as_texts(weather, name):
    judge, record = weather.service.judge(weather.api, weather.id, name)
    assert record["name"] == name
    event = weather.api.post(
        f"{weather.path}/questions", json={"title": name, "events": [{"event": "calm", "title": name}]}
    ).json()["events"][0]["id"]
    judge.post("/sheet/answers", json={"answers": [{"event": event, "probability": 0.5}]})
    weather.close()
    cells = weather.api.get(f"{weather.path}/export.csv").text
    table = weather.api.get(f"{weather.aggregate()}/forecasts.csv").text
    for text in (cells, table):
        for row in text.splitlines():
            for cell in row.replace('"', "").split(","):
                assert not cell.startswith(("=", "+", "@", "-")), row


@pytest.mark.parametrize(
    "text", [SCRIPT, '"><img src=x onerror=alert(1)>', "{{7*7}}", "'; DROP TABLE panel; --", "\u202egnp.exe"]
)
def test_script_in_every_text_field(weather, text):
    api, path = weather.api, weather.path
    sent = [
        api.post("/panels", json={"title": text, "description": text}),
        api.patch(path, json={"title": text, "description": text}),
        api.post(
            f"{path}/questions",
            json={"title": text, "definition": text, "group": text, "events": [{"event": "calm", "title": text}]},
        ),
        api.post(f"{path}/laws", json={"statement": "calm -> ~wind", "title": text}),
        api.post(f"{path}/judges", json={"name": text}),
        api.post(f"{path}/comments", json={"text": text}),
        api.post(f"{path}/outcomes", json={"event": "rain", "outcome": True, "note": text}),
        api.post("/tokens", json={"name": text}),
        weather.ann.post("/sheet/comments", json={"text": text}),
        weather.ann.post(
            "/sheet/answers",
            json={"answers": [{"event": weather.events["rain"], "probability": 0.5, "reason": text}]},
        ),
    ]
    assert [answer.status_code // 100 for answer in sent] == [2] * len(sent)
    for answer in [*sent, api.get(f"{path}/board"), weather.ann.get("/sheet"), api.get(f"{path}/read" + text)]:
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
    weather.close()
    report = api.get(f"{weather.aggregate()}/report").text
    assert SCRIPT not in report
    assert "<img src=x" not in report


@pytest.mark.parametrize(
    "path",
    [
        "/static/../serving.py",
        "/static/..%2f..%2fserving.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/static//etc/passwd",
        "/static/..\\serving.py",
        "/../../../etc/passwd",
        "/j/../../etc/passwd",
        f"{API}/../../etc/passwd",
        f"{API}/panels/..%2f..%2f..%2fetc%2fpasswd",
        f"{API}/panels/p_%00",
        f"{API}/panels/p_x/aggregations/../../../etc/passwd",
    ],
)
def test_paths_lead_nowhere_else(service, path):
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = until_end(connection)
    assert int(answer.split()[1]) in (303, 400, 401, 404, 422), answer[:300]
    assert "root:" not in answer
    assert "import" not in answer.partition("\r\n\r\n")[2][:200]


@pytest.mark.parametrize("text", ["\u0000", "a\u0000b", "a\nb", "\u001b[2J", "   ", "", "x" * (sizes.TITLE + 1)])
def test_texts_that_are_not_one_line(weather, text):
    refused(weather.api.post("/panels", json={"title": text}), 422, "title")


def test_lone_surrogates(weather):
    refused(weather.api.post("/panels", content=b'{"title": "\\ud800"}', headers=JSON), 422)
    refused(weather.ann.post("/sheet/comments", content=b'{"text": "\\udfff"}', headers=JSON), 422)


def test_unknown_fields_and_wrong_kinds(weather):
    api = weather.api
    refused(api.post("/panels", json={"title": "x", "owner": "u_1"}), 422, "owner")
    refused(api.post("/panels", json=["x"]), 422)
    refused(api.post("/panels", json={"title": 5}), 422)
    refused(api.post("/panels"), 422)
    refused(api.put("/panels", json={"title": "x"}), 405, "POST")
    refused(api.get("/nothing"), 404)
    refused(api.post("/panels", content=b"<xml/>", headers={"Content-Type": "application/xml"}), 415)
    refused(api.get("/panels", params={"limit": 10**9}), 422, "at most 1,000")


def test_the_queue_is_limited(store_url):
    with Service(store_url, slower(queue=4, queue_of_panel=3)) as service:
        first, second = Weather(service), Weather(service)
        for weather in (first, second):
            weather.say(weather.ann, rain=0.5)
            weather.close()
        ask = lambda weather: weather.api.post(f"{weather.path}/aggregations", json={})  # noqa: E731
        assert [ask(first).status_code for _ in range(3)] == [202] * 3
        refused(ask(first), 429, "at most 3")
        assert ask(second).status_code == 202
        refused(ask(second), 429, "at most 4")
        service.work()
        assert ask(second).status_code == 202


def test_limits_of_a_panel_say_the_limit(store_url):
    limits = slower(panels=2, questions=3, events=5, laws=1, judges=2, tokens=2, streams=1)
    with Service(store_url, limits) as service:
        weather = Weather(service)
        api, path = weather.api, weather.path
        refused(
            api.post(f"{path}/questions", json={"title": "x", "events": [{"event": "x"}]}), 429, "at most 3 questions"
        )
        refused(api.post(f"{path}/judges", json={"name": "Cid"}), 429, "at most 2 judges")
        api.post(f"{path}/laws", json={"statement": "rain | ~rain"})
        refused(api.post(f"{path}/laws", json={"statement": "wind | ~wind"}), 429, "at most 1 laws")
        api.post("/panels", json={"title": "second"})
        refused(api.post("/panels", json={"title": "third"}), 429, "at most 2 panels")
        api.post("/tokens", json={"name": "second"})
        refused(api.post("/tokens", json={"name": "third"}), 429, "at most 2 tokens")
        with api.stream("GET", f"{path}/stream") as opened:
            parts = opened.iter_raw()
            next(parts)
            refused(api.get(f"{path}/stream"), 429, "at most 1 streams")


def test_who_asks_too_often_has_to_wait(store_url):
    with Service(store_url, slower(rate=1.0, burst=20)) as service:
        weather = Weather(service)
        statuses = [weather.ann.get("/sheet/comments").status_code for _ in range(30)]
        assert 10 < statuses.count(200) <= 22
        error = refused(weather.ann.get("/sheet/comments"), 429, "20 at once and then 1 per second")
        assert error["remedy"].startswith("Wait")
        assert weather.bob.get("/sheet/comments").status_code == 200


def test_made_up_credentials_do_not_get_around_the_rate(store_url):
    with Service(store_url, slower(rate=0.1, burst=2)) as service:
        statuses = [service.client(f"made-up-{i}").get("/panels").status_code for i in range(30)]
        assert statuses.count(401) <= 22
        assert statuses[-1] == 429


def test_too_many_calculations_at_once(store_url):
    with Service(store_url, slower(calls=1)) as service:
        calculator = service.app.app.state.calculator
        assert calculator._places.acquire(blocking=False)
        draft = {"forecasts": [{"judge": "A", "event": "p", "probability": 0.5}]}
        refused(service.http.post("/check", json=draft), 429, "at most 1")
        calculator._places.release()
        assert service.http.post("/check", json=draft).status_code == 200


def test_headers_are_on_every_answer(service):
    for path in ("/", "/healthz", "/nothing", "/metrics", f"{API}/panels", f"{API}/openapi.json", f"{API}/nothing"):
        answer = httpx.get(service.url + path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "server" not in answer.headers
        assert len(answer.headers["x-request-id"]) == 16


def test_faults_are_told_without_a_traceback(service, monkeypatch):
    from coherently.web.api import panel_routes

    def broken(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(panel_routes.panels, "list_panels", broken)
    answer = service.facilitator().get("/panels")
    refused(answer, 500, "mistake", answer.headers["x-request-id"])
    assert "secret detail" not in answer.text


def test_a_store_that_is_away_is_told(service, monkeypatch):
    from coherently.web.store import StoreUnavailableError

    def away():
        raise StoreUnavailableError("the database cannot be reached")

    monkeypatch.setattr(service.store, "ready", away)
    answer = httpx.get(f"{service.url}/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "store unavailable")
    monkeypatch.undo()


def test_logs_are_json_without_secrets(service, weather, caplog):
    from coherently.web.access.logbook import JsonLines

    service.app.logbook.log_requests = True
    try:
        with caplog.at_level("INFO", logger="coherently.web"):
            secret = weather.ann_record["secret"]
            httpx.get(f"{service.url}/j/{secret}", follow_redirects=False)
            weather.ann.get("/sheet")
            end = time.monotonic() + 10  # the line is written after the answer was sent
            while len(records := [r for r in caplog.records if r.name == "coherently.web"]) < 2:
                assert time.monotonic() < end
                time.sleep(0.01)
    finally:
        service.app.logbook.log_requests = False
    lines = [json.loads(JsonLines().format(record)) for record in records]
    assert secret not in json.dumps(lines)
    assert {"time", "level", "event", "request", "method", "path", "status", "ms", "address", "caller"} <= set(lines[0])
    assert lines[-1]["caller"] == f"judge {weather.ann_record['id']}"
