"""The workbench, served for real on a free port of this machine, in a thread of the tests."""

import json
import threading
import time
from dataclasses import replace

import httpx
import uvicorn

import coherently as co
from coherently.web.jobs.job_watch import run_next
from coherently.web.server import listening, make_app, server_config
from coherently.web.settings import ServiceLimits, ServiceSettings
from tests.web.api.answer_schemas import API, checked_client

UNHURRIED = ServiceLimits(rate=1e6, burst=10**6, failures=10**6, calls=8, feedback_seconds=60.0)
"""Limits for tests that are not about rates."""


class Service:
    """A workbench without workers: `work` makes the jobs that wait. `http` is a client without any credentials."""

    def __init__(self, store_url, limits=UNHURRIED, **settings):
        settings = {"workers": 0, "desk_processes": 0} | settings
        self.settings = ServiceSettings(store_url, port=0, log_requests=False, limits=limits, **settings)
        self.app = make_app(self.settings)
        self.bench, self.store = self.app.bench, self.app.bench.store
        self._listening = listening(self.settings)
        self._socket = self._listening.__enter__()
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(server_config(self.app, self.settings))
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self._connections = httpx.HTTPTransport(limits=httpx.Limits(max_keepalive_connections=20))
        self.http = self.client()
        self._panels = 0

    def client(self, secret=None, **options):
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        headers |= options.pop("headers", {})
        return checked_client(
            base_url=self.url + API, timeout=300, headers=headers, transport=self._connections, **options
        )

    def facilitator(self):
        """A client with a token of a new account."""
        self._panels += 1
        account = self.store.accounts.create(f"facilitator {self._panels}")
        return self.client(self.store.tokens.create(account.id, "tests")[1])

    def judge(self, facilitator, panel, name):
        """A client with the link of a new judge, and the judge."""
        judge = facilitator.post(f"/panels/{panel}/judges", json={"name": name}).json()
        return self.client(judge["secret"]), judge

    def work(self):
        """Make all jobs that wait."""
        while run_next(self.store, "tests"):
            pass

    def close(self):
        self.app.feed.close()
        self.server.should_exit = True
        self._thread.join()
        self._connections.close()
        self._listening.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def slower(**limits):
    return replace(UNHURRIED, **limits)


class Weather:
    """A panel with three questions and two judges."""

    def __init__(self, service):
        self.service, self.api = service, service.facilitator()
        self.id = self.api.post("/panels", json={"title": "Weather"}).json()["id"]
        self.path = f"/panels/{self.id}"
        self.events = {text: self.ask(text) for text in ("rain", "wind", "rain & wind")}
        self.ann, self.ann_record = service.judge(self.api, self.id, "Ann")
        self.bob, self.bob_record = service.judge(self.api, self.id, "Bob")

    def ask(self, text):
        draft = {"title": text, "events": [{"event": text, "title": text}]}
        return self.api.post(f"{self.path}/questions", json=draft).json()["events"][0]["id"]

    def answers(self, **given):
        """The body of answers; `rain_wind` is the conjunction."""
        name = {"rain_wind": "rain & wind"}
        return {"answers": [{"event": self.events[name.get(k, k)], "probability": p} for k, p in given.items()]}

    def say(self, judge, key=None, **given):
        headers = {} if key is None else {"Idempotency-Key": key}
        return judge.post("/sheet/answers", json=self.answers(**given), headers=headers)

    def close(self):
        """End the private round: until then nobody is shown whose numbers are whose."""
        self.api.post(f"{self.path}/rounds", json={"phase": "discussion"}).raise_for_status()

    def aggregate(self, **draft):
        """An aggregation that is done."""
        asked = self.api.post(f"{self.path}/aggregations", json=draft)
        assert asked.status_code == 202, asked.text
        self.service.work()
        return f"{self.path}/aggregations/{asked.json()['id']}"


def panel_of(body):
    """The panel and the result of what `.../result` answers."""
    panel = co.Panel.from_records(body["forecasts"], laws=body["laws"], outcomes=body["outcomes"] or None)
    return panel, co.Result.from_json(json.dumps(body["result"]))


def refused(response, status, *words):
    """Check that a request was refused in the one shape, in plain words."""
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert list(error) == ["code", "message", "where", "allowed", "remedy", "problems"]
    assert "Traceback" not in response.text
    for word in words:
        assert word in json.dumps(error, ensure_ascii=False), error
    return error


def until_end(connection):
    """What is answered until the other side ends the connection."""
    connection.settimeout(60)
    return b"".join(iter(lambda: connection.recv(65_536), b"")).decode("utf-8", "replace")
