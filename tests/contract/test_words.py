"""A method, a loss, a pool, a design or a scoring rule that is added shows up at every door without another edit."""

from dataclasses import dataclass

import numpy as np
import pytest
from typer.testing import CliRunner

import coherently as co
from coherently.cli.app import program
from coherently.explain.findings import VOICES
from coherently.problem import LOSSES
from coherently.problem.groups.named import DESIGNS
from coherently.scoring import RULES
from coherently.scoring.scoring_rules import Mean, ScoringRule
from coherently.solve import METHODS
from coherently.solve.methods import pools, recipe
from coherently.web.api.application import describe_routes

WORD = "newcomer"
PANEL = co.Panel.from_records([("Ann", "p", 0.9), ("Bob", "~p", 0.3)], outcomes={"p": True})


def help_of(command):
    shown = CliRunner().invoke(program(), [command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert shown.exit_code == 0
    return shown.stdout


@dataclass(frozen=True, slots=True)
class Newcomer(co.Pool):
    """A method that is added."""

    @property
    def name(self):
        return WORD


def test_a_method(monkeypatch):
    assert WORD not in help_of("aggregate")
    monkeypatch.setitem(METHODS, WORD, (Newcomer, {"kind": "linear"}))
    with pytest.raises(co.MethodError, match=WORD):
        co.aggregate(PANEL, "nonsense")
    assert WORD in help_of("aggregate")
    assert WORD in help_of("compare")
    result = co.aggregate(PANEL, WORD)
    assert result.as_dict()["method"] == WORD
    assert co.Result.from_json(result.to_json()) == result
    assert WORD in co.Result.record.schema()["properties"]["method"]["examples"]
    assert WORD in co.BoundsTable.record.schema()["properties"]["method"]["examples"]


def test_a_loss(monkeypatch):
    monkeypatch.setitem(LOSSES, WORD, co.Spherical)
    with pytest.raises(co.MethodError, match=WORD):
        co.aggregate(PANEL, loss="nonsense")
    with pytest.raises(co.MethodError, match=WORD):
        co.Recipe(loss="nonsense")
    assert WORD in help_of("aggregate")
    assert WORD in co.Result.record.schema()["properties"]["loss"]["examples"]
    assert WORD in co.Recipe.record.schema()["properties"]["loss"]["enum"]


def test_a_pool_of_recipes(monkeypatch):
    monkeypatch.setattr(recipe, "POOLS", (*recipe.POOLS, WORD))
    with pytest.raises(co.MethodError, match=WORD):
        co.Recipe("nonsense")
    assert WORD in help_of("aggregate")
    assert WORD in co.Recipe.record.schema()["properties"]["pool"]["enum"]
    made = co.Recipe(WORD)
    assert co.Recipe.from_json(made.to_json()) == made


def test_a_pool(monkeypatch):
    monkeypatch.setitem(pools.OPTIONS, WORD, ())
    monkeypatch.setitem(METHODS, WORD, (co.Pool, {"kind": WORD}))  # as the registry does for every pool
    with pytest.raises(co.MethodError, match=WORD):
        co.Pool("nonsense")
    assert WORD in help_of("aggregate")
    assert WORD in co.Result.record.schema()["properties"]["method"]["examples"]


def test_a_design(monkeypatch):
    monkeypatch.setitem(DESIGNS, WORD, DESIGNS["logical"])
    with pytest.raises(co.MethodError, match=WORD):
        co.aggregate(PANEL, co.AlternatingProjections(groups="nonsense"))
    assert WORD in help_of("aggregate")
    assert WORD in str(co.Result.record.schema()["properties"]["groups"])


def test_voices_are_the_same_words_at_every_door():
    assert ", ".join(VOICES) in " ".join(help_of("check").replace("│", " ").split())
    with pytest.raises(co.MethodError, match=", ".join(VOICES)):
        co.check(PANEL).means.sentences("nonsense")
    for record in (co.Finding.record, co.Check.record):
        assert list(record.schema()["properties"]["sentences"]["properties"]) == list(VOICES)
    assert describe_routes()["components"]["schemas"]["CheckDraft"]["properties"]["voice"]["enum"] == list(VOICES)


def test_a_scoring_rule():
    def absolute(forecast, outcome, _clip):
        return (Mean(np.abs(forecast - outcome), np.ones_like(forecast)),)

    panel = co.simulate(judges=6, variables=8, seed=2, compound=4, basic=4)
    before = co.Comparison.from_json(co.compare(panel).to_json())
    RULES.append(ScoringRule(WORD, "newcomer score", "newcomer score", absolute, 0.0, 1.0))
    try:
        scores, compared = co.score(panel), co.compare(panel)
        assert WORD in scores.frame().columns
        assert co.Scores.from_json(scores.to_json()) == scores
        assert co.Comparison.from_json(compared.to_json()) == compared
        assert f"{WORD}_low" in compared.frame().columns
        with pytest.raises(co.MethodError, match=WORD):
            compared.difference("Raw", "Individual", "nonsense")
        assert "newcomer score" in help_of("score")
        rows = co.Scores.record.schema()["properties"]["judges"]["items"]["properties"]
        assert WORD in rows
        assert f"{WORD}_high" in str(co.Comparison.record.schema())
    finally:
        RULES.pop()
    assert co.compare(panel) == before
