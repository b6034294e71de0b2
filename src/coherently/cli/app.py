"""The commands."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

import coherently
from coherently.cli import EXIT_CODES
from coherently.cli.option_words import WordedCommand

COMMANDS = {
    "aggregate": "aggregate",
    "check": "check",
    "read": "table_preview",
    "explain": "result_reasons",
    "bounds": "bounds",
    "score": "score",
    "compare": "compare",
    "tune": "tune",
    "verify": "verify",
    "watch": "watch",
    "relate": "relate",
    "convert": "convert",
    "simulate": "simulate",
    "schema": "record_schemas",
    "serve": "serve",
    "mcp": "agent_server",
    "demo": "demo",
    "node": "one_node",
    "network": "local_network",
}
"""The module of each command, which has a function of that name or, for commands of its own, a program."""
SHORT_HELP = {"score": "Score each judge against what came true."}
"""What the list of commands says, where that is not the first sentence of a command's help."""


def program(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The program with some of its commands; what only others need is not imported."""
    app = typer.Typer(
        name="coherently",
        help="Turn a panel's incoherent forecasts into one coherent set. Start with: coherently demo",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(common)
    for name in names:
        command = getattr(import_module(f"coherently.cli.{COMMANDS[name]}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=WordedCommand, short_help=SHORT_HELP.get(name))(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"coherently {coherently.__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""
