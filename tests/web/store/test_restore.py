"""A backup is put in place of a store while it is served: everybody sees it, and nothing is lost that was there."""

import httpx
import pytest

from coherently.web.server import back_up, restore
from coherently.web.settings import ServiceSettings
from coherently.web.store import StoreError, open_store, restore_store
from tests.web import postgres
from tests.web.api.service import Service, Weather
from tests.web.store import kept_stores


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/store.db"


def test_a_backup_is_restored_while_judges_answer(url, tmp_path):
    with Service(url) as service:
        weather = Weather(service)
        weather.say(weather.ann, rain=0.25)
        weather.api.get(f"{weather.path}/board").raise_for_status()  # the panel is in memory
        back_up(ServiceSettings(url), tmp_path / "backup.db")
        weather.say(weather.ann, rain=0.75)
        weather.say(weather.bob, rain=0.5)
        later = weather.api.get(f"{weather.path}/board").json()
        assert later["overview"]["spreads"][0]["count"] == 2
        seen = service.store.changes.last()
        kept = restore(ServiceSettings(url), tmp_path / "backup.db")
        assert service.store.changes.last() > seen
        assert [each["probability"] for each in weather.ann.get("/sheet").json()["answers"]] == [0.25]
        assert weather.bob.get("/sheet").json()["answers"] == []
        assert weather.api.get(f"{weather.path}/board").json()["overview"]["spreads"][0]["count"] == 1
        assert weather.say(weather.bob, rain=0.125).status_code == 200
        weather.close()
        assert weather.api.get(f"{weather.path}/board").json()["overview"]["spreads"][0]["answers"] == [0.125, 0.25]
        numbers = [each.id for each in service.store.forecasts.history(weather.id)]
        assert numbers[-1] > 3  # that of a forecast that was taken away is not given out again
        assert httpx.get(f"{service.url}/healthz").status_code == 200
    with open_store(f"sqlite:///{kept}") as store:
        assert [each.probability for each in store.forecasts.history(weather.id)] == [0.25, 0.75, 0.5]


def test_a_backup_of_an_earlier_schema_is_brought_up_to_date(url, tmp_path):
    known = kept_stores.restore("0003", f"sqlite:///{tmp_path}/old.db")
    assert restore_store(url, tmp_path / "old.db") is None  # there was no store
    with open_store(url) as store:
        assert store.judges.by_link(known["secrets"]["bob"]).address == ""


def test_what_is_no_backup_changes_nothing(url, tmp_path, postgres_server):
    with open_store(url) as store:
        store.accounts.create("Ann")
        (tmp_path / "text.db").write_text("no database " * 100)
        back_up(ServiceSettings(url), tmp_path / "cut.db")
        (tmp_path / "cut.db").write_bytes((tmp_path / "cut.db").read_bytes()[:60_000])
        for name in ("missing.db", "text.db", "cut.db"):
            with pytest.raises(StoreError, match=r"no backup|not a (whole )?backup"):
                restore_store(url, tmp_path / name)
        with pytest.raises(StoreError, match="pg_restore"):
            restore_store(postgres_server.url("postgres"), tmp_path / "cut.db")
        assert [each.name for each in store.accounts.list()] == ["Ann"]
    assert sorted(path.name for path in tmp_path.glob("*.tmp*")) == []


def test_a_store_whose_file_is_gone_or_another_is_not_healthy(url, tmp_path):
    with Service(url) as service:
        health = lambda: httpx.get(f"{service.url}/healthz")  # noqa: E731
        assert health().status_code == 200
        (tmp_path / "store.db").rename(tmp_path / "away.db")
        assert health().status_code == 503
        assert "is gone, or another was put in its place" in health().json()["message"]
        (tmp_path / "store.db").write_bytes((tmp_path / "away.db").read_bytes())
        assert health().status_code == 503
        (tmp_path / "away.db").replace(tmp_path / "store.db")
        assert health().status_code == 200


@pytest.mark.usefixtures("postgres_server")
def test_a_server_that_is_gone_is_not_healthy():
    server = postgres.Server()
    try:
        with Service(server.new_database()) as service:
            assert httpx.get(f"{service.url}/healthz").status_code == 200
            server.kill()
            assert httpx.get(f"{service.url}/healthz", timeout=60).status_code == 503
            server.start()
            assert httpx.get(f"{service.url}/healthz", timeout=60).status_code == 200
    finally:
        server.close()
