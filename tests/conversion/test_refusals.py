"""Sources that cannot be read, each with its own message."""

import json
import shutil
from pathlib import Path

import pytest

import coherently as co

DATA = Path(__file__).parent / "data"
FORECASTBENCH = DATA / "forecastbench" / "2026-01-11.Garden.oracle.json"
NEG = DATA / "consistency" / "Ann" / "NegChecker.jsonl"


def refused(word, *sources, tmp_path):
    with pytest.raises(co.PanelError) as caught:
        co.convert(word, sources, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("word", "source", "expected"),
    [
        (
            "metaculus",
            FORECASTBENCH,
            "looks like a JSON file of ForecastBench, not the CSV of a Metaculus data download: use --from forec",
        ),
        ("metaculus", NEG, "use --from consistency"),
        ("forecastbench", NEG, "looks like JSON lines of consistency checks, not a JSON file of ForecastBench"),
        ("forecastbench", DATA / "metaculus" / "question_data.csv", "use --from metaculus"),
        ("consistency", FORECASTBENCH, "use --from forecastbench"),
        ("consistency", DATA / "metaculus" / "forecast_data.csv", "use --from metaculus"),
        (
            "metacullus",
            NEG,
            "the formats are metaculus, forecastbench, consistency, hubverse. Did you mean 'metaculus'?",
        ),
        ("consistency", DATA / "nowhere.jsonl", "does not exist"),
        ("forecastbench", DATA / "metaculus", "contains none of the expected files: the .json files"),
        ("consistency", DATA / "forecastbench", "contains none of the expected files: NegChecker.jsonl"),
        (
            "metaculus",
            DATA / "metaculus" / "question_data.csv",
            "no forecast_data.csv (with a column 'Continuous CDF') among",
        ),
        (
            "metaculus",
            DATA / "metaculus" / "forecast_data.csv",
            "no question_data.csv (with a column 'Question Type') among",
        ),
        ("forecastbench", DATA / "forecastbench" / "2026-01-11-llm.json", "no forecast set (with 'forecasts') among"),
    ],
)
def test_the_wrong_source(tmp_path, word, source, expected):
    assert expected in refused(word, source, tmp_path=tmp_path)


@pytest.mark.parametrize("word", ["metaculus", "forecastbench", "consistency", "hubverse"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"judge,event,probability\nAnn,p,0.5\n", "a panel for Coherently"),
        (b"a,b\n1,2\n", "import-formats.md"),
        (b"{}\n\xff{}", "line 2 is not UTF-8 text (byte 0xff)"),
    ],
)
def test_contents_of_no_format(tmp_path, word, content, expected):
    (tmp_path / "file").write_bytes(content)
    assert expected in refused(word, tmp_path / "file", tmp_path=tmp_path)


def test_mixed_sources(tmp_path):
    message = refused("forecastbench", FORECASTBENCH, NEG, tmp_path=tmp_path)
    assert "NegChecker.jsonl looks like JSON lines of consistency checks" in message


def test_malformed_json_has_its_place(tmp_path):
    (tmp_path / "set.json").write_text('{"forecast_due_date": "2026-01-11",\n "forecasts": [1,]}', encoding="utf-8")
    assert "set.json line 2 column" in refused("forecastbench", tmp_path / "set.json", tmp_path=tmp_path)
    lines = NEG.read_text(encoding="utf-8").splitlines()
    (tmp_path / "NegChecker.jsonl").write_text("\n".join([lines[0], lines[1][:-5]]), encoding="utf-8")
    message = refused("consistency", tmp_path / "NegChecker.jsonl", tmp_path=tmp_path)
    assert "NegChecker.jsonl line 2 column" in message
    assert "malformed JSON" in message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda c: c["forecasts"][0].pop("source"),
            "forecasts[0]: expected source; found id, forecast, resolution_date",
        ),
        (lambda c: c["forecasts"][2].update(direction=[1]), "a combination of 2 needs as many directions of 1 or -1"),
        (lambda c: c["forecasts"][1].update(forecast=20), "forecasts[1]: the probability 20 is outside 0 to 1"),
        (lambda c: c["forecasts"][1].update(forecast="high"), "expected a probability, found 'high'"),
        (lambda c: c.pop("forecast_due_date"), "expected forecast_due_date; found organization, model"),
        (lambda c: c["forecasts"].insert(0, 3), "forecasts[0]: expected an object, found 3"),
    ],
)
def test_a_forecast_set_that_lacks_something(tmp_path, change, expected):
    content = json.loads(FORECASTBENCH.read_text(encoding="utf-8"))
    change(content)
    (tmp_path / "set.json").write_text(json.dumps(content), encoding="utf-8")
    assert expected in refused("forecastbench", tmp_path / "set.json", tmp_path=tmp_path)


def test_rounds_are_not_mixed(tmp_path):
    content = json.loads(FORECASTBENCH.read_text(encoding="utf-8"))
    content["forecast_due_date"] = "2026-01-25"
    (tmp_path / "later.json").write_text(json.dumps(content), encoding="utf-8")
    message = refused("forecastbench", FORECASTBENCH, tmp_path / "later.json", tmp_path=tmp_path)
    assert "several rounds: 2026-01-11" in message
    assert "convert each round by itself" in message


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("question_data.csv", "Question Type", "Kind", "no question_data.csv"),
        ("question_data.csv", ",Resolution,", ",Answer,", "question_data.csv: expected the columns Resolution; found"),
        (
            "question_data.csv",
            "multiple_choice",
            "ranking",
            "row 3: unknown question type 'ranking'; the types are binary",
        ),
        (
            "question_data.csv",
            ",binary,,,,,,,,,2026-01-01 00:00:00+00:00,,,,yes",
            ",binary,,,,,,,,,,,,,maybe",
            "neither yes nor no",
        ),
        ("question_data.csv", ",Oak,,", ",Ash,,", "the resolution 'Ash' is not one of its options"),
        ("forecast_data.csv", "0.75", "75", "row 3, Probability Yes: expected a probability from 0 to 1, found '75'"),
        ("forecast_data.csv", "[0.5, 0.3, 0.3]", "[0.5, 0.3]", "expected 3 values, as in the question, found 2"),
        ("forecast_data.csv", "[0.5, 0.3, 0.3]", "[0.5, 0.3", "expected a list such as [0.1, 0.9], found '[0.5, 0.3'"),
        ("forecast_data.csv", "Forecaster ID,Forecaster Username", "A,B", "expected the column 'Forecaster Username'"),
    ],
)
def test_a_download_that_lacks_something(tmp_path, file, old, new, expected):
    shutil.copytree(DATA / "metaculus", tmp_path / "in")
    text = (tmp_path / "in" / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "in" / file).write_text(text.replace(old, new), encoding="utf-8")
    assert expected in refused("metaculus", tmp_path / "in", tmp_path=tmp_path)


def test_a_group_that_is_not_there(tmp_path):
    with pytest.raises(co.PanelError, match="no group of binary questions has the post 99; the groups are 5, 6, 7"):
        co.convert("metaculus", DATA / "metaculus", tmp_path / "out", partitions=[99])


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            "NegChecker.jsonl",
            {"line": {"P": {"question": {"title": "a"}, "forecast": {"prob": 0.5}}}},
            "Neg has the roles P, not_P; found P",
        ),
        (
            "x.jsonl",
            {"line": {"A": {"question": {"title": "a"}, "forecast": {"prob": 0.5}}}},
            "no check has the roles A; the checks are Neg: P, not_P",
        ),
        (
            "x.jsonl",
            {"line": {"P": {}, "Q": {}}},
            "may be a paraphrase or a consequence; name the file ParaphraseChecker.jsonl",
        ),
        (
            "NegChecker.jsonl",
            {"P": {"title": "a"}, "not_P": {"title": "b"}},
            "expected 'forecast' or 'elicited_prob', found title",
        ),
        (
            "NegChecker.jsonl",
            {"line": {"P": {"question": {}, "forecast": {"prob": 0.5}}}},
            "expected a question with a 'title'",
        ),
        (
            "NegChecker.jsonl",
            {"line": {"P": {"question": {"title": "a"}, "forecast": 0.5}}},
            "'forecast' must be an object with 'prob', found 0.5",
        ),
        ("NegChecker.jsonl", {"line": 3}, "'line' must be an object of questions, found 3"),
    ],
)
def test_lines_that_lack_something(tmp_path, name, line, expected):
    (tmp_path / name).write_text(json.dumps(line), encoding="utf-8")
    assert expected in refused("consistency", tmp_path / name, tmp_path=tmp_path)


def test_tuples_without_an_answer_are_left_out_and_counted(tmp_path):
    line = json.loads(NEG.read_text(encoding="utf-8").splitlines()[0])
    line["line"]["P"]["forecast"] = None
    line["mood"] = "good"
    text = NEG.read_text(encoding="utf-8") + json.dumps(line)
    (tmp_path / "NegChecker.jsonl").write_text(text, encoding="utf-8")
    made = co.convert("consistency", tmp_path, tmp_path / "out")
    notes = "\n".join(made.notes)
    assert "1 tuple with an answer missing, left out" in notes
    assert "fields of a line that are not in the documented format, ignored: mood" in notes
