"""Who gets in: sessions, tokens, links, proxies, and pages of other sites that ask in one's name."""

import re
from pathlib import Path

import httpx
import psycopg
import pytest

from coherently.web.access.callers import JUDGE_SESSION, SESSION
from coherently.web.settings import ServiceSettings, SettingsError
from coherently.web.store import open_store
from tests.web.api.service import API, Service, Weather, refused, slower

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def guarded(new_store):
    """A workbench with an account, so that nobody gets in without a password."""
    with Service(new_store(), allow_hosts=("panel.example",)) as service:
        service.store.accounts.create("Ann", PASSWORD)
        yield service


@pytest.fixture
def browser(service):
    """A browser of this machine with a session, and its CSRF token as a header."""
    client = service.client()
    token = client.post("/session", json={}).json()["csrf_token"]
    return client, {"X-CSRF-Token": token}


def test_this_machine_needs_no_login_while_there_is_no_account(service, browser):
    client, token = browser
    assert client.get("/session").json()["name"] == "local"
    assert client.post("/panels", json={"title": "Mine"}, headers=token).status_code == 201
    refused(service.client().get("/panels"), 401, "Log in")


def test_a_request_through_a_proxy_is_not_of_this_machine(service, browser):
    client, _ = browser
    for header in ("X-Forwarded-For", "Forwarded", "Via", "Remote-User", "X-Forwarded-Host"):
        refused(service.client().post("/session", json={}, headers={header: "somebody"}), 401)
        refused(client.get("/panels", headers={header: "somebody"}), 401)


def test_with_an_account_everybody_logs_in(guarded):
    client = guarded.client()
    refused(client.post("/session", json={}), 401)
    refused(client.post("/session", json={"name": "Ann", "password": "wrong"}), 401, "do not go together")
    refused(client.post("/session", json={"name": "nobody", "password": PASSWORD}), 401, "do not go together")
    view = client.post("/session", json={"name": "Ann", "password": PASSWORD})
    assert view.status_code == 201
    cookie = view.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    token = {"X-CSRF-Token": view.json()["csrf_token"]}
    assert client.get("/session").json()["name"] == "Ann"
    assert client.delete("/session", headers=token).status_code == 204
    refused(client.get("/panels"), 401)


def test_a_session_of_this_machine_ends_with_the_first_account(store_url):
    with Service(store_url) as service:
        client = service.client()
        client.post("/session", json={})
        assert client.get("/panels").status_code == 200
        service.store.accounts.create("Ann", PASSWORD)
        refused(client.get("/panels"), 401)


def test_login_makes_a_new_session_and_ends_the_old_one(guarded):
    """No fixation: a session that somebody planted is neither taken over nor kept."""
    planted = guarded.client(cookies={SESSION: "planted-by-somebody-else"})
    made = planted.post("/session", json={"name": "Ann", "password": PASSWORD})
    assert made.cookies[SESSION] != "planted-by-somebody-else"
    first = made.cookies[SESSION]
    again = guarded.client(cookies={SESSION: first}).post("/session", json={"name": "Ann", "password": PASSWORD})
    second = again.cookies[SESSION]
    assert first != second
    refused(guarded.client(cookies={SESSION: first}).get("/panels"), 401)
    assert guarded.client(cookies={SESSION: second}).get("/panels").status_code == 200


def test_a_cookie_that_was_logged_out_does_not_come_back(guarded):
    client = guarded.client()
    made = client.post("/session", json={"name": "Ann", "password": PASSWORD})
    kept = made.cookies[SESSION]
    client.delete("/session", headers={"X-CSRF-Token": made.json()["csrf_token"]})
    refused(guarded.client(cookies={SESSION: kept}).get("/panels"), 401)


def test_changes_by_cookie_need_the_token_of_the_session(service, browser):
    client, token = browser
    draft = {"title": "Not asked for"}
    refused(client.post("/panels", json=draft), 403, "token of this session")
    refused(client.post("/panels", json=draft, headers={"X-CSRF-Token": "x"}), 403)
    refused(client.post("/panels", json=draft, headers={"X-CSRF-Token": ""}), 403)
    other = service.client().post("/session", json={}).json()["csrf_token"]
    refused(client.post("/panels", json=draft, headers={"X-CSRF-Token": other}), 403)
    assert client.post("/panels", json=draft, headers=token).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_pages_of_other_sites_change_nothing(service, browser, headers):
    client, token = browser
    refused(client.post("/panels", json={"title": "x"}, headers=token | headers), 403, "another site")
    refused(service.client().post("/session", json={}, headers=headers), 403, "another site")


def test_own_pages_and_programs_do(service, browser):
    client, token = browser
    own = {"Origin": service.url, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/panels", json={"title": "x"}, headers=token | own).status_code == 201
    program = service.facilitator()
    assert program.post("/panels", json={"title": "x"}, headers={"Origin": "http://evil.example"}).status_code == 201


def test_a_form_without_json_is_not_taken(browser):
    client, token = browser
    sent = client.post("/panels", data={"title": "x"}, headers=token)
    refused(sent, 415, "application/json")


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Basic QW5uOng=", "Bearer a b", "Bearer " + "x" * 300, "Bearer ../../etc/passwd", "token", "Bearer é"],
)
def test_forged_tokens_do_not_hold(service, header):
    response = httpx.get(f"{service.url}{API}/panels", headers={"Authorization": header.encode("latin-1")})
    refused(response, 401)


def test_a_token_that_was_ended_does_not_come_back(service, browser):
    client, token = browser
    made = client.post("/tokens", json={"name": "notebook"}, headers=token).json()
    program = service.client(made["secret"])
    assert program.get("/panels").status_code == 200
    listed = program.get("/tokens")
    assert made["secret"] not in listed.text
    assert made["id"] in {each["id"] for each in listed.json()["tokens"]}
    assert client.delete(f"/tokens/{made['id']}", headers=token).status_code == 204
    refused(program.get("/panels"), 401)
    refused(client.delete(f"/tokens/{made['id']}", headers=token), 404)
    changed = made["secret"][:-1] + ("A" if made["secret"][-1] != "A" else "B")
    refused(service.client(changed).get("/panels"), 401)


def everything_in(service):
    """All bytes that the store has."""
    url = service.settings.store_url
    if url.startswith("postgresql"):
        with psycopg.connect(url) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            return b"".join(_rows_of(connection, name) for (name,) in tables)
    service.store.backup(path := url.removeprefix("sqlite:///") + ".copy")
    return Path(path).read_bytes()


def _rows_of(connection, table):
    with connection.cursor().copy(f'COPY "{table}" TO STDOUT (FORMAT binary)') as copy:
        return b"".join(map(bytes, copy))


def test_secrets_are_nowhere_in_the_store(service, weather):
    secret = weather.ann_record["secret"]
    token = weather.api.headers["Authorization"].split()[1]
    content = everything_in(service)
    assert secret.encode() not in content
    assert token.encode() not in content
    assert weather.ann_record["name"].encode() in content


def test_a_token_is_no_link_and_a_link_is_no_token(weather):
    refused(weather.service.client(weather.ann_record["secret"]).get(weather.path), 401)
    refused(weather.service.client(weather.api.headers["Authorization"].split()[1]).get("/sheet"), 401)


def test_another_panels_link_opens_nothing_here(service):
    mine, other = Weather(service), Weather(service)
    mine.say(mine.ann, rain=0.111)
    assert other.ann.get("/sheet").json()["panel"]["id"] == other.id
    refused(other.ann.post("/sheet/answers", json=mine.answers(rain=0.9)), 404)
    refused(other.ann.post("/sheet/try", json=mine.answers(rain=0.9)), 404)
    question = mine.api.get(f"{mine.path}/questions").json()["questions"][0]["id"]
    refused(other.ann.post("/sheet/comments", json={"text": "x", "question": question}), 404)
    assert "0.111" not in other.ann.get("/sheet").text


def test_another_accounts_panel_does_not_exist(service):
    mine, other = Weather(service), Weather(service)
    mine.say(mine.ann, rain=0.5)
    mine.close()
    version = mine.aggregate()
    question = mine.api.get(f"{mine.path}/questions").json()["questions"][0]["id"]
    judge = mine.ann_record["id"]
    reads = ["", "/questions", "/laws", "/judges", "/rounds", "/forecasts", "/outcomes", "/comments", "/board"]
    reads += ["/aggregations", "/archive", "/export.csv", "/export.py", "/stream"]
    reads += [
        version.removeprefix(mine.path) + part
        for part in ("", "/result", "/report", "/accuracy", "/next-questions", "/forecasts.json")
    ]
    for part in reads:
        refused(other.api.get(mine.path + part), 404)
    mixed = version.replace(mine.id, other.id)
    for path in (mixed, f"{mixed}/result", f"{mixed}/report", f"{mixed}/comparison"):
        refused(other.api.get(path), 404)
    refused(other.api.patch(f"{other.path}/questions/{question}", json={"title": "x"}), 404)
    refused(other.api.delete(f"{other.path}/questions/{question}"), 404)
    refused(other.api.post(f"{other.path}/judges/{judge}/link"), 404)
    refused(other.api.delete(f"{other.path}/judges/{judge}/link"), 404)
    refused(other.api.post(f"{mixed}/cancel"), 404)
    refused(other.api.delete(mine.path), 404)
    refused(other.api.get("/panels", params={"after": mine.id}), 404)
    row = {"judge": judge, "event": mine.events["rain"], "probability": 0.1}
    refused(other.api.post(f"{other.path}/forecasts", json={"forecasts": [row]}), 404)


def test_the_cookie_of_a_link_is_of_one_panel_and_ends_with_the_link(weather):
    service, secret = weather.service, weather.ann_record["secret"]
    session, cookie = service.store.sessions.open(judge=weather.ann_record["id"])
    browser = service.client(cookies={JUDGE_SESSION: cookie})
    assert browser.get("/sheet").json()["judge"] == {"name": "Ann"}
    refused(browser.post("/sheet/answers", json=weather.answers(rain=0.5)), 403)
    saved = browser.post("/sheet/answers", json=weather.answers(rain=0.5), headers={"X-CSRF-Token": session.csrf})
    assert saved.status_code == 200
    refused(browser.get("/panels"), 401)
    refused(service.client(cookies={SESSION: cookie}).get("/panels"), 401)
    refused(service.client(cookies={SESSION: cookie}).get("/sheet"), 401)
    weather.api.delete(f"{weather.path}/judges/{weather.ann_record['id']}/link")
    refused(browser.get("/sheet"), 401)
    refused(service.client(secret).get("/sheet"), 401)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "127.0.0.1@evil.example",
        "localhost.",
        "",
        "[::1",
        "a,127.0.0.1",
    ],
)
def test_other_host_names_are_refused_with_the_flag(service, host):
    refused(httpx.get(f"{service.url}{API}/panels", headers={"Host": host}), 400, "--allow-host")
    shown = httpx.get(f"{service.url}/", headers={"Host": host})
    assert shown.status_code == 400
    assert "--allow-host" in shown.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:9", "[::1]:8420", "panel.example"])
def test_own_host_names_are_let_in(guarded, host):
    assert httpx.get(f"{guarded.url}/healthz", headers={"Host": host}).status_code == 200


def test_hosts_that_others_name_do_not_count(service):
    headers = {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1", "Forwarded": "host=127.0.0.1"}
    refused(httpx.get(f"{service.url}{API}/panels", headers=headers), 400)


@pytest.fixture
def behind_proxy(store_url):
    with Service(store_url, proxies=("127.0.0.1",), trust_remote_user=True, allow_hosts=("panel.example",)) as service:
        yield service


def test_a_trusted_proxy_says_who_is_asking(behind_proxy):
    client = behind_proxy.client(headers={"Remote-User": "ann@example.org", "X-Forwarded-Proto": "https"})
    begun = client.post("/session", json={})
    assert begun.json()["name"] == "ann@example.org"
    assert "Secure" in begun.headers["set-cookie"]
    assert "strict-transport-security" in begun.headers
    token = {"X-CSRF-Token": begun.json()["csrf_token"]}
    cookies = {SESSION: re.search(rf"{SESSION}=(\w+)", begun.headers["set-cookie"])[1]}
    ann = behind_proxy.client(headers={"Remote-User": "ann@example.org"}, cookies=cookies)
    panel = ann.post("/panels", json={"title": "Hers"}, headers=token).json()["id"]
    refused(ann.post("/panels", json={"title": "x"}), 403)
    other = behind_proxy.client(headers={"Remote-User": "bob@example.org"}, cookies=cookies)
    refused(other.get(f"/panels/{panel}"), 401)
    refused(behind_proxy.client(cookies=cookies).get("/panels"), 401)


def test_nobody_else_says_who_is_asking(store_url):
    with Service(store_url, proxies=("10.0.0.1",), trust_remote_user=True) as service:
        refused(service.client(headers={"Remote-User": "ann"}).post("/session", json={}), 401)
    with Service(store_url, proxies=("127.0.0.1",)) as service:
        refused(service.client(headers={"Remote-User": "ann"}).post("/session", json={}), 401)


def test_guessing_passwords_has_to_wait(store_url):
    with Service(store_url, slower(failures=3)) as service:
        service.store.accounts.create("Ann", PASSWORD)
        wrong = {"name": "Ann", "password": "wrong password"}
        for _ in range(3):
            refused(service.http.post("/session", json=wrong), 401)
        right = service.http.post("/session", json={"name": "Ann", "password": PASSWORD})
        assert int(right.headers["retry-after"]) > 0
        refused(right, 429, "per second")
        for _ in range(2):
            refused(service.client("guess").get("/panels"), 429)


def test_other_addresses_need_accounts(store_url):
    for settings in (
        ServiceSettings(store_url, host="0.0.0.0"),
        ServiceSettings(store_url, allow_hosts=("x",)),
        ServiceSettings(store_url, proxies=("::1",)),
    ):
        with pytest.raises(SettingsError, match="--add-account"):
            settings.check(accounts=0)
        settings.check(accounts=1)
    with open_store(store_url) as store:
        ServiceSettings(store_url).check(store.accounts.count())


def test_others_calculate_only_with_an_account(service, guarded):
    draft = {"forecasts": [{"judge": "A", "event": "p", "probability": 0.5}]}
    assert service.http.post("/check", json=draft).status_code == 200
    for path in ("/check", "/aggregate"):
        refused(service.http.post(path, json=draft, headers={"X-Forwarded-For": "203.0.113.9"}), 401)
        refused(guarded.http.post(path, json=draft), 401)
    assert guarded.facilitator().post("/check", json=draft).status_code == 200


def test_a_link_from_another_site_may_lead_to_the_first_page(service):
    answer = httpx.get(f"{service.url}/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 200
    assert SESSION in answer.cookies


def test_metrics_are_for_this_machine_or_with_a_token(service, guarded):
    shown = httpx.get(f"{service.url}/metrics").text
    assert "coherently_requests_total" in shown
    assert 'coherently_jobs{status="queued"}' in shown
    assert httpx.get(f"{guarded.url}/metrics").status_code == 401
    token = guarded.facilitator().headers["Authorization"]
    assert httpx.get(f"{guarded.url}/metrics", headers={"Authorization": token}).status_code == 200
