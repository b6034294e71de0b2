"""The catalogue has every text that pages say, none that no page says, and only plain words."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from coherently.web.catalogue import catalogue, plain, script_module, text
from coherently.web.catalogue.judge_texts import JUDGE

ROOT = Path(str(files("coherently.web")))
SOURCES = [
    path for ending in ("py", "html", "js") for path in ROOT.rglob(f"*.{ending}") if "catalogue" not in path.parts
]
FORBIDDEN = ("incoheren", "infeasib", "violat", "constraint", "elicit", "submit", "invalid")


def sources():
    return "\n".join(path.read_text("utf-8") for path in SOURCES)


def test_every_text_that_is_said_exists():
    said = set(re.findall(r"""\b(?:t|plain|say)\(\s*["']([a-z_.-]+)["']\s*[,)]""", sources()))
    assert len(said) > 200
    assert said <= set(catalogue())


def test_every_text_is_said():
    everything = sources()
    named = set(re.findall(r"""["']([a-z_.-]+)["']""", everything))
    begun = re.findall(r"""["']([a-z_.]+)\.["'] ~|f["']([a-z_.]+)\.\{""", everything)
    beginnings = tuple(f"{one or other}." for one, other in begun)
    unsaid = [key for key in catalogue() if key not in JUDGE and key not in named and not key.startswith(beginnings)]
    assert not unsaid


@pytest.mark.parametrize("word", FORBIDDEN)
def test_words_are_plain(word):
    texts = [each for value in catalogue().values() for each in ([value] if isinstance(value, str) else value)]
    assert not [each for each in texts if word in each.lower()]


def test_plural_forms():
    assert plain("judges.count", count=1) == "1 judge"
    assert plain("judges.count", count=0) == "0 judges"
    assert text("brand") == "Coherently"


def test_scripts_get_their_texts_and_no_others():
    module = script_module()
    assert module.startswith("export default {")
    assert '"live.copied"' in module
    assert '"start.title"' not in module


def test_pages_reach_the_store_only_by_operations():
    """The import contract holds names; this holds what hangs on the workbench."""
    pages = [path for path in (ROOT / "pages").rglob("*.py") if ".store" in path.read_text("utf-8")]
    assert not pages
