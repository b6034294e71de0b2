"""What conversions write is what panels are read from."""

from pathlib import Path

import numpy as np
import pytest

import coherently as co
from tests.cli.program import run

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


def test_a_metaculus_download_becomes_coherent(tmp_path):
    co.convert("metaculus", DATA / "metaculus", tmp_path / "out", partitions=[7])
    panel = read(tmp_path / "out")
    result = co.aggregate(panel, "exact")
    assert (result.coherence, result.status) == ("global", "optimal")
    shares = [result.probability(f"q12 = {value}") for value in ("Oak", '"Beech\'s rival"', "Elm")]
    assert sum(shares) == pytest.approx(1.0, abs=1e-9)
    brackets = [result.probability(f'g6 = "{label}"') for label in ("fewer than 100", "100–199", "200 or more")]
    # Bob's .2 .5 .4 are projected on the simplex: each loses a thirtieth.
    np.testing.assert_allclose(brackets, np.array([0.2, 0.5, 0.4]) - 0.1 / 3, atol=1e-9)
    assert result.probability("g5 < 2026-08-01") == pytest.approx(0.45, abs=1e-9)
    assert result.probability("g5 < 2026-09-01") == pytest.approx(0.45, abs=1e-9)
    assert result.probability("g7 = Ann") + result.probability("g7 = Bob") == pytest.approx(1.0, abs=1e-9)
    heights = [result.probability(f"q13 <= {x}") for x in range(1, 11)]
    np.testing.assert_allclose(heights, 0.095 * np.arange(1, 11), atol=1e-9)
    outcome = dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))
    assert (outcome["q13 <= 4"], outcome["q13 <= 5"], outcome["q12 = Oak"]) == (0, 1, 1)
    assert co.verify(panel, result)


@pytest.mark.parametrize("word", ["metaculus", "forecastbench"])
def test_the_command_lines_of_the_how_to(tmp_path, word):
    run("convert", "--from", word, DATA / word, "-o", "out", cwd=tmp_path, check=0)
    files = {"--laws": "laws.txt", "--outcomes": "outcomes.csv", "--labels": "labels.csv"}
    given = [(option, f"out/{name}") for option, name in files.items() if (tmp_path / "out" / name).exists()]
    done = run("aggregate", "out/panel.csv", *(part for pair in given for part in pair), cwd=tmp_path, check=0)
    assert "jointly coherent" in " ".join(done.stdout.split())


def test_consistency_tuples_become_coherent(tmp_path):
    co.convert("consistency", [DATA / "consistency" / name for name in ("Ann", "Bob")], tmp_path / "out")
    panel = read(tmp_path / "out")
    title = {label: event for event, label in panel.labels.items()}
    rain, hail = title["Will it rain?"], title["Will it hail?"]
    result = co.aggregate(panel, "exact")
    assert result.coherence == "global"
    assert result.probability(title["Is rain coming?"]) == pytest.approx(result.probability(rain), abs=1e-9)
    assert result.probability(title["Will there be any precipitation?"]) >= result.probability(hail) - 1e-9
