import json

import numpy as np
import pytest

from tests.cli.program import run


@pytest.fixture
def panel(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability\nA,p,0.7\nB,q,0.6\nB,q & r,0.2\n")
    return file


def test_bounds_as_a_table(panel):
    shown = run("bounds", panel, "p & q", "q | s", "q given p", check=0).stdout.splitlines()
    assert shown[0].split() == ["event", "low", "high", "note"]
    assert shown[1].split() == ["p", "&", "q", "0.3000", "0.6000"]
    assert shown[2].split() == ["q", "|", "s", "0.6000", "1.0000", "the", "panel", "says", "nothing", "about", "s"]
    assert shown[3].split() == ["q", "given", "p", "0.4286", "0.8571"]


def test_bounds_as_json(panel):
    answer = json.loads(run("bounds", panel, "p & q", "true", "--method", "exact", "--json", check=0).stdout)
    assert list(answer) == ["format", "version", "status", "coherence", "method", "bounds"]
    assert (answer["status"], answer["coherence"], answer["method"]) == ("optimal", "global", "exact")
    first, second = answer["bounds"]
    assert list(first) == ["event", "low", "high", "certified", "note"]
    np.testing.assert_allclose([first["low"], first["high"]], [0.3, 0.6], atol=1e-7)
    assert second == {"event": "true", "low": 1.0, "high": 1.0, "certified": True, "note": None}


def test_bounds_in_a_file(panel, tmp_path):
    run("bounds", panel, "p & q", "-o", tmp_path / "out.csv", "--time-limit", "5", check=0)
    header, row = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "event,low,high,certified,note"
    assert row.startswith("p & q,0.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["p &"], "expected an event after '&'"),
        (["p given q & ~q"], "the condition after 'given' can never be true"),
        (["p", "--method", "linear"], "the coherence of these is none: aggregate with the method exact"),
        (["p", "--time-limit", "-1"], "time_limit is -1.0"),
        (["p", "--method", "annealing", "--time-limit", "-1"], "time_limit is -1.0"),
    ],
)
def test_what_has_no_bounds_is_refused(panel, arguments, message):
    assert message in run("bounds", panel, *arguments, check=2).stderr
