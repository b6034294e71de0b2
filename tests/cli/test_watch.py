"""`coherently watch`: answer sets as files, a state that is carried on, an exit code for the alarm."""

import json

import coherently as co
from tests.cli.program import run


def write_sets(folder, count, gap, start=0):
    files = []
    for day in range(start, start + count):
        rows = "".join(f"m,v{i},0.5\nm,~v{i},{0.5 + gap}\n" for i in range(5))
        file = folder / f"day-{day:03}.csv"
        file.write_text(f"judge,event,probability\n{rows}")
        files.append(file)
    return files


def test_a_rise_raises_the_alarm_across_runs(tmp_path):
    state = tmp_path / "state.json"
    calm, worse = write_sets(tmp_path, 10, 0.02), write_sets(tmp_path, 25, 0.3, start=10)
    done = run("watch", *calm, "--tolerance", "0.01", "--state", state, check=0)
    assert "No alarm in 10 answer sets" in " ".join(done.stdout.split())
    assert "10 answer sets written" in done.stderr
    run("watch", worse[0], "--state", state, check=0)
    done = run("watch", *worse[1:], "--state", state, "--json", check=1)
    watched = co.Monitor.from_json(done.stdout)
    assert watched == co.Monitor.from_json(state)
    assert len(watched.names) == 35
    assert watched.alarm.startswith("day-0")
    assert json.loads(done.stdout)["alarm"] == watched.alarm


def test_the_tolerance_must_not_change_while_one_watches(tmp_path):
    state, files = tmp_path / "state.json", write_sets(tmp_path, 3, 0.02)
    run("watch", files[0], "--tolerance", "0.01", "--state", state, check=0)
    before = state.read_text()
    assert "must not change" in run("watch", files[1], "--tolerance", "0.02", "--state", state, check=2).stderr
    assert "there twice" in run("watch", files[0], "--state", state, check=2).stderr
    assert "either tolerance or first" in run("watch", files[2], check=2).stderr
    assert state.read_text() == before


def test_the_stream_as_a_table(tmp_path):
    files, table = write_sets(tmp_path, 4, 0.02), tmp_path / "stream.csv"
    run("watch", *files, "--tolerance", "0.01", "-o", table, check=0)
    assert table.read_text().splitlines()[0] == "set,distance,e_value,mean_low,mean_high"
    assert len(table.read_text().splitlines()) == 5
