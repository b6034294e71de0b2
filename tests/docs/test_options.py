"""The page on options says what signatures and commands have."""

import inspect
from pathlib import Path

import typer

import coherently as co
from coherently.cli.app import program

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "options.md"
OPTIONS = ("time_limit", "tolerance", "seed", "weights", "over", "cluster", "engine", "progress", "cancel")
CALLS = {
    "aggregate": co.aggregate,
    "individual": co.individual,
    "check": co.check,
    "dutch_book": co.dutch_book,
    "bounds": co.Result.bounds,
    "score": co.score,
    "compare": co.compare,
    "tune": co.tune,
    "consistency": co.consistency,
    "verify": co.verify,
}
HERE = {"progress", "cancel"}
"""A command shows a bar and heeds Ctrl-C."""
MORE = {"bounds": {"tolerance", "seed", "weights", "engine"}}
"""The command first aggregates the panel, with the options of that."""


def commands():
    """The options of each command, by its name."""
    group = typer.main.get_command(program())
    return {name: {each.name for each in command.params} for name, command in group.commands.items()}


def table():
    """The rows of the table, made from signatures and commands."""
    known = commands()
    for name, call in CALLS.items():
        python = set(inspect.signature(call).parameters)
        words = []
        for option in OPTIONS:
            there = option in known.get(name, ())
            words.append("both" if option in python and there else "Python" if option in python else "command" * there)
        yield f"| `{name}` | " + " | ".join(words) + " |"


def test_the_page_has_the_table_of_the_signatures():
    page = PAGE.read_text("utf-8")
    expected = "\n".join(table())
    assert page.rstrip().endswith(expected), expected


def test_a_command_has_the_options_of_its_call_and_no_others():
    known = commands()
    for name, call in CALLS.items():
        if name in known:
            python = set(inspect.signature(call).parameters) & set(OPTIONS)
            assert known[name] & set(OPTIONS) - MORE.get(name, set()) == python - HERE - MORE.get(name, set()), name


def test_every_default_of_an_option_is_the_same_in_python_and_on_the_command_line():
    group = typer.main.get_command(program())
    for name, call in CALLS.items():
        if name not in group.commands or name == "bounds":  # whose time limit is also that of the forecasts
            continue
        given = inspect.signature(call).parameters
        for each in group.commands[name].params:
            if each.name in OPTIONS and each.name in given:
                default = each.default() if callable(each.default) else each.default
                assert getattr(default, "value", default) == given[each.name].default, (name, each.name)
