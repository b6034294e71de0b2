"""Pools on the command line."""

import json

import numpy as np
import pytest

from tests.cli.program import run


@pytest.fixture
def panel(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text(",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n")
    return file


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["log"], 0.815001),
        (["median"], 0.75),
        (["trimmed", "--trim", "0"], 0.766667),
        (["extremised", "--exponent", "1"], 0.815001),
        (["neyman-roughgarden", "--prior", "0.766666666667"], 0.766667),
        (["shrunk", "--shrink", "1e-9"], 0.815001),
        (["shrunk", "--shrink", "1e9", "--prior", "0.3"], 0.3),
        (["normalised"], 0.766667),
        (["power"], 0.766667),
        (["shin"], 0.766667),
        (["linear", "--then", "exact", "--time-limit", "5"], 0.766667),
    ],
)
def test_words_and_options(panel, options, expected):
    answer = json.loads(run("aggregate", panel, "--json", "--method", *options, check=0).stdout)
    assert answer["forecasts"][0]["probability"] == pytest.approx(expected, abs=1e-6)
    assert answer["coherence"] == ("global" if "--then" in options else "none")


def test_a_pool_that_is_made_coherent_says_so(panel):
    done = run("aggregate", panel, "--method", "median", "--then", "dykstra", "--groups", "pairs", check=0)
    assert "note: Made of the median pool, at a weighted distance of" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["median", "--trim", "0.1"], "the pool median has no trim; trimmed can have it"),
        (["log", "--shrink", "2"], "the pool log has no shrink; shrunk can have it"),
        (["median", "--time-limit", "1"], "the method median has no option time_limit"),
        (["exact", "--then", "exact"], "the method exact has no option then; linear and recipe and"),
        (["linear", "--then", "nothing"], "unknown method 'nothing'"),
    ],
)
def test_errors(panel, options, message):
    assert message in run("aggregate", panel, "--method", *options, check=2).stderr


def test_lindley_reads_a_covariance(panel):
    file = panel.parent / "covariance.csv"
    file.write_text("judge,Alice,Bob,Chris\nAlice,1,0.5,0\nBob,0.5,2,0\nChris,0,0,4\n")
    done = run("aggregate", panel, "--json", "--method", "lindley", "--covariance", file, check=0)
    share = np.linalg.solve([[1, 0.5, 0], [0.5, 2, 0], [0, 0, 4]], np.ones(3))
    answer = json.loads(done.stdout)["forecasts"][0]["probability"]
    assert answer == pytest.approx(share @ [0.75, 0.60, 0.95] / share.sum(), abs=1e-6)
    assert "note: By the inverse covariance of the errors" in done.stderr
    file.write_text("event,variance\np,1\nq,1\n")
    refused = run("aggregate", panel, "--method", "lindley", "--covariance", file, "--over", "events", check=2)
    assert "the covariance has no entry for 'p & q' (events)" in refused.stderr


def test_dempster_shafer(panel):
    done = run("aggregate", panel, "--json", "--method", "dempster-shafer", "--reliability", "0.5", check=0)
    assert json.loads(done.stdout)["coherence"] == "global"
    assert "note: Conflict between the forecasts (K): " in done.stderr
