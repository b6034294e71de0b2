"""All that is public, one line each: names with signatures, commands with options, exit codes, records, routes.

`python -m tests.contract.public_surface` writes the list that a test compares. A line that goes away or changes is a
change of the interface: see docs/reference/stability.md before the list is written anew.
"""

import enum
import hashlib
import inspect
import re
from pathlib import Path

import typer

import coherently as co
from coherently.cli import EXIT_CODES
from coherently.cli.app import program
from coherently.contract.public_records import public_records
from coherently.web.api.application import describe_routes

LIST = Path(__file__).with_name("public_surface.txt")
SCHEMAS = Path(co.__file__).parent / "contract" / "schemas"


def lines():
    """The list, section by section."""
    return [*sorted(names()), *commands(), *exit_codes(), *records(), *sorted(routes())]


def names():
    inner = {name: getattr(co, name) for name in co.__all__ if inspect.ismodule(getattr(co, name))}
    for prefix, module in {"co": co, **{f"co.{name}": each for name, each in inner.items()}}.items():
        for name in module.__all__:
            if not inspect.ismodule(getattr(module, name)):
                yield from described(f"{prefix}.{name}", getattr(module, name))


def described(name, thing):
    yield f"{name}{signature(thing)}"
    if not inspect.isclass(thing):
        return
    if issubclass(thing, enum.Enum):
        yield from (f"{name}.{each.name} = {each.value!r}" for each in thing)
        return
    for each, value in sorted(vars(thing).items()):
        if not each.startswith("_") and (inspect.isroutine(value) or isinstance(value, (property, classmethod))):
            yield f"{name}.{each}{signature(getattr(value, '__func__', value))}"


def signature(thing):
    """How a thing is called; empty of what is not called. Defaults that are objects are shown as such."""
    if isinstance(thing, property) or not callable(thing) or (inspect.isclass(thing) and is_fixed(thing)):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    if any(name.startswith("_") for name in found.parameters):
        return ""  # the package makes it
    return re.sub(r"<[^<>]*>", "...", str(found))


def is_fixed(thing):
    """Whether nobody calls the class: words, errors and protocols."""
    return issubclass(thing, (enum.Enum, Exception)) or getattr(thing, "_is_protocol", False)


def commands():
    group = typer.main.get_command(program())
    for name, command in sorted(every_command("coherently", group)):
        options = sorted(option for each in command.params for option in (*each.opts, *each.secondary_opts))
        yield f"{name} {' '.join(options)}"


def every_command(name, command):
    if hasattr(command, "commands"):
        for each, inner in command.commands.items():
            yield from every_command(f"{name} {each}", inner)
    else:
        yield name, command


def exit_codes():
    return [f"exit codes: {EXIT_CODES}"]


def records():
    """A record with its version; the digest changes with any field."""
    for record in public_records().values():
        digest = hashlib.sha256((SCHEMAS / f"{record.name}.json").read_bytes()).hexdigest()[:16]
        yield f"record {record.format} version {record.version}, readable from {record.oldest}: schema {digest}"


def routes():
    for path, methods in describe_routes()["paths"].items():
        yield from (f"{method.upper()} {path}" for method in methods)


if __name__ == "__main__":
    LIST.write_text("\n".join(lines()) + "\n", "utf-8")
