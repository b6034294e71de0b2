"""The documentation site: Markdown pages, the reference from docstrings, the commands from the command line itself."""

import ast
import importlib
import inspect
import re

from sphinx.application import Sphinx
from typer.testing import CliRunner

import coherently
from coherently.cli.app import app as command_line
from coherently.contract.record_pages import records_page
from coherently.web.api.application import describe_routes

project = "Coherently"
author = "The Coherently authors"
version = release = coherently.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "skills"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Coherently"
html_copy_source = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False

API, COMMANDS, ROUTES = "<!-- every public name -->", "<!-- every command -->", "<!-- every route -->"
RECORDS = "<!-- every record -->"
FORMULA = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)


def write_generated(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Put what the package says of itself in the place of the marks."""
    for mark, told in ((API, _public_names), (COMMANDS, _commands), (ROUTES, _routes), (RECORDS, records_page)):
        if mark in source[0]:
            source[0] = source[0].replace(mark, told())


def show_formulas(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Show formulas as they are written: the site needs no network and no script for them."""
    lines[:] = FORMULA.sub(r"``\1``", "\n".join(lines)).split("\n")


def _public_names() -> str:
    kinds = {"Functions": inspect.isroutine, "Errors": _is_error, "Objects": inspect.isclass}
    parts = []
    left = [name for name in coherently.__all__ if name not in ("agents", "aio", "network", "plot")]
    for title, belongs in kinds.items():
        own = [name for name in left if belongs(getattr(coherently, name))]
        left = [name for name in left if name not in own]
        parts += [f"## {title}", *(_directive(name, title) for name in own)]
    parts += ["## Types", *map(_alias, [name for name in left if not inspect.isclass(getattr(coherently, name))])]
    nodes = (f"network.{name}" for name in coherently.network.__all__)
    parts += ["## Networks", *(_directive(name, "Objects") for name in nodes)]
    awaited = [f"aio.{name}" for name in coherently.aio.__all__ if name != "in_thread"]
    parts += ["## Awaited calls", *(_directive(name, "Functions") for name in awaited)]
    agents = [f"agents.{name}" for name in coherently.agents.__all__]
    parts += ["## Agents", *(_directive(name, "Objects" if "Tool" in name else "Functions") for name in agents)]
    drawing = ("adjustments", "convergence", "calibration", "graph", "fusion")
    parts += ["## Pictures", *(_directive(f"plot.{name}", "Functions") for name in drawing)]
    return "\n\n".join(parts)


def _alias(name: str) -> str:
    """An alias of types, with the text that stands below it in its module."""
    value = getattr(coherently, name)
    tree = ast.parse(inspect.getsource(importlib.import_module(coherently._ROOM_OF[name])))
    at = next(i for i, each in enumerate(tree.body) if getattr(getattr(each, "target", None), "id", "") == name)
    told = tree.body[at + 1].value.value
    shown = value if isinstance(value, str) else str(value).replace("coherently.panel.weights.", "")
    return f"```{{eval-rst}}\n.. py:data:: coherently.{name}\n   :type: {shown}\n\n   {told}\n```"


def _directive(name: str, title: str) -> str:
    kind, options = {"Functions": ("function", ""), "Errors": ("exception", "")}.get(
        title, ("class", "\n   :members:\n   :no-undoc-members:")
    )
    return f"```{{eval-rst}}\n.. auto{kind}:: coherently.{name}{options}\n```"


def _is_error(thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Exception)


def _commands() -> str:
    names = [str(command.name) for command in command_line.registered_commands]
    for group in command_line.registered_groups:
        names += [f"{group.name} {command.name}" for command in group.typer_instance.registered_commands]
    return "\n\n".join(f"## {name}\n\n```text\n{_help(name)}\n```" for name in names)


def _routes() -> str:
    rows = ["| route | does |", "|---|---|"]
    for path, methods in describe_routes()["paths"].items():
        rows += [f"| {name.upper()} `{path}` | {each['description']} |" for name, each in methods.items()]
    return "\n".join(rows)


def _help(name: str) -> str:
    shown = CliRunner().invoke(command_line, [*name.split(), "--help"], env={"COLUMNS": "88", "NO_COLOR": "1"})
    return shown.stdout.strip()


def setup(app: Sphinx) -> None:
    """Register both."""
    app.connect("source-read", write_generated)
    app.connect("autodoc-process-docstring", show_formulas)
