"""The logger "coherently" hears the notes that the command line prints; how a source was read is a warning."""

import logging
import subprocess
import sys
import warnings

import pytest
from typer.testing import CliRunner

import coherently as co
from coherently.cli.app import program

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


CODE = (
    "import coherently as co\n"
    f"panel = co.Panel.from_records({COMPACT!r})\n"
    "assert panel.notes\n"
    "co.aggregate(panel, weights={'Ann': 1, 'Bob': 2})\n"
)


def test_how_a_source_was_read_is_a_warning_and_nothing_else_is_printed():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.count("CoherentlyNote: ") == 2
    assert "<string>:2: CoherentlyNote: " in done.stderr
    silent = ["-W", "ignore::UserWarning"]
    done = subprocess.run([sys.executable, *silent, "-c", CODE], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_reading_warns_its_caller_once_for_each_note(tmp_path):
    with pytest.warns(co.CoherentlyNote) as heard:
        panel = co.Panel.from_records(COMPACT)
    assert [str(each.message) for each in heard] == list(panel.notes)
    assert {each.filename for each in heard} == {__file__}
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability,resolved\nAnn,p,0.4,1\nAnn,q,0.5,0\n")
    with pytest.warns(co.CoherentlyNote, match="resolved"):
        co.read_panel(file)


def test_calls_of_the_package_itself_do_not_warn(recwarn, tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability,resolved\nAnn,p,0.4,1\nAnn,q,0.5,0\n")
    warnings.simplefilter("always")
    done = CliRunner().invoke(program(), ["aggregate", str(file)])
    assert "note: " in done.stderr
    assert not [each for each in recwarn if issubclass(each.category, co.CoherentlyNote)]
