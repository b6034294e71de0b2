"""What is put into a store comes out again, on both databases."""

import queue
from dataclasses import replace

import pytest

from coherently.web.store import (
    AnswerGiven,
    ConflictError,
    NotFoundError,
    StoreError,
    TextError,
)


@pytest.fixture
def question(store, panel):
    return store.questions.add(panel.id, "yes-no", "A recession?", [("recession", "a recession")])


@pytest.fixture
def judge(store, panel):
    return store.judges.invite(panel.id, "Ann")[0]


def kinds_of_changes(store, panel, after=0):
    return [change.kind for change in store.changes.after(panel.id, after)]


def test_panels(store):
    owner = store.accounts.local().id
    first = store.panels.create(owner, "One", description="about", settings={"colour": "red"})
    second = store.panels.create(owner, "Two")
    other = store.panels.create(store.accounts.create("Zoe").id, "Three")
    assert store.panels.get(first.id) == first
    assert store.panels.list(owner) in ((second, first), (first, second))  # made in one millisecond, maybe
    assert len(store.panels.list()) == 3
    pages = [store.panels.list(limit=1)]
    pages += [store.panels.list(after=pages[0][0].id, limit=1)]
    pages += [store.panels.list(after=pages[1][0].id)]
    assert sorted(page[0].id for page in pages) == sorted((first.id, second.id, other.id))
    changed = store.panels.edit(first.id, title="Uno", settings={"colour": "blue"})
    assert (changed.title, changed.description, changed.settings) == ("Uno", "about", {"colour": "blue"})
    store.panels.delete(first.id)
    with pytest.raises(NotFoundError, match="no such panel"):
        store.panels.get(first.id)
    assert first.id not in {panel.id for panel in store.panels.list(owner)}
    assert store.panels.restore(first.id) == store.panels.get(first.id) == changed
    store.panels.purge(first.id)
    with pytest.raises(NotFoundError):
        store.panels.restore(first.id)
    with pytest.raises(NotFoundError, match="account"):
        store.panels.create("u_nobody", "Four")


@pytest.mark.parametrize("name", ["p_x", "", "p_\0", "p_\ud800", "'; drop table panel", "p" * 100_000])
def test_what_cannot_be_an_id_is_not_found(store, name):
    for ask in (store.panels.get, store.questions.get, store.laws.get, store.judges.get, store.aggregations.get):
        with pytest.raises(NotFoundError):
            ask(name)
    assert store.judges.by_link(name) is None
    assert store.sessions.by_secret(name) is None
    assert store.tokens.by_secret(name) is None
    assert store.questions.list(name) == ()
    assert store.changes.after(name, 0) == ()


@pytest.mark.parametrize("text", ["nul \0 byte", "half \ud800 pair"])
def test_texts_that_cannot_be_kept_are_refused(store, panel, question, judge, text):
    for write in (
        lambda: store.panels.edit(panel.id, title=text),
        lambda: store.laws.add(panel.id, text),
        lambda: store.comments.add(panel.id, text),
        lambda: store.judges.invite(panel.id, text),
        lambda: store.forecasts.record(judge.id, [AnswerGiven(question.events[0].id, 0.5, reason=text)]),
        lambda: store.once("scope", text, "digest", lambda: (200, None)),
    ):
        with pytest.raises(TextError, match="cannot be kept"):
            write()
    assert store.forecasts.count(panel.id) == 0


def test_every_text_comes_back_as_it_was(store, panel):
    for text in ("", " ", "Ünïcode 😀 \u202e", "a\r\nb\tc", "'; drop table panel; --", "\\ % _ \" '", "x" * 100_000):
        assert store.panels.edit(panel.id, title=text).title == text
        assert store.panels.edit(panel.id, settings={text: [text, 1.5, None]}).settings == {text: [text, 1.5, None]}


def test_questions(store, panel, question):
    ladder = store.questions.add(
        panel.id, "ladder", "When?", [("due < 2027-01-01", "by 1 January"), ("due < 2028-01-01", "by 2028")],
        "defined", "group", "variable due: date",
    )  # fmt: skip
    assert [question.number, ladder.number] == [1, 2]
    assert store.questions.list(panel.id) == (question, ladder)
    assert store.questions.get(ladder.id) == ladder
    anew = [(None, "due < 2026-01-01", "early"), (ladder.events[1].id, "due < 2028-01-01", "late")]
    edited = store.questions.edit(ladder.id, title="By when?", events=anew)
    assert edited.title == "By when?"
    assert edited.declaration == "variable due: date"
    assert [event.title for event in edited.events] == ["early", "late"]
    assert edited.events[1].id == ladder.events[1].id
    withdrawn = store.questions.withdraw(question.id)
    assert withdrawn.withdrawn_at is not None
    assert store.questions.withdraw(question.id) == withdrawn
    assert store.questions.list(panel.id) == (replace(edited, number=1),)  # numbers are places, and close up
    assert store.questions.list(panel.id, withdrawn=True) == (withdrawn, edited)
    assert store.questions.add(panel.id, "yes-no", "Another?", [("x", "x")]).number == 2
    assert store.questions.restore(question.id).number == 1
    assert [each.number for each in store.questions.list(panel.id)] == [1, 2, 3]
    assert store.questions.move(question.id, 3).number == 3
    assert [each.id for each in store.questions.list(panel.id)][::2] == [ladder.id, question.id]
    for wrong in (
        lambda: store.questions.add(panel.id, "maybe", "?", [("x", "x")]),
        lambda: store.questions.add(panel.id, "yes-no", "?", []),
        lambda: store.questions.edit(ladder.id, events=[]),
    ):
        with pytest.raises(StoreError):
            wrong()
    with pytest.raises(NotFoundError, match="no event"):
        store.questions.edit(ladder.id, events=[(question.events[0].id, "x", "x")])


def test_a_text_with_forecasts_stays(store, question, judge):
    event = question.events[0]
    store.forecasts.record(judge.id, [AnswerGiven(event.id, 0.3)])
    for events in ([(event.id, "boom", "a boom")], [(None, "recession", "a recession")]):
        with pytest.raises(ConflictError, match="'recession'"):
            store.questions.edit(question.id, title="changed", events=events)
    assert store.questions.get(question.id) == question
    assert store.questions.edit(question.id, events=[(event.id, "recession", "a slump")]).events[0].title == "a slump"


def test_laws_are_dropped_and_kept(store, panel):
    first, second = store.laws.add(panel.id, "a -> b", "A means B"), store.laws.add(panel.id, "b -> c")
    assert store.laws.list(panel.id) == (first, second)
    before = second.added_at
    dropped = store.laws.drop(first.id)
    assert store.laws.drop(first.id) == dropped == store.laws.get(first.id)
    assert store.laws.list(panel.id) == (second,)
    assert store.laws.list(panel.id, dropped=True) == (dropped, second)
    if dropped.dropped_at > before:
        assert store.laws.list(panel.id, as_of=before) == (dropped, second)
    assert store.laws.list(panel.id, as_of="2020-01-01T00:00:00Z") == ()
    with pytest.raises(NotFoundError):
        store.laws.drop("l_nothing")


def test_judges_and_links(store, panel):
    ann, secret = store.judges.invite(panel.id, "Ann")
    bob = store.judges.add(panel.id, "Bob")
    assert (ann.has_link, bob.has_link) == (True, False)
    assert store.judges.list(panel.id) == (ann, bob)
    assert store.judges.count(panel.id) == 2
    assert store.judges.by_name(panel.id, "Bob") == bob
    assert store.judges.by_name(panel.id, "Cid") is None
    assert store.judges.by_link(secret) == ann
    with pytest.raises(ConflictError, match="'Ann'"):
        store.judges.invite(panel.id, "Ann")
    with pytest.raises(ConflictError, match="'Ann'"):
        store.judges.rename(bob.id, "Ann")
    assert store.judges.rename(bob.id, "Bert").name == "Bert"
    opened = store.judges.opened(ann.id)
    assert opened.opened_at is not None
    assert store.judges.opened(ann.id) == opened
    second = store.judges.renew_link(ann.id)
    assert store.judges.by_link(secret) is None
    assert store.judges.by_link(second) == opened
    revoked = store.judges.revoke(ann.id)
    assert (revoked.has_link, store.judges.by_link(second)) == (False, None)
    third = store.judges.renew_link(ann.id)
    assert store.judges.by_link(third).has_link
    store.panels.delete(panel.id)
    assert store.judges.by_link(third) is None


def test_rounds(store, panel):
    first = store.rounds.current(panel.id)
    assert (first.number, first.phase, first.closes_at, first.hide_numbers) == (1, "private", None, True)
    walk = [("discussion", 1), ("revision", 2), ("revision", 2), ("closed", 2), ("private", 3)]
    for phase, number in walk:
        made = store.rounds.advance(panel.id, phase, "2030-01-01T00:00:00+01:00", hide_numbers=False)
        assert (made.number, made.phase, made.closes_at, made.hide_numbers) == (
            number, phase, "2029-12-31T23:00:00.000Z", False,
        )  # fmt: skip
        assert store.rounds.current(panel.id) == made
    assert [each.phase for each in store.rounds.list(panel.id)] == ["private", *(phase for phase, _ in walk)]
    for wrong in (("lunch", None), ("closed", "tomorrow"), ("closed", "2030-01-01")):
        with pytest.raises(StoreError):
            store.rounds.advance(panel.id, *wrong)
    with pytest.raises(NotFoundError):
        store.rounds.current("p_nothing")


def test_hand_ins(store, panel, judge):
    store.judges.hand_in(judge.id)
    last = store.judges.hand_in(judge.id)
    store.rounds.advance(panel.id, "revision")
    second = store.judges.hand_in(judge.id)
    assert store.judges.hand_ins(panel.id) == (last, second)
    assert store.judges.hand_ins(panel.id, round=2) == (second,)


def test_outcomes(store, panel):
    recorded = [
        store.outcomes.record(panel.id, text, value, "why")
        for text, value in [("a", True), ("b", False), ("a", None), ("rate", 2.5), ("winner", "Ann"), ("b", True)]
    ]
    assert store.outcomes.history(panel.id) == tuple(recorded)
    assert store.outcomes.latest(panel.id) == (recorded[3], recorded[4], recorded[5])
    assert [type(each.outcome) for each in store.outcomes.latest(panel.id)] == [float, str, bool]
    for number in (float("nan"), float("inf")):
        with pytest.raises(StoreError, match="finite"):
            store.outcomes.record(panel.id, "rate", number)


def test_comments(store, panel, question, judge):
    other = store.panels.create(panel.owner, "Another")
    first = store.comments.add(panel.id, "Hello", judge.id, question.id)
    second = store.comments.add(panel.id, "Welcome")
    assert store.comments.list(panel.id) == (first, second)
    assert store.comments.list(panel.id, question=question.id) == (first,)
    assert store.comments.list(panel.id, after=first.id) == (second,)
    assert store.comments.list(panel.id, limit=1) == (first,)
    gone = store.comments.withdraw(first.id)
    assert store.comments.get(first.id) == gone
    assert store.comments.list(panel.id) == (second,)
    assert store.comments.list(panel.id, withdrawn=True) == (gone, second)
    for wrong in ({"judge": judge.id}, {"question": question.id}):
        with pytest.raises(NotFoundError):
            store.comments.add(other.id, "Not here", **wrong)


def test_meant(store, panel, judge):
    store.meant.say(judge.id, "k1", "A cannot be likelier than B.")
    again = store.meant.say(judge.id, "k1", "A cannot be likelier than B.", "I know better")
    other = store.meant.say(judge.id, "k2", "C")
    assert store.meant.list(panel.id) == store.meant.list(panel.id, judge.id) == (again, other)
    store.meant.take_back(judge.id, "k1")
    assert store.meant.list(panel.id) == (other,)
    assert len(store.meant.list(panel.id, taken_back=True)) == 3
    with pytest.raises(NotFoundError):
        store.meant.take_back(judge.id, "k1")


def test_changes_come_in_order_and_wake_subscribers(store, panel):
    seen = store.changes.last()
    called = queue.Queue()
    stop = store.changes.subscribe(lambda: called.put(store.changes.last()))
    store.laws.add(panel.id, "a")
    assert called.get(timeout=60) == seen + 1
    store.judges.add(panel.id, "Ann")
    store.rounds.advance(panel.id, "closed")
    assert kinds_of_changes(store, panel, seen) == ["laws", "judges", "round"]
    assert [called.get(timeout=60) for _ in range(2)][-1] == seen + 3
    assert [change.id for change in store.changes.after(None, seen)] == [seen + 1, seen + 2, seen + 3]
    assert store.changes.last(panel.id) == store.changes.last() == seen + 3
    assert len(store.changes.after(panel.id, seen, limit=2)) == 2
    stop()
    store.laws.add(panel.id, "b")
    store.laws.add(panel.id, "c")
    assert called.empty()
    other = store.panels.create(panel.owner, "Another")
    assert kinds_of_changes(store, other) == ["panel"]


def test_a_refused_write_leaves_nothing(store, panel):
    before = store.changes.last()

    def both():
        store.laws.add(panel.id, "a")
        store.judges.add(panel.id, "Ann")
        store.judges.add(panel.id, "Ann")

    with pytest.raises(ConflictError):
        store.write(both)
    assert store.laws.list(panel.id) == store.judges.list(panel.id) == ()
    assert store.changes.last() == before


def test_reads_inside_a_write_see_it_and_others_do_not(store, panel):
    def action():
        store.laws.add(panel.id, "a")
        assert len(store.laws.list(panel.id)) == 1
        return store.read(lambda: len(store.laws.list(panel.id)))

    assert store.write(action) == 1

    def before_and_after():
        before = store.laws.list(panel.id)
        store.write(lambda: store.laws.add(panel.id, "b"))
        return before, store.laws.list(panel.id)

    before, after = store.read(before_and_after)
    assert before == after
    assert len(store.laws.list(panel.id)) == 2


def test_counts_are_those_of_the_lists(store):
    panel = store.panels.create(store.accounts.local().id, "Counted").id
    other = store.panels.create(store.accounts.local().id, "Other").id
    store.questions.add(other, "yes-no", "elsewhere", [("x", "x")])
    questions = [store.questions.add(panel, "yes-no", text, [(text, text)]) for text in ("a", "b", "c")]
    laws = [store.laws.add(panel, f"{text} -> d") for text in ("a", "b")]
    store.questions.withdraw(questions[1].id)
    store.laws.drop(laws[0].id)
    assert store.questions.count(panel) == len(store.questions.list(panel)) == 2
    assert store.laws.count(panel) == len(store.laws.list(panel)) == 1


def test_the_last_drawing_of_a_judge_holds_and_all_are_kept(store, panel, question, judge):
    first, second = {"way": "bins", "knots": [[0, 0.0], [1, 1.0]]}, {"way": "quantiles", "knots": [[0.1, 0.5]]}
    store.drawn.keep(judge.id, question.id, first)
    store.drawn.keep(judge.id, question.id, second)
    assert [each.curve for each in store.drawn.latest(panel.id)] == [second]
    assert store.drawn.latest(panel.id, store.judges.add(panel.id, "Bob").id) == ()
    store.drawn.keep(judge.id, question.id, {})
    assert store.drawn.latest(panel.id, judge.id) == ()
    assert [each.curve for each in store.drawn.history(panel.id)] == [first, second, {}]
    elsewhere = store.panels.create(store.accounts.local().id, "Another").id
    stranger = store.questions.add(elsewhere, "yes-no", "B?", [("b", "b")])
    with pytest.raises(NotFoundError):
        store.drawn.keep(judge.id, stranger.id, first)
