"""The list of deliberate faults can be applied: `make mutants` runs it."""

import pytest

from tests.mutants.faults import ROOT, Fault, read_faults

FAULTS = read_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_entries_fit_the_sources(fault):
    assert fault.complaint() is None
    assert fault.breaks
    before = (ROOT / fault.file).read_text("utf-8")
    assert fault.apply(before) != before


def test_there_are_enough_over_all_rooms():
    assert len(FAULTS) >= 60
    rooms = (
        "cpp/src",
        "src/coherently/solve",
        "src/coherently/problem",
        "src/coherently/verifier",
        "src/coherently/explain/bets",
        "src/coherently/result",
    )
    assert all(any(fault.file.startswith(room) for fault in FAULTS) for room in rooms)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"file": "src/coherently/nowhere.py"}, "there is no file src/coherently/nowhere.py"),
        ({"find": "certainly not in there"}, "has 0 places with the text 'certainly not in there'"),
        ({"find": "import"}, "give a text that occurs once"),
        ({"replace": "Mypy"}, "changes nothing"),
        ({"tests": ("tests/nowhere.py",)}, "there is no test tests/nowhere.py"),
        ({"tests": ()}, "names no tests"),
    ],
)
def test_stale_entries_say_what_is_wrong(tmp_path, changes, complaint):
    (tmp_path / "some.py").write_text("import a\nimport b\nMypy\n")
    (tmp_path / "test_some.py").write_text("")
    good = {"file": "some.py", "find": "Mypy", "replace": "mypy", "tests": ("test_some.py",)}
    assert Fault("good", breaks="", **good).complaint(tmp_path) is None
    assert complaint in Fault("bad", breaks="", **(good | changes)).complaint(tmp_path)
