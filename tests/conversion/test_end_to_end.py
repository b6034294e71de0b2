"""What conversions write is what panels are read from."""

from pathlib import Path

import coherently as co

DATA = Path(__file__).parent / "data"


def read(folder):
    beside = {"laws": "laws.txt", "outcomes": "outcomes.csv", "labels": "labels.csv"}
    return co.read_panel(
        folder / "panel.csv", **{word: folder / name for word, name in beside.items() if (folder / name).exists()}
    )


def test_a_metaculus_download_is_read_with_its_laws(tmp_path):
    co.convert("metaculus", DATA / "metaculus", tmp_path / "out", partitions=[7])
    panel = read(tmp_path / "out")
    kinds = {choice.name: (choice.kind, len(choice.atoms), choice.complete) for choice in panel.events.choices()}
    assert kinds == {
        "q12": ("named", 3, True),
        "q13": ("number", 10, False),
        "q14": ("date", 10, False),
        "q15": ("number", 9, False),
        "g5": ("date", 2, False),
        "g6": ("named", 3, True),
        "g7": ("named", 1, False),  # of two values one is the other's complement
    }
    outcome = dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))
    assert (outcome["q13 <= 4"], outcome["q13 <= 5"], outcome["q12 = Oak"], outcome["g7 = Ann"]) == (0, 1, 1, -1)
    assert set(panel.labels) == set(panel.written.text)


def test_consistency_tuples_are_read_with_their_laws(tmp_path):
    co.convert("consistency", [DATA / "consistency" / name for name in ("Ann", "Bob")], tmp_path / "out")
    panel = read(tmp_path / "out")
    assert len(panel.laws) == 2
    outcome = dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))
    title = {label: event for event, label in panel.labels.items()}
    known = {label: outcome[title[label]] for label in ("Will it rain?", "Will it stay dry?", "Is rain coming?")}
    assert known == {"Will it rain?": 1, "Will it stay dry?": 0, "Is rain coming?": 1}
    assert "Will it hail without rain?" in title
    assert outcome[title["Will it hail without rain?"]] == 0
