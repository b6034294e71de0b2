"""`coherently verify` and `coherently schema`, and the records that --json prints."""

import json

import jsonschema
import pytest

import coherently as co
from coherently.contract.public_records import public_records
from tests.cli.program import check_printed, run

TABLE = ",Alice,Bob,Chris\np,0.75,0.60,0.95\nq,0.20,0.10,0.00\np & q,0.10,0.10,0.60\n"


@pytest.fixture
def files(tmp_path):
    """A folder with a panel, laws, weights of judges and results."""
    (tmp_path / "panel.csv").write_text(TABLE)
    (tmp_path / "percent.csv").write_text("event,Ann\np,70\np & q,80\n")
    (tmp_path / "laws.txt").write_text("q -> p\n")
    (tmp_path / "weights.csv").write_text("judge,weight\nAlice,2\nBob,1\nChris,0.5\n")
    return tmp_path


def aggregated(folder, *arguments):
    text = run("aggregate", *arguments, "--json", check=0).stdout
    (folder / "result.json").write_text(text)
    return folder / "result.json"


@pytest.mark.parametrize(
    "options",
    [
        ["panel.csv"],
        ["panel.csv", "--laws", "laws.txt"],
        ["panel.csv", "--weights", "weights.csv"],
        ["panel.csv", "--weighting", "consensus"],
        ["percent.csv", "--percent"],
        ["percent.csv", "--percent", "--plain-events"],
    ],
    ids=" ".join,
)
def test_a_result_is_verified_with_the_options_that_made_it(files, monkeypatch, options):
    monkeypatch.chdir(files)
    result = aggregated(files, *options)
    shown = run("verify", options[0], result, *options[1:], check=0).stdout
    assert shown.startswith("Every promise that could be checked is kept.\nChecked: panel_sha256, status, ")
    assert "Not checked:\n  the method, its tolerance and the note\n" in shown
    assert "The lower bound rests on: own enumeration." in shown


def test_a_panel_that_is_read_otherwise_is_another_one(files, monkeypatch):
    monkeypatch.chdir(files)
    weighted = aggregated(files, "panel.csv", "--weights", "weights.csv")
    shown = run("verify", "panel.csv", weighted, check=1).stdout
    assert "broken:\n  the result was made from another panel: the digest is " in shown
    result = aggregated(files, "panel.csv", "--laws", "laws.txt")
    assert "the result was made under law 'q -> p'" in run("verify", "panel.csv", result, check=1).stdout
    (files / "panel.csv").write_text(TABLE.replace("0.75", "0.70"))
    run("verify", "panel.csv", result, "--laws", "laws.txt", check=1)


def test_an_edited_result_is_found_out(files):
    result = aggregated(files, files / "panel.csv")
    record = json.loads(result.read_text())
    record["objective"] += 0.01
    record["forecasts"][0]["probability"] += 0.01
    result.write_text(json.dumps(record))
    done = run("verify", files / "panel.csv", result, "--json", check=1)
    checked = co.Verification.from_json(done.stdout)
    assert not checked
    assert any("the objective is" in problem for problem in checked.problems)
    assert checked == co.verify(co.read_panel(files / "panel.csv"), co.Result.from_json(result))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no file"),
        ("nothing", "the result is not JSON"),
        ("{}", "the field format is missing"),
        ('{"format": "coherently-check", "version": 1}', "the record is 'coherently-check', version 1"),
        ('{"format": "coherently-result", "version": 3}', "the field panel_sha256 is missing"),
    ],
)
def test_what_is_no_result_is_bad_input(files, text, message):
    if text is not None:
        (files / "other.json").write_text(text)
    done = run("verify", files / "panel.csv", files / "other.json", check=2)
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stdout == ""


def test_broken_json_is_named_with_its_file_its_place_and_what_to_do(files):
    result = aggregated(files, files / "panel.csv")
    text = json.dumps(json.loads(result.read_text()), indent=1)
    broken = text.replace('"status": ', '"status" ', 1)
    result.write_text(broken)
    line, row = next((i, row) for i, row in enumerate(broken.splitlines(), 1) if '"status" ' in row)
    column = row.index('" ') + 3
    remedy = "write it again, or correct that place"
    said = f"line {line}, column {column}: the result is not JSON: expecting ':' delimiter; {remedy}"
    assert run("verify", files / "panel.csv", result, check=2).stderr == f"error: {result}, {said}\n"
    with pytest.raises(co.ResultError) as caught:
        co.Result.from_json(result)
    assert (caught.value.code, caught.value.where) == ("bad-json", co.Where(str(result), line))
    assert caught.value.remedy == remedy
    result.write_text(text.replace('"optimal"', '"best"'))
    said = run("verify", files / "panel.csv", result, check=2).stderr
    assert said.startswith(f"error: {result}: status is 'best'; it must be one of")
    result.write_text("[" * 100_000)
    assert "too deep in each other; write it again" in run("verify", files / "panel.csv", result, check=2).stderr


def test_a_missing_panel_is_bad_input(files):
    result = aggregated(files, files / "panel.csv")
    assert "none.csv" in run("verify", files / "none.csv", result, check=2).stderr


def test_schemas_are_printed_and_listed():
    listed = run("schema", check=0).stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(public_records())
    for name, record in public_records().items():
        assert record.schema() == record.schema() | {"$id": f"urn:coherently:{name}:{record.version}"}
    assert json.loads(run("schema", "result", check=0).stdout) == co.Result.record.schema()
    assert "unknown record 'chek'" in (said := run("schema", "chek", check=2).stderr)
    assert "Did you mean 'check'?" in said


def test_every_json_is_the_record_that_from_json_reads(files, monkeypatch):
    monkeypatch.chdir(files)
    panel = files / "resolved.csv"
    co.simulate(judges=6, variables=8, seed=2, compound=4, basic=4).frame().to_csv(panel, index=False)
    rows = [(f"J{j}", f"q{i}", ((i * 7 + j * 3) % 19 + 0.5) / 20, int(i % 3 == 0)) for i in range(32) for j in range(2)]
    many = files / "many.csv"
    many.write_text("judge,event,probability,outcome\n" + "".join(f"{j},{e},{p},{o}\n" for j, e, p, o in rows))
    commands = {
        co.Result: (["aggregate", panel], 0),
        co.Check: (["check", panel], 1),
        co.BoundsTable: (["bounds", panel, "v1 & v2"], 0),
        co.Scores: (["score", panel], 0),
        co.Comparison: (["compare", panel, "--bootstrap", 10], 0),
        co.Tuned: (["tune", many], 0),
    }
    for kind, (arguments, code) in commands.items():
        text = run(*arguments, "--json", "--quiet", check=code).stdout
        assert kind.from_json(text).to_json() + "\n" == text
        assert check_printed(["--json"], text) == kind.record.name
        broken = json.loads(text) | {"version": 99}
        with pytest.raises(jsonschema.ValidationError):
            check_printed(["--json"], json.dumps(broken))


def test_rows_are_not_in_the_record(files):
    said = run("aggregate", files / "panel.csv", "--rows", "--json", check=2).stderr
    assert "leave out --rows" in said
    done = run("aggregate", files / "panel.csv", "--rows", "--json", "-o", files / "rows.csv", check=0)
    assert co.Result.from_json(done.stdout).method.name == "auto"
    assert len((files / "rows.csv").read_text().splitlines()) == 10
