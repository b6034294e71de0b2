"""`--report` of aggregate and check."""

import pytest

from tests.cli.program import run
from tests.report.pages import find_all, parse, text_of


@pytest.fixture
def table_2(tmp_path):
    file = tmp_path / "table2.csv"
    file.write_text(",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n")
    return file


def test_aggregate_writes_a_report_beside_its_table(table_2, tmp_path):
    path = tmp_path / "out.html"
    path.write_text("an older report")
    done = run("aggregate", table_2, "--report", path, check=0)
    assert "0.1833" in done.stdout
    assert done.stderr == f"{path}: report written\n"
    tree = parse(path.read_text("utf-8"))
    assert text_of(find_all(tree, "title")[0]) == "Coherent forecasts: table2.csv"
    assert "P(p & q) = 0.60 is above P(q) = 0.00" in text_of(tree)


def test_the_report_of_the_papers_loop_has_its_curve(table_2, tmp_path):
    run("aggregate", table_2, "--method", "projections", "--report", tmp_path / "out.html", "--quiet", check=0)
    tree = parse((tmp_path / "out.html").read_text("utf-8"))
    assert len(find_all(tree, "polyline")) == 2


def test_check_writes_a_report_and_still_exits_with_1(table_2, tmp_path):
    done = run("check", table_2, "--report", tmp_path / "out.html", "--json", check=1)
    assert done.stdout.startswith("{")
    assert done.stderr == ""
    assert "The smallest repair" in text_of(parse((tmp_path / "out.html").read_text("utf-8")))


@pytest.mark.parametrize("command", ["aggregate", "check"])
def test_a_report_that_cannot_be_written_is_refused_before_any_work(command, tmp_path):
    done = run(command, tmp_path / "absent.csv", "--report", tmp_path / "out.pdf", check=2)
    assert "out.pdf does not have the ending of a report: use .html or .htm" in done.stderr


def test_a_panel_without_weight_has_a_report_without_judges(tmp_path):
    (tmp_path / "panel.csv").write_text("judge,event,probability,weight\nAnn,p,0.5,0\n")
    done = run("aggregate", tmp_path / "panel.csv", "--method", "linear", "--report", tmp_path / "out.html", check=0)
    assert "note: the report has no table of judges by incoherence: no forecast is left to check" in done.stderr
    assert (tmp_path / "out.html").exists()
