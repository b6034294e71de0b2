"""Proofs of results: what the checker reads, what it proves, and what the commands say."""

import ast
import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coherently as co
from coherently import proofcheck
from coherently.errors import MethodError, ResultError
from coherently.panel.canonical import digest
from coherently.proofcheck.__main__ import main
from coherently.proofcheck.forecast_files import ReadingOptions
from coherently.proofcheck.leaves import WorkLeft
from coherently.proofcheck.loss_planes import LossRule
from coherently.proofcheck.posed_panel import read_panel
from coherently.result.written_panel import written_panel
from tests.cli.program import run
from tests.panels import TABLE_2
from tests.proofcheck.proof_cases import LOSSES, check_proofs, proved_files, wide_rows

FOLDER = Path(proofcheck.__file__).parent


def test_table_2_is_proved_and_its_numbers_are_those_by_hand(tmp_path):
    result, files = proved_files(tmp_path, TABLE_2)
    found = files.check()
    assert found.word == "proved"
    # The means of q and p & q are 1/10 and 4/15, of three judges each; coherent ones meet in the middle, 11/60.
    assert float(found.upper) == pytest.approx(2 * 3 * (1 / 12) ** 2, abs=1e-12)
    assert found.lower <= found.upper
    assert float(found.upper - found.lower) < 1e-9
    assert float(found.upper) == pytest.approx(result.objective, abs=1e-12)
    assert found.leaves == {"elimination": 1}


def test_a_panel_that_the_checker_cannot_read_has_no_proof_and_says_so():
    rows = [{"judge": "A", "event": "p", "lower": 1e-30, "upper": 0.3}]
    result = co.aggregate(co.Panel.from_records(rows), "exact", "log", proof=True)
    with pytest.raises(
        MethodError, match="checker of proofs cannot read this panel: an end of an interval is too near"
    ):
        result.proof()


@pytest.mark.parametrize("seed", range(3))
def test_random_panels_of_the_whole_language_are_proved(seed):
    assert check_proofs(seed, 12) < 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_vanishing_conditions_pins_and_counts_are_proved(tmp_path, loss):
    rows = [
        ("A", "a given b & ~c", 0.9),
        ("A", "a given b", 0.1),
        ("A", "b", 0.05),
        ("B", "c", 0.95),
        ("B", "~b", 0.99),
    ]
    rows += [("A", "at_least(3; a, b, c, d, e, f, g, h)", 0.9), ("B", "exactly(2; a, b, c, d, e, f, g, h)", 0.4)]
    result, files = proved_files(tmp_path, rows, ["P(a) = 0.2", "P(c given b) <= 10%", "h -> a"], loss)
    found = files.check()
    assert found.word == "proved", found.sentence
    assert float(found.upper) == pytest.approx(result.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_the_writer_numbers_terms_and_variables_as_the_checker_does(tmp_path, seed):
    rng = random.Random(seed)
    texts = ["b & a", "~a", "c given b", "~c given b", "~(a & b)", "a", "d | c", "b given d & c", "éa"]
    rows = []
    for _ in range(20):
        low, high = sorted(round(rng.random(), 1) for _ in range(2))
        row = {
            "judge": rng.choice(("Z", "a", 'q"', "q", "é")),
            "event": rng.choice(texts),
            "weight": rng.choice((0, 1, 2)),
        }
        wide = seed % 2 and rng.random() < 0.5
        row |= {"lower": low if wide else None, "upper": high if wide and rng.random() < 0.8 else None}
        rows.append(row | {"probability": round(rng.uniform(low, high), 2)})
    rows[0]["weight"] = 1
    if not seed % 2:
        rows = [{name: row[name] for name in ("judge", "event", "probability", "weight")} for row in rows]
    result, files = proved_files(tmp_path, rows, ["d -> c"], rng.choice(LOSSES))
    read = read_panel(files.panel, files.laws, ReadingOptions())
    written = written_panel(result, read.digest)
    assert [one.name for one in written.space.variables] == [one.name for one in read.space.variables]
    own, other = (one.terms(LossRule("brier"), WorkLeft()) for one in (written, read))
    assert [(one.joint, one.condition, one.turned, one.settled) for one in own] == [
        (one.joint, one.condition, one.turned, one.settled) for one in other
    ]
    assert files.check().word == "proved"


def test_a_pin_that_is_stated_twice_is_proved(tmp_path):
    result, files = proved_files(tmp_path, [("A", "a", 0.1), ("B", "a & b", 0.3)], ["P(a) >= 0.9", "P(a) >= 0.9"])
    assert files.check().word == "proved"
    assert result.objective > 0.6


def test_settled_conditionals_are_constants(tmp_path):
    rows = [("A", "a given a & b", 0.3), ("A", "~c given b", 0.6), ("A", "a", 0.5), ("B", "a | ~a", 0.9)]
    for loss in LOSSES:
        result, files = proved_files(tmp_path, rows, ["b -> c"], loss)
        found = files.check()
        assert found.word == "proved"
        assert float(found.lower) == pytest.approx(result.objective, rel=1e-9)
        assert result.objective > 0.1


def test_what_the_solver_eliminates_the_checker_eliminates():
    # Its largest table has more than 2^18 cells. The solver goes over all worlds, so that there is no tree.
    panel = co.simulate(judges=10, variables=30, seed=1)
    result = co.aggregate(panel, "exact", proof=True)
    assert [one.proof.name for one in result.components] == ["ALL_WORLDS"]
    assert co.verify(panel, result, proof=result.proof()).bound_rests_on == ["proved by elimination"]


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_clusters_are_proved_by_messages(tmp_path, loss):
    result, files = proved_files(tmp_path, wide_rows(5), ["v0 -> v1"], loss)
    assert [one.proof.name for one in result.components] == ["CLUSTERS"]
    found = files.check()
    assert found.leaves == {"messages": 1}
    assert found.word == "proved", found.sentence


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("long.csv", "judge,event,probability\nA,p & q,0.1\nB,q & p,35%\nB,~(p & q),.5\n", {}),
        ("wide.csv", ",Ann,Bob\nrain,0.7,60%\nrain & wind,NA,0.2\n", {}),
        ("wide.tsv", "event\tAnn\tBob\nrain\t70\t60%\nwind\t\t20\n", {"percent": True}),
        (
            "lines.jsonl",
            '{"judge":"A","event":"p","probability":0.1}\n{"judge":"A","event":"q","probability":"7%"}\n',
            {},
        ),
        ("quotes.csv", "event,bid,ask\np,0.2,0.4\nq,0.5,0.9\n", {}),
        ("bounds.csv", "event,probability,lower,upper\np,,0.2,0.4\nq,0.3,,\np | q,,0.9,\n", {}),
        ("weights.csv", "event,p,weight\na,0.2,3\na,0.4,0.1\nb,0.5,0\n", {}),
        ("missing.csv", "event,p\nb & a,\na & b,0.4\n", {"missing": "abstain"}),
        ("mean.csv", "judge,event,p,weight\nA,a & b,0.2,3\nA,b & a,0.7,1\nB,a,0.3,1\nA,a,0.1,1\n", {"repeats": "mean"}),
        ("last.csv", "judge,event,p,time\nA,a,0.2,5\nA,a,0.7,3\nA,a & a,0.3,5\nB,a,0.3,1\n", {"repeats": "last"}),
        ("plain.csv", "event,A\nWill it rain & blow?,0.4\nx -> y,0.3\n", {"plain_events": True}),
        ("names.csv", 'event,A\nété,0.4\n"""3 M"" & US:GDP-2027",0.3\n', {}),
    ],
)
def test_the_checkers_own_reader_makes_the_same_canonical_form(tmp_path, name, text, options):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    panel = co.read_panel(file, **options)
    assert read_panel(file, None, ReadingOptions(**options)).digest == digest(panel)
    result = co.aggregate(panel, "exact", proof=True)
    (tmp_path / "r.json").write_text(result.to_json())
    (tmp_path / "p.gz").write_bytes(result.proof())
    words = [f"--{key.replace('_', '-')}" if value is True else f"--{key}={value}" for key, value in options.items()]
    assert main([str(file), str(tmp_path / "r.json"), "--proof", str(tmp_path / "p.gz"), *words]) == 0


def test_declared_variables_have_the_states_that_formulas_distinguish(tmp_path):
    laws = ["variable winner: Ann, Bob, Cid, ...", "variable rate: number", "variable due: date"]
    rows = [("A", "winner in {Ann, Bob}", 0.7), ("A", "winner != other", 0.5), ("B", "rate <= 3 & ~(rate > 2.5)", 0.4)]
    rows += [("B", "rate < 3", 0.2), ("A", "due <= 2027-01-31", 0.3), ("B", "due < 2027-02-01", 0.6)]
    result, files = proved_files(tmp_path, rows, laws)
    panel = read_panel(files.panel, files.laws, ReadingOptions())
    assert {one.name: one.size for one in panel.space.variables} == {"winner": 3, "rate": 4, "due": 2}
    assert files.check().word == "proved"
    assert len(result.problem.merged) == 5


def test_a_copied_folder_checks_on_a_python_without_packages(tmp_path):
    _, files = proved_files(tmp_path, TABLE_2)
    shutil.copytree(FOLDER, tmp_path / "proofcheck", ignore=shutil.ignore_patterns("__pycache__"))
    words = [str(files.panel), str(files.result), "--proof", str(files.proof)]
    command = [sys.executable, "-S", "-E", "-m", "proofcheck", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("proved: ")
    loaded = "import sys, proofcheck; print([m for m in sys.modules if m.startswith(('numpy', 'coherently'))])"
    told = subprocess.run(
        [sys.executable, "-S", "-E", "-c", loaded], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.stdout.strip() == "[]"


def test_the_checker_has_no_floats_outside_one_module_and_imports_only_the_standard_library():
    for file in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert node.module.split(".")[0] in sys.stdlib_module_names, (file.name, node.module)
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, file.name
            if isinstance(node, ast.Import):
                assert all(one.name in sys.stdlib_module_names for one in node.names), file.name
            if file.name == "doubles.py":
                continue
            assert not isinstance(node, ast.Div), (file.name, "a division that could be of floats")
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), (file.name, node.lineno)
            in_value = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
            assert not in_value, (file.name, node.lineno)


def test_commands_write_and_verify_proofs(tmp_path):
    _, files = proved_files(tmp_path, TABLE_2)
    proof = tmp_path / "written.gz"
    done = run("aggregate", files.panel, "--method", "exact", "--proof", proof, "--json", check=0)
    files.result.write_text(done.stdout)
    done = run("verify", files.panel, files.result, "--proof", proof, check=0)
    assert done.stdout.startswith("proved: loss at most")
    assert "trusted" not in done.stdout
    text = json.loads(files.result.read_text())
    text["worlds"][0]["weights"][0] += 0.01
    files.result.write_text(json.dumps(text))
    done = run("verify", files.panel, files.result, "--proof", proof, check=1)
    assert done.stdout.startswith("refused: the probability of")
    run("verify", files.panel, files.result, "--proof", tmp_path / "none.gz", check=2)


def test_a_panel_that_the_checker_does_not_read_is_proved_in_its_canonical_form(tmp_path):
    file = tmp_path / "workshop.csv"
    file.write_text("Risk workshop;;;\nRisiko;Ann;Bob;Mittelwert\nBrand;35 %;0,4;0,375\nBrand & Sturm;0,5;0,45;0,475\n")
    panel = co.read_panel(file)
    result = co.aggregate(panel, "exact", proof=True)
    (tmp_path / "r.json").write_text(result.to_json())
    (tmp_path / "p.gz").write_bytes(result.proof())
    done = run("verify", file, tmp_path / "r.json", "--proof", tmp_path / "p.gz", check=0)
    assert done.stdout.startswith("proved: ")
    assert "the reading of the panel's file was trusted" in " ".join(done.stdout.split())


def test_verify_takes_a_proof_and_says_what_bounds_rest_on():
    panel = co.Panel.from_records(TABLE_2)
    result = co.aggregate(panel, "exact", proof=True)
    found = co.verify(panel, result, proof=result.proof())
    assert found
    assert found.bound_rests_on == ["proved by elimination"]
    other = co.aggregate(co.Panel.from_records(TABLE_2[:3]), "exact", proof=True)
    assert "refused" in co.verify(panel, result, proof=other.proof()).problems[-1]


def test_without_hints_the_answer_itself_is_where_planes_touch():
    panel = co.Panel.from_records(TABLE_2)
    result = co.aggregate(panel, "exact")
    assert result.solution.hints is None
    assert co.verify(panel, result, proof=result.proof()).bound_rests_on == ["proved by elimination"]


def test_methods_without_an_optimum_have_no_proof():
    panel = co.Panel.from_records(TABLE_2)
    with pytest.raises(MethodError, match="claims no optimum"):
        co.aggregate(panel, "linear").proof()
    with pytest.raises(ResultError, match="no proof"):
        co.verify(panel, co.aggregate(panel, "exact"), proof="nowhere.gz")


def test_a_result_that_ends_with_a_gap_is_weak(tmp_path):
    _, files = proved_files(tmp_path, TABLE_2)
    text = json.loads(files.result.read_text())
    # Another coherent mixture: all worlds alike.
    text["worlds"][0] = {"variables": ["p", "q"], "weights": [0.25] * 4, "worlds": ["00", "01", "10", "11"]}
    for one, value in zip(text["forecasts"], (0.5, 0.5, 0.25), strict=True):
        one["probability"] = value
    files.result.write_text(json.dumps(text))
    found = files.check()
    assert found.word == "weak"
    lost = 3 * ((0.5 - 2.3 / 3) ** 2 + 0.4**2 + (0.25 - 0.8 / 3) ** 2)
    assert math.isclose(float(found.upper), lost, rel_tol=1e-12)
    assert found.sentence.startswith("weak: loss at most")
