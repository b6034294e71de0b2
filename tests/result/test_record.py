import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherently as co
from coherently.panel import digest
from tests.panels import APART, METHODS, TABLE_2, TRIANGLE
from tests.solve.reference import panels
from tests.whole.language_checks import random_case


def record_of(records, method="exact"):
    panel = co.Panel.from_records(records)
    return panel, json.loads(co.aggregate(panel, method).to_json())


def read(record):
    return co.Result.from_json(json.dumps(record))


@pytest.mark.parametrize("method", METHODS)
@given(panel=st.one_of(panels("some zero", most=3), panels("skewed")))
@settings(max_examples=30)
def test_a_result_comes_back_exactly(method, panel):
    result = co.aggregate(panel, method)
    text = result.to_json()
    again = co.Result.from_json(text)
    assert again.to_json() == text
    for name in ("status", "coherence", "objective", "lower_bound", "gap", "guaranteed_improvement", "components"):
        assert getattr(again, name) == getattr(result, name)
    assert again.frame().equals(result.frame())
    for event in panel.written.text:
        np.testing.assert_equal(again.probability(event), result.probability(event))
    assert co.verify(panel, again).problems == []
    if result.worlds is not None:
        assert list(again.worlds) == list(result.worlds)


@pytest.mark.parametrize("seed", range(60))
def test_results_in_the_whole_language_come_back(seed):
    rng = random.Random(seed)
    case = random_case(rng)
    panel = case.panel()
    method = rng.choice((co.Exact(), co.Exact(), co.Exact(conditionals="linearised"), "dykstra", "linear"))
    result = co.aggregate(panel, method)
    text = result.to_json()
    again = co.Result.from_json(text)
    assert again.to_json() == text
    assert again.frame().equals(result.frame())
    for row in case.rows:
        np.testing.assert_equal(again.probability(row["event"]), result.probability(row["event"]))
    assert co.verify(panel, again) == co.verify(panel, result)
    if result.worlds is not None:
        assert list(again.worlds) == list(result.worlds)
        events = [row["event"] for row in case.rows if " given " not in row["event"]][:2]
        for event in (*events, "p | due < 2027-01-12" if "due" in case.domains else "p | q"):
            found, read_ = result.bounds(event), again.bounds(event)
            np.testing.assert_allclose(read_, found, rtol=0, atol=2e-7)
            assert (read_.certified, read_.note) == (found.certified, found.note)


def test_single_comparisons_come_back():
    panel = co.Panel.from_records([("A", "w = a", 0.7), ("A", "w = b", 0.6)], laws=["variable w: a, b, c"])
    result = co.aggregate(panel, "exact")
    again = co.Result.from_json(result.to_json())
    assert json.loads(result.to_json())["plain_events"] is False
    assert list(again.worlds) == list(result.worlds)
    np.testing.assert_allclose([again.probability("w = a"), again.probability("w != a")], [0.55, 0.45])
    assert tuple(again.bounds("w = c")) == tuple(result.bounds("w = c")) == (0, 0)
    assert co.verify(again.panel, again).problems == []


def test_intervals_come_back_with_the_forecasts_beside_them():
    rows = [
        {"judge": "A", "event": "p", "lower": 0.6, "upper": None, "weight": 2.0},
        {"judge": "B", "event": "q", "probability": 0.4, "weight": 1.0},
        {"judge": "B", "event": "p", "probability": 0.9, "weight": 0.5},
    ]
    _, record = record_of(rows)
    first, second = record["forecasts"]
    assert first["rows"] == [
        {"probability": 0.8, "weight": 2.0, "lower": 0.6, "upper": None},
        {"probability": 0.9, "weight": 0.5, "lower": None, "upper": None},
    ]
    assert "rows" not in second
    again = read(record)
    np.testing.assert_array_equal(again.panel.lower, [0.6, np.nan, np.nan])
    np.testing.assert_array_equal(again.panel.probability, [0.8, 0.9, 0.4])
    np.testing.assert_allclose(again.bounds("p"), (0.9, 0.9), atol=1e-6)


def test_a_record_without_parts_for_what_nobody_forecast_gets_them():
    laws = ["variable w: a, b, c", "w = a -> r", "w = b -> r", "w = c -> ~r"]
    record = json.loads(co.aggregate(co.Panel.from_records([("A", "p", 0.5)], laws=laws), "exact").to_json())
    assert record["worlds"][0]["variables"] == ["p"]
    whole = list(read(record).worlds)
    del record["worlds"][1:]
    assert list(read(record).worlds) == whole


@given(panel=panels("hundred"), loss=st.sampled_from([co.Log(clip=0.01), co.Spherical()]))
@settings(max_examples=20)
def test_losses_come_back(panel, loss):
    again = co.Result.from_json(co.aggregate(panel, "dykstra", loss).to_json())
    assert again.loss == loss
    assert co.verify(panel, again).problems == []


def test_the_fields_are_those_of_the_reference():
    _, record = record_of(TABLE_2)
    assert list(record) == [
        *("format", "version", "panel_sha256", "status", "coherence", "method", "tolerance", "loss", "clip"),
        *("objective", "lower_bound", "gap", "guaranteed_improvement", "groups", "sweeps", "violation"),
        *("conditionals", "note", "plain_events", "laws", "forecasts", "components", "worlds"),
    ]
    assert list(record["forecasts"][0]) == ["event", "probability", "raw", "weight"]
    assert list(record["components"][0]) == [
        *("variables", "events", "coherence", "route", "proof", "objective", "lower_bound")
    ]
    assert list(record["worlds"][0]) == ["variables", "weights", "worlds"]
    reference = (Path(__file__).parents[2] / "docs/reference/result-json.md").read_text("utf-8")
    names = [*record, *record["forecasts"][0], *record["components"][0], *record["worlds"][0]]
    assert [name for name in names if f"`{name}`" not in reference] == []


def test_a_file_is_read(tmp_path, monkeypatch):
    result = co.aggregate(co.Panel.from_records([("A", 'é & "日本 \'"', 0.2)]), "exact")
    (tmp_path / "result.json").write_text(result.to_json(), "utf-8")
    (tmp_path / "marked").write_text(result.to_json(), "utf-8-sig")
    monkeypatch.chdir(tmp_path)
    for source in (tmp_path / "result.json", str(tmp_path / "result.json"), "result.json", "marked", result.to_json()):
        again = co.Result.from_json(source)
        assert again.to_json() == result.to_json()
        assert again.probability('"日本 \'" and é') == result.probability('"日本 \'" and é')
    assert co.Result.from_json(f"\n {result.to_json()}").to_json() == result.to_json()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("certificat.json", r"there is no file 'certificat\.json': check its name and folder, or pass JSON"),
        (Path("certificat.json"), r"there is no file 'certificat\.json'"),
        ("a\0b", "there is no file"),
        (".", r"\. cannot be read: Is a directory"),
        ("latin.json", r"latin\.json is not a text in UTF-8"),
        ("nothing.json", "the result is not JSON"),
        (b"{}", "from JSON or from the path of a file, not from a bytes"),
        (None, "not from a NoneType"),
        ("optimal " * 1000, "the result is not JSON"),
    ],
)
def test_what_cannot_be_read_is_said(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("latin.json").write_bytes(b'{"note": "\xe9"}')
    Path("nothing.json").write_text("nothing", "utf-8")
    with pytest.raises(co.ResultError, match=message):
        co.Result.from_json(source)


VERSION_2 = json.loads((Path(__file__).parent / "version_2.json").read_text("utf-8"))


def panel_of_version_2(name):
    given = VERSION_2["panels"][name]
    rows = [row if isinstance(row, dict) else tuple(row) for row in given["rows"]]
    return co.Panel.from_records(rows, laws=given["laws"] or None, plain_events=given["plain"])


@pytest.mark.parametrize("one", VERSION_2["results"], ids=lambda one: f"{one['panel']} {one['what']}")
def test_version_2_stays_readable_and_is_not_tied_to_its_panel(one):
    panel, record = panel_of_version_2(one["panel"]), one["record"]
    result = co.Result.from_json(json.dumps(record))
    checked = co.verify(panel, result)
    assert checked.problems == []
    assert "panel_sha256" in checked.unchecked_fields
    assert "that the result was made from this panel: it is not tied to its panel" in checked.unchecked
    written = json.loads(result.to_json())
    assert written.pop("panel_sha256") is None
    assert written == {**record, "version": 3}
    with pytest.raises(co.ResultError, match="the field panel_sha256 is not one of a result"):
        read({**record, "panel_sha256": None})


def test_a_record_is_tied_to_its_panel():
    panel, record = record_of(TABLE_2)
    assert record["panel_sha256"] == digest(panel)
    assert "panel_sha256" not in co.verify(panel, read(record)).unchecked_fields
    same_means = [(judge, event, p) for judge, event, p in TABLE_2 if event != "p"]
    mean = np.mean([p for _, event, p in TABLE_2 if event == "p"])
    others = [(judge, event, mean) for judge, event, _ in TABLE_2 if event == "p"]
    assert others
    problem, *more = co.verify(co.Panel.from_records([*others, *same_means]), read(record)).problems
    assert not any("raw" in one or "weight" in one for one in more)  # which are the same
    assert problem.startswith("the result was made from another panel: the digest is ")


def test_an_interval_with_one_column_of_ends_comes_back():
    panel = co.Panel.from_records(
        [{"judge": "A", "event": "p", "lower": 0.6}, {"judge": "A", "event": "~p", "lower": 0.1}]
    )
    assert panel.upper is None
    again = co.Result.from_json(co.aggregate(panel, "exact").to_json())
    np.testing.assert_array_equal(again.panel.lower, [0.6, 0.1])
    assert co.verify(panel, again).problems == []


def test_events_that_are_no_formulas_come_back():
    rows = [("A", "rain & wind?", 0.2), ("B", "p -> q", 0.4), ("B", "rain & wind?", 0.5)]
    panel = co.Panel.from_records(rows, plain_events=True)
    result = co.aggregate(panel, "exact")
    again = co.Result.from_json(result.to_json())
    assert again.frame().equals(result.frame())
    assert co.verify(panel, again).problems == []


def test_the_means_stand_in_the_place_of_the_panel():
    panel = co.Panel.from_records(TABLE_2)
    rows = co.Result.from_json(co.aggregate(panel, "exact").to_json()).rows()
    assert rows["judge"].tolist() == ["panel"] * 3
    np.testing.assert_allclose(rows["raw"], [0.766667, 0.1, 0.266667], atol=1e-6)


def changes(record):
    """Ways to change a record, each by what it does."""
    yield "probability", lambda r: r["forecasts"][0].update(probability=r["forecasts"][0]["probability"] + 1e-6)
    yield "raw", lambda r: r["forecasts"][0].update(raw=0.123)
    yield "forecast weight", lambda r: r["forecasts"][0].update(weight=7.0)
    yield "event removed", lambda r: r["forecasts"].pop()
    yield "first event removed", lambda r: r["forecasts"].pop(0)
    yield "event renamed", lambda r: r["forecasts"][0].update(event="other")
    yield (
        "event added",
        lambda r: r["forecasts"].append({"event": "more", "probability": 0.5, "raw": 0.5, "weight": 1.0}),
    )
    yield (
        "events swapped",
        lambda r: (
            r["forecasts"][0].update(event=r["forecasts"][-2]["event"]),
            r["forecasts"][-2].update(event=record["forecasts"][0]["event"]),
        ),
    )
    yield "status", lambda r: r.update(status="interrupted")
    yield "coherence", lambda r: r.update(coherence="local")
    for name in ("objective", "lower_bound", "gap", "guaranteed_improvement"):
        yield name, lambda r, name=name: r.update({name: r[name] + 1e-3})
    yield "component removed", lambda r: r["components"].pop()
    yield "component's objective", lambda r: r["components"][0].update(objective=0.01)
    yield "worlds", lambda r: r.update(worlds=None)
    for part, worlds in enumerate(record["worlds"]):
        mine = lambda r, part=part: r["worlds"][part]  # noqa: E731
        yield f"part {part} removed", lambda r, part=part: r["worlds"].pop(part)
        yield f"part {part} weight", lambda r, mine=mine: mine(r).update(weights=[w + 1e-6 for w in mine(r)["weights"]])
        if worlds["variables"]:
            yield (
                f"part {part} world",
                lambda r, mine=mine: mine(r).update(
                    worlds=["".join("10"[int(c)] for c in w) for w in mine(r)["worlds"]]
                ),
            )


def test_a_changed_record_is_refused():
    panel, record = record_of(APART[:-1])
    assert co.verify(panel, read(record))
    for what, change in changes(record):
        changed = json.loads(json.dumps(record))
        change(changed)
        try:
            again = read(changed)
        except co.ResultError:
            assert what in ("coherence", "worlds")  # which go together
            continue
        assert not co.verify(panel, again), what


def test_raising_every_bound_is_refused():
    panel, record = record_of(TRIANGLE)
    record["components"][0]["lower_bound"] += 1e-6
    record["lower_bound"] = record["components"][0]["lower_bound"]
    record["gap"] = record["objective"] - record["lower_bound"]
    checked = co.verify(panel, read(record))
    assert not checked
    assert any("coherent forecasts reach" in problem for problem in checked.problems)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda r: r["forecasts"][0].update(rows=[{"probability": 0.5, "weight": -1, "lower": 0, "upper": 1}]),
            r"forecasts\[0\]\.rows\[0\]\.weight is -1; it must be 0, or a number from 1e-50 to 1e50",
        ),
        (
            lambda r: r["forecasts"][0].update(rows=[{"probability": 0.5, "weight": 1, "lower": 0.7, "upper": 0.2}]),
            r"rows\[0\]\.lower is 0.7; it must be at most upper",
        ),
        (
            lambda r: r["forecasts"][0].update(rows=[{"probability": 2, "weight": 1, "lower": 0.7, "upper": None}]),
            r"rows\[0\]\.probability is 2; it must be a number from 0 to 1",
        ),
        (lambda r: r.pop("status"), "the field status is missing"),
        (lambda r: r["forecasts"][1].pop("raw"), r"the field forecasts\[1\]\.raw is missing"),
        (lambda r: r.update(version=1), "'coherently-result', version 1; this version of Coherently reads"),
        (lambda r: r.update(format="book"), "the record is 'book', version 3"),
        (lambda r: r.update(version=True), "version is true; it must be a whole number"),
        (lambda r: r.update(status="fine"), "status is 'fine'; it must be one of averaged, optimal"),
        (lambda r: r.update(status=1), "status is 1; it must be a text"),
        (lambda r: r.update(coherence="sound"), "coherence is 'sound'; it must be one of none, local, global"),
        (lambda r: r.update(coherence="local"), r"worlds is \[.*; it must be null where the coherence is local"),
        (lambda r: r.update(worlds=None), "worlds is null; it must be a list where the coherence is global"),
        (lambda r: r.update(groups="pairs"), "groups is 'pairs'; it must be null where the coherence is global"),
        (
            lambda r: r["components"][0].update(proof="luck"),
            r"components\[0\]\.proof is 'luck'; it must be one of nothing",
        ),
        (
            lambda r: r["components"][0].update(route="fate"),
            r"components\[0\]\.route is 'fate'; it must be one of enum",
        ),
        (
            lambda r: r["components"][0].update(coherence="good"),
            r"\.coherence is 'good'; it must be one of none, local",
        ),
        (
            lambda r: r["components"][0].update(route="Dempster's rule, conflict much"),
            r"components\[0\]\.route is \"Dempster's rule, conflict much\"; it must be a route that ends with a number",
        ),
        (lambda r: r.update(objective="0.1"), "objective is '0.1'; it must be null or a finite number"),
        (lambda r: r.update(objective=10**400), "objective is 1000.*; it must be null or a finite number"),
        (lambda r: r.update(forecasts={}), r"forecasts is \{\}; it must be a list"),
        (lambda r: r.update(forecasts=[3]), r"forecasts\[0\] is 3; it must be an object"),
        (lambda r: r.update(plain_events=None), "plain_events is null; it must be true or false"),
        (lambda r: r["forecasts"][1].update(event="p &"), r"forecasts\[1\]\.event: expected an event after '&'"),
        (
            lambda r: r["forecasts"][1].update(event="~~p"),
            r"forecasts\[1\]\.event is '~~p', the same event as forecasts\[0\]",
        ),
        (
            lambda r: r["forecasts"][0].update(weight=-1),
            r"forecasts\[0\]\.weight is -1; it must be 0, or a number from 1e-50 to 1e62",
        ),
        (lambda r: r["forecasts"][0].update(weight=None), r"forecasts\[0\]\.weight is null"),
        (
            lambda r: r["forecasts"][0].update(probability=[1]),
            r"forecasts\[0\]\.probability is \[1\]; it must be null or a finite",
        ),
        (lambda r: r.update(loss="hinge"), "loss is 'hinge'; it must be one of brier, log, spherical"),
        (lambda r: r.update(clip=2.0), "clip is 2.0; it must be a number if the loss is log, and null otherwise"),
        (lambda r: r.update(loss="log"), "clip is null; it must be a number if the loss is log"),
        (lambda r: r.update(loss="log", clip=2.0), "clip is 2.0; it must lie between"),
        (
            lambda r: r.update(conditionals="nonsense"),
            "conditionals is 'nonsense'; it must be null or one of called_off",
        ),
        (lambda r: r.update(panel_sha256="0" * 63), "panel_sha256 is '0.*; it must be 64 hexadecimal digits"),
        (lambda r: r.update(more=1), "the field more is not one of a result; the fields are format, version, panel_"),
        (lambda r: r["forecasts"][0].update(more=1), r"the field forecasts\[0\]\.more is not one of a result"),
        (lambda r: r["components"][0].update(more=1), r"the field components\[0\]\.more is not one of a result"),
        (lambda r: r["worlds"][0].update(more=1), r"the field worlds\[0\]\.more is not one of a result"),
        (
            lambda r: r["forecasts"][0].update(rows=[]),
            r"forecasts\[0\]\.rows is \[\]; it must be left out if there is no",
        ),
        (lambda r: r["components"][0].update(events=-1), r"components\[0\]\.events is -1"),
        (lambda r: r["worlds"][0]["worlds"].pop(), r"worlds\[0\]\.worlds has 2 worlds; it must have one for each of 3"),
        (lambda r: r["worlds"][0]["worlds"].insert(0, "0"), "has 4 worlds"),
        (lambda r: r["worlds"][0].update(weights=[]), r"worlds\[0\]\.weights is \[\]"),
        (
            lambda r: r["worlds"][0].update(worlds=["0", "00", "00"]),
            r"worlds\[0\]\.worlds\[0\] is '0'; it must have a 0 or 1",
        ),
        (lambda r: r["worlds"][0].update(worlds=["02", "00", "00"]), r"worlds\[0\]\.worlds\[0\] is '02'"),
        (lambda r: r["worlds"][0].update(variables=[1, 2]), r"worlds\[0\]\.variables\[0\] is 1; it must be a text"),
    ],
)
def test_malformed_records_say_what_is_wrong(change, message):
    _, record = record_of(TABLE_2)
    change(record)
    with pytest.raises(co.CoherentlyError, match=message):
        read(record)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the result is not JSON: expecting value"),
        ('{"status": ', "line 1, column 12: the result is not JSON: .*"),
        ("[]", r"the result is \[\]; it must be a JSON object"),
        ('{"objective": NaN}', "the result contains NaN"),
        ("[" * 100_000, "the result is not JSON"),
    ],
)
def test_what_is_no_json_is_refused(text, message):
    with pytest.raises(co.ResultError, match=message):
        co.Result.from_json(text)


def test_a_result_in_plain_values_is_what_json_says():
    result = co.aggregate(co.Panel.from_records([("A", "p", 0.5), ("A", "p & q", 0.7)]), "exact")
    assert json.loads(result.to_json()) == result.as_dict()

    def check(value):
        assert type(value) in (dict, list, str, int, float, bool, type(None)), type(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(result.as_dict())
