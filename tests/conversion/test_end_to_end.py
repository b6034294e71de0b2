"""What conversions write is what panels are read from."""

from pathlib import Path

import numpy as np
import pytest

import coherently as co
from tests.cli.test_cli import run

DATA = Path(__file__).parent / "data"


def read(folder):
    beside = {"laws": "laws.txt", "outcomes": "outcomes.csv", "labels": "labels.csv"}
    return co.read_panel(
        folder / "panel.csv", **{word: folder / name for word, name in beside.items() if (folder / name).exists()}
    )


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


def test_consistency_tuples_become_coherent(tmp_path):
    co.convert("consistency", [DATA / "consistency" / name for name in ("Ann", "Bob")], tmp_path / "out")
    panel = read(tmp_path / "out")
    title = {label: event for event, label in panel.labels.items()}
    rain, hail = title["Will it rain?"], title["Will it hail?"]
    result = co.aggregate(panel, "exact")
    assert result.coherence == "global"
    assert result.probability(title["Is rain coming?"]) == pytest.approx(result.probability(rain), abs=1e-9)
    assert result.probability(title["Will there be any precipitation?"]) >= result.probability(hail) - 1e-9


def test_the_command_lines_of_the_how_to(tmp_path):
    for word in ("metaculus", "forecastbench", "consistency"):
        sources = [DATA / word] if word != "consistency" else sorted((DATA / word).iterdir())
        run("convert", "--from", word, *sources, "-o", word, cwd=tmp_path, check=0)
        files = {"--laws": "laws.txt", "--outcomes": "outcomes.csv", "--labels": "labels.csv"}
        beside = [
            part
            for option, name in files.items()
            if (tmp_path / word / name).exists()
            for part in (option, f"{word}/{name}")
        ]
        done = run("aggregate", f"{word}/panel.csv", *beside, cwd=tmp_path, check=0)
        assert "coherent all together" in " ".join(done.stdout.split())
