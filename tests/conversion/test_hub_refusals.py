"""Files of hubs that cannot be read: each message names the file, the row and the column, and says what to do."""

import pytest

import coherently as co
from tests.conversion import hubs


def refused(tmp_path, source, **options):
    with pytest.raises(co.PanelError) as caught:
        co.convert("hubverse", source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
    return str(caught.value)


def file_of(tmp_path, said, name="2024-01-06-Ann-garden.csv"):
    return hubs.write(tmp_path / name, [dict(zip(hubs.COLUMNS, row, strict=True)) for row in said])


def of_kind(kind, *pairs, target=hubs.WEEK):
    return [(*hubs.task(target, 1), kind, id_, value) for id_, value in pairs]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("said", "place", "expected"),
    [
        (
            of_kind("quantile", (0.25, 100.0), (0.5, 90.0)),
            (3, "value"),
            "the quantile 0.5 is 90, below the quantile 0.25, which is 100 (row {before}); quantiles must not decrease",
        ),
        (of_kind("quantile", (0.25, 100.0), (1.5, 190.0)), (3, "output_type_id"), "'1.5' is not a level; the level of"),
        (of_kind("quantile", (-0.1, 100.0)), (2, "output_type_id"), "'-0.1' is not a level"),
        (of_kind("quantile", ("NA", 100.0)), (2, "output_type_id"), "no level"),
        (of_kind("quantile", (0.25, 100.0), (0.25, 90.0)), (3, "output_type_id"), "already, in row {before}; delete"),
        (
            of_kind("quantile", (0.25, float("nan"))),
            (2, "value"),
            "no value\nA model that makes no forecast has no row",
        ),
        (of_kind("quantile", (0.25, float("inf"))), (2, "value"), "'inf' is not a number"),
        (of_kind("cdf", (1, 0.5), (2, 0.4)), (3, "value"), "0.4 at 2, below 0.5 at 1 (row {before}); a cumulative"),
        (of_kind("cdf", (1, 1.2)), (2, "value"), "1.2 is not a probability; the value of a cdf lies between 0 and 1"),
        (of_kind("cdf", ("low", 0.2)), (2, "output_type_id"), "'low' is a category, whose order tasks.json says; give"),
        (of_kind("pmf", ("low", 0.7), ("high", 0.6)), (3, "value"), "sum to 1.3 up to this row; they must sum to 1"),
        (of_kind("pmf", ("low", 0.2), ("high", 0.6)), (3, "value"), "sum to 0.8; they must sum to 1"),
        (of_kind("pmf", ("low", -0.2)), (2, "value"), "-0.2 is not a probability"),
        (of_kind("pmf", ("NA", 1.0)), (2, "output_type_id"), "no category"),
        (of_kind("pmf", ("[0, 2)", 0.5), ("[1, 3)", 0.5)), (3, "output_type_id"), "the bin [1, 3) overlaps [0, 2)"),
    ],
)
def test_rows(tmp_path, said, place, expected, ending):
    path = file_of(tmp_path, said, f"2024-01-06-Ann-garden.{ending}")
    row, column = place
    shift = ending == "parquet"  # a Parquet file has no row for its header
    message = refused(tmp_path, path)
    assert message.startswith(f"{path} row {row - shift}, column {column}: ")
    assert expected.format(before=row - 1 - shift) in message


def test_all_bad_values_of_a_file_are_listed(tmp_path):
    message = refused(tmp_path, file_of(tmp_path, of_kind("quantile", (0.1, "many"), (0.2, ""), (0.3, 5))))
    assert "row 2, column value: 'many' is not a number\n" in message
    assert "row 3, column value: no value\n" in message


def test_an_unknown_target(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    path = hub / "model-output" / "Ann-garden" / f"{hubs.ROUND}-Ann-garden.csv"
    file_of(path.parent, of_kind("quantile", (0.5, 3), target="wk inc flu host"), path.name)
    message = refused(tmp_path, hub)
    assert f"{path} row 2, column target: unknown target 'wk inc flu host'; did you mean 'wk inc flu hosp'?" in message
    assert f"The targets of {hub / 'hub-config' / 'tasks.json'} are wk inc flu hosp, peak inc flu hosp" in message


def test_an_unknown_category(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    path = hub / "model-output" / "Ann-garden" / f"{hubs.ROUND}-Ann-garden.csv"
    file_of(path.parent, of_kind("pmf", ("lowest", 1), target=hubs.LEVEL), path.name)
    assert "row 2, column output_type_id: unknown category 'lowest'; tasks.json has low, high" in refused(tmp_path, hub)


def test_missing_columns(tmp_path):
    path = hubs.write(tmp_path / "Ann.csv", [{"location": "US", "output_type": "quantile", "value": 3}])
    assert f"{path}: expected the columns output_type_id; found location, output_type, value" in refused(tmp_path, path)


def test_two_dates_of_one_task(tmp_path):
    rows = of_kind("quantile", (0.25, 1), (0.5, 2))
    rows[1] = (*rows[1][:4], "2024-02-13", *rows[1][5:])
    assert "row 3, column target_end_date: 2024-02-13, but" in refused(tmp_path, file_of(tmp_path, rows))


def test_sources(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "contains none of the expected files: model output" in refused(tmp_path, tmp_path / "empty")
    assert "does not exist" in refused(tmp_path, tmp_path / "nowhere.csv")
    truth = hubs.write(tmp_path / "oracle-output.csv", hubs.oracle())
    assert "no model output (with the columns output_type, output_type_id, value) among" in refused(tmp_path, truth)
    (tmp_path / "hub.zip").write_bytes(b"PK")
    assert "unpack it and give the folder" in refused(tmp_path, tmp_path / "hub.zip")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert "bad.parquet is not a complete Parquet file" in refused(tmp_path, tmp_path / "bad.parquet")
    (tmp_path / "tasks.json").write_text('{"rounds": [{"model_tasks": [3]}]}', encoding="utf-8")
    assert "tasks.json, rounds[0].model_tasks[0]: expected an object, found 3" in refused(
        tmp_path, [tmp_path / "tasks.json"]
    )


def test_options(tmp_path):
    path = file_of(tmp_path, of_kind("quantile", (0.5, 2)))
    assert "--only place: no such column of task ids; there are target" in refused(tmp_path, path, only={"place": "US"})
    assert "--only location=UK: no row has this value; there are US" in refused(tmp_path, path, only={"location": "UK"})
    assert "thresholds is -1; it must be 0" in refused(tmp_path, path, thresholds=-1)
    with pytest.raises(co.PanelError, match="--rules goes with --from hubverse, not with --from metaculus"):
        co.convert("metaculus", path, tmp_path / "out", rules=path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wk inc flu hosp > 3", "'wk inc flu hosp > 3' is not a rule"),
        ("peak >= wk inc flu hosp for same location", "unknown target 'peak' (the targets are wk inc flu hosp)"),
        (
            "wk inc flu hosp rises with week for same location",
            "unknown column 'week' (the columns are target, location",
        ),
        ("wk inc flu hosp >= wk inc flu hosp for same location", "is compared with itself; write"),
    ],
)
def test_rules(tmp_path, line, expected):
    path = file_of(tmp_path, of_kind("quantile", (0.5, 2)))
    rules = tmp_path / "rules.txt"
    rules.write_text(f"# first\n\n{line}\n", encoding="utf-8")
    message = refused(tmp_path, path, rules=rules)
    assert message.startswith(f"{rules} line 3: ")
    assert expected in message
    assert "A rule is TARGET >= TARGET for same COLUMN" in message


def test_outcomes(tmp_path):
    path = file_of(tmp_path, of_kind("quantile", (0.5, 2)))
    said = {"location": "US", "target_end_date": "2024-01-13", "target": hubs.WEEK}
    twice = hubs.write(tmp_path / "twice.csv", [{**said, "oracle_value": 3}, {**said, "oracle_value": 4}])
    assert "twice.csv row 3, column oracle_value: another outcome than in" in refused(tmp_path, [path, twice])
    text = hubs.write(tmp_path / "text.csv", [{**said, "oracle_value": "many"}])
    assert "text.csv row 2, column oracle_value: 'many' is not a number" in refused(tmp_path, [path, text])


def test_the_ends_of_a_range_are_left_out(tmp_path):
    path = file_of(tmp_path, of_kind("quantile", (0, 1), (0.5, 2), (1, 3), ("0.75", 2.5)))
    made = co.convert("hubverse", path, tmp_path / "out")
    assert made.events == 2
    assert any(note.startswith("2 quantiles left out: the levels 0 and 1") for note in made.notes)
