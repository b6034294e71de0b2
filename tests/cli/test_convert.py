from pathlib import Path

from tests.cli.program import run
from tests.conversion.hubs import PEAK, WEEK, make_hub

DATA = Path(__file__).parent.parent / "conversion" / "data"


def test_convert_says_what_it_wrote(tmp_path):
    done = run("convert", "--from", "forecastbench", DATA / "forecastbench", "-o", "out", cwd=tmp_path, check=0)
    assert done.stdout == ""
    assert "out/panel.csv: 5 forecasts by 1 judge on 5 events\nout/outcomes.csv: 4 outcomes\n" in done.stderr
    again = run("convert", "--from", "forecastbench", DATA / "forecastbench", "-o", "out", cwd=tmp_path, check=2)
    assert again.stderr == "error: out/panel.csv exists already: give another folder, or --force to replace it\n"
    arguments = ("--outcomes", "out/outcomes.csv", "--labels", "out/labels.csv")
    assert "Will it rain on the fair?" in run("aggregate", "out/panel.csv", *arguments, cwd=tmp_path, check=0).stdout


def test_scores(tmp_path):
    source = DATA / "consistency" / "Bob" / "ButChecker.jsonl"
    done = run("convert", "--from", "consistency", source, "--scores", "scores.csv", cwd=tmp_path, check=0)
    header, row = (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert header == "judge,tuple,check,arbitrage,frequentist"
    assert row.startswith("Bob,ButChecker.jsonl:1,But,0.0187031654")
    assert done.stdout.splitlines()[1].split() == ["Bob", "1", "0.0187", "0.1927", "0.0187", "0.0187", "0.0062"]
    run("convert", "--from", "consistency", source, "--scores", "scores.csv", cwd=tmp_path, check=2)


def test_convert_needs_something_to_write(tmp_path):
    assert "give -o DIR" in run("convert", "--from", "metaculus", DATA / "metaculus", check=2).stderr
    wrong = run("convert", "--from", "metaculus", DATA / "metaculus", "--scores", tmp_path / "s.csv", check=2).stderr
    assert "--scores goes with --from consistency" in wrong
    assert "unknown format 'kalshi'" in run("convert", "--from", "kalshi", DATA, "-o", tmp_path / "o", check=2).stderr


def test_a_hub(tmp_path):
    make_hub(tmp_path / "hub")
    (tmp_path / "rules.txt").write_text(f"{PEAK} >= {WEEK} for same location, reference_date", encoding="utf-8")
    arguments = ("--from", "hubverse", "hub", "--rules", "rules.txt", "--only", "location=US", "-o", "out")
    done = run("convert", *arguments, cwd=tmp_path, check=0)
    assert "note: rules.txt relates 2 pairs of quantities" in done.stderr
    beside = ("--laws", "out/laws.txt")
    assert "2 of 2 judges contradict themselves" in run("check", "out/panel.csv", *beside, cwd=tmp_path, check=1).stdout
    wrong = run("convert", "--from", "hubverse", "hub", "--only", "US", "-o", "other", cwd=tmp_path, check=2)
    assert "--only US: expected COLUMN=VALUE, such as location=US" in wrong.stderr
