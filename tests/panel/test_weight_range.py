"""The range of weights is the same at every door, and says so."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coherently as co
from coherently.panel import reduce_tables

RANGE = "A weight is 0, or a number from 1e-50 to 1e50"
FINE = co.Panel.from_records([("A", "p", 0.2, 1e-40), ("B", "p", 0.4, 1.0)])


def frame(weight):
    return pd.DataFrame({"judge": ["A", "B"], "event": ["p", "q"], "probability": [0.2, 0.3], "weight": [1.0, weight]})


def from_csv(weight, folder):
    frame(weight).to_csv(folder / "panel.csv", index=False)
    return co.read_panel(folder / "panel.csv")


def from_parquet(weight, folder, read=co.read_panel):
    frame(weight).to_parquet(folder / "panel.parquet")
    return read(folder / "panel.parquet")


def from_lines(weight, folder):
    rows = frame(weight).to_dict("records")
    (folder / "panel.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return co.read_panel(folder / "panel.jsonl")


def listed_in_a_file(weight, folder):
    (folder / "weights.csv").write_text(f"judge,weight\nB,1\nA,{weight}\n")
    return co.aggregate(FINE, weights=folder / "weights.csv")


def revised(weight, _):
    with co.LivePanel(FINE, background=False) as live:
        live.revise("A", "p", 0.3, weight=weight)


DOORS = {
    "records": lambda weight, _: co.Panel.from_records([("A", "p", 0.2, 1.0), ("A", "q", 0.2, weight)]),
    "pandas": lambda weight, _: co.Panel.from_frame(frame(weight)),
    "polars": lambda weight, _: co.Panel.from_frame(pl.from_pandas(frame(weight))),
    "csv": from_csv,
    "parquet": from_parquet,
    "parquet in pieces": lambda weight, folder: from_parquet(weight, folder, reduce_tables),
    "json lines": from_lines,
    "weights file": listed_in_a_file,
    "weights mapping": lambda weight, _: co.aggregate(FINE, weights={"B": 1.0, "A": weight}),
    "weighting": lambda weight, _: co.aggregate(FINE, weights=lambda _: np.array([1e40 * weight, 1.0])),
    "live panel": revised,
}


@pytest.mark.parametrize("weight", [9e-51, 1.1e50, 1e-300, 1e200])
@pytest.mark.parametrize("door", DOORS)
def test_weights_out_of_range_are_refused_at_every_door(door, weight, tmp_path):
    with pytest.raises(co.PanelError, match=RANGE) as refused:
        DOORS[door](weight, tmp_path)
    if door not in ("live panel", "weighting", "weights file", "weights mapping"):
        assert f"row {3 if door == 'csv' else 2}, column weight: " in str(refused.value)
        assert ("too small" if weight < 1 else "too large") in str(refused.value)


@pytest.mark.parametrize("weight", [0.0, 1e-50, 1e50])
@pytest.mark.parametrize("door", [door for door in DOORS if not door.startswith("weight")])
def test_the_ends_of_the_range_are_accepted_at_every_door(door, weight, tmp_path):
    found = DOORS[door](weight, tmp_path)
    if isinstance(found, co.Panel):
        assert found.weight.tolist() == [1.0, weight]


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1e-40, "the weight of A for 'p', 1e-40 times the weight 1e-40 of the judge, is 1e-80"),
        (1e-300, "the weight of A for 'p', 1e-40 times the weight 1e-300 of the judge, is almost 0"),
        (1e200, "the weight of A for 'p', 1e-40 times the weight 1e+200 of the judge, is 1e+160"),
    ],
)
def test_products_with_the_weights_of_judges_are_in_the_range_too(factor, said):
    with pytest.raises(co.PanelError, match=RANGE) as refused:
        co.aggregate(FINE, weights=lambda _: np.array([factor, 1.0]))
    assert said in str(refused.value)
    left_out = co.aggregate(FINE, weights={"A": 0, "B": 1})
    assert left_out.columns()["weight"].tolist() == [1.0]


def test_means_of_repeats_are_in_the_range_too():
    with pytest.raises(co.PanelError, match="the mean weight of A's forecasts of 'p' is 5e-51"):
        co.Panel.from_records([("B", "q", 0.1, 1.0), ("A", "p", 0.2, 1e-50), ("A", "p", 0.4, 0.0)], repeats="mean")


def test_sums_may_be_heavier_than_a_forecast(tmp_path):
    columns = {"judge": ["A", "B", "C"], "event": ["p", "p", "q"], "probability": [0.2, 0.3, 0.4]}
    pd.DataFrame({**columns, "weight": [1e50, 1e50, 1.0]}).to_parquet(tmp_path / "panel.parquet")
    panel = reduce_tables(Path(tmp_path / "panel.parquet")).panel
    assert panel.weight.tolist() == [2e50, 1.0]
    result = co.aggregate(panel)
    assert co.verify(panel, result)
    assert co.Result.from_json(result.to_json()).columns()["weight"].tolist() == [2e50, 1.0]


@pytest.mark.parametrize("weight", [1e-51, 1e63, -1.0])
def test_records_of_results_keep_to_the_range(weight):
    record = json.loads(co.aggregate(FINE).to_json())
    record["forecasts"][0]["weight"] = weight
    with pytest.raises(
        co.ResultError, match=r"forecasts\[0\]\.weight is .*; it must be 0, or a number from 1e-50 to 1e62"
    ):
        co.Result.from_json(json.dumps(record))
