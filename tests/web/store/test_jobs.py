"""The job table: each job is given to one worker at a time, and none is forgotten."""

import threading
import time

import pytest

from coherently.web.store import ConflictError, NotFoundError, open_store


def test_jobs_asked_for_in_one_millisecond_are_claimed_in_their_order(store, panel, monkeypatch):
    monkeypatch.setattr("coherently.web.store.resources.aggregation_resource.now", lambda: "2026-01-01T00:00:00.000Z")
    asked = [store.aggregations.request(panel.id).version for _ in range(8)]
    assert [store.aggregations.claim("w", 60).version for _ in asked] == asked


def test_a_job_from_its_request_to_its_result(store, panel):
    asked = store.aggregations.request(panel.id, {"method": "auto"}, {"seconds": 60}, "first", {"forecasts": [1, 0.5]})
    assert (asked.version, asked.status, asked.options, asked.limits) == (
        1,
        "queued",
        {"method": "auto"},
        {"seconds": 60},
    )
    assert store.aggregations.request(panel.id).version == 2
    assert store.aggregations.inputs(asked.id) == {"forecasts": [1, 0.5]}
    with pytest.raises(NotFoundError, match="queued"):
        store.aggregations.result(asked.id)
    assert store.aggregations.waiting(panel.id) == store.aggregations.waiting(owner=panel.owner) == 2
    claimed = store.aggregations.claim("w1", 60)
    assert (claimed.id, claimed.status, claimed.worker, claimed.attempts) == (asked.id, "running", "w1", 1)
    told = store.aggregations.progress(asked.id, "w1", 0.25, "solving", 60)
    assert (told.progress, told.progress_text, told.cancel_requested) == (0.25, "solving", False)
    done = store.aggregations.finish(asked.id, "w1", {"rows": [0.1 + 0.2]}, {"status": "optimal"})
    assert (done.status, done.progress, done.summary) == ("done", 1.0, {"status": "optimal"})
    assert store.aggregations.result(asked.id) == {"rows": [0.1 + 0.2]}
    assert store.aggregations.annotate(asked.id, "kept").note == "kept"
    assert [each.version for each in store.aggregations.list(panel.id)] == [1, 2]
    assert store.aggregations.counts() == {"queued": 1, "running": 0, "done": 1, "failed": 0, "cancelled": 0}
    assert store.aggregations.waiting() == 1
    statuses = [each.data["status"] for each in store.changes.after(panel.id, 0) if each.kind == "aggregation"]
    assert statuses == ["queued", "queued", "running", "running", "done", "done"]


def test_only_its_worker_may_end_a_job(store, panel):
    asked = store.aggregations.request(panel.id)
    for call in (
        lambda worker: store.aggregations.progress(asked.id, worker, 0.5),
        lambda worker: store.aggregations.finish(asked.id, worker, {}, {}),
        lambda worker: store.aggregations.fail(asked.id, worker, "no"),
        lambda worker: store.aggregations.stopped(asked.id, worker),
    ):
        with pytest.raises(ConflictError):
            call("w1")
    store.aggregations.claim("w1", 60)
    with pytest.raises(ConflictError, match="w2"):
        store.aggregations.finish(asked.id, "w2", {}, {})
    failed = store.aggregations.fail(asked.id, "w1", "out of memory")
    assert (failed.status, failed.error) == ("failed", "out of memory")
    with pytest.raises(ConflictError):
        store.aggregations.finish(asked.id, "w1", {}, {})
    with pytest.raises(ConflictError, match="failed"):
        store.aggregations.cancel(asked.id)


def test_a_lost_job_is_begun_once_more(store, panel):
    asked = store.aggregations.request(panel.id)
    other = store.aggregations.request(panel.id)
    assert store.aggregations.claim("w1", -1).id == asked.id
    again = store.aggregations.claim("w2", -1)
    assert (again.id, again.worker, again.attempts) == (asked.id, "w2", 2)
    with pytest.raises(ConflictError):
        store.aggregations.finish(asked.id, "w1", {}, {})
    assert store.aggregations.claim("w3", 60).id == other.id
    failed = store.aggregations.get(asked.id)
    assert (failed.status, failed.attempts) == ("failed", 2)
    assert "lost 2 times" in failed.error
    assert store.aggregations.claim("w4", 60) is None


def test_a_lease_holds_until_it_is_over(store, panel):
    asked = store.aggregations.request(panel.id)
    store.aggregations.claim("w1", 60)
    assert store.aggregations.claim("w2", 60) is None
    store.aggregations.progress(asked.id, "w1", 0.5, lease_seconds=0.05)
    time.sleep(0.1)
    assert store.aggregations.claim("w2", 60).worker == "w2"


def test_cancelling(store, panel):
    waiting, running = store.aggregations.request(panel.id), store.aggregations.request(panel.id)
    assert store.aggregations.cancel(waiting.id).status == "cancelled"
    assert store.aggregations.claim("w1", 60).id == running.id
    assert store.aggregations.cancel(running.id).status == "running"
    assert store.aggregations.progress(running.id, "w1", 0.5).cancel_requested
    assert store.aggregations.stopped(running.id, "w1").status == "cancelled"
    lost = store.aggregations.request(panel.id)
    store.aggregations.claim("w1", -1)
    store.aggregations.cancel(lost.id)
    assert store.aggregations.claim("w2", 60) is None
    assert store.aggregations.get(lost.id).status == "cancelled"


def test_many_workers_get_each_job_once(store, store_url, panel):
    jobs = [store.aggregations.request(panel.id).id for _ in range(40)]
    got, lock = [], threading.Lock()

    def work(name):
        with open_store(store_url) as own:
            while (job := own.aggregations.claim(name, 60)) is not None:
                with lock:
                    got.append(job.id)
                own.aggregations.finish(job.id, name, {}, {})

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted(jobs)
    assert store.aggregations.counts()["done"] == 40
