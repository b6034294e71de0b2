import pytest

from tests.web.api.service import Service, Weather


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_store(request, tmp_path_factory):
    """Gives URLs of empty stores, of each kind in turn."""
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    return request.getfixturevalue("postgres_server").new_database


@pytest.fixture
def store_url(new_store):
    """The URL of an empty store of each kind."""
    return new_store()


@pytest.fixture(scope="session")
def service(new_store):
    """The workbench on each kind of store; one for all tests, each of which makes its own account."""
    with Service(new_store()) as running:
        yield running


@pytest.fixture
def weather(service):
    return Weather(service)
