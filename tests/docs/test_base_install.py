"""What a first user pastes runs on a base install, without any optional package."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "jinja2")
WITHOUT = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def run(code, *arguments):
    command = [sys.executable, "-c", WITHOUT + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/csv-to-coherent.md"])
def test_the_python_of_the_first_pages_runs(page):
    code = """
import doctest
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
failed, tried = doctest.testfile(sys.argv[1], module_relative=False, optionflags=flags)
print(tried)
sys.exit(failed)
"""
    done = run(code, ROOT / page)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout) > 3


def test_a_frame_says_what_to_install():
    done = run("import coherently as co\nco.Panel.from_records([('Ann', 'p', 0.5)]).frame()")
    assert "a frame needs pandas, polars or pyarrow, which is not installed: pip install pandas" in done.stderr


def test_a_package_that_is_installed_is_absent_here():
    assert "No module named 'pandas'" in run("import pandas").stderr
