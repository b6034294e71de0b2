"""A slice of the campaigns: many clients at once, and processes killed while they write."""

from tests.web.store.load_checks import check_kills, check_submissions


def test_many_clients_are_recorded_exactly_once(store_url):
    check_submissions(store_url, clients=20, each=10)


def test_killed_processes_lose_nothing(tmp_path):
    assert check_kills(1, 20, f"sqlite:///{tmp_path}/store.db") >= 20


def test_killed_processes_lose_nothing_on_a_server(postgres_server):
    assert check_kills(2, 3, postgres_server.new_database()) >= 3
