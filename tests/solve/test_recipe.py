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


HEAD = {"format": "coherently-recipe", "version": 3}


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
        (HEAD | {"version": 4}, "reads 'coherently-recipe', version 3, and the earlier version 1, 2"),
        (HEAD | {"format": "coherently-panel"}, "the record is 'coherently-panel', version 3"),
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
    with pytest.raises(MethodError, match=r"bad\.json, line 1, column 2: the recipe is not JSON"):
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


def test_judges_count_by_their_weights():
    """A recipe equals the pool of a panel with these weights; who is not named counts as the mean of the others."""
    weights = {"A": 3.0, "B": 1.0}
    heavy = co.Panel.from_records([(j, e, p, weights.get(j, 2.0)) for j, e, p in ROWS])
    for pool in ("linear", "median", "trimmed", "log"):
        recipe = co.Recipe(pool, consensus=0, judges=weights, then=None)
        np.testing.assert_allclose(
            co.aggregate(PANEL, recipe).solution.value, co.aggregate(heavy, co.Pool(pool)).solution.value, atol=1e-12
        )


def test_consensus_against_its_definition():
    rows = [(f"J{j}", f"p{i}", (j * 7 + i * 3) % 11 / 12 + 0.05) for j in range(5) for i in range(6)]
    panel, clip = co.Panel.from_records(rows), 0.02
    odds = {(j, i): logit(min(max(p, clip), 1 - clip)) for j, i, p in rows}
    events = sorted({i for _, i, _ in rows})
    middle = {i: logit(float(np.median([p for _, e, p in rows if e == i]))) for i in events}
    square = {j: sum((odds[f"J{j}", i] - middle[i]) ** 2 for i in events) for j in range(5)}
    mean = sum(square.values()) / len(rows)
    distance = {j: (square[j] + 10 * mean) / (6 + 10) for j in range(5)}
    weight = {f"J{j}": (np.median(list(distance.values())) / distance[j]) ** 0.5 for j in range(5)}
    listed = co.Recipe("log", consensus=0, judges=weight, then=None)
    np.testing.assert_allclose(
        co.aggregate(panel, co.Recipe(then=None)).solution.value, co.aggregate(panel, listed).solution.value, atol=1e-12
    )


def test_a_blend_is_the_mean_log_odds_of_its_parts():
    parts = ((1.0, co.Recipe("linear", then=None)), (3.0, co.Recipe("median", 1.5, 0.1, then=None)))
    blend = co.aggregate(PANEL, co.Recipe("blend", parts=parts, then=None))
    first, second = (co.aggregate(PANEL, part) for _, part in parts)
    for event in ("p", "p & q", "q"):
        expected = sigmoid(0.25 * logit(first.probability(event)) + 0.75 * logit(second.probability(event)))
        assert blend.probability(event) == pytest.approx(expected, abs=1e-12)
    assert "25% linear pool; 75% median pool, log-odds times 1.5 plus 0.1" in co.Recipe("blend", parts=parts).sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judges": {"A": 0.0}}, "the judge 'A' counts 0 times; a recipe needs a number above 0"),
        ({"consensus": -1.0}, "consensus is -1.0; it must be a number of 0 or more"),
        ({"pool": "blend"}, "the pool is blend, with 0 parts"),
        ({"parts": ((1.0, co.Recipe(then=None)),)}, "the pool is log, with 1 parts; only a blend has parts"),
        ({"pool": "blend", "parts": ((0.0, co.Recipe(then=None)),)}, "the share of a part is 0"),
        ({"pool": "blend", "parts": ((1.0, co.Recipe()),)}, "it must be a recipe with then=None"),
    ],
)
def test_bad_weights_and_parts_are_refused(options, message):
    with pytest.raises(MethodError, match=message):
        co.Recipe(**options)


def test_what_earlier_versions_leave_out_means_what_it_meant():
    for old in ({"recipe": 1}, {"format": "coherently-recipe", "version": 2}):
        assert co.Recipe.from_dict(old) == co.Recipe("trimmed", clip=0.01)
        assert co.Recipe.from_dict(old | {"pool": "log"}) == co.Recipe("log", clip=0.01, consensus=0)
