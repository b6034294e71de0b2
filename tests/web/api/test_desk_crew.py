"""Work on answers is done in processes of its own: nobody waits for long, and no sheet slows another."""

import contextvars
import threading
import time
from dataclasses import replace

import pytest

from coherently.errors import CoherentlyError
from coherently.web.access import desk_crew
from coherently.web.access.desk_crew import DeskCrew
from tests.web.api import desk_work
from tests.web.api.service import UNHURRIED, Service, Weather

PATIENCE = 60.0


@pytest.fixture
def crew():
    made = DeskCrew(2)
    made.start()
    yield made
    made.close()


def test_values_and_errors_come_back(crew):
    assert [crew.ask("Ann", PATIENCE, desk_work.double, number) for number in range(20)] == list(range(0, 40, 2))
    with pytest.raises(CoherentlyError, match="no such thing"):
        crew.ask("Ann", PATIENCE, desk_work.refuse, "no such thing")


def test_who_waits_too_long_goes_on_and_finds_it_done_later(crew):
    crew.ask("Ann", PATIENCE, desk_work.double, 1)
    assert crew.ask("Ann", 0.01, desk_work.rest, 0.5, 1) is None
    assert crew.ask("Ann", PATIENCE, desk_work.rest, 0.5, 1) == "rested"
    begun = time.thread_time()
    assert crew.ask("Ann", 0.0, desk_work.rest, 0.5, 1) == "rested"  # it is kept
    assert time.thread_time() - begun < 0.4


def test_what_is_unfinished_is_not_kept(crew):
    assert crew.ask("Ann", PATIENCE, desk_work.begin, 1) is not crew.ask("Ann", PATIENCE, desk_work.begin, 1)


def test_slow_work_does_not_keep_others_waiting(crew):
    """Two sheets take all processes for a minute; a third person is answered all the same, long before they are."""
    hogs = [
        threading.Thread(target=crew.ask, args=(name, PATIENCE, desk_work.toil, 50.0, name)) for name in ("Bob", "Cid")
    ]
    begun = time.monotonic()
    for hog in hogs:
        hog.start()
    time.sleep(0.2)
    assert crew.ask("Ann", PATIENCE, desk_work.double, 4) == 8
    assert time.monotonic() - begun < 45.0
    crew.close()
    for hog in hogs:
        hog.join()


def test_too_much_slow_work_is_ended(crew):
    hogs = []
    for number in range(6):
        asked = (f"hog {number}", PATIENCE, desk_work.toil, 50.0, number)
        hogs.append(threading.Thread(target=crew.ask, args=asked))
        hogs[-1].start()
    assert crew.ask("Ann", 45.0, desk_work.double, 4) == 8
    assert len(crew._workers) <= 2 + desk_crew.MORE + 2
    crew.close()
    for hog in hogs:
        hog.join()


def test_a_process_that_is_lost_is_replaced(crew):
    first = crew.ask("Ann", PATIENCE, desk_work.process, 1)
    assert crew.ask("Ann", PATIENCE, desk_work.die, 1) is None
    assert crew.ask("Bob", PATIENCE, desk_work.die, 2) is None
    assert crew.ask("Ann", PATIENCE, desk_work.process, 2) not in (None, first)


def test_of_what_one_person_asks_for_only_the_last_is_done():
    crew = DeskCrew(1)
    crew.start()
    crew.ask("Ann", PATIENCE, desk_work.double, 0)
    blocking = threading.Thread(target=crew.ask, args=("Bob", PATIENCE, desk_work.rest, 0.4, 0))
    blocking.start()
    time.sleep(0.1)
    found = {}
    asking = [
        threading.Thread(target=lambda n=n: found.update({n: crew.ask("Ann", PATIENCE, desk_work.double, n)}))
        for n in (5, 6, 7)
    ]
    for thread in asking:
        thread.start()
        time.sleep(0.03)
    for thread in [*asking, blocking]:
        thread.join()
    crew.close()
    assert found[7] == 14
    assert {found[5], found[6]} <= {None, 10, 12}


def test_the_same_feedback_as_in_the_process_that_serves(tmp_path):
    told = []
    for number, processes in enumerate((0, 2)):
        limits = replace(UNHURRIED, page_seconds=PATIENCE)
        with Service(f"sqlite:///{tmp_path}/{number}.db", limits, desk_processes=processes) as service:
            weather = Weather(service)
            weather.say(weather.ann, rain=0.3, wind=0.5, rain_wind=0.4)
            feedback = weather.ann.get("/sheet").json()["feedback"]
            key = feedback["contradictions"][0]["key"]
            changes = weather.ann.post("/sheet/fit", json={"key": key}).json()["changes"]
            board = weather.api.get(f"{weather.path}/board").json()["overview"]
            names = {id_: text for text, id_ in weather.events.items()} | {weather.ann_record["id"]: "Ann"}
            text = f"{feedback['states']} {feedback['contradictions'][0]['sentence']} {changes} {board['unchecked']}"
            for id_, name in names.items():
                text = text.replace(id_, name)
            told.append(text)
            assert weather.api.get(f"{weather.path}/laws").json()["follows"]
    assert told[0] == told[1]


def test_pages_say_what_is_not_finished(tmp_path):
    """Nothing is worked out in no time: every page is there, and none says that anything fits."""
    limits = replace(UNHURRIED, page_seconds=0.0)
    with Service(f"sqlite:///{tmp_path}/store.db", limits, desk_processes=1) as service:
        service.bench.desk.ask = lambda *_: None
        weather = Weather(service)
        saved = weather.say(weather.ann, rain=0.3, wind=0.5, rain_wind=0.4).json()["feedback"]
        assert set(saved["states"].values()) == {"not-checked"}
        assert (saved["checked"], saved["finished"]) == (False, False)
        assert weather.api.get(f"{weather.path}/laws").json()["follows"] is None
        board = weather.api.get(f"{weather.path}/board").json()["overview"]
        assert (board["checked"], board["finished"], board["unchecked"]) == (False, False, [weather.ann_record["id"]])
        weather.close()
        weather.api.post(f"{weather.path}/rounds", json={"phase": "closed"}).raise_for_status()
        assert weather.ann.get("/sheet/closing").json()["fates"] is None


def test_looks_of_one_request_share_its_seconds(monkeypatch):
    assert desk_crew._left(0.5) == 0.5
    now = time.monotonic()

    def asked():
        desk_crew.begin_request()
        monkeypatch.setattr(desk_crew.time, "monotonic", lambda: now + 0.3)
        first = desk_crew._left(0.5)
        monkeypatch.setattr(desk_crew.time, "monotonic", lambda: now + 10.0)
        return first, desk_crew._left(0.5)

    monkeypatch.setattr(desk_crew.time, "monotonic", lambda: now)
    first, late = contextvars.copy_context().run(asked)
    assert first == pytest.approx(0.2)
    assert late == desk_crew.LEAST
