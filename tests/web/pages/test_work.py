"""Aggregations that are under way, on a workbench whose workers do not run."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from coherently.web.server import make_app
from coherently.web.settings import ServiceSettings
from coherently.web.store import AnswerGiven
from tests.web.pages.test_without_script import words

ADDRESS = "http://127.0.0.1:8420"


class Idle:
    """A browser of a workbench that is not started: its workers belong to its lifespan, so that jobs wait."""

    def __init__(self, store_url):
        self.app = make_app(ServiceSettings(store_url=store_url, log_requests=False))
        self.store = self.app.bench.store
        self.cookies = {}

    def ask(self, method, path, **options):
        async def once():
            transport = httpx.ASGITransport(self.app, client=("127.0.0.1", 50000))
            client = httpx.AsyncClient(
                transport=transport, base_url=ADDRESS, cookies=self.cookies, follow_redirects=True, timeout=60.0
            )
            async with client:
                answer = await client.request(method, path, headers={"Origin": ADDRESS}, **options)
                self.cookies = dict(client.cookies)
                return answer

        # A browser of another test may have left its event loop running in this thread.
        with ThreadPoolExecutor(1) as elsewhere:
            return elsewhere.submit(lambda: asyncio.run(once())).result()

    def get(self, path):
        return self.ask("GET", path)

    def send(self, path, **fields):
        token = re.search(r'name="csrf_token" value="([^"]*)"', self.get("/").text)[1]
        return self.ask("POST", path, data={"csrf_token": token, **fields})


@pytest.fixture
def idle(tmp_path):
    made = Idle(f"sqlite:///{tmp_path}/store.db")
    yield made
    made.store.close()


def test_work_in_progress_is_shown_and_can_be_cancelled(idle):
    panel = idle.send("/panels", title="A panel", first="Rain").url.path.removesuffix("/questions")
    assert "Nobody has answered yet." in words(idle.get(f"{panel}/results").text)
    assert idle.send(f"{panel}/aggregations").status_code == 422
    store = idle.store
    judge = store.judges.add(panel.split("/")[-1], "Ann")
    event = store.questions.list(judge.panel)[0].events[0]
    store.forecasts.record(judge.id, [AnswerGiven(event.id, 0.3)])
    page = idle.send(f"{panel}/aggregations", note="As of noon").text
    assert "Version 1 is being made" in words(page)
    assert "0 % done. It waits for its turn." in words(page).replace("\u00a0", " ")
    job = re.search(r"/aggregations/(a_\w+)/cancel", page)[1]
    store.aggregations.claim("a worker", 60.0)
    store.aggregations.progress(job, "a worker", 0.4, "Aggregating")
    assert "40 % done. Aggregating." in words(idle.get(f"{panel}/results").text).replace("\u00a0", " ")
    page = idle.send(f"{panel}/aggregations/{job}/cancel").text
    assert "Version 1 is cancelled." in words(page)
    store.aggregations.stopped(job, "a worker")
    assert "Cancelled." in words(idle.get(f"{panel}/results").text)


def test_a_version_that_failed_says_why(idle):
    panel = idle.send("/panels", title="A panel", first="Rain").url.path.removesuffix("/questions")
    store = idle.store
    job = store.aggregations.request(panel.split("/")[-1])
    store.aggregations.claim("a worker", 60.0)
    store.aggregations.fail(job.id, "a worker", "It took too much memory.")
    said = words(idle.get(f"{panel}/results").text)
    assert "Version 1 could not be made: It took too much memory." in said
