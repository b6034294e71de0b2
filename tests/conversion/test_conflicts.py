"""Exports that repeat or contradict themselves, leave holes, or hold lists where there should be numbers."""

import copy
import json

import pytest

import coherently as co
from coherently.conversion.label_groups import recognise

DUE = "2025-03-02"
FORECASTS = {
    "forecast_due_date": DUE,
    "organization": "o",
    "model": "m",
    "forecasts": [
        {"id": "m1", "source": "manifold", "forecast": 0.7, "user_id": "u"},
        {"id": ["a", "b"], "source": "s", "forecast": 0.2, "direction": [1, -1], "resolution_date": "2025-04-01"},
    ],
}
RESOLUTIONS = {
    "forecast_due_date": DUE,
    "resolutions": [
        {"id": "m1", "source": "manifold", "resolved_to": 1, "resolved": True, "resolution_date": "2025-03-09"}
    ],
}
QUESTIONS = {
    "forecast_due_date": DUE,
    "question_set": "x",
    "questions": [
        {"id": "m1", "source": "manifold", "question": "Rain?", "combination_of": "N/A"},
        {
            "id": ["a", "b"],
            "source": "s",
            "question": "Both?",
            "combination_of": [
                {"id": "a", "source": "s", "question": "A?"},
                {"id": "b", "source": "s", "question": "B?"},
            ],
        },
    ],
}
HEADER = "Question ID,Question Title,Post ID,Question Type,Resolution,Label,Continuous Range\n"
GIVEN = "Question ID,Forecaster Username,Start Time,Probability Yes,Probability Yes Per Category,Continuous CDF\n"


def forecastbench(folder, *sets):
    folder.mkdir(exist_ok=True)
    files = []
    for number, content in enumerate(sets):
        file = folder / f"{number}.json"
        file.write_text(json.dumps(content))
        files.append(file)
    return co.convert("forecastbench", files, folder / "out", force=True)


def metaculus(folder, questions, forecasts):
    (folder / "question_data.csv").write_text(HEADER + questions)
    (folder / "forecast_data.csv").write_text(GIVEN + forecasts)
    return co.convert("metaculus", folder, folder / "out")


def panel(folder):
    """What the files say, read as a user would."""
    files = {name: folder / "out" / f"{name}.{end}" for name, end in (("laws", "txt"), ("outcomes", "csv"))}
    there = {name: file for name, file in files.items() if file.exists()}
    return co.read_panel(folder / "out" / "panel.csv", **there)


def test_a_market_resolved_both_ways_is_left_unresolved(tmp_path):
    resolutions = copy.deepcopy(RESOLUTIONS)
    resolutions["resolutions"].append({**resolutions["resolutions"][0], "resolved_to": 0})
    made = forecastbench(tmp_path, FORECASTS, resolutions)
    assert "questions resolved both ways, left unresolved: manifold:m1" in made.notes
    assert panel(tmp_path).written.outcome.tolist() == [-1, -1]
    resolutions["resolutions"][1]["resolved_to"] = 1
    assert "both ways" not in " ".join(forecastbench(tmp_path, FORECASTS, resolutions).notes)
    assert panel(tmp_path).written.outcome.tolist() == [1, -1]


def places(content, path=()):
    """Every place of a JSON value, the value itself aside."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.parametrize("strange", [[1], {"a": 1}, [[1], [2]], [], {}, True, "x", 1e400, None])
def test_whatever_stands_in_a_field_is_read_or_refused_in_words(tmp_path, strange):
    sets = [FORECASTS, RESOLUTIONS, QUESTIONS]
    refused = 0
    for which, path in [(i, path) for i, content in enumerate(sets) for path in places(content)]:
        changed = copy.deepcopy(sets)
        *above, last = path
        inner = changed[which]
        for key in above:
            inner = inner[key]
        inner[last] = strange
        try:
            forecastbench(tmp_path, *changed)
        except co.PanelError as error:
            refused += 1
            assert ".json" in str(error), path
            assert len(str(error)) < 400
    assert refused > 5


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("direction", [[1], [1]], "forecasts[1]: a combination of 2 needs as many directions of 1 or -1, found a list"),
        ("forecast", {"p": 0.5}, "forecasts[1]: expected a probability, found an object, {'p': 0.5}; correct it"),
        ("source", ["s"], "forecasts[1], source: expected a text, found a list, ['s']; correct it"),
        ("id", [["a"], "b"], "forecasts[1], id: expected a text, found a list, ['a']; correct it"),
    ],
)
def test_nested_fields_are_refused_with_place_value_and_remedy(tmp_path, field, value, words):
    content = copy.deepcopy(FORECASTS)
    content["forecasts"][1][field] = value
    with pytest.raises(co.PanelError) as caught:
        forecastbench(tmp_path, content)
    assert words in str(caught.value)


def test_a_list_for_a_resolution_is_refused(tmp_path):
    content = copy.deepcopy(RESOLUTIONS)
    content["resolutions"][0]["resolved_to"] = [1]
    with pytest.raises(
        co.PanelError, match=r"resolutions\[0\]: expected a probability, found a list, \[1\]; correct it"
    ):
        forecastbench(tmp_path, FORECASTS, content)


def test_a_question_that_is_there_twice_is_declared_once(tmp_path):
    row = '3,N,1,numeric,,,"[0,5,10]"\n'
    made = metaculus(tmp_path, row + row, '3,z,2026-01-01,,,"[0,0.5,1]"\n')
    assert made.notes == ("questions that are in question_data more than once (the first counts): 3",)
    assert (tmp_path / "out" / "laws.txt").read_text() == "variable q3: number\n"
    assert len(panel(tmp_path)) == 1


def test_a_question_that_is_resolved_in_two_ways_is_left_unresolved(tmp_path):
    rows = "1,Rain?,9,binary,yes,,\n1,Rain?,9,binary,no,,\n2,Wind?,9,binary,yes,,\n2,Wind?,9,binary,yes,,\n"
    made = metaculus(tmp_path, rows, "1,z,2026-01-01,.2,,\n2,z,2026-01-01,.3,,\n")
    assert "questions resolved in two ways, left unresolved: 1" in made.notes
    assert panel(tmp_path).written.outcome.tolist() == [-1, 1]


def test_brackets_with_a_hole_admit_another_value(tmp_path):
    labels = {"1": "<10", "2": "10-19", "4": ">20"}
    questions = "".join(f"{i},How many? ({label}),9,binary,no,{label},\n" for i, label in labels.items())
    made = metaculus(tmp_path, questions, "".join(f"{i},z,2026-01-01,.{i},,\n" for i in labels))
    assert any("groups of brackets that leave values out" in note and "posts 9;" in note for note in made.notes)
    assert (tmp_path / "out" / "laws.txt").read_text() == 'variable g9: "<10", "10-19", ">20", ...\n'
    assert panel(tmp_path).written.outcome.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("labels", "complete"),
    [
        (["<10", "10-19", ">20"], False),
        (["<10", "10-19", ">=20"], True),
        (["<10", "10-19", ">19"], True),
        (["<10", "10-20", ">20"], True),
        (["<10", "11-19", ">=20"], False),
        (["<=10", "11-19", "20+"], True),
        (["<10", ">10-20", ">20"], False),
        (["<10", "10-<20", ">20"], False),
        (["<10", "10-<20", "20 or more"], True),
        (["<10", "10-19", "30 or more"], False),
        (["<1.5", "1.5-1.9", "2 or more"], True),
        (["<1.5", "1.5-1.8", "2 or more"], False),
        (["5-10", "10-15"], False),
    ],
)
def test_brackets_are_complete_where_no_value_lies_between(labels, complete):
    found = recognise("g", labels, "How many?")
    assert found.complete == complete
    assert found.law.endswith(", ...") != complete
