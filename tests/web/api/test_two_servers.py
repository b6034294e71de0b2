"""Two workbenches serve one store."""

from tests.web.api.service import Service
from tests.web.api.two_server_checks import check_two_servers


def test_two_servers_on_one_store_are_as_one(store_url):
    with Service(store_url) as one, Service(store_url) as other:
        check_two_servers(store_url, [one.url, other.url], judges=2, each=8, seed=1)
