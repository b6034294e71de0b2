import csv
import json
import shutil
import zipfile
from pathlib import Path

import pytest

import coherently as co

DATA = Path(__file__).parent / "data"


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def converted(tmp_path, word, *sources, **options):
    made = co.convert(word, sources or [DATA / word], tmp_path / "out", **options)
    assert sorted(made.files) == sorted((tmp_path / "out").iterdir())
    return made, tmp_path / "out"


def events_of(folder, judge):
    return {row["event"]: float(row["probability"]) for row in rows(folder / "panel.csv") if row["judge"] == judge}


def outcomes_of(folder):
    return {row["event"]: int(row["outcome"]) for row in rows(folder / "outcomes.csv")}


def test_metaculus(tmp_path):
    made, out = converted(tmp_path, "metaculus")
    assert (out / "laws.txt").read_text(encoding="utf-8").splitlines() == [
        'variable q12: Oak, "Beech\'s rival", Elm',
        *("variable q13: number", "variable q14: date", "variable q15: number", "variable g5: date"),
        'variable g6: "fewer than 100", "100–199", "200 or more"',
    ]
    ann, bob = events_of(out, "ann"), events_of(out, "bob")
    assert ann["q11"] == 0.75
    assert [ann[f"q13 <= {x}"] for x in range(1, 11)] == [
        0.095,
        0.19,
        0.285,
        0.38,
        0.475,
        0.57,
        0.665,
        0.76,
        0.855,
        0.95,
    ]
    assert {event: p for event, p in bob.items() if event.startswith("q12")} == {
        "q12 = Oak": 0.6,
        'q12 = "Beech\'s rival"': 0.2,
    }
    assert (bob["q14 < 2026-01-01"], bob["q14 <= 2026-02-15"]) == (0.02, 0.3)
    assert (ann["g5 < 2026-08-01"], ann["g5 < 2026-09-01"]) == (0.5, 0.4)
    assert [bob[f'g6 = "{label}"'] for label in ("fewer than 100", "100–199", "200 or more")] == [0.2, 0.5, 0.4]
    outcomes = outcomes_of(out)
    assert [outcomes[f"q13 <= {x}"] for x in (4, 5)] == [0, 1]
    assert (outcomes["q12 = Oak"], outcomes["q12 = Elm"], outcomes["g5 < 2026-08-01"]) == (1, 0, 0)
    assert "q41" not in outcomes
    labels = {row["id"]: row["title"] for row in rows(out / "labels.csv")}
    assert set(labels) == set(ann) | set(bob)
    assert labels['q12 = "Beech\'s rival"'] == "Which tree is tallest?: Beech's rival"
    notes = "\n".join(made.notes)
    assert "groups: 1 ladder of dates, 1 brackets" in notes
    assert "posts 7; if exactly one" in notes
    assert "1 row of aggregates (recency_weighted) left out" in notes
    assert "1 earlier forecast left out" in notes
    assert "2 questions annulled" in notes


def test_a_discrete_distribution_counts_the_outcomes_that_a_threshold_has_passed(tmp_path):
    _, out = converted(tmp_path, "metaculus")
    ann, outcomes = events_of(out, "ann"), outcomes_of(out)
    # Outcomes 0 to 4 have the probabilities .1 .2 .3 .3 .1, and 2 came out.
    assert [ann[f"q15 <= {x}"] for x in ("0", "0.5", "1", "2", "3.5", "4")] == [0.1, 0.1, 0.3, 0.6, 0.9, 1.0]
    assert [outcomes[f"q15 <= {x}"] for x in ("1.5", "2", "2.5")] == [0, 1, 1]


def test_metaculus_options(tmp_path):
    options = {"every": True, "aggregates": True, "partitions": [7], "thresholds": 1}
    _, out = converted(tmp_path, "metaculus", **options)
    judges = [row["judge"] for row in rows(out / "panel.csv") if row["event"] == "q11"]
    assert judges == ["ann", "ann", "bob", "recency_weighted"]
    assert "variable g7: Ann, Bob" in (out / "laws.txt").read_text(encoding="utf-8").splitlines()
    ann = events_of(out, "ann")
    assert (ann["g7 = Ann"], ann["g7 = Bob"]) == (0.6, 0.5)
    assert [event for event in ann if event.startswith("q13")] == ["q13 <= 5", "q13 <= 10"]


def test_exclusive_questions_leave_another_possible(tmp_path):
    _, out = converted(tmp_path, "metaculus", exclusive=["7"])
    assert "variable g7: Ann, Bob, ..." in (out / "laws.txt").read_text(encoding="utf-8").splitlines()


def test_aggregates_alone_are_kept(tmp_path):
    shutil.copytree(DATA / "metaculus", tmp_path / "in")
    file = tmp_path / "in" / "forecast_data.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([lines[0], lines[-1]]), encoding="utf-8")
    made, out = converted(tmp_path, "metaculus", tmp_path / "in")
    assert made.judges == 1
    assert events_of(out, "recency_weighted") == {"q11": 0.68}


def test_an_archive_and_anonymous_forecasters(tmp_path):
    text = (DATA / "metaculus" / "forecast_data.csv").read_text(encoding="utf-8")
    header, *lines = text.splitlines()
    anonymous = header.replace("Forecaster ID,Forecaster Username", "Forecaster (Anonymized)")
    kept = [line for line in lines if line.startswith("11,")]
    lines = [line.split(",")[0] + "," + ",".join(line.split(",")[2:]) for line in kept]
    with zipfile.ZipFile(tmp_path / "download.zip", "w") as archive:
        archive.write(DATA / "metaculus" / "question_data.csv", "question_data.csv")
        archive.writestr("forecast_data.csv", "\n".join([anonymous, *lines]))
        archive.writestr("README.md", "what is in here")
    _, out = converted(tmp_path, "metaculus", tmp_path / "download.zip")
    assert events_of(out, "ann") == {"q11": 0.75}


def test_forecastbench(tmp_path):
    made, out = converted(tmp_path, "forecastbench")
    assert events_of(out, "Garden/oracle") == {
        "manifold:rain1": 0.7,
        "manifold:hail2": 0.2,
        "manifold:rain1 & manifold:hail2": 0.3,
        "manifold:rain1 & ~manifold:hail2": 0.6,
        "fred:a1b2:2026-02-01": 0.55,
    }
    assert outcomes_of(out) == {
        "manifold:rain1": 1,
        "manifold:hail2": 0,
        "manifold:rain1 & ~manifold:hail2": 1,
        "fred:a1b2:2026-02-01": 0,
    }
    notes = "\n".join(made.notes)
    assert "1 forecast missing, counted as abstentions" in notes
    assert "2 resolutions of events that nobody forecast, left out" in notes
    panel = co.read_panel(out / "panel.csv", outcomes=out / "outcomes.csv", labels=out / "labels.csv")
    assert panel.labels["manifold:hail2"] == "Will it hail on the fair?"
    result = co.aggregate(panel, "exact")
    pair = result.probability("manifold:rain1 & manifold:hail2"), result.probability("manifold:rain1 & ~manifold:hail2")
    assert sum(pair) == pytest.approx(result.probability("manifold:rain1"), abs=1e-9)


def test_forecastbench_judges_are_people_where_the_set_names_them(tmp_path):
    content = json.loads((DATA / "forecastbench" / "2026-01-11.Garden.oracle.json").read_text(encoding="utf-8"))
    for number, item in enumerate(content["forecasts"]):
        item.update(user_id=f"u{number % 2}", mood="good")
    (tmp_path / "people.json").write_text(json.dumps(content), encoding="utf-8")
    made, out = converted(tmp_path, "forecastbench", tmp_path / "people.json")
    assert {row["judge"] for row in rows(out / "panel.csv")} == {"u0", "u1"}
    assert any("fields of forecasts that are not in the documented format, ignored: mood" in n for n in made.notes)


def test_consistency(tmp_path):
    made, out = converted(tmp_path, "consistency", DATA / "consistency" / "Ann", DATA / "consistency" / "Bob")
    labels = {row["title"]: row["id"] for row in rows(out / "labels.csv")}
    rain, hail, any_, para = (
        labels[title]
        for title in ("Will it rain?", "Will it hail?", "Will there be any precipitation?", "Is rain coming?")
    )
    thunder = labels["Q of: Will it rain and thunder?"]
    assert (out / "laws.txt").read_text(encoding="utf-8").splitlines() == [f"{hail} -> {any_}", f"{rain} <-> {para}"]
    ann = [(row["event"], float(row["probability"])) for row in rows(out / "panel.csv") if row["judge"] == "Ann"]
    assert ann[:6] == [
        *((rain, 0.6), (hail, 0.3), (f"{rain} & {hail}", 0.5)),
        *((rain, 0.4), (f"{thunder} given {rain}", 0.4), (f"{rain} & {thunder}", 0.4)),
    ]
    assert (f"~{rain}", 0.6) in ann
    assert (para, 0.7) in ann
    bob = [row["event"] for row in rows(out / "panel.csv") if row["judge"] == "Bob"]
    other = labels["Q of: Will it rain or hail?"]
    assert bob == [rain, rain, f"{other} & ~{rain}", f"{rain} | {other}"]
    assert outcomes_of(out) == {rain: 1, para: 1}
    assert "1 resolution of compound questions not used" in "\n".join(made.notes)


def test_base_sentences_name_what_no_answer_is_about_alone(tmp_path):
    line = json.loads((DATA / "consistency" / "Ann" / "CondChecker.jsonl").read_text(encoding="utf-8"))["line"]
    line["metadata"] = {"base_sentences": {"P": {"title": "Will it rain?"}, "Q": {"title": "Will it thunder?"}}}
    (tmp_path / "CondChecker.jsonl").write_text(json.dumps({"line": line}), encoding="utf-8")
    _, out = converted(tmp_path, "consistency", tmp_path / "CondChecker.jsonl")
    labels = {row["title"] for row in rows(out / "labels.csv")}
    assert "Will it thunder?" in labels
    assert not any(title.startswith("Q of") for title in labels)


def test_names_of_questions_do_not_depend_on_where_they_are_asked(tmp_path):
    _, first = converted(tmp_path / "1", "consistency", DATA / "consistency" / "Bob")
    _, second = converted(tmp_path / "2", "consistency", DATA / "consistency" / "Ann" / "NegChecker.jsonl")
    shared = {row["id"] for row in rows(first / "labels.csv")} & {row["id"] for row in rows(second / "labels.csv")}
    assert len(shared) == 1


def test_nothing_is_overwritten_without_force(tmp_path):
    _, out = converted(tmp_path, "metaculus")
    before = (out / "panel.csv").read_text(encoding="utf-8")
    with pytest.raises(co.PanelError, match=r"panel\.csv exists already: give another folder, or --force"):
        co.convert("forecastbench", DATA / "forecastbench", out)
    assert (out / "panel.csv").read_text(encoding="utf-8") == before
    made = co.convert("forecastbench", DATA / "forecastbench", out, force=True)
    assert sorted(path.name for path in out.iterdir()) == ["labels.csv", "outcomes.csv", "panel.csv"]
    assert str(made).splitlines()[0] == f"{out / 'panel.csv'}: 5 forecasts by 1 judge on 5 events"
