"""Durable before acknowledged, one writer, and clear words when the disk or the server fails."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event, text

from coherently.web.store import (
    AnswerGiven,
    ConflictError,
    NewerStoreError,
    StoreError,
    StoreUnavailableError,
    default_url,
    open_store,
)
from coherently.web.store.database.schema import METADATA
from coherently.web.store.database.schema_version import LAST, version_text
from tests.web import postgres


def writer_engine(store):
    return store._database._writer._engine


def all_at_once(store, actions):
    """Run writes that end up in one transaction: they queue while the writer is held."""
    held, go = threading.Event(), threading.Event()

    def hold():
        held.set()
        go.wait()

    with ThreadPoolExecutor(len(actions) + 1) as pool:
        first = pool.submit(store.write, hold)
        held.wait()
        futures = []
        for action in actions:
            futures.append(pool.submit(action))
            while store._database._writer._queue.qsize() < len(futures):
                time.sleep(0.001)
        go.set()
        first.result()
        return [future.exception() or future.result() for future in futures]


def test_the_schema_is_that_of_the_migrations(store):
    def action(connection):
        options = {"target_metadata": METADATA, "version_table": "schema_version", "compare_type": False}
        return compare_metadata(MigrationContext.configure(connection, opts=options), METADATA)

    assert store._database.read(action) == []


def test_a_newer_database_is_refused_and_not_changed(store_url):
    with open_store(store_url) as store:
        panel = store.panels.create(store.accounts.local().id, "kept")
        store._database.write(
            lambda connection: connection.execute(text("UPDATE schema_version SET version_num = '9999'"))
        )
    with pytest.raises(NewerStoreError, match=r"newer version of Coherently .schema 9999; .* install that version"):
        open_store(store_url)
    again = f"UPDATE schema_version SET version_num = '{version_text(LAST)}'"
    if store_url.startswith("sqlite"):
        with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"))) as file:
            file.execute(again)
            file.commit()
    else:
        with psycopg.connect(store_url) as connection:
            connection.execute(again)
    with open_store(store_url) as store:
        assert store.panels.get(panel.id) == panel


def test_a_database_of_another_program_is_refused(tmp_path, postgres_server):
    with closing(sqlite3.connect(tmp_path / "other.db")) as file:
        file.execute("CREATE TABLE customers (id)")
    with pytest.raises(StoreError, match=r"another program .customers"):
        open_store(f"sqlite:///{tmp_path}/other.db")
    url = postgres_server.new_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE customers (id int)")
    with pytest.raises(StoreError, match=r"another program .customers"):
        open_store(url)


def test_many_open_an_empty_database_at_once(store_url):
    def work(number):
        with open_store(store_url) as store:
            return store.accounts.create(f"account {number}").name

    with ThreadPoolExecutor(6) as pool:
        names = list(pool.map(work, range(6)))
    with open_store(store_url) as store:
        assert sorted(names) == [account.name for account in store.accounts.list()]


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "postgresql:/x", "sqlite://host/x.db", "sqlite:///x.db?mode=ro", "x", ""]
)
def test_urls_that_name_no_store(url):
    with pytest.raises(StoreError, match=r"name a file that ends in \.db"):
        open_store(url)


def test_a_path_names_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_store("new/panels.db") as store:
        store.accounts.create("Ann")
    with open_store(f"sqlite:///{tmp_path}/new/panels.db") as store:
        assert [account.name for account in store.accounts.list()] == ["Ann"]


def test_files_that_are_no_store(tmp_path):
    (tmp_path / "text.db").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailableError, match="not a database of SQLite"):
        open_store(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}")
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


def test_the_default_is_a_private_file_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_url() == f"sqlite:///{tmp_path}/coherently/workbench.db"
    with open_store() as store:
        store.accounts.local()
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "coherently").iterdir()}
        assert set(modes.values()) == {"0o600"}, modes
        assert oct((tmp_path / "coherently").stat().st_mode & 0o777) == "0o700"


def test_passwords_are_not_told():
    with pytest.raises(StoreUnavailableError) as refused:
        open_store("postgresql://ann:geheim@127.0.0.1:1/none")
    assert "geheim" not in str(refused.value)


def test_sqlite_is_set_up_to_be_durable(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/x.db") as store:
        asked = ("journal_mode", "synchronous", "foreign_keys")
        told = store._database.write(lambda c: [c.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked])
        assert told == ["wal", 2, 1]
        assert store._database.read(lambda c: c.exec_driver_sql("PRAGMA query_only").scalar()) == 1


def test_nothing_is_acknowledged_before_commit(store, panel):
    """A commit that fails is the failure of every write in it."""

    def refuse(_):
        raise sqlite3.OperationalError("disk I/O error")

    engine = writer_engine(store)
    event.listen(engine, "commit", refuse)
    with pytest.raises(StoreUnavailableError, match="not sure that this was kept"):
        store.laws.add(panel.id, "a")
    event.remove(engine, "commit", refuse)
    assert store.laws.list(panel.id) == ()
    store.laws.add(panel.id, "b")
    assert [law.statement for law in store.laws.list(panel.id)] == ["b"]


def test_queued_writes_share_a_commit_and_fail_alone(store, panel):
    commits = []
    event.listen(writer_engine(store), "commit", commits.append)

    def half():
        def action():
            store.laws.add(panel.id, "half")
            raise ConflictError("no")

        return store.write(action)

    answers = all_at_once(store, [lambda: store.laws.add(panel.id, "a"), half, lambda: store.laws.add(panel.id, "b")])
    assert len(commits) == 2  # the one that held the writer, and that of the three
    assert [type(answer).__name__ for answer in answers] == ["LawRecord", "ConflictError", "LawRecord"]
    assert [law.statement for law in store.laws.list(panel.id)] == ["a", "b"]


def test_if_the_transaction_is_lost_nobody_is_told_that_it_was_kept(store, panel):
    """SQLite takes a whole transaction back when the disk is full, and a server may end a connection."""

    def lose():
        def action(connection):
            if store.kind == "sqlite":
                connection.connection.dbapi_connection.execute("ROLLBACK")
                raise sqlite3.OperationalError("database or disk is full")
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

        return store._database.write(action)

    answers = all_at_once(store, [lambda: store.laws.add(panel.id, "a"), lose, lambda: store.laws.add(panel.id, "b")])
    assert {type(answer) for answer in answers} == {StoreUnavailableError}
    assert store.laws.list(panel.id) == ()
    store.laws.add(panel.id, "c")
    assert len(store.laws.list(panel.id)) == 1


def test_two_processes_write_one_after_the_other(store_url):
    """Numbers that depend on what stands are given once, also where several writers read them first."""
    stores = [open_store(store_url) for _ in range(3)]
    panel = stores[0].panels.create(stores[0].accounts.local().id, "x").id
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda number: stores[number % 3].aggregations.request(panel).version, range(60)))
    changes = stores[0].changes.after(panel, 0)
    assert sorted(made) == list(range(1, 61))
    assert [change.data["version"] for change in changes if change.kind == "aggregation"] == list(range(1, 61))
    for store in stores:
        store.close()


def test_changes_are_seen_in_order_while_many_write(store_url):
    """Whoever asks for what comes after the last change it saw misses none."""
    stores = [open_store(store_url) for _ in range(3)]
    panel = stores[0].panels.create(stores[0].accounts.local().id, "x").id
    seen, done = [], threading.Event()

    def watch():
        last = 0
        with open_store(store_url) as own:
            while not (done.is_set() and not own.changes.after(panel, last)):
                for change in own.changes.after(panel, last):
                    seen.append(change.id)
                    last = change.id

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: stores[number % 3].laws.add(panel, f"law {number}"), range(60)))
    done.set()
    watcher.join()
    assert seen == [change.id for change in stores[0].changes.after(panel, 0)]
    assert len(seen) == 61
    for store in stores:
        store.close()


def fill_until_refused(store, judge, event_id):
    for kept in range(10_000):
        try:
            store.forecasts.record(judge, [AnswerGiven(event_id, 0.5, reason=f"{kept} " * 2000)], key=str(kept))
        except StoreUnavailableError as error:
            return kept, error
    raise AssertionError("the disk did not fill up")


def prepare(store):
    panel = store.panels.create(store.accounts.local().id, "x").id
    question = store.questions.add(panel, "yes-no", "a", [("a", "a")])
    return panel, store.judges.add(panel, "Ann").id, question.events[0].id


def test_a_full_disk_loses_nothing_and_the_store_comes_back(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/x.db") as store:
        panel, judge, event_id = prepare(store)

        def limit(pages):
            store._database.write(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {pages}").scalar())

        limit(400)
        kept, error = fill_until_refused(store, judge, event_id)
        assert "disk of the store is full: make room" in str(error)
        assert store.forecasts.count(panel) == kept > 10
        limit(2**30)
        store.forecasts.record(judge, [AnswerGiven(event_id, 0.5, reason=f"{kept} " * 2000)], key=str(kept))
        assert store.forecasts.count(panel) == kept + 1
        assert store._database.read(lambda c: c.exec_driver_sql("PRAGMA integrity_check").scalar()) == "ok"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_really_full_disk_too(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", disk]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        (disk / "ballast").write_bytes(bytes(2**20))
        with open_store(f"sqlite:///{disk}/x.db") as store:
            panel, judge, event_id = prepare(store)
            kept, error = fill_until_refused(store, judge, event_id)
            assert "make room" in str(error) or "look at the disk" in str(error)
            assert "kept" in str(error)
            assert store.forecasts.count(panel) == kept > 10
            (disk / "ballast").unlink()
            store.forecasts.record(judge, [AnswerGiven(event_id, 0.5, reason=f"{kept} " * 2000)], key=str(kept))
            assert store.forecasts.count(panel) == kept + 1
        with open_store(f"sqlite:///{disk}/x.db") as store:
            assert store.forecasts.count(panel) == kept + 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_server_with_a_full_disk(postgres_server):
    with open_store(postgres_server.new_database()) as store:
        panel, judge, event_id = prepare(store)
        full = "BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END"
        make = f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ {full} $$"
        trigger = "CREATE TRIGGER full_disk BEFORE INSERT ON forecast EXECUTE FUNCTION full_disk()"
        store._database.write(lambda c: [c.execute(text(each)) for each in (make, trigger)])
        with pytest.raises(StoreUnavailableError, match="server is full: make room"):
            store.forecasts.record(judge, [AnswerGiven(event_id, 0.5)])
        store._database.write(lambda c: c.execute(text("DROP TRIGGER full_disk ON forecast")))
        store.forecasts.record(judge, [AnswerGiven(event_id, 0.5)])
        assert store.forecasts.count(panel) == 1


def test_a_server_that_crashes_loses_nothing_and_is_found_again():
    if postgres.find_programs() is None:
        pytest.skip(postgres.MISSING)
    server = postgres.Server(durable=True)
    try:
        with open_store(server.new_database()) as store:
            panel, judge, event_id = prepare(store)
            for number in range(20):
                store.forecasts.record(judge, [AnswerGiven(event_id, number / 20)])
            server.kill()
            for ask in (store.ready, lambda: store.laws.add(panel, "a"), lambda: store.panels.get(panel)):
                with pytest.raises(StoreUnavailableError, match="does not answer"):
                    ask()
            server.start()
            store.ready()
            assert [each.probability for each in store.forecasts.history(panel)] == [n / 20 for n in range(20)]
            store.forecasts.record(judge, [AnswerGiven(event_id, 1.0)])
    finally:
        server.close()


def test_a_backup_is_taken_while_the_store_is_used(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/x.db") as store:
        panel, judge, event_id = prepare(store)
        stop = threading.Event()

        def write():
            number = 0
            while not stop.is_set():
                pair = [AnswerGiven(event_id, 0.1, reason=str(number)), AnswerGiven(event_id, 0.2, reason=str(number))]
                store.forecasts.record(judge, pair)
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(3):
                before = store.forecasts.count(panel)
                store.backup(tmp_path / f"{number}.db")
                with open_store(f"sqlite:///{tmp_path}/{number}.db") as copy:
                    count = copy.forecasts.count(panel)
                    assert count >= before
                    assert count % 2 == 0
                    assert copy.forecasts.history(panel) == store.forecasts.history(panel, limit=count)[:count]
        finally:
            stop.set()
            thread.join()
        store.backup(tmp_path / "0.db")
        assert (tmp_path / "0.db").stat().st_mode & 0o777 == 0o600
        assert not list(tmp_path.glob(".*"))
        with pytest.raises(StoreError, match="the store itself"):
            store.backup(tmp_path / "x.db")
        with pytest.raises(StoreUnavailableError, match="nothing is left behind"):
            store.backup(tmp_path / "nowhere" / "x.db")


def test_a_server_is_backed_up_by_its_own_tool(postgres_server, tmp_path):
    url = postgres_server.new_database()
    with open_store(url) as store:
        assert store.url == url
        with pytest.raises(StoreError, match=f"pg_dump --format=custom {url}"):
            store.backup(tmp_path / "x.db")


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreUnavailableError, match="closed"):
        store.accounts.create("Ann")


def test_a_scratch_store_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_store("sqlite://") as store:
        assert store.kind == "sqlite"
        store.accounts.local()
    assert not list(tmp_path.iterdir())


def test_importing_the_library_imports_no_database():
    code = (
        "import sys, coherently, coherently.cli\n"
        "print([name for name in sys.modules if name.startswith(('sqlalchemy', 'coherently.web'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
