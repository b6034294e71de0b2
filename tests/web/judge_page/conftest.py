import pytest

from tests.web.judge_page.judge_pages import Panel, Workshop


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    running = Workshop(tmp_path_factory.mktemp("workshop"))
    yield running
    running.close()


@pytest.fixture
def panel(workshop):
    made = Panel(workshop)
    yield made
    made.close()
