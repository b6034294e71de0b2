"""A facilitator in a browser, and everything that one can look at."""

import re

from coherently.web.pages.routes import SHOWN
from tests.web.api.service import API

EVENTS = ("rain", "wind", "rain & wind")


class Facilitator:
    """The facilitator of this machine, with a browser's session: pages and calls."""

    def __init__(self, service):
        self.service, self.http = service, service.client(follow_redirects=True)
        token = self.http.post("/session", json={}).json()["csrf_token"]
        self.http.headers["X-CSRF-Token"] = token
        self.panel = self.post("/panels", {"title": "Weather"})["id"]
        self.path = f"/panels/{self.panel}"
        self.events = {text: self.ask(text) for text in EVENTS}
        self.judges = {}

    def post(self, path, body):
        answer = self.http.post(path, json=body)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    def ask(self, text):
        return self.post(f"{self.path}/questions", {"title": text, "events": [{"event": text}]})["events"][0]["id"]

    def invite(self, name):
        made = self.post(f"{self.path}/judges", {"name": name})
        self.judges[name] = made["id"]
        return self.service.client(made["secret"])

    def say(self, judge, numbers, **more):
        drafts = [{"event": self.events[text], "probability": value, **more} for text, value in numbers.items()]
        answer = judge.post("/sheet/answers", json={"answers": drafts})
        assert answer.status_code == 200, answer.text
        return answer.json()["feedback"]

    def advance(self, phase, **more):
        self.post(f"{self.path}/rounds", {"phase": phase, **more})

    def reads(self, aggregation=None):
        """Everything that a facilitator can look at, by address: all GET routes of the schema, and all pages."""
        known = {"panel": self.panel, "aggregation": aggregation, "kind": "reminder"}
        schema = self.http.get("/openapi.json").json()["paths"]
        routes = [path for path, item in schema.items() if "get" in item and path.startswith("/panels")]
        routes = [API + path for path in [*routes, "/scores"] if not path.endswith("/stream")]
        routes += [path for path in SHOWN if path != "/panels/{panel}"]
        wanted = set(re.findall(r"\{(\w+)\}", " ".join(routes)))
        assert wanted <= {"panel", "aggregation", "ending", "kind"}, "a new route: say here how it is read"
        found = {}
        for route in routes:
            for ending in ("csv", "json", "py") if "{ending}" in route else ("",):
                if "{aggregation}" in route and aggregation is None:
                    continue
                path = route.format(**known, ending=ending)
                asked = {"event": self.events[EVENTS[0]]} if path.endswith("/why") else {}
                answer = self.http.get(self.service.url + path, params=asked)
                assert answer.status_code in (200, 404, 409), (path, answer.text)
                found[path] = answer
        assert len(found) > 12
        return found
