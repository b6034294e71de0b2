"""What pages print for those who verify a result is run as printed, in a folder with the files that it names."""

import base64
import json
import re
import shlex
import shutil

import pytest
from typer.testing import CliRunner

import coherently as co
from coherently.cli.app import program
from tests.report.pages import parse, printed_by, verifying_code_of

PANEL = "judge,event,probability\nAnn,p,0.9\nAnn,p & q,0.95\nAnn,q,0.3\nBob,p,0.4\nBob,q,0.6\nBob,p | q,0.5\n"
FILES = {
    "panel.csv": PANEL,
    "per cent.csv": "judge,event,probability\nAnn,p,90\nAnn,q,\nBob,p,40\nBob,p,50\nBob,p & q,70\n",
    "names.csv": "judge,event,probability\nAnn,p & q?,0.9\nBob,p & q?,0.4\n",
    "odd.csv": "Name;Risk;Chance\nAnn;p;0,9\nAnn;p & q;0,95\nBob;q;0,3\n",
    "laws.txt": "p -> q  # as always\nP(q) <= 0.8\n",
    "weights.csv": "judge,weight\nAnn,0.3\nBob,1.7\n",
    "past.csv": "judge,event,probability,outcome\nAnn,x,0.9,1\nAnn,y,0.7,0\nBob,x,0.4,1\nBob,y,0.2,0\n",
}
RUNS = {
    "alone": ["panel.csv"],
    "with laws": ["panel.csv", "--laws", "laws.txt"],
    "in per cent": ["per cent.csv", "--percent", "--missing", "abstain", "--repeats", "mean"],
    "the last of repeats": ["per cent.csv", "--percent", "--missing", "abstain", "--repeats", "last"],
    "plain names": ["names.csv", "--plain-events"],
    "with weights": ["panel.csv", "--weights", "weights.csv"],
    "with weights and letters for judges": ["panel.csv", "--weights", "weights.csv", "--anonymous"],
    "with a history": ["panel.csv", "--laws", "laws.txt", "--history", "past.csv"],
    "weighted by a word": ["panel.csv", "--weighting", "coherence-consensus"],
    "weighted by all": [
        *("panel.csv", "--weights", "weights.csv", "--weighting", "consensus", "--history", "past.csv"),
        *("--method", "dykstra"),
    ],
    "a table as people have it": ["odd.csv", "--columns", "event=Risk,judge=Name", "--separator", "semicolon"],
    "pooled": ["panel.csv", "--method", "median"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save_certificate(page, folder):
    link = re.search(r'href="data:application/json;base64,([^"]+)"', page)[1]
    (folder / "certificate.json").write_bytes(base64.b64decode(link))


@pytest.mark.parametrize("word", RUNS)
def test_the_code_of_a_report_verifies_its_result(word, folder, tmp_path):
    found = CliRunner().invoke(program(), ["aggregate", *RUNS[word], "--report", "page.html"])
    assert found.exit_code == 0, found.output
    page = (folder / "page.html").read_text("utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in FILES:
        shutil.copy(folder / name, elsewhere)
    save_certificate(page, elsewhere)
    code = verifying_code_of(page)
    assert printed_by(elsewhere, code).startswith("<Verification: every promise that could be checked is kept")
    record = json.loads((elsewhere / "certificate.json").read_text("utf-8"))
    record["forecasts"][0]["weight"] += 1e-3
    (elsewhere / "certificate.json").write_text(json.dumps(record), "utf-8")
    assert "promises broken" in printed_by(elsewhere, code)


def test_another_panel_or_other_weights_are_noticed(folder):
    CliRunner().invoke(program(), ["aggregate", *RUNS["with a history"], "--report", "page.html"])
    page = (folder / "page.html").read_text("utf-8")
    save_certificate(page, folder)
    (folder / "past.csv").write_text(FILES["past.csv"].replace("0.9", "0.8"), "utf-8")
    assert "the result was made from another panel" in printed_by(folder, verifying_code_of(page))


@pytest.mark.parametrize("word", RUNS)
def test_the_command_of_a_report_verifies_its_result(word, folder, monkeypatch, tmp_path):
    found = CliRunner().invoke(program(), ["aggregate", *RUNS[word], "--report", "page.html"])
    assert found.exit_code == 0, found.output
    page = (folder / "page.html").read_text("utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in FILES:
        shutil.copy(folder / name, elsewhere)
    save_certificate(page, elsewhere)
    monkeypatch.chdir(elsewhere)
    name, *words = shlex.split(command_of(page))
    assert name == "coherently"
    done = CliRunner().invoke(program(), words)
    assert (done.exit_code, done.output.splitlines()[0]) == (0, "Every promise that could be checked is kept.")
    record = json.loads((elsewhere / "certificate.json").read_text("utf-8"))
    record["forecasts"][0]["weight"] += 1e-3
    (elsewhere / "certificate.json").write_text(json.dumps(record), "utf-8")
    assert CliRunner().invoke(program(), words).exit_code == 1


def test_the_page_of_a_check_says_how_its_result_is_verified(folder):
    words = ["check", "panel.csv", "--laws", "laws.txt", "--weights", "weights.csv", "--report", "page.html"]
    for more in ([], ["--judge", "Ann"]):
        assert CliRunner().invoke(program(), [*words, *more]).exit_code == 1
        page = (folder / "page.html").read_text("utf-8")
        save_certificate(page, folder)
        printed = printed_by(folder, verifying_code_of(page))
        assert printed.startswith("<Verification: every promise that could be checked is kept"), printed


def command_of(page):
    (found,) = [node for node in parse(page).iter("pre") if node.get("class") == "command"]
    return "".join(found.itertext())


@pytest.mark.parametrize("command", ["check", "aggregate"])
def test_an_anonymous_page_has_no_name_of_a_judge(folder, command):
    words = [command, "panel.csv", "--laws", "laws.txt", "--weights", "weights.csv", "--report"]
    named, letters = (
        CliRunner().invoke(program(), [*words, name, *more])
        for name, more in (("a.html", []), ("b.html", ["--anonymous"]))
    )
    assert named.exit_code == letters.exit_code
    before, after = ((folder / name).read_text("utf-8") for name in ("a.html", "b.html"))
    assert re.search(r"\bAnn\b", before)
    assert not re.search(r"\b(Ann|Bob)\b", after)
    assert "Judge A" in after
    assert named.output.replace("a.html", "b.html") == letters.output


def test_what_would_name_somebody_is_refused_beside_an_anonymous_page(folder):
    for words in (["check", "panel.csv", "--judge", "Ann"], ["aggregate", "panel.csv", "--without", "Ann"]):
        found = CliRunner().invoke(program(), [*words, "--report", "c.html", "--anonymous"])
        assert "--anonymous cannot be combined" in str(found.exception or found.output)
        assert not (folder / "c.html").exists()
    assert "add --report" in str(CliRunner().invoke(program(), ["check", "panel.csv", "--anonymous"]).exception)


def test_a_report_in_python_is_anonymous_too():
    panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
    result = co.aggregate(panel)
    page = result.report(anonymous=True).page
    assert not re.search(r"\b(Ann|Bob)\b", page)
    assert "panel = panel.anonymous()" in page
    assert "Ann" in result.report().page
