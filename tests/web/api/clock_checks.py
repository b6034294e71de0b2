"""The workbench while its machine's clock is set forwards and back: nothing acknowledged is lost, nobody is shut out.

A random walk: judges answer and send again, rounds begin with deadlines and end, links and tokens are withdrawn, jobs
lose their workers, and between all that the clock is set by up to weeks. Time that passes is not changed, as it is not
on a machine whose clock is set.
"""

import random
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest import mock

import httpx

from coherently.web import wall_clock
from coherently.web.access.callers import JUDGE_SESSION
from coherently.web.operations.open_panels import close_panels
from coherently.web.pages.formats import deadline
from tests.web.api.service import Service, Weather, refused
from tests.web.api.test_streams import Listening

JUMPS = (2, 60, 3_600, 7 * 3_600, 86_400, 8 * 86_400, 20 * 86_400, 100 * 86_400)
"""Seconds by which the clock is set, forwards or back."""
ANSWERING = ("private", "revision")
TURNS = {"private": "discussion", "discussion": "revision", "revision": "discussion"}


class SettableClock:
    """What `wall_clock` takes for `datetime`: the machine's clock, set forwards or back by `ahead`."""

    def __init__(self):
        self.ahead = timedelta()

    def now(self, zone=UTC):
        return datetime.now(zone) + self.ahead


@contextmanager
def settable_clock():
    """Let the workbench of this process read a clock that can be set."""
    clock = SettableClock()
    with mock.patch.object(wall_clock, "datetime", clock):
        yield clock


def moment(time):
    return datetime.fromisoformat(time)


class Walk:
    """The walk, with what must be so by what was acknowledged."""

    def __init__(self, service, clock, rng):
        self.service, self.clock, self.rng = service, clock, rng
        self.weather = Weather(service)
        self.api, self.path = self.weather.api, self.weather.path
        self.judges = {"Ann": self.weather.ann, "Bob": self.weather.bob}
        self.ids = {"Ann": self.weather.ann_record["id"], "Bob": self.weather.bob_record["id"]}
        self.browsers = {}
        self.said, self.sent = [], 0  # the forecasts that were acknowledged, in order, and in how many requests
        self.keyed = []  # the requests whose keys are still known
        self.rounds = [("private", None)]
        self.gone = []  # clients whose link or token was withdrawn
        self.versions = 0
        self.board = Listening(self.api, f"{self.path}/stream")

    def set_clock(self):
        self.clock.ahead += timedelta(seconds=self.rng.choice(JUMPS) * self.rng.choice((-1, 1)))

    @property
    def is_open(self):
        phase, closes = self.rounds[-1]
        return phase in ANSWERING and (closes is None or moment(closes) > self.clock.now())

    def answer(self):
        judge, number = self.rng.choice(list(self.judges)), len(self.said)
        events = self.rng.sample(list(self.weather.events.values()), self.rng.randint(1, 3))
        rows = [{"event": event, "probability": round(self.rng.random(), 6), "reason": f"{number}"} for event in events]
        self._send(judge, {"answers": rows}, f"key-{self.sent}")

    def answer_again(self):
        if self.keyed:
            self._send(*self.rng.choice(self.keyed))

    def _send(self, judge, body, key):
        is_known = (judge, body, key) in self.keyed
        was_open = self.is_open
        answer = self.judges[judge].post("/sheet/answers", json=body, headers={"Idempotency-Key": key})
        if is_known:
            assert answer.status_code == 200, answer.text
        elif was_open == self.is_open:  # no deadline passed meanwhile
            assert answer.status_code == (200 if was_open else 409), (answer.text, self.rounds[-1], self.clock.now())
        if answer.status_code == 200 and not is_known:
            self.sent += 1
            self.keyed.append((judge, body, key))
            self.said += [(self.ids[judge], row["event"], row["probability"]) for row in body["answers"]]

    def turn(self):
        phase = TURNS[self.rounds[-1][0]]
        wait = timedelta(seconds=self.rng.choice(JUMPS[1:]))
        closes = (self.clock.now() + wait).isoformat() if phase in ANSWERING and self.rng.random() < 0.7 else None
        made = self.api.post(f"{self.path}/rounds", json={"phase": phase, "closes_at": closes})
        assert made.status_code in (200, 201), made.text
        told = made.json()["closes_at"]
        assert (told is None) == (closes is None)
        assert closes is None or abs(moment(told) - moment(closes)) < timedelta(milliseconds=2)
        self.rounds.append((phase, told))

    def look(self):
        """What is shown: the phase that was set last, its end as it was given, and nobody's numbers too early."""
        told = [(each["phase"], each["closes_at"]) for each in self.api.get(f"{self.path}/rounds").json()["rounds"]]
        assert told == self.rounds
        phase, closes = self.rounds[-1]
        sheet = self.judges["Ann"].get("/sheet").json()
        assert sheet["round"]["closes_at"] == closes
        if closes is not None:
            secret = self.judges["Ann"].headers["Authorization"].removeprefix("Bearer ")
            page = self.service.client(follow_redirects=True).get(f"{self.service.url}/j/{secret}").text
            assert str(deadline(closes, "UTC")) in page
        self._look_at_numbers(phase, len([name for name, _ in self.rounds if name in ANSWERING]))
        last = {(judge, event): value for judge, event, value in self.said}
        own = {each["event"]: each["probability"] for each in sheet["answers"]}
        assert own == {event: value for (judge, event), value in last.items() if judge == self.ids["Ann"]}

    def _look_at_numbers(self, phase, number):
        """Whose the numbers of an open round are is hidden until somebody closes it, whatever its deadline says."""
        told = self.api.get(f"{self.path}/forecasts", params={"limit": 1000}).json()["forecasts"]
        for each in told:
            is_private = phase in ANSWERING and each["round"] == number
            assert (each["probability"] is None) == is_private, each
        board = self.api.get(f"{self.path}/board").json()
        spreads = board["overview"]["spreads"]
        if phase not in ANSWERING:
            last = {(judge, event): value for judge, event, value in self.said}
            for spread in spreads:
                answers = sorted(v for (_, e), v in last.items() if e == spread["event"])
                assert spread["answers"] == answers, (spread, answers, board["hidden"], board["overview"]["finished"])

    def open_link(self):
        """A link opens at any time; the browser's session holds until its end, by whatever the clock says."""
        name = self.rng.choice(list(self.judges))
        if name in self.browsers:
            session, cookie = self.browsers[name]
            status = self.service.client(cookies={JUDGE_SESSION: cookie}).get("/sheet").status_code
            assert status == 401 or (status == 200 and moment(session) > self.clock.now())
        secret = self.judges[name].headers["Authorization"].removeprefix("Bearer ")
        browser = self.service.client()
        assert browser.get(f"{self.service.url}/j/{secret}").status_code == 303
        cookie = browser.cookies[JUDGE_SESSION]
        assert browser.get("/sheet").status_code == 200
        found = self.service.store.sessions.by_secret(cookie)
        self.browsers[name] = found.expires_at, cookie

    def withdraw(self):
        """A link and a token that were ended, or have expired, never come back once they are refused as ended."""
        token = self.api.post("/tokens", json={"name": "short"}).json()
        client = self.service.client(token["secret"])
        assert client.get("/panels").status_code == 200
        assert self.api.delete(f"/tokens/{token['id']}").status_code == 204
        judge, record = self.service.judge(self.api, self.weather.id, f"judge {len(self.gone)}")
        assert judge.get("/sheet").status_code == 200
        assert self.api.delete(f"{self.path}/judges/{record['id']}/link").status_code == 204
        self.gone += [(client, "/panels"), (judge, "/sheet")]
        for client, path in self.gone[-10:]:
            refused(client.get(path), 401)

    def aggregate(self):
        """A version whose worker is lost is made by another, however the clock is set meanwhile."""
        if self.rounds[-1][0] in ANSWERING or not self.said:
            return
        asked = self.api.post(f"{self.path}/aggregations", json={})
        assert asked.status_code == 202, asked.text
        self.versions += 1
        if self.rng.random() < 0.5:
            assert self.service.store.aggregations.claim("lost", 15).id == asked.json()["id"]
            self.clock.ahead += timedelta(seconds=self.rng.choice((-1, 1)) * self.rng.choice(JUMPS[2:]))
        self.service.work()
        view = self.api.get(f"{self.path}/aggregations/{asked.json()['id']}").json()
        assert (view["status"], view["version"]) == ("done", self.versions), view

    def tidy(self):
        """The next tidying comes after an hour: nothing in memory is believed any more, and nobody sends again."""
        self.board.wait("answers", self.sent)
        self.service.store.tidy()
        close_panels(self.service.store)
        for kept in (self.service.store.questions._asked, self.service.store.laws._standing):
            kept._kept.clear()
        self.keyed = []

    def check(self):
        """All that was acknowledged is there, once and in order, and streams told of it in order."""
        store, panel = self.service.store, self.weather.id
        history = store.forecasts.history(panel, limit=10**6)
        assert [(each.judge, each.event, each.probability) for each in history] == self.said
        last = {(judge, event): value for judge, event, value in self.said}
        assert {(e.judge, e.event): e.probability for e in store.forecasts.latest(panel)} == last
        assert [each.version for each in store.aggregations.list(panel)] == list(range(1, self.versions + 1))
        assert httpx.get(f"{self.service.url}/healthz").json()["status"] == "ok"
        told = self.board.wait("answers", self.sent)
        numbers = [int(number) for number, _, _ in self.board.events]
        assert numbers == sorted(set(numbers))
        assert len(told) == self.sent


STEPS = {
    Walk.answer: 12,
    Walk.answer_again: 4,
    Walk.set_clock: 6,
    Walk.turn: 3,
    Walk.look: 3,
    Walk.open_link: 2,
    Walk.withdraw: 1,
    Walk.aggregate: 2,
    Walk.tidy: 1,
}
"""What happens, and how often."""


def check_clock(url, seed, steps):
    """One walk of so many steps on an empty store."""
    rng = random.Random(seed)
    with settable_clock() as clock, Service(url) as service:
        walk = Walk(service, clock, rng)
        for step in rng.choices(list(STEPS), list(STEPS.values()), k=steps):
            step(walk)
        walk.look()
        walk.check()
