"""One page per public name and per command, written before the site is built from what the package says of itself.

The pages go to `docs/reference/python/` and `docs/reference/commands/`, which git ignores. A page has the signature and
the docstring, and a table of the parameters. What a parameter means is what the docstring says where it first names it,
or what the page on options says, so that nothing is written twice.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

import coherently
from coherently.cli.app import program
from coherently.contract.public_records import public_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
MODULES = ("network", "plot", "aio", "agents")
"""Public modules: their own names have pages."""
WRITTEN = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z`])|\n\n")
SHOWN = {"Bounds", "TableReading", "LocalReport"}
"""What examples make only to show it."""
KINDS = ("Functions", "Objects that you make", "Objects that you get", "Errors", "Types")


def public_names() -> dict[str, str]:
    """The kind of each public name; names inside public modules are written with their module."""
    names = [name for name in coherently.__all__ if name not in MODULES]
    for module in MODULES:
        inner = getattr(coherently, module, None)
        names += [f"{module}.{name}" for name in getattr(inner, "__all__", ())]
    return {name: kind_of(_named(name)) for name in names}


def _named(name: str) -> Any:
    value: Any = coherently
    for part in name.split("."):
        value = getattr(value, part)
    return value


def kind_of(thing: Any) -> str:
    """Which table of the index a name belongs to."""
    if inspect.isroutine(thing):
        return "Functions"
    if not inspect.isclass(thing):
        return "Types"
    if issubclass(thing, (Exception, Warning)):
        return "Errors"
    return "Objects that you make" if is_made(thing) else "Objects that you get"


def is_made(thing: type) -> bool:
    """Whether users call it: the example of its docstring does. Of what they only get, they read the fields."""
    if thing.__name__ in SHOWN:
        return False
    return re.search(rf"^\s*(>>>|\.\.\.).*\b{thing.__name__}\(", inspect.getdoc(thing) or "", re.MULTILINE) is not None


# ---------------------------------------------------------------- what a parameter means


def meanings(thing: Any) -> dict[str, str]:
    """What each parameter of a function or class means; an empty text if nothing says it."""
    if inspect.isclass(thing) and issubclass(thing, (Exception, enum.Enum)):
        return {}
    try:
        given = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return {}
    sentences = SENTENCE.split((inspect.getdoc(thing) or "").split(">>>")[0])
    everywhere = dict(WRITTEN.findall((DOCS / "reference" / "options.md").read_text("utf-8")))
    said = {}
    for name, each in given.items():
        if name.startswith("_") or each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        found = next((one for one in sentences if re.search(rf"`{name}[`=(\[]", one)), "")
        said[name] = " ".join((found or everywhere.get(name, "")).split())
    return said


def _parameters(thing: Any) -> Iterator[str]:
    said = meanings(thing)
    if not said:
        return
    given = inspect.signature(thing).parameters
    yield from ("| parameter | type | default | meaning |", "|---|---|---|---|")
    for name, text in said.items():
        each = given[name]
        default = "needed" if each.default is each.empty else f"`{_shown(each.default)}`"
        kind = "" if each.annotation is each.empty else f"`{_cell(str(each.annotation))}`"
        yield f"| `{name}` | {kind} | {default} | {_cell(text)} |"


def _shown(default: object) -> str:
    text = repr(default)
    return "..." if text.startswith("<") else _cell(text)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("coherently.panel.weights.", "")


# ---------------------------------------------------------------- pages


def write_pages(_app: Sphinx) -> None:
    """Write what has changed, and take away what is no longer public."""
    _write(DOCS / "reference" / "python", {name: _page(name, kind) for name, kind in public_names().items()})
    _write(DOCS / "reference" / "commands", {name: _command(name) for name in command_names()})


def _write(folder: Path, pages: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    files = {folder / f"{name.replace(' ', '-')}.md": text for name, text in pages.items()}
    for old in set(folder.glob("*.md")) - files.keys():
        old.unlink()
    for file, text in files.items():
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def _page(name: str, kind: str) -> str:
    thing = _named(name)
    parts = [f"# {name}", _alias(name) if kind == "Types" else _directive(name, thing, kind)]
    table = list(_parameters(thing)) if kind in ("Functions", "Objects that you make") else []
    if table:
        parts += ["## Parameters", "\n".join(table)]
    if name in public_records():
        parts.append(f"[The record of a {name}](../records.md#{name.lower()}) has its fields as JSON.")
    return "\n\n".join(parts) + "\n"


def _directive(name: str, thing: Any, kind: str) -> str:
    if kind == "Functions":
        return f"```{{eval-rst}}\n.. autofunction:: coherently.{name}\n```"
    if kind == "Errors":
        return f"```{{eval-rst}}\n.. autoexception:: coherently.{name}\n```"
    undocumented = "   :undoc-members:" if issubclass(thing, enum.Enum) else "   :no-undoc-members:"
    return f"```{{eval-rst}}\n.. autoclass:: coherently.{name}\n   :members:\n{undocumented}\n```"


def _alias(name: str) -> str:
    """An alias of types, with the text that stands below it in its module."""
    value = getattr(coherently, name)
    tree = ast.parse(inspect.getsource(importlib.import_module(coherently._ROOM_OF[name])))
    at = next(i for i, each in enumerate(tree.body) if getattr(getattr(each, "target", None), "id", "") == name)
    told: Any = tree.body[at + 1]
    shown = value if isinstance(value, str) else _cell(str(value)).replace(r"\|", "|")
    return f"```{{eval-rst}}\n.. py:data:: coherently.{name}\n   :type: {shown}\n\n   {told.value.value}\n```"


def command_names() -> list[str]:
    """Every command, and the commands of groups with the name of their group."""
    names = [str(command.name) for command in program().registered_commands]
    for group in program().registered_groups:
        names += [f"{group.name} {command.name}" for command in group.typer_instance.registered_commands]
    return names


def _command(name: str) -> str:
    shown = CliRunner().invoke(program(), [*name.split(), "--help"], env={"COLUMNS": "88", "NO_COLOR": "1"})
    return f"# {name}\n\n```text\n{shown.stdout.strip()}\n```\n"


# ---------------------------------------------------------------- indexes


def python_index() -> str:
    """Tables of all public names by kind, each with its first sentence."""
    names = public_names()
    parts = []
    for kind in KINDS:
        own = [name for name, each in names.items() if each == kind]
        rows = [f"| [`{name}`](python/{name}.md) | {_cell(first_sentence(name))} |" for name in own]
        parts += [f"## {kind}", "\n".join(["| name | is |", "|---|---|", *rows]), _hidden("python", own)]
    return "\n\n".join(parts)


def first_sentence(name: str) -> str:
    """What a name is, in the first line of its docstring."""
    value = _named(name)
    if kind_of(value) == "Types":
        return f"`{value}`".replace("coherently.panel.weights.", "")
    return (inspect.getdoc(value) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")


def command_index() -> str:
    """A table of all commands, each with the first sentence of its help."""
    names = command_names()
    helps = {str(each.name): each for each in program().registered_commands}
    for group in program().registered_groups:
        helps |= {f"{group.name} {each.name}": each for each in group.typer_instance.registered_commands}
    rows = []
    for name in names:
        text = (inspect.getdoc(helps[name].callback) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
        rows.append(f"| [`coherently {name}`](commands/{name.replace(' ', '-')}.md) | {_cell(text)} |")
    return "\n".join(["| command | does |", "|---|---|", *rows]) + "\n\n" + _hidden("commands", names)


def _hidden(folder: str, names: Iterable[str]) -> str:
    entries = "\n".join(f"{folder}/{name.replace(' ', '-')}" for name in names)
    return f"```{{toctree}}\n:hidden:\n:titlesonly:\n\n{entries}\n```"


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("config-inited", lambda each, _config: write_pages(each))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
