"""One description of a stored field gives its column, its record and its place in archives, also for older stores."""

import json
import sqlite3
from contextlib import closing
from dataclasses import fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import psycopg
import pytest
from sqlalchemy import Column, MetaData, Table, Text, inspect

from coherently.web.store import (
    NewerStoreError,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
    open_store,
    store_records,
)
from coherently.web.store.archives.archive_files import pack, read_json, unpack
from coherently.web.store.archives.archive_rows import archive_row, read_row
from coherently.web.store.archives.archived_fields import ArchivedFields
from coherently.web.store.database import schema, schema_version
from coherently.web.store.database.schema import METADATA, TABLES, columns
from coherently.web.store.database.schema_version import LAST, version_text
from coherently.web.store.store_records import PanelRecord, StoredRecord
from coherently.web.store.stored_fields import FLAG, WORDS, stored_fields

SCHEMAS = Path(__file__).with_name("schemas")


def run(url, sql):
    """Run statements on a database that is not open as a store."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            file.executescript(sql)
    else:
        with psycopg.connect(url) as connection:
            connection.execute(sql)


def make_old_store(url, version="0001"):
    kind = "sqlite" if url.startswith("sqlite") else "postgresql"
    run(url, (SCHEMAS / f"{version}.{kind}.sql").read_text())


def panel_of_old_store(url):
    """A panel as the first version of the schema has it."""
    now = "2026-01-01T00:00:00.000Z"
    run(
        url,
        f"INSERT INTO account (id, name, created_at) VALUES ('u_1', 'local', '{now}');"
        f"INSERT INTO panel (id, owner, title, description, settings, created_at) VALUES "
        f"('p_1', 'u_1', 'Old', 'd', '{{}}', '{now}');"
        f"INSERT INTO round_phase (panel, number, phase, hide_numbers, since) VALUES "
        f"('p_1', 1, 'private', {'1' if url.startswith('sqlite') else 'true'}, '{now}');",
    )


def test_a_store_of_the_first_version_becomes_one_of_this(store_url):
    make_old_store(store_url)
    panel_of_old_store(store_url)
    with open_store(store_url) as store:
        panel = store.panels.get("p_1")
        assert (panel.title, panel.description, panel.tag) == ("Old", "d", "")
        assert store.panels.edit("p_1", tag="economy").tag == "economy"
        there = store._database.read(
            lambda c: {name: {column["name"] for column in inspect(c).get_columns(name)} for name in METADATA.tables}
        )
        goes = store._database.read(lambda c: inspect(c).get_foreign_keys("comment"))
    assert there == {name: {column.name for column in table.columns} for name, table in METADATA.tables.items()}
    assert {tuple(one["constrained_columns"]): one["referred_table"] for one in goes}["about",] == "judge"
    with open_store(store_url) as store:
        assert store.panels.get("p_1").tag == "economy"
        ann, bob = (store.judges.add("p_1", name).id for name in ("Ann", "Bob"))
        reply = store.comments.add("p_1", "Why?", bob, about=ann).id
        store._database.write(lambda c: c.exec_driver_sql(f"DELETE FROM judge WHERE id = '{ann}'"))
        with pytest.raises(NotFoundError):  # a reply goes with the judge whose reason it is about
            store.comments.get(reply)


def test_an_added_field_is_in_table_record_archive_and_older_stores(store_url, monkeypatch):
    """The worked change of CONTRIBUTING: a field in the description, and nothing else."""
    added = [("colour", Annotated[str, replace(WORDS, since=LAST + 1)], "blue")]
    added += [("pinned", Annotated[bool, replace(FLAG, since=LAST + 1)], True)]
    described = make_dataclass("PanelRecord", added, bases=(PanelRecord,), frozen=True)
    monkeypatch.setattr(schema, "METADATA", MetaData())
    monkeypatch.setattr(schema, "TABLES", {})
    Table("account", schema.METADATA, Column("id", Text, primary_key=True))
    monkeypatch.setattr(schema_version, "TABLES", {described: schema._table("panel", described)})
    monkeypatch.setattr(schema_version, "LAST", LAST + 1)
    make_old_store(store_url)
    panel_of_old_store(store_url)
    with open_store(store_url) as store:
        row = store._database.read(lambda c: c.exec_driver_sql("SELECT * FROM panel").mappings().one())
    assert (row["title"], row["tag"], row["colour"], bool(row["pinned"])) == ("Old", "", "blue", True)
    record = described(id="p_1", owner="u_1", title="T", created_at="2026-01-01T00:00:00.000Z", colour="red")
    told = archive_row(record, {})
    assert (told["colour"], told["pinned"]) == ("red", True)
    again = read_row(described, ArchivedFields(told, "panel"), {})
    assert described(id="p_1", owner="u_1", **again) == record
    older = {name: value for name, value in told.items() if name not in ("colour", "pinned")}
    assert read_row(described, ArchivedFields(older, "panel"), {})["colour"] == "blue"


@pytest.mark.parametrize("record", TABLES, ids=lambda record: record.__name__)
def test_what_is_selected_is_the_record_by_name(record):
    derived = {"has_password", "has_link", "events"}
    assert {column.key for column in columns(record)} == {field.name for field in fields(record)} - derived


def test_every_record_is_described():
    """A field without a kind would be forgotten by the schema: only what is worked out has none."""
    every = [one for one in vars(store_records).values() if isinstance(one, type) and issubclass(one, StoredRecord)]
    unkept = {
        f"{record.__name__}.{field.name}"
        for record in every
        if record is not StoredRecord
        for field in fields(record)
        if field.name not in {one.name for one in stored_fields(record)}
    }
    assert unkept == {"AccountRecord.has_password", "JudgeRecord.has_link", "QuestionRecord.events"}
    assert set(TABLES) == set(every) - {StoredRecord}
    assert "title" in get_type_hints(PanelRecord)
    assert get_args(get_type_hints(PanelRecord, include_extras=True)["title"])[1] is WORDS


def test_an_archive_without_a_later_field_is_read(store, panel):
    store.panels.edit(panel.id, tag="economy")
    parts = unpack(store.archive.export(panel.id))
    told = read_json(parts["panel.json"], "panel.json")
    assert told["panel"]["tag"] == "economy"
    assert store.archive.import_panel(pack(parts), panel.owner).tag == "economy"
    del told["panel"]["tag"]
    older = pack({**parts, "panel.json": json.dumps(told).encode()})
    assert store.archive.import_panel(older, panel.owner).tag == ""


@pytest.mark.parametrize("name", ["reactions", "drawn", "decisions"])
def test_an_archive_without_a_later_list_is_read(store, panel, name):
    parts = unpack(store.archive.export(panel.id))
    told = read_json(parts["panel.json"], "panel.json")
    assert told.pop(name) == []
    older = pack({**parts, "panel.json": json.dumps(told).encode()})
    assert store.archive.import_panel(older, panel.owner).title == panel.title


def test_a_store_whose_columns_do_not_fit_its_version_is_refused(store_url):
    make_old_store(store_url)
    run(store_url, "ALTER TABLE panel ADD COLUMN tag TEXT NOT NULL DEFAULT ''")
    with pytest.raises(StoreError, match=r"has the schema 0001, but its table panel has the column tag already"):
        open_store(store_url)


def test_an_error_of_a_file_is_not_told_as_a_server_that_is_away(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/x.db") as store:
        twice = "ALTER TABLE panel ADD COLUMN tag TEXT"
        with pytest.raises(StoreUnavailableError, match=r"SQLite reports: duplicate column name: tag\. .* not kept"):
            store._database.write(lambda c: c.exec_driver_sql(twice))


def test_a_version_after_this_is_refused(store_url):
    with open_store(store_url):
        pass
    run(store_url, f"UPDATE schema_version SET version_num = '{version_text(LAST + 1)}'")
    with pytest.raises(NewerStoreError, match=f"schema {version_text(LAST + 1)}; .* up to {version_text(LAST)}"):
        open_store(store_url)


def test_a_new_store_has_the_tables_of_the_description(store):
    found = MetaData()
    store._database.read(lambda c: [Table(name, found, autoload_with=c) for name in METADATA.tables])
    for name, table in METADATA.tables.items():
        own = {(column.name, column.nullable, column.primary_key) for column in table.columns}
        assert {(column.name, column.nullable, column.primary_key) for column in found.tables[name].columns} == own
