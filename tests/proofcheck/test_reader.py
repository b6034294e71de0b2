"""What the checker reads by itself: events, decimals, tables, the canonical form, and mixtures of worlds."""

import json
from fractions import Fraction

import pytest

import coherently as co
from coherently.panel.canonical import canonical_text
from coherently.proofcheck.check_errors import BadInputError, ProofRefusedError
from coherently.proofcheck.claimed_mixture import WorldMixture
from coherently.proofcheck.forecast_files import ReadingOptions, canonical_lines, read_json
from coherently.proofcheck.language import read_declaration, read_event, read_pin, statement
from coherently.proofcheck.numbers import decimal, rounded_down, rounded_up
from coherently.proofcheck.posed_panel import PosedPanel, read_panel
from coherently.proofcheck.truth_functions import StateSpace
from tests.proofcheck.proof_cases import LOSSES, proved_files
from tests.proofcheck.reader_checks import check_reader


@pytest.mark.parametrize("seed", range(2))
def test_events_mean_what_the_grammar_says(seed):
    assert check_reader(seed, 500) > 100


def test_decimals_are_exact_and_of_ordinary_size():
    assert decimal(" -1.25e-2 ") == Fraction(-1, 80)
    assert decimal("1e400") == 10**400
    for text in ("1e401", "1" * 401, "1e-401", "", ".", "0x1", "1_0", "nan", "1/3"):
        with pytest.raises(BadInputError, match="not a decimal number"):
            decimal(text)


def test_sums_are_rounded_to_the_safe_side():
    third = Fraction(1, 3)
    assert 0 < third - rounded_down(third) < Fraction(1, 2**199)
    assert 0 < rounded_up(third) - third < Fraction(1, 2**199)
    assert rounded_down(-third) < -third < rounded_up(-third)


def function(texts, declarations=()):
    programs = [read_event(text)[0] for text in texts]
    space = StateSpace([read_declaration(one) for one in declarations], programs)
    return space, [space.function(program) for program in programs]


def test_counts_of_many_literals_that_are_constants_are_constants():
    members = ", ".join(f"v{i}" for i in range(20))
    _, found = function([f"at_least(0; {members})", f"exactly(21; {members})", "true", "false"])
    assert found[0] == found[2]
    assert found[1] == found[3]


def test_quantities_have_a_state_between_and_beside_all_that_is_mentioned():
    space, found = function(["x < 1", "x <= 1", "x < 2", "x >= 2", "x = 2", "x > 2"], ["variable x: number"])
    assert space.variables[0].size == 5
    assert found[3] == space.complement(found[2])
    space, found = function(["d < 2027-01-01", "d <= 2027-01-01", "d < 2027-01-02"], ["variable d: date"])
    assert space.variables[0].size == 3
    assert found[1] == found[2]
    space, found = function(["d < 0001-01-01", "d >= 9999-12-31", "d = 9999-12-31"], ["variable d: date"])
    assert found[0].constant is False
    assert found[1] == found[2]


def test_values_are_one_state_if_nothing_tells_them_apart():
    space, found = function(["w in {a, b}", "w != c", "w = c"], ["variable w: a, b, c, ..."])
    assert space.variables[0].size == 3
    assert len(set(found)) == 3
    with pytest.raises(BadInputError, match="named values"):
        function(["w < a"], ["variable w: a, b"])
    with pytest.raises(BadInputError, match="not declared"):
        function(["w = a"])
    with pytest.raises(BadInputError, match="must be compared"):
        function(["w"], ["variable w: a, b"])


def test_pins_and_statements():
    assert read_pin("P(a given b) >= 50%")[1:] == (Fraction(1, 2), 1)
    assert read_pin("P(a) <= 0.3")[1:] == (0, Fraction(3, 10))
    assert read_pin("P(a) = .25")[1:] == (Fraction(1, 4), Fraction(1, 4))
    assert read_event("e\u0301t\u00e9") == read_event("\u00e9te\u0301")
    assert read_event("\ufb01rm") != read_event("firm")  # a ligature is another letter
    assert statement(' a & "#b" # note ') == 'a & "#b"'
    for text in ("P(a) < 0.3", "P(a) = 1.2", "P(a) 0.2"):
        with pytest.raises(BadInputError):
            read_pin(text)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("event,p\na,1.5\n", {}, "not a probability"),
        ("event,p\na,x\n", {}, "not a number"),
        ("event,p\na,1_0\n", {}, "not a number"),
        ("event,p\na,\n", {}, "abstain"),
        ("event,p,weight\na,0.5,1e51\n", {}, "not a weight"),
        ("event,p,weight\na,0.5,-1\n", {}, "not a weight"),
        ("event,p,lower,upper\na,0.5,0.6,0.7\n", {}, "outside its interval"),
        ("event,p,prob\na,0.5,0.6\n", {}, "2 columns for the role"),
        ("judge,event,p\nA,a,0.5\nA,a,0.4\n", {"repeats": "error"}, "twice"),
        ("one,two\n1,2\n", {}, "neither a long nor a wide table"),
        ("", {}, "empty"),
    ],
)
def test_tables_that_are_wrong_are_named(tmp_path, text, options, words):
    file = tmp_path / "panel.csv"
    file.write_text(text)
    with pytest.raises(BadInputError, match=words):
        read_panel(file, None, ReadingOptions(**options))


@pytest.mark.parametrize("repeats", ["keep", "last", "mean"])
def test_repeats_times_and_weights_are_read_as_the_package_reads_them(tmp_path, repeats):
    file = tmp_path / "panel.csv"
    rows = ["A,a,0.2,1,2026-03-01", "A,a & a,0.8,3,2026-01-01", "A,a,0.4,0.5,2026-02-01T12:00:00+02:00"]
    file.write_text("\n".join(["judge,event,p,weight,time", *rows, "B,a,35%,1,2026-01-01", ""]))
    options = ReadingOptions(repeats=repeats)
    panel = co.read_panel(file, repeats=repeats)
    assert read_panel(file, None, options).digest == co.aggregate(panel, "exact").panel_sha256


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "not sorted"),
        (lambda lines: [*lines[:3], *reversed(lines[3:-1]), ""], "not sorted"),
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [lines[0].replace('"version":1', '"version":2'), *lines[1:]], "another version"),
        (lambda lines: [*lines[:-1], '{"judge":"Z"}', ""], "neither a law nor a forecast"),
        (lambda lines: [lines[0], '{"law":"a","law":"b"}', *lines[1:]], "appears twice"),
        (lambda lines: [lines[0], "[" * 100_000, *lines[1:]], "not JSON"),
    ],
)
def test_canonical_forms_that_are_not_canonical_are_refused(change, words):
    rows = [("A", "a", 0.2), ("B", "b", 0.3), ("C", "c", 0.4)]
    panel = co.Panel.from_records(rows, laws=["a -> b", "b -> c"])
    text = canonical_text(panel).decode()
    assert canonical_lines(text).laws == ("a -> b", "b -> c")
    with pytest.raises(BadInputError, match=words):
        canonical_lines("\n".join(change(text.split("\n"))))


def test_numbers_of_json_stay_as_they_are_written():
    assert read_json('{"a":0.10000000000000001}', "here")["a"] == "0.10000000000000001"


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["forecasts"][0].update(event=["a"]),
        lambda told: told["forecasts"][0].pop("event"),
        lambda told: told["worlds"][0].update(variables=[None]),
        lambda told: told["worlds"][0].update(worlds=[True]),
        lambda told: told["worlds"][0].update(weights=[[]]),
        lambda told: told.update(worlds=3, forecasts=[]),
        lambda told: told.update(tolerance=True),
    ],
)
def test_results_with_fields_of_another_kind_cannot_be_read(tmp_path, change):
    _, files = proved_files(tmp_path, [("A", "a", 0.25), ("A", "b", 0.5)])
    told = json.loads(files.result.read_text())
    change(told)
    files.result.write_text(json.dumps(told))
    with pytest.raises(BadInputError, match="lacks a field, or has a wrong one"):
        files.check()


def test_json_lines_without_a_row_are_refused(tmp_path):
    file = tmp_path / "panel.jsonl"
    for text in ("\n", "{}\n"):
        file.write_text(text)
        with pytest.raises(BadInputError, match="empty"):
            read_panel(file, None, ReadingOptions())


def posed(rows, laws=()):
    panel = co.Panel.from_records(rows, laws=list(laws))
    return PosedPanel(canonical_lines(canonical_text(panel).decode()))


def test_events_over_independent_parts_are_products():
    panel = posed([("A", "a & b", 0.2), ("A", "c", 0.3)])
    parts = [
        {"variables": ["a"], "weights": ["1", "3"], "worlds": ["1", "0"]},
        {"variables": ["b", "c"], "weights": ["0.5", "0.125"], "worlds": ["11", "00"]},
    ]
    mixture = WorldMixture(panel.space, parts)
    assert mixture.probability(panel.events["a & b"][0]) == Fraction(1, 4) * Fraction(4, 5)
    assert mixture.probability(panel.events["c"][0]) == Fraction(4, 5)


def test_declared_variables_have_the_value_that_comparisons_of_a_world_leave():
    panel = posed([("A", "w = y", 0.2), ("A", "w != z", 0.3)], ["variable w: x, y, z"])
    part = {"variables": ["w = x", "w = y", "w = z"], "weights": ["1", "2", "5"], "worlds": ["100", "010", "001"]}
    mixture = WorldMixture(panel.space, [part])
    assert mixture.probability(panel.events["w = y"][0]) == Fraction(1, 4)
    assert mixture.probability(panel.events["w != z"][0]) == Fraction(3, 8)
    with pytest.raises(ProofRefusedError, match="no possible value"):
        WorldMixture(panel.space, [{**part, "worlds": ["110", "010", "001"]}])
    for text, words in (("w", "must be compared"), ("v = x", "not declared")):
        with pytest.raises(BadInputError, match=words):
            WorldMixture(
                posed([("A", "w = y & v", 0.2)], ["variable w: x, y"]).space, [{**part, "variables": [text] * 3}]
            )


def test_complements_are_merged_and_intervals_are_turned(tmp_path):
    rows = [("A", "a", 0.9), ("B", "~a", 0.5), ("A", "b given a", 0.2), ("B", "~b given a", 0.4)]
    rows = [{"judge": j, "event": e, "probability": p, "lower": None, "upper": None} for j, e, p in rows]
    rows += [{"judge": "C", "event": "~b", "probability": None, "lower": 0.1, "upper": 0.3}]
    rows += [{"judge": "D", "event": "b", "probability": None, "lower": 0.1, "upper": None}]
    for loss in LOSSES:
        result, files = proved_files(tmp_path, rows, ["P(a & b) <= 0.2"], loss)
        found = files.check()
        assert found.word == "proved"
        assert float(found.upper) == pytest.approx(result.objective, rel=1e-9)


def test_a_settled_term_may_not_be_used_again(tmp_path):
    _, files = proved_files(tmp_path, [("A", "a given a & b", 0.3), ("A", "a", 0.5)], ())
    panel = read_panel(files.panel, files.laws, ReadingOptions())
    digest = {"format": "coherently-proof", "version": 1, "sha256": panel.digest}
    record = {"ratios": [0], "bits": 40, "laws": [], "pins": [], "nodes": 1}
    words = []
    for term in (0, 1):
        lines = [digest, {"terms": [term], **record}, {"e": [0, 1]}, {"end": 1}]
        files.proof.write_text("".join(json.dumps(line) + "\n" for line in lines))
        words.append(files.check().why)
    assert sum("settled by logic" in why for why in words) == 1


def test_laws_in_a_chain_settle_a_conditional(tmp_path):
    rows = [("A", "d given a", 0.3), ("A", "a", 0.5), ("B", "c", 0.6)]
    result, files = proved_files(tmp_path, rows, ["a -> b", "b -> c", "c -> d"])
    found = files.check()
    assert found.word == "proved"
    assert float(found.upper) == pytest.approx(result.objective, rel=1e-9)
    assert result.objective == pytest.approx(0.7**2)


def test_intervals_at_0_and_1_are_clipped_under_the_log_loss(tmp_path):
    rows = [("a", 0, 0), ("b", 1, 1), ("a | ~b", 0.4, 0.6)]
    rows = [{"judge": "A", "event": e, "probability": None, "lower": low, "upper": high} for e, low, high in rows]
    result, files = proved_files(tmp_path, rows, ["P(a) = 0.3"], "log")
    found = files.check()
    assert found.word == "proved"
    assert float(found.upper) == pytest.approx(result.objective, rel=1e-9)
    assert result.objective > 0.5


def test_a_conditional_is_printed_as_forecast_if_its_condition_is_almost_impossible(tmp_path):
    _, files = proved_files(tmp_path, [("A", "a given b", 0.25), ("A", "b", 0.5)])
    told = json.loads(files.result.read_text())
    for mass, words in ((Fraction(9, 10**7), ""), (Fraction(11, 10**7), "not that of the worlds")):
        weights = [float(mass), float(1 - mass)]
        told["worlds"] = [{"variables": ["a", "b"], "weights": weights, "worlds": ["11", "00"]}]
        for one in told["forecasts"]:
            one["probability"] = 0.25 if "given" in one["event"] else float(mass)
        files.result.write_text(json.dumps(told))
        found = files.check()
        assert (words in found.why) if words else found.word == "weak", found.sentence
