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


# Reaching and positions: what one module may not do to the objects and functions of another.


def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def room_of(path):
    return path.relative_to(ROOT / "src/coherently").parts[0].removesuffix(".py")


BY_POSITION: set[str] = set()
"""Rooms that still pass more than four arguments by position; a room that no longer does leaves this list."""


def package_names(tree):
    """The names in a module that stand for things of the package, and are not compiled."""
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coherently"):
            names |= {one.asname or one.name for one in node.names} - {"_core"}
    return names


def by_position(arguments):
    """The number of arguments, those in a tuple with a star included."""
    starred = [one.value for one in arguments if isinstance(one, ast.Starred)]
    inside = [by_position(one.elts) - 1 for one in starred if isinstance(one, ast.Tuple | ast.List)]
    return len(arguments) + sum(inside)


def variadic(tree):
    """The functions of a module that take any number of things of one kind, such as the columns of a table."""
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.vararg}


VARIADIC = set().union(*(variadic(parsed(path)) for path in EVERY))


def long_calls(path):
    """Calls of functions and classes of the package, by name, with more than four arguments by position."""
    tree = parsed(path)
    names = package_names(tree) - VARIADIC
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and by_position(node.args) > 4:
            called = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if isinstance(called, ast.Name) and called.id in names:
                yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_more_than_four_arguments_are_passed_by_name():
    found = {path: list(long_calls(path)) for path in EVERY}
    assert {room_of(path) for path, calls in found.items() if calls} == BY_POSITION, [
        call for path, calls in found.items() if room_of(path) not in BY_POSITION for call in calls
    ]


def test_what_takes_any_number_of_things_is_known_by_its_star():
    assert {"show", "read_only", "all_of"} & VARIADIC == {"show", "read_only"}
    assert variadic(ast.parse("def f(a, *more): ...\ndef g(a, b, c, d, e): ...")) == {"f"}


def test_a_starred_tuple_hides_no_arguments():
    call = ast.parse("f(a, *(b, c, *[d, e]), *rest, g=1)").body[0].value
    assert by_position(call.args) == 6


def own_attributes(tree):
    """The attributes that the classes of a module declare, or give to their own objects."""
    names = set()
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in ast.walk(kind):
            if isinstance(node, ast.Attribute) and is_own(node) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__slots__":
                names |= {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
    return names


def is_own(node):
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def reaching(tree, declared):
    """Attributes of other modules' objects that a module writes, or reads though they are private.

    An attribute is another module's if a class of the package declares it, and none of this module does: what no class
    of the package declares belongs to another library.
    """
    foreign = declared - own_attributes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not is_own(node) and node.attr in foreign:
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            if private or isinstance(node.ctx, ast.Store | ast.Del):
                yield ast.unparse(node)


REACHING = {
    # A draft is built up by those who convert into it; it is a list under construction, and not yet a value.
    "conversion/hub/hubverse.py": {"draft.laws", "draft.forecasts"},
    "conversion/tuples.py": {"draft.laws"},
    # Objects of other libraries whose attributes have names that a class of the package has too.
    "engine/processes.py": {"self._withdrawals.value", "vars(self._pool)['_call_queue']._reader"},  # CPython 94777
    "engine/worker.py": {"_here.order"},
    "report/tables.py": {"table.title"},
    "web/access/callers.py": {"request.state.caller"},
    "web/api/application.py": {"app.state.feed"},
    "web/server.py": {"inner.state.logbook"},
}
"""What still reaches into another module's objects, or seems to; an entry that is gone leaves the list."""


def test_no_module_writes_or_spies_on_the_objects_of_another():
    trees = {path: parsed(path) for path in EVERY}
    declared = set().union(*map(own_attributes, trees.values()))
    found = {
        path.relative_to(ROOT / "src/coherently").as_posix(): set(reaching(trees[path], declared)) for path in EVERY
    }
    assert {path: names for path, names in found.items() if names} == REACHING


def test_reaching_is_noticed():
    one = ast.parse("class A:\n    def __init__(self):\n        self.n, self._m = 0, 1\n")
    other = ast.parse("def f(a, solver):\n    a.n += 1\n    solver.time_limit = 3\n    return a._m, a.n, a.__dict__")
    assert set(reaching(other, own_attributes(one))) == {"a.n", "a._m"}
    assert set(reaching(one, own_attributes(one))) == set()
