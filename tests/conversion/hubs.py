"""A small hub after the published schema, with every output type, written as CSV or Parquet."""

import csv
import json

COLUMNS = (
    "reference_date",
    "target",
    "horizon",
    "location",
    "target_end_date",
    "output_type",
    "output_type_id",
    "value",
)
ROUND = "2024-01-06"
WEEK, PEAK, RATE, LEVEL, COUNT, TYPE = (
    *("wk inc flu hosp", "peak inc flu hosp", "wk flu hosp rate", "wk flu hosp rate category"),
    *("outbreaks", "dominant type"),
)


def task(target, horizon, location="US"):
    day = {0: "2024-01-06", 1: "2024-01-13"}.get(horizon, "NA")
    return (ROUND, target, "NA" if horizon is None else horizon, location, day)


def quantile_rows(target, horizon, values, location="US"):
    levels = (0.25, 0.5, 0.75)
    return [(*task(target, horizon, location), "quantile", p, v) for p, v in zip(levels, values, strict=True)]


def output(**changed):
    """The rows of one model, of every kind."""
    rows = [
        *quantile_rows(WEEK, 1, (100, 120, 150)),
        *quantile_rows(PEAK, None, (70, 90, 115)),
        *((*task(RATE, 1), "cdf", limit, p) for limit, p in ((0.5, 0.1), (1, 0.4), (1.5, 0.9))),
        *((*task(LEVEL, 1), "pmf", name, p) for name, p in (("low", 0.5), ("high", 0.3), ("very high", 0.2))),
        *((*task(TYPE, None), "pmf", name, p) for name, p in (("A/H1", 0.7), ("B", 0.3))),
        *((*task(COUNT, 1), "pmf", number, p) for number, p in ((0, 0.5), (1, 0.3), (2, 0.2))),
        (*task(WEEK, 1), "mean", "NA", 124.5),
        (*task(WEEK, 1), "median", "NA", 120),
        *((*task(WEEK, 0), "sample", number, value) for number, value in enumerate((80, 95, 101, 130), 1)),
    ]
    return [{**dict(zip(COLUMNS, row, strict=True)), **changed} for row in rows]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {name: [None if row[name] == "NA" else row[name] for row in rows] for name in rows[0]}
        if "output_type_id" in columns:
            columns["output_type_id"] = [None if v is None else str(v) for v in columns["output_type_id"]]
        pq.write_table(pa.table(columns), path)
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def oracle():
    def row(target, day, kind, id_, value):
        names = ("location", "target_end_date", "target", "output_type", "output_type_id", "oracle_value")
        return dict(zip(names, ("US", day, target, kind, id_, value), strict=True))

    return [
        row(WEEK, "2024-01-06", "quantile", "NA", 97),
        row(WEEK, "2024-01-13", "quantile", "NA", 131),
        row(PEAK, "NA", "quantile", "NA", 142),
        *(row(RATE, "2024-01-13", "cdf", limit, int(limit > 0.7)) for limit in (0.5, 1, 1.5)),
        *(row(LEVEL, "2024-01-13", "pmf", name, int(name == "very high")) for name in ("low", "high", "very high")),
        row(COUNT, "2024-01-13", "mean", "NA", 1),
        row(WEEK, "2024-01-20", "quantile", "NA", 160),
    ]


def tasks():
    def group(target, kind, output_type):
        ids = {name: {"required": None, "optional": []} for name in COLUMNS[:5]}
        ids["target"] = {"required": [target], "optional": None}
        about = {"target_id": target, "target_name": target.title(), "target_units": "count", "target_type": kind}
        about |= {"target_keys": {"target": target}, "is_step_ahead": True, "time_unit": "week"}
        return {"task_ids": ids, "output_type": output_type, "target_metadata": [about]}

    def ids(*values):
        return {"output_type_id": {"required": list(values)}, "value": {"type": "double"}}

    groups = [
        *(group(name, "continuous", {"quantile": ids(0.25, 0.5, 0.75)}) for name in (WEEK, PEAK)),
        group(RATE, "continuous", {"cdf": ids(0.5, 1, 1.5)}),
        group(LEVEL, "ordinal", {"pmf": ids("low", "high", "very high")}),
        group(TYPE, "nominal", {"pmf": ids("A/H1", "B")}),
        group(COUNT, "discrete", {"pmf": ids(0, 1, 2)}),
    ]
    rounds = [{"round_id_from_variable": True, "round_id": "reference_date", "model_tasks": groups}]
    return {"schema_version": "v6.0.0/tasks-schema.json", "rounds": rounds, "derived_task_ids": ["target_end_date"]}


def make_hub(folder, ending="csv"):
    """Write a whole hub of two models."""
    for model in ("Ann-garden", "Bob-field"):
        write(folder / "model-output" / model / f"{ROUND}-{model}.{ending}", output())
    write(folder / "target-data" / f"oracle-output.{ending}", oracle())
    config = folder / "hub-config"
    config.mkdir()
    (config / "tasks.json").write_text(json.dumps(tasks()), encoding="utf-8")
    (config / "admin.json").write_text('{"model_output_dir": "model-output"}', encoding="utf-8")
    return folder


def quantile_rows_of(values):
    """The rows of a file with one task."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in quantile_rows(WEEK, 1, values)]
