"""Random work on a panel: of an open round, nobody but the judge is shown a number with its name; others none at all.

Each probability is unique, so that any body that has it shows it. Facilitators see the numbers of an open round without
names where at least two judges gave one; that part of their bodies is taken out before they are searched.
"""

import json
import random
import re

from tests.web.api.facilitator import EVENTS, Facilitator
from tests.web.api.service import API, Service
from tests.web.api.test_streams import Listening

ANSWERING = ("private", "revision")
STRIPS = re.compile(r'<table class="list dots">.*?</table>', re.DOTALL)
"""Where the pages of a facilitator show numbers without names."""
ENOUGH = 2
"""Number of judges from which on a facilitator sees what they said about an event, without names."""
OF_JUDGES = ("/sheet/practice", "/sheet/answers.csv", "/sheet/deadline.ics", "/sheet")
CALLS = ("/sheet", "/sheet/comments", "/sheet/practice", "/sheet/closing", "/sheet/deadline.ics")


def forms(value):
    """How a probability may be written: 0.413782, .413782 or 41.3782."""
    return rf"{re.escape(f'{value:.6f}'[1:])}(?!\d)|(?<!\d){re.escape(f'{100 * value:.4f}')}(?!\d)"


class Walk:
    """One panel with its people; `given` are the numbers: judge, event, round and value."""

    def __init__(self, service, rng, judges=3):
        self.service, self.rng = service, rng
        self.desk = Facilitator(service)
        self.path, self.number, self.phase, self.hidden = self.desk.path, 1, "private", True
        self.names = [f"Judge {'ABCDE'[n]}quintessa" for n in range(judges)]
        self.judges, self.secrets, self.given, self.aggregations = [], [], [], []
        for name in self.names:
            made = self.desk.post(f"{self.path}/judges", {"name": name})
            self.desk.judges[name] = made["id"]
            self.judges.append(service.client(made["secret"]))
            self.secrets.append(made["secret"])
        self.used = set()
        self.streams = [Listening(client, "/sheet/stream") for client in self.judges]
        self.streams.append(Listening(self.desk.http, f"{self.path}/stream"))
        link = self.desk.http.post(f"{self.path}/report-links", json={"with_names": rng.random() < 0.5}).json()["link"]
        self.report = link if link.startswith("http") else service.url + link

    def value(self):
        """A probability of six places that nobody has given."""
        while True:
            millionths = self.rng.randint(20_000, 980_000)
            if millionths % 10 and millionths not in self.used:
                self.used.add(millionths)
                return millionths / 1_000_000

    # What people do.

    def answer(self):
        judge = self.rng.randrange(len(self.judges))
        events = self.rng.sample(EVENTS, self.rng.randint(1, 3))
        rows = [
            {"event": self.desk.events[text], "probability": self.value(), "reason": "Base rate."} for text in events
        ]
        place = self.rng.choice(["/sheet/answers", "/sheet/answers", "/sheet/try"])
        answer = self.judges[judge].post(place, json={"answers": rows})
        if self.phase not in ANSWERING:
            assert place == "/sheet/try" or answer.status_code == 409
        elif place == "/sheet/answers":
            answer.raise_for_status()
            self.given += [(judge, row["event"], self.number, row["probability"]) for row in rows]
        return [(judge, answer)]

    def talk(self):
        judge = self.rng.randrange(len(self.judges))
        client = self.judges[judge]
        sheet = client.get("/sheet").json()
        sent = [client.post("/sheet/comments", json={"text": "Why so sure?"}), client.post("/sheet/hand-in", json={})]
        clashes = (sheet.get("feedback") or {}).get("contradictions", [])[:1]
        sent += [client.post("/sheet/meant", json={"key": each["key"], "reason": "Gusts."}) for each in clashes]
        return [(judge, answer) for answer in sent]

    def turn(self):
        after = {"private": "discussion", "discussion": self.rng.choice(["revision", "revision", "closed"])}
        before, self.phase = self.phase, after.get(self.phase, self.rng.choice(["discussion", "revision"]))
        self.hidden = self.rng.random() < 0.5
        self.number += self.phase in ANSWERING and self.phase != before
        asked = self.send("/rounds", {"phase": self.phase, "hide_numbers": self.hidden})
        assert asked[1].json()["number"] == self.number
        return [asked]

    def send(self, part, body):
        return (None, self.desk.http.post(self.path + part, json=body))

    def aggregate(self):
        method = self.rng.choice(["exact", "linear"])
        asked = self.send("/aggregations", {"method": method} if method == "exact" else {})
        if asked[1].status_code == 202:
            self.service.work()
            self.aggregations.append(asked[1].json()["id"])
        return [asked]

    def arrange(self):
        """Whatever else a facilitator may do; a copy is looked at, too."""
        copy = self.send("/copy", {"title": "Copy", "with_judges": True})
        sent = [
            copy,
            self.send("/outcomes", {"event": "rain", "outcome": True}),
            self.send("/comments", {"text": "Talk."}),
        ]
        sent += [
            self.send("/laws", {"statement": "rain -> rain"}),
            self.send("/outcomes", {"event": "rain", "outcome": None}),
        ]
        if self.rng.random() < 0.3:
            sent += [
                (None, self.desk.http.get(f"{self.path}/{name}")) for name in ("archive", "export.csv", "export.py")
            ]
        made = copy[1].json().get("id")
        if made:
            sent += [
                (None, self.desk.http.get(f"/panels/{made}{part}")) for part in ("/board", "/forecasts", "/archive")
            ]
            self.desk.http.delete(f"/panels/{made}")
        return sent

    # What they are shown.

    def look(self):
        """All that each of them can look at."""
        done = self.rng.choice(self.aggregations) if self.aggregations else None
        shown = [(None, answer) for answer in self.desk.reads(done).values()]
        for number, (client, secret) in enumerate(zip(self.judges, self.secrets, strict=True)):
            shown += [(number, client.get(path)) for path in CALLS]
            browser = self.service.client(follow_redirects=True)
            shown.append((number, browser.get(f"{self.service.url}/j/{secret}")))
            shown += [(number, browser.get(self.service.url + path)) for path in OF_JUDGES]
        outside = self.service.client()
        paths = [
            f"{API}{self.path}{part}" for part in ("", "/board", "/forecasts", "/export.csv", "/archive", "/stream")
        ]
        paths += [f"{self.path}/board", f"{self.path}/results", f"{API}/sheet", "/sheet", "/healthz"]
        shown += [("outside", outside.get(self.service.url + path)) for path in paths]
        shown.append(("report", outside.get(self.report)))
        return shown

    def check(self, shown):
        """Search what was shown for numbers that whoever got it may not see."""
        for who, answer in shown:
            assert answer.status_code < 500, answer.text
            text = answer.text if who is not None else self.without_strips(answer)
            for value in self.hidden_from(who):
                found = re.search(forms(value), text)
                assert not found, (who, answer.request.url, answer.request.method, self.phase, found[0])
        for stream in self.streams:
            for *_, value in self.given:
                assert not re.search(forms(value), stream.raw), stream.raw

    def hidden_from(self, who):
        """The numbers that must not be in a body for a judge, for the facilitator (None) or for somebody else."""
        is_open = self.phase in ANSWERING
        if who is None:
            return [value for *_, number, value in self.given if is_open and number == self.number]
        if who == "report":
            return [] if self.phase == "closed" else [value for *_, value in self.given]
        if who == "outside":
            return [value for *_, value in self.given]
        others = [(number, value) for judge, _, number, value in self.given if judge != who]
        if self.phase == "closed":
            return []
        return [value for number, value in others if self.hidden or (is_open and number == self.number)]

    def without_strips(self, answer):
        """A body for the facilitator without the numbers that have no names, where enough judges gave one."""
        path = answer.request.url.path
        if path != f"{API}{self.path}/board" or answer.status_code != 200:
            return STRIPS.sub("", answer.text)
        told = answer.json()
        for spread in told["overview"].pop("spreads"):
            new = {judge for judge, event, number, _ in self.given if (event, number) == (spread["event"], self.number)}
            if self.phase in ANSWERING and 0 < len(new) < ENOUGH:
                assert not spread["answers"], "the number of a single judge is shown"
        return json.dumps(told)


STEPS = {Walk.answer: 8, Walk.talk: 2, Walk.turn: 3, Walk.aggregate: 2, Walk.arrange: 1}
"""What happens, and how often."""


def check_privacy(url, seed, steps, looks=3):
    """A walk of so many steps on an empty store; every so many steps everybody looks at everything."""
    rng = random.Random(seed)
    with Service(url) as service:
        walk = Walk(service, rng)
        while len(walk.given) < ENOUGH:
            walk.check(walk.answer())
        walk.check(walk.look())
        for number, step in enumerate(rng.choices(list(STEPS), list(STEPS.values()), k=steps), 1):
            walk.check(step(walk))
            if number % looks == 0:
                walk.check(walk.look())
