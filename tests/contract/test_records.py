"""Every public value survives JSON and pickle as an equal value, and its schema and the corpus know it."""

import copy
import json
import math
import pickle
from dataclasses import fields
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import coherently as co
from coherently.contract import Described
from coherently.contract.description import ListOf, MapOf, ObjectOf, OrNull
from coherently.contract.error_record import error_json, read_error
from coherently.contract.public_records import find_record, public_records
from coherently.contract.record_pages import records_page
from coherently.contract.schema_files import SCHEMAS, write_schemas
from coherently.panel import digest
from tests.contract.examples import examples, rich_panel

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = dict(examples())
every_example = pytest.mark.parametrize("value", EXAMPLES.values(), ids=EXAMPLES)
CLASSES = {
    thing.record.name: thing
    for thing in (getattr(room, name) for room in (co, co.network) for name in room.__all__)
    if isinstance(thing, type) and issubclass(thing, Described)
}
VALIDATORS = {name: jsonschema.Draft202012Validator(record.schema()) for name, record in public_records().items()}


def test_there_is_an_example_of_every_class():
    assert {type(value).record.name for value in EXAMPLES.values()} == set(CLASSES)
    assert set(public_records()) == {*CLASSES, "error"}


@every_example
def test_json_and_pickle_give_an_equal_value(value):
    kind, text = type(value), value.to_json()
    again = kind.from_json(text)
    assert again == value
    assert value == again
    assert again.to_json() == text
    assert kind.from_dict(json.loads(text)) == value
    for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), pickle.loads(pickle.dumps(again))):
        assert copied == value
        assert copied.to_json() == text
    assert value != "something else"


@every_example
def test_records_are_valid_by_their_schemas(value):
    VALIDATORS[type(value).record.name].validate(json.loads(value.to_json(), parse_constant=pytest.fail))


def leaves(value, path=()):
    """The places of all single values."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def changed(values, path, new):
    copied = copy.deepcopy(values)
    place = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return copied


@every_example
def test_schema_and_reader_refuse_the_same_changes_of_values(value):
    """A text, a flag, a list or null in the place of a value: what one of the two refuses, so does the other."""
    values, kind = json.loads(value.to_json()), type(value)
    rng = np.random.default_rng(0)
    every = list(leaves(values))
    for i in rng.permutation(len(every))[:40]:
        for new in ("no such word", True, [], None, -1.5):
            edited = changed(values, every[i], new)
            try:
                kind.record.checked(edited)
                read = True
            except co.CoherentlyError as error:
                read = False
                assert error.where is not None
            assert VALIDATORS[kind.record.name].is_valid(edited) is read, (every[i], new)


@every_example
def test_missing_and_unknown_fields_are_named(value):
    values, kind = value.as_dict(), type(value)
    for each in kind.record.fields:
        rest = {name: item for name, item in values.items() if name != each.name}
        if each.name in values and not (each.optional or each.derived):
            with pytest.raises(co.CoherentlyError, match=f"the field {each.name} is missing"):
                kind.from_dict(rest)
    with pytest.raises(
        co.CoherentlyError, match=r"the field more is not one of an? .*; the fields are format, version"
    ):
        kind.from_dict(values | {"more": 1})
    with pytest.raises(co.CoherentlyError, match="version 99; this version of Coherently reads 'coherently-"):
        kind.from_dict(values | {"version": 99})
    with pytest.raises(co.CoherentlyError, match="the record is 'coherently-other'"):
        kind.from_dict(values | {"format": "coherently-other"})


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_not_a_record_is_said(name, tmp_path):
    kind = CLASSES[name]
    for source, message in (
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ('{"version": NaN}', "contains NaN"),
        ("[]", "must be a JSON object|is missing"),
        ("{}", "the field format is missing"),
        (tmp_path / "none.json", "there is no file"),
        (17, "not from a int"),
    ):
        with pytest.raises(co.CoherentlyError, match=message):
            kind.from_json(source)


def test_a_file_is_read(tmp_path):
    file = tmp_path / "check.json"
    file.write_text(EXAMPLES["check"].to_json(), "utf-8")
    assert co.Check.from_json(file) == co.Check.from_json(str(file)) == EXAMPLES["check"]


def test_one_changed_number_makes_another_value():
    for what in ("check", "finding", "book", "scores", "comparison", "tuned", "panel", "result of exact", "bounds"):
        value = EXAMPLES[what]
        read = type(value).record
        values = json.loads(value.to_json())
        told = [path for path in leaves(values) if not _is_derived(read, path)]
        numbers = [path for path in told if isinstance(_at(values, path), float)]
        assert numbers, what
        other = changed(values, numbers[0], _at(values, numbers[0]) + 0.25)
        assert type(value).from_dict(other) != value, (what, numbers[0])


def _at(values, path):
    for key in path:
        values = values[key]
    return values


def _is_derived(record, path):
    found = ObjectOf("", record.fields)
    for key in path:
        while isinstance(found, OrNull):
            found = found.kind
        if isinstance(found, ListOf | MapOf):
            found = found.kind
        elif isinstance(found, ObjectOf):
            each = {one.name: one for one in found.fields}.get(key)
            if each is None:
                return key in ("format", "version")
            if each.derived:
                return True
            found = each.kind
        else:
            return False
    return False


def test_a_panel_comes_back_with_its_digest_and_its_answers():
    panel = rich_panel()
    again = co.Panel.from_json(panel.to_json())
    assert digest(again) == digest(panel)
    assert co.aggregate(again, "exact") == co.aggregate(panel, "exact")
    assert again.written.outcome.tolist() == panel.written.outcome.tolist()
    assert not again.probability.flags.writeable
    np.testing.assert_array_equal(again.lower, panel.lower)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda v: v["forecasts"][0].update(probability=1.5),
            r"forecasts\[0\]\.probability is 1\.5; it must be a number",
        ),
        (
            lambda v: v["forecasts"][1].update(weight=-1),
            r"forecasts\[1\]\.weight is -1; it must be 0, or a number from",
        ),
        (lambda v: v["forecasts"][1].update(lower=0.7), r"forecasts\[1\]\.lower is 0\.7; it must be at most upper"),
        (lambda v: v["forecasts"][2].update(judge="C"), r"forecasts\[2\]\.judge is 'C'; it must be one of judges"),
        (lambda v: v["events"].append({"event": "q | p", "outcome": None}), "the same event as events"),
        (lambda v: v["events"][0].update(event="p &"), r"events\[0\]\.event: "),
        (lambda v: v["events"].append(v["events"][0]), "the same event|twice"),
        (lambda v: v["judges"].append("A"), "judges has 'A' twice"),
        (lambda v: v["laws"].append("~q"), "can never be true under the laws"),
        (lambda v: v["laws"].append("(("), "laws"),
        (lambda v: v.update(version=1), "reads 'coherently-panel', version 2"),
    ],
)
def test_a_damaged_panel_is_refused(change, message):
    values = rich_panel().as_dict()
    change(values)
    with pytest.raises(co.PanelError, match=message):
        co.Panel.from_dict(values)


def test_panels_are_compared_by_what_they_say():
    panel = rich_panel()
    alone = panel.judge("A")
    assert alone == co.Panel.from_json(alone.to_json())  # whose table of events is smaller
    assert co.Panel.from_records([("A", "p & q", 0.1)]) != co.Panel.from_records([("A", "q & p", 0.1)])
    assert co.Panel.from_records([("A", "p", 0.1)], labels={"p": "x"}) != co.Panel.from_records([("A", "p", 0.1)])


def test_what_was_read_has_only_what_was_told():
    found, again = (read(EXAMPLES["check"]) for read in (lambda x: x, lambda x: co.Check.from_json(x.to_json())))
    assert again.judges["Chris"].contradictions == found.judges["Chris"].contradictions
    assert again.book.exact_sure_profit == found.book.exact_sure_profit
    assert again.frame().equals(found.frame())
    assert repr(again) == repr(found)
    assert repr(again.judges) == repr(found.judges)
    for ask in (lambda: again.panel, lambda: again.judges["Chris"].book, lambda: again.book._offer):
        with pytest.raises(co.ResultError, match="was read from JSON and has only what was told there"):
            ask()
    with pytest.raises(KeyError):
        again.judges["Dora"]
    with pytest.raises(AttributeError):
        again.nonsense  # noqa: B018


def test_contradictions_that_nobody_looked_for_are_null_and_not_none():
    rows = [(f"j{i}", event, value) for i in range(5) for event, value in (("p", 0.2), ("p & q", 0.3))]
    late = co.check(co.Panel.from_records(rows))
    late.judges._allowance.left = 0.0
    told = late.as_dict()
    assert [row["contradictions"] is None for row in told["judges"]] == [False, True, True, True, True]
    assert late.as_dict() == told
    again = co.Check.from_dict(told)
    assert again.as_dict() == told
    with pytest.raises(co.ResultError, match="read from JSON"):
        _ = again.judges["j4"].contradictions


@pytest.mark.parametrize("what", ["book", "book, declared", "book between judges"])
def test_a_book_that_was_read_wins_the_same_in_every_world(what):
    book = EXAMPLES[what]
    again = co.Book.from_json(book.to_json())
    worlds = [{"p": a, "q": b} for a in (True, False) for b in (True, False)]
    for world in [{"w": "a"}, {"w": "b"}] if what != "book" else worlds:
        assert again.exact_profit(world) == book.exact_profit(world)
    assert again.stakes == {key: stake for key, stake in book.stakes.items() if stake}
    assert again.prices == {key: book.prices[key] for key in again.stakes}
    assert (again.contradiction, again.repair) == (book.contradiction, book.repair)
    assert again.sentence() == book.sentence()


def test_infinite_scores_come_back():
    scores = co.Scores.from_json(EXAMPLES["infinite scores"].to_json())
    assert scores.log[0] == math.inf
    assert np.isnan(scores.slope).all()


def test_a_comparison_that_was_read_gives_the_same_intervals():
    one = EXAMPLES["comparison"]
    again = co.Comparison.from_json(one.to_json())
    for over in ("both", "judges", "events"):
        assert again.frame(over).equals(one.frame(over))
        assert again.difference("Raw", "Individual", "log", over) == one.difference("Raw", "Individual", "log", over)


def test_results_with_the_command_line_of_older_versions():
    with pytest.raises(co.ResultError, match="the field format is missing"):
        co.Result.from_json('{"status": "optimal", "forecasts": []}')


def test_an_error_has_a_record():
    with pytest.raises(co.PanelError) as caught:
        co.Panel.from_records([("Ann", "p", 0.2), ("Ann", "q", 1.2), ("Bob", "q &", -1)])
    with pytest.raises(co.MethodError) as other:
        co.aggregate(co.Panel.from_records([("A", "p", 0.2)]), "exactly")
    for error in (caught.value, other.value):
        text = error_json(error)
        VALIDATORS["error"].validate(json.loads(text))
        again = read_error(text)
        assert type(again) is type(error)
        assert (str(again), again.as_dict()) == (str(error), error.as_dict())
        assert error_json(again) == text


def test_the_published_schemas_are_what_the_descriptions_give(tmp_path):
    (tmp_path / "gone.json").write_text("{}")
    write_schemas(tmp_path)
    given, published = ({file.name: file.read_text("utf-8") for file in one.iterdir()} for one in (tmp_path, SCHEMAS))
    assert published == given, "run python -m coherently.contract.schema_files"
    assert "gone.json" not in given


@pytest.mark.parametrize("name", public_records())
def test_schemas_are_valid_and_every_field_has_a_meaning(name):
    record = find_record(name)
    jsonschema.Draft202012Validator.check_schema(record.schema())
    assert record.meaning.endswith(".")
    page = records_page()
    assert f"## {name}\n" in page
    for each in record.fields:
        assert each.meaning
        assert f"| `{each.name}` | " in page


def test_every_field_of_a_value_is_read_back_or_derived():
    """A dataclass has nothing that its record lacks, but for what it works with and the library of its frames."""
    for kind in (co.Verification, co.Tuned, co.Recipe, co.Consistency, co.Scores, co.Comparison):
        known = {each.name for each in kind.record.fields}
        hidden = {each.name for each in fields(kind)} - known
        assert hidden <= {
            "library",
            "rows",
            "value",
            "by_rule",
            "scored",
            "brier_sum",
            "arbitrage",
            "frequentist",
            "joint",
        }


CORPUS_FILES = sorted(CORPUS.glob("*.json"))


def alike(one, other):
    """The same JSON, to 1e-9: limits of intervals are computed again, and scipy's quantiles differ by 4e-12."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


@pytest.mark.parametrize("file", CORPUS_FILES, ids=lambda file: file.stem)
def test_records_of_every_version_stay_readable(file):
    """The corpus is never changed: a record of a new version is added beside the older ones."""
    name = file.stem.rpartition("-v")[0]
    if name == "error":
        assert str(read_error(file))
        return
    value = CLASSES[name].from_json(file)
    assert value == CLASSES[name].from_json(value.to_json())
    written = value.as_dict()
    known = json.loads(file.read_text("utf-8"))
    if written["version"] == known.get("version"):
        assert alike(written, known)


def test_results_that_rested_on_a_program_are_read():
    """No solver rests on mixed-integer programs any more; results of version 0.1 do."""
    told = json.loads((CORPUS / "result-v2.json").read_text("utf-8"))
    told["components"][0]["proof"] = "mixed-integer programming (HiGHS)"
    result = co.Result.from_json(json.dumps(told))
    assert result.as_dict()["components"][0]["proof"] == "mixed-integer programming (HiGHS)"


def test_the_corpus_has_every_version_of_every_record():
    there = {file.stem for file in CORPUS_FILES}
    expected = {
        f"{record.name}-v{version}"
        for record in public_records().values()
        for version in range(record.oldest, record.version + 1)
    }
    assert there == expected
