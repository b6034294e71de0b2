"""Folders of Parquet files, and large ones, through the command line."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from coherently.cli import panel_source
from coherently.cli.app import program
from coherently.panel import write_table
from coherently.panel.columnar import reduction

TABLE = pa.table(
    {
        "judge": ["Ann", "Bob", "Ann", "Bob", "Ann"],
        "event": ["p", "p", "p & q", "p & q", "q"],
        "probability": [0.4, 0.2, 0.6, 0.5, 0.9],
    }
)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "parts"
    made.mkdir()
    pq.write_table(TABLE[:2], made / "a.parquet")
    pq.write_table(TABLE[2:], made / "b.parquet")
    return made


def run(*words):
    return CliRunner().invoke(program(), ["aggregate", *map(str, words)])


def test_a_folder_gives_what_one_file_gives(folder, tmp_path):
    pq.write_table(TABLE, tmp_path / "whole.parquet")
    for rows in ([], ["--rows"]):
        done = run(folder, *rows, "-o", tmp_path / "folder.parquet")
        assert done.exit_code == 0, done.output
        assert run(tmp_path / "whole.parquet", *rows, "-o", tmp_path / "file.parquet").exit_code == 0
        found, wanted = (pq.read_table(tmp_path / name) for name in ("folder.parquet", "file.parquet"))
        assert found.schema == wanted.schema
        for name in wanted.column_names:
            if wanted.schema.field(name).type == pa.string():
                assert found[name] == wanted[name]
            else:
                assert np.allclose(found[name], wanted[name], rtol=1e-9, atol=1e-9)
    assert "parts: 5 forecasts with 3 distinct texts, read in pieces" in done.stderr
    assert "rows per second" in done.stderr


def test_a_large_file_is_read_in_pieces_if_the_options_allow_it(tmp_path, monkeypatch):
    path = tmp_path / "panel.parquet"
    pq.write_table(TABLE, path)
    assert "read in pieces" not in run(path).stderr
    monkeypatch.setattr(panel_source, "LARGE", 5)
    assert "read in pieces" in run(path).stderr
    for words in (["--method", "log"], ["--weighting", "coherence"], ["--repeats", "mean"], ["--loss", "log"]):
        done = run(path, *words)
        assert done.exit_code == 0, done.output
        assert "read in pieces" not in done.stderr
    pq.write_table(TABLE.append_column("lower", pa.array([0.1] * 5)), path)
    assert "read in pieces" not in run(path).stderr


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])
def test_large_files_of_every_format_give_what_small_ones_give(tmp_path, monkeypatch, ending):
    path, columns = tmp_path / f"panel.{ending}", TABLE.to_pydict()
    write_table({**columns, "probability": np.array(columns["probability"])}, path)
    for words in ([], ["--rows"]):
        answers = []
        for rows in (2, 500_000):
            monkeypatch.setattr(panel_source, "LARGE", rows)
            monkeypatch.setattr(reduction, "LEAST_BYTES", {".gz": 1, ".parquet": 1})
            done = run(path, *words, "-o", tmp_path / "out.parquet")
            assert done.exit_code == 0, done.output
            assert ("read in pieces" in done.stderr) == (rows == 2)
            answers.append(pq.read_table(tmp_path / "out.parquet").to_pydict())
        for name, wanted in answers[1].items():
            found = answers[0][name]
            assert found == (wanted if isinstance(wanted[0], str) else pytest.approx(wanted, rel=1e-9, abs=1e-9))
    monkeypatch.setattr(panel_source, "LARGE", 2)
    assert "read in pieces" not in run(path, "--json").stderr


def test_json_lines_that_differ_are_read_whole(tmp_path, monkeypatch):
    path = tmp_path / "panel.jsonl"
    path.write_text('{"event": "p", "probability": 0.5}\n{"probability": 0.5, "event": "q"}\n')
    monkeypatch.setattr(panel_source, "LARGE", 1)
    done = run(path)
    assert done.exit_code == 0, done.output
    assert "read in pieces" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "median"], "--method median needs the single forecasts"),
        (["--weighting", "coherence"], "--weighting needs the single forecasts"),
        (["--loss", "log"], "--loss needs the single forecasts"),
        (["--repeats", "last"], "(--repeats last) cannot be used for parts"),
        (["--rows"], "needs a file to write to: add -o FILE"),
    ],
)
def test_what_needs_the_single_forecasts_is_refused(folder, words, said):
    done = run(folder, *words)
    assert done.exit_code != 0
    assert said in str(done.exception)
