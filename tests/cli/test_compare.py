import json
from html.parser import HTMLParser

import pytest

import coherently as co
from tests.cli.program import run

ROWS = ["Raw", "Individual", "Linear average", "Aggregate (paper)", "Aggregate (exact)"]


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    file = tmp_path_factory.mktemp("compare") / "panel.csv"
    run("simulate", "--judges", 8, "--variables", 6, "--basic", 3, "--compound", 6, "-o", file, "-q", check=0)
    return file


def test_a_table_with_intervals_and_differences(panel):
    shown = run("compare", panel, "--bootstrap", 100, check=0).stdout
    lines = shown.splitlines()
    assert [line.startswith(row) for line, row in zip(lines[1:], ROWS, strict=False)] == [True] * 5
    assert "95% intervals over judges and events, aggregates as they are" in " ".join(shown.split())
    assert "Raw - Individual" in shown
    assert "Linear average: the weighted mean" in shown
    assert max(map(len, lines)) <= 100


def test_json_has_everything(panel):
    answer = json.loads(run("compare", panel, "--bootstrap", 50, "--json", "--method", "dykstra", check=0).stdout)
    assert [row["name"] for row in answer["methods"]] == [*ROWS, "Aggregate (dykstra)"]
    assert [row["method"] for row in answer["scores"]["judges"]] == [*ROWS, "Aggregate (dykstra)"]
    assert len(answer["differences"]["both"]) == 3 * 15
    assert set(answer["differences"]["both"][0]) == {
        *("method", "other", "score", "difference", "low", "high", "excludes_zero")
    }
    expected = co.compare(co.read_panel(panel), ["dykstra"], bootstrap=50).value
    assert [row["brier"] for row in answer["scores"]["both"]] == expected[:, 0].tolist()


def test_baselines_with_a_history(panel):
    done = run("compare", panel, "--baselines", "--history", panel, "--method", "dykstra", "--json", check=0)
    names = [row["name"] for row in json.loads(done.stdout)["methods"]]
    expected = co.compare(co.read_panel(panel), [*co.baselines(history=panel), "dykstra"])
    assert names == list(expected.methods)
    assert {"Pool (shin)", "Aggregate (power, then exact)", "Aggregate (exact, history weights)"} < set(names)
    assert "note: Aggregate (exact, history weights): Judges are weighted by their past Brier scores" in done.stderr
    limited = run("compare", panel, "--baselines", "--time-limit", 20, "--json", check=0)
    assert [row["name"] for row in json.loads(limited.stdout)["methods"]] == [
        name for name in names if "history" not in name and "dykstra" not in name
    ]


def test_many_methods_are_compared_with_exact_only(panel, tmp_path):
    shown = run("compare", panel, "--baselines", check=0).stdout
    assert "Raw - Aggregate (exact)" in shown
    assert "Raw - Individual" not in shown
    assert "All other differences: --json" in shown
    assert max(map(len, shown.splitlines())) <= 100
    file = tmp_path / "table.html"
    run("compare", panel, "--baselines", "--html", "-o", file, check=0)
    page = file.read_text("utf-8")
    assert "than Aggregate (exact)" in page
    assert "than Individual" not in page


def test_latex(panel):
    shown = run("compare", panel, "--bootstrap", 20, "--latex", check=0).stdout
    body = [line for line in shown.splitlines() if line.endswith(r"\\")]
    assert len(body) == 6
    assert all(line.count("&") == 3 for line in body)
    assert shown.startswith("% ")
    assert shown.count(r"\begin{tabular}") == shown.count(r"\end{tabular}") == 1


def test_html_is_one_page_of_its_own(panel, tmp_path):
    file = tmp_path / "table.html"
    run("compare", panel, "--bootstrap", 20, "--html", "-o", file, check=0)
    page = file.read_text("utf-8")
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append((tag, dict(attrs)))

    Reader().feed(page)
    tags = [tag for tag, _ in seen]
    assert tags.count("tr") == 6
    assert "script" not in tags
    assert not any(name in attrs for _, attrs in seen for name in ("src", "href"))


def test_rows_in_a_file(panel, tmp_path):
    file = tmp_path / "rows.csv"
    done = run("compare", panel, "--bootstrap", 20, "--over", "judges", "-o", file, check=0)
    assert done.stdout == ""
    head, *rows = file.read_text().splitlines()
    assert head == "method,brier,brier_low,brier_high,log,log_low,log_high,slope,slope_low,slope_high"
    assert [row.split(",")[0] for row in rows] == ROWS


def test_one_judge_is_told_that_there_are_no_intervals(tmp_path):
    file = tmp_path / "one.csv"
    more = "".join(f"A,{name},0.4,0\n" for name in "rstu")
    file.write_text(f"judge,event,probability,outcome\nA,p,0.5,1\nA,p & q,0.6,0\n{more}")
    done = run("compare", file, check=0)
    assert "note: fewer than two judges are scored, so there are no intervals over judges" in done.stderr
    assert "6 forecasts; no intervals" in " ".join(done.stdout.split())
    assert "excludes 0" not in done.stdout
    scores = json.loads(run("compare", file, "--json", check=0).stdout)["scores"]
    assert scores["both"][0]["brier_low"] is None
    assert scores["events"][0]["brier_low"] is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "--latex"), "exclude each other"),
        (("--html", "-o", "/nowhere/at/all.html"), "name a file in an existing folder"),
        (("-o", "rows.pdf"), "has an unknown ending"),
        (("--method", "average"), "unknown method"),
        (("--history", "past.csv"), "--history goes with --baselines; give both"),
        (("--baselines", "--history", "past.csv"), "past.csv"),
        (("--confidence", "95"), "confidence is 95.0; it must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_done_is_refused(panel, options, message):
    assert message in run("compare", panel, *options, check=2).stderr


def test_a_panel_without_outcomes_is_refused(tmp_path):
    file = tmp_path / "none.csv"
    file.write_text("judge,event,probability\nA,p,0.5\n")
    assert "add an outcome column (0 or 1)" in run("compare", file, check=2).stderr
