"""`coherently relate`: proposals, decisions and laws at the command line."""

import json
import subprocess
import sys

import pytest

import coherently as co

QUESTIONS = """id,text
june,"Rates cut by June 30, 2026"
december,"Rates cut by December 31, 2026"
btc70,"BTC above $70k on Dec 31, 2026"
btc80,"BTC above $80k on Dec 31, 2026"
"""
PANEL = "judge,event,probability\nAnn,june,0.6\nAnn,december,0.3\nAnn,btc80,0.5\nAnn,btc70,0.4\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q.csv").write_text(QUESTIONS, "utf-8")
    (tmp_path / "panel.csv").write_text(PANEL, "utf-8")
    return tmp_path


def run(folder, *arguments, answers=""):
    done = subprocess.run(
        [sys.executable, "-m", "coherently", *arguments],
        cwd=folder,
        input=answers,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_proposals_wait_and_nothing_is_a_law(folder):
    code, out, _ = run(folder, "relate", "q.csv", "--write-laws", "x.laws", "-o", "p.json")
    assert code == 1
    assert "0 accepted, 2 waiting" in " ".join(out.split())
    lines = (folder / "x.laws").read_text("utf-8").splitlines()
    assert all(line.startswith("#") for line in lines)
    again = json.loads((folder / "p.json").read_text("utf-8"))
    assert [one["status"] for one in again["proposals"]] == ["proposed"] * 2


def test_a_review_decides_family_by_family_and_check_names_law_class_and_person(folder):
    assert run(folder, "relate", "q.csv", "-o", "p.json", "--accept", "certain")[0] == 1
    code, out, err = run(
        folder, "relate", "--review", "p.json", "--write-laws", "x.laws", answers="Ann\na\nthe same bank\n"
    )
    assert code == 0, out + err
    (line,) = (folder / "relations.decisions.jsonl").read_text("utf-8").splitlines()
    told = json.loads(line)
    assert (told["by"], told["reason"], told["decision"]) == ("Ann", "the same bank", "accept")
    code, out, _ = run(folder, "check", "panel.csv", "--laws", "x.laws")
    assert code == 1
    said = " ".join(out.split())
    assert "by the law june -> december (likely, deadline ladder, accepted by Ann, 20" in said
    assert "by the law btc80 <-> btc > 80000 (certain, threshold ladder, accepted by --accept certain)" in said
    told = json.loads(run(folder, "check", "panel.csv", "--laws", "x.laws", "--json")[1])
    origins = {one["law"]: one for one in told["origins"]}
    assert origins["june -> december"]["strength"] == "likely"
    assert origins["june -> december"]["accepted_by"].startswith("Ann, 20")
    assert origins["btc80 <-> btc > 80000"]["rule"] == "threshold ladder"
    assert len(told["grounds"]) == len(told["contradictions"])
    assert set().union(*told["grounds"]) <= set(origins)
    assert ["june -> december"] in told["grounds"]
    again = co.Check.from_dict(told)
    assert again.as_dict() == told
    assert str(again.origins["june -> december"]).startswith("likely, deadline ladder, accepted by Ann")


def test_decisions_of_a_file_need_no_terminal(folder):
    run(folder, "relate", "q.csv", "-o", "p.json")
    run(folder, "relate", "--review", "p.json", "--by", "Bob", answers="r\nno\na\nyes\n")
    code, out, _ = run(folder, "relate", "q.csv", "--decisions", "relations.decisions.jsonl", "--json")
    assert code == 0
    status = {one["rule"]: one["status"] for one in json.loads(out)["proposals"]}
    assert sorted(status.values()) == ["accepted", "rejected"]


def test_quitting_leaves_the_rest_undecided(folder):
    run(folder, "relate", "q.csv", "-o", "p.json")
    code, _, err = run(folder, "relate", "--review", "p.json", "--by", "Bob", answers="q\n")
    assert code == 1
    assert "0 decisions added" in err


def test_proposals_of_others_are_quarantined(folder):
    added = {"relation": "implies", "members": ["june", "btc70"], "counterexample": "Could it?", "source": "a model"}
    (folder / "more.json").write_text(json.dumps([added]), "utf-8")
    code, out, _ = run(folder, "relate", "q.csv", "--add", "more.json", "--accept", "certain", "--json")
    assert code == 1
    (one,) = [one for one in json.loads(out)["proposals"] if one["source"] == "a model"]
    assert one["status"] == "quarantined"


def test_a_panel_is_heard(folder):
    _, out, _ = run(folder, "relate", "q.csv", "--panel", "panel.csv")
    assert "1 of 1 judges contradict it, by 0.30" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["relate"], "give a file of questions, or --review"),
        (["relate", "q.csv", "--accept", "likely"], "only proposals of class certain"),
        (["relate", "q.csv", "--write-laws", "panel.csv"], "exists already"),
        (["relate", "missing.csv"], "does not exist"),
        (["relate", "q.csv", "--add", "q.csv"], "cannot be read as JSON"),
        (["relate", "--review", "q.csv"], "proposals"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, said):
    code, _, err = run(folder, *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert (folder / "panel.csv").read_text("utf-8") == PANEL


def test_the_same_bytes_twice(folder):
    run(folder, "relate", "q.csv", "-o", "p1.json")
    run(folder, "relate", "q.csv", "-o", "p2.json")
    assert (folder / "p1.json").read_bytes() == (folder / "p2.json").read_bytes()
