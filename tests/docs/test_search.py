"""The search of the site finds what strangers type."""

import json
from pathlib import Path

import pytest

BUILT = Path(__file__).parents[2] / "docs" / "_build" / "searchindex.js"


@pytest.fixture(scope="module")
def index():
    if not BUILT.exists():
        pytest.skip("the site is not built (make docs)")
    text = BUILT.read_text("utf-8")
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


def pages(index, word):
    """The pages that have a word in their text or title, by the stem under which the search looks for it."""
    from sphinx.search.en import SearchEnglish

    stem = SearchEnglish({}).stem(word.lower())
    found = set()
    for kind in ("terms", "titleterms"):
        listed = index[kind].get(stem, [])
        found |= set(listed if isinstance(listed, list) else [listed])
    return {index["docnames"][each] for each in found}


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("notebook", "how-to/notebooks"),
        ("async", "how-to/asyncio"),
        ("asyncio", "how-to/asyncio"),
        ("thread safe", "how-to/errors-and-notes"),
        ("Excel", "how-to/spreadsheets"),
        ("Dutch book", "how-to/dutch-books"),
        ("MCP", "how-to/agents"),
        ("Docker", "how-to/deploying"),
    ],
)
def test_what_is_typed_is_found(index, typed, page):
    assert page in set.intersection(*(pages(index, word) for word in typed.split()))
