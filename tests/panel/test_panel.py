import dataclasses
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console

import coherently as co
from coherently.panel import CALLED_OFF, UNRESOLVED
from coherently.report import forecasts_table
from tests.panels import TABLE_2, TABLE_3, bundled, forecasts


def test_the_papers_tables_are_read_as_printed():
    assert forecasts(bundled("table2.csv")) == TABLE_2
    assert forecasts(bundled("table3.csv")) == TABLE_3


def test_long_and_wide_tables_say_the_same(tmp_path):
    long = tmp_path / "long.csv"
    long.write_text("Forecaster,Question,Prob\n" + "".join(f"{judge},{event},{p}\n" for judge, event, p in TABLE_3))
    assert forecasts(co.read_panel(long)) == TABLE_3


def test_without_a_judge_column_there_is_one_judge(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text("event,p\nrain,35%\nrain & wind,0.1\n")
    assert forecasts(co.read_panel(file)) == [("panel", "rain", 0.35), ("panel", "rain & wind", 0.1)]


def test_equal_texts_are_one_event_under_the_first_text():
    panel = co.Panel.from_records([("A", "q and p", 0.1), ("B", "p & q", 0.2), ("B", "~(p & q)", 0.7)])
    assert panel.written.text == ("q and p", "~(p & q)")
    assert panel.event_index.tolist() == [0, 0, 1]


def test_conditionals_are_events_of_their_own():
    panel = co.Panel.from_records([("A", "p given q", 0.1), ("A", "p & q", 0.1), ("A", "p given q | ~q", 0.3)])
    assert panel.written.text == ("p given q", "p & q", "p given q | ~q")
    assert panel.written.event[0] == panel.written.event[1]
    assert len(set(panel.written.condition.tolist())) == 2


@pytest.mark.parametrize(
    ("frame", "library"),
    [(pd.DataFrame, "pandas"), (pl.DataFrame, "polars"), (pa.table, "pyarrow")],
)
def test_frames_come_back_in_their_library(frame, library):
    columns = {"judge": ["A", "B"], "event": ["p", "p"], "probability": [0.25, 0.75]}
    panel = co.Panel.from_frame(frame(columns))
    assert panel.library == library
    for answer in (co.aggregate(panel).frame(), co.aggregate(panel).rows(), panel.frame()):
        assert type(answer).__module__.split(".")[0] == library
    assert type(co.score(co.Panel.from_frame(frame(columns | {"outcome": [1, 1]}))).frame()).__module__.startswith(
        library
    )


def test_one_judge_alone():
    alone = co.Panel.from_records(TABLE_3).judge("Chris")
    assert forecasts(alone) == [("Chris", "q", 0.0), ("Chris", "p & q", 0.0)]
    with pytest.raises(co.PanelError, match=r"unknown judge 'Cris' \(did you mean 'Chris'"):
        co.Panel.from_records(TABLE_3).judge("Cris")


def test_panel_as_a_table_reads_back_the_same():
    rows = [
        {
            "judge": "A",
            "event": "p",
            "probability": 0.5,
            "weight": 2.0,
            "lower": 0.4,
            "upper": None,
            "time": 3,
        },
        {
            "judge": "B",
            "event": "p given q",
            "probability": 0.1,
            "weight": 1.0,
            "lower": None,
            "upper": 0.2,
            "time": 1,
        },
    ]
    panel = co.Panel.from_records(rows, outcomes={"p": "yes", "q": "no"})
    again = co.Panel.from_frame(panel.frame())
    assert forecasts(again) == forecasts(panel)
    for name in ("weight", "lower", "upper", "time"):
        np.testing.assert_array_equal(getattr(again, name), getattr(panel, name))
    assert panel.written.outcome.tolist() == [1, CALLED_OFF]
    assert again.written.outcome.tolist() == [1, UNRESOLVED]


def test_plain_events_are_names(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,A,B\nWill it rain (today)?,0.2,0.4\na & b,0.1,0.3\n")
    panel = co.read_panel(file, plain_events=True)
    assert panel.events.variables == ["Will it rain (today)?", "a & b"]
    assert co.read_panel(file).events.variables == ["Will it rain (today)?", "a", "b"]


def test_bad_events_are_reported_together_with_their_rows():
    rows = [("A", "p", 0.5)] + [("A", "p &", 0.5)] * 12 + [("A", "winner = Ann", 0.5)]
    with pytest.raises(co.PanelError) as raised:
        co.Panel.from_records(rows)
    message = str(raised.value)
    assert message.startswith("records row 2: expected an event after '&' (column 4)\n    p &\n       ^\n")
    assert message.count("expected an event") == 10
    assert "... and 3 more (13 in all)" in message


def test_a_wide_table_of_abstentions_only_is_refused(tmp_path):
    file = tmp_path / "empty.csv"
    file.write_text("event,A,B\np,NA,\nq,n/a,NaN\n")
    with pytest.raises(co.PanelError, match="no forecast: every probability is missing"):
        co.read_panel(file)


def test_missing_probabilities_of_a_long_table():
    frame = pl.DataFrame({"judge": ["A", "B"], "event": ["p", "q"], "probability": [0.5, None]})
    with pytest.raises(co.PanelError, match=r"frame row 2, column probability.*\n?.*--missing abstain"):
        co.Panel.from_frame(frame)
    panel = co.Panel.from_frame(frame, missing="abstain")
    assert forecasts(panel) == [("A", "p", 0.5)]
    assert panel.written.text == ("p",)


@pytest.mark.parametrize("option", [{"missing": "skip"}, {"repeats": "first"}])
def test_unknown_choices_are_refused(option):
    with pytest.raises(co.MethodError, match="it must be one of"):
        co.Panel.from_records(TABLE_2, **option)


def test_labels(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("id,title\np,Rain tomorrow\n")
    assert co.Panel.from_records(TABLE_2, labels=file).labels == {"p": "Rain tomorrow"}
    assert co.Panel.from_records(TABLE_2, labels={"q": "Wind"}).labels == {"q": "Wind"}
    file.write_text("key,title\np,Rain tomorrow\n")
    with pytest.raises(co.PanelError, match="no id column"):
        co.Panel.from_records(TABLE_2, labels=file)


def test_what_is_left_out_is_noted(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,A,B\np,0.5,\nq,,NA\n")
    assert co.read_panel(file).notes == (
        "panel.csv: judges without a forecast: B",
        "panel.csv: events without a forecast, not in the result: q",
    )
    file.write_text("event,probability\np,0.5\nq,\n")
    assert co.read_panel(file, missing="abstain").notes == (
        "panel.csv: no judge column; every forecast is by one judge, 'panel'",
        "panel.csv: rows without a probability, left out: 1",
        "panel.csv: events without a forecast, not in the result: q",
    )


def test_the_summary_counts_the_variables_that_are_forecast():
    panel = co.Panel.from_records([("A", "p given q", 0.5)], outcomes={"p": 1, "z": 0})
    assert panel.summary() == "1 forecast by 1 judge on 1 event over 2 variables"


def test_ignored_columns_are_noted(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability,source,url\nA,p,0.5,x,y\n")
    assert co.read_panel(file).notes == ("panel.csv: ignored columns: source, url",)


class TestRepeats:
    ROWS = (
        {"judge": "A", "event": "p & q", "probability": 0.2, "weight": 1.0, "time": "2026-03-01"},
        {"judge": "B", "event": "p & q", "probability": 0.9, "weight": 1.0, "time": "2026-03-01"},
        {"judge": "A", "event": "q & p", "probability": 0.8, "weight": 3.0, "time": "2026-02-01"},
        {"judge": "A", "event": "~(p & q)", "probability": 0.5, "weight": 1.0, "time": "2026-02-01"},
    )

    def test_are_kept_with_a_note(self):
        panel = co.Panel.from_records(self.ROWS)
        assert len(panel) == 4
        assert panel.notes == ("repeated forecasts by one judge of one event, all kept: 1 (see --repeats)",)

    def test_last_by_time(self):
        panel = co.Panel.from_records(self.ROWS, repeats="last")
        assert panel.probability.tolist() == [0.2, 0.9, 0.5]

    def test_last_by_row_without_time(self):
        rows = [{key: value for key, value in row.items() if key != "time"} for row in self.ROWS]
        panel = co.Panel.from_records(rows, repeats="last")
        assert panel.probability.tolist() == [0.9, 0.8, 0.5]

    def test_mean(self):
        panel = co.Panel.from_records(self.ROWS, repeats="mean")
        np.testing.assert_allclose(panel.probability, [0.65, 0.9, 0.5])
        assert panel.weight.tolist() == [2.0, 1.0, 1.0]
        assert panel.judges == ("A", "B")

    def test_mean_of_bounds_is_of_those_given(self):
        rows = [
            {"judge": "A", "event": "p", "probability": 0.5, "lower": 0.4, "upper": None},
            {"judge": "A", "event": "p", "probability": 0.7, "lower": None, "upper": 0.9},
        ]
        panel = co.Panel.from_records(rows, repeats="mean")
        assert (panel.lower.tolist(), panel.upper.tolist()) == ([0.4], [0.9])

    def test_mean_of_weightless_forecasts(self):
        rows = [("A", "p", 0.2, 0.0), ("A", "p", 0.4, 0.0)]
        panel = co.Panel.from_records(rows, repeats="mean")
        np.testing.assert_allclose(panel.probability, [0.3])
        assert panel.weight.tolist() == [0.0]

    def test_error(self):
        with pytest.raises(co.PanelError, match=r"records row 3: A has already forecast 'p & q'"):
            co.Panel.from_records(self.ROWS, repeats="error")

    def test_none_is_none(self):
        for repeats in ("keep", "last", "mean", "error"):
            assert forecasts(co.Panel.from_records(TABLE_2, repeats=repeats)) == TABLE_2


def arrays(panel):
    """Every array that a panel has, by where it is."""
    for owner in (panel, panel.written, panel.laws, panel.laws.pins):
        for field in dataclasses.fields(owner):
            value = getattr(owner, field.name)
            if isinstance(value, np.ndarray):
                yield f"{type(owner).__name__}.{field.name}", value


def full_panel():
    rows = [
        {"judge": "Ann", "event": "p", "probability": 0.5, "weight": 2.0, "lower": 0.4, "upper": 0.6, "time": 1},
        {"judge": "Bob", "event": "p & q", "probability": 0.3, "weight": 1.0, "lower": 0.2, "upper": 0.6, "time": 2},
    ]
    return co.Panel.from_records(rows, laws=["q -> p", "P(q) <= 0.9"], outcomes={"p": True})


@pytest.mark.parametrize(
    "make", [lambda p: p, lambda p: p.judge("Bob"), lambda p: co.weighted(p, {"Ann": 1, "Bob": 2})]
)
def test_every_array_of_a_panel_is_read_only(make):
    found = dict(arrays(make(full_panel())))
    assert len(found) == 16
    for name, array in found.items():
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        assert not array.flags.writeable, name


def test_a_panel_leaves_arrays_of_others_as_they_are():
    own = np.array([0.1, 0.2])
    panel = dataclasses.replace(full_panel(), probability=own)
    own[0] = 0.15
    assert own.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        panel.probability[0] = 5.0


def test_no_such_judge_names_those_that_are_near():
    panel = co.Panel.from_records([("gpt-4-turbo", "p", 0.5), ("gpt-5-mini", "p", 0.4), ("claude", "p", 0.3)])
    with pytest.raises(
        co.PanelError, match=r"'gpt' \(did you mean 'gpt-4-turbo' or 'gpt-5-mini'\?\); the panel has 3 judges"
    ):
        panel.judge("gpt")
    with pytest.raises(co.PanelError, match=r"did you mean 'claude'\?"):
        panel.judge("Claud")
    with pytest.raises(co.PanelError, match=r"unknown judge 'Zoe'; the panel has 3 judges$"):
        panel.judge("Zoe")


def test_an_unknown_option_names_the_options():
    with pytest.raises(co.MethodError, match=r"unknown option 'lawz' \(did you mean 'laws'\?\); the options are laws,"):
        co.Panel.from_records([("Ann", "p", 0.5)], lawz=["p -> q"])


def test_aggregate_says_how_to_make_a_panel():
    with pytest.raises(co.PanelError, match=r"found str; make one with co\.read_panel \(from a file\)"):
        co.aggregate("models.csv")
    with pytest.raises(co.PanelError, match=r"found DataFrame; make one with .* co\.Panel\.from_frame"):
        co.aggregate(pd.DataFrame({"event": ["p"], "Ann": [0.5]}))


def test_events_that_nobody_answered_stay_in_the_tables_as_unanswered(tmp_path):
    source = tmp_path / "panel.csv"
    source.write_text("event,Ann,Bob\np,0.5,0.6\nq,,\nLast one,,\n")
    panel = co.read_panel(source)
    assert panel.unanswered == ("q", '"Last one"')
    assert panel.select(panel.judge_index == 0).unanswered == panel.unanswered
    shown = io.StringIO()
    Console(file=shown, width=100).print(forecasts_table(co.aggregate(panel)))
    rows = [line.split() for line in shown.getvalue().splitlines() if "unanswered" in line]
    assert rows == [["q", "unanswered", "-", "-", "0"], ["Last", "one", "unanswered", "-", "-", "0"]]
    page = co.aggregate(panel).report().page
    assert page.count("nobody answered this") == 2
    assert co.read_panel(tmp_path / "panel.csv").drop_judges("Ann").unanswered == ("q", '"Last one"')
