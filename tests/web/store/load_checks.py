"""Many clients at once, and processes killed while they write: what was acknowledged is there, once."""

import multiprocessing
import os
import random
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from coherently.web.store import AnswerGiven, open_store
from coherently.web.store.identifiers import after
from tests.web import postgres

EVENTS = 20
WRITERS = 4
"""Number of threads that write in a process that is killed."""


def prepare(store, judges):
    panel = store.panels.create(store.accounts.local().id, "Load").id
    texts = [f"x{number}" for number in range(EVENTS)]
    events = [store.questions.add(panel, "yes-no", text, [(text, text)]).events[0].id for text in texts]
    return panel, [store.judges.add(panel, f"judge {number}").id for number in range(judges)], events


def check_submissions(url, clients, each, seed=0):
    """So many clients send so many forecasts with keys, a fifth of them twice, by two stores; returns the seconds."""
    stores = [open_store(url), open_store(url)]
    panel, judges, events = prepare(stores[0], clients)

    def client(number):
        rng = random.Random(seed * 1000 + number)
        for count in range(each):
            answer = [AnswerGiven(rng.choice(events), rng.random(), reason=f"{number} {count}")]
            first = rng.choice(stores).forecasts.record(judges[number], answer, key=f"key {count}")
            if rng.random() < 0.2:
                again = rng.choice(stores).forecasts.record(judges[number], answer, key=f"key {count}")
                assert again == first

    begun = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    seconds = time.perf_counter() - begun
    for store in stores:
        store.close()
    with open_store(url) as store:
        assert store.forecasts.count(panel) == clients * each
        history = store.forecasts.history(panel, limit=clients * each + 1)
        sent = {f"{number} {count}" for number in range(clients) for count in range(each)}
        assert {record.reason for record in history} == sent
        assert store.forecasts.latest(panel) == store.forecasts.latest(panel, as_of=after(3600))
        changes = store.changes.after(panel, 0, limit=2 * clients * each + 1000)
        assert Counter(change.kind for change in changes)["answers"] == clients * each
    return seconds


def check_submissions_on_postgres(clients, each):
    server = postgres.Server(durable=True)
    try:
        return check_submissions(server.new_database(), clients, each)
    finally:
        server.close()


def write_for_ever(url, judges, events, life, channel):
    """Record pairs of forecasts, and say the key of each after the call returned, until somebody kills this process."""
    store = open_store(url)
    lock = threading.Lock()

    def work(number):
        for count in range(10**9):
            key = f"{life} {number} {count}"
            pair = [AnswerGiven(event, 0.5, reason=key) for event in random.sample(events, 2)]
            store.forecasts.record(judges[number], pair, key=key)
            with lock:
                channel.send(key)

    for number in range(WRITERS):
        threading.Thread(target=work, args=(number,)).start()


def check_kills(seed, count, url=None):
    """Kill so many processes at random moments; returns the number of acknowledged writes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.web.store.load_checks"])
    rng = random.Random(seed)
    acknowledged = set()
    with tempfile.TemporaryDirectory() as folder:
        url = url or f"sqlite:///{folder}/store.db"
        with open_store(url) as store:
            panel, judges, events = prepare(store, WRITERS)
        for life in range(count):
            acknowledged |= _kill_one(context, (url, judges, events, life), rng)
            _check_store(url, panel, acknowledged)
    return len(acknowledged)


def _kill_one(context, arguments, rng):
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=write_for_ever, args=(*arguments, sender))
    child.start()
    sender.close()
    said = {receiver.recv()}
    deadline = time.monotonic() + rng.uniform(0, 0.2)
    while (left := deadline - time.monotonic()) > 0:
        if receiver.poll(left):
            said.add(receiver.recv())
    child.kill()
    child.join()
    try:
        while receiver.poll(0):
            said.add(receiver.recv())
    except (EOFError, OSError):  # the last message may be cut off
        pass
    receiver.close()
    child.close()
    return said


def _check_store(url, panel, acknowledged):
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(Path(url.removeprefix("sqlite:///")))) as file:
            assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    with open_store(url) as store:
        history = store.forecasts.history(panel, limit=10**9)
        keys = Counter(record.reason for record in history)
        assert set(keys.values()) == {2}, "a pair was recorded by half, or twice"
        assert acknowledged <= keys.keys(), acknowledged - keys.keys()
        assert store.forecasts.latest(panel) == store.forecasts.latest(panel, as_of=after(3600))
        changes = store.changes.after(panel, 0, limit=10**9)
        assert sum(change.kind == "answers" for change in changes) == len(keys)
        # Whoever was not told sends again: what was recorded is not recorded a second time.
        last = history[-1]
        pair = [
            AnswerGiven(record.event, 0.5, reason=last.reason) for record in history if record.reason == last.reason
        ]
        assert store.forecasts.record(last.judge, pair, key=last.reason)[-1].id == last.id
        assert store.forecasts.count(panel) == len(history)


if __name__ == "__main__":
    for name, run in {
        "SQLite, 100 x 100": lambda: check_submissions(f"sqlite:///{tempfile.mkdtemp()}/store.db", 100, 100),
        "PostgreSQL, 100 x 100": lambda: check_submissions_on_postgres(100, 100),
    }.items():
        seconds = run()
        print(
            f"{name}: {10_000 / seconds:,.0f} submissions per second ({seconds:.1f} s, load {os.getloadavg()[0]:.1f})"
        )
