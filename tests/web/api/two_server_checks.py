"""Two workbenches on one store: whatever is done at one is there at the other at once, and nothing is done twice."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from coherently.web.store import open_store
from tests.web.api.answer_schemas import API, checked_client
from tests.web.api.test_streams import Listening

ANSWERING = ("private", "revision")
TURNS = {"private": "discussion", "discussion": "revision", "revision": "discussion"}
UNDER_WAY = ("queued", "running")
PATIENCE = 120.0
"""Seconds until versions that were asked for must be done."""
TEXTS = ("rain", "wind", "rain & wind")


class Doors:
    """One caller's clients, one for each server."""

    def __init__(self, bases, secret):
        headers = {"Authorization": f"Bearer {secret}"}
        self.clients = [checked_client(base_url=base + API, timeout=120, headers=headers) for base in bases]

    def close(self):
        for client in self.clients:
            client.close()


class TwoServers:
    """A panel with its judges, each of whom goes to either server, and a facilitator who does, too."""

    def __init__(self, bases, token, judges, each, seed):
        self.each, self.seed = each, seed
        self.api = Doors(bases, token)
        one, other = self.api.clients
        self.panel = one.post("/panels", json={"title": "Two servers"}).json()["id"]
        self.path = f"/panels/{self.panel}"
        self.events = []
        for text, client in zip(TEXTS, (one, other, one), strict=True):
            self.ask(client, text)
        made = [other.post(f"{self.path}/judges", json={"name": f"judge {n}"}).json() for n in range(judges)]
        self.judges = [(judge["id"], Doors(bases, judge["secret"])) for judge in made]
        self.acknowledged = [{} for _ in made]
        self.ended = threading.Event()
        self.versions = 0

    def ask(self, client, text):
        """Ask a question at one server, and find it at both."""
        draft = {"title": text, "events": [{"event": text}]}
        self.events.append(client.post(f"{self.path}/questions", json=draft).json()["events"][0]["id"])
        for door in self.api.clients:
            questions = door.get(f"{self.path}/questions").json()["questions"]
            assert [event["id"] for each in questions for event in each["events"]] == self.events

    def answer(self, number):
        """One judge: answers with keys through either server, again where the round is closed, and some twice."""
        rng, doors = random.Random(f"{self.seed} {number}"), self.judges[number][1].clients
        for count in range(self.each):
            event, value, reason = rng.choice(self.events[:3]), round(rng.random(), 6), f"{number}-{count}"
            body = {"answers": [{"event": event, "probability": value, "reason": reason}]}
            while self._send(rng, doors, body, reason) == 409:
                assert not self.ended.is_set(), "the facilitator failed"
                time.sleep(0.05)
            self.acknowledged[number][event] = value, reason
            told = {
                e["event"]: (e["probability"], e["reason"]) for e in rng.choice(doors).get("/sheet").json()["answers"]
            }
            assert told == self.acknowledged[number], "the other server shows something else than what was acknowledged"

    @staticmethod
    def _send(rng, doors, body, key):
        """Send a request to one server, sometimes to both at the same time, and sometimes once more."""
        send = lambda door: door.post("/sheet/answers", json=body, headers={"Idempotency-Key": key})  # noqa: E731
        if rng.random() < 0.2:
            with ThreadPoolExecutor(2) as pool:
                answers = list(pool.map(send, doors))
        else:
            answers = [send(rng.choice(doors))]
        if rng.random() < 0.2:
            answers.append(send(rng.choice(doors)))
        assert {answer.status_code for answer in answers} <= {200, 409}, [answer.text for answer in answers]
        return min(answer.status_code for answer in answers)  # one of them may have come before the round opened

    def facilitate(self):
        try:
            self._facilitate()
        finally:
            self.ended.set()

    def _facilitate(self):
        """The facilitator: begins and closes rounds at either server, and looks at the other."""
        rng, phase = random.Random(f"{self.seed} facilitator"), "private"
        while not self.ended.is_set():
            time.sleep(rng.uniform(0.05, 0.3))
            here, there = rng.sample(self.api.clients, 2)
            phase = TURNS[phase]
            here.post(f"{self.path}/rounds", json={"phase": phase}).raise_for_status()
            assert there.get(f"{self.path}/rounds").json()["rounds"][-1]["phase"] == phase
            if phase == "discussion":
                self.compare()
                if rng.random() < 0.3:
                    self.aggregate(here, there)
            if rng.random() < 0.2 and len(self.events) < 12:
                self.ask(here, f"further_{len(self.events)}")
        if phase not in ANSWERING:
            return
        self.api.clients[0].post(f"{self.path}/rounds", json={"phase": "discussion"}).raise_for_status()
        self.compare()

    def compare(self):
        """With the round closed, both boards show the same answers, all of them."""
        boards = [client.get(f"{self.path}/board").json() for client in self.api.clients]
        spreads = [{each["event"]: each["answers"] for each in board["overview"]["spreads"]} for board in boards]
        assert spreads[0] == spreads[1]
        told = self.api.clients[0].get(f"{self.path}/forecasts", params={"limit": 1000}).json()
        assert [board["hidden"] for board in boards] == [[], []]
        return told

    def wait_for_versions(self, client):
        """Until at most one version is not done, since a few at once are all that is allowed."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            versions = client.get(f"{self.path}/aggregations").json()["aggregations"]
            if sum(each["status"] in UNDER_WAY for each in versions) <= 1:
                return
            time.sleep(0.2)
        raise AssertionError("no worker of either server ends a version")

    def aggregate(self, here, there):
        """A version that is asked for at both servers with one key is one, and done at either."""
        self.wait_for_versions(there)
        headers = {"Idempotency-Key": f"version-{self.versions}"}
        asked = [client.post(f"{self.path}/aggregations", json={}, headers=headers) for client in (here, there)]
        if 409 in (statuses := {answer.status_code for answer in asked}):  # nobody has answered yet
            assert statuses == {409}
            return
        if any(answer.status_code == 422 for answer in asked):
            return
        assert [answer.status_code for answer in asked] == [202, 202], [answer.text for answer in asked]
        assert asked[0].json()["id"] == asked[1].json()["id"]
        self.versions += 1


def check_two_servers(store_url, bases, judges, each, seed):
    """So many judges with so many answers each, at the servers with these addresses."""
    with open_store(store_url) as store:
        account = store.accounts.create("facilitator of two servers")
        panel = TwoServers(bases, store.tokens.create(account.id, "tests")[1], judges, each, seed)
        streams = [Listening(client, f"{panel.path}/stream") for client in panel.api.clients]
        with ThreadPoolExecutor(judges + 1) as pool:
            facilitator = pool.submit(panel.facilitate)
            answering = [pool.submit(panel.answer, number) for number in range(judges)]
            for each_judge in answering:
                each_judge.exception()
            panel.ended.set()
            for work in (facilitator, *answering):
                work.result()
        _check_store(store, panel, judges * each)
        _check_streams(store, panel, streams)
        for base in bases:
            assert httpx.get(f"{base}/healthz").json()["status"] == "ok"
        panel.api.clients[0].delete(panel.path).raise_for_status()
        for stream in streams:
            stream.wait("ended")
            stream.thread.join(10)
        for doors in (panel.api, *(doors for _, doors in panel.judges)):
            doors.close()


def _check_store(store, panel, answers):
    history = store.forecasts.history(panel.panel, limit=10**6)
    reasons = [each.reason for each in history]
    assert sorted(reasons) == sorted({f"{n}-{c}" for n in range(len(panel.judges)) for c in range(panel.each)})
    assert len(history) == answers
    for number, (judge, _) in enumerate(panel.judges):
        own = [each for each in history if each.judge == judge]
        assert [each.reason for each in own] == [f"{number}-{count}" for count in range(panel.each)]
        standing = {each.event: (each.probability, each.reason) for each in store.forecasts.latest(panel.panel, judge)}
        assert standing == panel.acknowledged[number]
    assert len(store.aggregations.list(panel.panel)) == panel.versions
    phase = "private"
    for change in store.changes.after(panel.panel, 0, limit=10**6):
        phase = change.data["phase"] if change.kind == "round" else phase
        assert change.kind != "answers" or phase in ANSWERING, "an answer was taken while the round was closed"


def _check_streams(store, panel, streams):
    """Each server's stream has told all changes of both, once and in order."""
    wanted = [str(each.id) for each in store.changes.after(panel.panel, 0, limit=10**6) if each.kind == "answers"]
    for stream in streams:
        assert [number for number, _, _ in stream.wait("answers", len(wanted))] == wanted
