"""Panels in files of the canonical form."""

import gzip

import pytest

import coherently as co
from coherently.errors import PanelError
from coherently.panel.canonical import canonical_text, digest
from tests.cli.program import run

ROWS = [
    {"judge": "Ann", "event": "a & b", "probability": 0.25, "weight": 2.0, "lower": None, "upper": None},
    {"judge": "Zoë", "event": "b given a", "probability": None, "weight": 1.0, "lower": 0.1, "upper": 0.3},
    {"judge": "Ann", "event": "w = x", "probability": 0.5, "weight": 0.0, "lower": None, "upper": None},
]
LAWS = ["variable w: x, y", "a -> c # always", "P(c) <= 0.9"]


@pytest.mark.parametrize("packed", [False, True])
def test_the_canonical_form_reads_back_as_the_same_panel(tmp_path, packed):
    panel = co.Panel.from_records(ROWS, laws=LAWS)
    text = canonical_text(panel)
    file = tmp_path / ("panel.jsonl.gz" if packed else "panel.jsonl")
    file.write_bytes(gzip.compress(text) if packed else text)
    again = co.read_panel(file)
    assert canonical_text(again) == text
    assert again.reading is not None
    with file.open("rb") as opened:
        assert digest(co.read_panel(opened)) == digest(panel)


def test_plain_events_stay_plain(tmp_path):
    panel = co.Panel.from_records([("A", "Will it rain & blow?", 0.3)], plain_events=True)
    (tmp_path / "panel.jsonl").write_bytes(canonical_text(panel))
    assert digest(co.read_panel(tmp_path / "panel.jsonl")) == digest(panel)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(b'"version":1', b'"version":2'), "of version 2; this release reads 1"),
        (lambda text: text + b"[1]\n", "panel.jsonl row 7 is no line"),
        (lambda text: text[:-9], "panel.jsonl row 6 is no line"),
        (lambda text: text.replace(b"0.25", b"1.25"), "panel.jsonl row 5"),
    ],
)
def test_what_is_wrong_in_a_canonical_form_is_named(tmp_path, change, words):
    file = tmp_path / "panel.jsonl"
    file.write_bytes(change(canonical_text(co.Panel.from_records(ROWS[:2], laws=LAWS))))
    with pytest.raises(PanelError, match=words):
        co.read_panel(file)


def test_a_canonical_form_has_its_laws_already(tmp_path):
    file = tmp_path / "panel.jsonl"
    file.write_bytes(canonical_text(co.Panel.from_records(ROWS, laws=LAWS)))
    with pytest.raises(PanelError, match="has its laws in it already: leave the laws out"):
        co.read_panel(file, laws=["a"])


def test_a_proof_is_verified_with_the_canonical_form(tmp_path):
    table, laws = tmp_path / "panel.csv", tmp_path / "panel.laws"
    table.write_text("Risk workshop;;\nRisk;Ann;Bob\na;35 %;0,4\na & b;0,5;0,45\n")
    laws.write_text("b -> a\n")
    proof, result, panel = (tmp_path / name for name in ("proof.gz", "result.json", "panel.jsonl"))
    done = run("aggregate", table, "--laws", laws, "--method", "exact", "--proof", proof, "--json", check=0)
    result.write_text(done.stdout)
    run("read", table, "--laws", laws, "-o", panel, check=0)
    done = run("verify", panel, result, "--proof", proof, check=0)
    assert done.stdout.startswith("proved: loss at most")
    assert "trusted" not in done.stdout
    assert "Every promise that could be checked is kept." in done.stdout
