"""Stores that earlier code made are opened by this code with everything that they held."""

import pytest

from coherently.web.store import open_store
from tests.web.store import kept_stores
from tests.web.store.kept_stores import PASSWORD, TITLE, held, restore, versions


def test_a_store_of_an_earlier_schema_is_kept():
    assert "0003" in versions()


@pytest.mark.parametrize("version", versions())
def test_an_upgrade_keeps_everything(version, store_url):
    known = restore(version, store_url)
    with open_store(store_url) as store:
        now = kept_stores.told(store)
        assert held(known["told"], now) == known["told"]
        assert store.judges.by_link(known["secrets"]["bob"]).name == "Bób"
        assert store.tokens.by_secret(known["secrets"]["token"]) is not None
        assert store.sessions.by_secret(known["secrets"]["cookie"]) is not None
        if "report" in known["secrets"]:  # stores of the first versions have no links to reports
            assert store.report_links.by_secret(known["secrets"]["report"]) is not None
        assert store.accounts.check("Ann the facilitator", PASSWORD) is not None
        panel = now["panels"][0]["id"]
        again = store.archive.import_panel(store.archive.export(panel), now["panels"][0]["owner"])
        assert again.title == TITLE
        assert store.archive.export(again.id) == store.archive.export(panel)
