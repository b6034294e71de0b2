"""Weights of judges that somebody lists."""

import json

import numpy as np
import pandas as pd
import pytest

import coherently as co
from coherently.panel.weights import weighted
from tests.panels import TABLE_2

PANEL = co.Panel.from_records([("Ann", "p", 0.2, 1.0), ("Bob", "p", 0.8, 1.0), ("Bob", "q", 0.5, 2.0)])


def test_factors_multiply_the_weights_of_forecasts_from_every_source(tmp_path):
    csv, lines = tmp_path / "weights.csv", tmp_path / "weights.jsonl"
    csv.write_text("judge,weight\nBob,3\nAnn,0.5\n")
    lines.write_text("".join(json.dumps({"user": n, "weight": w}) + "\n" for n, w in (("Ann", 0.5), ("Bob", 3))))
    frame = pd.DataFrame({"judge": ["Ann", "Bob"], "weight": [0.5, 3.0]})
    for source in ({"Ann": 0.5, "Bob": 3}, csv, str(lines), frame, lambda _: np.array([0.5, 3.0])):
        np.testing.assert_array_equal(weighted(PANEL, source).weight, [0.5, 3.0, 6.0])
    assert PANEL.weight.tolist() == [1.0, 1.0, 2.0]


def test_the_result_is_that_of_the_weighted_panel_and_says_so():
    panel = co.Panel.from_records(TABLE_2, outcomes={"p": True, "q": False})
    factors = {"Alice": 1.0, "Bob": 2.0, "Chris": 0.0, "Dora": 1.0}
    result = co.aggregate(panel, "linear", weights=factors)
    assert result.probability("p") == pytest.approx((0.75 + 2 * 0.60) / 3)
    assert result.note == (
        "Judges are weighted as listed in weights (which also lists Dora, not in the panel). "
        "Weights go from 1 (Alice) to 2 (Bob). Left out, by a weight of 0: Chris."
    )
    rows = [(judge, event, p, factors[judge]) for judge, event, p in TABLE_2]
    by_column = co.aggregate(co.Panel.from_records(rows), "exact")
    result = co.aggregate(panel, "exact", weights=factors)
    np.testing.assert_array_equal(result.solution.value, by_column.solution.value)
    assert co.verify(result.panel, result)
    assert co.score(panel, result, by_judge=True).brier.shape == (3,)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"Anne": 1},
            "weights has no weight for any judge of the panel (did you mean 'Ann'?); its judges are Ann, Bob.",
        ),
        ({"Ann": -1, "Bob": 1}, "weights row 1, column weight: -1 is below 0"),
        ({"Ann": float("inf"), "Bob": 1}, "weights row 1, column weight: "),
        ({"Ann": float("nan"), "Bob": 1}, "weights row 1, column weight: no weight"),
        ({"Ann": "much", "Bob": 1}, "'much'"),
        ({"Ann": 0, "Bob": 0}, "the weight of every judge is 0"),
        (lambda _: np.ones(3), "there must be 2 finite numbers of 0 or more, one for each judge"),
        (lambda _: np.array([1.0, -1.0]), "there must be 2 finite numbers"),
        (co.EqualWeights, "make an object of it: EqualWeights()"),
        (7, "int is not a frame that can be read"),
        (pd.DataFrame({"judge": ["Ann", "Ann"], "weight": [1, 2]}), "row 2: the judge 'Ann' already has a weight"),
        (pd.DataFrame({"name": ["Ann"], "weight": [1]}), "weights has no judge column"),
    ],
)
def test_what_is_no_weight_is_refused(source, message):
    with pytest.raises(co.PanelError) as caught:
        weighted(PANEL, source)
    assert message in str(caught.value)


def test_judges_who_are_not_listed_count_1_and_that_is_said():
    found = weighted(PANEL, {"Ann": 0.5})
    np.testing.assert_array_equal(found.weight, [0.5, 1.0, 2.0])
    assert found.notes[-1] == (
        "Judges are weighted as listed in weights (which does not list Bob: counted as 1). "
        "Weights go from 0.5 (Ann) to 1 (Bob)."
    )


def test_a_judge_of_weight_0_is_not_counted_among_the_judges():
    found = weighted(PANEL, {"Ann": 0})
    assert found.notes[-1].endswith("counted as 1). Left out, by a weight of 0: Ann.")
    assert found.summary() == "3 forecasts by 1 judge (and 1 of weight 0) on 2 events over 2 variables"
    assert co.aggregate(found).probability("p") == 0.8
