"""The canonical form of panels and its digest, against a plain writer of what the reference says."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import coherently as co
from coherently.panel import digest, reduce_tables
from coherently.panel.canonical import ROWS, canonical_text
from tests.verifier.language import random_panel

CSV = "judge,event,probability,weight\nAnn,p,0.25,1\nBob,p & q,10%,2.5\nAnn,q & p,0.3,1\n"
RECORDS = [("Ann", "p", 0.25, 1.0), ("Bob", "p & q", 0.1, 2.5), ("Ann", "q & p", 0.3, 1.0)]
LAWS = ["variable w: a, b", "p -> q", "P(q) <= 0.9"]


def plainly(panel, *, plain_events=False):
    """The text of the reference, written line by line."""
    head = [{"format": "coherently-panel", "version": 1, "plain_events": plain_events}]
    laws = [{"law": text} for text in (*panel.laws.declarations, *panel.laws.text, *panel.laws.pins.text)]
    lines = []
    for i in range(len(panel)):
        row = {
            "judge": panel.judges[panel.judge_index[i]],
            "event": panel.written.text[panel.event_index[i]],
            "probability": abs(float(panel.probability[i])),
            "weight": abs(float(panel.weight[i])),
        }
        for name in ("lower", "upper"):
            ends = getattr(panel, name)
            if ends is not None and not np.isnan(ends[i]):
                row[name] = float(ends[i])
        lines.append(row)
    written = [
        [json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in kind]
        for kind in (head, laws, lines)
    ]
    return b"".join(line for kind in written for line in sorted(kind))


def frame_of(library):
    columns = dict(zip(("judge", "event", "probability", "weight"), map(list, zip(*RECORDS, strict=True)), strict=True))
    return library.DataFrame(columns)


def test_files_records_and_frames_of_one_panel_have_one_digest(tmp_path):
    (tmp_path / "panel.csv").write_text(CSV, "utf-8")
    (tmp_path / "laws.txt").write_text(
        "# comments\nP(q) <= 0.9\n\nvariable w: a, b\n  p -> q  # do not count\n", "utf-8"
    )
    frame_of(pl).write_parquet(tmp_path / "panel.parquet")
    panels = [
        co.Panel.from_records(RECORDS, laws=LAWS),
        co.read_panel(tmp_path / "panel.csv", laws=tmp_path / "laws.txt"),
        co.read_panel(tmp_path / "panel.parquet", laws=LAWS),
        co.Panel.from_frame(frame_of(pd), laws=LAWS),
        co.Panel.from_frame(frame_of(pl), laws=LAWS, outcomes={"p": True}, labels={"p": "Rain"}),
    ]
    assert {digest(panel) for panel in panels} == {hashlib.sha256(plainly(panels[0])).hexdigest()}


def test_texts_are_as_the_reference_says():
    rows = [
        {"judge": 'A "é"\\', "event": '"x \\" y" & q', "lower": 0.4, "upper": 0.6, "weight": 1e-50},
        {"judge": "日本", "event": "p & q", "probability": 0.9, "weight": 1e22},
        {"judge": "日本", "event": "q given p", "probability": 1 / 3, "lower": 0.2, "weight": 123456789.0},
        {"judge": "日本", "event": "q & p", "probability": 1e-5, "weight": 0},
    ]
    panel = co.Panel.from_records([{"lower": None, "upper": None, **row} for row in rows], laws=["P(q) <= 0.9"])
    assert canonical_text(panel) == plainly(panel)
    again = replace(panel, probability=panel.probability * [1, 1, 1, -0.0])
    assert b'"probability":0.0,' in canonical_text(again)
    composed, apart = (co.Panel.from_records([("é", "é", 0.5)]), co.Panel.from_records([("e\u0301", "e\u0301", 0.5)]))
    assert digest(composed) == digest(apart)


def test_names_that_are_no_formulas_are_another_panel():
    panel = co.Panel.from_records([("A", "p & q", 0.5)], plain_events=True)
    assert canonical_text(panel) == plainly(panel, plain_events=True)
    assert digest(panel) != digest(co.Panel.from_records([("A", "p & q", 0.5)]))


@pytest.mark.parametrize("seed", range(30))
def test_random_panels_of_the_whole_language(seed):
    panel = random_panel(np.random.default_rng(seed))
    if panel is not None:
        plain = all(text in ("p", "q", "r") for text in panel.written.text)
        assert canonical_text(panel) == plainly(panel, plain_events=plain)


def test_many_forecasts_are_written_in_pieces(monkeypatch):
    panel = co.simulate(judges=20, variables=10, seed=1)
    whole = canonical_text(panel)
    assert whole == plainly(panel)
    assert len(panel) < ROWS
    monkeypatch.setattr("coherently.panel.canonical.ROWS", 7)
    assert canonical_text(panel) == whole


@pytest.mark.parametrize("seed", range(20))
def test_repeats_are_sorted_by_their_numbers_as_texts(monkeypatch, seed):
    """Judges and events that begin alike, and numbers whose texts are in another order than they are."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr("coherently.panel.canonical.ROWS", int(rng.integers(3, 60)))
    monkeypatch.setattr("coherently.panel.canonical.FEW", int(rng.integers(1, 20)))
    judges, events = ["A", "A b", "A!", "A#", "é", 'A"'], ["p", "p & q", "p|q", "q", '"p x"'][: 4 + seed % 2]
    numbers = [0.2, 0.25, 1e-5, 1e-10, 0.1, 0.0, -0.0, 1.0, *rng.random(5)]
    more = {0: {}, 1: {"weight": (1.0, 2.0, 10.0)}, 2: {"lower": (0.0, np.nan)}}[seed % 3]
    columns = {"judge": judges, "event": events, "probability": numbers, **more}
    rows = [{name: rng.choice(values).item() for name, values in columns.items()} for _ in range(80)]
    panel = co.Panel.from_records(rows)
    assert canonical_text(panel) == plainly(panel)
    assert digest(panel) == hashlib.sha256(plainly(panel)).hexdigest()


def changed_panels():
    panel = co.Panel.from_records(
        [{"judge": "A", "event": e, "probability": 0.5, "lower": 0.4, "upper": 0.6} for e in "pq"]
    )
    yield panel
    yield replace(panel, weight=np.array([1.0, 1.0 + 1e-15]))
    yield replace(panel, probability=np.array([0.5, 0.5 - 1e-16]))
    yield replace(panel, lower=np.array([0.4, 0.3]))
    yield replace(panel, lower=np.array([0.4, np.nan]))
    yield replace(panel, upper=np.array([0.6, 0.7]))
    yield replace(panel, upper=None)
    yield replace(panel, judges=("B",))
    yield panel.select(np.array([0]))
    yield panel.select(np.array([0, 1, 1]))
    for laws in (["p -> q"], ["q -> p"], ["P(q) <= 0.9"], ["P(q) <= 0.8"], ["variable w: a, b"], ["variable w: a, c"]):
        yield co.Panel.from_records(
            [{"judge": "A", "event": e, "probability": 0.5, "lower": 0.4, "upper": 0.6} for e in "pq"], laws=laws
        )


def test_whatever_matters_changes_the_digest():
    found = [digest(panel) for panel in changed_panels()]
    assert len(set(found)) == len(found)


def test_the_order_of_forecasts_and_laws_does_not_count():
    """A table that was sorted is the same panel, and a result of either belongs to both."""
    rng = np.random.default_rng(5)
    records = [
        (f"J{j}", event, round(rng.random(), 3)) for j in range(4) for event in ("p", "q", "p & q", "r", "p | r")
    ]
    laws = ["p -> s", "variable w: a, b", "P(r) <= 0.9", "q | r"]
    panel = co.Panel.from_records(records, laws=laws)
    for _ in range(5):
        shuffled = [records[i] for i in rng.permutation(len(records))]
        other = co.Panel.from_records(shuffled, laws=[laws[i] for i in rng.permutation(len(laws))])
        assert digest(other) == digest(panel)
        assert co.verify(other, co.Result.from_json(co.aggregate(panel, "exact").to_json()))


def test_forecasts_that_were_added_up_have_no_digest(tmp_path):
    frame_of(pl).write_parquet(tmp_path / "panel.parquet")
    panel = reduce_tables(tmp_path / "panel.parquet").panel
    assert digest(panel) is None
    result = co.aggregate(panel, "exact")
    assert json.loads(result.to_json())["panel_sha256"] is None
    checked = co.verify(co.read_panel(tmp_path / "panel.parquet"), co.Result.from_json(result.to_json()))
    assert "panel_sha256" in checked.unchecked_fields
    assert "that the result was made from this panel: it is not tied to its panel" in checked.unchecked
