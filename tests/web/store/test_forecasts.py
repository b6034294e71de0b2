"""Forecasts are recorded once, never changed, and the last one is the answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherently.web.store import (
    AnswerGiven,
    ConflictError,
    IdempotencyError,
    NotFoundError,
    StoreError,
    open_store,
)
from coherently.web.store.identifiers import after


@pytest.fixture
def events(store, panel):
    return [store.questions.add(panel.id, "yes-no", text, [(text, text)]).events[0].id for text in "abc"]


@pytest.fixture
def ann(store, panel):
    return store.judges.add(panel.id, "Ann").id


def test_records_come_back_as_they_were_given(store, panel, events, ann):
    given = [
        AnswerGiven(events[0], 0.1 + 0.2, locked=True, reason="because"),
        AnswerGiven(events[1], None, reason="no view"),
        AnswerGiven(events[2], 1.0, withdrawn=True),
    ]
    recorded = store.forecasts.record(ann, given)
    assert [(each.event, each.probability, each.state, each.locked, each.reason, each.round) for each in recorded] == [
        (events[0], 0.1 + 0.2, "given", True, "because", 1),
        (events[1], None, "abstained", False, "no view", 1),
        (events[2], None, "withdrawn", False, "", 1),
    ]
    assert store.forecasts.history(panel.id) == recorded
    assert store.forecasts.latest(panel.id) == recorded[:2]
    change = store.changes.after(panel.id, 0)[-1]
    assert (change.kind, change.judge, change.data) == ("answers", ann, {"events": sorted(events)})


def test_the_last_one_of_an_event_counts(store, panel, events, ann):
    bob = store.judges.add(panel.id, "Bob").id
    first = store.forecasts.record(ann, [AnswerGiven(events[0], 0.1), AnswerGiven(events[1], 0.2)])
    other = store.forecasts.record(bob, [AnswerGiven(events[0], 0.3)])
    twice = store.forecasts.record(ann, [AnswerGiven(events[0], 0.4), AnswerGiven(events[0], 0.5)])
    assert store.forecasts.latest(panel.id) == (first[1], *other, twice[1])
    assert store.forecasts.latest(panel.id, judge=bob) == other
    assert store.forecasts.history(panel.id, judge=ann) == (*first, *twice)
    assert store.forecasts.history(panel.id, event=events[1]) == (first[1],)
    assert store.forecasts.history(panel.id, after=other[0].id) == twice
    assert store.forecasts.history(panel.id, limit=1) == first[:1]
    assert store.forecasts.count(panel.id) == 5
    other = store.panels.create(panel.owner, "Another").id
    assert store.forecasts.latest(other, judge=ann) == store.forecasts.history(other, judge=ann) == ()
    assert store.forecasts.history(other, event=events[0]) == store.forecasts.latest(other, as_of=after(60), judge=ann)


def test_a_moment_of_the_past(store, panel, events, ann):
    store.forecasts.record(ann, [AnswerGiven(events[0], 0.1), AnswerGiven(events[1], 0.2)])
    moment = store.forecasts.history(panel.id)[-1].time
    while (later := store.forecasts.record(ann, [AnswerGiven(events[0], 0.9)])[0]).time == moment:
        pass
    stood = store.forecasts.latest(panel.id, as_of=moment)
    assert {(each.event, each.probability) for each in stood if each.event == events[1]} == {(events[1], 0.2)}
    assert later not in stood
    assert later in store.forecasts.latest(panel.id, as_of=after(60))
    assert store.forecasts.latest(panel.id, as_of=after(60), judge=ann) == store.forecasts.latest(panel.id)
    assert store.forecasts.latest(panel.id, as_of="2020-01-01T00:00:00Z") == ()


def test_answers_are_taken_only_while_a_round_is_open(store, panel, events, ann):
    answer = [AnswerGiven(events[0], 0.5)]
    for phase, is_open in [("discussion", False), ("revision", True), ("closed", False), ("private", True)]:
        store.rounds.advance(panel.id, phase)
        if is_open:
            number = store.rounds.current(panel.id).number
            assert store.forecasts.record(ann, answer)[0].round == number
        else:
            with pytest.raises(ConflictError, match=phase):
                store.forecasts.record(ann, answer)
        store.forecasts.record(ann, answer, phases=None)
    store.rounds.advance(panel.id, "private", closes_at=after(-1))
    with pytest.raises(ConflictError, match="closed at"):
        store.forecasts.record(ann, answer)
    store.rounds.advance(panel.id, "private", closes_at=after(60))
    store.forecasts.record(ann, answer)


def test_what_does_not_belong_to_the_panel_is_refused_as_a_whole(store, panel, events, ann):
    other = store.panels.create(panel.owner, "Another")
    foreign = store.questions.add(other.id, "yes-no", "a", [("a", "a")]).events[0].id
    for wrong in (foreign, "e_nothing", "", "\0"):
        with pytest.raises(NotFoundError, match="no event"):
            store.forecasts.record(ann, [AnswerGiven(events[0], 0.5), AnswerGiven(wrong, 0.5)])
    with pytest.raises(NotFoundError, match="judge"):
        store.forecasts.record("j_nobody", [AnswerGiven(events[0], 0.5)])
    store.questions.withdraw(store.questions.list(panel.id)[0].id)
    with pytest.raises(NotFoundError, match="no longer"):
        store.forecasts.record(ann, [AnswerGiven(events[0], 0.5)])
    store.panels.delete(panel.id)
    with pytest.raises(NotFoundError):
        store.forecasts.record(ann, [AnswerGiven(events[1], 0.5)])
    assert store.forecasts.count(panel.id) == 0
    assert store.changes.after(panel.id, 0)[-1].kind == "panel"


@pytest.mark.parametrize("number", [-0.01, 1.01, float("nan"), float("inf")])
def test_numbers_lie_between_0_and_1(store, events, ann, number):
    with pytest.raises(StoreError, match="between 0 and 1"):
        store.forecasts.record(ann, [AnswerGiven(events[0], number)])


def test_reasons_are_as_long_as_an_archive_can_hold(store, panel, events, ann):
    store.forecasts.record(ann, [AnswerGiven(events[0], 0.5, reason='"' * 100_000)])
    again = store.archive.import_panel(store.archive.export(panel.id), panel.owner)
    assert store.forecasts.latest(again.id)[0].reason == '"' * 100_000
    with pytest.raises(StoreError, match="100,000 characters"):
        store.forecasts.record(ann, [AnswerGiven(events[0], 0.5, reason="x" * 100_001)])


def test_a_key_records_once(store, panel, events, ann):
    bob = store.judges.add(panel.id, "Bob").id
    given = [AnswerGiven(events[0], 0.3), AnswerGiven(events[1], None)]
    first = store.forecasts.record(ann, given, key="k")
    assert store.forecasts.record(ann, given, key="k") == first
    assert store.forecasts.count(panel.id) == 2
    with pytest.raises(IdempotencyError, match="another request"):
        store.forecasts.record(ann, given[:1], key="k")
    assert store.forecasts.record(bob, given[:1], key="k")[0].judge == bob
    assert store.forecasts.record(ann, [], key="empty") == ()


def test_a_key_answers_the_same_every_time(store, panel):
    calls = []

    def action():
        calls.append(1)
        law = store.laws.add(panel.id, "a")
        return 201, {"law": law.id}

    first = store.once("scope", "k", "digest", action)
    again = store.once("scope", "k", "digest", action)
    assert (first.status, first.body, first.repeated) == (201, {"law": store.laws.list(panel.id)[0].id}, False)
    assert (again.status, again.body, again.repeated) == (201, first.body, True)
    assert len(calls) == 1
    with pytest.raises(IdempotencyError):
        store.once("scope", "k", "other digest", action)
    assert not store.once("another scope", "k", "other digest", lambda: (204, None)).repeated


def test_an_action_that_fails_leaves_the_key_free(store, panel):
    def failing():
        store.laws.add(panel.id, "a")
        raise ConflictError("no")

    with pytest.raises(ConflictError):
        store.once("scope", "k", "digest", failing)
    assert store.laws.list(panel.id) == ()
    assert not store.once("scope", "k", "digest", lambda: (200, None)).repeated


def test_tidying_removes_what_is_old(store, panel, monkeypatch):
    store.once("scope", "old", "digest", lambda: (200, None))
    store.sessions.open(panel.owner, seconds=-1)
    monkeypatch.setattr("coherently.web.store.store.KEPT_SECONDS", -60)
    store.tidy()
    assert store.changes.last() > 0  # what was there at the last tidying goes, and there was none
    store.tidy()
    assert store.changes.last() == 0
    assert not store.once("scope", "old", "another", lambda: (200, None)).repeated
    seen = store.laws.add(panel.id, "a") and store.changes.last()
    assert seen > 1  # numbers of changes are never given again


answers = st.tuples(
    st.integers(0, 2), st.integers(0, 3), st.one_of(st.none(), st.floats(0, 1)), st.booleans(), st.booleans()
)


@settings(max_examples=25)
@given(st.lists(st.lists(answers, max_size=4), max_size=12))
def test_the_answers_are_those_of_a_plain_list(batches):
    with open_store("sqlite://") as store:
        panel = store.panels.create(store.accounts.local().id, "x").id
        judges = [store.judges.add(panel, name).id for name in "xyz"]
        events = [store.questions.add(panel, "yes-no", text, [(text, text)]).events[0].id for text in "abcd"]
        expected = {}
        for batch in batches:
            for judge, event, probability, locked, withdrawn in batch:
                answer = AnswerGiven(events[event], probability, locked=locked, withdrawn=withdrawn)
                (record,) = store.forecasts.record(judges[judge], [answer])
                expected[judges[judge], events[event]] = record
        kept = sorted((each for each in expected.values() if each.state != "withdrawn"), key=lambda each: each.id)
        assert list(store.forecasts.latest(panel)) == kept
        assert list(store.forecasts.latest(panel, as_of=after(60))) == kept
        assert store.forecasts.count(panel) == sum(map(len, batches))
