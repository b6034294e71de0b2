"""Mail to judges is sent at most once, whatever happens meanwhile; links to reports end when they are withdrawn."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from coherently.web.store import ConflictError, NotFoundError, open_store


@pytest.fixture
def ann(store, panel):
    return store.judges.invite(panel.id, "Ann", "ann@example.org")[0]


def test_a_message_is_claimed_by_one_of_many(store_url, store, ann):
    added = {store.messages.add(ann.id, "reminder", 1, "https://x").id for _ in range(12)}
    with open_store(store_url) as other:

        def claim(number):
            return (store, other)[number % 2].messages.claim(60)

        with ThreadPoolExecutor(8) as pool:
            claimed = [found for found in pool.map(claim, range(24)) if found is not None]
    assert sorted(record.id for record, _ in claimed) == sorted(added)
    assert {record.state for record, _ in claimed} == {"sending"}
    assert len({secret for _, secret in claimed}) == 12


def test_a_message_whose_sender_was_lost_is_not_sent_again_by_itself(store, ann):
    name = store.messages.add(ann.id, "invitation", 1, "https://x").id
    assert store.messages.claim(-1)[0].id == name
    assert store.messages.claim(60) is None
    lost = store.messages.get(name)
    assert lost.state == "unsure"
    assert "nobody knows whether it was sent" in lost.error
    assert store.messages.claim(60) is None
    store.judges.set_address(ann.id, "new@example.org")
    again = store.messages.repeat(name)
    assert (again.state, again.attempts, again.address) == ("waiting", 0, "new@example.org")
    assert store.messages.claim(60)[0].id == name


def test_what_was_put_off_waits_and_what_ended_stays(store, ann):
    name = store.messages.add(ann.id, "invitation", 1, "https://x").id
    _, secret = store.messages.claim(60)
    assert store.judges.by_link(secret).id == ann.id
    later = store.messages.put_off(name, "busy", 3600)
    store.messages.drop_link(secret)
    assert (later.state, later.attempts, later.error) == ("waiting", 1, "busy")
    assert store.judges.by_link(secret) is None
    assert store.messages.claim(60) is None
    store.messages.put_off(name, "busy", -1)
    store.messages.claim(60)
    store.messages.end(name, "sent")
    for act in (store.messages.repeat, store.messages.cancel):
        with pytest.raises(ConflictError, match="is sent"):
            act(name)
    with pytest.raises(NotFoundError):
        store.messages.get("m_none")


def test_a_new_link_or_none_ends_those_of_mails(store, panel):
    ann, first = store.judges.invite(panel.id, "Ann", "ann@example.org")
    for end in (store.judges.renew_link, store.judges.revoke):
        store.messages.add(ann.id, "reminder", 1, "https://x")
        _, secret = store.messages.claim(60)
        assert store.judges.by_link(secret).id == ann.id
        end(ann.id)
        assert store.judges.by_link(secret) is None
    assert store.judges.by_link(first) is None


def test_mail_of_a_deleted_panel_waits(store, panel, ann):
    store.messages.add(ann.id, "reminder", 1, "https://x")
    store.panels.delete(panel.id)
    assert store.messages.claim(60) is None
    store.panels.restore(panel.id)
    assert store.messages.claim(60) is not None


def test_addresses_and_messages_are_in_no_archive(store, panel, ann):
    store.messages.add(ann.id, "reminder", 1, "https://x")
    made = store.archive.import_panel(store.archive.export(panel.id), panel.owner).id
    assert [judge.address for judge in store.judges.list(made)] == [""]
    assert store.messages.list(made) == ()


def test_links_to_reports(store, panel):
    link, secret = store.report_links.make(panel.id, "For the board")
    assert store.report_links.by_secret(secret) == link
    assert store.report_links.by_secret("another") is None
    store.panels.delete(panel.id)
    assert store.report_links.by_secret(secret) is None
    store.panels.restore(panel.id)
    with pytest.raises(NotFoundError):
        store.report_links.revoke("p_other", link.id)
    store.report_links.revoke(panel.id, link.id)
    assert store.report_links.by_secret(secret) is None
    assert [each.note for each in store.report_links.list(panel.id)] == ["For the board"]
