import pytest

from coherently.web.store import open_store


@pytest.fixture
def store(store_url):
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def panel(store):
    """A panel of the account of this machine."""
    return store.panels.create(store.accounts.local().id, "Next year")
