"""Every field of a record is checked, derived or named as unchecked: each is edited, in results of every kind."""

import json

import pytest

import coherently as co
from coherently.solve import METHODS
from tests.verifier.field_edits import edits, is_named, name_of, places
from tests.verifier.tampering import Case, is_true

PLAIN = [
    ("Ann", "p", 0.9),
    ("Bob", "p", 0.7),
    ("Ann", "q", 0.1),
    ("Bob", "q", 0.25),
    ("Ann", "p & q", 0.6),
    ("Bob", "p & q", 0.3),
    ("Bob", "~p", 0.2),
    ("Ann", "r", 0.4),
    ("Bob", "r & p", 0.85),
]
TERMS = [
    {"judge": "A", "event": "p", "probability": 0.5, "lower": 0.4, "upper": 0.6, "weight": 2.0},
    {"judge": "B", "event": "p", "probability": 0.9, "lower": None, "upper": None, "weight": 1.0},
    {"judge": "B", "event": "p & q", "probability": 0.9, "lower": None, "upper": None, "weight": 1.0},
    {"judge": "A", "event": "q given p", "probability": 0.3, "lower": 0.2, "upper": 0.35, "weight": 0.5},
    {"judge": "B", "event": "w = a", "probability": 0.7, "lower": None, "upper": None, "weight": 1.0},
    {"judge": "B", "event": "x < 3", "probability": 0.2, "lower": 0.1, "upper": None, "weight": 3.0},
]
LAWS = ["variable w: a, b, c", "variable x: number", "w = a -> p", "P(q) <= 0.35"]
GIVEN = [("A", "p", 0.5), ("A", "q given p", 0.3), ("B", "p & q", 0.4), ("B", "~q given p", 0.2)]
NAMES = [("A", "rain & wind?", 0.2), ("B", "p -> q", 0.4), ("B", "rain & wind?", 0.5)]
EXTREME = [("A", "p", 0.0), ("A", "p & q", 0.3), ("B", "q", 1.0), ("B", "p | q", 0.6)]


def local(groups, correction="dykstra"):
    return co.AlternatingProjections(groups=groups, correction=correction)


PANELS = {
    "kept": lambda: co.Panel.from_records([("A", "p", 0.5), ("A", "q given p", 0.3)]),
    "variables": lambda: co.Panel.from_records([("A", "p", 0.5), ("B", "p", 0.2), ("B", "q", 0.7)]),
    "coherent": lambda: co.Panel.from_records([("A", "p", 0.5), ("A", "p & q", 0.2)]),
    "plain": lambda: co.Panel.from_records(PLAIN),
    "terms": lambda: co.Panel.from_records(TERMS, laws=LAWS),
    "given": lambda: co.Panel.from_records(GIVEN),
    "names": lambda: co.Panel.from_records(NAMES, plain_events=True),
    "extreme": lambda: co.Panel.from_records(EXTREME),
}
RESULTS = {
    "recipe alone": ("plain", co.Recipe(then=None), "brier"),
    **{method: ("plain", method, "brier") for method in METHODS},
    "short": ("plain", co.Exact(time_limit=0), "brier"),
    "then": ("plain", co.Pool("median", then=co.Exact()), "brier"),
    "then local": ("plain", co.Pool("log", then=local("logical")), "brier"),
    "few sweeps": ("plain", co.AlternatingProjections(sweeps=1), "brier"),
    **{
        f"dykstra {groups}": ("plain", local(groups), "brier")
        for groups in ("singletons", "pairs", "triples", "cliques", "global")
    },
    **{f"projections {groups}": ("plain", local(groups, "none"), "brier") for groups in ("singletons", "pairs")},
    "log": ("extreme", "exact", co.Log(0.01)),
    "log within the clip": ("plain", "exact", "log"),
    "spherical": ("plain", "exact", "spherical"),
    "log dykstra": ("plain", "dykstra", "log"),
    "terms": ("terms", "exact", "brier"),
    "terms linear": ("terms", "linear", "brier"),
    "terms annealing": ("terms", co.Annealing(columns=20, steps=200), "brier"),
    "terms local": ("terms", "dykstra", "brier"),
    "terms log": ("terms", "exact", "log"),
    "given": ("given", "exact", "brier"),
    "given linearised": ("given", co.Exact(conditionals="linearised"), "brier"),
    "given annealing": ("given", co.Annealing(columns=20, steps=200), "brier"),
    "given local": ("given", "dykstra", "brier"),
    "nothing lost": ("coherent", "exact", "brier"),
    "nothing lost by log": ("coherent", "exact", "log"),
    "single variables": ("variables", "exact", "brier"),
    "kept conditionals": ("kept", "exact", "brier"),
    "names": ("names", "exact", "brier"),
}


@pytest.mark.parametrize("word", RESULTS)
def test_no_field_can_be_edited_unnoticed(word):
    panel_word, method, loss = RESULTS[word]
    panel = PANELS[panel_word]()
    original = json.loads(co.aggregate(panel, method, loss).to_json())
    honest = co.verify(panel, co.Result.from_json(json.dumps(original)))
    assert honest, honest.problems
    unnoticed = [
        what
        for what, name, record in edits(original)
        if not is_noticed(panel, name, record) and not is_true(Case(None, panel, original, None), name, record)
    ]
    assert unnoticed == []


def is_noticed(panel, name, record):
    """Whether an edit is refused, or its field is named as unchecked."""
    try:
        checked = co.verify(panel, co.Result.from_json(json.dumps(record)))
    except co.CoherentlyError:
        return True
    return not checked or is_named(name, checked.unchecked_fields)


def test_the_fields_are_found_in_the_record():
    record = {"a": 1, "b": [{"c": None}, {"c": "x", "d": [0.5]}]}
    assert [name_of(path) for path in places(record)] == ["a", "b", "b", "b.c", "b", "b.c", "b.d", "b.d"]
    done = {(what.partition(" ")[2], name) for what, name, _ in edits(record)}
    assert {("missing", "b.d"), ("a little more", "b.d"), ("with another field", "b"), ("one more", "a")} <= done


def test_a_field_that_the_reader_passed_over_would_be_found(monkeypatch):
    monkeypatch.setattr("coherently.contract.description.ObjectOf._check_other", lambda *_: None)
    panel = PANELS["plain"]()
    original = json.loads(co.aggregate(panel, "exact").to_json())
    found = [what for what, name, record in edits(original, []) if not is_noticed(panel, name, record)]
    assert found == ["with another field"]


def test_a_method_counts_conditionals_in_its_own_ways():
    panel = PANELS["kept"]()
    record = json.loads(co.aggregate(panel, "exact").to_json())
    record["conditionals"] = "ratio"
    problems = co.verify(panel, co.Result.from_json(json.dumps(record))).problems
    assert problems == ["the loss of conditional forecasts is ratio, which exact does not know"]
