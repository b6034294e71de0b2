"""A panel that was read from a file goes everywhere, as one from records does: its texts are packed."""

import copy
import pickle

import numpy as np
import pytest

import coherently as co
from coherently.report.dossier import make_dossier
from coherently.report.html_page import write_dossier

ROWS = [("Ann", "p", 0.3), ("Ann", "p & q", 0.4), ("Bob", "q", 0.5), ("Bob", "p | ~q", 0.6), ("Bob", "p", 0.2)]
OUTCOMES = {"p": 1, "q": 0}


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def panels(tmp_path, request):
    made = co.Panel.from_records(ROWS, outcomes=OUTCOMES)
    file = tmp_path / f"panel.{request.param}"
    if request.param == "csv":
        file.write_text("judge,event,probability\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS))
    elif request.param == "jsonl":
        lines = (f'{{"judge": "{a}", "event": "{b}", "probability": {c}}}\n' for a, b, c in ROWS)
        file.write_text("".join(lines))
    else:
        made.frame().to_parquet(file)
    return co.read_panel(file, outcomes=OUTCOMES), made


def same(a, b):
    return list(a) == list(b) if isinstance(a[0], str) else np.allclose(a, b, atol=1e-9, equal_nan=True)


def test_answers_are_the_same(panels):
    read, made = panels
    mine, other = co.aggregate(read), co.aggregate(made)
    assert co.Result.from_json(mine.to_json()).to_json() == mine.to_json()
    assert bool(co.verify(read, mine))
    for name, column in mine.columns().items():
        assert same(column, other.columns()[name])
    for name, column in mine.row_columns().items():
        assert same(column, other.row_columns()[name])
    assert mine.probability("~(p & q)") == pytest.approx(other.probability("~(p & q)"))
    assert list(mine.frame()["event"]) == list(other.frame()["event"])
    assert str(mine) == str(other)


def test_everything_else_takes_it(panels):
    read, made = panels
    assert pickle.loads(pickle.dumps(read)) == read == copy.deepcopy(read)
    assert co.check(read).to_json() == co.check(made).to_json()
    assert co.score(read).to_json() == co.score(made).to_json()
    assert co.compare(read, bootstrap=0).to_json() == co.compare(made, bootstrap=0).to_json()
    assert str(co.dutch_book(read.select(read.judge_index == 0))) == str(
        co.dutch_book(made.select(made.judge_index == 0))
    )
    assert list(read.frame()["event"]) == list(made.frame()["event"])
    live, scratch = co.LivePanel(read, background=False), co.aggregate(made)
    assert live.settle().probability("p") == pytest.approx(scratch.probability("p"))


def test_the_report_is_written(panels):
    read, _ = panels
    assert "p | ~q" in write_dossier(make_dossier(read, time_limit=10))
