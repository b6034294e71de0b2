"""A real workbench in a process of its own, and browsers that visit it."""

import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from urllib.parse import urlsplit

import httpx
import pytest

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
PATIENCE = 120.0
"""Seconds that a busy machine may take to start the workbench, or to show what a test waits for."""


class Served:
    """A process that serves the demo; what it prints is kept."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "coherently", "serve", "--port", "0", "--quiet", *options]
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH") if name in os.environ}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, env={**kept, "TZ": "UTC"}
        )
        self.printed = deque(maxlen=50)
        self._known = threading.Event()
        self.address = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._known.wait(PATIENCE):
            self.stop()
            pytest.fail(f"the workbench did not start: {' '.join(self.printed)}")

    def _read(self):
        for line in self.process.stdout:
            self.printed.append(line)
            found = re.search(r"http://[^/\s]+", line)
            if found:
                self.address = found[0]
                self._known.set()
        self._known.set()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The demo, in a store that is thrown away."""
    process = Served(tmp_path_factory.mktemp("served"), "--demo")
    assert process.address, " ".join(process.printed)
    yield process.address
    process.stop()


class Browser:
    """A browser without script: it follows addresses and sends forms, with the token of the last page."""

    def __init__(self, address):
        self.client = httpx.Client(base_url=address, follow_redirects=True, timeout=60.0)
        self.text = ""

    def get(self, path):
        return self._seen(self.client.get(path))

    def post(self, path, files=None, **fields):
        token = re.search(r'name="csrf_token" value="([^"]*)"', self.text)
        data = {"csrf_token": token[1] if token else "", **fields}
        headers = {"Origin": str(self.client.base_url).rstrip("/")}
        return self._seen(self.client.post(path, data=data, files=files, headers=headers))

    def _seen(self, answer):
        self.text = answer.text
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()


@pytest.fixture
def browser(served):
    with Browser(served) as made:
        made.get("/")
        yield made


class Seen:
    """A page that was opened, and everything that went wrong on it."""

    def __init__(self, chromium, address, path, size="desktop", scheme="light", context=None):
        self.context = context or chromium.new_context(
            viewport=dict(zip(("width", "height"), SIZES[size], strict=True)), color_scheme=scheme
        )
        self.troubles = []
        self.address = address
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.goto(address + path)
        self.page.wait_for_load_state("load")

    def _asked(self, url):
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.address:
            self.troubles.append(f"asked for {url}")

    def width(self):
        return self.page.evaluate("document.documentElement.scrollWidth")


@pytest.fixture(scope="session")
def panels(served):
    """The addresses of the demo's panels, once its versions are made: one is closed, of one the first round is open."""
    with Browser(served) as made:
        found = {title: path for path, title in re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', made.get("/").text)}
        closed = next(path for title, path in found.items() if "Norvik" in title)
        for _ in range(240):
            if "is being made" not in made.get(f"{closed}/results").text:
                break
            time.sleep(0.5)
    return {"closed": closed, "open": next(path for title, path in found.items() if "still open" in title)}
