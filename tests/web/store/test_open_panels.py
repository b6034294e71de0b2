"""The board of a panel in memory is the board from scratch, whatever happened and whoever did it."""

import threading
from types import SimpleNamespace

import pytest
from sqlalchemy import delete

import coherently as co
from coherently.explain import judge_sheet as desk
from coherently.web.access.callers import AccountCaller
from coherently.web.access.workbench import Workbench
from coherently.web.operations import boards, open_panels
from coherently.web.operations.boards import answers_of, get_board
from coherently.web.operations.privacy import privacy_of, veil_of
from coherently.web.operations.questions import setting_of
from coherently.web.operations.sheets import standing
from coherently.web.settings import ServiceSettings
from coherently.web.store import AnswerGiven, open_store
from coherently.web.store.database.schema import change
from tests.web.store.test_store_journal import Facilitated


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(open_panels, "PAUSE", 0.0)


@pytest.fixture
def bench(store):
    yield Workbench(store, ServiceSettings(store.url))
    open_panels.close_panels(store)


def from_scratch(bench, panel):
    """What the board is made of, by nothing but the store."""
    store = bench.store
    records, setting = store.forecasts.latest(panel), setting_of(bench, panel)
    asked = {item.id for item in setting.items}
    answers = {}
    for record in records:
        if record.event in asked:
            answers.setdefault(record.judge, []).append(record)
    found = {judge: standing(own) for judge, own in answers.items()}
    meant = {}
    for record in store.meant.list(panel):
        meant.setdefault(record.judge, set()).add(record.key)
    veil = veil_of(records, privacy_of(bench, panel))
    shown = {judge: [each for each in own if each.event not in veil.events] for judge, own in found.items()}
    overview = veil.overview(desk.overview(setting, found, meant, 60.0))
    return SimpleNamespace(
        answers=found, records=records, veil=veil, overview=overview, ask_next=desk.ask_next(setting, shown)
    )


def check_board(bench, room):
    caller = AccountCaller(room.store.panels.get(room.panel).owner, "local")
    board, wanted = get_board(bench, caller, room.panel), from_scratch(bench, room.panel)
    assert answers_of(bench, room.panel) == wanted.answers
    assert open_panels.open_panel(bench, room.panel).moment().records == wanted.records
    assert board.overview == wanted.overview.as_dict()
    assert board.ask_next == [each.as_dict() for each in wanted.ask_next]
    assert board.hidden == sorted(wanted.veil.judges)
    counts = {each.id: each.answered for each in board.judges}
    assert counts == {judge: sum(each.judge == judge for each in wanted.records) for judge in counts}
    rows, laws = room.scratch()
    if wanted.veil.events:
        assert board.coherent is None
    elif rows and board.coherent is not None:
        answer = co.aggregate(co.Panel.from_records(rows, laws=laws), co.Exact())
        texts = {item.id: item.event for item in setting_of(bench, room.panel).items}
        answered = {each.event for each in wanted.records if each.probability is not None and each.event in texts}
        assert board.coherent.keys() == answered
        for event, value in board.coherent.items():
            assert value == pytest.approx(answer.probability(texts[event]), abs=2e-4)
    return board


@pytest.mark.parametrize("seed", range(3))
def test_the_board_is_that_from_scratch_after_anything(bench, store, seed):
    room = Facilitated(store, seed)
    room.judges[:2] = [store.judges.invite(room.panel, name)[0].id for name in ("Ann", "Bob")]
    seen = 0
    for step in range(25):
        for _ in range(int(room.rng.integers(1, 4))):
            room.step()
        if step % 8 == 5:
            phase = str(room.rng.choice(["discussion", "revision", "closed", "private"]))
            store.rounds.advance(room.panel, phase)
        seen += check_board(bench, room).coherent is not None
    assert seen > 3


def test_boards_of_two_processes_agree(store_url):
    with open_store(store_url) as one, open_store(store_url) as other:
        room = Facilitated(one, 5)
        benches = [Workbench(store, ServiceSettings(store.url)) for store in (one, other)]
        for step in range(8):
            room.answer((one, other)[step % 2])
            first, second = (check_board(bench, room) for bench in benches)
            assert first == second
        for store in (one, other):
            open_panels.close_panels(store)


def test_an_answer_is_a_revision_and_nothing_is_begun_anew(bench, store, monkeypatch):
    room = Facilitated(store, 2)
    for _ in range(10):
        room.answer(store)
    check_board(bench, room)
    opened = []
    monkeypatch.setattr(open_panels.LivePanel, "open", lambda *_, **__: opened.append(1))
    for _ in range(10):
        room.answer(store)
        check_board(bench, room)
    assert not opened


def test_the_number_of_open_panels_is_bounded(bench, store, monkeypatch):
    monkeypatch.setattr(open_panels, "KEPT", 2)
    rooms = [Facilitated(store, seed) for seed in range(4)]
    for room in [*rooms, *rooms]:
        room.answer(store)
        check_board(bench, room)
        assert len(open_panels._open) <= 2


def test_a_panel_that_is_too_large_has_a_board_without_coherent_values(bench, store, monkeypatch):
    monkeypatch.setattr(open_panels, "MOST_ANSWERS", 3)
    room = Facilitated(store, 2)
    for _ in range(8):
        room.answer(store)
        board = check_board(bench, room)
    assert board.coherent is None


def test_a_live_panel_that_remembers_too_much_is_begun_anew(bench, store, monkeypatch):
    monkeypatch.setattr(open_panels, "MOST_REVISIONS", 5)
    room = Facilitated(store, 2)
    for _ in range(12):
        room.answer(store)
        check_board(bench, room)
    assert open_panels.open_panel(bench, room.panel)._live.current().revision <= 8


def test_a_panel_that_nobody_looked_at_for_long_is_begun_anew(bench, store, monkeypatch):
    """The changes that it did not see may be gone from the store."""
    room = Facilitated(store, 2)
    room.answer(store)
    check_board(bench, room)
    for _ in range(5):
        room.answer(store)
    store.in_transaction(lambda connection: connection.execute(delete(change)))
    monkeypatch.setattr(open_panels, "STALE", 0.0)
    check_board(bench, room)


def test_a_board_that_failed_on_its_way_is_begun_anew(bench, store, monkeypatch):
    """What the journal told before the fault is not lost."""
    room = Facilitated(store, 2)
    for _ in range(5):
        room.answer(store)
        check_board(bench, room)
    with monkeypatch.context() as patch:
        patch.setattr(open_panels.LivePanel, "settle", lambda *_: 1 / 0)
        room.answer(store)
        with pytest.raises(ZeroDivisionError):
            check_board(bench, room)
    check_board(bench, room)


def test_many_look_while_many_answer(bench, store):
    room = Facilitated(store, 4)
    events = [event.id for question in store.questions.list(room.panel) for event in question.events]
    caller = AccountCaller(store.panels.get(room.panel).owner, "local")
    faults = []

    def answer(judge):
        for number in range(10):
            store.forecasts.record(judge, [AnswerGiven(events[number % len(events)], number / 10)])

    def look():
        try:
            for _ in range(5):
                get_board(bench, caller, room.panel)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=answer, args=(judge,)) for judge in room.judges]
    threads += [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    check_board(bench, room)


@pytest.mark.parametrize("is_before", [False, True])
def test_the_round_is_asked_after_the_answers_are_read(bench, store, monkeypatch, is_before):
    """Whoever read the round first could show numbers of one that opened in between."""
    room = Facilitated(store, 6)
    ann = store.judges.invite(room.panel, "Ann")[0].id
    store.rounds.advance(room.panel, "closed")
    event = store.questions.list(room.panel)[0].events[0].id
    real = boards.privacy_of

    def meanwhile(bench, panel):
        first = real(bench, panel)
        store.rounds.advance(panel, "revision")
        store.forecasts.record(ann, [AnswerGiven(event, 0.123)])
        return first if is_before else real(bench, panel)

    monkeypatch.setattr(boards, "privacy_of", meanwhile)
    caller = AccountCaller(store.panels.get(room.panel).owner, "local")
    assert "0.123" not in get_board(bench, caller, room.panel).model_dump_json()
