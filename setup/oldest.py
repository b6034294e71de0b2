"""The oldest versions of dependencies that pyproject.toml allows, as constraints for pip: `python -m setup.oldest`."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

LIMIT = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9][0-9a-z.]*)")


def oldest(requirements: Iterable[str]) -> list[str]:
    """One line per package: the lowest version that all of its requirements allow.

    >>> oldest(["numpy>=2.0", "coherently[report]", "x[y]>=1.2", "numpy>=2.10"])
    ['numpy==2.10', 'x==1.2']
    """
    limits: dict[str, list[str]] = {}
    for each in filter(None, map(LIMIT.match, requirements)):
        limits.setdefault(each[1], []).append(each[2])
    return [f"{name}=={max(versions, key=_parts)}" for name, versions in sorted(limits.items())]


def _parts(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    print("\n".join(oldest([*project["dependencies"], *extras])))
