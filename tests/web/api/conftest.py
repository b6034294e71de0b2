import pytest

from tests.web.api.service import Service, Weather


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def service(request, tmp_path_factory):
    """The workbench on each kind of store; one for all tests, each of which makes its own account."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    else:
        url = request.getfixturevalue("postgres_server").new_database()
    with Service(url) as running:
        yield running


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """The workbench on SQLite, for what does not depend on the store."""
    with Service(f"sqlite:///{tmp_path_factory.mktemp('alone')}/store.db") as running:
        yield running


@pytest.fixture
def weather(service):
    return Weather(service)


@pytest.fixture
def lone_weather(alone):
    return Weather(alone)
