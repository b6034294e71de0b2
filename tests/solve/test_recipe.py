"""Recipes: the line in log-odds, the coherent step after it, files."""

import math

import numpy as np
import pytest

import coherently as co
from coherently.errors import MethodError
from coherently.solve import Promise, promises_of

ROWS = [("A", "p", 0.6), ("B", "p", 0.8), ("C", "p", 0.7), ("A", "p & q", 0.5), ("B", "p & q", 0.7), ("C", "q", 0.4)]
PANEL = co.Panel.from_records(ROWS)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def logit(p):
    return math.log(p / (1 - p))


def test_the_line_is_that_of_log_odds():
    """Against the formula, event by event."""
    result = co.aggregate(PANEL, co.Recipe("linear", exponent=1.5, shift=-0.25, then=None))
    for event, mean in (("p", 0.7), ("p & q", 0.6), ("q", 0.4)):
        assert result.probability(event) == pytest.approx(sigmoid(1.5 * logit(mean) - 0.25), abs=1e-12)


def test_p_and_its_complement_both_fall_with_the_shift():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "~p", 0.5)])
    result = co.aggregate(panel, co.Recipe("linear", shift=-0.5, then=None))
    assert result.probability("p") == result.probability("~p") == pytest.approx(sigmoid(-0.5))
    coherent = co.aggregate(panel, co.Recipe("linear", shift=-0.5))
    assert coherent.probability("p") == pytest.approx(0.5)


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_the_coherent_step_is_that_of_the_recalibrated_forecasts(loss):
    """A recipe equals exact on a panel whose only forecasts are the numbers on the line, with the same weights."""
    recipe = co.Recipe("linear", exponent=1.4, shift=-0.2, loss=loss)
    values = {e: sigmoid(1.4 * logit(m) - 0.2) for e, m in (("p", 0.7), ("p & q", 0.6), ("q", 0.4))}
    counts = {"p": 3.0, "p & q": 2.0, "q": 1.0}
    other = co.Panel.from_records([("X", e, v, counts[e]) for e, v in values.items()])
    expected, found = co.aggregate(other, co.Exact(), loss), co.aggregate(PANEL, recipe)
    for event in values:
        assert found.probability(event) == pytest.approx(expected.probability(event), abs=1e-6)
    assert co.verify(PANEL, found)


def test_without_a_line_the_recipe_is_the_pool_followed_by_exact():
    for pool in ("linear", "trimmed", "median"):
        recipe, chain = co.Recipe(pool), co.Pool(pool, then=co.Exact())
        np.testing.assert_array_equal(
            co.aggregate(PANEL, recipe).solution.value, co.aggregate(PANEL, chain).solution.value
        )


def test_one_certain_judge_does_not_outvote_many_in_a_log_pool():
    panel = co.Panel.from_records([("Z", "p", 0.0), *((f"J{i}", "p", 0.6) for i in range(9))])
    assert co.aggregate(panel, co.Recipe("log")).probability("p") > 0.4


def test_only_a_line_breaks_the_promise_to_keep_coherent_forecasts():
    assert Promise.KEEPS_COHERENT in promises_of(co.Recipe())
    assert Promise.KEEPS_COHERENT not in promises_of(co.Recipe(exponent=1.2))


HEAD = {"format": "coherently-recipe", "version": 2}


@pytest.mark.parametrize("then", [None, co.Exact(time_limit=7.0), co.AlternatingProjections(groups="pairs")])
def test_plain_values_lead_back_to_the_recipe(then, tmp_path):
    recipe = co.Recipe("log", 1.25, -0.5, "brier", then, 0.02)
    assert co.Recipe.from_dict(recipe.as_dict()) == recipe
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    assert co.read_recipe(tmp_path / "recipe.json") == recipe


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "the recipe is \\[\\]; it must be a JSON object"),
        ({"recipe": 2}, "the field format is missing"),
        (HEAD | {"version": 3}, "reads 'coherently-recipe', version 2, and the earlier version 1"),
        (HEAD | {"format": "coherently-panel"}, "the record is 'coherently-panel', version 2"),
        ({"recipe": 1, "power": 2}, "the field power is not one of a recipe; the fields are format, version, pool"),
        (HEAD | {"power": 2}, "the field power is not one of a recipe"),
        ({"recipe": 1, "exponent": "much"}, "exponent is 'much'; it must be a finite number"),
        ({"recipe": 1, "pool": 3}, "pool is 3; it must be a text"),
        ({"recipe": 1, "pool": "geometric"}, "pool is 'geometric'; it must be one of linear, trimmed"),
        ({"recipe": 1, "exponent": -1}, "exponent is -1"),
        ({"recipe": 1, "then": "exact"}, "then is 'exact'; it must be null or an object"),
        ({"recipe": 1, "then": {}}, r"the field then\.method is missing"),
        ({"recipe": 1, "then": {"method": "exactly"}}, "unknown method"),
    ],
)
def test_a_damaged_recipe_is_refused(values, message):
    with pytest.raises(MethodError, match=message):
        co.Recipe.from_dict(values)


def test_files_that_are_no_recipe_are_named(tmp_path):
    with pytest.raises(MethodError, match="does not exist"):
        co.read_recipe(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(MethodError, match=r"bad\.json: the recipe is not JSON: .* line 1"):
        co.read_recipe(tmp_path / "bad.json")


@pytest.mark.parametrize(
    "options",
    [{"exponent": math.nan}, {"shift": math.inf}, {"clip": 0.5}, {"then": co.Exact}, {"loss": "absolute"}],
)
def test_bad_options_are_refused(options):
    with pytest.raises(MethodError):
        co.Recipe(**options)


def test_another_loss_than_that_of_the_recipe_is_refused():
    with pytest.raises(MethodError, match="a recipe has its own loss"):
        co.aggregate(PANEL, co.Recipe(), "log")
