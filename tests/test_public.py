"""What is exported is documented, and nothing else is."""

import subprocess
import sys

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
        "print(all(callable(getattr(co, name)) for name in co.__all__ if name != 'plot'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
