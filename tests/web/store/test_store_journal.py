"""The store is a journal: a live panel that follows it has the answers of a panel that is read anew."""

import numpy as np
import pytest

import coherently as co
from coherently.live.journal import Journal
from coherently.live.kept.file_journal import FileJournal
from coherently.web.operations.store_journal import StoreJournal
from coherently.web.store import AnswerGiven, open_store

TEXTS = ("rain", "wind", "rain & wind", "~rain", "wind & rain", "storm", "wind given rain", "sun | storm")
LAWS = ("storm -> wind", "storm -> rain & wind  # both", "P(sun) <= 0.6", "variable other: a, b", "~(sun & storm)")


class Facilitated:
    """A panel on which anything may happen, at random."""

    def __init__(self, store, seed):
        self.store, self.rng = store, np.random.default_rng(seed)
        self.panel = store.panels.create(store.accounts.local().id, "x").id
        self.judges = [store.judges.add(self.panel, f"Judge {i}").id for i in range(4)]
        for text in TEXTS:
            store.questions.add(self.panel, "yes-no", text, [(text, text)])
        self.candidates = 0

    def step(self, store=None):
        store = store or self.store
        kind = self.rng.random()
        if kind < 0.75:
            self.answer(store)
        elif kind < 0.85:
            law = str(self.rng.choice(LAWS))
            held = {each.statement: each.id for each in store.laws.list(self.panel)}
            store.laws.drop(held[law]) if law in held else store.laws.add(self.panel, law)
        elif kind < 0.9:
            store.outcomes.record(self.panel, "rain", [True, False, None][int(self.rng.integers(3))])
        elif kind < 0.95:
            self.ask(store)
        else:
            store.questions.withdraw(str(self.rng.choice([each.id for each in store.questions.list(self.panel)])))

    def ask(self, store):
        self.candidates += 1
        name = f"winner{self.candidates}"
        events = [(f"{name} = Ann", "Ann"), (f"{name} = Bob", "Bob")]
        declaration = f"variable {name}: Ann, Bob, Cid"
        store.questions.add(self.panel, "partition", name, events, declaration=declaration)

    def answer(self, store):
        events = [event.id for question in store.questions.list(self.panel) for event in question.events]
        chosen = self.rng.choice(events, min(len(events), int(self.rng.integers(1, 4))), replace=False)
        kinds = [
            AnswerGiven(str(event), float(self.rng.random()))
            if self.rng.random() < 0.7
            else AnswerGiven(str(event), withdrawn=bool(self.rng.random() < 0.5))
            for event in chosen
        ]
        store.forecasts.record(str(self.rng.choice(self.judges)), kinds, phases=None)

    def scratch(self):
        """What stands, read from the store without any journal."""
        store, questions = self.store, self.store.questions.list(self.panel)
        texts = {event.id: event.event for question in questions for event in question.events}
        rows = [
            (each.judge, texts[each.event], each.probability)
            for each in store.forecasts.latest(self.panel)
            if each.event in texts and each.probability is not None
        ]
        declared = [each.declaration for each in questions if each.declaration]
        return rows, [*declared, *(each.statement for each in store.laws.list(self.panel))]

    def check(self, live):
        rows, laws = self.scratch()
        standing = live.panel()
        told = sorted(
            (judge.split(" ")[0], event, probability)
            for judge, event, probability in zip(
                standing.columns()["judge"], standing.columns()["event"], standing.probability.tolist(), strict=True
            )
        )
        assert [(judge, probability) for judge, _, probability in told] == [
            (judge, probability) for judge, _, probability in sorted(_as_first_written(standing, rows))
        ]
        if not rows:
            return
        answer = co.aggregate(co.Panel.from_records(rows, laws=laws), co.Exact())
        now = live.settle()
        assert now.is_settled, now.problems
        for _, text, _ in rows:
            assert now.probability(text) == pytest.approx(answer.probability(text), abs=2e-4)


def _as_first_written(panel, rows):
    """Rows with the text under which a panel knows an event."""
    reading = panel.events.find([text for _, text, _ in rows])
    first = {}
    for text, sides in zip(
        panel.written.text, zip(panel.written.event, panel.written.condition, strict=True), strict=True
    ):
        first.setdefault(tuple(map(int, sides)), text)
    return [
        (judge, first[int(sides[0]), int(sides[1])], probability)
        for (judge, _, probability), sides in zip(rows, reading.sides, strict=True)
    ]


def test_a_file_and_a_store_are_journals(store, panel, tmp_path):
    assert isinstance(StoreJournal(store, panel.id), Journal)
    with co.LivePanel(log=tmp_path / "book.log"):
        pass
    journal = FileJournal.open(tmp_path / "book.log")
    assert isinstance(journal, Journal)
    journal.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_live_panel_that_follows_the_store_has_the_answers_from_scratch(store, seed):
    room = Facilitated(store, seed)
    live, restarts = co.LivePanel.open(StoreJournal(store, room.panel), background=False), 0
    for _ in range(60):
        for _ in range(int(room.rng.integers(1, 4))):
            room.step()
        try:
            live.catch_up()
        except co.CoherentlyError as error:
            assert "so its outcome has no effect" in str(error)  # rain, which nobody forecast then
            restarts += 1
            live = co.LivePanel.open(StoreJournal(store, room.panel), background=False)
        room.check(live)
    assert restarts < 10


def test_changes_of_other_processes_are_followed(store_url):
    with open_store(store_url) as one, open_store(store_url) as other:
        room = Facilitated(one, 7)
        live = co.LivePanel.open(StoreJournal(one, room.panel), background=False)
        for _ in range(20):
            room.answer(other)
            room.answer(one)
            live.catch_up()
            room.check(live)
        assert live.catch_up() == 0


def test_a_revision_of_a_live_panel_is_in_the_store(store):
    room = Facilitated(store, 3)
    ann, bob = room.judges[:2]
    live = co.LivePanel.open(StoreJournal(store, room.panel), background=False)
    assert live.add(ann, "rain", 0.6) == 1
    room.store.forecasts.record(bob, [AnswerGiven(store.questions.list(room.panel)[1].events[0].id, 0.3)], phases=None)
    assert live.add(ann, "rain & wind", 0.7) == 3  # that of the other judge came before it
    live.revise(ann, "rain & wind", 0.2)
    live.add_law("storm -> wind")
    live.resolve("rain", True)
    room.check(live)
    assert [each.outcome for each in store.outcomes.latest(room.panel)] == [True]
    live.withdraw(ann, "rain")
    live.drop_law("storm -> wind")
    room.check(live)
    assert store.laws.list(room.panel) == ()
    again = co.LivePanel.open(StoreJournal(store, room.panel), background=False)
    assert again.panel().probability.tolist() == live.panel().probability.tolist()
    with pytest.raises(co.CoherentlyError, match="leave out weight"):
        live.add(ann, "storm", 0.5, weight=2)
    with pytest.raises(co.CoherentlyError, match="asks about no event 'snow'"):
        live.add(ann, "snow", 0.5)


def test_a_store_that_cannot_write_leaves_the_live_panel_as_it_was(store, monkeypatch):
    room = Facilitated(store, 3)
    live = co.LivePanel.open(StoreJournal(store, room.panel), background=False)
    live.add(room.judges[0], "rain", 0.6)

    def fail(*_, **__):
        raise co.CoherentlyError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store.forecasts, "record", fail)
        with pytest.raises(co.CoherentlyError, match="full"):
            live.revise(room.judges[0], "rain", 0.1)
    assert live.panel().probability.tolist() == [0.6]
    assert live.catch_up() == 0
