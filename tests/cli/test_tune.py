"""`coherently tune`, and `aggregate --recipe`."""

import json

import pytest

import coherently as co
from tests.cli.program import run


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    file = tmp_path_factory.mktemp("tune") / "panel.csv"
    options = ("--judges", 8, "--variables", 40, "--basic", 30, "--compound", 0, "--seed", 2)
    run("simulate", *options, "-o", file, "-q", check=0)
    return file


def test_a_recipe_is_learned_written_and_used(panel, tmp_path):
    recipe, answer = tmp_path / "recipe.json", tmp_path / "answer.csv"
    shown = run("tune", panel, "-o", recipe, check=0).stdout
    assert "Tuned recipe" in shown
    assert "8 judges count as about" in " ".join(shown.split())
    assert "resolved events in 40 independent groups" in " ".join(shown.split())
    run("aggregate", panel, "--recipe", recipe, "-o", answer, check=0)
    expected = co.aggregate(co.read_panel(panel), co.read_recipe(recipe)).frame()
    assert answer.read_text().splitlines()[1].split(",")[0] == expected["event"][0]
    assert float(answer.read_text().splitlines()[1].split(",")[1]) == pytest.approx(
        expected["probability"][0], abs=1e-6
    )


def test_json_has_the_recipe_and_the_scores(panel, tmp_path):
    printed = run("tune", panel, "--json", "-q", check=0).stdout
    told = json.loads(printed)
    assert told["recipe"]["format"] == "coherently-recipe"
    assert co.Tuned.from_json(printed).to_json() == printed.rstrip("\n")
    assert {row["method"] for row in told["scores"]["scores"]["both"]} >= {"Tuned recipe", "Tuned pool", "Exact"}
    (tmp_path / "told.json").write_text(printed)
    assert co.read_recipe(tmp_path / "told.json").as_dict() == told["recipe"]


def test_the_method_recipe_takes_its_options(panel):
    shown = run("aggregate", panel, "--method", "recipe", "--pool", "median", "--exponent", "1.5", "--json", check=0)
    assert json.loads(shown.stdout)["method"] == "recipe, then exact"
    assert "median pool, log-odds times 1.5, then exact" in shown.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recipe", "none.json"], "none.json does not exist; `coherently tune PANEL -o none.json` writes a recipe"),
        (["--recipe", "none.json", "--method", "exact"], "--recipe says the method and the loss"),
        (["--method", "recipe", "--pool", "mode"], "unknown pool 'mode' of a recipe"),
        (["--method", "exact", "--shift", "1"], "the method exact has no option shift; recipe has it"),
    ],
)
def test_wrong_recipes_are_refused(panel, options, message):
    assert message in run("aggregate", panel, *options, check=2).stderr


def test_a_panel_without_outcomes_teaches_nothing(tmp_path):
    (tmp_path / "panel.csv").write_text("judge,event,probability\nAnn,p,0.5\nAnn,q,0.4\n")
    assert "outcome" in run("tune", tmp_path / "panel.csv", check=2).stderr


def test_the_history_is_read_as_the_panel_is(tmp_path):
    """Its laws are those of the panel: without them the events of declared variables could not be read."""
    (tmp_path / "laws.txt").write_text("variable size: number\n")
    rows = [f"Ann,p{i},40,{i % 2}" for i in range(31)] + ["Ann,size <= 3,20,0", "Ann,size <= 5,30,1"]
    (tmp_path / "past.csv").write_text("\n".join(["judge,event,probability,outcome", *rows, ""]))
    (tmp_path / "now.csv").write_text("judge,event,probability\nBob,size <= 4,50\nBob,r,70\n")
    options = ("--laws", tmp_path / "laws.txt", "--percent", "--history", tmp_path / "past.csv")
    shown = " ".join(run("tune", tmp_path / "now.csv", *options, check=0).stdout.split())
    assert "33 resolved events in 32 independent groups" in shown
    assert "On events of the history that it did not learn from (the panel has no outcomes)" in shown


def test_a_history_about_other_events_is_named_as_such(panel, tmp_path):
    (tmp_path / "now.csv").write_text("judge,event,probability,outcome\nBob,rain,0.4,1\nBob,wind,0.7,0\n")
    shown = " ".join(run("tune", tmp_path / "now.csv", "--history", panel, check=0).stdout.split())
    assert "The history shares no event, nor a judge, with the panel." in shown
