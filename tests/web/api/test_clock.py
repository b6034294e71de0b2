"""The clock of the machine is set forwards and back."""

from datetime import timedelta

import pytest

from coherently.web.store import open_store
from tests.web.api.clock_checks import check_clock, settable_clock


def test_a_clock_that_is_set_loses_nothing_and_shuts_nobody_out(store_url):
    check_clock(store_url, 1, 50)


@pytest.fixture
def clock():
    with settable_clock() as set_clock:
        yield set_clock


def set_by(clock, **spans):
    clock.ahead += timedelta(**spans)


def test_the_questions_are_not_of_before_a_tidying_that_came_too_early(store_url, clock):
    """Changes are kept for a week; a clock that is weeks ahead must not take those away on which lists rely."""
    with open_store(store_url) as store, open_store(store_url) as other:
        panel = store.panels.create(store.accounts.local().id, "x").id
        store.tidy()
        assert store.questions.list(panel) == ()
        other.questions.add(panel, "yes-no", "Rain?", [("rain", "")])
        set_by(clock, days=30)
        store.tidy()
        assert store.changes.last(panel) > 0
        assert len(store.questions.list(panel)) == 1
        store.tidy()  # an hour later at the earliest, when lists are read anew
        assert store.changes.last(panel) == 0


def test_a_clock_that_is_ahead_for_a_while_signs_nobody_out(store_url, clock):
    with open_store(store_url) as store:
        cookie = store.sessions.open(account=store.accounts.local().id)[1]
        store.once("scope", "key", "digest", lambda: (200, None))
        store.tidy()
        set_by(clock, days=30)
        assert store.sessions.by_secret(cookie) is None
        store.tidy()
        set_by(clock, days=-30)
        store.tidy()
        assert store.sessions.by_secret(cookie) is not None
        assert store.once("scope", "key", "digest", lambda: (200, None)).repeated


def test_a_job_whose_worker_was_lost_before_the_clock_was_set_back_is_begun_again(store_url, clock):
    with open_store(store_url) as store:
        panel = store.panels.create(store.accounts.local().id, "x").id
        job = store.aggregations.request(panel).id
        store.aggregations.claim("lost", 15)
        assert store.aggregations.claim("another", 15) is None
        set_by(clock, hours=-5)
        assert store.aggregations.claim("another", 15).id == job
        assert store.aggregations.claim("a third", 15) is None


def test_mail_that_was_asked_for_before_the_clock_was_set_back_is_sent_at_once(store_url, clock):
    with open_store(store_url) as store:
        panel = store.panels.create(store.accounts.local().id, "x").id
        judges = [store.judges.invite(panel, name, f"{name}@example.org")[0].id for name in ("ann", "bob")]
        first = store.messages.add(judges[0], "invitation", 1, "https://example.org").id
        set_by(clock, days=-3)
        claimed, _ = store.messages.claim(300)
        assert claimed.id == first
        store.messages.put_off(first, "Busy.", 60)
        assert store.messages.claim(300) is None
        set_by(clock, days=-3)
        assert store.messages.claim(300)[0].id == first
        set_by(clock, days=-3)
        assert store.messages.claim(300) is None  # it was being sent: nobody knows, and nobody waits
        assert store.messages.get(first).state == "unsure"
