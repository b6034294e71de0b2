"""Stores for the tests of the workbench: one suite, on SQLite and on a PostgreSQL server that the tests start."""

import pytest

from tests.web import postgres


@pytest.fixture(scope="session")
def postgres_server():
    """A server for all tests of this process; `new_database()` gives the URL of an empty database."""
    if postgres.find_programs() is None:
        pytest.skip(postgres.MISSING)
    server = postgres.Server()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of an empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres_server").new_database()
