"""An upgrade while judges answer: requests are sent again until they are answered; none is lost or doubled."""

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

import coherently._core
from coherently.web.store import open_store
from tests.web.api.answer_schemas import API
from tests.web.server_process import ServerProcess
from tests.web.store import kept_stores

EARLIER = {3: "160b9eb3", 4: "ee4bb786", 5: "7a7a4b67"}
"""A commit of each earlier schema that a server of it can be made from."""
REPOSITORY = Path(__file__).parents[3]
PATIENCE = 120.0
"""Seconds for which a judge's client tries again."""


def has_history():
    """Whether the commits of earlier schemas are there: an archive or a shallow clone of the repository has none."""
    asked = [["git", "-C", REPOSITORY, "cat-file", "-e", f"{commit}:src"] for commit in EARLIER.values()]
    return shutil.which("git") is not None and all(
        subprocess.run(each, capture_output=True, check=False).returncode == 0 for each in asked
    )


@contextmanager
def earlier_code(schema):
    """Start servers of an earlier schema: its Python, with the compiled core of now, which they can use."""
    with tempfile.TemporaryDirectory(prefix="coherently-earlier-") as folder:
        packed = subprocess.run(
            ["git", "-C", REPOSITORY, "archive", EARLIER[schema], "src"], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        core = Path(coherently._core.__file__)
        shutil.copy(core, Path(folder, "src", "coherently"))
        # As a path and not as a folder of packages, where a file may lead to the sources of now.
        paths = [f"{folder}/src", *(path for path in sys.path if path.endswith("site-packages"))]
        command = [sys._base_executable, "-c", "from coherently.cli import main; main()"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        yield lambda url, port: ServerProcess(url, port, command=command, environment=environment)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Persistent:
    """A client that sends a request until it is answered: with a key, so that it is done once."""

    def __init__(self, bases, secret):
        self.bases = bases
        self.http = httpx.Client(headers={"Authorization": f"Bearer {secret}"}, timeout=60)
        self.again = 0

    def send(self, rng, path, body, key):
        end = time.monotonic() + PATIENCE
        while True:
            headers = {"Idempotency-Key": key}
            try:
                answer = self.http.post(rng.choice(self.bases) + API + path, json=body, headers=headers)
                if answer.status_code != 503:
                    assert answer.status_code in (200, 201), answer.text
                    return answer.json()
            except httpx.TransportError:
                pass
            assert time.monotonic() < end, "nobody answered"
            self.again += 1
            time.sleep(0.05)


class Panel:
    """A panel of the kept account with judges who answer one request after the other."""

    def __init__(self, bases, token, judges):
        self.bases, rng = bases, random.Random(0)
        self.api = api = Persistent(bases, token)
        self.id = api.send(rng, "/panels", {"title": "Upgraded"}, "panel")["id"]
        self.events = []
        for text in ("rain", "wind", "rain & wind"):
            draft = {"title": text, "events": [{"event": text}]}
            self.events.append(
                api.send(rng, f"/panels/{self.id}/questions", draft, text.replace(" ", ""))["events"][0]["id"]
            )
        made = [api.send(rng, f"/panels/{self.id}/judges", {"name": f"judge {n}"}, f"judge-{n}") for n in range(judges)]
        self.judges = [each["id"] for each in made]
        self.clients = [Persistent(bases, each["secret"]) for each in made]
        self.acknowledged = [[] for _ in made]
        self.ended = threading.Event()

    def answer(self, number, seed):
        """Answer until told to stop; a tenth of what was acknowledged is sent once more."""
        rng = random.Random(f"{seed} {number}")
        while not self.ended.is_set():
            key = f"{number}-{len(self.acknowledged[number])}"
            row = {"event": rng.choice(self.events), "probability": round(rng.random(), 6), "reason": key}
            for _ in range(1 + (rng.random() < 0.1)):
                self.clients[number].send(rng, "/sheet/answers", {"answers": [row]}, key)
            self.acknowledged[number].append((row["event"], row["probability"], key))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in (self.api, *self.clients):
            client.http.close()

    @property
    def count(self):
        return sum(map(len, self.acknowledged))

    def wait(self, more):
        """Wait until so many further answers were acknowledged."""
        wanted, end = self.count + more, time.monotonic() + PATIENCE
        while self.count < wanted:
            assert time.monotonic() < end, "judges do not get on"
            time.sleep(0.01)

    def check(self, store):
        for number, judge in enumerate(self.judges):
            history = store.forecasts.history(self.id, judge, limit=10**6)
            assert [(each.event, each.probability, each.reason) for each in history] == self.acknowledged[number]


@contextmanager
def answering(panel, seed):
    """Judges who answer meanwhile."""
    with ThreadPoolExecutor(len(panel.judges)) as pool:
        work = [pool.submit(panel.answer, number, seed) for number in range(len(panel.judges))]
        try:
            yield
        finally:
            panel.ended.set()
        for each in work:
            each.result()


def check_upgrade(store_url, schema, seed, answers, *, overlap=False):
    """Judges answer at a server of an earlier schema, which is stopped for two of this one; how many were sent again.

    With `overlap` the earlier one still serves when the new ones start, which nobody is told to do.
    """
    known, rng, port = kept_stores.restore("0003", store_url), random.Random(seed), free_port()
    servers = []

    def begin(server):
        servers.append(server)
        return server

    try:
        with earlier_code(schema) as start, ExitStack() as opened:
            old = begin(start(store_url, port))
            bases = [old.wait()]
            panel = opened.enter_context(Panel(bases, known["secrets"]["token"], 3))
            with answering(panel, seed):
                panel.wait(rng.randint(1, answers))
                if not overlap:
                    old.stop()
                    time.sleep(rng.uniform(0, 0.5))
                new = [begin(ServerProcess(store_url, 0 if overlap else port)), begin(ServerProcess(store_url))]
                found = [server.wait() for server in new]
                if overlap:
                    panel.wait(3)
                    old.stop()
                bases[:] = found
                panel.wait(answers)
            refused = begin(start(store_url, 0))
            assert "newer version" in refused.process.communicate(timeout=60)[1]
            assert refused.process.returncode not in (0, None)
        with open_store(store_url) as store:
            panel.check(store)
            now = kept_stores.told_of(store, known["told"]["panels"][0]["id"])
        assert kept_stores.held(known["told"], now) == known["told"]
    finally:
        for server in servers:
            server.end()
    return sum(client.again for client in panel.clients)
