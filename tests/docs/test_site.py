"""The site: every public name and every command has its place, every parameter its meaning, every door its example."""

import doctest
import importlib.util
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

import coherently as co
from coherently.cli.app import program

ROOT = Path(__file__).parents[2]
LOOSELY = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module(path):
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def reference():
    return module(ROOT / "docs" / "extensions" / "reference_pages.py")


@pytest.fixture(scope="module")
def formulas():
    pytest.importorskip("latex2mathml")
    return module(ROOT / "docs" / "extensions" / "mathml.py")


def test_every_public_name_has_a_page_and_a_line_in_the_index(reference):
    names, index = reference.public_names(), reference.python_index()
    for name in set(co.__all__) - set(reference.MODULES):
        assert name in names
        assert f"[`{name}`](python/{name}.md) | " in index
    assert "](python/plot.graph.md)" in index
    assert all(reference.first_sentence(name) for name in names)


def test_every_parameter_has_a_meaning(reference):
    silent = {}
    for name, kind in reference.public_names().items():
        if kind in reference.KINDS[:2]:
            thing = co
            for part in name.split("."):
                thing = getattr(thing, part)
            missing = [each for each, text in reference.meanings(thing).items() if not text]
            silent |= {name: missing} if missing else {}
    assert silent == {}, "say in the docstring, with the name in backticks, what these mean"


def test_every_function_and_object_that_users_make_has_an_example(reference):
    kinds = reference.public_names()
    without = [
        name
        for name, kind in kinds.items()
        if kind in reference.KINDS[:2] and "." not in name and ">>>" not in inspect.getdoc(getattr(co, name))
    ]
    assert without == []


def test_a_page_has_a_table_of_parameters(reference):
    page = reference._page("aggregate", "Functions")
    assert "| `tolerance` | `float \\| None` | `None` | `time_limit` (seconds), `tolerance` (relative gap)" in page
    assert ".. autofunction:: coherently.aggregate" in page
    assert ".. autoclass:: coherently.Result" in reference._page("Result", "Objects that you get")


def test_every_command_has_a_page_with_its_options(reference):
    names, index = reference.command_names(), reference.command_index()
    for command in program().registered_commands:
        assert command.name in names
        assert f"[`coherently {command.name}`](commands/{command.name}.md) | " in index
    assert "network run" in names
    assert "--report" in reference._command("check")


def test_formulas_of_docstrings_are_formulas(formulas):
    lines = ["Brier score of $p_i$, at $5 or `$x$`.", "", r"$$\text{BS}(p, o)", "= (p - o)^2$$", ""]
    formulas.mark_formulas(None, "function", "brier", None, None, lines)
    expected = ["Brier score of :math:`p_i`, at $5 or `$x$`.", "", ".. math::", "", r"   \text{BS}(p, o) = (p - o)^2"]
    assert lines[:5] == expected


def every_formula():
    """The formulas of all docstrings and pages."""
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        yield from re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)


def test_every_formula_can_be_drawn(formulas):
    found = list(every_formula())
    assert len(found) > 20
    for formula in found:
        drawn = formulas.convert(" ".join(formula.split()), display="block")
        assert drawn.startswith("<math")
        assert not re.search(r"<m[a-z]+>\\", drawn), formula  # a command that the converter does not know


def files_of_doors(folder):
    """What the commands of the first page are about."""
    book = openpyxl.Workbook()
    for row in (
        ("Risk", "Ann", "Ben", "Cleo"),
        ("Supplier delay", 0.4, 0.35, 0.3),
        ("Budget overrun", 0.3, 0.45, 0.25),
        ("Supplier delay and Budget overrun", 0.35, 0.2, 0.15),
    ):
        book.active.append(row)
    book.save(folder / "risks.xlsx")
    (folder / "answers.csv").write_text(
        "model,event,probability\nmodel-a,launch by June,62%\nmodel-a,not launch by June,50%\n"
        "model-b,launch by June,55%\nmodel-b,not launch by June,45%\n",
        "utf-8",
    )
    (folder / "quotes.csv").write_text("event,bid,ask\nby_may,0.64,0.66\nby_june,0.58,0.61\n", "utf-8")
    (folder / "quotes.laws").write_text("by_may -> by_june\n", "utf-8")


def test_the_doors_of_the_first_page_open(tmp_path):
    files_of_doors(tmp_path)
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    blocks = re.findall(r"^```console\n\$ coherently (.*?)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    for command, shown in blocks:
        run = [sys.executable, "-m", "coherently", *shlex.split(command)]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
        assert doctest.OutputChecker().check_output(shown, done.stdout, LOOSELY), f"{command}\n{done.stdout}"
    assert (tmp_path / "risks.html").exists()


def test_the_picture_of_the_first_page_is_the_package_s_answer():
    drawing = module(ROOT / "docs" / "front_image.py")
    assert drawing.FILE.read_text("utf-8") == drawing.draw()


def test_every_page_is_reached_from_the_first():
    """Decisions have a page of their own; the first page names none of them."""
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    assert "adr/0" not in page
    for target in re.findall(r"\]\(([\w/.-]+\.md)\)", page):
        assert (ROOT / "docs" / target).exists(), target
