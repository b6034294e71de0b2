"""The logger "coherently" hears the notes that the command line prints, once per call, and nothing is printed."""

import logging
import subprocess
import sys

import pytest

import coherently as co

COMPACT = [("Ann", "S&P", 0.2), ("Ann", "q", 0.3), ("Bob", "q", 0.8), ("Bob", "q", 0.7)]
RESOLVED = {"q": True, "S": False, "P": False}


@pytest.fixture
def heard(caplog):
    caplog.set_level(logging.INFO, "coherently")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "coherently"]


def test_reading_a_panel_logs_its_notes(heard, tmp_path):
    panel = co.Panel.from_records(COMPACT)
    assert len(panel.notes) == 2
    assert heard() == list(panel.notes)
    file = tmp_path / "panel.csv"
    panel.frame().to_csv(file, index=False)
    again = co.read_panel(file)
    assert heard()[2:] == list(again.notes) != []


def test_each_call_logs_the_notes_of_its_answer_once(heard, caplog):
    panel = co.Panel.from_records(COMPACT, outcomes=RESOLVED)
    calls = {
        "aggregate": (lambda: co.aggregate(panel, weights={"Ann": 1, "Bob": 2}), lambda result: [result.note]),
        "check": (lambda: co.check(panel), lambda found: found.notes),
        "compare": (lambda: co.compare(panel, remake=True, bootstrap=3), lambda found: found.notes),
        "consistency": (lambda: co.consistency(panel, time_limit=0), lambda found: found.notes),
        "dutch_book": (lambda: co.dutch_book(panel), lambda book: book.notes),
        "weighted": (lambda: co.weighted(panel, {"Ann": 1, "Bob": 2}), lambda found: found.notes[-1:]),
        "individual": (lambda: co.individual(panel, "linear"), lambda found: found.notes[len(panel.notes) :]),
    }
    said = {}
    for name, (call, notes) in calls.items():
        caplog.clear()
        answer = call()
        assert heard() == [note for note in notes(answer) if note], name
        said[name] = len(heard())
    assert sum(map(bool, said.values())) >= 4, said


def test_nothing_is_printed_unless_somebody_listens():
    code = (
        "import coherently as co\n"
        f"panel = co.Panel.from_records({COMPACT!r})\n"
        "assert panel.notes\n"
        "co.aggregate(panel, weights={'Ann': 1, 'Bob': 2})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
