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
    assert text_of(find_all(tree, "title")[0]) == "Table2"
    assert "P and q together (60 %) cannot be likelier than q alone" in text_of(tree)


def test_check_writes_a_report_and_still_exits_with_1(table_2, tmp_path):
    done = run("check", table_2, "--report", tmp_path / "out.html", "--json", check=1)
    assert done.stdout.startswith("{")
    assert done.stderr == ""
    words = text_of(parse((tmp_path / "out.html").read_text("utf-8")))
    assert "Before and after" in words
    assert "Least change that fits" in words


@pytest.mark.parametrize("command", ["aggregate", "check"])
def test_a_report_that_cannot_be_written_is_refused_before_any_work(command, tmp_path):
    done = run(command, tmp_path / "absent.csv", "--report", tmp_path / "out.pdf", check=2)
    assert "out.pdf does not have the ending of a report: use .html or .htm" in done.stderr


def test_a_panel_without_weight_has_a_report_without_judges(tmp_path):
    (tmp_path / "panel.csv").write_text("judge,event,probability,weight\nAnn,p,0.5,0\n")
    done = run("aggregate", tmp_path / "panel.csv", "--method", "linear", "--report", tmp_path / "out.html", check=0)
    assert "note: the report has no table of judges by incoherence: no forecast is left to check" in done.stderr
    assert (tmp_path / "out.html").exists()


def test_the_page_has_the_title_and_is_about_the_event_that_are_asked_for(table_2, tmp_path):
    path = tmp_path / "out.html"
    run("check", table_2, "--report", path, "--title", "What <now>?", "--about", "q and p", "--quiet", check=1)
    tree = parse(path.read_text("utf-8"))
    assert text_of(find_all(tree, "h1")[0]) == "What <now>?"
    assert text_of(find_all(tree, "strong")[0]) == "P and q is unlikely: 18 %."


def test_what_a_page_cannot_be_about_is_refused(table_2, tmp_path):
    done = run("aggregate", table_2, "--report", tmp_path / "out.html", "--about", "r", check=2)
    assert "nobody forecast 'r': name an event of the panel as it is written there, or its label" in done.stderr
    done = run("aggregate", table_2, "--title", "T", check=2)
    assert "--title, --about and --anonymous are for the page: add --report FILE.html or --pdf FILE.pdf" in done.stderr


@pytest.mark.usefixtures("chromium")
def test_the_page_is_printed_to_a_pdf_file(table_2, tmp_path):
    path = tmp_path / "out.pdf"
    path.write_text("an older file")
    done = run("aggregate", table_2, "--pdf", path, check=0)
    assert done.stderr == f"{path}: report printed\n"
    assert path.read_bytes()[:5] == b"%PDF-"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.pdf", "table2.csv"]


def test_without_a_browser_a_pdf_file_is_refused_before_any_work(tmp_path, monkeypatch):
    from coherently.errors import MissingDependencyError, PanelError
    from coherently.report import pdf_files

    monkeypatch.setattr(pdf_files, "find_browser", lambda: None)
    with pytest.raises(MissingDependencyError, match=r"printed by a browser, and none was found: install Chromium"):
        pdf_files.check_pdf_path(tmp_path / "out.pdf")
    with pytest.raises(PanelError, match=r"out.html does not have the ending of a PDF file: use .pdf"):
        pdf_files.check_pdf_path(tmp_path / "out.html")


def test_a_browser_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    from coherently.errors import PanelError
    from coherently.report import pdf_files

    path = tmp_path / "out.pdf"
    path.write_text("old")
    monkeypatch.setattr(pdf_files, "find_browser", lambda: "/bin/false")
    with pytest.raises(PanelError, match=r"the browser ended with code 1"):
        pdf_files.write_pdf("<p>new</p>", path)
    assert path.read_text() == "old"
