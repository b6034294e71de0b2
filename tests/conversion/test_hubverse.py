"""Forecasting hubs: every kind of file that hubs publish, as CSV and as Parquet."""

import json

import pytest

import coherently as co
from tests.conversion import hubs
from tests.conversion.test_conversion import events_of, rows

W1, W0, TOP = "wk_inc_flu_hosp:US:2024-01-06:h1", "wk_inc_flu_hosp:US:2024-01-06:h0", "peak_inc_flu_hosp:US:2024-01-06"
RATE = "wk_flu_hosp_rate:US:2024-01-06:h1"
LEVEL = "wk_flu_hosp_rate_category:US:2024-01-06:h1"
COUNT = "outbreaks:US:2024-01-06:h1"
TYPE = "dominant_type:US:2024-01-06"


def converted(tmp_path, *sources, **options):
    made = co.convert("hubverse", sources, tmp_path / "out", **options)
    return made, tmp_path / "out"


def laws(folder):
    return (folder / "laws.txt").read_text(encoding="utf-8").splitlines()


def read(folder):
    return co.read_panel(folder / "panel.csv", laws=folder / "laws.txt", outcomes=folder / "outcomes.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_whole_hub(tmp_path, ending):
    made, out = converted(tmp_path, hubs.make_hub(tmp_path / "hub", ending))
    ann = events_of(out, "Ann-garden")
    assert ann == events_of(out, "Bob-field")
    assert [ann[f"{W1} <= {x}"] for x in (100, 120, 150)] == [0.25, 0.5, 0.75]
    assert [ann[f"{RATE} <= {x}"] for x in (0.5, 1, 1.5)] == [0.1, 0.4, 0.9]
    assert [ann[f"{COUNT} <= {x}"] for x in (0, 1, 2)] == [0.5, 0.8, 1.0]
    assert [ann[f"{W0} <= {x}"] for x in (80, 95, 101, 130)] == [0.25, 0.5, 0.75, 1.0]
    assert {event: p for event, p in ann.items() if event.startswith(TYPE)} == {
        f'{TYPE} = "A/H1"': 0.7,
        f"{TYPE} = B": 0.3,
    }
    assert ann[f'{LEVEL} = "very high"'] == 0.2
    assert f'variable {LEVEL}: low, high, "very high"' in laws(out)
    assert f"variable {W1}: number" in laws(out)
    assert {row["time"] for row in rows(out / "panel.csv")} == {"2024-01-06"}
    notes = "\n".join(made.notes)
    assert "2 rows of output type mean left out: a mean is not a probability" in notes
    assert "2 medians left out: the quantile 0.5 of the same model says the same" in notes
    assert "1 row of target data on tasks that were not converted, left out" in notes
    resolved = {row["event"]: row["outcome"] for row in rows(out / "outcomes.csv")}
    assert (resolved[W1], resolved[TOP], resolved[LEVEL], resolved[COUNT]) == ("131", "142", "very high", "1")
    panel = read(out)
    outcome = dict(zip(panel.written.text, panel.written.outcome.tolist(), strict=True))
    assert [outcome[f"{W1} <= {x}"] for x in (100, 120, 150)] == [0, 0, 1]
    assert [outcome[f"{RATE} <= {x}"] for x in (0.5, 1)] == [0, 1]
    assert (outcome[f"{LEVEL} = low"], outcome[f'{LEVEL} = "very high"'], outcome[f"{COUNT} <= 0"]) == (0, 1, 0)
    assert co.check(panel).coherent


def test_single_files_without_tasks(tmp_path):
    path = hubs.write(tmp_path / f"{hubs.ROUND}-Ann-garden.csv", hubs.output(mood="good"))
    made, out = converted(tmp_path, path, thresholds=0)
    ann = events_of(out, "Ann-garden")
    assert {event for event in ann if event.startswith(f"{W1}")} == set()  # the unknown column is a task id
    assert "wk_inc_flu_hosp:US:good:2024-01-06:h1 <= 100" in ann
    notes = "\n".join(made.notes)
    assert "columns that the hubverse does not document, taken as task ids: mood" in notes
    assert "4 rows of output type sample left out" in notes
    # Without tasks.json nothing says that a number is a value and not the end of a bin.
    assert 'variable outbreaks:US:good:2024-01-06:h1: "0", "1", "2"' in laws(out)


def test_columns_that_tasks_do_not_name_are_noted(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    hubs.write(hub / "model-output" / "Ann-garden" / f"{hubs.ROUND}-Ann-garden.csv", hubs.output(mood="good"))
    content = {**hubs.tasks(), "weather": "fine"}
    (hub / "hub-config" / "tasks.json").write_text(json.dumps(content), encoding="utf-8")
    made, out = converted(tmp_path, hub)
    notes = "\n".join(made.notes)
    assert "columns that are not in the documented format, ignored: mood" in notes
    assert "tasks.json: fields that are not in the documented format, ignored: weather" in notes
    assert f"{W1} <= 100" in events_of(out, "Ann-garden")


def test_models_are_read_at_common_thresholds_unless_as_reported(tmp_path):
    rows_of = {"Ann-garden": (100, 120, 150), "Bob-field": (110, 110, 200)}
    for model, values in rows_of.items():
        hubs.write(tmp_path / model / f"{hubs.ROUND}-{model}.csv", hubs.quantile_rows_of(values))
    sources = [tmp_path / model for model in rows_of]
    made, out = converted(tmp_path, *sources, thresholds=0)
    assert events_of(out, "Ann-garden") == {f"{W1} <= 100": 0.25, f"{W1} <= 120": 0.5, f"{W1} <= 150": 0.75}
    # Two levels at one value: at most 110 has at least the higher probability.
    assert events_of(out, "Bob-field") == {f"{W1} <= 110": 0.5, f"{W1} <= 200": 0.75}
    assert "1 quantile left out: a higher level of the same model has the same value" in made.notes
    made, out = converted(tmp_path, *sources, force=True)
    ann = events_of(out, "Ann-garden")
    assert ann == {f"{W1} <= {x}": p for x, p in ((100, 0.25), (110, 0.375), (120, 0.5), (150, 0.75), (200, 0.875))}
    assert events_of(out, "Bob-field")[f"{W1} <= 100"] == 0.25
    assert any("interpolated between what the models report (--thresholds 23)" in note for note in made.notes)
    _, out = converted(tmp_path, *sources, thresholds=2, force=True)
    assert len(events_of(out, "Ann-garden")) == 2


def test_only_some_tasks(tmp_path):
    made, out = converted(tmp_path, hubs.make_hub(tmp_path / "hub"), only={"target": [hubs.RATE], "location": "US"})
    assert set(events_of(out, "Bob-field")) == {f"{RATE} <= {x}" for x in (0.5, 1, 1.5)}
    assert made.judges == 2


def test_a_time_series_resolves_where_there_is_no_oracle_output(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    (hub / "target-data" / "oracle-output.csv").unlink()
    said = [("2024-01-20", 131), ("2024-02-10", 133)]
    series = [
        {"as_of": day, "target_end_date": "2024-01-13", "location": "US", "target": hubs.WEEK, "observation": value}
        for day, value in said
    ]
    hubs.write(hub / "target-data" / "time-series.csv", series)
    hubs.write(hub / "target-data" / "locations.csv", [{"location": "US", "name": "all"}])
    made, out = converted(tmp_path, hub)
    assert rows(out / "outcomes.csv") == [{"event": W1, "outcome": "133"}]
    assert any("neither oracle output nor a time series, ignored" in note for note in made.notes)


def test_bins_become_thresholds(tmp_path):
    bins = (("[1, 2)", 0.3), ("[0, 1)", 0.6), ("[2, Inf)", 0.1))
    made_rows = [(*hubs.task(hubs.RATE, 1), "pmf", name, p) for name, p in bins]
    path = hubs.write(tmp_path / "Ann.csv", [dict(zip(hubs.COLUMNS, row, strict=True)) for row in made_rows])
    _, out = converted(tmp_path, path)
    assert events_of(out, "Ann") == {f"{RATE} < 1": 0.6, f"{RATE} < 2": 0.9}


def test_categories_in_order_may_be_cumulative(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    said = [(*hubs.task(hubs.LEVEL, 1), "cdf", name, p) for name, p in (("low", 0.5), ("high", 0.8), ("very high", 1))]
    hubs.write(
        hub / "model-output" / "Bob-field" / f"{hubs.ROUND}-Bob-field.csv",
        [dict(zip(hubs.COLUMNS, row, strict=True)) for row in said],
    )
    _, out = converted(tmp_path, hub)
    assert events_of(out, "Bob-field") == {f"{LEVEL} = low": 0.5, f"{LEVEL} in {{low, high}}": 0.8}
    assert co.check(read(out)).coherent


def test_rules_relate_targets(tmp_path):
    hub = hubs.make_hub(tmp_path / "hub")
    rules = tmp_path / "rules.txt"
    rules.write_text(f"# seasons\n{hubs.PEAK} >= {hubs.WEEK} for same location, reference_date\n", encoding="utf-8")
    made, out = converted(tmp_path, hub, rules=rules, thresholds=0)
    assert f"{TOP} <= 115 -> {W1} <= 120" in laws(out)
    assert any("rules.txt relates 2 pairs of quantities" in note for note in made.notes)
    check = co.check(read(out))
    assert not check.coherent
    made, out = converted(tmp_path, hub, rules=rules, force=True)
    assert f"{TOP} <= 120 -> {W1} <= 120" in laws(out)
    result = co.aggregate(read(out), "exact")
    assert result.probability(f"{TOP} <= 120") <= result.probability(f"{W1} <= 120") + 1e-9


def test_a_cumulative_target_rises(tmp_path):
    made_rows = [
        dict(zip(hubs.COLUMNS, row, strict=True))
        for horizon, values in ((0, (10, 20, 30)), (1, (9, 25, 40)))
        for row in hubs.quantile_rows("cum death", horizon, values)
    ]
    path = hubs.write(tmp_path / "Ann.csv", made_rows)
    (tmp_path / "rules.txt").write_text("cum death rises with horizon for same location", encoding="utf-8")
    _, out = converted(tmp_path, path, rules=tmp_path / "rules.txt", thresholds=0)
    name = "cum_death:US:2024-01-06"
    assert laws(out)[2:] == [f"{name}:h1 <= {a} -> {name}:h0 <= {b}" for a, b in ((9, 10), (25, 30))]
