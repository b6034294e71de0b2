"""The pages of `make evaluate` that are in the repository."""

import pickle
import re
from pathlib import Path

import pytest

from experiments.evaluation.scored import METHODS
from experiments.evaluation.sources import PLANNED, SOURCES, UNRESOLVED

DOCS = Path(__file__).parents[2] / "docs"
FIRST = (DOCS / "evaluation.md").read_text("utf-8")
NAMES = [*(source.name for source in SOURCES), *UNRESOLVED]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def test_each_panel_has_one_page_and_no_page_is_left_over():
    assert len(set(NAMES)) == len(NAMES)
    assert {source.kin for source in SOURCES} - {None} <= set(NAMES)
    assert {file.stem for file in (DOCS / "evaluation").glob("*.md")} == set(NAMES)


def test_other_processes_can_take_a_panel():
    sent = {source.name: pickle.loads(pickle.dumps(source)) for source in PLANNED}
    assert sent["football_2425"].cluster("e0_12_home & e0_12_goals") == "e0_12"
    assert sent["flusight_2017"].cluster("us_ew50_x") == "ew50"
    assert sent["flusight_2017"].cluster("none") == "none"


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_panel_is_linked_and_leads_back(name):
    text = (DOCS / "evaluation" / f"{name}.md").read_text("utf-8")
    assert text.startswith(f"# {name}: ")
    assert f"(evaluation/{name}.md)" in FIRST
    assert "(../evaluation.md)" in text


@pytest.mark.parametrize(
    "file", [DOCS / "evaluation.md", *sorted((DOCS / "evaluation").glob("*.md"))], ids=lambda file: file.stem
)
def test_links_lead_somewhere(file):
    for target in LINK.findall(file.read_text("utf-8")):
        assert (file.parent / target).is_file(), target


def test_the_first_table_has_every_panel_with_outcomes_and_one_best():
    rows = [line.strip("|").split(" | ") for line in FIRST.splitlines() if line.startswith("| [")]
    assert [row[0].split("]")[0].strip(" [") for row in rows] == [source.name for source in SOURCES]
    for row in rows:
        assert len(row) == 1 + len(METHODS)
        assert sum("**" in cell for cell in row) == 1, row[0]


def test_what_other_pages_say_of_the_default_recipe_is_what_was_measured():
    """docs/how-to/recipes.md and docs/explanation/choosing-a-method.md rest on these."""
    assert "*The default recipe is nowhere shown to be worse than linear averaging*: **holds**" in FIRST
    assert "**Without outcomes, use the default recipe**" in FIRST
    assert "That was never shown to hurt." in FIRST
