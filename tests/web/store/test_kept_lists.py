"""Questions and laws that are kept in memory are those of the store, whoever changed them."""

import pytest

from coherently.web.store import AnswerGiven, open_store
from coherently.web.store.resources import kept_lists


def ask(store, panel, text):
    return store.questions.add(panel, "yes-no", text, [(text, "")])


def texts(store, panel):
    return [event.event for question in store.questions.list(panel) for event in question.events]


def laws(store, panel):
    return [law.statement for law in store.laws.list(panel)]


def test_a_list_is_read_once_and_answers_do_not_change_it(store, panel, monkeypatch):
    asked = ask(store, panel.id, "rain")
    judge = store.judges.add(panel.id, "Ann")
    first = store.questions.list(panel.id)
    monkeypatch.setattr(store.questions._asked, "_find", None)  # it cannot be read again
    store.forecasts.record(judge.id, [AnswerGiven(asked.events[0].id, 0.5)])
    assert store.questions.list(panel.id) is first


def test_every_change_of_questions_and_laws_is_seen_also_that_of_another_process(store, store_url, panel):
    with open_store(store_url) as other:
        assert texts(store, panel.id) == laws(store, panel.id) == []
        rain, wind = ask(other, panel.id, "rain"), ask(store, panel.id, "wind")
        assert texts(store, panel.id) == texts(other, panel.id) == ["rain", "wind"]
        other.questions.move(wind.id, 1)
        assert texts(store, panel.id) == ["wind", "rain"]
        other.questions.edit(wind.id, title="Will it blow?", events=[(wind.events[0].id, "storm", "")])
        assert texts(store, panel.id) == ["storm", "rain"]
        other.questions.withdraw(rain.id)
        assert texts(store, panel.id) == ["storm"]
        other.questions.restore(rain.id)
        assert texts(store, panel.id) == ["storm", "rain"]
        law = other.laws.add(panel.id, "storm -> rain")
        assert laws(store, panel.id) == ["storm -> rain"]
        other.laws.drop(law.id)
        assert laws(store, panel.id) == []


def test_a_write_sees_what_it_wrote_and_nothing_is_kept_of_what_failed(store, panel):
    ask(store, panel.id, "rain")
    assert texts(store, panel.id) == ["rain"]

    def action():
        ask(store, panel.id, "wind")
        assert texts(store, panel.id) == ["rain", "wind"]
        raise KeyError

    with pytest.raises(KeyError):
        store.write(action)
    store.judges.add(panel.id, "Ann")  # this change takes the number of the one that was undone
    assert texts(store, panel.id) == ["rain"]


def test_a_moment_sees_its_own_list_though_a_newer_one_is_kept(store, store_url, panel):
    ask(store, panel.id, "rain")
    with open_store(store_url) as other:

        def action():
            before = texts(store, panel.id)
            ask(other, panel.id, "wind")
            store.questions._asked._kept.update(_newer(store_url, panel.id))
            return before, texts(store, panel.id)

        assert store.read(action) == (["rain"], ["rain"])
    assert texts(store, panel.id) == ["rain", "wind"]


def _newer(store_url, panel):
    with open_store(store_url) as reader:
        reader.questions.list(panel)
        return reader.questions._asked._kept


def test_many_changes_and_long_pauses_are_read_anew(store, panel, monkeypatch):
    asked = ask(store, panel.id, "rain")
    judge = store.judges.add(panel.id, "Ann")
    first = store.questions.list(panel.id)
    monkeypatch.setattr(kept_lists, "FEW", 2)
    for _ in range(3):
        store.forecasts.record(judge.id, [AnswerGiven(asked.events[0].id, 0.5)])
    second = store.questions.list(panel.id)
    assert second == first
    assert second is not first
    monkeypatch.setattr(kept_lists, "STALE", 0.0)
    assert store.questions.list(panel.id) is not second


def test_only_some_panels_are_kept(store, monkeypatch):
    monkeypatch.setattr(kept_lists, "KEPT", 2)
    for number in range(4):
        made = store.panels.create(store.accounts.local().id, f"Panel {number}")
        ask(store, made.id, f"x{number}")
        assert texts(store, made.id) == [f"x{number}"]
    assert len(store.questions._asked._kept) == 2
