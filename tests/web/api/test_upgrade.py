"""A store of an earlier schema is taken over by two servers at once, while judges wait for an answer."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import pytest

from coherently.web.store.database import schema_version
from tests.web.api.service import Service
from tests.web.api.upgrade_checks import Panel, answering
from tests.web.store import kept_stores


def test_the_second_server_waits_until_the_schema_is_up_to_date(store_url, monkeypatch):
    known, ran = kept_stores.restore("0003", store_url), []

    def slow(_):
        ran.append(threading.get_ident())
        time.sleep(0.3)

    monkeypatch.setattr(schema_version, "STEPS", MappingProxyType({schema_version.LAST: slow}))
    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(Service, store_url) for _ in range(2)]
        services = [each.result() for each in begun]
    try:
        assert len(ran) == 1
        with Panel([each.url for each in services], known["secrets"]["token"], 2) as panel:
            with answering(panel, 1):
                panel.wait(6)
            panel.check(services[0].store)
    finally:
        for each in services:
            each.close()


def test_a_change_of_the_schema_that_fails_changes_nothing(store_url, monkeypatch):
    known = kept_stores.restore("0003", store_url)

    def failing(_):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(schema_version, "STEPS", MappingProxyType({schema_version.LAST: failing}))
        with pytest.raises(ZeroDivisionError):
            Service(store_url)
    with Service(store_url) as service:
        assert kept_stores.held(known["told"], kept_stores.told(service.store)) == known["told"]
