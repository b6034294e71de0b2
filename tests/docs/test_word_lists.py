"""Pages that describe the words of a registry one by one have all of them; a word that is added is missed there."""

import re
from pathlib import Path

import pytest

from coherently.contract.record_pages import records_page
from coherently.judge_weights import WEIGHTINGS
from coherently.problem import LOSSES
from coherently.problem.groups.named import DESIGNS
from coherently.scoring import RULES
from coherently.solve import METHODS, Status
from coherently.solve.methods.pools import OPTIONS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "how-to/group-design.md": DESIGNS,
    "how-to/pools.md": OPTIONS,
    "how-to/weights.md": WEIGHTINGS,
    "reference/result-json.md": [*LOSSES, *Status],
}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_has_every_word(page):
    text = (DOCS / page).read_text("utf-8")
    assert [word for word in PAGES[page] if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)] == []


def test_the_page_of_records_has_the_words_of_all_registries():
    page = records_page()
    words = [*METHODS, *LOSSES, *DESIGNS, *Status, *(rule.name for rule in RULES)]
    assert [word for word in words if f"`{word}`" not in page] == []
