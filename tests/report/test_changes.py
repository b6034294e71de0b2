"""Conditionals on what has no probability are never ranked by how far they moved."""

from dataclasses import replace

import numpy as np

import coherently as co
from coherently.report.before_after import before_after, page_numbers
from coherently.report.changes import ranked_changes, without_condition
from coherently.report.event_titles import EventTitles


def test_what_stands_given_the_impossible_is_not_ranked():
    texts = {"h": 0.0, "e given h": 0.5, "e given k": 0.5, "k": 0.4, "q": 0.5}
    rows = [("A", text, p, 1e4 if text == "h" else 1.0) for text, p in texts.items()]
    result = co.aggregate(co.Panel.from_records(rows), "exact")
    assert without_condition(result).tolist() == [False, True, False, False, False]
    moved = replace(result, solution=replace(result.solution, value=np.array([0.0, 1.0, 0.6, 0.4, 0.5])))
    np.testing.assert_allclose(ranked_changes(moved), [0.0, 0.0, 0.1, 0.0, 0.0], atol=1e-12)
    assert [row.event for row in before_after(moved, page_numbers(moved), EventTitles(moved.panel)).most_moved(5)] == [
        "e given k"
    ]


def test_a_result_without_worlds_ranks_all():
    panel = co.Panel.from_records([("A", "p", 0.5), ("A", "q", 0.5)])
    assert not without_condition(co.aggregate(panel, "linear")).any()
