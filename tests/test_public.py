"""What is exported is documented, and nothing else is."""

import ast
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
        "print(all(callable(getattr(co, name)) for name in co.__all__ if name not in ('network', 'plot')))"
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
