"""The documentation site: Markdown pages, the reference from docstrings, the commands from the command line itself."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

from extensions.reference_pages import command_index, python_index

import coherently
from coherently.contract.record_pages import records_page
from coherently.web.api.application import describe_routes

project = "Coherently"
author = "The Coherently authors"
copyright = "The Coherently authors, Apache-2.0"  # noqa: A001  (the name that Sphinx reads)
version = release = coherently.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "extensions.mathml", "extensions.reference_pages"]
exclude_patterns = ["_build", "skills"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Coherently"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False

API, COMMANDS, ROUTES = "<!-- every public name -->", "<!-- every command -->", "<!-- every route -->"
RECORDS = "<!-- every record -->"


def write_generated(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Put what the package says of itself in the place of the marks."""
    for mark, told in ((API, python_index), (COMMANDS, command_index), (ROUTES, _routes), (RECORDS, records_page)):
        if mark in source[0]:
            source[0] = source[0].replace(mark, told())


def _routes() -> str:
    rows = ["| route | does |", "|---|---|"]
    for path, methods in describe_routes()["paths"].items():
        rows += [f"| {name.upper()} `{path}` | {each['description']} |" for name, each in methods.items()]
    return "\n".join(rows)


def setup(app: Sphinx) -> None:
    """Register what puts generated parts into pages."""
    app.connect("source-read", write_generated)
