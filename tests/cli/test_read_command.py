"""`coherently read`, and the options by which every command is told how a file is read."""

import json
import os
import subprocess

from tests.cli.program import PROGRAM, run
from tests.panel.worksheets.spreadsheets import MEAN, cells, text, workbook

TABLE = cells(("Risk", "Alice", "Bob", "Chris"), above=[["Workshop of 12 November"], []], column=MEAN)


def test_a_workbook_is_checked_and_reported_with_no_other_option(tmp_path):
    (tmp_path / "risks.xlsx").write_bytes(workbook(("Risks", TABLE), percent=True, merge=["A1:E1"]))
    report = tmp_path / "risks.html"
    done = run("check", tmp_path / "risks.xlsx", "--report", report, check=1)
    assert "1 of 3 judges contradicts itself" in done.stdout
    assert "Alice: P(Supplier delay and Budget overrun) = 0.40 is above P(Supplier delay) = 0.35" in done.stdout
    assert "Alice" in report.read_text("utf-8")
    assert "columns left out: Average" in done.stderr


def test_the_preview_says_what_is_read_how(tmp_path):
    (tmp_path / "risks.csv").write_text(text(TABLE, ";"))
    shown = run("read", tmp_path / "risks.csv", check=0).stdout
    assert "header in row 3" in shown
    assert "separated by semicolons" in shown
    assert "8 answers by 3 judges on 3 events" in shown
    told = json.loads(run("read", tmp_path / "risks.csv", "--json", check=0).stdout)
    assert told["header_row"] == 3
    assert [each["role"] for each in told["columns"]] == ["event", "judge", "judge", "judge", "left out"]


def test_a_pipe_is_read_with_care_too():
    data = text(TABLE, ";").encode("cp1252")
    command = [*PROGRAM, "check", "-"]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert b"1 of 3 judges" in done.stdout


def test_options_change_what_was_guessed(tmp_path):
    (tmp_path / "risks.csv").write_text(text(TABLE))
    done = run("read", tmp_path / "risks.csv", "--columns", "judge=Average,ignore=Bob,Chris", check=0)
    assert "judges: Alice, Average" in done.stdout
    done = run("read", tmp_path / "risks.csv", "--columns", "Average", check=2)
    assert "ROLE=NAME" in done.stderr
    assert "no column 'Owner'" in run("check", tmp_path / "risks.csv", "--columns", "event=Owner", check=2).stderr


def test_answers_for_spreadsheets(tmp_path):
    (tmp_path / "risks.csv").write_text(text(TABLE))
    german = {**os.environ, "LC_ALL": "de_DE.UTF-8"}
    output = tmp_path / "out.csv"
    run("aggregate", tmp_path / "risks.csv", "-o", output, "--excel-csv", check=0, env=german)
    first, second, *_ = output.read_bytes().decode("utf-8").split("\r\n")
    assert first == "\ufeffevent;title;probability;raw;weight;adjustment"
    assert second.startswith('"""Supplier delay""";Supplier delay;0,')
    run("aggregate", tmp_path / "risks.csv", "-o", tmp_path / "out.xlsx", check=0)
    again = run("read", tmp_path / "out.xlsx", check=0).stdout
    assert "3 answers by 1 judge on 3 events" in again
    assert (
        "ends in .csv"
        in run("aggregate", tmp_path / "risks.csv", "-o", tmp_path / "x.tsv", "--excel-csv", check=2).stderr
    )
