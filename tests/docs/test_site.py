"""The site: every public name and every command has its place, and every page is reached from the first."""

import importlib.util
from pathlib import Path

import coherently as co
from coherently.cli.app import app

ROOT = Path(__file__).parents[2]


def configuration():
    spec = importlib.util.spec_from_file_location("site_configuration", ROOT / "docs" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_on_the_reference_page():
    page = [(ROOT / "docs" / "reference" / "python.md").read_text("utf-8")]
    configuration().write_generated(None, "reference/python", page)
    for name in co.__all__:
        assert f":: coherently.{name}" in page[0], name
    assert "autofunction:: coherently.plot.graph" in page[0]


def test_every_command_is_on_its_page_with_its_options():
    page = [(ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")]
    configuration().write_generated(None, "reference/command-line", page)
    for command in app.registered_commands:
        assert f"## {command.name}\n" in page[0]
    assert "## network run\n" in page[0]
    assert "--report" in page[0]


def test_formulas_of_docstrings_are_shown_as_written():
    lines = ["Brier score.", "", r"$$\text{BS}(p, o) = (p - o)^2$$", ""]
    configuration().show_formulas(None, "function", "brier", None, None, lines)
    assert lines == ["Brier score.", "", r"``\text{BS}(p, o) = (p - o)^2``", ""]
