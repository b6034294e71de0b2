"""Server-Sent Events: what changes is told, to whom it may be told, and nothing is missed."""

import asyncio
import json
import threading
import time

from coherently.web.api.change_feed import StreamListener
from coherently.web.api.stream_routes import _changes
from coherently.web.store import AnswerGiven, open_store
from tests.web.api.service import Service, Weather


class Listening:
    """A stream that is read in a thread; `events` are (id, kind, data)."""

    def __init__(self, client, path, **headers):
        self.events, self.raw = [], ""
        self._ready, self._client, self._path, self._headers = threading.Event(), client, path, headers
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        assert self._ready.wait(20)

    def _read(self):
        with self._client.stream("GET", self._path, headers=self._headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            event = {}
            for line in response.iter_lines():
                self.raw += line + "\n"
                self._ready.set()
                if line.startswith(":"):
                    continue
                if not line and event:
                    self.events.append((event.get("id"), event["event"], json.loads(event["data"])))
                    event = {}
                elif line:
                    name, _, value = line.partition(": ")
                    event[name] = value

    def wait(self, kind, count=1, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [event for event in self.events if event[1] == kind]
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError((kind, self.events))


def test_the_facilitator_hears_of_answers_and_judges_only_of_their_own(store_url):
    with Service(store_url) as service:
        weather = Weather(service)
        board = Listening(weather.api, f"{weather.path}/stream")
        ann, bob = Listening(weather.ann, "/sheet/stream"), Listening(weather.bob, "/sheet/stream")
        weather.say(weather.ann, rain=0.37)
        ((number, _, data),) = board.wait("answers")
        assert data["judge"] == weather.ann_record["id"]
        assert data["events"] == [weather.events["rain"]]
        ann.wait("answers")
        weather.api.post(f"{weather.path}/rounds", json={"phase": "discussion"})
        for stream in (board, ann, bob):
            stream.wait("round")
        assert [kind for _, kind, _ in bob.events] == ["round"]
        assert weather.ann_record["id"] not in bob.raw
        again = Listening(weather.api, f"{weather.path}/stream", **{"Last-Event-ID": number})
        assert again.wait("round")
        assert not [event for event in again.events if event[1] == "answers"]
        weather.api.delete(f"{weather.path}/judges/{weather.ann_record['id']}/link")
        ann.wait("ended")
        weather.api.delete(weather.path)
        for stream in (board, bob, again):
            stream.wait("ended")
        for stream in (board, ann, bob, again):
            stream.thread.join(10)
            assert not stream.thread.is_alive()


def test_whoever_hears_from_a_stream_misses_nothing_from_then_on(tmp_path):
    async def next_after_the_first_sign(store, panel):
        changes = _changes(store, StreamListener(panel), None)
        assert await anext(changes) is None
        store.comments.add(panel, "Said at once.")
        return await asyncio.wait_for(anext(changes), 10)

    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        panel = store.panels.create(store.accounts.create("Ann").id, "Weather").id
        assert asyncio.run(next_after_the_first_sign(store, panel)).kind == "comments"


def test_changes_of_other_processes_are_heard(store_url):
    with Service(store_url) as service:
        weather = Weather(service)
        board = Listening(weather.api, f"{weather.path}/stream")
        with open_store(store_url) as elsewhere:
            elsewhere.forecasts.record(weather.ann_record["id"], [AnswerGiven(weather.events["rain"], 0.5)])
        board.wait("answers")


def test_streams_end_when_the_workbench_stops(store_url):
    with Service(store_url) as service:
        weather = Weather(service)
        board = Listening(weather.api, f"{weather.path}/stream")
    board.thread.join(10)
    assert not board.thread.is_alive()
