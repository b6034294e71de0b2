"""Stores that earlier versions of the schema made, kept so that every later version can be tried on them.

`python -m tests.web.store.kept_stores` writes the one of the present version, with what it holds beside it: run it
before a change of the schema, and keep the three files. They are never made anew: a store that later code made would
not show what it did to those of earlier code.
"""

import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import psycopg

from coherently.web.access.callers import AccountCaller
from coherently.web.access.workbench import Workbench
from coherently.web.jobs.job_watch import run_next
from coherently.web.operations.aggregation_operations import request_aggregation
from coherently.web.settings import ServiceSettings
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.store import AnswerGiven, open_store
from coherently.web.store.database.schema_version import LAST, version_text
from tests.web import postgres

KEPT = Path(__file__).with_name("kept")
PASSWORD = "a password for tests"
TITLE = "Kept: “rain”, wind & Größe"


def fill(store):
    """A panel in which everything that the store knows has happened at least once; what was secret is returned."""
    account = store.accounts.create("Ann the facilitator", PASSWORD)
    panel = store.panels.create(account.id, TITLE, description="Zwölf", settings={"kept": ["wind"]}).id
    rain = store.questions.add(panel, "yes-no", "Does it rain?", [("rain", "rain")], "By noon.", "Weather")
    wind = store.questions.add(panel, "yes-no", "Is there wind?", [("wind", "wind")], "", "Weather")
    store.questions.add(panel, "conditional", "Rain if wind", [("rain given wind", "rain if wind")])
    gone = store.questions.add(panel, "yes-no", "Asked no longer", [("fog", "fog")])
    steps = [("depth > 1", "above 1"), ("depth > 2", "above 2")]
    deep = store.questions.add(panel, "ladder", "How deep?", steps, declaration="variable depth: number")
    store.laws.add(panel, "fog -> ~wind", "No fog in the wind")
    store.laws.add(panel, "wind -> ~fog", "Found", origin="words")
    dropped = store.laws.add(panel, "rain -> wind", "Dropped").id
    ann, ann_link = store.judges.invite(panel, "Ann", "ann@example.org")
    bob, bob_link = store.judges.invite(panel, "Bób")
    cem, _ = store.judges.invite(panel, "Cem")
    store.judges.add(panel, "From a file")
    store.judges.opened(ann.id)
    store.judges.set_person(bob.id, "Robert")
    sent, failed = (store.messages.add(ann.id, "invitation", 1, "https://example.org").id for _ in range(2))
    store.messages.end(sent, "sent")
    store.messages.end(failed, "failed", "No such mailbox.")
    about = {"kind": "implies", "events": ["fog", "wind"]}
    store.decisions.record(panel, "reject", about, decided_by="Ann the facilitator", reason="Both can be.")
    events = [event.id for question in store.questions.list(panel) for event in question.events]
    store.forecasts.record(ann.id, [AnswerGiven(e, 0.2 + 0.1 * n, reason="why") for n, e in enumerate(events)], "k 1")
    store.forecasts.record(ann.id, [AnswerGiven(events[0], 1 / 3, locked=True), AnswerGiven(events[1], withdrawn=True)])
    store.forecasts.record(bob.id, [AnswerGiven(events[0], 0.1), AnswerGiven(events[2])])
    store.judges.hand_in(ann.id)
    store.meant.say(ann.id, "a key", "A sentence.", "Meant.")
    store.meant.say(ann.id, "another", "A sentence.")
    store.meant.take_back(ann.id, "another")
    store.drawn.keep(ann.id, deep.id, {"knots": [[0, 0], [2.5, 1]]})
    store.drawn.keep(bob.id, deep.id, {"knots": [[0, 0], [1, 1]]})
    store.drawn.keep(bob.id, deep.id, {})
    store.questions.withdraw(gone.id)
    store.laws.drop(dropped)
    store.rounds.advance(panel, "discussion", hide_numbers=False)
    reply = store.comments.add(panel, "Why?", bob.id, rain.id, about=ann.id)
    store.comments.add(panel, "From the facilitator.")
    store.comments.hide(reply.id)
    store.reactions.add(rain.id, ann.id, bob.id)
    store.reactions.add(wind.id, ann.id)
    store.reactions.take_back(wind.id, ann.id)
    store.rounds.advance(panel, "revision", "2031-05-01T12:00:00Z")
    store.forecasts.record(bob.id, [AnswerGiven(events[0], 0.25)])
    store.judges.revoke(cem.id)
    store.rounds.advance(panel, "closed")
    caller = AccountCaller(account.id, account.name)
    request_aggregation(Workbench(store, ServiceSettings(store.url)), caller, panel, AggregationDraft(note="First"))
    run_next(store, "kept stores")
    store.outcomes.record(panel, "rain", True, "Seen.")
    store.outcomes.record(panel, "depth", 1.5)
    for note in ("For the board", "Withdrawn"):
        link, _ = store.report_links.make(panel, note, with_names=True)
    store.report_links.revoke(panel, link.id)
    report = store.report_links.make(panel, "For all")[1]
    store.panels.edit(panel, tag="Weather", aside=True)
    store.panels.delete(store.panels.create(account.id, "Deleted").id)
    token = store.tokens.create(account.id, "A token")[1]
    cookie = store.sessions.open(judge=bob.id, seconds=1e9)[1]
    return {"ann": ann_link, "bob": bob_link, "token": token, "cookie": cookie, "report": report}


def held(before, after):
    """What was there before, of what is there after: a later version may add fields, and changes none."""
    if isinstance(before, dict):
        return {name: held(value, after[name]) for name, value in before.items()}
    if isinstance(before, list):
        assert len(before) == len(after)
        return [held(*pair) for pair in zip(before, after, strict=True)]
    return after


def told(store):
    """All that the store gives out, as plain values."""
    (panel,) = store.panels.list(store.accounts.by_name("Ann the facilitator").id)
    return told_of(store, panel.id)


def told_of(store, name):
    """All that the store gives out of a panel and its account."""
    panel = store.panels.get(name)
    account = store.accounts.get(panel.owner)
    lists = {
        "panels": [panel],
        "accounts": [account],
        "questions": store.questions.list(panel.id, withdrawn=True),
        "laws": store.laws.list(panel.id, dropped=True),
        "judges": store.judges.list(panel.id),
        "hand_ins": store.judges.hand_ins(panel.id),
        "rounds": store.rounds.list(panel.id),
        "history": store.forecasts.history(panel.id),
        "latest": store.forecasts.latest(panel.id),
        "outcomes": store.outcomes.history(panel.id),
        "comments": store.comments.list(panel.id),
        "reactions": store.reactions.list(panel.id, taken_back=True),
        "meant": store.meant.list(panel.id, taken_back=True),
        "drawn": store.drawn.history(panel.id),
        "decisions": store.decisions.list(panel.id),
        "messages": store.messages.list(panel.id),
        "report_links": store.report_links.list(panel.id),
        "deleted": store.panels.deleted(account.id),
        "tokens": store.tokens.list(account.id),
        "aggregations": (versions := store.aggregations.list(panel.id)),
    }
    found = {name: [record.as_dict() for record in records] for name, records in lists.items()}
    found["inputs"] = [store.aggregations.inputs(version.id) for version in versions]
    found["results"] = [store.aggregations.result(version.id) for version in versions]
    return json.loads(json.dumps(found))


def keep():
    """Write the store of this version: a file of SQLite, a dump of PostgreSQL, and what each of them holds."""
    name, known = version_text(LAST), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with open_store(f"sqlite:///{path}") as store:
            known["sqlite"] = {"secrets": fill(store), "told": told(store)}
        with closing(sqlite3.connect(path)) as file:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with path.open("rb") as made, gzip.GzipFile(KEPT / f"{name}.sqlite.db.gz", "wb", mtime=0) as packed:
            shutil.copyfileobj(made, packed)
    with closing(postgres.Server()) as server:
        url = server.new_database()
        with open_store(url) as store:
            known["postgresql"] = {"secrets": fill(store), "told": told(store)}
        options = ["--inserts", "--no-owner", "--no-comments"]
        dump = subprocess.run([shutil.which("pg_dump"), *options, url], check=True, capture_output=True).stdout
    lines = [line for line in dump.splitlines(keepends=True) if line.strip() and not line.startswith((b"--", b"\\"))]
    (KEPT / f"{name}.postgresql.sql.gz").write_bytes(gzip.compress(b"".join(lines), mtime=0))
    (KEPT / f"{name}.told.json.gz").write_bytes(gzip.compress(json.dumps(known).encode(), mtime=0))


def restore(version, url):
    """Make the kept store of a version at an empty address; what it must hold, and its secrets."""
    if url.startswith("sqlite"):
        kind, path = "sqlite", Path(url.removeprefix("sqlite:///"))
        path.write_bytes(gzip.decompress((KEPT / f"{version}.sqlite.db.gz").read_bytes()))
    else:
        kind, text = "postgresql", gzip.decompress((KEPT / f"{version}.postgresql.sql.gz").read_bytes())
        with psycopg.connect(url) as connection:
            connection.execute(text)
    return json.loads(gzip.decompress((KEPT / f"{version}.told.json.gz").read_bytes()))[kind]


def versions():
    """The versions of which stores are kept."""
    return sorted(path.name.partition(".")[0] for path in KEPT.glob("*.told.json.gz"))


if __name__ == "__main__":
    if version_text(LAST) in versions():
        sys.exit(f"The store of version {version_text(LAST)} is kept already.")
    keep()
