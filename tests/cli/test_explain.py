"""`coherently explain` and `--without` say what the Python interface says."""

import json

import numpy as np
import pytest

import coherently as co
from tests.cli.program import run

ROWS = """judge,event,probability
Ann,delay,0.35
Bob,delay,0.30
Finn,delay,0.40
Ann,overrun,0.30
Bob,overrun,0.35
Finn,delay & overrun,0.45
Ann,launch,0.6
"""


@pytest.fixture
def panel(tmp_path):
    (tmp_path / "panel.csv").write_text(ROWS)
    (tmp_path / "panel.laws").write_text("launch -> ~overrun\n")
    return tmp_path / "panel.csv"


def result(panel):
    return co.aggregate(co.read_panel(panel, laws=panel.with_suffix(".laws")))


def test_the_table_of_all(panel):
    laws = ("--laws", panel.with_suffix(".laws"))
    shown = run("explain", panel, *laws, check=0).stdout
    table = result(panel).influence()
    assert table.sentences[0] in shown
    finn = next(line.split() for line in shown.splitlines() if line.startswith("judge Finn"))
    assert finn[2:] == ["−3", "−3", "–", "·"]
    assert next(line for line in shown.splitlines() if line.startswith("question overrun")).split()[3] == "–"
    told = co.Influence.from_json(run("explain", panel, *laws, "--json", check=0).stdout)
    assert told == table
    run("explain", panel, *laws, "-o", panel.with_name("out.csv"), "--largest", 1, check=0)
    lines = panel.with_name("out.csv").read_text().splitlines()
    assert lines[0] == "kind,left_out,event,probability,without,change,estimate,exact"
    assert len(lines) == 1 + len(table.left) * len(table.events)


def test_why_one_number(panel):
    laws = ("--laws", panel.with_suffix(".laws"))
    shown = run("explain", panel, "delay", *laws, check=0).stdout.replace("\xa0", " ")
    assert "Delay is 36 %. The mean of its forecasts is 35 %" in shown
    assert "Delay and overrun together (45 %) cannot be likelier than delay alone (35 %)." in shown
    told = co.Why.from_json(run("explain", panel, "delay", *laws, "--json", check=0).stdout)
    assert told == result(panel).why("delay")
    assert "nobody forecast 'rain'" in run("explain", panel, "rain", check=2).stderr


def test_without_some_of_them_together(panel):
    laws = ("--laws", panel.with_suffix(".laws"))
    both = ("--without", "Finn", "--without", "law:launch -> ~overrun")
    told = co.Influence.from_json(run("explain", panel, *laws, *both, "--json", check=0).stdout)
    smaller = co.aggregate(co.read_panel(panel, laws=panel.with_suffix(".laws")).without("Finn", both[3]))
    assert [one.kind for one in told.left] == ["together"]
    for event, change in zip(told.events, told.left[0].change.tolist(), strict=True):
        if event == "delay & overrun":
            assert np.isnan(change)
        else:
            assert result(panel).probability(event) + change == pytest.approx(smaller.probability(event), abs=1e-9)
    shown = run("explain", panel, *laws, "--without", "Finn", check=0).stdout
    assert "Without Finn, 2 of 3 numbers move, the most by 3.3 points. About 1 event nobody is asked then." in shown
    assert "two different things" in run("explain", panel, "delay", "--without", "Finn", check=2).stderr


def test_aggregate_without(panel):
    done = run("aggregate", panel, "--without", "Finn", "--json", check=0)
    assert "note: Left out: the judge 'Finn'." in done.stderr
    values = json.loads(done.stdout)
    smaller = co.read_panel(panel).without("Finn")
    assert co.verify(smaller, co.Result.from_json(done.stdout))
    assert "delay & overrun" not in str(values)
    assert "did you mean 'Finn'" in run("aggregate", panel, "--without", "Fin", check=2).stderr


def test_the_report_without_somebody_prints_code_that_verifies_it(panel, monkeypatch):
    monkeypatch.chdir(panel.parent)
    done = run("aggregate", panel, "--without", "Finn", "--json", "--report", "page.html", check=0)
    (panel.parent / "certificate.json").write_text(done.stdout)
    assert "panel = panel.without(&#39;Finn&#39;)" in (panel.parent / "page.html").read_text().replace(
        "&#x27;", "&#39;"
    )
    names = {"co": co}
    exec("panel = co.read_panel('panel.csv')\npanel = panel.without('Finn')", names)
    assert co.verify(names["panel"], co.Result.from_json("certificate.json"))
