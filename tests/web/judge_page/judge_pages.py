"""The workbench served for real, with the panel of the demo and a browser at a judge's link."""

import socket
import threading
import time

import uvicorn

from coherently.explain.judge_sheet import warm_up
from coherently.web.demo_panel import LAWS, QUESTIONS
from coherently.web.server import make_app, server_config
from coherently.web.settings import ServiceLimits, ServiceSettings
from tests.web.api.answer_schemas import checked_client

NAMES = (
    *("recession", "cut", "both", "inf1", "inf2", "inf3", "inf4", "t1", "t2", "t3", "t4"),
    *("ins", "rins", "gins", "stop"),
)
"""Short names of the demo's events, in their order."""
ALICE = dict(zip(NAMES, (30, 55, 36, 12, 48, 28, None, 12, 30, 44, 55, 25, "abstained", None, 60), strict=True))


class Workshop:
    """A service on a free port of this machine."""

    def __init__(self, folder):
        warm_up()
        limits = ServiceLimits(rate=1e6, burst=10**6, failures=10**6)
        settings = ServiceSettings(
            f"sqlite:///{folder}/store.db", port=0, workers=0, desk_processes=0, log_requests=False, limits=limits
        )
        self.app = make_app(settings)
        self.store = self.app.bench.store
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._server = uvicorn.Server(server_config(self.app, settings))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)

    def client(self, secret):
        headers = {"Authorization": f"Bearer {secret}"}
        return checked_client(base_url=f"{self.url}/api/v1", timeout=60, headers=headers)

    def close(self):
        self.app.feed.close()
        self._server.should_exit = True
        self._thread.join()


class Panel:
    """The demo's questions and laws, in an account and with a judge of their own."""

    def __init__(self, workshop):
        self.workshop = workshop
        account = workshop.store.accounts.create(f"account {time.monotonic_ns()}")
        self.api = workshop.client(workshop.store.tokens.create(account.id, "tests")[1])
        self.id = self.api.post("/panels", json={"title": "2027 outlook"}).json()["id"]
        found = [self._ask(*question) for question in QUESTIONS]
        self.questions = [question["id"] for question in found]
        self.events = dict(zip(NAMES, (event["id"] for one in found for event in one["events"]), strict=True))
        for statement, title in LAWS:
            self.api.post(f"/panels/{self.id}/laws", json={"statement": statement, "title": title}).raise_for_status()
        judge = self.api.post(f"/panels/{self.id}/judges", json={"name": "Alice"}).json()
        self.judge, self.link = judge["id"], f"{workshop.url}/j/{judge['secret']}"
        self.alice = workshop.client(judge["secret"])

    def _ask(self, kind, title, definition, group, declaration, events):
        draft = {"kind": kind, "title": title, "definition": definition, "group": group, "declaration": declaration}
        draft["events"] = [{"event": event, "title": words} for event, words in events]
        made = self.api.post(f"/panels/{self.id}/questions", json=draft)
        made.raise_for_status()
        return made.json()

    def advance(self, phase, **more):
        self.api.post(f"/panels/{self.id}/rounds", json={"phase": phase, **more}).raise_for_status()

    def answer(self, locked=(), **per_cents):
        drafts = [
            {
                "event": self.events[name],
                "probability": None if value == "abstained" else value / 100,
                "abstained": value == "abstained",
                "locked": name in locked,
            }
            for name, value in per_cents.items()
            if value is not None
        ]
        saved = self.alice.post("/sheet/answers", json={"answers": drafts})
        saved.raise_for_status()
        return saved.json()["feedback"]

    def close(self):
        self.api.close()
        self.alice.close()

    def answers(self):
        """What stands, in whole per cents, by short name."""
        name = {event: short for short, event in self.events.items()}
        told = self.alice.get("/sheet").json()["answers"]
        return {name[one["event"]]: round(100 * one["probability"]) for one in told if one["probability"] is not None}
