"""Weights of judges on the command line."""

import json

import pytest

from tests.cli.program import run


@pytest.fixture
def panel(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text(",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n")
    (tmp_path / "weights.csv").write_text("judge,weight\nAlice,1\nBob,2\nChris,0\n")
    (tmp_path / "past.csv").write_text("judge,event,probability,outcome\nAlice,a,0.9,1\nBob,a,0.4,1\n")
    return file


def test_listed_weights(panel):
    done = run("aggregate", panel, "--method", "linear", "--json", "--weights", panel.parent / "weights.csv", check=0)
    assert json.loads(done.stdout)["forecasts"][0]["probability"] == pytest.approx(0.65)
    assert "note: Judges are weighted as listed in" in done.stderr
    assert "Left out, by a weight of 0: Chris." in done.stderr


def test_weightings_multiply(panel):
    done = run(
        *("aggregate", panel, "--method", "linear", "--json", "--weighting", "coherence"),
        *("--history", panel.parent / "past.csv"),
        check=0,
    )
    alice, bob = (10 + 1) / (10 + 0.01 / 0.185), (10 + 1) / (10 + 0.36 / 0.185)
    mean = (0.75 * alice + 0.60 * bob) / (alice + bob)
    assert json.loads(done.stdout)["forecasts"][0]["probability"] == pytest.approx(mean)
    assert "by their coherence (beta 1) and by their past Brier scores (Chris has no history" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weighting", "coherent"], "unknown weighting 'coherent'; the weightings are equal, coherence, consensus"),
        (["--weights", "nowhere.csv"], "nowhere.csv"),
        (["--history", "panel.csv"], "the history has no outcomes"),
    ],
)
def test_errors(panel, options, message):
    done = run("aggregate", panel, *options, cwd=panel.parent, check=2)
    assert message in done.stderr
