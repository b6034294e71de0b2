"""Pages that the tests read, and a strict reader."""

import contextlib
import io
import sys
from itertools import pairwise

import html5lib

import coherently as co
from coherently.report.dossier import put_together
from coherently.report.html_page import Origin, write_dossier

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</style></title><svg onload=alert(3)>",
    "it's \"quoted\" & 'so' &amp; &#x41;",
    "\u202egnp.exe \u2069\u2066 \u200f",
    "عدد النقاط 5",
    "bell\x07 tab\t line\nend",
    "{{ 7 * 7 }} {% raw %}",
    "javascript:alert(4)",
)


def hostile_panel():
    """Every name, label and judge is out for mischief, and each judge contradicts the others and itself."""
    rows = [(f"{name} J{i % 2}", name, 0.1 * (i + 1 + k)) for k in range(2) for i, name in enumerate(HOSTILE)]
    return co.Panel.from_records(rows, plain_events=True, outcomes=dict.fromkeys(HOSTILE, True))


def hostile_formulas():
    """The same names inside formulas that contradict each other."""
    quoted = ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in HOSTILE]
    rows = [("<b>Ann</b>", text, 0.2) for text in quoted]
    rows += [("<b>Ann</b>", f"{a} & {b}", 0.9) for a, b in pairwise(quoted)]
    return co.Panel.from_records(rows, labels={quoted[0]: "<i>labelled</i>"})


def page_of(panel, method="auto", name="panel.csv"):
    return write_dossier(put_together(panel, co.check(panel), co.aggregate(panel, method)), Origin(name, "2026-01-02"))


def check_of(panel, name="panel.csv"):
    return write_dossier(put_together(panel, co.check(panel)), Origin(name, "2026-01-02"))


def parse(page):
    """The page as a tree; whatever is not HTML by the book is an error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def find_all(tree, tag):
    return [element for element in tree.iter() if isinstance(element.tag, str) and element.tag.split("}")[-1] == tag]


def verifying_code_of(page):
    """The code with which a page says that its result is verified, as a reader copies it."""
    blocks = ["".join(node.itertext()) for node in parse(page).iter("pre")]
    (code,) = [block for block in blocks if "co.verify" in block]
    return code


def printed_by(folder, code):
    """What code prints that is run in a folder, whose modules it may import."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        sys.path.insert(0, str(folder))
        try:
            exec(compile(code, "page", "exec"), {})
        finally:
            sys.path.remove(str(folder))
            sys.modules.pop("forecasts", None)
    return printed.getvalue()
