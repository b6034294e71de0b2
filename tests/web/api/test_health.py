"""/healthz says whether answers can be kept: by a write, not by a look."""

import shutil
import sqlite3
import subprocess
from contextlib import suppress

import httpx
import pytest
from sqlalchemy import event

from tests.web.api.service import Service, Weather, refused


def test_a_store_that_cannot_be_written_is_not_healthy(store_url, monkeypatch):
    """Whatever the last write was: a write that fails makes /healthz 503, and the next one that is kept 200."""
    with Service(store_url) as service:
        weather, engine = Weather(service), service.store._database._writer._engine
        health = lambda: httpx.get(f"{service.url}/healthz").status_code  # noqa: E731
        assert health() == 200

        def full(*_):
            raise sqlite3.OperationalError("database or disk is full")

        event.listen(engine, "commit", full)
        refused(weather.say(weather.ann, rain=0.5), 503, "full")
        answer = httpx.get(f"{service.url}/healthz")
        assert (answer.status_code, answer.json()["status"]) == (503, "store unavailable")
        assert "full" in answer.json()["message"]
        assert httpx.get(f"{service.url}/api/v1/openapi.json").status_code == 200
        event.remove(engine, "commit", full)
        assert health() == 200
        monkeypatch.setattr("coherently.web.store.store.FRESH", 0.0)
        event.listen(engine, "commit", full)
        assert health() == 503  # nobody else wrote anything
        event.remove(engine, "commit", full)
        assert health() == 200


def test_health_writes_now_and_then_only(store_url):
    with Service(store_url) as service:
        commits = []
        httpx.get(f"{service.url}/healthz")
        event.listen(service.store._database._writer._engine, "commit", commits.append)
        for _ in range(20):
            httpx.get(f"{service.url}/healthz")
        assert len(commits) < 20


def test_a_disk_that_is_really_full(tmp_path):
    """A file system of four megabytes, filled to the last byte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(options, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        with Service(f"sqlite:///{disk}/store.db") as service:
            weather = Weather(service)
            health = lambda: httpx.get(f"{service.url}/healthz").status_code  # noqa: E731
            assert health() == 200
            with (disk / "rest").open("wb", buffering=0) as rest, suppress(OSError):
                while rest.write(bytes(4096)):
                    pass
            statuses = [weather.say(weather.ann, rain=i / 100).status_code for i in range(40)]
            assert 503 in statuses
            assert health() == 503
            (disk / "rest").unlink()
            assert health() == 200
            assert weather.say(weather.ann, rain=0.5).status_code == 200
    finally:
        subprocess.run(["umount", str(disk)], check=True)
