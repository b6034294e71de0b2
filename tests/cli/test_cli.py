import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

import coherently as co
from tests.cli.program import run
from tests.panels import bundled

LONG = "judge,event,probability\nA,p,0.5\nB,p & q,0.25\n"


@pytest.fixture
def table_2(tmp_path):
    file = tmp_path / "table2.csv"
    file.write_text(",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n")
    return file


def test_aggregate_prints_a_table(table_2):
    shown = run("aggregate", table_2, "--method", "linear", check=0).stdout
    assert [line.split()[:2] for line in shown.splitlines()[1:4]] == [
        ["p", "0.7667"],
        ["q", "0.1000"],
        ["p", "&"],
    ]
    assert "9 forecasts by 3 judges on 3 events over 2 variables" in shown


def test_aggregate_as_json(table_2):
    answer = json.loads(run("aggregate", table_2, "--method", "linear", "--json", check=0).stdout)
    assert answer == co.aggregate(co.read_panel(table_2), "linear").as_dict()
    assert (answer["status"], answer["coherence"], answer["method"]) == ("averaged", "none", "linear")
    assert [list(forecast) for forecast in answer["forecasts"]] == [["event", "probability", "raw", "weight"]] * 3
    means = [forecast["probability"] for forecast in answer["forecasts"]]
    np.testing.assert_allclose(means, [0.766667, 0.1, 0.266667], atol=1e-6)


@pytest.mark.parametrize("method", ["projections", "dykstra"])
def test_local_coherence(table_2, method):
    answer = json.loads(run("aggregate", table_2, "--method", method, "--groups", "logical", "--json", check=0).stdout)
    means = [forecast["probability"] for forecast in answer["forecasts"]]
    np.testing.assert_allclose(means, [0.766667, 0.183333, 0.183333], atol=1e-6)
    assert (answer["status"], answer["coherence"], answer["groups"]) == ("converged", "local", "logical")
    np.testing.assert_allclose(answer["objective"], 3 * 0.013889, atol=1e-5)
    assert "Brier penalty saved" in run("aggregate", table_2, "--method", method, check=0).stdout


def test_annealing(table_2):
    arguments = ["aggregate", table_2, "--method", "annealing", "--worlds", 600, "--steps", 50_000, "--json", "--seed"]
    answers = [json.loads(run(*arguments, seed, check=0).stdout) for seed in (1, 1, 2)]
    assert answers[0] == answers[1]
    for answer in answers:
        means = [forecast["probability"] for forecast in answer["forecasts"]]
        np.testing.assert_allclose(means, [0.766667, 0.183333, 0.183333], atol=1e-6)
        assert (answer["status"], answer["coherence"], answer["method"]) == ("converged", "global", "annealing")
        assert (answer["lower_bound"], answer["guaranteed_improvement"], answer["groups"]) == (0.0, None, None)
    assert "converged" in run("aggregate", table_2, "--method", "annealing", check=0).stdout


def test_log_loss_says_what_it_clips(table_2):
    done = run(
        "aggregate", table_2, "--method", "dykstra", "--groups", "global", "--loss", "log", "--clip", "0.01", "--json"
    )
    assert "outside the clip of the loss log, moved to it: 1" in done.stderr
    means = [forecast["probability"] for forecast in json.loads(done.stdout)["forecasts"]]
    np.testing.assert_allclose(means, [0.815001, 0.116301, 0.116301], atol=1e-6)


def test_trace(tmp_path):
    panel, trace = tmp_path / "panel.csv", tmp_path / "trace.csv"
    run("simulate", "--judges", 20, "--variables", 10, "-o", panel, check=0)
    run("aggregate", panel, "--method", "projections", "--trace", trace, "-o", tmp_path / "out.csv", check=0)
    lines = trace.read_text().splitlines()
    assert lines[0] == "sweep,objective,violation,brier"
    violations = [float(line.split(",")[2]) for line in lines[1:]]
    assert violations[0] > 0.1
    assert violations[-1] < 1e-8


def test_table_3_with_abstentions(tmp_path):
    file = tmp_path / "table3.csv"
    file.write_text(",Alice,Bob,Chris\np,0.75,0.60,NA\nq,0.20,NA,0.00\np & q,NA,0.40,0.00\n")
    answer = json.loads(run("aggregate", file, "--json", check=0).stdout)
    np.testing.assert_allclose([forecast["probability"] for forecast in answer["forecasts"]], [0.675, 0.15, 0.15])


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.jsonl", "out.parquet", "out.tsv"])
def test_aggregate_writes_files(table_2, name):
    output = table_2.with_name(name)
    done = run("aggregate", table_2, "-o", output, check=0)
    assert done.stdout == ""
    assert "3 rows" in done.stderr
    frame = co.aggregate(bundled("table2.csv")).frame()
    if name == "out.csv":
        lines = output.read_text().splitlines()
        assert lines[0] == "event,probability,raw,weight,adjustment"
        assert [line.split(",")[0] for line in lines[1:]] == frame["event"].tolist()
        assert [float(line.split(",")[1]) for line in lines[1:]] == pytest.approx(frame["probability"].tolist())
    if name == "out.csv.gz":
        assert gzip.decompress(output.read_bytes()).startswith(b"event,probability")


def test_aggregate_by_rows(table_2):
    output = table_2.with_name("rows.csv")
    run("aggregate", table_2, "--rows", "-o", output, "--quiet", check=0)
    lines = output.read_text().splitlines()
    assert lines[0] == "judge,event,probability,raw,weight,adjustment"
    assert len(lines) == 10


def test_a_panel_from_a_pipe(table_2):
    piped = run("aggregate", "-", "--json", input=table_2.read_text(), check=0)
    assert json.loads(piped.stdout) == json.loads(run("aggregate", table_2, "--json", check=0).stdout)
    wrong = run("aggregate", "-", "--json", input="event,Ann\nrain,2\n", check=2)
    assert wrong.stderr.startswith("error: stdin row 2, column Ann")


def test_notes_go_to_standard_error(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability,url\nA,p,0.5,x\n")
    done = run("aggregate", file, "--json", check=0)
    assert "note: panel.csv: ignored columns: url" in done.stderr
    json.loads(done.stdout)
    assert run("aggregate", file, "--json", "--quiet", check=0).stderr == ""


def test_labels_are_shown(table_2):
    labels = table_2.with_name("labels.csv")
    labels.write_text("id,title\np,Rain tomorrow\n")
    assert "Rain tomorrow" in run("aggregate", table_2, "--labels", labels, check=0).stdout


def test_outcomes_of_misspelt_events_are_named(table_2):
    outcomes = table_2.with_name("outcomes.csv")
    outcomes.write_text("event,outcome\nq,yes\nrainy_day,no\n")
    said = run("score", table_2, "--outcomes", outcomes, check=0).stderr
    assert said == "note: outcomes.csv: outcomes of events that no forecast or law mentions: 'rainy_day'\n"


def test_simulate_then_score(tmp_path):
    panel = tmp_path / "panel.csv"
    run("simulate", "--judges", 8, "--variables", 12, "--seed", 3, "-o", panel, check=0)
    shown = run("score", panel, check=0).stdout
    assert "average judge" in shown
    assert "Calibration of all forecasts" in shown
    answer = json.loads(run("score", panel, "--json", check=0).stdout)
    scores = co.score(co.simulate(judges=8, variables=12, seed=3))
    np.testing.assert_allclose([row["brier"] for row in answer["judges"]], scores.brier)
    np.testing.assert_allclose(answer["calibration"]["reliability"], scores.calibration.reliability)
    run("score", panel, "-o", tmp_path / "scores.csv", check=0)
    assert (tmp_path / "scores.csv").read_text().startswith("judge,scored,brier,brier_sum,log,slope\n")


def test_scores_with_intervals_by_cluster(tmp_path):
    rows = [f"{judge},{place}{day},{0.1 + 0.04 * day}" for judge in "AB" for place in "abcdef" for day in range(3)]
    clusters = [f"{place}{day},{place},{int(place < 'd')}" for place in "abcdef" for day in range(3)]
    panel, other = tmp_path / "panel.csv", tmp_path / "clusters.csv"
    panel.write_text("\n".join(["judge,event,probability", *rows]))
    other.write_text("\n".join(["event,place,outcome", *clusters]))
    options = ("--outcomes", other, "--cluster", f"{other}:place")
    told = json.loads(run("score", panel, *options, "--json", check=0).stdout)
    expected = co.score(co.read_panel(panel, outcomes=other), cluster=lambda event: event[0])
    assert co.Scores.from_dict(told) == expected
    assert told["intervals"]["variables"] == 6
    shown = run("score", panel, *options, check=0).stdout
    assert "95% intervals over events" in shown
    high = expected.intervals.average()["brier"][1]
    assert f"[0.0000, {high:.4f}]" in shown
    assert "90% intervals" in run("score", panel, *options, "--confidence", 0.9, check=0).stdout


def test_simulate_prints_csv():
    shown = run("simulate", "--judges", 2, "--variables", 3, "--basic", 1, "--compound", 2, check=0).stdout
    assert shown.splitlines()[0] == "judge,event,probability,outcome"
    assert len(shown.splitlines()) == 7


def test_check_says_who_contradicts_what(table_2):
    shown = run("check", table_2, check=1).stdout
    assert [line.split() for line in shown.splitlines()[1:5]] == [
        ["Chris", "3", "incoherent", "0.4243", "0.1800"],
        ["Alice", "3", "coherent", "0", "0"],
        ["Bob", "3", "coherent", "0", "0"],
        ["panel's", "means", "3", "incoherent", "0.1179", "0.0139"],
    ]
    assert "Chris: P(p & q) = 0.60 is above P(q) = 0.00" in shown
    assert "panel's means: P(p & q) = 0.2667 is above P(q) = 0.10" in shown
    assert "Sure to win 0.01389 whatever happens" in shown
    assert [line.split()[-3:] for line in shown.splitlines()[-2:]] == [
        ["buy", "0.0833333", "0.1000"],
        ["sell", "0.0833333", "0.2667"],
    ]


def test_check_of_one_judge_tells_by_its_exit_code(table_2):
    assert "There is no sure profit" in run("check", table_2, "--judge", "Alice", check=0).stdout
    assert "Sure to win 0.18" in run("check", table_2, "--judge", "Chris", check=1).stdout
    assert "did you mean 'Chris'?" in run("check", table_2, "--judge", "Cris", check=2).stderr


def test_check_in_people_s_words(table_2):
    labels = table_2.with_name("labels.csv")
    labels.write_text("id,title\np,a recession\nq,a rate cut\n")
    shown = run("check", table_2, "--labels", labels, "--voice", "people", check=1).stdout
    said = " ".join(shown.split())
    assert "Chris: A recession and a rate cut together (60 %) cannot be likelier than a rate cut alone (0 %)." in said
    assert "panel's means: A recession and a rate cut together (27 %) cannot be likelier" in said
    symbols = run("check", table_2, "--labels", labels, check=1).stdout
    assert symbols == run("check", table_2, "--labels", labels, "--voice", "symbols", check=1).stdout
    assert "P(p & q) = 0.60 is above P(a rate cut) = 0.00" in symbols
    refused = run("check", table_2, "--voice", "peeple", check=2)
    assert refused.stderr == "error: unknown voice 'peeple'; the voices are symbols, people. Did you mean 'people'?\n"
    table_2.write_text("judge,event,probability\nA,p,0.300\nA,p & q,0.304\n")
    assert "A: less than people notice, half a per cent" in run("check", table_2, "--voice", "people", check=1).stdout


def test_check_as_json_and_as_a_file(table_2):
    answer = json.loads(run("check", table_2, "--json", check=1).stdout)
    assert list(answer) == [
        *("format", "version", "name", "forecasts", "status", "coherent", "distance", "distance_low", "distance_high"),
        *(
            "proved",
            "proofs",
            "cut",
            "tolerance",
            "guaranteed_improvement",
            "contradictions",
            *("sentences", "repair", "bands", "unchecked"),
            "book",
            "judges",
            "notes",
        ),
    ]
    assert [judge["status"] for judge in answer["judges"]] == ["coherent", "coherent", "incoherent"]
    assert [judge["coherent"] for judge in answer["judges"]] == [True, True, False]
    assert answer["judges"][2]["contradictions"] == ["P(p & q) = 0.60 is above P(q) = 0.00"]
    np.testing.assert_allclose(answer["book"]["sure_profit"], 0.013889, atol=1e-6)
    output = table_2.with_name("judges.csv")
    assert run("check", table_2, "-o", output, check=1).stdout == ""
    assert output.read_text().splitlines()[0] == (
        "judge,forecasts,status,coherent,distance,distance_low,distance_high,proved,guaranteed_improvement"
    )


def test_check_knows_conditionals(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability\nA,p,0.5\nA,p given q,0.25\n")
    assert run("check", file, check=0).stderr == ""
    file.write_text("judge,event,probability\nA,p,0.5\nA,q given p,0.5\nA,p & q,0.5\n")
    assert "P(p & q) = 0.50 is above P(q given p) * P(p) = 0.25" in run("check", file, check=1).stdout


def test_check_leaves_pins_out_and_says_so(tmp_path):
    file, laws = tmp_path / "panel.csv", tmp_path / "laws.txt"
    file.write_text("judge,event,probability\nA,p,0.5\n")
    laws.write_text("P(p) = 0.2\n")
    assert "pins left out" in run("check", file, "--laws", laws, check=0).stderr


def test_demo():
    shown = run("demo", check=0).stdout
    assert "Chris" in shown
    assert "0.7667" in shown


def test_help_and_version():
    assert "aggregate" in run("--help", check=0).stdout
    assert run("--version", check=0).stdout == f"coherently {co.__version__}\n"


def heavy_imports(*arguments):
    code = (
        "import sys\n"
        "from coherently.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'asyncio', 'numpy', 'pandas', 'polars', 'pyarrow', 'scipy', 'sqlalchemy', 'ssl', 'starlette',\n"
        "    'coherently.explain', 'coherently.scoring', 'coherently.proposals'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.split()


def test_help_imports_nothing_heavy():
    assert heavy_imports("--help") == []


def test_a_small_panel_does_not_need_scipy(table_2):
    assert heavy_imports("aggregate", table_2, "--quiet") == ["numpy"]


BAD_FILES = {
    "empty": (b"", "is empty"),
    "blank lines": (b"\n\n", "is empty"),
    "header only": (b"judge,event,probability\n", "no rows"),
    "no probability column": (b"judge,event,prbability\nA,p,half\n", "no probability column"),
    "probability 1.2": (b"judge,event,probability\nA,p,1.2\n", "row 2, column probability"),
    "percentages": (b"judge,event,probability\nA,p,35\n", "--percent"),
    "probability -0.1": (b"judge,event,probability\nA,p,-0.1\n", "-0.1"),
    "probability NaN": (b"judge,event,probability\nA,p,NaN\n", "--missing abstain"),
    "probability abc": (b"judge,event,probability\nA,p,abc\n", "'abc'"),
    "unbalanced parenthesis": (b"judge,event,probability\nA,(p & q,0.5\n", "never closed"),
    "empty event": (b"judge,event,probability\nA,,0.5\n", "row 2, column event"),
    "nested parentheses": (
        b"judge,event,probability\nA," + b"(" * 100_000 + b"p" + b")" * 100_000 + b",0.5\n",
        "200001 characters",
    ),
    "duplicated header": (b"judge,event,probability,Event\nA,p,0.5,q\n", "two columns named"),
    "judge column without a name": (b"event,Alice,,Chris\np,0.1,0.2,0.3\n", "column 3 has no name"),
    "binary": (bytes(range(256)) * 10, "NUL byte"),
    "not UTF-8": (b"judge,event,probability\nJos\xc3\xa9\xe9\x82,p,0.5\n", "not UTF-8"),
    "ragged": (b"judge,event,probability\nA,exactly(1; p, q),0.5\n", "in quotes"),
    "undeclared": (b"judge,event,probability\nA,winner = Ann,0.5\n", "`variable winner: Ann, ...`"),
    "bad outcome": (b"judge,event,probability,outcome\nA,p,0.5,maybe\n", "'maybe'"),
    "negative weight": (b"judge,event,probability,weight\nA,p,0.5,-1\n", "row 2, column weight"),
    "lower above upper": (b"judge,event,probability,lower,upper\nA,p,0.5,0.6,0.4\n", "is above"),
    "neither shape": (b"name,value\nA,half\n", "neither a long nor a wide table"),
    "events or judges": (b"name,value\nA,0.5\n", "--columns event=name or --columns judge=name"),
}


@pytest.mark.parametrize(("content", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_are_one_clear_message(tmp_path, content, words):
    file = tmp_path / "panel.csv"
    file.write_bytes(content)
    output = tmp_path / "out.csv"
    done = run("aggregate", file, "-o", output, check=2)
    assert done.stderr.startswith("error: ")
    assert "panel.csv" in done.stderr
    assert words in done.stderr
    assert len(done.stderr) < 3000
    assert not output.exists()


def test_missing_files_and_folders(tmp_path):
    assert "does not exist" in run("aggregate", tmp_path / "nothing.csv", check=2).stderr
    assert "is a folder" in run("aggregate", tmp_path, check=2).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "magic"], "unknown method 'magic'"),
        (["--groups", "pairs"], "auto has no option groups; projections and dykstra have it"),
        (["--method", "dykstra", "--groups", "pears"], "Did you mean 'pairs'"),
        (["--method", "projections", "--tolerance", "-1"], "tolerance is -1"),
        (["--method", "projections", "--sweeps", "0"], "sweeps is 0"),
        (["--worlds", "9"], "auto has no option columns; annealing has it"),
        (["--method", "annealing", "--worlds", "0"], "columns is 0"),
        (["--method", "annealing", "--steps", "-1"], "steps is -1"),
        (["--method", "annealing", "--seed", "-1"], "seed is -1"),
        (["--method", "annealing", "--loss", "log"], "only the loss brier, not log"),
        (["--method", "dykstra", "--loss", "logs"], "Did you mean 'log'"),
        (["--method", "dykstra", "--clip", "0.1"], "--clip goes with --loss log"),
        (["-o", "out.docx"], "ending"),
        (["-o", "nowhere/out.csv"], "nowhere is not a folder: create it first"),
        (["--repeats", "never"], "--repeats"),
        (["--outcomes", "missing.csv"], "does not exist"),
        (["--colour"], "--colour"),
    ],
)
def test_bad_options(table_2, arguments, words):
    assert words in run("aggregate", table_2, *arguments, cwd=table_2.parent, check=2).stderr


def test_score_without_outcomes(table_2):
    assert "nothing can be scored" in run("score", table_2, check=2).stderr


def test_several_bad_rows_are_counted(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability\n" + "A,p,2.5\n" * 25)
    message = run("aggregate", file, check=2).stderr
    assert message.count("column probability") == 10
    assert "and 15 more (25 in all)" in message


def test_hostile_names_print_as_they_are(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text('judge,event,probability\n[red]x[/red],"""[bold]a[/bold]""",0.5\n')
    assert '"[bold]a[/bold]"' in run("aggregate", file, check=0).stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text('judge,event,probability\nA,"""\x1b[31mred\nline""",0.5\n')
    shown = run("aggregate", file, check=0).stdout
    assert "\x1b" not in shown
    assert r"\x1b[31mred\nline" in shown


def test_a_full_disk_is_not_an_internal_error(table_2):
    command = ["bash", "-c", '"$0" -m coherently aggregate "$1" >/dev/full', sys.executable, table_2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_internal_errors_have_their_own_exit_code(monkeypatch, capsys):
    import coherently.cli.app
    from coherently.cli import main

    def fail(_):
        raise RuntimeError("wires crossed")

    monkeypatch.setattr(coherently.cli.app, "program", fail)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 70
    assert "internal error: RuntimeError: wires crossed" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(tmp_path):
    file = tmp_path / "panel.csv"
    run("simulate", "--judges", 400, "-o", file, check=0)
    program = '"$0" -c "from coherently.cli import main; main()" aggregate "$1" --json | head -c 2'
    done = subprocess.run(["bash", "-c", program, sys.executable, file], capture_output=True, text=True, check=True)
    assert done.stdout == '{"'
    assert done.stderr == ""


def test_the_summary_names_the_distance_of_the_loss(table_2):
    assert "Weighted squared distance" in " ".join(run("aggregate", table_2, check=0).stdout.split())
    assert "Weighted divergence (loss log)" in " ".join(
        run("aggregate", table_2, "--loss", "log", check=0).stdout.split()
    )


def test_the_summary_speaks_of_groups_only_where_there_are_groups(table_2):
    by_groups = " ".join(run("aggregate", table_2, "--method", "dykstra", check=0).stdout.split())
    assert "every group of events is coherent" in by_groups
    by_worlds = " ".join(run("aggregate", table_2, "--method", "annealing", check=0).stdout.split())
    assert "group" not in by_worlds
    assert "jointly coherent" in by_worlds


@pytest.mark.parametrize("command", ["aggregate", "check", "bounds p", "score", "compare", "explain", "watch"])
@pytest.mark.parametrize("options", [("-o",), ("--json", "-o")])
def test_a_record_asked_for_by_the_name_of_a_table_is_refused_with_the_way_to_get_it(tmp_path, command, options):
    file = tmp_path / "panel.csv"
    file.write_text(LONG)
    name, *events = command.split()
    done = run(name, file, *events, *options, tmp_path / "my r.json", cwd=tmp_path, check=2)
    assert f"for the record as JSON write --json > '{tmp_path / 'my r.json'}' instead of -o" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "my r.json").exists()


def test_what_prints_no_record_does_not_promise_one(tmp_path):
    done = run("simulate", "-o", tmp_path / "r.json", check=2)
    assert "use one of .csv" in done.stderr
    assert "--json" not in done.stderr
