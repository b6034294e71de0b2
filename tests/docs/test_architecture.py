"""The architecture page names every module of the inner rooms; a module has the name of what it gives, used once."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("solve", "problem", "verifier", "explain")
MODULES = [path for room in ROOMS for path in sorted((ROOT / "src/coherently" / room).rglob("*.py"))]


def test_every_module_is_named():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", prose))))
    missing = [path for path in MODULES if path.stem != "__init__" and path.stem not in named]
    assert not missing


EVERY = sorted((ROOT / "src/coherently").rglob("*.py"))
FIXED_MODULES = {"check", "score", "bounds"}
"""Modules that have the names of commands, which DESIGN.md fixes."""


def class_names():
    trees = [ast.parse(path.read_text("utf-8")) for path in EVERY]
    return [node.name.strip("_") for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def module_names():
    """A module may have the name of the folder that it is in, or its singular."""
    modules = [
        path.stem
        for path in EVERY
        if path.stem not in ("__init__", "__main__") and path.parent.name not in (path.stem, f"{path.stem}s")
    ]
    return modules + [path.parent.name for path in EVERY if path.stem == "__init__"]


@pytest.mark.parametrize("names", [class_names, module_names])
def test_no_class_or_module_name_is_used_twice_or_beside_its_plural(names):
    every = Counter(names())
    twice = {name for name, count in every.items() if count > 1}
    plural = {name for name in every if {f"{name}s", f"{name[:-1]}ies"} & every.keys()}
    assert twice | plural <= (FIXED_MODULES if names is module_names else set())


NOUNS = {"annealing"}
"""Names of things that end as names of actions do."""


def test_a_module_is_named_by_what_it_gives():
    actions = [path for path in EVERY if path.stem.endswith("ing") and path.stem not in NOUNS]
    assert not actions
