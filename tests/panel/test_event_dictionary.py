"""Names as people write them: cells are the dictionary, the longest names first, and nothing is related silently."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.panel.event_dictionary import look_alikes, speak

NAMES = ("late Norvik", "budget overrun", "fire in B", "no permit yet")
JOINS = {"and": "&", "or": "|", "und": "&", "oder": "|", "et": "&", "if": "given", "wenn": "given", "&": "&"}


def formulas(*texts, labels=None):
    return speak(texts, range(len(texts)), labels or {}).formulas


@pytest.mark.parametrize(("word", "sign"), JOINS.items())
def test_two_cells_joined_are_a_formula(word, sign):
    joined = f"{NAMES[0]} {word} {NAMES[1]}"
    assert formulas(*NAMES, joined)[4] == f'"{NAMES[0]}" {sign} "{NAMES[1]}"'


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5), st.data())
def test_what_is_put_together_is_taken_apart(parts, data):
    words = [data.draw(st.sampled_from(["and", "or", "&", "|"])) for _ in parts[1:]]
    spoken = " ".join(itertools.chain(*itertools.zip_longest(parts, words, fillvalue=""))).strip()
    read = formulas(*NAMES, spoken)
    signs = [JOINS.get(word, word) for word in words]
    quoted = [f'"{part}"' for part in parts]
    wanted = " ".join(itertools.chain(*itertools.zip_longest(quoted, signs, fillvalue=""))).strip()
    assert read[4] == wanted


def test_case_and_spaces_do_not_hide_a_name():
    assert formulas("Late Norvik", "Budget overrun", "late  norvik and BUDGET OVERRUN")[2] == (
        '"Late Norvik" & "Budget overrun"'
    )


def test_a_part_that_is_no_cell_relates_nothing_and_is_noted():
    found = speak(["fire in B", "fire in B and loss of staff"], [0, 1], {})
    assert found.formulas == {0: '"fire in B"', 1: '"fire in B and loss of staff"'}
    assert "read as single names" in found.notes[0]


def test_the_longest_name_wins_and_a_tie_is_unclear():
    texts = ["a b", "a b or c d", "e f", "a b or c d or e f"]
    assert formulas(*texts)[3] == '"a b or c d" | "e f"'
    texts = ["a b", "a b or c d", "c d or e f", "e f", "a b or c d or e f"]
    found = speak(texts, range(5), {})
    assert found.unclear == {4: ('"a b or c d" | "e f"', '"a b" | "c d or e f"')}


@pytest.mark.parametrize(
    "text", ["p &", "(p", "p q", "p given", "given p", "p == q", "p => q", "exactly(1; p", "p ? q", "~ & p", "p & & q"]
)
def test_formulas_with_faults_stay_faults(text):
    assert 2 not in speak(["p", "q", text], [2], {}).formulas


def test_a_declared_variable_is_never_part_of_a_name(tmp_path):
    (tmp_path / "p.csv").write_text("event,Ann\nwinner = Ann Lee,0.5\nwinner = Bob,0.2\n")
    with pytest.raises(co.PanelError, match="row 2"):
        co.read_panel(tmp_path / "p.csv", laws=['variable winner: "Ann Lee", Bob'])


def test_outcomes_and_forecasts_share_their_names(tmp_path):
    (tmp_path / "p.csv").write_text("event,Ann\nfire in B,0.5\nlate Norvik,0.2\nfire in B and late Norvik,0.1\n")
    panel = co.read_panel(tmp_path / "p.csv", outcomes={"fire in B": True, "late Norvik": True})
    assert panel.written.outcome.tolist() == [1, 1, 1]


def test_a_panel_with_names_comes_back_from_its_record(tmp_path):
    (tmp_path / "p.csv").write_text("Risk,Ann\nfire in B,0.5\nlate Norvik,0.2\nfire in B and late Norvik,0.1\n")
    panel = co.read_panel(tmp_path / "p.csv")
    again = co.Panel.from_json(panel.to_json())
    assert again == panel
    assert again.written.text[:] == panel.written.text[:]
    assert co.aggregate(panel).probability('"fire in B"') == pytest.approx(0.5)


def test_names_that_look_alike_are_noted(tmp_path):
    assert look_alikes(["Fire", "Flood", "fire"]) == ["these names look alike and are two: 'Fire' and 'fire'"]
    (note,) = look_alikes(["Alice", "Аlice"])
    assert "cyrillic capital letter a" in note
    assert look_alikes(["Ann", "Anna", "p1", "p2"]) == []
    (tmp_path / "p.csv").write_text("Risk,Ann\nFire damage,0.5\nfire damage,0.2\n")
    notes = "\n".join(co.read_panel(tmp_path / "p.csv").notes)
    assert "'Fire damage' and 'fire damage'" in notes
