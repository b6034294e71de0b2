"""Tables of text: every row that is shown, aligned, and never more than a screen."""

import numpy as np

import coherently as co
from coherently.panel import text_table


def test_a_result_shows_one_probability_per_event():
    result = co.aggregate(co.Panel.from_records([("Ann", "p", 0.75), ("Bob", "q", 0.2)]))
    lines = str(result).splitlines()
    assert lines[0] == repr(result) == "<Result: 2 events by auto, optimal>"
    assert [line.split()[:2] for line in lines[1:]] == [["event", "probability"], ["p", "0.75"], ["q", "0.20"]]


def test_numbers_have_the_decimals_that_they_need():
    columns = {"x": np.array([0.12345, -1e-9, np.nan]), "n": np.array([1000, 2, 3]), "w": np.array([1.0, 2.0, 0.5])}
    rows = [line.split() for line in text_table(columns).splitlines()]
    assert rows == [["x", "n", "w"], ["0.1234", "1,000", "1.0"], ["0.0000", "2", "2.0"], ["-", "3", "0.5"]]


def test_columns_are_aligned():
    lines = text_table({"event": ["a", "a & b"], "p": np.array([0.5, 10.25])}).splitlines()
    assert [line.index("p") + 1 if i == 0 else len(line) for i, line in enumerate(lines)] == [len(lines[0])] * 3


def test_long_tables_and_texts_are_cut():
    lines = text_table({"event": [f"{'x' * 500}{i}" for i in range(500)], "p": np.full(500, 0.5)}).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "... and 480 more rows"
    assert max(map(len, lines)) < 80


def test_characters_that_act_on_a_terminal_are_escaped():
    shown = text_table({"event": ["\x1b[31mred\nline"], "p": np.array([0.5])})
    assert "\x1b" not in shown
    assert r"\x1b[31mred\nline" in shown
