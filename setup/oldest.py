"""The oldest versions that pyproject.toml allows, as constraints for pip: `python -m setup.oldest` (`make oldest`).

What users install is held at its lowest version. Everything else that constraints.txt names, such as test tools, is at
most as new as there: some of it must be older to fit.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("bench", "dev", "docs", "tests")
"""The extras that no user installs."""
LIMIT = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9][0-9a-z.]*)")


def oldest(requirements: Iterable[str]) -> dict[str, str]:
    """The lowest version of each package that all of its requirements allow.

    >>> oldest(["numpy>=2.0", "coherently[report]", "x[y]>=1.2,<3", "numpy>=2.10"])
    {'numpy': '2.10', 'x': '1.2'}
    """
    limits: dict[str, list[str]] = {}
    for each in filter(None, map(LIMIT.match, requirements)):
        limits.setdefault(each[1], []).append(each[2])
    return {name: max(versions, key=_parts) for name, versions in sorted(limits.items())}


def constraints(lowest: dict[str, str], tested: Iterable[str]) -> list[str]:
    """The lowest versions, and the tested versions of other packages as the highest.

    >>> constraints({"x": "1.2"}, ["# Versions", "x==2.0", "y==3.1"])
    ['x==1.2', 'y<=3.1']
    """
    pins = (line.partition("==") for line in tested if "==" in line)
    at_most = [f"{name}<={version}" for name, _, version in pins if name not in lowest]
    return [*(f"{name}=={version}" for name, version in lowest.items()), *at_most]


def _parts(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def main() -> None:
    """Print the constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    asked = [*project["dependencies"], *(each for extra, needs in extras if extra not in TOOLS for each in needs)]
    print("\n".join(constraints(oldest(asked), (ROOT / "constraints.txt").read_text("utf-8").splitlines())))


if __name__ == "__main__":
    main()
