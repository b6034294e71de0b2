"""Accounts, sessions and tokens: secrets are given once, and only their hashes are kept."""

import pytest
from sqlalchemy import text

from coherently.web.store import ConflictError, NotFoundError, StoreError
from coherently.web.store.identifiers import after


def everything(store):
    """All cells of all tables."""

    def action(connection):
        tables = ("account", "session", "token", "judge")
        return [
            str(cell) for table in tables for row in connection.execute(text(f"SELECT * FROM {table}")) for cell in row
        ]

    return "\n".join(store._database.read(action))


def test_accounts_and_passwords(store):
    local = store.accounts.local()
    assert store.accounts.local() == local
    assert (local.name, local.has_password) == ("local", False)
    ann = store.accounts.create("Ann", "correct horse")
    assert store.accounts.get(ann.id) == ann == store.accounts.by_name("Ann")
    assert store.accounts.list() == (ann, local)
    assert (store.accounts.count(), store.accounts.count(with_password=False)) == (1, 2)
    assert store.accounts.check("Ann", "correct horse") == ann
    for name, password in [
        ("Ann", "wrong horse"),
        ("ann", "correct horse"),
        ("local", ""),
        ("Bob", "x"),
        ("Ann", "x" * 10**6),
    ]:
        assert store.accounts.check(name, password) is None
    for name, password, error in [
        ("Ann", "correct horse", ConflictError),
        ("Bob", "short", StoreError),
        (" ", None, StoreError),
        ("Bob", "x" * 1001, StoreError),
    ]:
        with pytest.raises(error):
            store.accounts.create(name, password)
    assert "$argon2id$" in everything(store)
    assert "correct horse" not in everything(store)
    with pytest.raises(NotFoundError):
        store.accounts.get("u_nobody")


def test_a_new_password_and_a_closed_account_end_sessions(store):
    ann = store.accounts.create("Ann", "correct horse")
    _, secret = store.sessions.open(ann.id)
    store.accounts.set_password(ann.id, "battery staple")
    assert store.sessions.by_secret(secret) is None
    assert store.accounts.check("Ann", "correct horse") is None
    assert store.accounts.check("Ann", "battery staple") is not None
    _, secret = store.sessions.open(ann.id)
    _, key = store.tokens.create(ann.id, "script")
    store.accounts.close(ann.id)
    assert store.accounts.check("Ann", "battery staple") is None
    assert store.sessions.by_secret(secret) is None
    assert store.tokens.by_secret(key) is None
    assert store.accounts.count() == 0


def test_sessions(store, panel):
    judge, _ = store.judges.invite(panel.id, "Ann")
    mine, secret = store.sessions.open(account=panel.owner)
    theirs, their_secret = store.sessions.open(judge=judge.id)
    assert store.sessions.by_secret(secret) == mine
    assert store.sessions.by_secret(their_secret) == theirs
    assert (mine.judge, theirs.account) == (None, None)
    assert len({mine.csrf, theirs.csrf, secret, their_secret}) == 4
    assert secret not in everything(store)
    assert store.sessions.by_secret(mine.id) is None
    store.sessions.close(mine.id)
    assert store.sessions.by_secret(secret) is None
    assert store.sessions.by_secret(store.sessions.open(panel.owner, seconds=-1)[1]) is None
    secrets = [store.sessions.open(panel.owner)[1] for _ in range(2)]
    store.sessions.close_all(account=panel.owner)
    assert [store.sessions.by_secret(each) for each in secrets] == [None, None]
    assert store.sessions.by_secret(their_secret) == theirs
    for wrong in ({}, {"account": panel.owner, "judge": judge.id}):
        with pytest.raises(StoreError):
            store.sessions.open(**wrong)


@pytest.mark.parametrize("end", ["revoke", "renew_link"])
def test_sessions_of_a_judge_end_with_the_link(store, panel, end):
    judge, _ = store.judges.invite(panel.id, "Ann")
    _, secret = store.sessions.open(judge=judge.id)
    getattr(store.judges, end)(judge.id)
    assert store.sessions.by_secret(secret) is None


def test_sessions_of_a_judge_end_with_the_panel(store, panel):
    judge, _ = store.judges.invite(panel.id, "Ann")
    _, secret = store.sessions.open(judge=judge.id)
    store.panels.delete(panel.id)
    assert store.sessions.by_secret(secret) is None
    store.panels.purge(panel.id)
    assert store.sessions.by_secret(secret) is None


def test_tokens(store, panel):
    first, secret = store.tokens.create(panel.owner, "script", after(60))
    assert store.tokens.by_secret(secret) == first
    assert store.tokens.list(panel.owner) == (first,)
    assert secret not in everything(store)
    assert store.tokens.by_secret(store.tokens.create(panel.owner, "old", after(-1))[1]) is None
    revoked = store.tokens.revoke(first.id)
    assert revoked.revoked_at is not None
    assert store.tokens.revoke(first.id) == revoked
    assert store.tokens.by_secret(secret) is None
    with pytest.raises(NotFoundError):
        store.tokens.revoke("t_nothing")
    with pytest.raises(StoreError, match="not a time"):
        store.tokens.create(panel.owner, "wrong", "soon")


def test_links_are_kept_as_hashes(store, panel):
    _, secret = store.judges.invite(panel.id, "Ann")
    assert len(secret) == 32
    assert secret not in everything(store)
