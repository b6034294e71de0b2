"""What is exported is documented, and nothing else is."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import coherently as co


def test_every_exported_name_exists_and_is_documented():
    for name in co.__all__:
        assert getattr(co, name).__doc__, name
    assert sorted(co.__all__) == co.__all__
    assert set(co.__all__) <= set(dir(co))


def test_importing_rooms_does_not_hide_functions():
    code = (
        "import coherently.scoring, coherently.simulation, coherently.panel, coherently.result\n"
        "import coherently as co\n"
        "kept = ('agents', 'aio', 'network', 'plot', 'Asked', 'Design', 'Engine', 'Weights')  # modules, aliases\n"
        "print(all(callable(getattr(co, name)) for name in co.__all__ if name not in kept))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_public_names_are_listed_once_and_the_other_lists_agree():
    tree = ast.parse(Path(co.__file__).read_text("utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {node.module: [name.name for name in node.names] for node in typed.body}
    modules = imported.pop("coherently")
    assert imported == co._ROOMS
    assert sorted([*modules, *(name for names in co._ROOMS.values() for name in names)]) == co.__all__


def test_a_name_that_is_not_there_fails_the_type_checker(tmp_path):
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text("import coherently as co\n\nco.agregate\n")
    right.write_text(
        "import coherently as co\n\n"
        "def solve(panel: co.Panel, method: co.Method, progress: co.Progress | None = None) -> co.Status:\n"
        "    return co.aggregate(panel, method, progress=progress).status\n"
    )
    for file, said in ((wrong, 'Module has no attribute "agregate"'), (right, "Success: no issues found")):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert said in done.stdout, done.stdout + done.stderr


PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"


def _own_names(module):
    """The names of a module that mean a class or an alias of the package."""
    tree = ast.parse(inspect.getsource(module))
    found = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    found |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("coherently"):
            found |= {each.asname or each.name for each in node.names}
    return found


def _annotations(thing):
    """The annotations that a reader of the reference sees: of functions, of fields and of methods."""
    if inspect.isfunction(thing):
        yield from thing.__annotations__.values()
    elif inspect.isclass(thing):
        fields = vars(thing).get("__annotations__", {})
        yield from (kind for name, kind in fields.items() if not name.startswith("_"))
        for name, member in vars(thing).items():
            inner = getattr(member, "__func__", getattr(member, "fget", member))
            is_made = name == "__init__" and "__dataclass_fields__" in vars(thing)
            if (
                inspect.isfunction(inner)
                and (not name.startswith("_") or name in ("__init__", "__call__"))
                and not is_made
            ):
                yield from inner.__annotations__.values()


def test_types_that_public_signatures_show_are_public_or_named_as_inner():
    shown = set()
    for name in co.__all__:
        thing = getattr(co, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        own = _own_names(sys.modules[thing.__module__])
        shown |= {word for told in _annotations(thing) for word in re.findall(r"\b[A-Z]\w+", str(told)) if word in own}
    inner = set(re.findall(r"`(\w+)`", PAGE.read_text("utf-8").partition("## Inner types")[2]))
    assert inner == shown - set(co.__all__) - set(co.network.__all__)
    assert {"Method", "Loss", "Progress", "CheckStatus", "Status", "Signal", "Engine"} <= shown
