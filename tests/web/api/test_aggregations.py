"""Aggregations as jobs: what comes out is what the library makes."""

import io
import json
import math
import re
import subprocess
import sys
import threading
import time
import zipfile

import pytest

import coherently as co
from coherently.report.verification_code import checking_command
from coherently.web import sizes
from coherently.web.jobs import aggregation_job
from coherently.web.jobs.job_watch import JobWatch, run_next
from coherently.web.operations import imports
from coherently.web.refusals import RefusedError
from coherently.web.store import ConflictError
from tests.web.api.service import Weather, panel_of, refused


@pytest.fixture
def answered(weather):
    weather.say(weather.ann, rain=0.75, wind=0.2, rain_wind=0.4)
    weather.say(weather.bob, wind=0.3)
    weather.close()
    return weather


def record(weather, judge, event, probability):
    """A number that the facilitator enters for a judge."""
    draft = {"judge": judge["id"], "event": weather.events[event], "probability": probability}
    answer = weather.api.post(f"{weather.path}/forecasts", json={"forecasts": [draft]})
    assert answer.status_code == 201, answer.text
    return answer.json()["forecasts"][0]["time"]


def test_the_aggregate_is_that_of_the_library_and_verifies(answered):
    answered.api.post(f"{answered.path}/laws", json={"statement": "storm -> wind"})
    version = answered.aggregate()
    body = answered.api.get(f"{version}/result").json()
    records = [("Ann", "rain", 0.75), ("Ann", "wind", 0.2), ("Ann", "rain & wind", 0.4), ("Bob", "wind", 0.3)]
    expected = co.aggregate(co.Panel.from_records(records, laws=["storm -> wind"]))
    for row in body["events"]:
        assert math.isclose(row["probability"], expected.probability(row["event"]), abs_tol=1e-9)
    panel, result = panel_of(body)
    assert co.verify(panel, result)
    assert body["verified"]
    assert body["aggregation"]["summary"]["status"] == "optimal"


def test_versions_are_counted_compared_and_kept(answered):
    first = answered.aggregate(note="Before")
    record(answered, answered.bob_record, "wind", 0.6)
    second = answered.aggregate()
    versions = answered.api.get(f"{answered.path}/aggregations").json()["aggregations"]
    assert [(v["version"], v["note"]) for v in versions] == [(2, ""), (1, "Before")]
    compared = answered.api.get(f"{second}/comparison").json()
    assert (compared["before"]["version"], compared["after"]["version"]) == (1, 2)
    wind = next(row for row in compared["events"] if row["event"] == "wind")
    assert wind["before"] < wind["after"]
    assert compared == answered.api.get(f"{second}/comparison", params={"with": first.rsplit("/", 1)[1]}).json()
    refused(answered.api.get(f"{first}/comparison"), 404)


def test_an_aggregate_of_an_earlier_time(answered):
    before = answered.api.get(f"{answered.path}/forecasts").json()["forecasts"][-1]["time"]
    while record(answered, answered.bob_record, "wind", 0.9) == before:
        pass
    rows = answered.api.get(f"{answered.aggregate(as_of=before)}/result").json()["forecasts"]
    assert [row["probability"] for row in rows if row["judge"] == "Bob"] == [0.3]


def test_the_report_is_one_file_whose_styles_are_named_by_hash(answered):
    version = answered.aggregate()
    report = answered.api.get(f"{version}/report")
    assert report.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "<h1" in report.text
    shown = answered.api.get(f"{version}/report", params={"view": True})
    policy = shown.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "unsafe-inline" not in policy
    assert policy.count("'sha256-") == len(
        set(re.findall(r"<style>(.*?)</style>|style=\"([^\"]*)\"", shown.text, re.DOTALL))
    )


@pytest.mark.parametrize("draft", [{}, {"loss": "log"}, {"weights": True}], ids=["plain", "log", "weights"])
def test_a_stranger_proves_a_version_by_what_is_downloaded(answered, tmp_path, draft):
    answered.api.post(f"{answered.path}/laws", json={"statement": "storm -> wind"})
    answered.api.post(f"{answered.path}/outcomes", json={"event": "rain", "outcome": True})
    if "weights" in draft:
        draft = {"weights": {answered.ann_record["id"]: 2.5, answered.bob_record["id"]: 0.75}}
    version = answered.aggregate(**draft)
    assert answered.api.get(version).json()["summary"]["proof"]
    answer = answered.api.get(f"{version}/proof")
    assert answer.headers["content-disposition"] == 'attachment; filename="proof.zip"'
    assert answer.content == answered.api.get(f"{version}/proof").content
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    assert (
        json.loads((tmp_path / "certificate.json").read_text())
        == answered.api.get(f"{version}/result").json()["result"]
    )
    command = [sys.executable, *checking_command().split()[1:]]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.partition(":")[0]) == (0, "proved"), found
    panel = (tmp_path / "panel.jsonl").read_text()
    (tmp_path / "panel.jsonl").write_text(panel.replace("0.75,", "0.74,", 1))
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.partition(":")[0]) == (1, "refused"), found


def test_versions_without_a_proof_say_why(answered, monkeypatch):
    version = answered.aggregate(method="linear")
    assert not answered.api.get(version).json()["summary"]["proof"]
    refused(answered.api.get(f"{version}/proof"), 404, "no-proof", "linear claims no optimum", "auto or exact")
    monkeypatch.setattr(aggregation_job, "LARGEST_PROOF", 10)
    refused(answered.api.get(f"{answered.aggregate()}/proof"), 404, "no-proof", "10 are kept")
    waiting = answered.api.post(f"{answered.path}/aggregations", json={}).json()["id"]
    refused(answered.api.get(f"{answered.path}/aggregations/{waiting}/proof"), 404, "no result")


def test_only_whose_panel_it_is_gets_a_proof(answered, service):
    version = answered.aggregate()
    refused(service.facilitator().get(f"{version}/proof"), 404)
    refused(answered.ann.get(f"{version}/proof"), 401)
    refused(service.http.get(f"{version}/proof"), 401)


def test_as_csv_as_json_as_python(answered, tmp_path):
    version = answered.aggregate()
    table = answered.api.get(f"{version}/forecasts.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.splitlines()[0] == "event,title,probability,raw,weight,adjustment"
    rows = answered.api.get(f"{version}/forecasts.json").json()["forecasts"]
    assert [row["event"] for row in rows] == ["rain", "wind", "rain & wind"]
    for script in (f"{version}/forecasts.py", f"{answered.path}/export.py"):
        names = {"print": lambda *_: None}
        exec(compile(answered.api.get(script).text, "export.py", "exec"), names)
        assert math.isclose(names["result"].probability("wind"), rows[1]["probability"], abs_tol=1e-9)
    file = tmp_path / "panel.csv"
    file.write_text(answered.api.get(f"{answered.path}/export.csv").text)
    assert len(co.read_panel(file)) == 4
    assert len(answered.api.get(f"{answered.path}/export.json").json()["forecasts"]) == 4


def test_accuracy_once_resolved(answered):
    answered.api.post(f"{answered.path}/outcomes", json={"event": "rain", "outcome": True})
    answered.api.post(f"{answered.path}/outcomes", json={"event": "wind", "outcome": False})
    found = answered.api.get(f"{answered.aggregate()}/accuracy").json()
    assert found["scores"] is not None
    assert found["replaced"] is not None


def test_an_archive_comes_back_as_the_same_panel(answered):
    answered.aggregate()
    archive = answered.api.get(f"{answered.path}/archive")
    assert archive.headers["content-type"] == "application/zip"
    made = answered.api.post("/panels/import", content=archive.content, headers={"Content-Type": "application/zip"})
    assert made.status_code == 201, made.text
    assert (made.json()["questions"], made.json()["judges"]) == (3, 2)
    path = f"/panels/{made.json()['id']}"
    assert answered.api.get(f"{path}/export.csv").text == answered.api.get(f"{answered.path}/export.csv").text


def test_a_table_becomes_a_panel(service):
    api = service.facilitator()
    table = "judge,event,probability\nAnn,p,0.5\nBob,p & q,0.25\n"
    made = api.post(
        "/panels/import", params={"title": "From a file"}, content=table, headers={"Content-Type": "text/csv"}
    )
    assert (made.status_code, made.json()["title"]) == (201, "From a file")
    assert api.get(f"/panels/{made.json()['id']}/export.csv").text.split() == table.split()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("event,bid,ask\np,0.5,0.6\n", "intervals or quotes, which the workbench does not keep"),
        ("event,yes,no\np,0.5,0.6\n", "are these judges, or what a market says?"),
    ],
)
def test_quotes_are_no_answers_of_judges(service, table, words):
    api = service.facilitator()
    refused(api.post("/panels/import", content=table, headers={"Content-Type": "text/csv"}), 422, words)


@pytest.mark.parametrize("mark", [",", ";"])
def test_a_table_with_columns_beyond_measure_is_refused_before_it_is_read(service, monkeypatch, mark):
    api = service.facilitator()
    rows = [["Risk", *(f"J{i}" for i in range(sizes.COLUMNS))], ["Fire", *(["0.5"] * sizes.COLUMNS)]]
    table = "\n".join(map(mark.join, rows))
    answer = api.post("/panels/import", content=table, headers={"Content-Type": "text/csv"})
    refused(answer, 413, f"The table has {sizes.COLUMNS + 1:,} columns.")
    monkeypatch.setattr("coherently.panel.read_panel", None)
    with pytest.raises(RefusedError, match="columns"):
        imports.read_or_ask_bytes(table.encode(), "wide.csv", {}, 10.0)


def test_without_answers_there_is_nothing_to_aggregate(weather):
    refused(weather.api.post(f"{weather.path}/aggregations", json={}), 409, "Nobody has answered")


def test_one_that_waits_is_cancelled_at_once(answered):
    asked = answered.api.post(f"{answered.path}/aggregations", json={}).json()
    version = f"{answered.path}/aggregations/{asked['id']}"
    refused(answered.api.get(f"{version}/result"), 404, "queued")
    assert answered.api.post(f"{version}/cancel").json()["status"] == "cancelled"
    refused(answered.api.post(f"{version}/cancel"), 409)
    answered.service.work()
    assert answered.api.get(version).json()["status"] == "cancelled"


def hard_panel(weather, time_limit=300.0):
    """An aggregation that takes minutes."""
    panel = co.simulate(judges=60, variables=60, seed=1)
    events = {}
    store = weather.service.store
    judges = {name: store.judges.add(weather.id, name).id for name in panel.judges}

    def fill():
        for text in panel.written.text:
            events[text] = store.questions.add(weather.id, "yes-no", text, [(text, "")]).events[0].id

    store.write(fill)
    columns = panel.columns()
    rows = zip(columns["judge"], columns["event"], columns["probability"].tolist(), strict=True)
    from coherently.web.store import AnswerGiven

    answers = {}
    for judge, event, probability in rows:
        answers.setdefault(judge, []).append(AnswerGiven(events[event], probability))
    store.write(lambda: [store.forecasts.record(judges[name], given) for name, given in answers.items()])
    draft = {"method": "exact", "loss": "log", "time_limit": time_limit}
    return weather.api.post(f"{weather.path}/aggregations", json=draft).json()


def test_one_that_runs_is_cancelled_soon(weather):
    asked = hard_panel(weather)
    version = f"{weather.path}/aggregations/{asked['id']}"
    worker = threading.Thread(target=run_next, args=(weather.service.store, "tests"))
    worker.start()
    while weather.api.get(version).json()["status"] == "queued":
        time.sleep(0.05)
    weather.api.post(f"{version}/cancel")
    worker.join(60)
    assert not worker.is_alive()
    assert weather.api.get(version).json()["status"] == "cancelled"


def test_too_much_memory_fails_with_the_limit(answered, monkeypatch):
    asked = answered.api.post(f"{answered.path}/aggregations", json={}).json()
    monkeypatch.setattr("coherently.web.jobs.job_watch.memory_taken", lambda: 4_100_000_000)
    monkeypatch.setattr("coherently.web.jobs.job_watch.make", lambda *_, cancel, **__: _until(cancel))
    answered.service.work()
    found = answered.api.get(f"{answered.path}/aggregations/{asked['id']}").json()
    assert (found["status"], found["error"]) == (
        "failed",
        "It took more than 4,000,000,000 bytes of memory, which is the limit.",
    )


def _until(cancel):
    while not cancel.is_set():
        time.sleep(0.01)


def test_laws_that_clash_with_pins_fail_in_plain_words(answered):
    answered.api.post(f"{answered.path}/laws", json={"statement": "P(rain) = 0.2"})
    answered.api.post(f"{answered.path}/laws", json={"statement": "P(rain & wind) = 0.4"})
    asked = answered.api.post(f"{answered.path}/aggregations", json={})
    if asked.status_code == 202:
        answered.service.work()
        found = answered.api.get(f"{answered.path}/aggregations/{asked.json()['id']}").json()
        assert found["status"] == "failed"
        assert "P(rain" in found["error"]


def test_a_lost_worker_is_replaced_once(answered):
    store = answered.service.store
    asked = answered.api.post(f"{answered.path}/aggregations", json={}).json()
    version = f"{answered.path}/aggregations/{asked['id']}"
    assert store.aggregations.claim("lost", -1.0).id == asked["id"]
    answered.service.work()
    assert answered.api.get(version).json()["status"] == "done"
    asked = answered.api.post(f"{answered.path}/aggregations", json={}).json()
    for worker in ("lost", "lost too"):
        assert store.aggregations.claim(worker, -1.0).id == asked["id"]
    answered.service.work()
    found = answered.api.get(f"{answered.path}/aggregations/{asked['id']}").json()
    assert found["status"] == "failed"
    assert "lost" in found["error"]


def test_a_worker_that_lost_its_job_stops(service):
    weather = Weather(service)
    weather.say(weather.ann, rain=0.5)
    weather.close()
    weather.api.post(f"{weather.path}/aggregations", json={})
    job = service.store.aggregations.claim("slow", 60.0)
    service.store.aggregations.stopped(job.id, "slow")
    with JobWatch(service.store, job, "slow", threading.Event()) as watch:
        _until(watch)
    assert watch.is_lost
    with pytest.raises(ConflictError):
        service.store.aggregations.finish(job.id, "slow", {}, {})


def test_the_stateless_calls_are_the_library(service):
    rows = [("Ann", "rain", 0.75), ("Ann", "wind", 0.2), ("Bob", "rain & wind", 0.4), ("Ann", "storm", 0.5)]
    draft = {
        "forecasts": [{"judge": j, "event": e, "probability": p} for j, e, p in rows],
        "laws": ["storm -> wind"],
    }
    panel = co.Panel.from_records(rows, laws=draft["laws"])
    answer = service.http.post("/aggregate", json=draft).json()
    expected = co.aggregate(panel)
    for row in answer["forecasts"]:
        assert math.isclose(row["probability"], expected.probability(row["event"]), abs_tol=1e-9)
    assert co.verify(panel, co.Result.from_json(json.dumps(answer["result"])))
    checked = service.http.post("/check", json=draft).json()
    assert checked["contradictions"] == list(co.check(panel).contradictions)
    assert checked["coherent"] is False
